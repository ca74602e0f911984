//! One run: from the input to the result.

use super::batch::{self, Done, Input, Job, MAX_CLASS, Orders};
use super::jar;
use super::listing::Listing;
use super::plan::{Ids, Left, Plan, Verdict};
use super::tally::Tally;
use super::target::{Output, Target};
use super::tree;
use super::unmatched::Unmatched;
use crate::archive::Error;
use crate::archive::read::{MAX_DIRECTORY, Source};
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::SpooledTempFile;

/// The bytes of a temporary file that are in memory before it goes to the disk.
const IN_MEMORY: usize = 8 << 20;

/// The bytes to which nested archives may unpack, besides this many times the input. This bounds
/// the disk space that a malicious archive can take.
const MAX_UNPACKED: u64 = 1 << 30;
const MAX_UNPACKED_TIMES: u64 = 20;

/// The bytes of a nested archive's directory, unless the input has more: it can be packed to
/// little, and takes several times its size in memory.
const MAX_NESTED_DIRECTORY: u64 = 8 << 20;

/// The options of a run.
#[derive(Debug)]
pub struct Options<'a> {
    /// A class, a directory or an archive.
    pub input: &'a Path,
    /// The output, if there is one.
    pub out: Option<&'a Path>,
    /// Whether an existing file may be replaced.
    pub force: bool,
    /// The rules for rewriting.
    pub plan: &'a Plan,
    /// The rules for printing.
    pub listing: &'a Listing,
    /// Whether progress is reported on stderr.
    pub progress: bool,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The output, if one was asked for.
    pub out: Option<PathBuf>,
    /// The counts.
    pub tally: Tally,
    /// The text to be printed about the classes, from its start.
    pub listed: SpooledTempFile,
    /// The number of classes in it.
    pub listed_classes: u64,
    /// The number of classes that were asked for by name; all, if none was.
    pub named: u64,
    /// The number of these that have what was asked for: code, or the reason why it is the old one.
    pub matching: u64,
    /// The globs that match nothing, a line each.
    pub unmatched: Vec<String>,
}

/// The state of a run.
pub struct Run<'a> {
    pub(super) orders: Orders<'a>,
    pub(super) tally: Tally,
    pub(super) progress: Progress,
    /// The bytes to which nested archives may still unpack.
    pub(super) unpackable: u64,
    /// The bytes that the directory of a nested archive may have.
    pub(super) nested_directory: u64,
    /// The directory of temporary files.
    scratch: PathBuf,
    next: Ids,
    listed: SpooledTempFile,
    listed_classes: u64,
    named: u64,
    matching: u64,
    unmatched: Unmatched,
}

/// The kind of a file, by its first bytes.
enum Kind {
    Class,
    Image,
    Other,
}

/// Rewrites the input.
///
/// # Errors
///
/// Fails if the input cannot be read or the output cannot be written; then there is no output.
pub fn instrument(options: &Options<'_>) -> Result<Outcome> {
    let input = options.input;
    let context = || format!("failed to read {}", input.display());
    let metadata = fs::metadata(input).with_context(context)?;
    if !metadata.is_dir() && !metadata.is_file() {
        bail!("{} is neither a file nor a directory", input.display());
    }
    let target = match options.out {
        Some(out) => Some(Target::new(input, metadata.is_dir(), out, options.force)?),
        None => None,
    };
    let scratch = match &target {
        Some(target) => target.folder().to_owned(),
        None => std::env::temp_dir(),
    };
    let found = if metadata.is_dir() {
        let leave_out = target.as_ref().map(Target::temporary);
        Some(tree::find(input, leave_out)?)
    } else {
        None
    };
    let total = match &found {
        Some(found) => found.iter().map(|file| file.len).sum(),
        None => metadata.len(),
    };
    let mut run = Run {
        orders: Orders {
            plan: options.plan,
            listing: options.listing,
            writing: target.is_some(),
        },
        tally: Tally::default(),
        progress: Progress::new(options.progress, total),
        unpackable: MAX_UNPACKED.saturating_add(total.saturating_mul(MAX_UNPACKED_TIMES)),
        nested_directory: total.clamp(MAX_NESTED_DIRECTORY, MAX_DIRECTORY),
        listed: SpooledTempFile::new(IN_MEMORY),
        scratch,
        next: Ids::default(),
        listed_classes: 0,
        named: 0,
        matching: 0,
        unmatched: Unmatched::new(options.plan),
    };
    match found {
        Some(found) => run.tree(input, &found, target.as_ref().map(Target::temporary))?,
        None => run.file(input, target.as_ref())?,
    }
    run.progress.clear();
    let out = target.map(Target::keep).transpose()?;
    Ok(Outcome {
        out,
        tally: run.tally,
        listed: run.listed,
        listed_classes: run.listed_classes,
        named: run.named,
        matching: run.matching,
        unmatched: run.unmatched.told(),
    })
}

impl Run<'_> {
    fn file(&mut self, path: &Path, target: Option<&Target>) -> Result<()> {
        let shown = path.display().to_string();
        let context = || format!("failed to read {shown}");
        let mut file = File::open(path).with_context(context)?;
        let mut magic = Vec::new();
        (&mut file)
            .take(4)
            .read_to_end(&mut magic)
            .with_context(context)?;
        match kind(&magic, path) {
            Kind::Image => bail!(
                "{shown} is a run-time image of a JDK: extract it by `jimage extract --dir DIR {shown}` \
                 and give the directory"
            ),
            Kind::Class => {
                file.seek(SeekFrom::Start(0)).with_context(context)?;
                self.class(file, &shown, target)
            }
            Kind::Other => self.archive_file(&mut file, &shown, target.map(Target::output)),
        }
    }

    fn class(&mut self, file: File, shown: &str, target: Option<&Target>) -> Result<()> {
        let mut bytes = Vec::new();
        file.take(MAX_CLASS + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("failed to read {shown}"))?;
        if bytes.len() as u64 > MAX_CLASS {
            bail!("failed to read {shown}: larger than any class");
        }
        let mut jobs = [Job::new(shown.to_owned(), Input::Plain(bytes.clone()))];
        self.rewrite(&mut jobs)?;
        let [Job { done, .. }] = jobs;
        if let Some(Done {
            verdict:
                Verdict::Left {
                    reason: Left::Malformed(error),
                    ..
                },
            ..
        }) = done
        {
            return Err(anyhow::Error::from(error).context(format!("failed to read {shown}")));
        }
        if let Some(target) = target {
            let new = done.and_then(|done| done.content);
            let bytes = new.map_or(bytes, |content| content.bytes);
            target.output().write_all(&bytes)?;
        }
        Ok(())
    }

    /// Rewrites an archive that is a whole file into an empty one.
    pub(super) fn archive_file(
        &mut self,
        file: &mut File,
        shown: &str,
        out: Option<Output<&File>>,
    ) -> Result<()> {
        let mut source = Source::new(file).with_context(|| format!("failed to read {shown}"))?;
        let opened = jar::open(&mut source, shown, MAX_DIRECTORY)?;
        let failed = |error| explain(shown, error);
        let Some(mut out) = out else {
            self.archive(&mut source, &opened, shown, 0, &mut io::sink())
                .map_err(failed)?;
            return Ok(());
        };
        let mut buffered = BufWriter::with_capacity(1 << 17, &mut out);
        let changed = self
            .archive(&mut source, &opened, shown, 0, &mut buffered)
            .map_err(failed)?;
        if changed {
            buffered.flush()?;
            return Ok(());
        }
        // Only now is it known that nothing had to be rewritten.
        drop(buffered);
        out.clear()?;
        let len = source.len();
        source.copy(0, len, &mut out).map_err(failed)
    }

    /// Rewrites classes, counts them, and keeps the text to be printed.
    pub(super) fn rewrite(&mut self, jobs: &mut [Job]) -> io::Result<()> {
        batch::rewrite(jobs, self.orders, &mut self.next);
        for job in jobs {
            if let Some(done) = &job.done {
                self.tally.class(&job.path, &done.verdict);
                self.unmatched.see(&done.verdict);
                self.named += u64::from(done.listed.is_named);
                self.matching += u64::from(done.listed.matches);
                if !done.listed.bytes.is_empty() {
                    let separator = self.orders.listing.separator(self.listed_classes);
                    self.listed.write_all(separator)?;
                    self.listed.write_all(&done.listed.bytes)?;
                    self.listed_classes += 1;
                }
            }
        }
        let classes = self.tally.classes.total;
        self.progress.show(&format_args!("{classes} classes"));
        Ok(())
    }

    /// A file that is removed with the run. Small ones never reach the disk.
    pub(super) fn scratch_file(&self) -> Output<SpooledTempFile> {
        let file = tempfile::spooled_tempfile_in(IN_MEMORY, &self.scratch);
        let name = format!("a temporary file in {}", self.scratch.display());
        Output::new(file, name)
    }
}

fn kind(magic: &[u8], path: &Path) -> Kind {
    match magic {
        [0xca, 0xfe, 0xba, 0xbe] => Kind::Class,
        // In either byte order.
        [0xda, 0xda, 0xfe, 0xca] | [0xca, 0xfe, 0xda, 0xda] => Kind::Image,
        _ if path.extension().is_some_and(|kind| kind == "class") => Kind::Class,
        _ => Kind::Other,
    }
}

/// The error for people: reading failed, unless the error says that it was writing.
pub(super) fn explain(shown: &str, error: Error) -> anyhow::Error {
    match error {
        Error::Io(error) if Output::<File>::is_cause(&error) => error.into(),
        error => anyhow::Error::from(error).context(format!("failed to read {shown}")),
    }
}
