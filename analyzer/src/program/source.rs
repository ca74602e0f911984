//! Where class files come from: directories, archives within archives, jmods.

#[cfg(test)]
mod tests;

use super::jimage::{self, Image};
use crate::archive::read::{Directory, Source};
use crate::archive::{self, DEFLATED, Entry, STORED};
use crate::classpath::parts;
use crate::files::{self, failed};
use crate::folder::{self, Kind};
use crate::java::names::is_word;
use crate::text::with_causes;
use flate2::read::DeflateDecoder;
use hindsight_classfile::ClassFile;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// The largest class file in bytes; a hostile jar may claim more.
const MAX_CLASS: u64 = 64 << 20;
/// The largest jar within a jar, in bytes: if it is compressed, it is unpacked in memory.
const MAX_NESTED: u64 = 512 << 20;
/// The greatest depth of jars within jars; in practice there are two or three.
const MAX_DEPTH: usize = 8;
/// The most files that are examined in a directory that a manifest names.
const MAX_LISTED: usize = 200_000;
const MANIFEST: &str = "META-INF/MANIFEST.MF";
const VERSIONS: &str = "META-INF/versions/";

/// Why the classes of a class path, or of a JDK, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The class path names nothing.
    #[error("the class path is empty")]
    Empty,
    /// An entry, or a directory of jars, cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// An entry is a directory that cannot be listed.
    #[error("failed to read class path entry {}", path.display())]
    Directory {
        /// The entry.
        path: PathBuf,
        /// The reason.
        source: files::Error,
    },
    /// An entry is no archive that can be read.
    #[error("failed to read class path entry {} as a jar", path.display())]
    Archive {
        /// The entry.
        path: PathBuf,
        /// The reason.
        source: archive::Error,
    },
    /// A JDK's image cannot be opened.
    #[error("failed to read {}", path.display())]
    Image {
        /// The image.
        path: PathBuf,
        /// The reason.
        source: jimage::Error,
    },
    /// What a JDK's image lists cannot be read.
    #[error(transparent)]
    Listing(#[from] jimage::Error),
}

/// Why an entry of an archive cannot be read.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Archive(#[from] archive::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("encrypted")]
    Encrypted,
    #[error("too large")]
    TooLarge,
    #[error("does not unpack")]
    Packed(#[source] io::Error),
    #[error("unpacks to another length than it says")]
    Length,
    #[error("packed by unknown method {0}")]
    Method(u16),
}

/// A class file as it was found.
#[derive(Debug)]
pub struct Raw {
    /// The bytes of the class file.
    pub bytes: Vec<u8>,
    /// Where it was found: `lib/a.jar!/a/B.class`.
    pub place: String,
}

/// Class files in the order of the class path, and warnings.
#[derive(Debug, Default)]
pub struct Found {
    /// The class files; of several with the same name the first counts.
    pub classes: Vec<Raw>,
    /// One line for each problem, which names what it is about.
    pub warnings: Vec<String>,
}

/// Reads all classes of a class path, as a JVM of version `release` sees them: including those that
/// manifests name, and each entry once.
///
/// A broken archive within another one, or a broken entry, gives a warning.
///
/// # Errors
///
/// Fails on an entry of the class path that does not exist, or is neither a directory, an archive
/// nor a class file, and names it.
pub fn class_path(text: &str, release: u32) -> Result<Found, Error> {
    read(text, release, Err)
}

/// Like [`class_path`], but an entry that cannot be read gives a warning, too.
///
/// # Errors
///
/// Fails if no entry can be read, with the first error that [`class_path`] would give.
pub fn class_path_in_part(text: &str, release: u32) -> Result<Found, Error> {
    let mut first = None;
    let mut warnings = Vec::new();
    let mut found = read(text, release, |error| {
        warnings.push(format!("{}; left out", with_causes(&error)));
        first.get_or_insert(error);
        Ok(())
    })?;
    match first {
        Some(error) if found.classes.is_empty() && found.warnings.is_empty() => Err(error),
        _ => {
            found.warnings.splice(0..0, warnings);
            Ok(found)
        }
    }
}

/// Reads the entries of a class path; `failed` is called for each one that cannot be read.
fn read(
    text: &str,
    release: u32,
    mut failed: impl FnMut(Error) -> Result<(), Error>,
) -> Result<Found, Error> {
    let mut found = Found::default();
    // The entries, each with whether the class path itself names it, so that its errors count.
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    let named = parts::named(text);
    if named.is_empty() {
        return Err(Error::Empty);
    }
    for part in named {
        let done = part.map_err(Error::from).and_then(|part| {
            parts::follow(&part, |path, is_listed| {
                if let Ok(real) = fs::canonicalize(path) {
                    match known.get(&real) {
                        Some(is_named) if is_listed || *is_named => return Ok(Vec::new()),
                        _ => known.insert(real, !is_listed),
                    };
                }
                entry(path, release, is_listed, &mut found)
            })
        });
        done.or_else(&mut failed)?;
    }
    Ok(found)
}

/// Reads an entry, which a manifest may have named. Returns the entries that its own manifest
/// names.
fn entry(
    path: &Path,
    release: u32,
    is_listed: bool,
    found: &mut Found,
) -> Result<Vec<PathBuf>, Error> {
    let failed = failed("read class path entry", path);
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        match is_listed {
            true => listed_directory(path, Path::new(""), &mut 0, found),
            false => directory(path, found).map_err(|source| Error::Directory {
                path: path.to_owned(),
                source,
            })?,
        }
        return Ok(Vec::new());
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut magic = [0; 4];
    let read = file.read(&mut magic).map_err(failed)?;
    if read == 4 && magic == [0xca, 0xfe, 0xba, 0xbe] {
        let bytes = fs::read(path).map_err(failed)?;
        let place = path.display().to_string();
        found.classes.push(Raw { bytes, place });
        return Ok(Vec::new());
    }
    let mut source = Source::new(&mut file).map_err(failed)?;
    let manifest = archive(&mut source, &path.display().to_string(), release, 0, found);
    let manifest = manifest.map_err(|source| Error::Archive {
        path: path.to_owned(),
        source,
    })?;
    let real = fs::canonicalize(path).map_err(failed)?;
    Ok(parts::listed(&manifest, &real))
}

/// Reads the classes that a JVM finds in a directory that a manifest names. `.` means the directory
/// of the jar, which may contain anything: links are not followed, directories whose names cannot
/// be packages are skipped, and of very many files only the first ones count.
fn listed_directory(root: &Path, package: &Path, seen: &mut usize, found: &mut Found) {
    let entries = fs::read_dir(root.join(package)).into_iter().flatten();
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        *seen += 1;
        if *seen > MAX_LISTED {
            return;
        }
        let name = entry.file_name();
        let path = package.join(&name);
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && name.to_str().is_some_and(is_word) {
            listed_directory(root, &path, seen, found);
        }
        let is_class = kind.is_file() && path.extension().is_some_and(|ext| ext == "class");
        let is_small = || entry.metadata().is_ok_and(|file| file.len() <= MAX_CLASS);
        if is_class
            && is_small()
            && let Ok(bytes) = fs::read(entry.path())
            && is_in_place(&path, &bytes)
        {
            let place = entry.path().display().to_string();
            found.classes.push(Raw { bytes, place });
        }
    }
}

/// Reads the classes in a directory and below it.
fn directory(path: &Path, found: &mut Found) -> Result<(), files::Error> {
    for item in folder::list(path, None)? {
        let file = path.join(&item.path);
        let is_class = file.extension().is_some_and(|ext| ext == "class");
        let place = file.display().to_string();
        let bytes = match item.kind {
            Kind::File(len) if is_class && len > MAX_CLASS => Ok(Vec::new()),
            Kind::File(_) if is_class => fs::read(&file).map_err(|error| error.to_string()),
            Kind::Odd(what) if is_class => Err(what.to_owned()),
            Kind::Circle => Err("a link to a directory above".to_owned()),
            Kind::Unreadable(error) => Err(with_causes(&error)),
            Kind::Folder | Kind::File(_) | Kind::Odd(_) => continue,
        };
        match bytes {
            Ok(bytes) => found.classes.push(Raw { bytes, place }),
            Err(error) => found.warnings.push(format!("{place}: {error}")),
        }
    }
    Ok(())
}

/// Whether a class file has the path that its class's name requires.
fn is_in_place(path: &Path, bytes: &[u8]) -> bool {
    let class = ClassFile::parse(bytes);
    let name = class.as_ref().ok().and_then(|class| class.name().ok());
    name.is_some_and(|name| path.with_extension("") == Path::new(&*name.to_string_lossy()))
}

/// Reads the classes of an archive and of those within it. Returns the archive's manifest.
fn archive(
    source: &mut Source<'_>,
    path: &str,
    release: u32,
    depth: usize,
    found: &mut Found,
) -> Result<Vec<u8>, archive::Error> {
    let directory = Directory::read(source)?;
    let manifest = directory
        .entries
        .iter()
        .find(|entry| entry.name == MANIFEST.as_bytes());
    let manifest = manifest.and_then(|entry| content(source, entry, MAX_CLASS).ok());
    let manifest = manifest.unwrap_or_default();
    let versioned = is_multi_release(&manifest);

    // The newest version of each class that this JVM would use.
    let mut newest: HashMap<&str, (u32, &Entry)> = HashMap::new();
    let mut order = Vec::new();
    let mut nested = Vec::new();
    for entry in &directory.entries {
        let Ok(full) = std::str::from_utf8(&entry.name) else {
            continue;
        };
        if crate::instrument::jar::is_archive(full) {
            nested.push((full, entry));
        }
        let (version, name) = match full
            .strip_prefix(VERSIONS)
            .and_then(|rest| rest.split_once('/'))
        {
            None => (0, full),
            Some((number, name)) => match number.parse() {
                Ok(number) if versioned && number <= release => (number, name),
                _ => continue,
            },
        };
        if !name.ends_with(".class") || name.ends_with("module-info.class") {
            continue;
        }
        match newest.get_mut(name) {
            None => {
                newest.insert(name, (version, entry));
                order.push(name);
            }
            Some(known) if known.0 < version => *known = (version, entry),
            Some(_) => {}
        }
    }
    for name in order {
        let entry = newest[name].1;
        let place = format!("{path}!/{}", entry.text());
        match content(source, entry, MAX_CLASS) {
            Ok(bytes) => found.classes.push(Raw { bytes, place }),
            Err(error) => {
                let error = with_causes(&error);
                found.warnings.push(format!("{place}: {error}"));
            }
        }
    }
    for (name, entry) in nested {
        let place = format!("{path}!/{name}");
        if depth == MAX_DEPTH {
            found.warnings.push(format!("{place}: too deep, left out"));
            continue;
        }
        let done = if entry.method == STORED && !entry.is_encrypted() {
            entry
                .locate(source)
                .and_then(|(at, _)| {
                    let mut part = source.part(at, entry.packed)?;
                    archive(&mut part, &place, release, depth + 1, found)
                })
                .map_err(Broken::from)
        } else {
            content(source, entry, MAX_NESTED).and_then(|bytes| {
                let mut cursor = Cursor::new(bytes);
                let mut part = Source::new(&mut cursor)?;
                Ok(archive(&mut part, &place, release, depth + 1, found)?)
            })
        };
        if let Err(error) = done {
            let error = with_causes(&error);
            found.warnings.push(format!("{place}: {error}"));
        }
    }
    Ok(manifest)
}

/// The content of an entry, if it has at most `max` bytes.
fn content(source: &mut Source<'_>, entry: &Entry, max: u64) -> Result<Vec<u8>, Broken> {
    if entry.is_encrypted() {
        return Err(Broken::Encrypted);
    }
    if entry.size > max || entry.packed > max {
        return Err(Broken::TooLarge);
    }
    let (at, _) = entry.locate(source)?;
    let packed = source.bytes(at, entry.packed)?;
    match entry.method {
        STORED => Ok(packed),
        DEFLATED => {
            let mut bytes = Vec::new();
            DeflateDecoder::new(packed.as_slice())
                .take(entry.size + 1)
                .read_to_end(&mut bytes)
                .map_err(Broken::Packed)?;
            if bytes.len() as u64 != entry.size {
                return Err(Broken::Length);
            }
            Ok(bytes)
        }
        method => Err(Broken::Method(method)),
    }
}

fn is_multi_release(manifest: &[u8]) -> bool {
    let text = String::from_utf8_lossy(manifest);
    text.lines().any(|line| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("Multi-Release")
                && value.trim().eq_ignore_ascii_case("true")
        })
    })
}

/// Where a JDK keeps its own classes.
pub enum JdkClasses {
    /// An image of modules (Java 9 and later).
    Image(Image),
    /// `rt.jar` and the jars that belong to it (up to Java 8).
    Jars(Vec<PathBuf>),
}

impl JdkClasses {
    /// Finds the classes of a JDK; `None` for a directory that has neither form.
    ///
    /// # Errors
    ///
    /// Fails if there is an image that cannot be read.
    pub fn find(home: &Path) -> Result<Option<JdkClasses>, Error> {
        let path = home.join("lib/modules");
        if path.exists() {
            return match Image::open(&path) {
                Ok(image) => Ok(Some(JdkClasses::Image(image))),
                Err(source) => Err(Error::Image { path, source }),
            };
        }
        for lib in ["jre/lib", "lib"].map(|lib| home.join(lib)) {
            let jars = ["rt.jar", "jce.jar", "jsse.jar", "charsets.jar"].map(|jar| lib.join(jar));
            if jars[0].is_file() {
                let there = jars.into_iter().filter(|jar| jar.is_file());
                return Ok(Some(JdkClasses::Jars(there.collect())));
            }
        }
        Ok(None)
    }

    /// The file by which the JDK's classes are known to users.
    pub fn path(&self) -> &Path {
        match self {
            JdkClasses::Image(image) => image.path(),
            JdkClasses::Jars(jars) => jars.first().map_or(Path::new("rt.jar"), PathBuf::as_path),
        }
    }

    /// The files, and the bytes of an image's index: together they distinguish one JDK from
    /// another.
    pub fn identity(&self) -> (Vec<PathBuf>, &[u8]) {
        match self {
            JdkClasses::Image(image) => (vec![image.path().to_owned()], image.index()),
            JdkClasses::Jars(jars) => (jars.clone(), b""),
        }
    }

    /// Reads all class files. Those that cannot be read give warnings.
    ///
    /// # Errors
    ///
    /// Fails if the image, or a jar as a whole, cannot be read.
    pub fn read(&self) -> Result<Found, Error> {
        let image = match self {
            JdkClasses::Image(image) => image,
            JdkClasses::Jars(jars) => {
                let mut found = Found::default();
                for jar in jars {
                    entry(jar, 8, false, &mut found)?;
                }
                return Ok(found);
            }
        };
        let mut found = Found::default();
        let wanted = |name: &str| name.ends_with(".class") && !name.ends_with("module-info.class");
        for resource in image
            .resources()?
            .iter()
            .filter(|resource| wanted(&resource.name))
        {
            let place = format!("/{}/{}", resource.module, resource.name);
            match image.read(resource) {
                Ok(bytes) => found.classes.push(Raw { bytes, place }),
                Err(error) => found.warnings.push(format!("{place}: {error}")),
            }
        }
        Ok(found)
    }
}
