//! Finds and writes files of recordings.

use crate::temporary::Doomed;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What could not be done with a file or a directory. The error of the system is its source.
#[derive(Debug, thiserror::Error)]
#[error("failed to {doing} {}", path.display())]
pub struct Error {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Names what could not be done with which file, as in `map_err(failed("read", path))`.
pub fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
    move |source| Error {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// Whether a name is one that the agent gives to crash files: `crash-*.hsc`, with `.part` at its
/// end while it is written.
pub fn is_crash_file(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("crash-") && (name.ends_with(".hsc") || name.ends_with(".hsc.part"))
}

/// Whether a file begins like ours of its kind.
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

/// Whether two paths lead to one file.
pub fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Whether a path leads to a pipe, a device or the like: reading it may block, or not end. Such
/// files are read if they are named, and not if they are found.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|of| !of.is_file())
}

/// Calls `each` for everything below a directory that is not a directory itself, however deep.
/// Links are passed on and not followed, because they may lead in cycles. Returns the errors of
/// directories that could not be read, which do not affect the others.
pub fn walk(directory: &Path, each: &mut dyn FnMut(&Path)) -> Vec<Error> {
    let mut errors = Vec::new();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return vec![failed("read", directory)(error)],
    };
    for entry in entries {
        let kind = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
        match kind {
            Ok((path, kind)) if kind.is_dir() => errors.extend(walk(&path, each)),
            Ok((path, _)) => each(&path),
            // A JVM that is recording has renamed or removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => errors.push(failed("read", directory)(error)),
        }
    }
    errors
}

/// Checks that files can be created below a directory, which need not exist yet, before all the
/// work is done.
///
/// # Errors
///
/// Fails if they cannot, and names the directory.
pub fn writable(dir: &Path) -> Result<(), Error> {
    try_files_below(dir).map_err(failed("write to", dir))
}

/// The same for a file that is created, or replaced as a whole. Anything but a regular file, such
/// as `/dev/stdout`, is written into.
///
/// # Errors
///
/// Fails if it cannot be created, and names it.
pub fn makeable(file: &Path) -> Result<(), Error> {
    let failed = failed("write", file);
    if file.is_dir() {
        let why = "it is a directory";
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, why)));
    }
    if file.exists() && !file.is_file() {
        return Ok(());
    }
    let dir = file.parent().unwrap_or(Path::new(""));
    try_files_below(dir).map_err(failed)
}

fn try_files_below(dir: &Path) -> io::Result<()> {
    let there = dir.ancestors().find(|dir| dir.exists());
    let there = there.unwrap_or(Path::new("."));
    if !there.is_dir() {
        let why = format!("{} is no directory", there.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
    }
    tempfile::tempdir_in(there).map(drop)
}

/// Writes a file, completely or not at all, so that a reader never sees a part. A link is followed,
/// and anything but a regular file, such as `/dev/stdout`, is written into. `mode` is the new
/// file's, as far as the user's mask permits.
///
/// # Errors
///
/// Fails if the file cannot be written, and names it; and as `fill` does.
pub fn write_whole<E: From<Error>>(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let failed = failed("write", path);
    let real = fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    let is_link = fs::symlink_metadata(path).is_ok_and(|of| of.is_symlink());
    if is_link || path.exists() && !path.is_file() {
        let mut file = io::BufWriter::new(fs::File::create(path).map_err(failed)?);
        fill(&mut file)?;
        return Ok(file.flush().map_err(failed)?);
    }
    let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let part = tempfile::Builder::new()
        .prefix(".hindsight-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .map_err(failed)?;
    let _doomed = Doomed::new(part.path());
    let mut file = io::BufWriter::new(part);
    fill(&mut file)?;
    let part = file.into_inner().map_err(io::IntoInnerError::into_error);
    let part = part.map_err(failed)?;
    part.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// [`write_whole`] of these bytes.
///
/// # Errors
///
/// Fails if the file cannot be written, and names it.
pub fn write_bytes(path: &Path, mode: u32, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, mode, |out| {
        out.write_all(bytes).map_err(failed("write", path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;
    use std::thread;

    #[test]
    fn files_are_replaced_as_a_whole_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &Path, text: &str| write_bytes(path, 0o640, text.as_bytes());
        let file = dir.path().join("made/file");
        write(&file, "one").unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & !0o640, 0, "{mode:o}");
        let failed = write_whole(&file, 0o640, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        let (link, dangling) = (dir.path().join("link"), dir.path().join("dangling"));
        symlink(&file, &link).unwrap();
        symlink(dir.path().join("new"), &dangling).unwrap();
        write(&link, "two").unwrap();
        write(&dangling, "three").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_to_string(dir.path().join("new")).unwrap(), "three");
        // It behaves like a device, which only root can make.
        let pipe = dir.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let read = pipe.clone();
        let reader = thread::spawn(move || fs::read_to_string(read).unwrap());
        write(&pipe, "four").unwrap();
        assert_eq!(reader.join().unwrap(), "four");
        let entries = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(entries, 5, "link, dangling, new, pipe and the directory");
    }

    #[test]
    fn what_cannot_be_made_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        makeable(&file).unwrap();
        makeable(Path::new("/dev/stdout")).unwrap();
        makeable(&dir.path().join("not/there/yet")).unwrap();
        let told = |error: Error| format!("{:#}", anyhow::Error::from(error));
        let error = told(makeable(dir.path()).unwrap_err());
        assert!(error.ends_with(": it is a directory"), "{error}");
        let below = file.join("plan");
        let error = makeable(&below).unwrap_err();
        let [below, file] = [&below, &file].map(|path| path.display());
        assert_eq!(
            told(error),
            format!("failed to write {below}: {file} is no directory")
        );
        let error = makeable(Path::new("/proc/plan")).unwrap_err();
        assert!(error.to_string().ends_with(" /proc/plan"), "{error}");
    }

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
        let errors = walk(place.path(), &mut |path| found.push(path.to_owned()));
        assert!(errors.is_empty(), "{errors:?}");
        found.sort();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["circle", "one", "three", "two"]);
        let missing = place.path().join("missing");
        let errors = walk(&missing, &mut |_| ());
        assert_eq!(
            errors.iter().map(Error::to_string).collect::<Vec<_>>(),
            [format!("failed to read {}", missing.display())]
        );
    }

    #[test]
    fn a_directory_that_cannot_be_read_does_not_hide_the_others() {
        let place = tempfile::tempdir().unwrap();
        // It is so deep that no path leads there, so even root cannot read it.
        let name = "d".repeat(255);
        let deep = |start: &str| (0..9).fold(place.path().join(start), |path, _| path.join(&name));
        fs::create_dir_all(deep("a")).unwrap();
        fs::create_dir_all(deep("b")).unwrap();
        fs::rename(place.path().join("b"), deep("a").join("b")).unwrap();
        for dir in ["0", "c"] {
            fs::create_dir(place.path().join(dir)).unwrap();
            fs::write(place.path().join(dir).join("file"), "").unwrap();
        }
        let mut found = 0;
        let errors = walk(place.path(), &mut |_| found += 1);
        assert_eq!((found, errors.len()), (2, 1), "{errors:?}");
    }
}
