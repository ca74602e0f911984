//! What the text of a class path names, and what the manifests of its jars name.

use crate::files::{self, failed};
use std::fs;
use std::path::{Path, PathBuf};

/// The entries that the text of a class path names, in order. `dir/*` means all jars of a
/// directory, and is an error if the directory cannot be read; `quarkus-run.jar` also means what it
/// launches.
pub fn named(text: &str) -> Vec<Result<PathBuf, files::Error>> {
    let mut named = Vec::new();
    for part in std::env::split_paths(text).filter(|part| !part.as_os_str().is_empty()) {
        let jars = match part.file_name().is_some_and(|name| name == "*") {
            true => jars_of(part.parent().unwrap_or(Path::new("."))),
            false => Ok(vec![part]),
        };
        match jars {
            Ok(jars) => named.extend(jars.into_iter().flat_map(with_launched).map(Ok)),
            Err(error) => named.push(Err(error)),
        }
    }
    named
}

/// An entry; after Quarkus' launcher also the jars that it finds by a list of its own, since its
/// manifest names only the jars that the launcher itself needs.
fn with_launched(entry: PathBuf) -> Vec<PathBuf> {
    let dir = entry.parent().unwrap_or(Path::new(""));
    let is_launcher =
        entry.ends_with("quarkus-run.jar") && dir.join("quarkus/quarkus-application.dat").is_file();
    // This is the launcher's order, in which rewritten classes hide the original ones.
    let places: &[&str] = match is_launcher {
        true => &["quarkus", "app", "lib/main"],
        false => &[],
    };
    let jars = places.iter().map(|place| jars_of(&dir.join(place)));
    let jars: Vec<PathBuf> = jars.flat_map(Result::unwrap_or_default).collect();
    [vec![entry], jars].concat()
}

/// Whether a directory contains jars, which are only on the class path if it is given as `dir/*`,
/// and no class files.
pub fn has_jars_alone(dir: &Path) -> bool {
    // A tree with this many files is not a directory of jars.
    const MOST: usize = 10_000;
    fn has_classes(dir: &Path, left: &mut usize) -> bool {
        let mut files = fs::read_dir(dir).into_iter().flatten().flatten();
        files.any(|file| {
            let Some(rest) = left.checked_sub(1) else {
                return true;
            };
            *left = rest;
            // Links are not followed, since they may form a circle.
            let is_dir = file.file_type().is_ok_and(|kind| kind.is_dir());
            let path = file.path();
            path.extension().is_some_and(|ext| ext == "class") || is_dir && has_classes(&path, left)
        })
    }
    jars_of(dir).is_ok_and(|jars| !jars.is_empty()) && !has_classes(dir, &mut { MOST })
}

/// The directories of modules in a directory of a module path, in order.
pub fn modules_of(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut modules: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.join("module-info.class").is_file())
        .collect();
    modules.sort();
    modules
}

fn jars_of(dir: &Path) -> Result<Vec<PathBuf>, files::Error> {
    let files = fs::read_dir(dir).map_err(failed("read class path directory", dir))?;
    let mut jars: Vec<PathBuf> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| ext.eq_ignore_ascii_case("jar"))
        })
        .collect();
    jars.sort();
    Ok(jars)
}

/// Opens an entry, and then those that manifests name, in a JVM's order. `open` takes a path and
/// whether a manifest names it, and returns the paths that the entry's own manifest names.
///
/// # Errors
///
/// Fails if the entry itself cannot be opened. An entry that a manifest names and that does not
/// exist or is not a jar is ignored, as in a JVM.
pub fn follow<E>(
    entry: &Path,
    mut open: impl FnMut(&Path, bool) -> Result<Vec<PathBuf>, E>,
) -> Result<(), E> {
    let mut pending = open(entry, false)?;
    pending.reverse();
    while let Some(path) = pending.pop() {
        let listed = open(&path, true).unwrap_or_default();
        pending.extend(listed.into_iter().rev());
    }
    Ok(())
}

/// The paths that the manifest of a jar names in its `Class-Path`. `jar` is the jar's path without
/// links.
pub fn listed(manifest: &[u8], jar: &Path) -> Vec<PathBuf> {
    let manifest = String::from_utf8_lossy(manifest);
    // A line that starts with a blank continues the previous one.
    let joined = manifest.replace("\r\n", "\n").replace("\n ", "");
    let main = joined.split("\n\n").next().unwrap_or_default();
    let value = main.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Class-Path").then_some(value)
    });
    let dir = jar.parent().unwrap_or(Path::new("/"));
    let names = value.unwrap_or_default().split_ascii_whitespace();
    names
        .map(|name| name.strip_prefix("file:").unwrap_or(name))
        .filter(|name| !name.contains("://"))
        .map(|name| dir.join(decoded(name)))
        .collect()
}

/// A path as it was before it was encoded as a part of a URL.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = (first == b'%').then(|| after.get(..2)).flatten();
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_urls_from_the_jar_on() {
        let manifest =
            b"Manifest-Version: 1.0\r\nclass-path: lib/a\r\n .jar b%20%C3%A4.jar file:/c.jar \
            http://x/d.jar 5%.jar\r\n\r\nName: p\r\nClass-Path: no.jar\r\n";
        let listed = listed(manifest, Path::new("/app/main.jar"));
        let expected = ["/app/lib/a.jar", "/app/b ä.jar", "/c.jar", "/app/5%.jar"];
        assert_eq!(listed, expected.map(PathBuf::from));
    }

    #[test]
    fn a_launcher_means_what_it_launches() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let jars = [
            "quarkus-run.jar",
            "quarkus/transformed-bytecode.jar",
            "app/app.jar",
            "lib/main/x.jar",
            "lib/main/y.jar",
        ];
        for file in [&jars[..], &["quarkus/quarkus-application.dat"]].concat() {
            fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
            fs::write(dir.join(file), "").unwrap();
        }
        let expected = jars.map(|jar| dir.join(jar));
        for text in [&expected[0], &dir.join("*")] {
            let named = named(text.to_str().unwrap()).into_iter();
            let named: Vec<PathBuf> = named.map(Result::unwrap).collect();
            assert_eq!(named, expected);
        }
        // As a plain directory, it holds no classes of the program.
        assert!(has_jars_alone(dir));
        assert!(!has_jars_alone(&dir.join("lib")));
        fs::write(dir.join("lib/A.class"), "").unwrap();
        assert!(!has_jars_alone(dir));
    }
}
