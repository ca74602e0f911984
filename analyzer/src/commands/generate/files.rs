//! The files that `hindsight generate` writes, and those that it replaces.

use super::Opts;
use crate::files::is_ours;
use crate::generate::emit::{FIRST_LINE, OBSERVED, Source};
use crate::junit::write_file;
use anyhow::{Context, Result, bail};
use hindsight_instrument::glob::{Globs, globs};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Opts {
    /// Writes the files, and removes those of the same kind and of the same classes
    /// that an earlier run has left: what they say of the program may be over.
    pub(super) fn write(&self, written: &[Source]) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let mut files = Vec::new();
        // All or none.
        for source in written {
            let path = self.out.join("src/test/java").join(source.path());
            let ours = is_ours(&path, FIRST_LINE.as_bytes())
                .unwrap_or_else(|error| error.kind() == ErrorKind::NotFound);
            if !ours {
                bail!(
                    "{} is there and not ours: it is not overwritten, and nothing is written",
                    path.display()
                );
            }
            files.push(path);
        }
        for (source, path) in written.iter().zip(&files) {
            write_file(path, &source.text)?;
        }
        let kinds: Vec<&str> = [(OBSERVED, self.observed), ("Generated", self.searches())]
            .into_iter()
            .filter_map(|(kind, made)| made.then_some(kind))
            .collect();
        let mut removed = Vec::new();
        // Without any test there is an error, and what was there is better than nothing.
        if !files.is_empty() {
            let root = self.out.join("src/test/java");
            stale(&root, "", &kinds, &globs(&self.classes), &mut removed)?;
            removed.retain(|path| !files.contains(path));
        }
        for path in &removed {
            fs::remove_file(path)
                .with_context(|| format!("failed to remove {}", path.display()))?;
        }
        Ok((files, removed))
    }
}

/// Finds our files below a directory whose names say that they are of these kinds
/// and of classes that match.
fn stale(
    dir: &Path,
    package: &str,
    kinds: &[&str],
    classes: &Globs,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    let failed = || format!("failed to read {}", dir.display());
    for entry in fs::read_dir(dir).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().with_context(failed)?.is_dir() {
            stale(&path, &format!("{package}{name}."), kinds, classes, found)?;
            continue;
        }
        let of_class = kinds.iter().find_map(|kind| {
            let (class, rest) = name.rsplit_once(kind)?;
            let number = rest.strip_suffix("Test.java")?;
            (number.bytes().all(|byte| byte.is_ascii_digit())).then_some(class)
        });
        if let Some(class) = of_class
            && (classes.is_empty() || classes.matches(&format!("{package}{class}")))
            && is_ours(&path, FIRST_LINE.as_bytes()).unwrap_or(false)
        {
            found.push(path);
        }
    }
    Ok(())
}
