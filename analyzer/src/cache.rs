//! What is kept for the next run: files and directories in the user's cache directory.
//!
//! **Invariant:** what stands there is whole: it is made beside, and gets its name when it is done.
//!
//! What nobody has used for some days goes: each build of a program, and each JDK, leaves another.

use crate::temporary::Doomed;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The time for which something unused is kept.
const MAX_AGE: Duration = Duration::from_secs(14 * DAY.as_secs());
/// A day.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The beginnings and ends of the names of files that are kept.
const FILES: [(&str, &str); 4] = [
    ("jdk-", ".hlib"),
    ("javac-", ".jsa"),
    (MADE, ""),
    (GOES, ""),
];
/// The beginnings of the names of directories.
const DIRECTORIES: [&str; 4] = ["unpacked-", "unpacking-", MADE, GOES];
const MADE: &str = "made-";
const GOES: &str = "goes-";

/// The cache directory: `hindsight` in the user's cache directory, if there is one.
pub fn directory() -> Option<PathBuf> {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => {
            PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?).join(".cache")
        }
    };
    Some(cache.join("hindsight"))
}

/// Writes a file, whole or not at all.
///
/// # Errors
///
/// Fails if the directory or the file cannot be written.
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    keep(file, path)
}

/// A file to be filled, and then [kept](keep) at a path.
///
/// # Errors
///
/// Fails if the directory or the file cannot be made.
pub fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let dir = parent(path);
    fs::create_dir_all(dir)?;
    tempfile::Builder::new().prefix(MADE).tempfile_in(dir)
}

/// Keeps a file that is complete.
///
/// # Errors
///
/// Fails if it cannot get its name.
pub fn keep(file: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map_err(|error| error.error)?;
    tidy(parent(path));
    Ok(())
}

/// Creates a directory, completely or not at all, because others may do so at the same time: `fill`
/// gets an empty one.
///
/// # Errors
///
/// Fails if it cannot be made, and as `fill` does.
pub fn save_directory(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let dir = parent(path);
    fs::create_dir_all(dir)?;
    let made = tempfile::Builder::new().prefix(MADE).tempdir_in(dir)?;
    let _doomed = Doomed::new(made.path());
    fill(made.path())?;
    match fs::rename(made.path(), path) {
        // This is what stays now.
        Ok(()) => drop(made.keep()),
        Err(_) if path.is_dir() => {}
        Err(error) => return Err(error),
    }
    tidy(dir);
    Ok(())
}

/// Notes that something is still used, once a day.
pub fn used(path: &Path) {
    let found = fs::metadata(path);
    if (found.ok().as_ref().and_then(age)).is_some_and(|age| age > DAY) {
        // It may not be permitted, as in a cache that is shared.
        let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

/// The time for which the file of this metadata has not been used.
pub fn age(metadata: &Metadata) -> Option<Duration> {
    metadata.modified().ok()?.elapsed().ok()
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Removes what has not been used for long. What cannot be removed stays.
fn tidy(dir: &Path) {
    // Other things may be kept there, too.
    let is_ours = |name: &OsStr, is_directory: bool| {
        let name = name.to_string_lossy();
        let is = |(begin, end): &(&str, &str)| name.starts_with(begin) && name.ends_with(end);
        match is_directory {
            true => DIRECTORIES.iter().any(|begin| name.starts_with(begin)),
            false => FILES.iter().any(is),
        }
    };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let is_directory = metadata.is_dir();
        if !is_ours(&name, is_directory) || age(&metadata).is_none_or(|age| age < MAX_AGE) {
            continue;
        }
        // It is renamed first, so that a part of it is never found.
        let mut goes = std::ffi::OsString::from(GOES);
        goes.push(&name);
        let goes = dir.join(goes);
        if fs::rename(entry.path(), &goes).is_ok() {
            let _ = match is_directory {
                true => fs::remove_dir_all(&goes),
                false => fs::remove_file(&goes),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_used_for_long_goes() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let old = SystemTime::now() - MAX_AGE - Duration::from_secs(60);
        for name in ["unpacked-old", "unpacked-used", "jdk-17.0.9"] {
            fs::create_dir_all(at(name).join("in")).unwrap();
        }
        for name in ["jdk-old.hlib", "made-old", "jdk-new.hlib", "other"] {
            fs::write(at(name), name).unwrap();
        }
        for name in [
            "unpacked-old",
            "unpacked-used",
            "jdk-old.hlib",
            "jdk-17.0.9",
            "made-old",
            "other",
        ] {
            let file = File::open(at(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        used(&at("unpacked-used"));
        save(&at("javac-made.jsa"), b"made").unwrap();
        let names = || {
            let entries = fs::read_dir(dir.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let kept = [
            "javac-made.jsa",
            "jdk-17.0.9",
            "jdk-new.hlib",
            "other",
            "unpacked-used",
        ];
        assert_eq!(names(), kept);
        save_directory(&at("unpacked-new"), |dir| fs::write(dir.join("file"), "")).unwrap();
        assert!(at("unpacked-new/file").is_file());
        assert!(save_directory(&at("unpacked-no"), |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(names().len(), 6);
    }
}
