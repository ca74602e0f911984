//! Running candidates, each in a JVM of its own.

use super::Options;
use super::candidate::{Plan, State};
use super::compile::Workplace;
use super::report::Verdict;
use super::unreported::Unreported;
use super::verdict::{Expected, NOT_INITIALIZED, judge};
use super::{ended, missing};
use crate::classpath::ClassPath;
use crate::jdk::child::{Ended, run as run_child};
use crate::progress::Extent;
use anyhow::{Context, Result};
use hindsight_tracelog::crash::{ExceptionInfo, Failure, Frame, MAX_EXCEPTIONS};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// JVMs at a time.
const PARALLEL: usize = 2;
/// Times that one candidate may take which all in one JVM may take at most.
const MOST_TIMEOUTS: usize = 10;
/// The part of the time of one candidate after which a JVM is ended that does nothing: a thread of a pool that
/// waits for its next task, say.
const IDLE_PART: u32 = 2;
/// The least such time, in which a JVM begins to do something on the slowest machine.
const LEAST_IDLE: Duration = Duration::from_secs(10);

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
    /// What its own field has for the message, as recordings tell it.
    pub detail: Option<String>,
    /// Its stack trace.
    pub stack: Vec<Element>,
    /// Classes of its causes, the direct one first.
    pub chain: Vec<String>,
    /// The direct one, if it has any.
    pub cause: Option<Root>,
    /// The innermost of them.
    pub root: Option<Root>,
    /// Class of the first of them that is an argument that was restored, or a part of one.
    pub given: Option<String>,
    /// Why the state could not be restored.
    pub reason: Option<String>,
    /// What of the state could not be restored.
    pub holes: Vec<String>,
    /// Classes of the program of which objects could not be.
    pub unrestored: Vec<String>,
    /// Whether what was thrown is an argument that was restored, or its cause.
    pub restored: bool,
    /// Methods of what was thrown, or of its causes, by which a report of it fails.
    pub failing: Vec<String>,
    /// Static fields, as `Class.field`, that lack what was recorded; told in a file of its own, if it was
    /// asked for.
    #[serde(skip)]
    pub lacking: Vec<String>,
}

/// What stands behind an exception.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Root {
    /// Its class.
    pub exception: String,
    /// Its message.
    pub message: Option<String>,
    /// What its own field has for the message, as recordings tell it.
    pub detail: Option<String>,
    /// Its stack trace.
    pub stack: Vec<Element>,
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
    Told(Box<Outcome>),
    /// It took longer than this many seconds.
    TimedOut(u64),
    /// It waited for this many seconds, and did nothing.
    Waited(u64),
    /// The JVM ended without a result; how, and the last of its output.
    Died(String),
}

/// How often a candidate is run again to see whether it reproduces each time.
const AGAIN: usize = 5;

/// A candidate to be run.
struct Job {
    index: usize,
    /// The method of its frame.
    called: String,
    class: String,
    method: String,
    asserts: bool,
    /// In which order immutable sets and maps iterate; not the recorded one, for it is another one in each JVM.
    order: Option<(i64, bool)>,
    /// The runner's option by which static fields are compared with the recorded ones, name of the
    /// crash file and number of the frame.
    compared: Option<(&'static str, String, usize)>,
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
    // Of those that restore no static state, the fields that their call reads.
    let plain = (candidates.iter()).filter(|&&index| !plan.candidates[index].statics);
    let reads: BTreeMap<usize, BTreeSet<String>> = plain
        .map(|&index| (index, missing::reads(plan, index)))
        .filter(|(_, reads)| !reads.is_empty())
        .collect();
    let compared = |plan: &Plan<'_>, index: usize, option| {
        let candidate = &plan.candidates[index];
        let resource = &plan.classes[candidate.class].resource;
        Job {
            compared: (reads.contains_key(&index))
                .then(|| (option, resource.clone(), candidate.frame)),
            ..job(plan, index)
        }
    };
    let jobs = candidates.iter();
    let jobs: Vec<Job> = jobs
        .map(|&index| compared(plan, index, "--statics"))
        .collect();
    for (index, result) in launch_each(place, &path, &jobs, options) {
        for ran in result? {
            let (verdict, reason) = judged(plan, index, &ran);
            let candidate = &mut plan.candidates[index];
            if let Ran::Told(outcome) = ran {
                candidate.unreported = Unreported::of(&outcome);
                candidate.unrestored.clone_from(&outcome.unrestored);
                if let Some(reads) = reads.get(&index)
                    && verdict == Verdict::Reproduces
                {
                    let lacking = outcome.lacking.into_iter();
                    candidate.missing = lacking.filter(|field| reads.contains(field)).collect();
                }
            }
            candidate.state = State::Done(verdict, reason);
        }
    }
    // What the call fills by itself is told by what was there before it; to look at that may initialise
    // classes, so it is no part of the first run.
    let lacking = candidates.iter().filter(|&&index| {
        let candidate = &plan.candidates[index];
        matches!(candidate.state, State::Done(Verdict::Reproduces, _))
            && !candidate.statics
            && !candidate.missing.is_empty()
    });
    let jobs: Vec<Job> = lacking
        .map(|&index| compared(plan, index, "--unfilled"))
        .collect();
    for (index, result) in launch_each(place, &path, &jobs, options) {
        for ran in result? {
            let reproduces = judged(plan, index, &ran).0 == Verdict::Reproduces;
            if let Ran::Told(outcome) = ran
                && reproduces
            {
                let missing = &mut plan.candidates[index].missing;
                missing.retain(|field| outcome.lacking.contains(field));
            }
        }
    }
    // Of larger tables, what comes first may be the same by chance.
    for nth in 1..OTHER_ORDERS.len() {
        let unsure = candidates.iter().filter(|&&index| {
            let candidate = &plan.candidates[index];
            let crash = &plan.inputs[candidate.crash].crash;
            candidate.built
                && matches!(candidate.state, State::Done(Verdict::Reproduces, _))
                && (crash.classes.iter()).any(|class| DRAWN_TABLES.contains(&class.name.as_str()))
        });
        let again: Vec<Job> = unsure
            .map(|&index| job_in_order(plan, index, nth))
            .filter(|job| job.order.is_some())
            .collect();
        for (index, result) in launch_each(place, &path, &again, options) {
            for ran in result? {
                let (verdict, reason) = judged(plan, index, &ran);
                if verdict != Verdict::Reproduces {
                    plan.candidates[index].state = State::Done(verdict, reason);
                }
            }
        }
    }
    Ok(())
}

/// Runs candidates that reproduce in one JVM, in their order and in the other one. Gives those that
/// then end otherwise, and how.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn together(
    plan: &Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<BTreeMap<usize, Influenced>> {
    let path = place.runtime_path()?;
    let mut influenced = BTreeMap::new();
    for asserts in [false, true] {
        let jobs: Vec<Job> = (candidates.iter().map(|&index| job(plan, index)))
            .filter(|job| job.asserts == asserts)
            .collect();
        if jobs.len() < 2 {
            continue;
        }
        let forwards: Vec<&Job> = jobs.iter().collect();
        let backwards: Vec<&Job> = jobs.iter().rev().collect();
        for jobs in [forwards, backwards] {
            let results = launch(place, &path, &jobs, options, idle(options, false))?;
            for (at, (job, ran)) in jobs.iter().zip(results).enumerate() {
                if ends_otherwise(plan, job.index, &ran) {
                    let before = jobs[..at].iter().map(|job| job.index).collect();
                    influenced.insert(job.index, Influenced { ran, before });
                }
            }
        }
    }
    Ok(influenced)
}

/// A test that ends otherwise after others.
#[derive(Debug)]
pub struct Influenced {
    /// How it ends then.
    pub ran: Ran,
    /// Those others, in the order in which they ran.
    pub before: Vec<usize>,
}

/// Whether a candidate that reproduces by itself does not now. Without a result nothing is known: one
/// before it may have ended the JVM.
fn ends_otherwise(plan: &Plan<'_>, index: usize, ran: &Ran) -> bool {
    matches!(ran, Ran::Told(_)) && judged(plan, index, ran).0 != Verdict::Reproduces
}

/// The last of the tests before an influenced one without which it would reproduce.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn culprit(
    plan: &Plan<'_>,
    victim: usize,
    before: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<Option<usize>> {
    let path = place.runtime_path()?;
    let fails_after = |others: &[usize]| -> Result<bool> {
        let all = others.iter().chain([&victim]);
        let jobs: Vec<Job> = all.map(|&index| job(plan, index)).collect();
        let jobs: Vec<&Job> = jobs.iter().collect();
        let results = launch(place, &path, &jobs, options, idle(options, false))?;
        Ok((results.last()).is_some_and(|ran| ends_otherwise(plan, victim, ran)))
    };
    // It reproduces after the first `good`, and not after the first `bad`.
    let (mut good, mut bad) = (0, before.len());
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        match fails_after(&before[..middle])? {
            true => bad = middle,
            false => good = middle,
        }
    }
    Ok(before.get(good).copied())
}

/// Whether a test has met a class whose static initializer had failed before, in another test.
pub fn is_failed_class(ran: &Ran) -> bool {
    let Ran::Told(outcome) = ran else {
        return false;
    };
    let message = outcome.message.as_deref().unwrap_or_default();
    outcome.exception.as_deref() == Some("java.lang.NoClassDefFoundError")
        && message.starts_with(NOT_INITIALIZED)
}

/// Runs candidates by themselves again, and gives those that do not reproduce each time.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn unsteady(
    plan: &Plan<'_>,
    candidates: &BTreeSet<usize>,
    place: &Workplace<'_>,
    options: &Options,
) -> Result<BTreeSet<usize>> {
    let path = place.runtime_path()?;
    let mut unsteady = BTreeSet::new();
    for _ in 0..AGAIN {
        let left = candidates.difference(&unsteady);
        let jobs: Vec<Job> = left.map(|&index| job(plan, index)).collect();
        for (index, results) in launch_each(place, &path, &jobs, options) {
            let fails = |ran| judged(plan, index, ran).0 != Verdict::Reproduces;
            if results?.iter().any(fails) {
                unsteady.insert(index);
            }
        }
    }
    Ok(unsteady)
}

/// Those of `candidates` that [`together`] runs with no others.
pub fn solitary(plan: &Plan<'_>, candidates: &[usize]) -> BTreeSet<usize> {
    let (asserting, others): (Vec<usize>, Vec<usize>) =
        (candidates.iter()).partition(|&&index| asserts(plan, index));
    [asserting, others]
        .into_iter()
        .filter(|group| group.len() == 1)
        .flatten()
        .collect()
}

fn job(plan: &Plan<'_>, index: usize) -> Job {
    job_in_order(plan, index, 0)
}

/// In the `nth` of the [`OTHER_ORDERS`].
fn job_in_order(plan: &Plan<'_>, index: usize, nth: usize) -> Job {
    let (mask, turned) = OTHER_ORDERS[nth];
    let candidate = &plan.candidates[index];
    let frame = plan.frame(candidate);
    Job {
        index,
        called: format!("{}.{}{}", frame.class, frame.method, frame.descriptor),
        class: plan.classes[candidate.class].full_name(),
        method: candidate.name.clone(),
        asserts: asserts(plan, index),
        order: plan.inputs[candidate.crash]
            .crash
            .meta
            .order
            .map(|(salt, reverse)| (salt ^ mask, reverse ^ turned)),
        compared: None,
    }
}

/// Options of a JVM in which immutable sets and maps iterate as the runner is told.
const UNCOMPILED_ORDER: [&str; 2] = [
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=exclude,java.util.ImmutableCollections*::*",
];

/// What iterates from a place that is drawn, in a direction that is drawn.
const DRAWN_TABLES: [&str; 2] = [
    "java.util.ImmutableCollections$MapN",
    "java.util.ImmutableCollections$SetN",
];

/// Orders beside the recorded one: what of the salt is turned over, so that they begin in another quarter of the
/// table, and whether the direction is. The first is for all candidates.
const OTHER_ORDERS: [(i64, bool); 3] = [(1 << 31, true), (1 << 30, false), (3 << 30, true)];

fn judged(plan: &Plan<'_>, index: usize, ran: &Ran) -> (Verdict, String) {
    match expected(plan, index) {
        Some(expected) => judge(&expected, plan.frame(&plan.candidates[index]), ran),
        None => (
            Verdict::Unsupported,
            "no exception was recorded for it".to_owned(),
        ),
    }
}

/// Whether the recorded program ran with assertions: it failed by one.
pub fn asserts(plan: &Plan<'_>, candidate: usize) -> bool {
    has_asserted(plan, plan.candidates[candidate].crash)
}

/// The same of a crash.
pub fn has_asserted(plan: &Plan<'_>, crash: usize) -> bool {
    let mut exceptions = plan.inputs[crash].crash.failure.exceptions.iter();
    exceptions.any(|info| info.class == "java.lang.AssertionError")
}

/// Whether some of the recorded programs ran with assertions and others without, so that one setting for all tests
/// would make some end otherwise than they did when they were tried.
pub fn is_mixed(plan: &Plan<'_>) -> bool {
    let with = (0..plan.inputs.len()).filter(|&crash| has_asserted(plan, crash));
    (1..plan.inputs.len()).contains(&with.count())
}

/// What a test shows that is run with assertions on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assertions {
    /// Nothing where they are off: it was an `assert` of the program, as far as is known.
    Needed,
    /// Maybe something else where they are on: it was tried without, and the program has some.
    Unwanted,
    /// The same.
    Unknown,
}

/// What becomes of the tests of a crash with assertions on or off.
pub fn assertions(plan: &Plan<'_>, crash: usize) -> Assertions {
    let has_asserts = |class: &str| {
        let found = plan.classpath.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        // What javac and ecj call it.
        info.is_some_and(|info| info.constant("$assertionsDisabled", "Z").is_some())
    };
    let mut frames = plan.inputs[crash].crash.failure.frames.iter();
    match (
        frames.any(|frame| has_asserts(&frame.class)),
        has_asserted(plan, crash),
    ) {
        (true, true) => Assertions::Needed,
        (true, false) => Assertions::Unwanted,
        (false, _) => Assertions::Unknown,
    }
}

fn expected<'a>(plan: &Plan<'a>, candidate: usize) -> Option<Expected<'a>> {
    let candidate = &plan.candidates[candidate];
    let failure = &plan.inputs[candidate.crash].crash.failure;
    let exception = plan.frame(candidate).exception;
    let frames = failure
        .frames
        .iter()
        .filter(|frame| frame.exception == exception);
    let info = failure.exceptions.get(exception as usize)?;
    let (causes, cut) = causes(failure, exception);
    Some(Expected {
        exception: info,
        causes,
        cut,
        frames: frames.collect(),
        unchanged: unchanged(&failure.frames, plan.classpath),
        test: plan.classes[candidate.class].full_name(),
    })
}

/// The causes of a recorded exception, the direct one first; and whether it may have had others.
fn causes(failure: &Failure, of: u32) -> (Vec<&ExceptionInfo>, bool) {
    let cause = |of: u32| failure.exceptions.get(of as usize)?.cause;
    let mut path = vec![of];
    while let Some(next) = path.last().and_then(|last| cause(*last)) {
        // It goes round.
        if path.contains(&next) {
            break;
        }
        path.push(next);
    }
    let round = path.last().is_some_and(|last| cause(*last).is_some());
    let infos = path[1..].iter();
    let infos = infos.filter_map(|&index| failure.exceptions.get(index as usize));
    let cut = round || failure.exceptions.len() >= MAX_EXCEPTIONS;
    (infos.collect(), cut)
}

/// Classes of the stack whose class files are those that were recorded, so
/// that lines can be compared.
fn unchanged<'a>(frames: &'a [Frame], classpath: &ClassPath) -> Vec<&'a str> {
    let same = |frame: &&Frame| {
        let recorded = frame.class_sha256.as_deref();
        recorded.is_some_and(|recorded| {
            let found = classpath.find(&frame.class);
            found.is_some_and(|found| found.sha256 == recorded)
        })
    };
    frames
        .iter()
        .filter(same)
        .map(|frame| frame.class.as_str())
        .collect()
}

/// Runs candidates, each once and in a JVM of its own: its files have its number. A method that has waited for nothing in one
/// crash, as the loop of a server does, is not waited for as long in the next.
fn launch_each(
    place: &Workplace<'_>,
    path: &OsStr,
    jobs: &[Job],
    options: &Options,
) -> Vec<(usize, Result<Vec<Ran>>)> {
    debug_assert!(
        (jobs.iter().map(|job| job.index).collect::<BTreeSet<_>>()).len() == jobs.len(),
        "two runs of a candidate would write the same files"
    );
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let waiting = Mutex::new(BTreeSet::new());
    let done = Arc::new(AtomicU64::new(0));
    let extent = Extent::Number(jobs.len() as u64, done.clone());
    options.told.begin("running candidates", extent);
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let waits = locked(&waiting).contains(&job.called);
            let idle = idle(options, waits);
            let result = launch(place, path, &[job], options, idle);
            if let Ok(ran) = &result
                && matches!(ran[..], [Ran::Waited(_)])
            {
                locked(&waiting).insert(&job.called);
            }
            locked(&results).push((job.index, result));
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..PARALLEL.min(jobs.len()) {
            scope.spawn(work);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// For how long a JVM may do nothing.
fn idle(options: &Options, waits: bool) -> Duration {
    match waits {
        true => LEAST_IDLE,
        false => (options.timeout / IDLE_PART).max(LEAST_IDLE),
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs candidates in one JVM, one after the other.
fn launch(
    place: &Workplace<'_>,
    path: &OsStr,
    jobs: &[&Job],
    options: &Options,
    idle: Duration,
) -> Result<Vec<Ran>> {
    let Some(first) = jobs.first() else {
        return Ok(Vec::new());
    };
    let java_options = &options.java_options;
    let timeout = options.timeout * jobs.len().min(MOST_TIMEOUTS) as u32;
    let files: Vec<PathBuf> = jobs
        .iter()
        .map(|job| place.result_file(job.index))
        .collect();
    for file in &files {
        // A second try must not find the result of the first.
        let _ = fs::remove_file(file);
        let _ = fs::remove_file(lacking_file(file));
    }
    let dir = place.run_dir(first.index);
    fs::create_dir_all(&dir).context("failed to make a directory to run in")?;
    let log = files[0].with_extension("log");
    let errors = File::create(&log).context("failed to make a file for a candidate's output")?;
    let mut command = place.jdk.tied_java();
    command
        .args([
            // What ends it before it begins is said there, too.
            "-XX:+DisplayVMOutputToStderr",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
        ])
        .args(first.asserts.then_some("-ea"))
        // What is compiled has the JVM's own order in it.
        .args(first.order.iter().flat_map(|_| UNCOMPILED_ORDER))
        .args(java_options)
        .arg("-cp")
        .arg(path)
        .arg("dev.hindsight.replay.Runner");
    if let Some((salt, reverse)) = first.order {
        command.args(["--order", &salt.to_string(), &reverse.to_string()]);
    }
    if let Some((option, resource, frame)) = &first.compared {
        command.args([option, resource.as_str(), &frame.to_string()]);
    }
    for (job, file) in jobs.iter().zip(&files) {
        command.args([&job.class, &job.method]).arg(file);
    }
    command
        .current_dir(&dir)
        .stdout(Stdio::null())
        .stderr(errors);
    let idle = idle.min(timeout);
    let ended = run_child(command, timeout, Some(idle))?;
    let told = |file: &PathBuf| {
        let text = fs::read_to_string(file).ok()?;
        let mut outcome = serde_json::from_str::<Outcome>(&well_formed(&text)).ok()?;
        let lacking = fs::read_to_string(lacking_file(file)).unwrap_or_default();
        outcome.lacking = serde_json::from_str(&well_formed(&lacking)).unwrap_or_default();
        Some(outcome)
    };
    let results = files.iter().map(|file| match (told(file), &ended) {
        (Some(outcome), _) => Ran::Told(Box::new(outcome)),
        (None, Ended::TimedOut { idle: false }) => Ran::TimedOut(timeout.as_secs()),
        (None, Ended::TimedOut { idle: true }) => Ran::Waited(idle.as_secs()),
        (None, Ended::Exit(status)) => Ran::Died(format!("{status}{}", ended::last_words(&log))),
    });
    Ok(results.collect())
}

/// Where the runner says which static fields lack what was recorded.
fn lacking_file(result: &Path) -> PathBuf {
    result.with_extension("statics")
}

/// Replaces lone surrogates, which Java has in its strings and Rust has not, by what
/// Java writes for them in source.
fn well_formed(json: &str) -> String {
    let escaped = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(c) = json[at..].chars().next() {
        let len = match (escaped(at), escaped(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(lone @ 0xd800..=0xdfff), _) => {
                out.push_str(&format!("\\\\u{lone:04x}"));
                at += 6;
                continue;
            }
            // With the character after it: it may be a backslash too.
            _ if c == '\\' => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        out.push_str(&json[at..at + len]);
        at += len;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_followed_to_the_innermost() {
        let info = |class: &str, cause| ExceptionInfo {
            class: class.to_owned(),
            cause,
            ..ExceptionInfo::default()
        };
        let mut failure = Failure {
            exceptions: vec![
                info("A", Some(2)),
                info("S", None),
                info("B", Some(3)),
                info("C", None),
            ],
            ..Failure::default()
        };
        let told = |failure: &Failure, of| {
            let (causes, cut) = causes(failure, of);
            let classes: String = causes.iter().map(|info| info.class.as_str()).collect();
            (classes, cut)
        };
        assert_eq!(told(&failure, 0), ("BC".to_owned(), false));
        assert_eq!(told(&failure, 1), (String::new(), false));
        failure.exceptions[3].cause = Some(2);
        assert_eq!(told(&failure, 0), ("BC".to_owned(), true));
        failure.exceptions[3].cause = None;
        failure.exceptions.resize(MAX_EXCEPTIONS, info("S", None));
        assert_eq!(told(&failure, 0), ("BC".to_owned(), true));
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        assert_eq!(well_formed(r"a\\ud800"), r"a\\ud800");
        assert_eq!(well_formed(r"\\\ud800x"), r"\\\\ud800x");
        assert_eq!(well_formed(r"\ud83d\ude00\udc00"), r"\ud83d\ude00\\udc00");
        assert_eq!(well_formed("ä\\"), "ä\\");
    }
}
