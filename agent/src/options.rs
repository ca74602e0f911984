//! The text behind `-agentpath:...=`.

use crate::copies::{Copies, Strategy};
use crate::share::Share;
use hindsight_instrument::What;
use hindsight_instrument::glob::Globs;
use std::fmt;
use std::path::PathBuf;
use std::{fs, str};

/// The signals of `dump-on`, but for `QUIT`, which the JVM passes on.
pub(crate) const SIGNALS: &[&str] = &["USR1", "URG", "WINCH"];

/// What the agent was asked to do.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) enabled: bool,
    /// Whether whole runs are recorded, not crashes.
    pub(crate) tracing: bool,
    pub(crate) trace: Trace,
    /// Whether methods get probes only once a failure has passed through them.
    pub(crate) second_chance: bool,
    /// The file that lists these methods, if not `chances` in [`Options::out`].
    pub(crate) chances: Option<PathBuf>,
    /// Directory for recordings, `%p` already replaced.
    pub(crate) out: PathBuf,
    pub(crate) include: Globs,
    pub(crate) exclude: Globs,
    pub(crate) copy: Copies,
    copy_receiver: Option<Strategy>,
    copy_arguments: Option<Strategy>,
    /// Writes of one thread that can be undone.
    pub(crate) max_writes: usize,
    /// The file of `hindsight plan`.
    pub(crate) plan: Option<PathBuf>,
    pub(crate) report: Rules,
    /// Signals on which all threads are recorded, without `SIG`.
    pub(crate) dump_on: Vec<String>,
    pub(crate) max_objects: usize,
    /// Bytes.
    pub(crate) max_bytes: usize,
    pub(crate) max_crashes: u64,
    pub(crate) per_minute: u64,
    /// Of CPU time, for recording.
    pub(crate) cpu: Option<Share>,
    /// Names of fields and parameters.
    pub(crate) redact: Vec<String>,
    /// Classes whose objects are not stored.
    pub(crate) redact_types: Globs,
    /// Simple names of annotations on what is not stored.
    pub(crate) redact_annotations: Vec<String>,
    pub(crate) version: String,
    /// The keys as they were given, for `run.json`.
    pub(crate) given: Vec<(String, String)>,
}

/// How a whole run is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) what: What,
    pub(crate) overflow: Overflow,
    /// Bytes of all segments together.
    pub(crate) max_bytes: Option<u64>,
    /// Methods `class.method` with whose calls the recording begins and ends.
    pub(crate) from: Globs,
    pub(crate) until: Globs,
    pub(crate) sample: Option<Sample>,
}

/// Which of the outermost calls are recorded, with all that happens in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// One of so many.
    pub(crate) every: u32,
    /// Classes whose methods' calls count as outermost ones, whatever has called
    /// them; if there are none, all calls that no recorded method makes.
    pub(crate) classes: Globs,
}

impl Trace {
    /// Whether not the whole run is recorded.
    pub(crate) fn is_partial(&self) -> bool {
        !self.from.is_empty() || !self.until.is_empty() || self.sample.is_some()
    }
}

/// What to do when the disk does not keep up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Threads wait.
    Wait,
    /// Events are lost, and counted.
    Drop,
}

/// Which exceptions are failures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) uncaught: bool,
    /// Methods `class.method` that an exception leaves.
    pub(crate) escape: Globs,
    /// Methods `class.method` that catch an exception.
    pub(crate) caught: Globs,
    /// Exception classes; empty for all.
    pub(crate) exception: Globs,
}

impl Rules {
    /// Whether they name methods.
    pub(crate) fn names_methods(&self) -> bool {
        !self.escape.is_empty() || !self.caught.is_empty()
    }
}

/// A key or value that is not understood. One line, made for stderr.
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

const QUOTES: [char; 2] = ['"', '\''];

/// What some editors put in front of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// How deep option files may name further ones.
const MAX_NESTED: usize = 8;

/// Keys that are about traces.
const OF_TRACES: &[&str] = &[
    "trace-what",
    "overflow",
    "max-trace",
    "from",
    "until",
    "sample",
];
/// Keys that are about crashes.
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

/// Names of fields and parameters whose text is never stored: as a whole word
/// or part of a compound, compared in lower case without underscores and hyphens. A
/// bare `token` is not among them: in a parser that is what the crash is about.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "sessiontoken",
    "bearertoken",
    "idtoken",
    "apitoken",
    "csrftoken",
    "credential",
    "authorization",
    "cookie",
    "sessionid",
    "cvv",
    "creditcard",
    "cardnumber",
    "ssn",
    "pincode",
    "passcode",
    "socialsecurity",
    "connectionstring",
    "otp",
    "pin",
    "jwt",
    "iban",
    "bearer",
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
            redact: Vec::new(),
            redact_types: Globs::default(),
            redact_annotations: Vec::new(),
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
        // Whatever the order they are given in.
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

    /// Takes the keys of one line.
    fn take(&mut self, text: &str) -> Result<(), Error> {
        for part in split(text, ',')? {
            if !part.is_empty() {
                self.pair(&part, 0)?;
            }
        }
        Ok(())
    }

    /// Takes those of a file, one a line; `depth` of 1 is for one that the command line names.
    fn read(&mut self, file: &str, depth: usize) -> Result<(), Error> {
        if depth > MAX_NESTED {
            return Err(Error(format!("option files nest too deeply at @{file}")));
        }
        let content = fs::read_to_string(file)
            .map_err(|error| Error(format!("cannot read option file {file}: {error}")))?;
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content);
        for line in content.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                self.pair(line, depth)?;
            }
        }
        Ok(())
    }

    /// Takes a key with its value, or what a file has; a `depth` of 0 is for the command line.
    fn pair(&mut self, pair: &str, depth: usize) -> Result<(), Error> {
        if let Some(file) = pair.strip_prefix('@') {
            refuse_further_key("@FILE", file, depth)?;
            return self.read(&unquote("@FILE", file)?, depth + 1);
        }
        // With the quotes around it all, as one would write it for a shell.
        if quoted(pair).is_some_and(|(_, text, _)| text.starts_with('@')) {
            return self.read(&unquote("@FILE", pair)?[1..], depth + 1);
        }
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Error(format!(
                "option \"{pair}\" has no value; write KEY=VALUE with a key of {KEYS}"
            ))
        })?;
        let (key, value) = (key.trim(), value.trim());
        refuse_further_key(key, value, depth)?;
        let value = unquote(key, value)?;
        // Whichever of the two would win, somebody believes in the other.
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
            "redact" => self.redact(value)?,
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
                // Each one of all is everything.
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

    fn redact(&mut self, value: &str) -> Result<(), Error> {
        const ACCEPTED: &str = "globs of names, type:GLOB, annotation:SIMPLENAME, separated by ;";
        if list(value).next().is_none() {
            return Err(bad("redact", value, ACCEPTED));
        }
        let mut types = Vec::new();
        for entry in list(value) {
            match entry.split_once(':') {
                None => self.redact.push(entry.to_owned()),
                Some(("type", glob)) if !glob.is_empty() => types.push(glob),
                Some(("annotation", name)) => {
                    // As it is written in source, or with its package.
                    let simple = name.trim_start_matches('@').rsplit(['.', '$']).next();
                    match simple {
                        Some(simple) if !simple.is_empty() && !simple.contains(['*', '?']) => {
                            self.redact_annotations.push(simple.to_owned());
                        }
                        _ => return Err(bad("redact", entry, ACCEPTED)),
                    }
                }
                Some(_) => return Err(bad("redact", entry, ACCEPTED)),
            }
        }
        self.redact_types = Globs::new(types);
        Ok(())
    }

    /// Whether the value of a field or parameter of this name must not be stored.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        let plain: String = name
            .chars()
            .filter(|c| !matches!(c, '_' | '-' | '$'))
            .flat_map(char::to_lowercase)
            .collect();
        // Keys of large maps are asked about, too: mostly there is no such word, wherever one begins.
        let words_with = |word: &str| match plain.contains(word) {
            true => words(name),
            false => Vec::new(),
        };
        let has_word = |word: &str| words_with(word).iter().any(|known| known == word);
        let ends_with = |word: &str| words_with(word).last().is_some_and(|last| last == word);
        SECRETS.iter().any(|secret| match *secret {
            // Short words would be found inside harmless ones,
            "ssn" | "otp" | "cvv" | "pwd" | "jwt" | "iban" => plain == *secret || has_word(secret),
            // and these are parts of harmless names (`pinMode`), too.
            "pin" | "bearer" => plain == *secret || ends_with(secret),
            _ => plain.contains(secret),
        }) || self.redacts(name)
    }

    /// The same of a field with this descriptor: whether a password has expired is none, unless an option says so.
    pub(crate) fn is_secret_field(&self, name: &str, descriptor: &str) -> bool {
        match descriptor {
            "Z" => self.redacts(name),
            _ => self.is_secret(name),
        }
    }

    /// Whether an option says that it is secret.
    fn redacts(&self, name: &str) -> bool {
        (self.redact.iter()).any(|pattern| Globs::new([pattern.as_str()]).matches(name))
    }
}

/// The words of a name in lower case: `userPWD`, `SMTP_pwd`, `db-pwd`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let next_is_small = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let before = at.checked_sub(1).map(|before| letters[before]);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || next_is_small);
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            last.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn rules(value: &str) -> Result<Rules, Error> {
    const ACCEPTED: &str =
        "uncaught, escape:GLOB, caught:GLOB (of CLASS.METHOD), exception:GLOB, separated by ;";
    let mut rules = Rules::default();
    let (mut escape, mut caught, mut exception) = (vec![], vec![], vec![]);
    // One with neither a dot nor a wildcard can be no method's.
    let is_method = |glob: &str| glob.contains(['.', '*']);
    for rule in list(value) {
        match rule.split_once(':') {
            None if rule == "uncaught" => rules.uncaught = true,
            Some(("escape", glob)) if is_method(glob) => escape.push(glob),
            Some(("caught", glob)) if is_method(glob) => caught.push(glob),
            Some(("exception", glob)) if !glob.is_empty() => exception.push(glob),
            _ => return Err(bad("report", rule, ACCEPTED)),
        }
    }
    if !rules.uncaught && escape.is_empty() && caught.is_empty() {
        if exception.is_empty() {
            return Err(bad("report", value, ACCEPTED));
        }
        // Only narrowed, so the default stands.
        rules.uncaught = true;
    }
    rules.escape = Globs::new(escape);
    rules.caught = Globs::new(caught);
    rules.exception = Globs::new(exception);
    Ok(rules)
}

/// Names of signals, with or without `SIG`.
fn signals(value: &str) -> Result<Vec<String>, Error> {
    let accepted = format!("QUIT, {}, separated by ;", SIGNALS.join(", "));
    let read = |name: &str| {
        let plain = name.strip_prefix("SIG").unwrap_or(name);
        let known = plain == "QUIT" || SIGNALS.contains(&plain);
        known
            .then(|| plain.to_owned())
            .ok_or_else(|| bad("dump-on", name, &accepted))
    };
    let signals: Vec<String> = list(value).map(read).collect::<Result<_, _>>()?;
    if signals.is_empty() {
        return Err(bad("dump-on", value, &accepted));
    }
    Ok(signals)
}

fn told(value: &str) -> Result<What, Error> {
    What::parse(value).map_err(|part| bad("trace-what", part, What::ACCEPTED))
}

/// Globs of classes. An empty list is a mistake: all or none could be meant.
fn classes(key: &str, value: &str) -> Result<Globs, Error> {
    if list(value).next().is_none() {
        return Err(bad(key, value, "globs of class names, separated by ;"));
    }
    Ok(globs(value))
}

/// Globs of methods, with their classes.
fn members(key: &str, value: &str) -> Result<Globs, Error> {
    const ACCEPTED: &str = "globs of methods, CLASS.METHOD, separated by ;";
    if list(value).next().is_none() {
        return Err(bad(key, value, ACCEPTED));
    }
    if let Some(part) = list(value).find(|part| !part.contains('.')) {
        return Err(bad(key, part, ACCEPTED));
    }
    Ok(globs(value))
}

/// `N`, `CLASSES` or `CLASSES/N`
fn sample(value: &str) -> Result<Sample, Error> {
    const ACCEPTED: &str = "N, CLASSES or CLASSES/N: globs of classes or their methods separated by ;, and N from 1 on";
    let bad = || bad("sample", value, ACCEPTED);
    let number = |text: &str| {
        text.parse()
            .ok()
            .filter(|number| (1..1 << 31).contains(number))
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // A share, or a number that is none to go by: no class is called so.
    let share = |text: &str| {
        let number = text.strip_suffix('%').unwrap_or(text);
        !text.starts_with(char::is_alphabetic) && number.parse::<f64>().is_ok()
    };
    if !is_number(value) && list(value).any(share) {
        return Err(bad());
    }
    let (classes, every) = match value.rsplit_once('/') {
        Some((classes, every)) => (classes, number(every.trim()).ok_or_else(bad)?),
        None if is_number(value) => ("", number(value).ok_or_else(bad)?),
        None => (value, 1),
    };
    if list(classes).next().is_none() && (value.contains('/') || value.trim().is_empty()) {
        return Err(bad());
    }
    Ok(Sample {
        every,
        classes: globs(classes),
    })
}

fn strategy(key: &str, value: &str) -> Result<Strategy, Error> {
    const ACCEPTED: &str = "reference, fields, depth:N with N from 1 on, deep";
    Strategy::parse(value).ok_or_else(|| bad(key, value, ACCEPTED))
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn globs(value: &str) -> Globs {
    Globs::new(list(value))
}

/// Bytes on disk: at least one megabyte.
fn size(key: &str, value: &str) -> Result<u64, Error> {
    let (digits, shift) = match value.char_indices().last() {
        Some((at, 'k' | 'K')) => (&value[..at], 10),
        Some((at, 'm' | 'M')) => (&value[..at], 20),
        Some((at, 'g' | 'G')) => (&value[..at], 30),
        Some((at, 't' | 'T')) => (&value[..at], 40),
        _ => (value, 0),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|number| (1 << 20..1 << 50).contains(number))
        .ok_or_else(|| bad(key, value, "a size from 1M to 1024T, like 500M or 20G"))
}

/// A count or size: digits with an optional `k`, `M` or `G` (powers of 1024).
fn number(key: &str, value: &str) -> Result<usize, Error> {
    let (digits, shift) = match value.char_indices().last() {
        Some((at, 'k' | 'K')) => (&value[..at], 10),
        Some((at, 'm' | 'M')) => (&value[..at], 20),
        Some((at, 'g' | 'G')) => (&value[..at], 30),
        _ => (value, 0),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|number| *number > 0 && u32::try_from(*number).is_ok())
        .ok_or_else(|| bad(key, value, "a number from 1 to 4G, like 100000 or 64M"))
}

#[cold]
fn bad(key: &str, value: &str, accepted: &str) -> Error {
    Error(format!(
        "bad value \"{value}\" for option {key}; accepted: {accepted}"
    ))
}

/// The value of a key without the quotes around it.
fn unquote(key: &str, value: &str) -> Result<String, Error> {
    match quoted(value) {
        None => Ok(value.to_owned()),
        Some((_, _, None)) => Err(Error(format!(
            "the quote of {key} is never closed: {value}"
        ))),
        Some((_, text, Some(""))) => Ok(text.to_owned()),
        Some((quote, text, Some(rest))) => Err(Error(format!(
            "there is text behind the closing quote of {key}, \"{rest}\"; \
             write {quote}{text}{quote} without it, or the quotes around it all"
        ))),
    }
}

/// Of a value that begins with a quote: the quote, what is behind it, and what is behind the closing one, if
/// there is one.
fn quoted(value: &str) -> Option<(char, &str, Option<&str>)> {
    let quote = value.chars().next().filter(|c| QUOTES.contains(c))?;
    let behind = &value[1..];
    Some(match behind.split_once(quote) {
        Some((text, rest)) => (quote, text, Some(rest)),
        None => (quote, behind, None),
    })
}

/// Refuses a value that has `,KEY=` or `;KEY=` in it, outside of quotes: it is meant as a key, of a command
/// line that was pasted into a file, or between wrong separators. Taken as part of a name it would go
/// unnoticed.
fn refuse_further_key(key: &str, value: &str, depth: usize) -> Result<(), Error> {
    let open = match quoted(value) {
        Some((_, _, rest)) => rest.unwrap_or_default(),
        None => value,
    };
    let key_at = |at: usize| {
        let (name, _) = open[at + 1..].split_once('=')?;
        KEYS.split(", ").find(|known| *known == name.trim())
    };
    let Some((separator, further)) = open
        .match_indices([',', ';'])
        .find_map(|(at, separator)| Some((separator, key_at(at)?)))
    else {
        return Ok(());
    };
    let instead = match depth {
        0 => "put a comma between keys",
        _ => "give each key a line of its own",
    };
    Err(Error(format!(
        "the value of {key} has \"{separator}{further}=\" in it: {instead}, or quote the value if it is meant so: {value}"
    )))
}

/// Splits at a separator that is not inside quotes.
fn split(text: &str, separator: char) -> Result<Vec<String>, Error> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if QUOTES.contains(&c) => quote = Some(c),
            None if c == separator => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("never empty").push(c);
    }
    match quote {
        Some(open) => Err(Error(format!(
            "the quote {open} is never closed in the options \"{text}\""
        ))),
        None => Ok(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_have_keys_of_their_own() {
        let options =
            Options::parse("mode=trace,trace-what=\"calls,reads\",overflow=drop,max-trace=2G");
        let options = options.unwrap();
        let told = What {
            calls: true,
            reads: true,
            ..What::default()
        };
        assert!(options.enabled && options.tracing);
        assert_eq!(options.trace.what, told);
        assert_eq!(options.trace.overflow, Overflow::Drop);
        assert_eq!(options.trace.max_bytes, Some(2 << 30));
        for (text, part) in [
            (
                "trace-what=calls",
                "option trace-what is for mode=trace only",
            ),
            (
                "mode=trace,copy=fields",
                "option copy is for mode=crash and mode=second-chance only",
            ),
            (
                "mode=trace,trace-what=all",
                "accepted: calls, writes, values, reads",
            ),
            ("mode=trace,trace-what=values", "bad value \"values\""),
            ("mode=trace,trace-what=calls;write", "bad value \"write\""),
            ("mode=trace,max-trace=5k", "a size from 1M to 1024T"),
            ("mode=trace,overflow=stop", "accepted: wait, drop"),
            ("mode=trace,from=run", "bad value \"run\" for option from"),
            ("mode=trace,until=", "globs of methods, CLASS.METHOD"),
            ("mode=trace,sample=10%", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=0.5", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=-1", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=/7", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=0", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=a.B/0", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=", "N, CLASSES or CLASSES/N"),
            ("mode=trace,sample=4294967296", "N, CLASSES or CLASSES/N"),
            (
                "mode=trace,trace-what=writes,sample=3",
                "trace-what must have calls",
            ),
            ("sample=3", "option sample is for mode=trace only"),
        ] {
            let error = Options::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_part_of_a_run_can_be_asked_for() {
        let parse = |text: &str| Options::parse(text).unwrap().trace;
        assert!(!parse("mode=trace,redact=pin").is_partial());
        let trace = parse("mode=trace,from=a.B.c;a.B.d,until=**.stop,sample=a.Handler;b.*/100");
        assert!(trace.from.matches("a.B.d") && trace.until.matches("x.y.Z.stop"));
        let sample = trace.sample.unwrap();
        assert_eq!(sample.every, 100);
        assert!(sample.classes.matches("a.Handler") && sample.classes.matches("b.C"));
        assert!(parse("mode=trace,sample=1").sample.is_none());
        let sample = parse("mode=trace,sample=7").sample.unwrap();
        assert!(sample.every == 7 && sample.classes.is_empty());
        let sample = parse("mode=trace,sample=a.B").sample.unwrap();
        assert!(sample.every == 1 && sample.classes.matches("a.B"));
    }

    #[test]
    fn all_keys_are_understood() {
        let options = Options::parse(
            "mode=crash,out=a-%p,include=x.**;y.*,exclude=x.z.**,copy=reference,\
             report=\"uncaught;escape:a.B.c;caught:**.d;exception:java.io.*\",max-objects=5,max-bytes=2M,\
             max-crashes=3,per-minute=4,redact=foo*;bar,version='1,2'",
        )
        .unwrap();
        assert_eq!(
            options.out,
            PathBuf::from(format!("a-{}", std::process::id()))
        );
        assert_eq!(options.copy, Copies::all(Strategy::Reference));
        assert!(options.include.matches("y.K") && !options.include.matches("y.z.K"));
        assert!(options.report.escape.matches("a.B.c"));
        assert!(options.report.caught.matches("p.q.d"));
        assert!(options.report.exception.matches("java.io.IOException"));
        assert_eq!((options.max_objects, options.max_bytes), (5, 2 << 20));
        assert_eq!(options.version, "1,2");
        assert!(!options.is_secret_field("passwordExpired", "Z"));
        assert!(options.is_secret_field("password", "J") && options.is_secret_field("fooBar", "Z"));
        assert!(
            options.is_secret("fooBar")
                && options.is_secret("user_Password")
                && options.is_secret("api-key")
                && options.is_secret("userPwd")
                && options.is_secret("SMTP_PWD")
                && options.is_secret("db-pwd")
                && options.is_secret("JWTToken")
                && options.is_secret("cardPin")
                && !options.is_secret("pinMode")
                && !options.is_secret("cotPosition")
                && !options.is_secret("opinion")
                && !options.is_secret("name")
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("colour=red", "unknown option \"colour\"; the keys are mode"),
            (
                "copy=all",
                "bad value \"all\" for option copy; accepted: reference, fields",
            ),
            (
                "copy=depth:0",
                "bad value \"depth:0\" for option copy; accepted: reference, fields, depth:N",
            ),
            (
                "copy.receiver=deeper",
                "bad value \"deeper\" for option copy.receiver",
            ),
            (
                "max-writes=none",
                "bad value \"none\" for option max-writes",
            ),
            ("max-bytes=lots", "bad value \"lots\" for option max-bytes"),
            ("max-objects=0", "bad value \"0\""),
            (
                "redact=a;annotation:*",
                "bad value \"annotation:*\" for option redact; accepted: globs of names, type:GLOB",
            ),
            (
                "include=",
                "bad value \"\" for option include; accepted: globs of class names",
            ),
            ("exclude=;", "bad value \";\" for option exclude"),
            ("redact=", "bad value \"\" for option redact"),
            ("redact=kind:x", "bad value \"kind:x\" for option redact"),
            (
                "dump-on=USR2",
                "bad value \"USR2\" for option dump-on; accepted: QUIT, USR1",
            ),
            (
                "cpu=1",
                "bad value \"1\" for option cpu; accepted: off, or a share of one core like 1%",
            ),
            ("max-objects=99999999999999999999", "bad value"),
            ("report=everything", "accepted: uncaught, escape:GLOB"),
            (
                "report=caught:Server",
                "bad value \"caught:Server\" for option report; accepted: uncaught, escape:GLOB, caught:GLOB (of CLASS.METHOD)",
            ),
            ("verbose", "has no value"),
            (
                "out=a,copy=fields,out=b",
                "option out is given twice: \"a\" and \"b\"",
            ),
            ("version=\"1", "never closed"),
            (
                "version=\"1\"x",
                "text behind the closing quote of version, \"x\"; write \"1\" without it",
            ),
            (
                "out=o;mode=trace",
                "the value of out has \";mode=\" in it: put a comma between keys, or quote the value",
            ),
            ("out=o; max-trace = 5M", "has \";max-trace=\" in it"),
            ("out='o';mode=trace", "has \";mode=\" in it"),
            ("include=a.**;exclude=a.b.**", "has \";exclude=\" in it"),
            ("@a;mode=trace", "the value of @FILE has \";mode=\" in it"),
            (
                "max-writes=1k",
                "option max-writes is for copy=deep and copy=depth:N only",
            ),
            ("copy=fields,max-writes=1k", "option max-writes is for"),
            (
                "@/nonexistent/file",
                "cannot read option file /nonexistent/file",
            ),
        ] {
            let error = Options::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn a_log_of_writes_has_a_size() {
        for text in [
            "max-writes=1k,copy=deep",
            "copy=depth:2,max-writes=1k",
            "copy.receiver=deep,max-writes=1k",
        ] {
            assert_eq!(Options::parse(text).unwrap().max_writes, 1 << 10, "{text}");
        }
    }

    /// An option file of this name and content.
    fn option_file(name: &str, content: &str) -> String {
        let directory =
            std::env::temp_dir().join(format!("hindsight-options-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn any_name_of_a_file_can_be_quoted() {
        let inner = option_file("in, ner", "per-minute=7\n");
        let content = format!("\u{feff}version=1,2\r\n# no key\n@{inner}\n");
        let file = option_file("d e,f", &content);
        for text in [format!("@\"{file}\""), format!("\"@{file}\",out=o")] {
            let options = Options::parse(&text).unwrap();
            assert_eq!((options.version.as_str(), options.per_minute), ("1,2", 7));
        }
        let error = Options::parse(&format!("@\"{file}\"x")).unwrap_err();
        assert!(error.to_string().contains("behind the closing quote"));
        fs::remove_file(inner).unwrap();
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn keys_in_one_line_of_a_file_are_no_part_of_a_name() {
        let parse = |name, line| {
            let file = option_file(name, line);
            let options = Options::parse(&format!("@{file}"));
            fs::remove_file(file).unwrap();
            options
        };
        let error = parse("pasted", "out=o,mode=trace").unwrap_err().to_string();
        let told = "the value of out has \",mode=\" in it: give each key a line of its own, or quote the value";
        assert!(error.contains(told), "{error}");
        let error = parse("unclosed", "out=\"o").unwrap_err().to_string();
        assert!(
            error.contains("the quote of out is never closed"),
            "{error}"
        );
        let meant = parse("meant", "out=\"o,mode=trace\"").unwrap();
        assert_eq!((meant.tracing, meant.out), (false, "o,mode=trace".into()));
        let meant = Options::parse("out='o;mode=trace'").unwrap();
        assert_eq!(meant.out, PathBuf::from("o;mode=trace"));
        let other = parse("other", "out=o,b=c;d").unwrap();
        assert_eq!(other.out, PathBuf::from("o,b=c;d"));
    }

    #[test]
    fn receiver_and_arguments_may_differ() {
        for text in [
            "copy=deep,copy.receiver=depth:2",
            "copy.receiver=depth:2,copy=deep",
        ] {
            let copy = Options::parse(text).unwrap().copy;
            assert_eq!(
                (copy.receiver, copy.arguments),
                (Strategy::Depth(2), Strategy::Deep)
            );
            assert_eq!(copy.to_string(), "receiver depth:2, arguments deep");
        }
    }

    #[test]
    fn an_empty_text_means_defaults() {
        let options = Options::parse("").unwrap();
        assert!(options.enabled && options.report.uncaught);
        assert_eq!(options.max_bytes, 64 << 20);
    }
}
