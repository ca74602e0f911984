//! What the text of a class path names, and what the manifests of its jars name beside.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The entries that the text of a class path names, in order. `dir/*` means all jars of a
/// directory, and is an error if that cannot be read.
pub fn named(text: &str) -> Vec<Result<PathBuf>> {
    let mut named = Vec::new();
    for part in std::env::split_paths(text).filter(|part| !part.as_os_str().is_empty()) {
        if part.file_name().is_none_or(|name| name != "*") {
            named.push(Ok(part));
            continue;
        }
        match jars_of(part.parent().unwrap_or(Path::new("."))) {
            Ok(jars) => named.extend(jars.into_iter().map(Ok)),
            Err(error) => named.push(Err(error)),
        }
    }
    named
}

fn jars_of(dir: &Path) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(dir)
        .with_context(|| format!("failed to read class path directory {}", dir.display()))?;
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

/// Opens an entry, and then what manifests name, in a JVM's order. `open` gets a path, and
/// whether a manifest names it, and gives what that entry's own manifest names.
///
/// # Errors
///
/// Fails if the entry itself cannot be opened: a JVM takes no notice of what a manifest
/// names that does not exist or is no jar.
pub fn follow(
    entry: &Path,
    mut open: impl FnMut(&Path, bool) -> Result<Vec<PathBuf>>,
) -> Result<()> {
    let mut pending = open(entry, false)?;
    pending.reverse();
    while let Some(path) = pending.pop() {
        let listed = open(&path, true).unwrap_or_default();
        pending.extend(listed.into_iter().rev());
    }
    Ok(())
}

/// What the manifest of a jar names in its `Class-Path`. `jar` is the jar's path without links.
pub fn listed(manifest: &[u8], jar: &Path) -> Vec<PathBuf> {
    let manifest = String::from_utf8_lossy(manifest);
    // A line that starts with a blank continues the one before.
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

/// A name as it was before it became part of a URL.
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
}
