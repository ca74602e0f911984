//! Looking for recorded files.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::{fs, io};

/// Whether a name is one that the agent gives to crash files: `crash-*.hsc`, with
/// `.part` at its end while it is written.
pub fn is_crash_file(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("crash-") && (name.ends_with(".hsc") || name.ends_with(".hsc.part"))
}

/// Whether a file begins as those of ours of its kind do.
///
/// # Errors
///
/// Fails if it cannot be read, or is not there.
pub fn is_ours(path: &Path, begins: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    let file = fs::File::open(path)?;
    file.take(begins.len() as u64).read_to_end(&mut start)?;
    Ok(start == begins)
}

/// Hands on everything below a directory that is none itself, however deep. Links are
/// handed on and not followed: they may lead in circles.
///
/// # Errors
///
/// Fails if a directory cannot be read, and names it.
pub fn walk(directory: &Path, each: &mut dyn FnMut(&Path)) -> Result<()> {
    let context = || format!("failed to read {}", directory.display());
    for entry in fs::read_dir(directory).with_context(context)? {
        let entry = entry.with_context(context)?;
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), each)?,
            Ok(_) => each(&entry.path()),
            // A JVM that is recording has renamed or removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(context),
        }
    }
    Ok(())
}

/// Whether files can be made below a directory, which need not be there yet: that shows before all the
/// work is done.
///
/// # Errors
///
/// Fails if they cannot, and names it.
pub fn writable(dir: &Path) -> Result<()> {
    let there = dir.ancestors().find(|dir| dir.exists());
    let there = there.unwrap_or(Path::new("."));
    if !there.is_dir() {
        bail!(
            "failed to write to {}: {} is no directory",
            dir.display(),
            there.display()
        );
    }
    tempfile::tempdir_in(there)
        .map(drop)
        .with_context(|| format!("failed to write to {}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn crash_files_are_told_by_their_names() {
        for name in ["crash-0001.hsc", "crash-0002.hsc.part"] {
            assert!(is_crash_file(OsStr::new(name)), "{name}");
        }
        for name in [
            "run.json",
            "crash-0001.txt",
            "0001.hsc",
            "crash-0001.hsc.part.part",
        ] {
            assert!(!is_crash_file(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn files_are_found_however_deep_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("one"), "").unwrap();
        fs::write(place.path().join("two"), "").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(place.path(), deep.join("circle")).unwrap();
            std::os::unix::fs::symlink(deep.join("one"), deep.join("three")).unwrap();
        }
        let mut found: Vec<PathBuf> = Vec::new();
        walk(place.path(), &mut |path| found.push(path.to_owned())).unwrap();
        found.sort();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["circle", "one", "three", "two"]);
        let missing = place.path().join("missing");
        let error = walk(&missing, &mut |_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("failed to read {}", missing.display())
        );
    }
}
