//! Names of tests, their classes and files, and of what they mention.

use crate::classinfo::{ClassInfo, Nesting};
use crate::classpath::ClassPath;
use crate::java::names::{is_identifier, is_type_name, package_of, sanitize};
use crate::text::simple_name;
use hindsight_classfile::access;
use hindsight_tracelog::crash::Frame;

/// The name of a frame's test.
pub fn test_name(frame: &Frame, index: usize) -> String {
    let method = match frame.method.as_str() {
        "<init>" => {
            let class = simple_name(&frame.class);
            format!("new_{}", class.rsplit('$').next().unwrap_or(class))
        }
        method => method.to_owned(),
    };
    let mut name = sanitize(&method);
    if !is_identifier(&name) {
        name.insert(0, 'x');
    }
    format!("{name}_frame{index}")
}

/// `crash-0001` as `Crash0001`.
pub(super) fn camel(stem: &str) -> String {
    let words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    let name: String = words.map(capitalized).collect();
    if name.starts_with("Crash") {
        name
    } else {
        format!("Crash{name}")
    }
}

pub(super) fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let mut out: String = chars
        .next()
        .map(|c| c.to_uppercase().collect())
        .unwrap_or_default();
    out.push_str(chars.as_str());
    out
}

pub(super) fn sanitize_file(stem: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = stem
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(100)
        .collect();
    if name.is_empty() {
        "crash".to_owned()
    } else {
        name
    }
}

/// Whether sources can name a package, which may be the unnamed one. They cannot if a class has the
/// name of it or of an enclosing one, as obfuscators cause, because then the name means the class
/// (JLS 6.4.2).
pub(super) fn is_package_name(classpath: &ClassPath, package: &str) -> bool {
    if package.is_empty() {
        return true;
    }
    let ends = package.match_indices('.').map(|(at, _)| at);
    let mut prefixes = ends.chain([package.len()]).map(|end| &package[..end]);
    package.split('.').all(is_identifier) && prefixes.all(|name| classpath.find(name).is_none())
}

/// The package and the nested path by which sources in `from` name a class; `None` if they cannot.
pub fn source_name(classpath: &ClassPath, class: &str, from: &str) -> Option<(String, String)> {
    let package = package_of(class);
    if package.is_empty() && !from.is_empty() {
        return None;
    }
    if !is_package_name(classpath, package) {
        return None;
    }
    let path = match classpath.info(class) {
        Some(found) => nested_path(classpath, found.info.as_ref()?, from, 0)?,
        None if class.starts_with("java.") || class.starts_with("javax.") => {
            simple_name(class).replace('$', ".")
        }
        None => return None,
    };
    path.split('.')
        .all(is_type_name)
        .then(|| (package.to_owned(), path))
}

fn nested_path(
    classpath: &ClassPath,
    info: &ClassInfo,
    from: &str,
    nesting: usize,
) -> Option<String> {
    let same_package = package_of(&info.name) == from;
    let accessible = if same_package {
        !info.is(access::PRIVATE)
    } else {
        info.is(access::PUBLIC)
    };
    if !accessible || info.is(access::SYNTHETIC) || nesting > 20 {
        return None;
    }
    match &info.nesting {
        Nesting::TopLevel => Some(simple_name(&info.name).to_owned()),
        Nesting::Local => None,
        Nesting::Member { outer, simple } => {
            let outer = classpath.info(outer)?;
            let path = nested_path(classpath, outer.info.as_ref()?, from, nesting + 1)?;
            Some(format!("{path}.{simple}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_and_files() {
        assert_eq!(camel("crash-0001"), "Crash0001");
        assert_eq!(camel("my dump"), "CrashMyDump");
        assert_eq!(capitalized("a"), "A");
        assert_eq!(sanitize_file("../x"), "___x");
        assert_eq!(sanitize_file(""), "crash");
    }
}
