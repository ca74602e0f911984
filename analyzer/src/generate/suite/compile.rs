//! Compiles tests: those that javac rejects are dropped, and its warnings are suppressed.

use super::{Dropped, Suite};
use crate::files::failed;
use crate::generate::asserted::Checked;
use crate::generate::emit::{Context, Lints, OBSERVED, Source, sources};
use crate::generate::{Error, Result};
use crate::jdk::javac::{BROKEN, Compilation, Diagnostic, Said};
use crate::junit::{Framework, write_file};
use crate::progress::Extent;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// The warnings that are requested of javac.
const LINTS: [&str; 5] = ["cast", "deprecation", "rawtypes", "removal", "unchecked"];

/// The beginning of javac's warning about a type without arguments.
const RAW: &str = "[rawtypes]";

/// The number of compilations after which tests that still fail are given up.
const MAX_ROUNDS: usize = 12;

/// The message of javac about a class that exceeds the limits of a class file.
const TOO_MANY: &str = "too many constants";

/// The sources without errors, whose classes still exist: each with its text, and the warnings of
/// javac.
#[derive(Default)]
pub(super) struct Compiled(BTreeMap<PathBuf, (String, Vec<Diagnostic>)>);

impl Suite<'_> {
    /// Writes and compiles tests; those that do not compile are dropped.
    ///
    /// # Errors
    ///
    /// Fails if javac cannot be run.
    pub fn compile(
        &self,
        context: &Context<'_>,
        tests: &BTreeMap<usize, Checked>,
        names: (&str, &str),
        dropped: &mut Dropped,
    ) -> Result<Vec<Source>> {
        let mut left: BTreeSet<usize> = tests.keys().copied().collect();
        // The tests that are written with types without arguments, because javac rejects them
        // otherwise; and those of them in whose lines the errors stand.
        let (mut raw, mut mistyped) = (BTreeSet::new(), BTreeSet::new());
        // The warnings of javac, by class.
        let mut lints = Lints::new();
        for _ in 0..MAX_ROUNDS {
            let list: Vec<(usize, &Checked)> = left
                .iter()
                .map(|number| (*number, &tests[number]))
                .collect();
            let written = sources(context, &list, names, &raw, &lints);
            let failed: BTreeMap<usize, &str> = written
                .iter()
                .flat_map(|source| &source.failed)
                .map(|(number, why)| (*number, why.as_str()))
                .collect();
            if let Some(why) = failed.values().next() {
                dropped.unwritten.get_or_insert_with(|| (*why).to_owned());
                dropped.not_compiled += failed.len();
                left.retain(|number| !failed.contains_key(number));
                continue;
            }
            if written.is_empty() {
                return Ok(written);
            }
            let Said {
                errors, warnings, ..
            } = self.javac(&written)?;
            if errors.is_empty() {
                let untyped = match names.0 == OBSERVED {
                    // The program itself has passed that.
                    true => BTreeSet::new(),
                    false => untyped(&warnings, &written, &self.dir, &mistyped),
                };
                if !untyped.is_empty() {
                    dropped.untyped += untyped.len();
                    left.retain(|number| !untyped.contains(number));
                    continue;
                }
                lints = self.lints(&warnings, &written);
                return Ok(match lints.is_empty() {
                    true => written,
                    false => sources(context, &list, names, &raw, &lints),
                });
            }
            let mut blamed = blame(&errors, &written, &self.dir);
            if blamed.is_empty() {
                let first = errors.first().map_or("", |error| error.message.as_str());
                return Err(Error::AllRefused(first.to_owned()));
            }
            mistyped.extend(with_errors(&errors, &written, &self.dir));
            blamed.retain(|number| !raw.insert(*number));
            if !blamed.is_empty() && dropped.error.is_none() {
                let mut each = errors.iter();
                let first = each.find(|error| {
                    let of = blame(std::slice::from_ref(error), &written, &self.dir);
                    !of.is_disjoint(&blamed)
                });
                dropped.error = first.map(|error| {
                    let source = self.source_of(error, &written);
                    let said = source.map_or("", |source| line(&source.text, error.line).trim());
                    format!("{}: {said}", error.message)
                });
            }
            dropped.not_compiled += blamed.len();
            left.retain(|number| !blamed.contains(number));
        }
        Err(Error::RefusedAgain)
    }

    /// Compiles sources that have compiled before, all together.
    ///
    /// # Errors
    ///
    /// Fails if javac does.
    pub fn compile_all(&self, written: &[Source]) -> Result<()> {
        match self.javac(written)?.errors.first() {
            Some(error) => Err(Error::Refused(error.message.clone())),
            None => Ok(()),
        }
    }

    /// Compiles what can be compiled of tests that were written for other classes. Returns the
    /// others, each with the message of javac.
    ///
    /// # Errors
    ///
    /// Fails if javac cannot be run, or refuses more than tests.
    pub fn compile_most(&self, written: &[Source]) -> Result<BTreeMap<usize, String>> {
        let mut left = written.to_vec();
        let mut refused: BTreeMap<usize, String> = BTreeMap::new();
        // Each round leaves out lines. javac reports imports first, then types, then the rest.
        loop {
            let errors = self.javac(&left)?.errors;
            if errors.is_empty() {
                return Ok(refused);
            }
            let mut is_less = false;
            for error in &errors {
                let Some(file) = &error.file else { continue };
                let of = |source: &&mut Source| file_of(&self.dir, source) == *file;
                let Some(source) = left.iter_mut().find(of) else {
                    continue;
                };
                let mut tests = source.tests.iter();
                let (lines, tests) = match tests.find(|test| test.lines.contains(&error.line)) {
                    Some(test) => (test.lines.clone(), vec![test.number]),
                    // The tests that need the import fail in the next round.
                    None if line(&source.text, error.line).starts_with("import ") => {
                        (error.line..error.line + 1, Vec::new())
                    }
                    None => {
                        let numbers = source.tests.iter().map(|test| test.number);
                        (1..usize::MAX, numbers.collect())
                    }
                };
                let shorter = without_lines(&source.text, &lines);
                is_less |= shorter != source.text;
                source.text = shorter;
                for test in tests {
                    (refused.entry(test)).or_insert_with(|| error.message.clone());
                }
            }
            if !is_less {
                return Err(Error::Refused(errors[0].message.clone()));
            }
        }
    }

    /// The source that an error or a warning concerns.
    fn source_of<'s>(&self, told: &Diagnostic, written: &'s [Source]) -> Option<&'s Source> {
        let file = told.file.as_ref()?;
        let mut all = written.iter();
        all.find(|source| file_of(&self.dir, source) == *file)
    }

    /// The warnings of javac, by class, in the form for `@SuppressWarnings`.
    fn lints(&self, warnings: &[Diagnostic], written: &[Source]) -> Lints {
        let mut lints = Lints::new();
        for warning in warnings {
            let kind = LINTS.into_iter().find(|kind| {
                let rest = warning.message.strip_prefix('[');
                rest.is_some_and(|rest| rest.starts_with(&format!("{kind}]")))
            });
            if let (Some(kind), Some(source)) = (kind, self.source_of(warning, written)) {
                lints.entry(source.class()).or_default().insert(kind);
            }
        }
        lints
    }

    /// The messages of javac about tests. What is compiled, and has not changed since, is not
    /// compiled again: javac takes as long as all the rest for a suite.
    fn javac(&self, written: &[Source]) -> Result<Said> {
        let mut own: BTreeMap<PathBuf, String> = (written.iter())
            .map(|source| (file_of(&self.dir, source), source.text.clone()))
            .collect();
        let mut compiled = (self.compiled.lock()).unwrap_or_else(PoisonError::into_inner);
        let is_first = compiled.0.is_empty();
        compiled
            .0
            .retain(|path, (text, _)| own.get(path) == Some(&*text));
        let mut warnings = Vec::new();
        for (path, (_, said)) in &compiled.0 {
            own.remove(path);
            warnings.extend(said.iter().cloned());
        }
        if own.is_empty() {
            return Ok(Said {
                warnings,
                ..Said::default()
            });
        }
        let mut said = self.run_javac(&own, is_first)?;
        if said.broke {
            said = self.each_alone(&own, is_first, &mut compiled)?;
        }
        if said.errors.is_empty() {
            for (path, text) in own {
                let about = said.warnings.iter();
                let about = about
                    .filter(|one| one.file.as_ref() == Some(&path))
                    .cloned();
                let about = about.collect();
                compiled.0.insert(path, (text, about));
            }
        }
        said.warnings.extend(warnings);
        Ok(said)
    }

    /// Compiles one source after another, where javac has failed of all together: it may be one of them, or that there
    /// are too many for its memory.
    fn each_alone(
        &self,
        own: &BTreeMap<PathBuf, String>,
        is_first: bool,
        compiled: &mut Compiled,
    ) -> Result<Said> {
        let mut all = Said::default();
        for (path, text) in own {
            let alone = BTreeMap::from([(path.clone(), text.clone())]);
            let said = self.run_javac(&alone, is_first)?.of(path);
            if said.errors.is_empty() {
                (compiled.0).insert(path.clone(), (text.clone(), said.warnings.clone()));
            }
            all.errors.extend(said.errors);
            all.warnings.extend(said.warnings);
        }
        Ok(all)
    }

    /// Compiles sources, and before all of them the stubs of JUnit.
    fn run_javac(&self, written: &BTreeMap<PathBuf, String>, is_first: bool) -> Result<Said> {
        self.told.begin("compiling the tests", Extent::Unknown);
        fs::create_dir_all(self.classes()).map_err(failed("make", &self.classes()))?;
        let mut files = Vec::new();
        for (path, text) in written {
            write_file(path, text)?;
            files.push(path.clone());
        }
        let stubs = self.dir.join(match self.framework {
            Framework::Junit5 => "stubs/junit5",
            Framework::Junit4 => "stubs/junit4",
        });
        let mut class_path = Vec::new();
        if is_first {
            let failed = failed("read", &stubs);
            for entry in fs::read_dir(&stubs).map_err(failed)? {
                files.push(entry.map_err(failed)?.path());
            }
        } else {
            // This precedes a JUnit of the program.
            class_path.push(self.classes());
        }
        class_path.extend(self.classpath.iter().cloned());
        let said = self.setup.jdk.compile(&Compilation {
            release: match self.setup.preview {
                true => self.setup.jdk.version,
                false => self.release,
            },
            preview: self.setup.preview,
            lints: &LINTS.join(","),
            class_path: &class_path,
            classes: &self.classes(),
            sources: &files,
        })?;
        Ok(said)
    }
}

/// The path of a source in a suite's directory.
fn file_of(dir: &Path, source: &Source) -> PathBuf {
    dir.join("sources").join(source.path())
}

/// A line of a text; the first is 1.
fn line(text: &str, number: usize) -> &str {
    let mut lines = text.lines();
    lines.nth(number.saturating_sub(1)).unwrap_or_default()
}

/// A text in which some lines are made empty.
fn without_lines(text: &str, gone: &Range<usize>) -> String {
    let lines = text.lines().enumerate();
    let left = lines.map(|(at, line)| match gone.contains(&(at + 1)) {
        true => "\n".to_owned(),
        false => format!("{line}\n"),
    });
    left.collect()
}

/// The tests that have types without arguments because javac rejects them with arguments.
fn untyped(
    warnings: &[Diagnostic],
    written: &[Source],
    dir: &Path,
    mistyped: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let is_about_types = |warning: &&Diagnostic| warning.message.starts_with(RAW);
    let warnings: Vec<Diagnostic> = warnings.iter().filter(is_about_types).cloned().collect();
    let mut untyped = with_errors(&warnings, written, dir);
    untyped.retain(|number| mistyped.contains(number));
    untyped
}

/// The test in whose lines an error of javac stands, or else its source.
fn place_of<'s>(
    error: &Diagnostic,
    written: &'s [Source],
    dir: &Path,
) -> Option<(&'s Source, Option<usize>)> {
    let file = error.file.as_ref()?;
    let source = written
        .iter()
        .find(|source| file_of(dir, source) == *file)?;
    let mut tests = source.tests.iter();
    let test = tests.find(|test| test.lines.contains(&error.line));
    Some((source, test.map(|test| test.number)))
}

/// The tests in whose lines errors stand.
fn with_errors(errors: &[Diagnostic], written: &[Source], dir: &Path) -> BTreeSet<usize> {
    let places = errors
        .iter()
        .filter_map(|error| place_of(error, written, dir));
    places.filter_map(|(_, test)| test).collect()
}

/// The tests that errors of javac concern.
fn blame(errors: &[Diagnostic], written: &[Source], dir: &Path) -> BTreeSet<usize> {
    let blamed = with_errors(errors, written, dir);
    if !blamed.is_empty() {
        return blamed;
    }
    let mut general = BTreeSet::new();
    for error in errors {
        let Some((source, _)) = place_of(error, written, dir) else {
            continue;
        };
        // The import belongs to some test of the file. If there is no room for all of them, or
        // javac cannot compile them, one half may be possible.
        let all = source.tests.iter().map(|test| test.number);
        let is_of_half = [TOO_MANY, BROKEN]
            .iter()
            .any(|of| error.message.starts_with(of));
        let room = if is_of_half {
            source.tests.len() / 2
        } else {
            0
        };
        general.extend(all.skip(room));
    }
    general
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::emit::Written;

    /// A file with tests of five lines each, the first from line 10.
    fn file(name: &str, numbers: &[usize]) -> Source {
        let tests = numbers.iter().enumerate().map(|(at, &number)| Written {
            number,
            name: format!("test{number}"),
            lines: 10 + 5 * at..15 + 5 * at,
            calls: Vec::new(),
        });
        Source {
            package: "a".to_owned(),
            name: name.to_owned(),
            text: String::new(),
            tests: tests.collect(),
            failed: Vec::new(),
            alike: 0,
        }
    }

    #[test]
    fn errors_are_about_the_tests_in_whose_lines_they_stand() {
        let dir = Path::new("/suite");
        let written = [file("One", &[4, 5]), file("Two", &[6])];
        let error = |of: Option<&Source>, line| Diagnostic {
            file: of.map(|source| file_of(dir, source)),
            line,
            message: String::new(),
        };
        let blamed = |errors: &[Diagnostic]| -> Vec<usize> {
            blame(errors, &written, dir).into_iter().collect()
        };
        let [one, two] = [0, 1].map(|at| Some(&written[at]));
        assert_eq!(blamed(&[error(one, 10), error(two, 14)]), [4, 6]);
        assert_eq!(blamed(&[error(one, 15)]), [5]);
        // An import may belong to any test of its file, except one that has an error of its own.
        assert_eq!(blamed(&[error(one, 3)]), [4, 5]);
        assert_eq!(blamed(&[error(one, 3), error(one, 15)]), [5]);
        // A new sequence that needs types without arguments is none; some need them for nothing.
        let raw = Diagnostic {
            message: format!("{RAW} found raw type: List"),
            ..error(one, 15)
        };
        let warnings = [raw, error(one, 10)];
        let untyped = |mistyped: &[usize]| {
            let mistyped = mistyped.iter().copied().collect();
            untyped(&warnings, &written, dir, &mistyped)
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(untyped(&[4, 5, 6]), [5]);
        assert!(untyped(&[4]).is_empty());
        // Half of a class that is too large may stay.
        let large = Diagnostic {
            message: TOO_MANY.to_owned(),
            ..error(one, 8)
        };
        assert_eq!(blamed(&[large]), [5]);
        // An error in no file, or in one that is not ours, tells nothing.
        let stranger = file("Three", &[7]);
        let nowhere = [error(None, 0), error(Some(&stranger), 10)];
        assert!(blamed(&nowhere).is_empty());
    }
}
