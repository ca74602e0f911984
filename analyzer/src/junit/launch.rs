//! Starts JVMs that run candidates, and reads their results.

use super::compile::Workplace;
use super::{Options, Result, ended};
use crate::files::failed;
use crate::jdk::child::{Ended, run as run_child};
use crate::jdk::class_path;
use crate::progress::Extent;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of JVMs at a time.
const PARALLEL: usize = 2;
/// The most that all candidates in one JVM may take, as a multiple of the time of one.
const MOST_TIMEOUTS: usize = 10;
/// The fraction of one candidate's time after which an idle JVM is ended, for example one with a
/// pool's thread that waits for its next task.
const IDLE_PART: u32 = 2;
/// The minimum of that time, in which a JVM begins to do something on the slowest machine.
const LEAST_IDLE: Duration = Duration::from_secs(10);

/// Options for a JVM in which immutable sets and maps iterate in the order that is given to the
/// runner.
const UNCOMPILED_ORDER: [&str; 2] = [
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=exclude,java.util.ImmutableCollections*::*",
];

/// The result of the replay library's runner for one test.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// `passed`, `threw`, `broken` or `exited`.
    pub outcome: String,
    /// The class of the exception.
    pub exception: Option<String>,
    /// Its message.
    pub message: Option<String>,
    /// The message in its own field, as in recordings.
    pub detail: Option<String>,
    /// Its stack trace.
    pub stack: Vec<Element>,
    /// The classes of its causes, the direct one first.
    pub chain: Vec<String>,
    /// Its direct cause, if it has one.
    pub cause: Option<Root>,
    /// Its innermost cause.
    pub root: Option<Root>,
    /// The class of the first of them that is a restored argument, or a part of one.
    pub given: Option<String>,
    /// The reason why the state could not be restored.
    pub reason: Option<String>,
    /// The parts of the state that could not be restored.
    pub holes: Vec<String>,
    /// The classes of the program whose objects could not be restored.
    pub unrestored: Vec<String>,
    /// Whether the exception is a restored argument, or the cause of one.
    pub restored: bool,
    /// The methods of the exception, or of its causes, by which a report of it fails.
    pub failing: Vec<String>,
    /// The static fields, as `Class.field`, that lack what was recorded; they are in a file of
    /// their own, if they were asked for.
    #[serde(skip)]
    pub lacking: Vec<String>,
}

/// A cause of an exception.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Root {
    /// Its class.
    pub exception: String,
    /// Its message.
    pub message: Option<String>,
    /// The message in its own field, as in recordings.
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
    /// It was idle for this many seconds.
    Waited(u64),
    /// The JVM ended without a result: how, and the last of its output.
    Died(String),
}

/// The settings of a test's JVM, besides those that are common to all.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// Whether assertions are enabled.
    pub asserts: bool,
    /// The options that bound its memory as in the recording.
    pub bounds: Vec<String>,
}

/// A candidate to be run.
pub(super) struct Job {
    pub(super) index: usize,
    /// The index of its crash, and that of its frame in it.
    pub(super) frame: (usize, usize),
    /// The method of its frame.
    pub(super) called: String,
    pub(super) class: String,
    pub(super) method: String,
    pub(super) setting: Setting,
    /// The order in which immutable sets and maps iterate, if it is to differ from the recorded
    /// one.
    pub(super) order: Option<(i64, bool)>,
    /// The runner's option by which static fields are compared with the recorded ones, the name of
    /// the crash file, and the number of the frame.
    pub(super) compared: Option<(&'static str, String, usize)>,
}

/// Runs candidates, each in a JVM of its own, whose files have its number. A method that was idle
/// in one crash, like the loop of a server, is not waited for as long in the next; nor are its
/// callers.
///
/// Neighbouring frames call each other, so two tests at a time may need the same port, lock the
/// same file or open the same database. So those that end `otherwise` than expected run a second
/// time, each alone, and this result counts, as long as there is [time](Options::timeout) for it.
pub(super) fn launch_each(
    place: &Workplace<'_>,
    path: &OsStr,
    jobs: &[Job],
    options: &Options,
    otherwise: impl Fn(usize, &Ran) -> bool,
) -> Vec<(usize, Result<Vec<Ran>>)> {
    debug_assert!(
        (jobs.iter().map(|job| job.index).collect::<BTreeSet<_>>()).len() == jobs.len(),
        "two runs of a candidate would write the same files"
    );
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let waiting = Mutex::new(Waiting::default());
    let done = Arc::new(AtomicU64::new(0));
    let extent = Extent::Number(jobs.len() as u64, done.clone());
    options.told.begin("running candidates", extent);
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let waits = locked(&waiting).has(job);
            let idle = idle(options, waits);
            let result = launch(place, path, &[job], options, idle);
            if let Ok(ran) = &result
                && matches!(ran[..], [Ran::Waited(_)])
            {
                locked(&waiting).add(job);
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
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let was_alone = jobs.len() < 2;
    let until = Instant::now() + options.timeout;
    for (index, result) in results.iter_mut().filter(|_| !was_alone) {
        let is_otherwise = |ran: &[Ran]| ran.iter().any(|ran| otherwise(*index, ran));
        if Instant::now() < until
            && result.as_deref().is_ok_and(is_otherwise)
            && let Some(job) = jobs.iter().find(|job| job.index == *index)
        {
            *result = launch(place, path, &[job], options, idle(options, false));
        }
    }
    results
}

/// The candidates that were idle.
#[derive(Default)]
struct Waiting<'j> {
    methods: BTreeSet<&'j str>,
    /// The innermost idle frame of each crash.
    frames: BTreeMap<usize, usize>,
}

impl<'j> Waiting<'j> {
    fn add(&mut self, job: &'j Job) {
        let (crash, frame) = job.frame;
        self.methods.insert(&job.called);
        let innermost = self.frames.entry(crash).or_insert(frame);
        *innermost = frame.min(*innermost);
    }

    /// Whether a candidate is idle as well, as far as is known: its method was, or one further in
    /// on the stack.
    fn has(&self, job: &Job) -> bool {
        let (crash, frame) = job.frame;
        let is_outer = |innermost: &usize| frame > *innermost;
        self.methods.contains(&*job.called) || self.frames.get(&crash).is_some_and(is_outer)
    }
}

/// The time for which a JVM may be idle.
pub(super) fn idle(options: &Options, waits: bool) -> Duration {
    match waits {
        true => LEAST_IDLE,
        false => (options.timeout / IDLE_PART).max(LEAST_IDLE),
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs candidates in one JVM, one after the other.
pub(super) fn launch(
    place: &Workplace<'_>,
    path: &OsStr,
    jobs: &[&Job],
    options: &Options,
    idle: Duration,
) -> Result<Vec<Ran>> {
    let Some(first) = jobs.first() else {
        return Ok(Vec::new());
    };
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
    // Nor must it find the files that an earlier one has left: a project has none.
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).map_err(failed("make", &dir))?;
    let log = files[0].with_extension("log");
    let _ = fs::remove_file(&log);
    let errors =
        (File::options().append(true).create(true).open(&log)).map_err(failed("write", &log))?;
    let written = errors.try_clone();
    let mut command = place.jdk.tied_java();
    command
        .args([
            // Messages about a failed start go there, too.
            "-XX:+DisplayVMOutputToStderr",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
        ])
        .args(first.setting.asserts.then_some("-ea"))
        // Compiled code contains the JVM's own order.
        .args(first.order.iter().flat_map(|_| UNCOMPILED_ORDER))
        .args(&options.java_options)
        .args(&first.setting.bounds)
        .args(class_path(path, &files[0].with_extension("path"))?)
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
    let ended = run_child(command, timeout, Some(idle), written.as_ref().ok())?;
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
    let results = results.collect();
    let _ = fs::remove_file(&log);
    Ok(results)
}

/// The file in which the runner lists the static fields that lack what was recorded.
fn lacking_file(result: &Path) -> PathBuf {
    result.with_extension("statics")
}

/// Replaces lone surrogates, which Java strings may contain and Rust's may not, by their escapes in
/// Java source.
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
            // This includes the next character, which may be a backslash, too.
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
    fn what_waits_is_known_by_its_method_and_by_what_it_calls() {
        let job = |frame, called: &str| Job {
            index: 0,
            frame,
            called: called.to_owned(),
            class: String::new(),
            method: String::new(),
            setting: Setting::default(),
            order: None,
            compared: None,
        };
        let waited = [job((0, 4), "a.Pool.take"), job((0, 3), "a.Queue.take")];
        let mut waiting = Waiting::default();
        waited.iter().for_each(|job| waiting.add(job));
        for (frame, called, has) in [
            ((0, 2), "a.Task.run", false),
            ((0, 5), "a.Pool.run", true),
            ((1, 5), "a.Pool.run", false),
            ((1, 0), "a.Queue.take", true),
        ] {
            assert_eq!(waiting.has(&job(frame, called)), has, "{frame:?}");
        }
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        assert_eq!(well_formed(r"a\\ud800"), r"a\\ud800");
        assert_eq!(well_formed(r"\\\ud800x"), r"\\\\ud800x");
        assert_eq!(well_formed(r"\ud83d\ude00\udc00"), r"\ud83d\ude00\\udc00");
        assert_eq!(well_formed("ä\\"), "ä\\");
    }
}
