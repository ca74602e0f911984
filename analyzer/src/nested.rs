//! Programs that are one jar with nested jars, as with Spring Boot and servlet containers: a JVM
//! finds nothing in such a jar by itself, but its own loader does. Its content is unpacked once,
//! into the cache directory; if that cannot be written, into a temporary one.

use crate::cache;
use crate::temporary::{self, Directory};
use crate::text::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The places of classes and libraries.
const PLACES: [&str; 2] = ["BOOT-INF/", "WEB-INF/"];

/// Why the nested content of a jar is not available.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read as a jar.
    #[error("failed to read class path entry {} as a jar", jar.display())]
    NotAJar {
        /// The jar.
        jar: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its content cannot be read or written.
    #[error("failed to unpack what {} has in it", jar.display())]
    Content {
        /// The jar.
        jar: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its content cannot be written anywhere.
    #[error("failed to unpack what {} has in it", jar.display())]
    NoPlace {
        /// The jar.
        jar: PathBuf,
        /// The reason.
        source: temporary::Error,
    },
}

/// The unpacked content of a jar.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// Entries of a class path: a directory of classes, and jars. None if it is an ordinary jar.
    pub entries: Vec<PathBuf>,
    /// The directory, if it is temporary.
    pub kept: Option<Directory>,
}

/// Unpacks the nested content of a jar.
///
/// # Errors
///
/// Fails if it cannot be read as a jar, or its content cannot be written.
pub fn unpacked(jar: &Path) -> Result<Unpacked, Error> {
    if jar.is_dir() {
        return Ok(Unpacked::default());
    }
    let open = || -> io::Result<_> { Ok(ZipArchive::new(BufReader::new(File::open(jar)?))?) };
    let mut archive = open().map_err(|source| Error::NotAJar {
        jar: jar.to_owned(),
        source,
    })?;
    let held = archive.file_names().filter(|name| is_held(name));
    let held: Vec<String> = held.map(str::to_owned).collect();
    if held.is_empty() {
        return Ok(Unpacked::default());
    }
    let failed = |source| Error::Content {
        jar: jar.to_owned(),
        source,
    };
    let mut save = |dir: &PathBuf| match dir.is_dir() {
        true => {
            cache::used(dir);
            true
        }
        false => cache::save_directory(dir, |dir| unpack(&mut archive, &held, dir)).is_ok(),
    };
    let (dir, kept) = match directory(jar).map_err(failed)?.filter(&mut save) {
        Some(dir) => (dir, None),
        None => {
            let made = temporary::directory().map_err(|source| Error::NoPlace {
                jar: jar.to_owned(),
                source,
            })?;
            unpack(&mut archive, &held, made.path()).map_err(failed)?;
            (made.path().to_owned(), Some(made))
        }
    };
    let mut entries = Vec::new();
    for place in PLACES {
        let classes = dir.join(place).join("classes");
        entries.extend(classes.is_dir().then_some(classes));
    }
    let mut jars: Vec<PathBuf> = held
        .iter()
        .filter(|name| name.ends_with(".jar"))
        .map(|name| dir.join(name))
        .collect();
    jars.sort();
    entries.extend(jars);
    Ok(Unpacked { entries, kept })
}

/// Whether an entry of a jar is a class, a resource or a library of the nested program.
fn is_held(name: &str) -> bool {
    let of_program = PLACES.iter().find_map(|place| name.strip_prefix(place));
    of_program.is_some_and(|name| {
        let library = name.strip_prefix("lib/");
        let library = library.is_some_and(|name| !name.contains('/') && name.ends_with(".jar"));
        library || name.starts_with("classes/") && !name.ends_with('/')
    })
}

/// The directory in which the content of a jar is kept for the next run, if it is kept.
fn directory(jar: &Path) -> io::Result<Option<PathBuf>> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(jar)?, &mut hash)?;
    let name = format!("unpacked-{}", hex(&hash.finalize()[..8]));
    Ok(cache::directory().map(|cache| cache.join(name)))
}

fn unpack(
    archive: &mut ZipArchive<BufReader<File>>,
    names: &[String],
    dir: &Path,
) -> io::Result<()> {
    for name in names {
        let mut entry = archive.by_name(name)?;
        // A hostile jar may name paths outside of the directory.
        let Some(path) = entry.enclosed_name() else {
            continue;
        };
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        io::copy(&mut entry, &mut File::create(path)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classpath::ClassPath;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, content) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn a_jar_with_jars_in_it_is_a_class_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.jar");
        let library = jar(&[("p/B.class", b"b")]);
        let all = jar(&[
            ("Loader.class", b"l"),
            ("BOOT-INF/classes/p/A.class", b"a"),
            ("BOOT-INF/classes/../../../../out.class", b"out"),
            ("BOOT-INF/lib/b.jar", &library),
        ]);
        fs::write(&path, &all).unwrap();
        // No other test has this one.
        let unpacked = directory(&path).unwrap().unwrap();
        let classpath = ClassPath::open(path.to_str().unwrap()).unwrap();
        for class in ["Loader", "p.A", "p.B"] {
            assert!(classpath.find(class).is_some(), "{class}");
        }
        let entries: Vec<&Path> = classpath.paths().collect();
        assert_eq!(entries.len(), 3, "{entries:?}");
        assert!(entries[1].ends_with("BOOT-INF/classes"));
        assert!(entries[2].ends_with("BOOT-INF/lib/b.jar"));
        assert!(!unpacked.parent().unwrap().join("out.class").exists());
        // The second time it exists already.
        assert!(ClassPath::open(path.to_str().unwrap()).is_ok());
        fs::remove_dir_all(unpacked).unwrap();
    }

    #[test]
    fn other_jars_hold_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plain.jar");
        fs::write(&path, jar(&[("A.class", b"a"), ("lib/x.jar", b"")])).unwrap();
        assert!(super::unpacked(&path).unwrap().entries.is_empty());
    }
}
