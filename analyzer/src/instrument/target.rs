//! The output, which is made under another name beside its place, and renamed when it is complete.

use crate::files::same_file;
use crate::temporary::Doomed;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{error, fmt};
use tempfile::{Builder, NamedTempFile, TempDir};

/// The beginning of the names of incomplete output.
const PREFIX: &str = ".hindsight-";

/// The place of the output.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    folder: PathBuf,
    made: Made,
    force: bool,
    _doomed: Doomed,
}

#[derive(Debug)]
enum Made {
    File(NamedTempFile),
    Folder(TempDir),
}

impl Target {
    /// Checks that `out` may be made of `input`, and starts a file or directory for it.
    ///
    /// # Errors
    ///
    /// Fails if that would destroy the input or anything else, with advice; and if nothing can be
    /// written there.
    pub fn new(input: &Path, is_folder: bool, out: &Path, force: bool) -> Result<Target> {
        let mut path = out.to_owned();
        // This is as with `cp`.
        if !is_folder
            && out.is_dir()
            && let Some(name) = input.file_name()
        {
            path.push(name);
        }
        if path.file_name().is_none() {
            bail!("{} cannot be written: it has no name", path.display());
        }
        check(input, is_folder, &path, force)?;
        if let Ok(real) = fs::canonicalize(&path) {
            // The target of a link is replaced, and not the link.
            path = real;
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let context = || format!("failed to write {}", path.display());
        // The first existing part decides where the rest will be.
        let existing = folder
            .ancestors()
            .map(|folder| match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            })
            .find(|folder| folder.exists());
        if is_folder && existing.is_some_and(|existing| is_within(existing, input)) {
            bail!(
                "{} lies within {}, which would be rewritten into itself; name another place",
                path.display(),
                input.display()
            );
        }
        fs::create_dir_all(&folder).with_context(context)?;
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        let made = if is_folder {
            Made::Folder(builder.tempdir_in(&folder).with_context(context)?)
        } else {
            Made::File(builder.tempfile_in(&folder).with_context(context)?)
        };
        let doomed = Doomed::new(match &made {
            Made::File(file) => file.path(),
            Made::Folder(folder) => folder.path(),
        });
        let permissions = fs::metadata(input).map(|input| input.permissions());
        let target = Target {
            path,
            folder,
            made,
            force,
            _doomed: doomed,
        };
        // A temporary file is only readable by its owner; the output gets the permissions of the
        // input.
        permissions
            .and_then(|permissions| match &target.made {
                Made::File(file) => file.as_file().set_permissions(permissions),
                // A directory that its owner may not write is made so at the end.
                Made::Folder(_) => Ok(()),
            })
            .with_context(|| format!("failed to write {}", target.path.display()))?;
        Ok(target)
    }

    /// The enclosing directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its path until it is complete.
    pub fn temporary(&self) -> &Path {
        match &self.made {
            Made::File(file) => file.path(),
            Made::Folder(folder) => folder.path(),
        }
    }

    /// The file, for a file.
    ///
    /// # Panics
    ///
    /// Panics for a directory.
    pub fn output(&self) -> Output<&File> {
        match &self.made {
            Made::File(file) => Output::new(file.as_file(), self.path.display().to_string()),
            Made::Folder(_) => unreachable!("a directory is filled by its path"),
        }
    }

    /// Gives it its name, and returns that.
    ///
    /// # Errors
    ///
    /// Fails if the name was taken meanwhile, or it cannot be renamed.
    pub fn keep(self) -> Result<PathBuf> {
        let context = || format!("failed to write {}", self.path.display());
        match self.made {
            Made::File(file) => {
                let named = match self.force {
                    true => file.persist(&self.path),
                    false => file.persist_noclobber(&self.path),
                };
                named.map_err(|error| error.error).with_context(context)?;
            }
            Made::Folder(folder) => {
                // This replaces an empty directory, and no other.
                fs::rename(folder.path(), &self.path).with_context(context)?;
                // It does not exist under that name any more, so it must not be removed.
                let _ = folder.keep();
            }
        }
        Ok(self.path)
    }
}

fn check(input: &Path, is_folder: bool, path: &Path, force: bool) -> Result<()> {
    let shown = path.display();
    if is_same(input, path) {
        bail!("{shown} is the input itself, which is never overwritten; name another file");
    }
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if is_folder {
        let empty = metadata.is_dir()
            && fs::read_dir(path)
                .with_context(|| format!("failed to read {shown}"))?
                .next()
                .is_none();
        if !empty {
            bail!(
                "{shown} exists and is no empty directory: remove it, or name another; \
                 nothing but a file is ever replaced"
            );
        }
        return Ok(());
    }
    if !metadata.is_file() && !metadata.is_symlink() {
        bail!("{shown} exists and is no file; name another place");
    }
    if !force {
        bail!("{shown} exists: --force replaces it");
    }
    Ok(())
}

/// Whether two paths lead to the same file, by whatever links.
fn is_same(a: &Path, b: &Path) -> bool {
    same_file(a, b) || is_same_inode(a, b)
}

#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_inode(_a: &Path, _b: &Path) -> bool {
    false
}

fn is_within(path: &Path, folder: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// A writer whose errors are recognisable: if data is read and written in one step, the kind of an
/// error does not tell which of the two failed.
#[derive(Debug)]
pub struct Output<W> {
    inner: W,
    name: String,
}

/// Writing failed.
#[derive(Debug)]
struct WriteError {
    name: String,
    cause: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to write {}: {}", self.name, self.cause)
    }
}

impl error::Error for WriteError {}

impl<W> Output<W> {
    /// Output that people know by `name`.
    pub fn new(inner: W, name: String) -> Self {
        Output { inner, name }
    }

    /// Whether an error comes from writing to an output.
    pub fn is_cause(error: &io::Error) -> bool {
        error
            .get_ref()
            .is_some_and(|inner| inner.is::<WriteError>())
    }

    fn failed(&self, cause: io::Error) -> io::Error {
        // The writer tries again after this one.
        if cause.kind() == io::ErrorKind::Interrupted {
            return cause;
        }
        io::Error::other(WriteError {
            name: self.name.clone(),
            cause,
        })
    }
}

impl Output<&File> {
    /// Makes it empty again.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be done.
    pub fn clear(&mut self) -> io::Result<()> {
        let cleared = self.inner.set_len(0).and_then(|()| self.inner.rewind());
        cleared.map_err(|cause| self.failed(cause))
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        written.map_err(|cause| self.failed(cause))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        flushed.map_err(|cause| self.failed(cause))
    }
}

impl<W: Read> Read for Output<W> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.inner.read(bytes)
    }
}

impl<W: Seek> Seek for Output<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
