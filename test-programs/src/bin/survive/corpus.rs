//! Jars, taken apart into classes that can live in one class loader.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use anyhow::{Context, Result};
use hindsight_classfile::ClassFile;
use zip::ZipArchive;

/// A class file.
pub struct Class {
    /// The internal name, as in the file.
    pub name: Vec<u8>,
    /// The entry of the jar.
    pub entry: String,
    pub bytes: Vec<u8>,
}

/// Classes with different names that may refer to each other.
pub struct Group {
    /// The jar's name, and which part of it.
    pub name: String,
    /// The jar's file; empty for jars within jars.
    pub jar: String,
    pub classes: Vec<Class>,
    /// Entries that claim to be class files and cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
}

/// Hands over the groups of a jar, those of jars within it too.
pub fn groups(path: &Path, take: &mut dyn FnMut(Group) -> Result<()>) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    archive(
        &name,
        &path.to_string_lossy(),
        ZipArchive::new(Cursor::new(&bytes[..]))
            .with_context(|| format!("{} is no jar", path.display()))?,
        take,
    )
}

fn archive<R: Read + Seek>(
    name: &str,
    jar: &str,
    mut zip: ZipArchive<R>,
    take: &mut dyn FnMut(Group) -> Result<()>,
) -> Result<()> {
    let group = |suffix: &str| Group {
        name: format!("{name}{suffix}"),
        jar: jar.to_owned(),
        classes: Vec::new(),
        unreadable: Vec::new(),
    };
    // Versions of a multi-release jar, and further classes of the same name.
    let mut layers: BTreeMap<String, (Group, HashMap<Vec<u8>, ()>)> = BTreeMap::new();
    let mut inner = Vec::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at)?;
        if file.is_dir() {
            continue;
        }
        let entry = file.name().to_owned();
        let mut bytes = Vec::new();
        // Some old archives have entries that nobody can unpack.
        if file.read_to_end(&mut bytes).is_err() {
            layer(&mut layers, "", &group)
                .0
                .unreadable
                .push((entry, "cannot be unpacked".into()));
            continue;
        }
        if is_class(&bytes) {
            let mut suffix = match entry.strip_prefix("META-INF/versions/") {
                Some(rest) => format!("!{}", rest.split('/').next().unwrap_or_default()),
                None => String::new(),
            };
            let class = match ClassFile::parse(&bytes).and_then(|class| class.name()) {
                Ok(class) => class.as_bytes().to_vec(),
                Err(error) => {
                    let (group, _) = layer(&mut layers, "", &group);
                    group.unreadable.push((entry, error.to_string()));
                    continue;
                }
            };
            while layer(&mut layers, &suffix, &group).1.contains_key(&class) {
                suffix.push('+');
            }
            let (group, names) = layer(&mut layers, &suffix, &group);
            names.insert(class.clone(), ());
            group.classes.push(Class {
                name: class,
                entry,
                bytes,
            });
        } else if bytes.starts_with(b"PK\x03\x04") {
            inner.push((entry, bytes));
        }
    }
    for (_, (group, _)) in layers {
        take(group)?;
    }
    for (entry, bytes) in inner {
        if let Ok(zip) = ZipArchive::new(Cursor::new(&bytes[..])) {
            archive(&format!("{name}!{entry}"), "", zip, take)?;
        }
    }
    Ok(())
}

fn layer<'m>(
    layers: &'m mut BTreeMap<String, (Group, HashMap<Vec<u8>, ()>)>,
    suffix: &str,
    group: &dyn Fn(&str) -> Group,
) -> &'m mut (Group, HashMap<Vec<u8>, ()>) {
    layers
        .entry(suffix.to_owned())
        .or_insert_with(|| (group(suffix), HashMap::new()))
}

/// By content, for not all class files are named so. Programs for Macs begin
/// with the same four bytes, but have no such version.
fn is_class(bytes: &[u8]) -> bool {
    matches!(bytes, [0xca, 0xfe, 0xba, 0xbe, _, _, 0, 43..=99, ..])
}
