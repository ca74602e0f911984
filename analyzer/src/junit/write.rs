//! Writes what is kept: sources, crash files, the replay library.

use super::call::statics::owners_kept;
use super::candidate::{Needs, Plan, State, TestClass};
use super::project;
use super::report::Verdict;
use super::source::{FIRST_LINE, beginning, source};
use super::{Error, Options, REPLAY_JAR, REPLAY_JAR_NAME, Result, write_file};
use crate::files::{failed, is_ours, same_file, walk, write_bytes};
use crate::input::Input;
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::record::MAGIC;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A test class that was written.
#[derive(Debug)]
pub struct Written {
    /// Index of the class.
    pub class: usize,
    /// Its source file.
    pub source: PathBuf,
    /// The candidates in it.
    pub candidates: Vec<usize>,
    /// Whether it needs the replay library.
    pub library: bool,
}

/// Checks that what is to be written would not overwrite anything that is not ours.
///
/// # Errors
///
/// Fails if it would, and names the file.
pub fn check(plan: &Plan<'_>, options: &Options) -> Result<()> {
    let mut files: Vec<(PathBuf, &[u8])> = Vec::new();
    let inputs = inputs(plan);
    if let Some(other) = others(plan, &options.out).first()
        && let Some(framework) = project::earlier_framework(&options.out)
        && framework != options.framework
    {
        return Err(Error::OtherFramework {
            path: other.clone(),
            theirs: framework,
            ours: options.framework,
        });
    }
    for class in &plan.classes {
        let source = class.path(&format!("{}.java", class.name));
        let source = tests(&options.out).join(source);
        files.push((source, FIRST_LINE.as_bytes()));
        let resource = resource(class, &options.out);
        // The copy of a complete file has all of it; that of a partial or damaged one does not.
        let own = &plan.inputs[class.crash];
        let is_copied = own.crash.is_whole() && same_file(&own.path, &resource);
        if !is_copied && is_one_of(&inputs, &resource) {
            return Err(Error::IsCrashFile(resource));
        }
        files.push((resource, MAGIC));
    }
    if options.project {
        files.extend(project::files(&options.out));
    }
    for (path, begins) in files {
        // An unreadable file is reported when it is written.
        if let Ok(false) = is_ours(&path, begins) {
            return Err(Error::NotOurs(path));
        }
    }
    Ok(())
}

/// Whether an earlier run has written tests of another crash to the place of a class's tests, or of
/// the file that these load.
pub fn is_of_another(class: &TestClass, input: &Input, out: &Path) -> bool {
    let resource = resource(class, out);
    if same_file(&input.path, &resource) {
        return false;
    }
    let other = fs::read(&resource).ok();
    if let Some(other) = other.and_then(|bytes| Crash::read(&bytes).ok()) {
        return !other.meta.is_same(&input.crash.meta);
    }
    let source = tests(out).join(class.path(&format!("{}.java", class.name)));
    is_ours(&source, FIRST_LINE.as_bytes()).unwrap_or(false)
        && fs::read_to_string(&source).is_ok_and(|text| !text.starts_with(&beginning(&input.crash)))
}

/// Writes the test classes with the candidates whose verdict is to be kept.
///
/// # Errors
///
/// Fails if a file cannot be written.
pub fn write(
    plan: &Plan<'_>,
    keep: impl Fn(Verdict) -> bool,
    options: &Options,
) -> Result<Vec<Written>> {
    let kept = |index: &usize| match &plan.candidates[*index].state {
        State::Pending => keep(Verdict::NotRun),
        State::Done(verdict, _) => keep(*verdict),
    };
    let owners = owners_kept(plan);
    let inputs = inputs(plan);
    let mut written = Vec::new();
    for (class, test_class) in plan.classes.iter().enumerate() {
        let all = 0..plan.candidates.len();
        let mine = all.filter(|&index| plan.candidates[index].class == class);
        let candidates: Vec<usize> = mine.filter(kept).collect();
        let file = test_class.path(&format!("{}.java", test_class.name));
        let path = tests(&options.out).join(file);
        let resource = resource(test_class, &options.out);
        let remove_resource = || match is_one_of(&inputs, &resource) {
            true => Ok(()),
            false => remove_ours(&resource, MAGIC),
        };
        if candidates.is_empty() {
            remove_ours(&path, FIRST_LINE.as_bytes())?;
            remove_resource()?;
            continue;
        }
        let source = source(plan, class, &candidates, &owners, options, false);
        write_file(&path, &source.text)?;

        let needs = |needed: fn(&Needs) -> bool| source.made.iter().any(|(_, _, n)| needed(n));
        if needs(|needs| needs.state) {
            let unrestored = options
                .run
                .then(|| unrestored(plan, test_class.crash, &kept));
            let bytes = plan.resource(test_class, unrestored.as_deref());
            // The recording itself may be there.
            write_bytes(&resource, 0o666, &bytes)?;
        } else {
            remove_resource()?;
        }
        written.push(Written {
            class,
            source: path,
            candidates: source.lines.iter().map(|(index, _)| *index).collect(),
            library: needs(|needs| needs.library),
        });
    }
    if written.iter().any(|written| written.library) {
        write_file(&options.out.join("lib").join(REPLAY_JAR_NAME), REPLAY_JAR)?;
    }
    Ok(written)
}

/// Sources of tests that an earlier run has written into `out`, and that this one does not write.
pub fn others(plan: &Plan<'_>, out: &Path) -> Vec<PathBuf> {
    let mine = |path: &Path| {
        plan.classes
            .iter()
            .any(|class| path == tests(out).join(class.path(&format!("{}.java", class.name))))
    };
    let mut others = Vec::new();
    // An unreadable file is not ours.
    let _ = walk(&tests(out), &mut |path| {
        let is_source = path
            .extension()
            .is_some_and(|extension| extension == "java");
        if is_source && !mine(path) && is_ours(path, FIRST_LINE.as_bytes()).unwrap_or(false) {
            others.push(path.to_owned());
        }
    });
    others.sort();
    others
}

/// The directory of the tests.
fn tests(out: &Path) -> PathBuf {
    out.join("src/test/java")
}

/// The path of a test class's crash file.
fn resource(class: &TestClass, out: &Path) -> PathBuf {
    let resources = out.join("src/test/resources");
    resources.join(class.path(&class.resource))
}

/// The files from which tests are made: what an earlier run wrote may be one, and the only copy.
fn inputs(plan: &Plan<'_>) -> HashSet<PathBuf> {
    let paths = plan
        .inputs
        .iter()
        .map(|input| fs::canonicalize(&input.path));
    paths.flatten().collect()
}

fn is_one_of(inputs: &HashSet<PathBuf>, path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| inputs.contains(&path))
}

/// The classes whose objects could not be restored for the tests of a crash that are written. These
/// may share a crash file.
fn unrestored(plan: &Plan<'_>, crash: usize, kept: &impl Fn(&usize) -> bool) -> Vec<String> {
    let all = (0..plan.candidates.len()).filter(kept);
    let mine = all.filter(|&index| plan.candidates[index].crash == crash);
    let classes: BTreeSet<&String> = mine
        .flat_map(|index| &plan.candidates[index].unrestored)
        .collect();
    classes.into_iter().cloned().collect()
}

/// Removes what an earlier run wrote: for a class that has no tests now, or a crash file that its
/// tests needed.
fn remove_ours(path: &Path, begins: &[u8]) -> Result<()> {
    if let Ok(true) = is_ours(path, begins) {
        fs::remove_file(path).map_err(failed("remove", path))?;
    }
    Ok(())
}
