//! Running candidates, each in a JVM of its own.

use super::Options;
use super::candidate::{Plan, State};
use super::compile::Workplace;
use super::report::Verdict;
use super::verdict::{Expected, judge};
use crate::classpath::ClassPath;
use crate::jdk::{Ended, run as run_child};
use anyhow::{Context, Result};
use hindsight_tracelog::crash::Frame;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// JVMs at a time.
const PARALLEL: usize = 2;

/// What the replay library's runner says of one test.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// `passed`, `threw`, `broken` or `exited`.
    pub outcome: String,
    /// Class of what was thrown.
    pub exception: Option<String>,
    /// Its message.
    pub message: Option<String>,
    /// Its stack trace.
    pub stack: Vec<Element>,
    /// Why the state could not be restored.
    pub reason: Option<String>,
    /// What of the state could not be restored.
    pub holes: Vec<String>,
}

/// An element of a stack trace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Element {
    /// Declaring class.
    pub class: String,
    /// Method.
    pub method: String,
    /// Line, negative if unknown.
    pub line: i32,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// The runner wrote its result.
    Told(Outcome),
    /// It took longer than this many seconds.
    TimedOut(u64),
    /// The JVM ended without a result; how, and the last of its output.
    Died(String),
}

/// Runs candidates and settles them.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn run(
    plan: &mut Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<()> {
    let path = place.runtime_path()?;
    let jobs: Vec<(usize, String, String, bool)> = candidates
        .iter()
        .map(|&index| {
            let candidate = &plan.candidates[index];
            let class = plan.classes[candidate.class].full_name();
            (index, class, candidate.name.clone(), asserts(plan, index))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, class, method, asserts)) =
            jobs.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let result = run_one(
                place,
                &path,
                *index,
                class,
                method,
                *asserts,
                options.timeout,
            );
            results
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((*index, result));
            if options.progress {
                let number = done.fetch_add(1, Ordering::Relaxed) + 1;
                eprint!(
                    "\r\x1b[Khindsight: {number} of {} candidates run",
                    jobs.len()
                );
                let _ = std::io::stderr().flush();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..PARALLEL.min(jobs.len()) {
            scope.spawn(work);
        }
    });
    if options.progress {
        eprint!("\r\x1b[K");
    }
    for (index, result) in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let ran = result?;
        let candidate = &plan.candidates[index];
        let expected = expected(plan, index);
        let (verdict, reason) = match &expected {
            Some(expected) => judge(expected, plan.frame(candidate), &ran),
            None => (
                Verdict::Unsupported,
                "no exception was recorded for it".to_owned(),
            ),
        };
        plan.candidates[index].state = State::Done(verdict, reason);
    }
    Ok(())
}

/// Whether the recorded program ran with assertions: it failed by one.
pub fn asserts(plan: &Plan<'_>, candidate: usize) -> bool {
    let failure = &plan.inputs[plan.candidates[candidate].crash].crash.failure;
    failure
        .exceptions
        .iter()
        .any(|info| info.class == "java.lang.AssertionError")
}

fn expected<'a>(plan: &Plan<'a>, candidate: usize) -> Option<Expected<'a>> {
    let candidate = &plan.candidates[candidate];
    let failure = &plan.inputs[candidate.crash].crash.failure;
    let exception = plan.frame(candidate).exception;
    Some(Expected {
        exception: failure.exceptions.get(exception as usize)?,
        frames: failure
            .frames
            .iter()
            .filter(|frame| frame.exception == exception)
            .collect(),
        unchanged: unchanged(&failure.frames, plan.classpath),
    })
}

/// Classes of the stack whose class files are those that were recorded, so
/// that lines can be compared.
fn unchanged<'a>(frames: &'a [Frame], classpath: &ClassPath) -> Vec<&'a str> {
    let same = |frame: &&Frame| {
        let recorded = frame.class_sha256.as_deref();
        recorded.is_some_and(|recorded| {
            classpath
                .find(&frame.class)
                .is_some_and(|found| found.sha256 == recorded)
        })
    };
    frames
        .iter()
        .filter(same)
        .map(|frame| frame.class.as_str())
        .collect()
}

fn run_one(
    place: &Workplace<'_>,
    path: &std::ffi::OsStr,
    index: usize,
    class: &str,
    method: &str,
    asserts: bool,
    timeout: Duration,
) -> Result<Ran> {
    let file = place.result_file(index);
    // A second try must not find the result of the first.
    let _ = fs::remove_file(&file);
    let dir = place.run_dir(index);
    fs::create_dir_all(&dir).context("failed to make a directory to run in")?;
    let log = file.with_extension("log");
    let errors = File::create(&log).context("failed to make a file for a candidate's output")?;
    let mut command = place.jdk.command("java");
    command
        .args([
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
        ])
        .args(asserts.then_some("-ea"))
        .arg("-cp")
        .arg(path)
        .args(["dev.hindsight.replay.Runner", class, method])
        .arg(&file)
        .current_dir(&dir)
        .stdout(Stdio::null())
        .stderr(errors);
    let ended = run_child(&mut command, timeout)?;
    if let Ok(text) = fs::read(&file)
        && let Ok(outcome) = serde_json::from_slice::<Outcome>(&text)
    {
        return Ok(Ran::Told(outcome));
    }
    Ok(match ended {
        Ended::TimedOut => Ran::TimedOut(timeout.as_secs()),
        Ended::Exit(status) => Ran::Died(format!("{status}{}", last_line(&log))),
    })
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(4096)..]).into_owned();
    match text.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => format!(": {}", crate::text::one_line(line.trim(), 200)),
        None => String::new(),
    }
}
