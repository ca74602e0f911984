//! Options of JVMs that name files. Each test runs in a directory of its own, from which a relative
//! name leads nowhere.

use std::path::{Path, absolute};

/// The beginnings of options that name one file, which ends at an equals sign.
const FILE: [&str; 3] = ["-javaagent:", "-agentpath:", "@"];
/// The beginnings of options that name several files, or whose next word does.
const LIST: [&str; 5] = [
    "-Xbootclasspath/a:",
    "-Djava.library.path=",
    "--module-path",
    "--upgrade-module-path",
    "-p",
];
/// The option that names a module and several files.
const PATCH: &str = "--patch-module";

/// The same options with absolute names for existing files.
pub fn from_everywhere(options: &[String]) -> Vec<String> {
    let mut before = "";
    let options = options.iter().map(|option| {
        let from_everywhere = one(std::mem::replace(&mut before, option), option);
        from_everywhere.unwrap_or_else(|| option.clone())
    });
    options.collect()
}

fn one(before: &str, option: &str) -> Option<String> {
    let named = |begin: &&'static str| Some((*begin, option.strip_prefix(*begin)?));
    if let Some((begin, named)) = FILE.iter().find_map(named) {
        let (file, rest) = named.split_at(named.find('=').unwrap_or(named.len()));
        return Some(format!("{begin}{}{rest}", name(file)));
    }
    let list = |list: &str| list.split(':').map(name).collect::<Vec<_>>().join(":");
    let patch = |begin: &str, patch: &str| {
        let (module, files) = patch.split_once('=')?;
        Some(format!("{begin}{module}={}", list(files)))
    };
    if LIST.contains(&before) {
        return Some(list(option));
    }
    if before == PATCH {
        return patch("", option);
    }
    let (begin, value) = option.split_at(option.find([':', '='])? + 1);
    match begin.strip_suffix('=') {
        Some(PATCH) => patch(begin, value),
        Some(word) if LIST.contains(&word) => Some(format!("{begin}{}", list(value))),
        _ if LIST.contains(&begin) => Some(format!("{begin}{}", list(value))),
        _ => None,
    }
}

fn name(file: &str) -> String {
    match absolute(file) {
        Ok(path) if Path::new(file).exists() => path.display().to_string(),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_names_of_files_are_made_absolute() {
        // Unit tests run in the package's directory.
        let here = |name: &str| absolute(name).unwrap().display().to_string();
        let (src, toml) = (here("src"), here("Cargo.toml"));
        let given = [
            "-javaagent:Cargo.toml=a=src",
            "-Xbootclasspath/a:src:/nowhere:no",
            "--patch-module=m=src",
            "--module-path",
            "src:Cargo.toml",
            "--module-path=src",
            "@Cargo.toml",
            "-Dfile=src",
            "-Xss3m",
        ];
        let expected = [
            format!("-javaagent:{toml}=a=src"),
            format!("-Xbootclasspath/a:{src}:/nowhere:no"),
            format!("--patch-module=m={src}"),
            "--module-path".to_owned(),
            format!("{src}:{toml}"),
            format!("--module-path={src}"),
            format!("@{toml}"),
            "-Dfile=src".to_owned(),
            "-Xss3m".to_owned(),
        ];
        assert_eq!(from_everywhere(&given.map(str::to_owned)), expected);
    }
}
