//! The class path: where classes are found, and what they are.
//!
//! - `parts` reads what the text of a class path names, and what the manifests of its jars name.

pub(crate) mod parts;

use crate::classinfo::ClassInfo;
use crate::files::{self, failed};
use crate::java::names::package_of;
use crate::nested;
use crate::temporary::Directory;
use crate::text::hex;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use zip::ZipArchive;

/// The largest class file in bytes; a hostile jar may claim more.
const MAX_CLASS: u64 = 64 << 20;

/// The release of Java for which tests are written if the program needs no newer one.
const OLDEST_RELEASE: u32 = 11;

/// The difference between the version of class files and the release of Java.
const FIRST_VERSION: u32 = 44;

/// Why a class path cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An entry, or a directory of jars, cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// An entry cannot be read as a jar.
    #[error("failed to read class path entry {} as a jar", path.display())]
    NotAJar {
        /// The entry.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// What is nested in a jar is not available.
    #[error(transparent)]
    Nested(#[from] nested::Error),
}

/// The entries of a class path: directories and jars, in order.
pub struct ClassPath {
    entries: Vec<Entry>,
    /// The directories in which unpacked entries are, which are kept as long as this is.
    _kept: Vec<Directory>,
    classes: RefCell<HashMap<String, Option<Rc<FoundClass>>>>,
}

struct Entry {
    path: PathBuf,
    origin: Origin,
    jar: Option<Jar>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A jar's manifest names the entry.
    Manifest,
    /// A jar contains the entry.
    Held,
    /// The user names the entry.
    Named,
}

struct Jar {
    archive: RefCell<ZipArchive<BufReader<File>>>,
    /// The simple names of top-level classes, by package.
    packages: HashMap<String, HashSet<String>>,
    /// Whether the jar is signed or sealed, so that no other class may be added to its packages.
    closed: bool,
    /// The paths that the manifest's `Class-Path` names.
    class_path: Vec<PathBuf>,
    /// For each class file's name, the names of the entries with versions of it in a multi-release
    /// jar.
    versions: HashMap<String, Vec<String>>,
}

/// A class on the class path.
#[derive(Debug)]
pub struct FoundClass {
    /// The entry of the class path that holds it.
    pub entry: PathBuf,
    /// What its class file says; `None` if that cannot be parsed.
    pub info: Option<ClassInfo>,
    /// The SHA-256 of its class file, in hexadecimal.
    pub sha256: String,
    /// The SHA-256 of each of its other versions in a multi-release jar.
    pub other_sha256: Vec<String>,
    /// Whether a test may be put into its package.
    pub open: bool,
}

impl ClassPath {
    /// Opens a class path: entries joined by the platform's separator; `dir/*` means all jars of a
    /// directory. As in a JVM, the entries that a jar's manifest names in its `Class-Path` follow
    /// the jar, if they exist. So do those that a jar contains for a loader of its own
    /// ([`nested`]).
    ///
    /// # Errors
    ///
    /// Fails on an entry that does not exist or is not a jar, and names it.
    pub fn open(text: &str) -> Result<ClassPath, Error> {
        let (mut entries, mut kept) = (Vec::new(), Vec::new());
        for part in parts::named(text) {
            let part = part?;
            add(&mut entries, &part, Origin::Named)?;
            let unpacked = nested::unpacked(&part)?;
            for held in &unpacked.entries {
                add(&mut entries, held, Origin::Held)?;
            }
            kept.extend(unpacked.kept);
        }
        Ok(ClassPath {
            entries,
            _kept: kept,
            classes: RefCell::default(),
        })
    }

    /// The entries as absolute paths, except those that a manifest names, which javac and the JVM
    /// find themselves.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.from(Origin::Held).map(|(path, _)| path)
    }

    /// The entries of [`Self::paths`], each with whether it was unpacked from the jar before it
    /// ([`nested`]).
    pub fn paths_with_held(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.from(Origin::Held)
    }

    /// The entries that the user named, as absolute paths, without those that were unpacked from
    /// them.
    pub fn named(&self) -> impl Iterator<Item = &Path> {
        self.from(Origin::Named).map(|(path, _)| path)
    }

    /// The directories that the user named and that contain jars and no class files. Jars are not
    /// on the class path that way.
    pub fn dirs_of_jars(&self) -> impl Iterator<Item = &Path> {
        self.named().filter(|path| parts::has_jars_alone(path))
    }

    /// The directories that the user named and that contain modules, as on a module path, with
    /// these. Modules are not on the class path that way.
    pub fn dirs_of_modules(&self) -> impl Iterator<Item = (&Path, Vec<PathBuf>)> {
        self.named()
            .map(|path| (path, parts::modules_of(path)))
            .filter(|(_, modules)| !modules.is_empty())
    }

    fn from(&self, least: Origin) -> impl Iterator<Item = (&Path, bool)> {
        let entries = self.entries.iter();
        let entries = entries.filter(move |entry| entry.origin >= least);
        entries.map(|entry| (entry.path.as_path(), entry.origin == Origin::Held))
    }

    /// Finds a class by its binary name (with dots).
    pub fn find(&self, class: &str) -> Option<Rc<FoundClass>> {
        if let Some(known) = self.classes.borrow().get(class) {
            return known.clone();
        }
        let found = self
            .entries
            .iter()
            .find_map(|entry| entry.find(class))
            .map(Rc::new);
        self.classes
            .borrow_mut()
            .insert(class.to_owned(), found.clone());
        found
    }

    /// The first entry whose class file of a class has this SHA-256.
    pub fn entry_with(&self, class: &str, sha256: &str) -> Option<PathBuf> {
        let mut found = self.entries.iter().filter_map(|entry| entry.find(class));
        found
            .find(|found| found.sha256 == sha256)
            .map(|found| found.entry)
    }

    /// The class file of a class.
    pub fn bytes(&self, class: &str) -> Option<Vec<u8>> {
        self.entries.iter().find_map(|entry| entry.bytes(class))
    }

    /// A class that is on the class path and can be parsed.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        self.find(class).filter(|found| found.info.is_some())
    }

    /// The release of Java for sources that use these classes: the newest of the classes that have
    /// been looked for, and at least 11. The API of an older release may lack what they extend
    /// (such as `java.lang.Record`), and they cannot be loaded in an older JVM anyway.
    pub fn release(&self) -> u32 {
        let classes = self.classes.borrow();
        let infos = classes
            .values()
            .flatten()
            .filter_map(|found| found.info.as_ref());
        let releases = infos.map(|info| u32::from(info.version).saturating_sub(FIRST_VERSION));
        releases.fold(OLDEST_RELEASE, u32::max)
    }

    /// The simple names of a package's top-level types.
    pub fn types_of_package(&self, package: &str) -> HashSet<String> {
        let mut types = HashSet::new();
        for entry in &self.entries {
            match &entry.jar {
                Some(jar) => types.extend(jar.packages.get(package).into_iter().flatten().cloned()),
                None => {
                    let dir = entry.path.join(package.replace('.', "/"));
                    let files = fs::read_dir(dir).into_iter().flatten().flatten();
                    types.extend(files.filter_map(|file| {
                        let name = file.file_name().into_string().ok()?;
                        Some(name.strip_suffix(".class")?.to_owned())
                    }));
                }
            }
        }
        types
    }
}

/// Adds an entry, and the entries that its manifest names, unless they are there already.
fn add(entries: &mut Vec<Entry>, path: &Path, origin: Origin) -> Result<(), Error> {
    parts::follow(path, |path, is_listed| {
        let origin = if is_listed { Origin::Manifest } else { origin };
        let entry = Entry::open(path, origin)?;
        let known = entries.iter_mut().find(|known| known.path == entry.path);
        if let Some(known) = known {
            known.origin = known.origin.max(origin);
            return Ok(Vec::new());
        }
        let listed = entry.jar.as_ref().map(|jar| jar.class_path.clone());
        entries.push(entry);
        Ok(listed.unwrap_or_default())
    })
}

impl Entry {
    fn open(path: &Path, origin: Origin) -> Result<Entry, Error> {
        let path = fs::canonicalize(path).map_err(failed("open class path entry", path))?;
        let jar = if path.is_dir() {
            None
        } else {
            Some(Jar::open(&path).map_err(|source| Error::NotAJar {
                path: path.clone(),
                source,
            })?)
        };
        Ok(Entry { path, origin, jar })
    }

    fn bytes(&self, class: &str) -> Option<Vec<u8>> {
        let name = file_name(class)?;
        match &self.jar {
            None => fs::read(self.path.join(&name)).ok(),
            Some(jar) => jar.class(&name),
        }
    }

    fn find(&self, class: &str) -> Option<FoundClass> {
        let name = file_name(class)?;
        let (bytes, other_sha256, open) = match &self.jar {
            None => {
                let bytes = fs::read(self.path.join(&name)).ok()?;
                (bytes, Vec::new(), true)
            }
            Some(jar) => {
                let bytes = jar.class(&name)?;
                let others = jar.versions.get(&name).into_iter().flatten();
                let others = others.filter_map(|version| Some(sha256(&jar.read(version)?)));
                (bytes, others.collect(), !jar.closed)
            }
        };
        Some(FoundClass {
            entry: self.path.clone(),
            sha256: sha256(&bytes),
            info: ClassInfo::parse(&bytes)
                .ok()
                .filter(|info| info.name == class),
            other_sha256,
            open,
        })
    }
}

/// The path of a class's file within an entry; `None` if the name cannot be that of a class.
fn file_name(class: &str) -> Option<String> {
    // A name from a recording must not lead out of the directory.
    if class.is_empty() || class.contains(['/', '\\', '\0', '[', ';']) || class.contains("..") {
        return None;
    }
    Some(format!("{}.class", class.replace('.', "/")))
}

impl Jar {
    fn open(path: &Path) -> io::Result<Jar> {
        let mut archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
        let mut packages: HashMap<String, HashSet<String>> = HashMap::new();
        let mut versions: HashMap<String, Vec<String>> = HashMap::new();
        let mut closed = false;
        let mut is_there = |file: &str| {
            if let Some(class) = file.strip_suffix(".class") {
                let class = class.replace('/', ".");
                let package = package_of(&class).to_owned();
                let simple = crate::text::simple_name(&class).to_owned();
                packages.entry(package).or_default().insert(simple);
            }
        };
        for name in archive.file_names() {
            if let Some(meta) = name.strip_prefix("META-INF/") {
                closed |= !meta.contains('/') && meta.to_ascii_uppercase().ends_with(".SF");
                if let Some((_, base)) = meta
                    .strip_prefix("versions/")
                    .and_then(|rest| rest.split_once('/'))
                {
                    is_there(base);
                    versions
                        .entry(base.to_owned())
                        .or_default()
                        .push(name.to_owned());
                }
            } else {
                is_there(name);
            }
        }
        let manifest = read_entry(&mut archive, "META-INF/MANIFEST.MF").unwrap_or_default();
        let sealed = |line: &str| {
            let lower = line.to_ascii_lowercase();
            lower.starts_with("sealed:") && lower.ends_with("true")
        };
        let class_path = parts::listed(&manifest, path);
        let manifest = String::from_utf8_lossy(&manifest);
        closed |= manifest.lines().any(|line| sealed(line.trim_end()));
        Ok(Jar {
            archive: RefCell::new(archive),
            packages,
            closed,
            class_path,
            versions,
        })
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        read_entry(&mut self.archive.borrow_mut(), name)
    }

    /// The class file of a class. If only some versions of a multi-release jar have it, one of
    /// those.
    fn class(&self, name: &str) -> Option<Vec<u8>> {
        let versions = || self.versions.get(name).into_iter().flatten();
        let any = || versions().find_map(|version| self.read(version));
        self.read(name).or_else(any)
    }
}

fn read_entry(archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let entry = archive.by_name(name).ok()?;
    entry.take(MAX_CLASS).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Whether a class belongs to the platform on which programs run. `com.sun` is not included: a
/// failure in javac is a failure of a program.
pub fn is_platform(class: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun."]
        .iter()
        .any(|prefix| class.starts_with(prefix))
}

/// Whether a class belongs to the JDK, judged by its name: to the platform, or to its other parts.
pub fn is_jdk(class: &str) -> bool {
    const ELSE: [&str; 3] = ["com.sun.", "org.w3c.dom.", "org.xml.sax."];
    is_platform(class) || ELSE.iter().any(|prefix| class.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn jar(path: &Path, files: &[(&str, &str)]) {
        let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
        for (name, text) in files {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
    }

    #[test]
    fn class_path_of_manifests_is_followed() {
        const MANIFEST: &str = "META-INF/MANIFEST.MF";
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir(dir.join("lib")).unwrap();
        let list = "Manifest-Version: 1.0\r\nClass-Path: lib/a\r\n .jar gone.jar\r\n\r\n";
        jar(&dir.join("main.jar"), &[(MANIFEST, list)]);
        let circle = "Class-Path: ../main.jar b%20c.jar\n";
        jar(
            &dir.join("lib/a.jar"),
            &[(MANIFEST, circle), ("A.class", "a")],
        );
        jar(&dir.join("lib/b c.jar"), &[("B.class", "b")]);
        jar(&dir.join("last.jar"), &[("B.class", "other")]);
        let text = std::env::join_paths([dir.join("main.jar"), dir.join("last.jar")]).unwrap();
        let classpath = ClassPath::open(text.to_str().unwrap()).unwrap();
        assert!(classpath.find("A").unwrap().entry.ends_with("lib/a.jar"));
        assert!(classpath.find("B").unwrap().entry.ends_with("lib/b c.jar"));
        assert_eq!(classpath.paths().count(), 2);
    }

    #[test]
    fn a_class_that_only_versions_have_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("many.jar");
        let manifest = "Manifest-Version: 1.0\nMulti-Release: true\n\n";
        jar(
            &path,
            &[
                ("META-INF/MANIFEST.MF", manifest),
                ("A.class", "a"),
                ("META-INF/versions/9/A.class", "a9"),
                ("META-INF/versions/9/p/New.class", "new"),
            ],
        );
        let classpath = ClassPath::open(path.to_str().unwrap()).unwrap();
        assert!(classpath.find("p.New").unwrap().entry.ends_with("many.jar"));
        assert_eq!(classpath.find("p.New").unwrap().sha256, sha256(b"new"));
        let both = classpath.find("A").unwrap();
        assert_eq!(both.sha256, sha256(b"a"));
        assert_eq!(both.other_sha256, [sha256(b"a9")]);
        assert!(classpath.find("p.None").is_none());
    }
}
