//! The text behind `-agentpath:...=`.
//!
//! - [`quotes`] splits it and removes quotes.
//! - [`values`] reads the values of keys.
//! - [`secrets`] decides by names what must not be stored.
//! - [`redact`] has the user's own rules for that.

mod quotes;
mod redact;
mod secrets;
#[cfg(test)]
mod tests;
mod values;

use quotes::{
    begins_with_member, is_quoted_file, pairs, refuse_further_key, split, unquote, unquote_members,
    without_comment,
};
use redact::Redact;
use values::{bad, classes, members, number, rules, sample, signals, size, strategy, told};

use crate::copies::{Copies, Strategy};
use crate::share::Share;
use hindsight_instrument::What;
use hindsight_instrument::glob::Globs;
use std::fmt;
use std::path::PathBuf;
use std::{fs, str};

/// The signals of `dump-on`, except `QUIT`, which the JVM passes on.
pub(crate) const SIGNALS: &[&str] = &["USR1", "URG", "WINCH"];

/// The agent's options.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) enabled: bool,
    /// Whether whole runs are recorded, not crashes.
    pub(crate) tracing: bool,
    pub(crate) trace: Trace,
    /// Whether methods get probes only once a failure has passed through them.
    pub(crate) second_chance: bool,
    /// The file that lists these methods, unless it is `chances` in [`Options::out`].
    pub(crate) chances: Option<PathBuf>,
    /// The directory for recordings, with `%p` replaced.
    pub(crate) out: PathBuf,
    pub(crate) include: Globs,
    pub(crate) exclude: Globs,
    pub(crate) copy: Copies,
    copy_receiver: Option<Strategy>,
    copy_arguments: Option<Strategy>,
    /// The number of writes of one thread that can be undone.
    pub(crate) max_writes: usize,
    /// The file of `hindsight plan`.
    pub(crate) plan: Option<PathBuf>,
    pub(crate) report: Rules,
    /// The signals on which all threads are recorded, without `SIG`.
    pub(crate) dump_on: Vec<String>,
    pub(crate) max_objects: usize,
    /// The most bytes of one crash file.
    pub(crate) max_bytes: usize,
    pub(crate) max_crashes: u64,
    pub(crate) per_minute: u64,
    /// The share of CPU time for recording.
    pub(crate) cpu: Option<Share>,
    pub(crate) redact: Redact,
    pub(crate) version: String,
    /// The keys as they were given, for `run.json`.
    pub(crate) given: Vec<(String, String)>,
}

/// How a whole run is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) what: What,
    pub(crate) overflow: Overflow,
    /// The most bytes of all segments together.
    pub(crate) max_bytes: Option<u64>,
    /// The methods `class.method` with whose calls the recording begins and ends.
    pub(crate) from: Globs,
    pub(crate) until: Globs,
    pub(crate) sample: Option<Sample>,
}

/// The outermost calls that are recorded, with all that happens in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// One of this many is recorded.
    pub(crate) every: u32,
    /// The classes whose methods' calls count as outermost ones, whatever has called them; if there
    /// are none, all calls whose caller is not recorded count.
    pub(crate) classes: Globs,
}

impl Trace {
    /// Whether only a part of the run is recorded.
    pub(crate) fn is_partial(&self) -> bool {
        !self.from.is_empty() || !self.until.is_empty() || self.sample.is_some()
    }
}

/// What to do if the disk is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Threads wait.
    Wait,
    /// Events are lost and counted.
    Drop,
}

/// Which exceptions are failures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) uncaught: bool,
    /// The methods `class.method` that an exception leaves.
    pub(crate) escape: Globs,
    /// The methods `class.method` that catch an exception.
    pub(crate) caught: Globs,
    /// The exception classes; empty for all.
    pub(crate) exception: Globs,
}

impl Rules {
    /// Whether the rules name methods.
    pub(crate) fn names_methods(&self) -> bool {
        !self.escape.is_empty() || !self.caught.is_empty()
    }
}

/// A key or value that is not understood, as one line for stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const KEYS: &str = "mode, out, chances, include, exclude, copy, copy.receiver, copy.arguments, plan, report, \
                    dump-on, max-objects, max-bytes, max-writes, max-crashes, per-minute, cpu, redact, version, \
                    trace-what, overflow, max-trace, from, until, sample, @FILE";

/// The keys whose values are lists.
const LISTS: [&str; 9] = [
    "include",
    "exclude",
    "report",
    "dump-on",
    "redact",
    "trace-what",
    "from",
    "until",
    "sample",
];

const NO_VALUE: &str = "has no value; write KEY=VALUE with a key";

/// The mark with which some editors begin a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// How deep option files may name further ones.
const MAX_NESTED: usize = 8;

/// The keys of traces.
const OF_TRACES: &[&str] = &[
    "trace-what",
    "overflow",
    "max-trace",
    "from",
    "until",
    "sample",
];
/// The keys of crashes.
const OF_CRASHES: &[&str] = &[
    "copy",
    "copy.receiver",
    "copy.arguments",
    "plan",
    "report",
    "dump-on",
    "max-objects",
    "max-bytes",
    "max-writes",
    "max-crashes",
    "per-minute",
    "cpu",
];

impl Default for Options {
    fn default() -> Self {
        Options {
            enabled: true,
            tracing: false,
            trace: Trace {
                what: What::CALLS_AND_WRITES,
                overflow: Overflow::Wait,
                max_bytes: None,
                from: Globs::default(),
                until: Globs::default(),
                sample: None,
            },
            second_chance: false,
            chances: None,
            out: PathBuf::from("hindsight-out"),
            include: Globs::default(),
            exclude: Globs::default(),
            copy: Copies::all(Strategy::Fields),
            copy_receiver: None,
            copy_arguments: None,
            max_writes: 64 << 10,
            plan: None,
            report: Rules {
                uncaught: true,
                ..Rules::default()
            },
            dump_on: Vec::new(),
            max_objects: 100_000,
            max_bytes: 64 << 20,
            max_crashes: 100,
            per_minute: 10,
            cpu: None,
            redact: Redact::default(),
            version: String::new(),
            given: Vec::new(),
        }
    }
}

impl Options {
    /// Parses the agent's option text.
    pub(crate) fn parse(text: &str) -> Result<Options, Error> {
        let mut options = Options::default();
        options.take(text)?;
        let (others, mode) = if options.tracing {
            (OF_CRASHES, "crash and mode=second-chance")
        } else {
            (OF_TRACES, "trace")
        };
        let other = |(key, _): &&(String, String)| others.contains(&key.as_str());
        if let Some((key, _)) = options.given.iter().find(other)
            && options.enabled
        {
            return Err(Error(format!("option {key} is for mode={mode} only")));
        }
        let given = |key| options.given.iter().any(|(given, _)| given == key);
        if given("chances") && !options.second_chance && options.enabled {
            return Err(Error(
                "option chances is for mode=second-chance only".to_owned(),
            ));
        }
        if options.trace.is_partial() && !options.trace.what.calls {
            return Err(Error(
                "options from, until and sample go by calls: trace-what must have calls".to_owned(),
            ));
        }
        // This holds in whatever order they are given.
        options.copy.receiver = options.copy_receiver.unwrap_or(options.copy.receiver);
        options.copy.arguments = options.copy_arguments.unwrap_or(options.copy.arguments);
        if options.second_chance && options.copy.need_log() {
            return Err(Error(format!(
                "mode=second-chance cannot log the writes of a whole program, which copy={} needs; \
                 accepted: reference, fields",
                options.copy
            )));
        }
        if given("max-writes") && !options.copy.need_log() && options.enabled {
            return Err(Error(
                "option max-writes is for copy=deep and copy=depth:N only".to_owned(),
            ));
        }
        let out = options
            .out
            .to_string_lossy()
            .replace("%p", &std::process::id().to_string());
        options.out = PathBuf::from(out);
        Ok(options)
    }

    /// Reads the keys of one line.
    fn take(&mut self, text: &str) -> Result<(), Error> {
        for pair in pairs(split(text, ',')?)? {
            self.pair(&pair, 0)?;
        }
        Ok(())
    }

    /// Reads the keys of a file, one per line; a `depth` of 1 is for a file that the command line
    /// names.
    fn read(&mut self, file: &str, depth: usize) -> Result<(), Error> {
        if depth > MAX_NESTED {
            return Err(Error(format!("option files nest too deeply at @{file}")));
        }
        let content = fs::read_to_string(file)
            .map_err(|error| Error(format!("cannot read option file {file}: {error}")))?;
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content);
        let lines = content.lines().map(|line| without_comment(line.trim()));
        for line in lines.filter(|line| !line.is_empty()) {
            self.pair(line, depth)?;
        }
        Ok(())
    }

    /// Reads a key with its value, or the content of a file; a `depth` of 0 is for the command
    /// line.
    fn pair(&mut self, pair: &str, depth: usize) -> Result<(), Error> {
        if let Some(file) = pair.strip_prefix('@') {
            refuse_further_key("@FILE", file, depth)?;
            return self.read(&unquote("@FILE", file)?, depth + 1);
        }
        if is_quoted_file(pair) {
            return self.read(&unquote("@FILE", pair)?[1..], depth + 1);
        }
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Error(format!("option \"{pair}\" {NO_VALUE} of {KEYS}")))?;
        let (key, value) = (key.trim(), value.trim());
        refuse_further_key(key, value, depth)?;
        let mut value = match LISTS.contains(&key) && begins_with_member(value) {
            true => value.to_owned(),
            false => unquote(key, value)?,
        };
        if LISTS.contains(&key) {
            value = unquote_members(key, &value)?;
        }
        // Whichever of the two won, some user would believe in the other.
        if let Some((_, first)) = self.given.iter().find(|(given, _)| given == key) {
            return Err(Error(format!(
                "option {key} is given twice: \"{first}\" and \"{value}\"; give it once"
            )));
        }
        self.set(key, &value)?;
        self.given.push((key.to_owned(), value));
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "mode" => match value {
                "crash" => self.enabled = true,
                "off" => self.enabled = false,
                "trace" => self.tracing = true,
                "second-chance" => self.second_chance = true,
                _ => return Err(bad(key, value, "crash, second-chance, trace, off")),
            },
            "out" => {
                if value.is_empty() {
                    return Err(bad(key, value, "a directory"));
                }
                self.out = PathBuf::from(value);
            }
            "chances" => {
                if value.is_empty() {
                    return Err(bad(key, value, "a file"));
                }
                self.chances = Some(PathBuf::from(value));
            }
            "include" => self.include = classes(key, value)?,
            "exclude" => self.exclude = classes(key, value)?,
            "copy" => self.copy = Copies::all(strategy(key, value)?),
            "copy.receiver" => self.copy_receiver = Some(strategy(key, value)?),
            "copy.arguments" => self.copy_arguments = Some(strategy(key, value)?),
            "max-writes" => self.max_writes = number(key, value)?,
            "report" => self.report = rules(value)?,
            "dump-on" => self.dump_on = signals(value)?,
            "max-objects" => self.max_objects = number(key, value)?,
            "max-bytes" => self.max_bytes = number(key, value)?,
            "max-crashes" => self.max_crashes = number(key, value)? as u64,
            "per-minute" => self.per_minute = number(key, value)? as u64,
            "cpu" => {
                self.cpu = match value {
                    "off" => None,
                    _ => Some(Share::parse(value).ok_or_else(|| {
                        bad(key, value, "off, or a share of one core like 1% or 0.5%")
                    })?),
                }
            }
            "redact" => self.redact = Redact::parse(value)?,
            "plan" => {
                if value.is_empty() {
                    return Err(bad(key, value, "a file that `hindsight plan` has made"));
                }
                self.plan = Some(PathBuf::from(value));
            }
            "version" => self.version = value.to_owned(),
            "trace-what" => self.trace.what = told(value)?,
            "overflow" => {
                self.trace.overflow = match value {
                    "wait" => Overflow::Wait,
                    "drop" => Overflow::Drop,
                    _ => return Err(bad(key, value, "wait, drop")),
                }
            }
            "max-trace" => self.trace.max_bytes = Some(size(key, value)?),
            "from" => self.trace.from = members(key, value)?,
            "until" => self.trace.until = members(key, value)?,
            "sample" => {
                let sample = sample(value)?;
                // One of each call is all of them.
                self.trace.sample =
                    Some(sample).filter(|one| one.every > 1 || !one.classes.is_empty());
            }
            _ => {
                return Err(Error(format!(
                    "unknown option \"{key}\"; the keys are {KEYS}"
                )));
            }
        }
        Ok(())
    }
}
