//! The files that `hindsight generate` writes, and those that it replaces.

use super::Opts;
use crate::classpath::ClassPath;
use crate::files::is_ours;
use crate::generate::emit::{FIRST_LINE, OBSERVED, OUTSIDE, Source, file_name};
use crate::java::names::is_package_name;
use crate::junit::write_file;
use crate::text::simple_name;
use anyhow::{Context, Result, bail};
use hindsight_instrument::glob::{Globs, globs};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Opts {
    /// Writes the files, and removes those of the same kind that an earlier run has left, if they
    /// concern classes that this one is `about`, or that do not exist any more: they may be out of
    /// date.
    pub(super) fn write(
        &self,
        written: &[Source],
        classpath: &ClassPath,
        about: [&HashSet<String>; 2],
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let mut files = Vec::new();
        // All are written or none.
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
        let kinds = [(OBSERVED, self.observed), ("Generated", self.searches())].into_iter();
        let kinds: Vec<Kind<'_>> = (kinds.zip(about))
            .filter(|((_, made), _)| *made)
            .map(|((kind, _), about)| (kind, about.iter().map(|class| stem(class)).collect()))
            .collect();
        let mut removed = Vec::new();
        // Without any test there is an error, and the old files are better than nothing.
        if !files.is_empty() {
            let root = self.out.join("src/test/java");
            let stale = Stale {
                kinds: &kinds,
                classes: &globs(&self.classes),
                classpath,
            };
            stale.find(&root, "", &mut removed)?;
            removed.retain(|path| !files.contains(path));
            removed.sort();
        }
        for path in &removed {
            fs::remove_file(path)
                .with_context(|| format!("failed to remove {}", path.display()))?;
        }
        Ok((files, removed))
    }
}

/// The package of a class, with a dot, and the beginning of the names of its test files.
fn stem(class: &str) -> (String, String) {
    let package = &class[..class.len() - simple_name(class).len()];
    let name = file_name(class, "", 0);
    let name = name.strip_suffix("Test").unwrap_or(&name);
    (package.to_owned(), name.to_owned())
}

/// The name of tests that were found in one way, and the classes that those of this run may
/// concern.
type Kind<'a> = (&'a str, HashSet<(String, String)>);

/// The tests that are out of date: of these kinds, with classes that match.
struct Stale<'a> {
    kinds: &'a [Kind<'a>],
    classes: &'a Globs,
    classpath: &'a ClassPath,
}

impl Stale<'_> {
    /// Finds our files below a directory, by their names.
    fn find(&self, dir: &Path, package: &str, found: &mut Vec<PathBuf>) -> Result<()> {
        let failed = || format!("failed to read {}", dir.display());
        for entry in fs::read_dir(dir).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if entry.file_type().with_context(failed)?.is_dir() {
                self.find(&path, &format!("{package}{name}."), found)?;
                continue;
            }
            let of_class = self.kinds.iter().find_map(|(kind, about)| {
                let (class, rest) = name.rsplit_once(kind)?;
                let number = rest.strip_suffix("Test.java")?;
                (number.bytes().all(|byte| byte.is_ascii_digit())).then_some((class, about))
            });
            if let Some((class, about)) = of_class
                && (self.classes.is_empty() || self.classes.matches(&format!("{package}{class}")))
                && self.is_over(package, class, &path, about)
                && is_ours(&path, FIRST_LINE.as_bytes()).unwrap_or(false)
            {
                found.push(path);
            }
        }
        Ok(())
    }

    /// Whether the class that a file is named after is among those that the tests are about, or on the class path no
    /// more.
    fn is_over(
        &self,
        package: &str,
        class: &str,
        path: &Path,
        about: &HashSet<(String, String)>,
    ) -> bool {
        let outside = package.strip_prefix(OUTSIDE);
        let within = outside.and_then(|rest| rest.strip_prefix('.'));
        let packages = || [Some(package), within].into_iter().flatten();
        let is_about = |name: &str| {
            packages().any(|package| about.contains(&(package.to_owned(), name.to_owned())))
        };
        let is_there = |name: &str| packages().any(|package| self.is_there(package, name));
        if is_about(class) || is_there(class) {
            return is_about(class);
        }
        // All tests of packages that no source can name are beside each other, whichever it was.
        if within == Some("") && self.classpath.types_of_package(OUTSIDE).is_empty() {
            let is_unnamed = |package: &str| !is_package_name(package.trim_end_matches('.'));
            let mut about = about.iter();
            return about.any(|(package, name)| name == class && is_unnamed(package));
        }
        // Where a name was taken, there is an `X` before it.
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let most = class.len() - class.trim_start_matches('X').len();
        let own = (1..=most).map(|taken| (&class[taken..], &file[taken..]));
        let mut own = own.filter(|(_, plain)| {
            let plain_class = plain.trim_end_matches(".java");
            let mut types = packages().map(|package| package.trim_end_matches('.'));
            path.with_file_name(plain).exists()
                || types.any(|package| {
                    self.classpath
                        .types_of_package(package)
                        .contains(plain_class)
                })
        });
        own.find(|(name, _)| is_about(name) || is_there(name))
            .is_none_or(|(name, _)| is_about(name))
    }

    /// Whether there is such a class, or a nested one whose name together with the enclosing ones
    /// is this.
    fn is_there(&self, package: &str, class: &str) -> bool {
        let types = self
            .classpath
            .types_of_package(package.trim_end_matches('.'));
        types.iter().any(|name| {
            let own = format!("{package}{name}");
            let (_, around) = stem(&own);
            match class.strip_prefix(around.as_str()) {
                Some("") => true,
                Some(rest) => self.has_nested(&own, rest),
                None => false,
            }
        })
    }

    fn has_nested(&self, class: &str, rest: &str) -> bool {
        let ends = rest.char_indices().map(|(at, first)| at + first.len_utf8());
        ends.into_iter().any(|end| {
            let (name, rest) = rest.split_at(end);
            let nested = format!("{class}${name}");
            self.classpath.info(&nested).is_some()
                && (rest.is_empty() || self.has_nested(&nested, rest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of classes that a run has not called stay, except those of classes that do not
    /// exist any more.
    #[test]
    fn only_what_is_over_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let (classes, out) = (
            directory.path().join("classes"),
            directory.path().join("out"),
        );
        let write = |path: PathBuf, text: &str| write_file(&path, text).unwrap();
        for class in [
            "Kept",
            "Kept$Inner",
            "KeptInner",
            "XKept",
            "Called",
            "XCalled",
            "Shop",
        ] {
            write(classes.join(format!("acme/{class}.class")), "");
        }
        for (class, kind) in [
            ("Kept", "Observed"),
            ("KeptInner", "Observed"),
            ("XKeptInner", "Observed"),
            ("Shop", "Observed"),
            ("XShop", "Observed"),
            ("XCalled", "Observed"),
            ("XGone", "Observed"),
            ("XKept", "Observed"),
            ("Called", "Observed"),
            ("Called", "Generated"),
            ("KeptGone", "Observed2"),
            ("Gone", "Observed"),
        ] {
            write(out.join(format!("acme/{class}{kind}Test.java")), FIRST_LINE);
        }
        write(out.join("tests/acme/KeptObservedTest.java"), FIRST_LINE);
        write(out.join("tests/OfKeywordObservedTest.java"), FIRST_LINE);
        write(out.join("acme/MineObservedTest.java"), "mine");
        write(out.join("acme/X\u{dc}berObservedTest.java"), "mine");
        let about = HashSet::from([stem("acme.Called"), stem("acme.Shop")]);
        let stale = Stale {
            kinds: &[(OBSERVED, about)],
            classes: &Globs::default(),
            classpath: &ClassPath::open(classes.to_str().unwrap()).unwrap(),
        };
        let mut found = Vec::new();
        stale.find(&out, "", &mut found).unwrap();
        let mut found: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        found.sort();
        let over = [
            "CalledObservedTest.java",
            "GoneObservedTest.java",
            "KeptGoneObserved2Test.java",
            "ShopObservedTest.java",
            "XGoneObservedTest.java",
            "XShopObservedTest.java",
        ];
        assert_eq!(found, over);
    }
}
