//! Writing what is kept: sources, crash files, the replay library.

use super::candidate::{Plan, State};
use super::report::Verdict;
use super::source::{FIRST_LINE, source};
use super::{Options, REPLAY_JAR, REPLAY_JAR_NAME, write_file};
use anyhow::{Context, Result};
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
    let mut written = Vec::new();
    for (class, test_class) in plan.classes.iter().enumerate() {
        let all = 0..plan.candidates.len();
        let mine = all.filter(|&index| plan.candidates[index].class == class);
        let candidates: Vec<usize> = mine.filter(kept).collect();
        let file = test_class.path(&format!("{}.java", test_class.name));
        let path = options.out.join("src/test/java").join(file);
        if candidates.is_empty() {
            remove_stale(&path)?;
            continue;
        }
        let source = source(plan, class, &candidates, options);
        write_file(&path, &source.text)?;

        let content = plan.inputs[test_class.crash].resource()?;
        let resource = test_class.path(&test_class.resource);
        write_file(
            &options.out.join("src/test/resources").join(resource),
            content,
        )?;
        written.push(Written {
            class,
            source: path,
            candidates: source.lines.iter().map(|(index, _)| *index).collect(),
        });
    }
    if !written.is_empty() {
        write_file(&options.out.join("lib").join(REPLAY_JAR_NAME), REPLAY_JAR)?;
    }
    Ok(written)
}

/// Removes what an earlier run wrote for a class that has no tests now.
fn remove_stale(path: &Path) -> Result<()> {
    let ours = fs::read_to_string(path).is_ok_and(|text| text.starts_with(FIRST_LINE));
    if ours {
        fs::remove_file(path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    Ok(())
}
