//! Crash files as named on the command line.

use crate::crashes::collect::nothing_in;
use crate::files::{self, failed, is_crash_file, is_special, walk};
use crate::repair;
use crate::text::count;
use hindsight_tracelog::reader::{self, Crash};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Why there is no crash file to read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a directory cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// A file cannot be read as a crash file.
    #[error("failed to read crash file {}", path.display())]
    Crash {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: reader::Error,
    },
    /// A directory has none; the text says which, and why as far as that is known.
    #[error("{0}")]
    Nothing(String),
}

/// A crash file that could be read.
#[derive(Debug)]
pub struct Input {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub crash: Crash,
    /// Remarks about the file: it is damaged or incomplete.
    pub notes: Vec<String>,
    /// The bytes of the file that tests come with. It is not read again for them: a pipe has
    /// nothing more to give, and a file may have been replaced.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Reads a crash file.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read as one, and names it.
    pub fn read(path: &Path) -> Result<Input, Error> {
        let bytes = fs::read(path).map_err(failed("read crash file", path))?;
        let crash = Crash::read(&bytes).map_err(|source| Error::Crash {
            path: path.to_owned(),
            source,
        })?;
        let mut notes = Vec::new();
        if is_part(path) {
            notes.push(
                "half-written: the JVM ended, or is still busy, while it recorded this crash"
                    .to_owned(),
            );
        }
        let damage = &crash.damage;
        notes.extend(
            damage
                .iter()
                .map(|what| format!("damaged: {what}; shown is what is left")),
        );
        if crash.unknown > 0 {
            notes.push(format!(
                "{} of kinds that this hindsight does not know: a later one has made the file, and shows more of it",
                count(crash.unknown, "record")
            ));
        }
        if crash.trailing > 0 {
            notes.push(format!(
                "{} after the file's end record; what is shown is what stands before",
                count(crash.trailing, "byte")
            ));
        }
        Ok(Input {
            path: path.to_owned(),
            crash,
            notes,
            bytes,
        })
    }

    /// Makes holes of what a damaged file has lost, so that the rest can be replayed; a complete
    /// file stays as it is.
    pub fn repair(&mut self) {
        if self.crash.is_whole() {
            return;
        }
        let lost = match repair::repair(&mut self.crash) {
            0 => "no object is lost".to_owned(),
            lost => format!("{} lost", count(lost, "object")),
        };
        self.notes.push(format!(
            "the tests come with a repaired copy of the file ({lost})"
        ));
        self.bytes = repair::encode(&self.crash);
    }
}

fn is_part(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "part")
}

/// Replaces directories by their crash files, each of which is there once. A path that cannot be used stands
/// as its error among the others, which are of use all the same.
pub fn expand(paths: &[PathBuf]) -> Vec<Result<PathBuf, Error>> {
    let mut files = Vec::new();
    let mut known = HashSet::new();
    for path in paths {
        let found = crash_files(path).unwrap_or_else(|error| vec![Err(error)]);
        files.extend(found.into_iter().filter(|path| {
            let real = path.as_ref().ok().and_then(|path| path.canonicalize().ok());
            real.is_none_or(|real| known.insert(real))
        }));
    }
    files
}

/// A file itself, or the crash files of a directory; if it has none, those below it, because many
/// give each process a directory of its own.
fn crash_files(path: &Path) -> Result<Vec<Result<PathBuf, Error>>, Error> {
    let failed = failed("read", path);
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![Ok(path.to_owned())]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_crash_file(&entry.file_name()) && !is_special(&entry.path()) {
            found.push(entry.path());
        }
    }
    let mut errors = Vec::new();
    if found.is_empty() {
        errors = walk(path, &mut |path| {
            if path.file_name().is_some_and(is_crash_file) && !is_special(path) {
                found.push(path.to_owned());
            }
        });
    }
    if found.is_empty() && errors.is_empty() {
        return Err(Error::Nothing(nothing_in(path)));
    }
    found.sort();
    let found = found.into_iter().map(Ok);
    Ok(found
        .chain(errors.into_iter().map(|error| Err(error.into())))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    #[test]
    fn what_is_read_once_is_enough_for_tests() {
        let crash = repair::encode(&Crash::default());
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (to, written) = (pipe.clone(), crash.clone());
        let writer = thread::spawn(move || fs::write(to, written).unwrap());
        let mut input = Input::read(&pipe).unwrap();
        writer.join().unwrap();
        input.repair();
        assert!(input.crash.is_whole() && input.bytes == crash);
    }

    #[test]
    fn a_damaged_file_comes_repaired_with_the_tests() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("crash-0001.hsc");
        let whole = repair::encode(&Crash::default());
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        let mut input = Input::read(&file).unwrap();
        assert!(!input.crash.is_whole());
        input.repair();
        assert!(Crash::read(&input.bytes).unwrap().is_whole());
    }

    #[test]
    fn pipes_are_read_where_they_are_named_alone() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("crash-0001.hsc");
        let file = dir.path().join("crash-0002.hsc");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        fs::write(&file, "").unwrap();
        let found = |path: &Path| -> Vec<PathBuf> {
            let found = expand(&[path.to_owned()]);
            found.into_iter().map(Result::unwrap).collect()
        };
        assert_eq!(found(dir.path()), [file]);
        assert_eq!(found(&pipe), [pipe]);
    }

    #[test]
    fn a_file_that_is_named_twice_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("crash-0001.hsc");
        fs::write(&file, "").unwrap();
        let again = dir.path().join(".").join("crash-0001.hsc");
        let other = dir.path().join("other.hsc");
        fs::write(&other, "").unwrap();
        let named = [dir.path().to_owned(), file.clone(), again, other.clone()];
        let files: Vec<PathBuf> = expand(&named).into_iter().map(Result::unwrap).collect();
        assert_eq!(files, [file, other]);
    }
}
