//! Finding crash files and earlier results, and reading them.

use super::Error;
use super::group::{Group, Groups, Times, is_dump, total};
use super::key::{Cause, Key};
use super::rules::{self, Redacted, Rule, Unmatched};
use crate::files::{failed, is_crash_file, is_special, walk};
use crate::input::Input;
use crate::text::{stack, with_causes};
use hindsight_tracelog::reader::Crash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, thread};

/// The schema of results, and of earlier results that are inputs.
pub const SCHEMA: &str = "hindsight.crashes/1";

/// The schema of a run's own file.
pub(super) const RUN_SCHEMA: &str = "hindsight.run/1";

/// The files that the inputs name.
#[derive(Debug, Default)]
pub struct Found {
    /// Crash files, each once.
    pub crashes: BTreeSet<PathBuf>,
    /// Results of earlier runs.
    pub results: BTreeSet<PathBuf>,
    /// Directories without a crash file, where nothing has failed.
    pub empty: Vec<PathBuf>,
    /// The errors of what cannot be read.
    pub errors: Vec<String>,
}

/// One group in a result.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// [`Key::id`].
    pub id: String,
    /// [`Key::exception`].
    pub exception: String,
    /// [`Key::frames`].
    pub frames: Vec<String>,
    /// [`Key::causes`].
    pub causes: Vec<Cause>,
    /// The group itself.
    #[serde(flatten)]
    pub group: Group,
}

/// Crashes that runs have not stored, by an identity of the run.
pub type NotStored = BTreeMap<String, u64>;

/// Merges those of other runs, or of the same ones at another time.
pub fn add_not_stored(to: &mut NotStored, from: NotStored) {
    for (run, count) in from {
        let known = to.entry(run).or_default();
        *known = count.max(*known);
    }
}

#[derive(Deserialize)]
struct Document {
    schema: String,
    groups: Vec<Entry>,
    #[serde(default)]
    not_stored: NotStored,
}

/// Searches directories for crash files, however deep. Of files that are named, one that ends in
/// `.json` is an earlier result, any other a crash file.
///
/// # Errors
///
/// Fails if there is nothing at all to read, with the reason.
pub fn find(paths: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    for path in paths {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                let error = format!("failed to read {}: {error}", path.display());
                found.errors.push(error);
                continue;
            }
        };
        if metadata.is_dir() {
            let mut crashes = BTreeSet::new();
            let errors = walk(path, &mut |file| {
                if file.file_name().is_some_and(is_crash_file) && !is_special(file) {
                    crashes.insert(file.to_owned());
                }
            });
            if errors.is_empty() && crashes.is_empty() {
                found.empty.push(path.clone());
            }
            let errors = errors.iter().map(|error| with_causes(error));
            found.errors.extend(errors);
            found.crashes.append(&mut crashes);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.results.insert(path.clone());
        } else {
            found.crashes.insert(path.clone());
        }
    }
    if found.crashes.is_empty() && found.results.is_empty() {
        if let Some(error) = found.errors.first() {
            return Err(Error::Nothing(error.clone()));
        }
        let empty: Vec<String> = found.empty.iter().map(|path| nothing_in(path)).collect();
        return Err(Error::Nothing(empty.join("; ")));
    }
    // The same file under two names is one crash. An unreachable one is reported when it is read.
    let mut seen = BTreeSet::new();
    found
        .crashes
        .retain(|path| fs::canonicalize(path).map_or(true, |real| seen.insert(real)));
    Ok(found)
}

/// A message that a directory has no crash files, with the reason as far as its runs know it.
pub fn nothing_in(directory: &Path) -> String {
    let none = format!(
        "no crash files (crash-*.hsc) in or below {}",
        directory.display()
    );
    match why_none(directory) {
        Some(why) => format!("{none}: {why}"),
        None => none,
    }
}

/// The reason why the runs of a directory have no crash files, as far as they know.
pub fn why_none(directory: &Path) -> Option<String> {
    runs(directory).find_map(|run| why_nothing(&run))
}

/// The reason why a run may have recorded nothing, if it is in its options.
fn why_nothing(run: &Path) -> Option<String> {
    let text = fs::read(run).ok()?;
    let told: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let counter = |name: &str| told.pointer(&format!("/counters/{name}"))?.as_u64();
    let option = |name: &str| told.pointer(&format!("/options/{name}"))?.as_str();
    let mode = option("mode");
    if mode == Some("trace") {
        return None;
    }
    let name = run.file_name()?.to_string_lossy();
    // Without rules, second chance has no counts that explain it.
    let rules = rules::of(&told);
    if mode == Some("second-chance") && rules.is_empty() {
        return None;
    }
    if told.get("ended_ms").is_some_and(serde_json::Value::is_null) {
        return Some(format!(
            "by its {name}, it still runs or was killed: what it has counted since its start is not known"
        ));
    }
    let lost: Vec<String> = not_stored(&told)
        .map(|(counter, count)| format!("{counter} {count}"))
        .collect();
    if !lost.is_empty() {
        return Some(format!(
            "by its {name}, crashes were seen and not stored ({}); what the agent could not write, it said on stderr",
            lost.join(", ")
        ));
    }
    if let Some(include) = option("include")
        && mode != Some("second-chance")
        && counter("classes_instrumented").unwrap_or(0) == 0
    {
        let early = counter("classes_left_alone:loaded before the agent").unwrap_or(0);
        return Some(match early {
            0 => format!("by its {name}, no class that was loaded matches include={include}"),
            _ => format!(
                "by its {name}, all that matches include={include} is of the JDK, and was loaded before the agent"
            ),
        });
    }
    let mut why: Vec<String> = rules.iter().filter_map(Rule::why_unmatched).collect();
    if let Some((count @ 1.., report)) = counter("exceptions_narrowed_away").zip(option("report")) {
        let failures = match count {
            1 => "1 failure was".to_owned(),
            _ => format!("{count} failures were"),
        };
        why.push(format!(
            "{failures} of no class that the exception: of report={report} names"
        ));
    }
    let nothing = |list: &str| {
        let list = told.get(list).and_then(serde_json::Value::as_array);
        list.is_some_and(Vec::is_empty)
    };
    if why.is_empty() && nothing("crashes") && nothing("rules") {
        why.push(UNCAUGHT_ALONE.to_owned());
    }
    (!why.is_empty()).then(|| format!("by its {name}, {}", why.join("; ")))
}

/// The reason for a run without crashes whose options name no methods.
const UNCAUGHT_ALONE: &str = "no thread died of an exception; what servers and frameworks catch is recorded if \
     report= names a method that it leaves (escape:CLASS.METHOD) or that catches it (caught:CLASS.METHOD)";

/// Reads an earlier result: its groups, and what was not stored.
///
/// # Errors
///
/// Fails if it is not one, and names it.
pub fn result(path: &Path) -> Result<(Groups, NotStored), Error> {
    let text = fs::read(path).map_err(failed("read", path))?;
    let document: Document = serde_json::from_slice(&text).map_err(|source| Error::NoResult {
        path: path.to_owned(),
        source,
    })?;
    if document.schema != SCHEMA {
        return Err(Error::OtherResult {
            path: path.to_owned(),
            schema: document.schema,
        });
    }
    let mut groups = Groups::default();
    for entry in document.groups {
        let key = Key {
            exception: entry.exception,
            frames: entry.frames,
            causes: entry.causes,
        };
        // An earlier release may have distinguished wrappers by the JDK's methods.
        groups.add(key.by_cause(), entry.group);
    }
    Ok((groups, document.not_stored))
}

/// The result of reading crash files.
#[derive(Debug, Default)]
pub struct Collected {
    /// The groups of those that could be read.
    pub groups: Groups,
    /// The crashes that their runs have not stored.
    pub not_stored: NotStored,
    /// The rules of `report` that match nothing in any of their runs, with the reasons.
    pub unmatched: Vec<String>,
    /// The errors of those that could not be read.
    pub errors: Vec<String>,
}

/// Reads crash files on all cores, keeping no more of them in memory than there
/// are threads; `step` is called for each. Copies of one crash count once.
pub fn read(files: &BTreeSet<PathBuf>, frames: usize, step: &(dyn Fn() + Sync)) -> Collected {
    let files: Vec<&PathBuf> = files.iter().collect();
    let counts = Mutex::new(HashMap::new());
    let next = AtomicUsize::new(0);
    let read = Mutex::new(Vec::new());
    let errors = Mutex::new(Vec::new());
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            match one(file, frames, &counts) {
                Ok(crash) => lock(&read).push(crash),
                Err(error) => lock(&errors).push(with_causes(&error)),
            }
            step();
        }
    };
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| {
        for _ in 1..threads.min(files.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut collected = Collected {
        errors: errors.into_inner().unwrap_or_else(PoisonError::into_inner),
        ..Collected::default()
    };
    for (key, group) in read.into_inner().unwrap_or_else(PoisonError::into_inner) {
        collected.groups.add(key, group);
    }
    collected.groups.settle();
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut unmatched = Unmatched::default();
    for of_runs in counts.into_values() {
        collected.errors.extend(of_runs.errors);
        add_not_stored(&mut collected.not_stored, of_runs.not_stored);
        of_runs.rules.iter().for_each(|rule| unmatched.add(rule));
        for entry in &of_runs.redacted {
            unmatched.add_redacted(entry);
        }
    }
    collected.unmatched = unmatched.told();
    collected.errors.sort_unstable();
    collected
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often each crash happened, by the directory of its run.
type Counts = Mutex<HashMap<PathBuf, RunCounts>>;

/// The counts by the name of the crash file, and by the start of its JVM if the run has that: names
/// recur if files were moved away. A crash without a name is of a run that stores it again when it
/// knows more frames.
type TimesByFile = HashMap<(String, Option<i64>), Times>;

/// The counts of the runs of a directory.
#[derive(Debug, Default)]
struct RunCounts {
    times: TimesByFile,
    /// The crashes that they have not stored.
    not_stored: NotStored,
    /// The rules of the runs that have ended.
    rules: Vec<Rule>,
    /// The entries of `redact` in the runs that have stored a crash.
    redacted: Vec<Redacted>,
    /// The errors of runs whose counts are not available.
    errors: Vec<String>,
}

/// Reads a crash file. The crash is the same wherever its file has been copied to: tests bring one
/// with them.
fn one(path: &Path, frames: usize, counts: &Counts) -> Result<(Key, Group), Error> {
    let input = Input::read(path)?;
    let bytes = fs::metadata(path).map_or(0, |meta| meta.len());
    let key = Key::new(&input.crash.failure, frames);
    let file = path.display().to_string();
    let meta = &input.crash.meta;
    let times = times(path, &input.crash, counts);
    // This only uses what a trimmed file has, too. Threads may fail in the same moment.
    let identity = format!(
        "{}/{}/{}/{:x}",
        meta.pid,
        meta.started_ms,
        meta.time_ms,
        crc32fast::hash(stack(&input.crash.failure).concat().as_bytes())
    );
    let group = Group::of(&file, &identity, bytes, &input.crash, times);
    Ok((key, group))
}

/// How often this crash happened, according to the `run.json` beside it, or to that of an earlier
/// run in the same directory; else once.
fn times(file: &Path, crash: &Crash, counts: &Counts) -> Times {
    let started_ms = crash.meta.started_ms;
    let once = Times {
        count: 1,
        not_all_examined: false,
        not_all_recorded: false,
        last_ms: None,
    };
    let (Some(directory), Some(name)) = (file.parent(), file.file_name()) else {
        return once;
    };
    let mut counts = lock(counts);
    let of_run = counts
        .entry(directory.to_owned())
        .or_insert_with(|| directory_counts(directory));
    let once = Times {
        not_all_recorded: !of_run.errors.is_empty() || !of_run.not_stored.is_empty(),
        ..once
    };
    let of_run = &of_run.times;
    let name = name.to_string_lossy().into_owned();
    let of = |started: Option<i64>| of_run.get(&(name.clone(), started)).copied();
    // If a later file of the same crash, with more frames, stands for this one, that has the count.
    // No run has counts of dumps.
    let again = Times { count: 0, ..once };
    let is_again =
        !is_dump(&crash.failure) && of_run.contains_key(&(String::new(), Some(started_ms)));
    (of(Some(started_ms)).or_else(|| of(None))).unwrap_or(if is_again { again } else { once })
}

/// The counts of the runs of a directory: of `run.json`, and of `run-PID.json` of earlier ones.
fn directory_counts(directory: &Path) -> RunCounts {
    let mut counts = RunCounts::default();
    for run in runs(directory) {
        match run_counts(&run) {
            Ok(of_run) => {
                counts.times.extend(of_run.times);
                add_not_stored(&mut counts.not_stored, of_run.not_stored);
                counts.rules.extend(of_run.rules);
                counts.redacted.extend(of_run.redacted);
            }
            Err(error) => {
                let error = with_causes(&error);
                counts.errors.push(format!(
                    "{error}; how often its crashes have come is not known"
                ));
            }
        }
    }
    counts
}

/// The files of a directory in which runs have written their counts.
pub(crate) fn runs(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        is_of_run(&name)
    })
}

/// Whether a file has the name of a run's own file: `run.json`, `run-PID.json`, `run-PID-N.json`.
fn is_of_run(name: &str) -> bool {
    let Some(numbers) = name
        .strip_prefix("run")
        .and_then(|rest| rest.strip_suffix(".json"))
    else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match numbers.strip_prefix('-') {
        Some(numbers) => numbers.split('-').all(is_number),
        None => numbers.is_empty(),
    }
}

/// The counters of crashes that were seen and not stored. It is not known which ones they were.
const NOT_STORED: [&str; 5] = [
    "/counters/crashes_beyond_per_minute",
    "/counters/crashes_beyond_max_crashes",
    "/counters/crashes_not_written",
    "/counters/crashes_lost_internal",
    "/cpu/failures_not_recorded",
];

/// Those counters that a run has, by name.
fn not_stored(run: &serde_json::Value) -> impl Iterator<Item = (&'static str, u64)> {
    NOT_STORED.into_iter().filter_map(|at| {
        let count = run.pointer(at)?.as_u64().filter(|count| *count > 0)?;
        at.rsplit('/').next().zip(Some(count))
    })
}

fn run_counts(path: &Path) -> Result<RunCounts, Error> {
    let text = fs::read(path).map_err(failed("read", path))?;
    let run: serde_json::Value = serde_json::from_slice(&text).map_err(|source| Error::Run {
        path: path.to_owned(),
        source,
    })?;
    match run.get("schema").and_then(serde_json::Value::as_str) {
        None | Some(RUN_SCHEMA) => {}
        Some(other) => {
            return Err(Error::OtherRun {
                path: path.to_owned(),
                schema: other.to_owned(),
            });
        }
    }
    let crashes = run.get("crashes").and_then(serde_json::Value::as_array);
    let crashes = crashes.map_or(&[][..], Vec::as_slice);
    let started = run.get("started_ms").and_then(serde_json::Value::as_i64);
    let number = |at: &str| run.pointer(at).and_then(serde_json::Value::as_u64);
    let any = |counter| number(counter).unwrap_or(0) > 0;
    let not_stored = total(not_stored(&run).map(|(_, count)| count));
    let known = Times {
        count: 0,
        not_all_examined: any("/counters/exceptions_not_examined"),
        not_all_recorded: not_stored > 0
            // A JVM that was killed has not written how many there were.
            || run.pointer("/cpu/paused").and_then(serde_json::Value::as_bool) == Some(true),
        last_ms: None,
    };
    let of = |crash: &serde_json::Value| {
        let file = crash.get("file")?.as_str()?.to_owned();
        let count = crash.get("count")?.as_u64()?.max(1);
        let last_ms = crash.get("last_ms").and_then(serde_json::Value::as_i64);
        let times = Times {
            count,
            last_ms,
            ..known
        };
        Some(((file, started), times))
    };
    let mut counts: TimesByFile = crashes.iter().filter_map(of).collect();
    let mode = run
        .pointer("/options/mode")
        .and_then(serde_json::Value::as_str);
    if mode == Some("second-chance") && !counts.is_empty() {
        counts.insert((String::new(), started), known);
    }
    let id = run.get("run").and_then(serde_json::Value::as_str);
    // The identity for an older agent, which replicas in containers may share.
    let of_process = || format!("{}/{}", number("/pid").unwrap_or(0), started.unwrap_or(0));
    let identity = id.map_or_else(of_process, str::to_owned);
    let not_stored = (not_stored > 0).then_some((identity, not_stored));
    // A run that continues, or was killed, may have matched more since.
    let is_over = !run.get("ended_ms").is_some_and(serde_json::Value::is_null);
    let rules = if is_over { rules::of(&run) } else { Vec::new() };
    // This is written anew with each crash.
    let redacted = match counts.is_empty() {
        true => Vec::new(),
        false => Redacted::of(&run),
    };
    Ok(RunCounts {
        times: counts,
        not_stored: not_stored.into_iter().collect(),
        rules,
        redacted,
        errors: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_run;

    #[test]
    fn a_file_of_a_run_has_its_number_or_none() {
        for name in ["run.json", "run-1.json", "run-31337-2.json"] {
            assert!(is_of_run(name), "{name}");
        }
        for name in [
            "runtime.json",
            "run-.json",
            "run-a.json",
            "run-1-.json",
            "run",
            "rerun.json",
        ] {
            assert!(!is_of_run(name), "{name}");
        }
    }
}
