//! Rewrites a directory: classes and archives in it; all else is copied.

use super::batch::{Input, Job, MAX_CLASS, MAX_WEIGHT};
use super::jar;
use super::plan::Left;
use super::run::Run;
use super::target::Output;
use crate::archive::read::{MAX_DIRECTORY, Source};
use crate::files;
use crate::folder::{self, Item};
use anyhow::{Context, Result};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The number of files in a batch.
const MAX_FILES: usize = 4096;

/// An item in a directory.
#[derive(Debug)]
pub struct Found {
    /// The path from the directory on.
    path: PathBuf,
    kind: Kind,
    /// The bytes of a file.
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    Class,
    Archive,
    Other,
    /// A socket, a pipe, or a link that is dangling or leads back up.
    Odd(&'static str),
}

/// Lists a directory, each directory before its content, by name. Links are followed, because their
/// targets are part of the class path. What is at `leave_out` is not listed.
///
/// # Errors
///
/// Fails if a directory cannot be read.
pub fn find(root: &Path, leave_out: Option<&Path>) -> Result<Vec<Found>> {
    let items = folder::list(root, leave_out)?.into_iter();
    let found = items.map(|Item { path, kind }| {
        let (kind, len) = match kind {
            folder::Kind::Folder => (Kind::Folder, 0),
            folder::Kind::File(len) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let kind = if name.ends_with(".class") {
                    Kind::Class
                } else if jar::is_archive(&name) {
                    Kind::Archive
                } else {
                    Kind::Other
                };
                (kind, len)
            }
            folder::Kind::Circle => (Kind::Odd("a link to a directory above"), 0),
            folder::Kind::Odd(what) => (Kind::Odd(what), 0),
            folder::Kind::Unreadable(error) => return Err(error),
        };
        Ok(Found { path, kind, len })
    });
    Ok(found.collect::<Result<_, files::Error>>()?)
}

impl Run<'_> {
    /// Rewrites what was found in the directory `root` into `out`.
    pub(super) fn tree(&mut self, root: &Path, found: &[Found], out: Option<&Path>) -> Result<()> {
        let mut batch = Vec::new();
        let mut jobs: Vec<Job> = Vec::new();
        let mut weight = 0;
        for file in found {
            let from = root.join(&file.path);
            let to = out.map(|out| out.join(&file.path));
            match file.kind {
                Kind::Folder => {
                    if let Some(to) = &to {
                        fs::create_dir(to).with_context(|| writing(to))?;
                    }
                }
                Kind::Class => {
                    let input = read_class(&from, file.len)?;
                    jobs.push(Job::new(from.display().to_string(), input));
                    batch.push((from, to));
                    weight += file.len;
                }
                Kind::Archive => {
                    self.flush_files(&mut batch, &mut jobs)?;
                    weight = 0;
                    self.archive_in_tree(&from, to.as_deref())?;
                    self.progress.add(file.len);
                }
                Kind::Other => {
                    if let Some(to) = &to {
                        copy(&from, to)?;
                    }
                    self.progress.add(file.len);
                }
                Kind::Odd(what) => {
                    let shown = from.display().to_string();
                    self.tally
                        .fail(&shown, "not copied".into(), Some(what.into()));
                }
            }
            if weight > MAX_WEIGHT || jobs.len() >= MAX_FILES {
                self.flush_files(&mut batch, &mut jobs)?;
                weight = 0;
            }
        }
        self.flush_files(&mut batch, &mut jobs)?;
        if let Some(out) = out {
            // This goes from the inside out: a directory may not be writable for its owner, and its
            // time changes with each file.
            let folders = found.iter().filter(|file| file.kind == Kind::Folder);
            let folders = folders.map(|folder| folder.path.as_path());
            for folder in folders.rev().chain([Path::new("")]) {
                let (from, to) = (root.join(folder), out.join(folder));
                let like = fs::metadata(&from)
                    .with_context(|| format!("failed to read {}", from.display()))?;
                make_like(&to, &like)?;
            }
        }
        Ok(())
    }

    fn flush_files(
        &mut self,
        files: &mut Vec<(PathBuf, Option<PathBuf>)>,
        jobs: &mut Vec<Job>,
    ) -> Result<()> {
        self.rewrite(jobs)?;
        for ((from, to), job) in files.drain(..).zip(jobs.drain(..)) {
            self.progress.add(job.weight());
            let Some(to) = to else { continue };
            match job.done.and_then(|done| done.content) {
                None => copy(&from, &to)?,
                Some(content) => {
                    let like = fs::metadata(&from)
                        .with_context(|| format!("failed to read {}", from.display()))?;
                    fs::write(&to, content.bytes).with_context(|| writing(&to))?;
                    make_like(&to, &like)?;
                }
            }
        }
        Ok(())
    }

    fn archive_in_tree(&mut self, from: &Path, to: Option<&Path>) -> Result<()> {
        let shown = from.display().to_string();
        let failed = || format!("failed to read {shown}");
        let mut file = File::open(from).with_context(failed)?;
        // One bad archive must not keep all else from being rewritten.
        let sound = {
            let mut source = Source::new(&mut file).with_context(failed)?;
            jar::open(&mut source, &shown, MAX_DIRECTORY).map(|_| ())
        };
        if let Err(error) = sound {
            self.tally.archives_left += 1;
            self.tally.fail(
                &shown,
                "malformed".into(),
                Some(error.root_cause().to_string()),
            );
            return to.map_or(Ok(()), |to| copy(from, to));
        }
        let Some(to) = to else {
            return self.archive_file(&mut file, &shown, None);
        };
        let out = File::create_new(to).with_context(|| writing(to))?;
        let output = Output::new(&out, to.display().to_string());
        self.archive_file(&mut file, &shown, Some(output))?;
        let like = file.metadata().with_context(failed)?;
        make_like(to, &like)
    }
}

fn writing(path: &Path) -> String {
    format!("failed to write {}", path.display())
}

fn read_class(path: &Path, len: u64) -> Result<Input> {
    if len > MAX_CLASS {
        return Ok(Input::Unreadable(Left::TooLarge));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_CLASS).read_to_end(&mut bytes))
        .with_context(|| format!("failed to read {}", path.display()))?;
    Ok(Input::Plain(bytes))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("failed to copy {} to {}", from.display(), to.display());
    let mut input = File::open(from).with_context(context)?;
    let mut output = File::create_new(to).with_context(context)?;
    io::copy(&mut input, &mut output).with_context(context)?;
    output.flush().with_context(context)?;
    make_like(to, &input.metadata().with_context(context)?)
}

/// Gives a file or directory the time and permissions of another.
fn make_like(path: &Path, like: &Metadata) -> Result<()> {
    let file = File::open(path).with_context(|| writing(path))?;
    // Not every file system has times.
    if let Ok(time) = like.modified() {
        let _ = file.set_modified(time);
    }
    file.set_permissions(like.permissions())
        .with_context(|| writing(path))
}
