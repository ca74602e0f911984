//! Reports on each frame, for people and machines.
//!
//! - `hints` advises on frames that do not reproduce.
//! - `rows` decides which frames share a row.

mod hints;
mod rows;

use super::candidate::{Lapse, Plan, STILL_RUNNING, State};
use super::defaults;
use super::differences::{Difference, differences, rewritten_before, told, within_dirs, woven};
use super::write::Written;
use super::{Framework, Options, REPLAY_JAR_NAME};
use super::{locks, memory, run};
use crate::jdk::Jdk;
use crate::text::{self, count, exception, gap, heading, one_line};
use crate::trim::Sets;
use hindsight_instrument::glob::globs;
use hindsight_tracelog::reader::Crash;
use hints::hints;
use rows::Row;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The characters of an exception's message that are shown; the sources have more.
const TITLE: usize = 500;
/// The length from which on a reason is not repeated: many frames of a server end alike.
const LONG: usize = 60;

/// The result for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its test ends in the recorded exception.
    Reproduces,
    /// Its test ends in another way.
    Differs,
    /// Its test returns.
    Passes,
    /// It cannot be called.
    Unsupported,
    /// Its test does not compile.
    NotCompiled,
    /// Nothing was run.
    NotRun,
}

impl Verdict {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduces => "reproduces",
            Verdict::Differs => "differs",
            Verdict::Passes => "passes",
            Verdict::Unsupported => "unsupported",
            Verdict::NotCompiled => "not_compiled",
            Verdict::NotRun => "not_run",
        }
    }
}

/// The document `hindsight.junit/1`.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    out: String,
    framework: &'static str,
    jdk: Option<u32>,
    crashes: Vec<CrashReport>,
    /// The errors that kept other files from being among them.
    pub errors: Vec<String>,
    /// Advice about frames that do not reproduce.
    hints: Vec<String>,
    /// Whether a test needs the replay library.
    #[serde(skip)]
    library: bool,
}

#[derive(Debug, Serialize)]
struct CrashReport {
    file: String,
    exception: Option<String>,
    message: Option<String>,
    thread: String,
    version: String,
    notes: Vec<String>,
    reproduced: usize,
    frames: Vec<FrameReport>,
    class_path_differences: Vec<Difference>,
    sources: Vec<String>,
    #[serde(skip)]
    title: String,
    /// The number of threads in a dump of all threads; 0 for other recordings.
    #[serde(skip_serializing_if = "is_zero")]
    threads: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Debug, Serialize)]
struct FrameReport {
    index: usize,
    class: String,
    method: String,
    descriptor: String,
    line: Option<i32>,
    /// The index of the exception that left it, in what `inspect` calls `exceptions`: 0, or a
    /// cause.
    exception: u32,
    /// Whether it stands for frames that were not kept.
    gap: bool,
    verdict: Verdict,
    reason: String,
    /// Whether the test has reproduced each time that it was run by itself; `None` for one that
    /// does not reproduce, or was not run.
    steady: Option<bool>,
    /// `package.Class#method` of the test, if it was written.
    test: Option<String>,
    /// How the test gets its values.
    values: Option<ValuesReport>,
    /// Whether the test sets the recorded default locale and time zone.
    #[serde(skip)]
    defaults: bool,
    /// Whether the test sets the recorded system properties.
    #[serde(skip)]
    properties: bool,
    /// Whether it sets the recorded static fields and those of enum constants.
    #[serde(skip)]
    statics: bool,
    /// The line before it, if the previous frame has another exception.
    #[serde(skip)]
    heading: Option<String>,
}

/// Gathers the report.
pub fn report(
    plan: &Plan<'_>,
    written: &[Written],
    jdk: Option<&Jdk>,
    options: &Options,
) -> Report {
    let crashes = plan.inputs.iter().enumerate().map(|(crash, input)| {
        let first = input.crash.failure.exceptions.first();
        let mine = plan
            .candidates
            .iter()
            .enumerate()
            .filter(|(_, c)| c.crash == crash);
        let frames: Vec<FrameReport> = mine
            .map(|(index, _)| frame_report(plan, written, index))
            .collect();
        let sources = written
            .iter()
            .filter(|w| plan.classes[w.class].crash == crash);
        let class_path_differences = differences(&input.crash, plan.classpath);
        let mut notes = input.notes.clone();
        if !class_path_differences.is_empty() {
            notes.extend(rewritten_before(&input.crash.meta.command));
        }
        notes.extend(within_dirs(&class_path_differences, plan.classpath));
        notes.extend(woven(&input.crash, plan.classpath));
        notes.extend(jdk.and_then(|jdk| is_older(plan, &input.crash, jdk)));
        let of_all = run::bounds_of_all(plan, options);
        let bounds = memory::unsaid(&options.java_options, &input.crash).into_iter();
        notes.extend(bounds.map(|bound| {
            let elsewhere = match options.project && !of_all.contains(&bound) {
                true => "; not so by `mvn test`, for another crash has another bound: see the test's comment",
                false => "",
            };
            format!(
                "tried with {}, as it was recorded: memory ends there{elsewhere}",
                one_line(&bound, 100)
            )
        }));
        let caught = catcher(&input.crash).map(|at| &input.crash.failure.frames[at]);
        notes.extend(caught.map(|frame| {
            format!(
                "caught in {}.{}: that frame returns, and so may those that called it",
                one_line(&frame.class, 200),
                one_line(&frame.method, 100)
            )
        }));
        CrashReport {
            file: input.path.display().to_string(),
            exception: first.map(|info| info.class.clone()),
            message: first.and_then(|info| info.message.clone()),
            thread: input.crash.meta.thread.clone(),
            version: input.crash.meta.program_version.clone(),
            notes,
            reproduced: frames
                .iter()
                .filter(|f| f.verdict == Verdict::Reproduces)
                .count(),
            frames,
            class_path_differences,
            sources: sources.map(|w| w.source.display().to_string()).collect(),
            title: match input.crash.failure.threads.len() {
                0 => one_line(&first.map_or("no exception".to_owned(), exception), TITLE),
                _ => "a dump of all threads".to_owned(),
            },
            threads: input.crash.failure.threads.len(),
        }
    });
    Report {
        schema: "hindsight.junit/1",
        out: options.out.display().to_string(),
        framework: match options.framework {
            Framework::Junit5 => "junit5",
            Framework::Junit4 => "junit4",
        },
        jdk: jdk.map(|jdk| jdk.version),
        crashes: crashes.collect(),
        errors: Vec::new(),
        hints: hints(plan),
        library: written.iter().any(|written| written.library),
    }
}

/// A remark if a JDK is too old for a class that the tests of a crash need.
fn is_older(plan: &Plan<'_>, crash: &Crash, jdk: &Jdk) -> Option<String> {
    let of_objects = crash.classes.iter().map(|class| &class.name);
    let of_frames = crash.failure.frames.iter().map(|frame| &frame.class);
    let is_newer = |class: &&String| {
        let found = plan.classpath.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_some_and(|info| u32::from(info.version).saturating_sub(44) > jdk.version)
    };
    of_frames.chain(of_objects).find(is_newer).map(|class| {
        format!(
            "recorded with Java {} and tried with {}, which cannot load {}: see --jdk",
            crash.meta.java_version,
            jdk.version,
            one_line(class, 200)
        )
    })
}

/// The index of the frame that caught the exception, if it was recorded for that.
fn catcher(crash: &Crash) -> Option<usize> {
    let rule = globs(crash.meta.reason.strip_prefix("caught:")?);
    let mut frames = crash.failure.frames.iter();
    frames.position(|frame| {
        frame.exception == 0 && rule.matches(&format!("{}.{}", frame.class, frame.method))
    })
}

/// The frame of each crash, of the rule `caught:`, that has caught the exception.
pub(super) fn catchers(plan: &Plan<'_>) -> Vec<Option<usize>> {
    let inputs = plan.inputs.iter();
    inputs.map(|input| catcher(&input.crash)).collect()
}

/// Whether a frame has not let the exception out: it has caught it, or is a caller of the one that
/// did. Frames of causes come after.
pub(super) fn is_caught(crash: &Crash, catcher: Option<usize>, frame: usize) -> bool {
    crash.failure.frames[frame].exception == 0 && catcher.is_some_and(|at| frame >= at)
}

fn frame_report(plan: &Plan<'_>, written: &[Written], index: usize) -> FrameReport {
    let candidate = &plan.candidates[index];
    let frame = plan.frame(candidate);
    let (verdict, mut reason) = match &candidate.state {
        State::Done(verdict, reason) => (*verdict, reason.clone()),
        State::Pending => (Verdict::NotRun, "not run, as asked for".to_owned()),
    };
    let lapse = candidate.lapse.filter(|_| verdict == Verdict::Reproduces);
    reason.push_str(lapse.map_or("", Lapse::remark));
    let defaults = candidate.defaults && verdict == Verdict::Reproduces;
    if defaults {
        let set = defaults::told(&defaults::others(plan, candidate.crash));
        reason.push_str(&format!("; with the recorded defaults: {set}"));
    }
    if verdict == Verdict::Reproduces {
        reason.push_str(&locks::remark(frame, candidate.held));
    }
    let kept = written
        .iter()
        .any(|written| written.candidates.contains(&index));
    FrameReport {
        index: candidate.frame,
        class: frame.class.clone(),
        method: frame.method.clone(),
        descriptor: frame.descriptor.clone(),
        line: frame.line.filter(|&line| line >= 0),
        exception: frame.exception,
        gap: gap(frame).is_some(),
        defaults,
        properties: candidate.properties && verdict == Verdict::Reproduces,
        statics: candidate.statics && verdict == Verdict::Reproduces,
        heading: heading(&plan.inputs[candidate.crash].crash.failure, frame.exception),
        verdict,
        reason,
        steady: (verdict == Verdict::Reproduces).then_some(lapse != Some(Lapse::Unsteady)),
        values: kept.then_some(ValuesReport {
            literals: candidate.needs.literals,
            built: candidate.needs.built,
            loaded: candidate.needs.loaded,
            objects: candidate.needs.objects,
            state: candidate.needs.state,
            library: candidate.needs.library,
        }),
        test: kept.then(|| {
            format!(
                "{}#{}",
                plan.classes[candidate.class].full_name(),
                candidate.name
            )
        }),
    }
}

/// How a test gets the values with which it calls its method.
#[derive(Debug, Serialize)]
struct ValuesReport {
    /// The number of arguments, including the receiver, that are a literal or constant.
    literals: usize,
    /// The number of arguments that are built by calls.
    built: usize,
    /// The number of arguments that are loaded from the crash file.
    loaded: usize,
    /// The number of objects that are built for the arguments.
    objects: usize,
    /// Whether the test needs the crash file.
    state: bool,
    /// Whether it needs the replay library.
    library: bool,
}

impl Report {
    /// Whether the expected result exists: each crash has a test that reproduces it, or nothing was
    /// to be run.
    pub fn is_success(&self) -> bool {
        let mut crashes = self.crashes.iter();
        // In a dump of all threads nothing has failed.
        crashes.all(|crash| crash.reproduced > 0 || crash.threads > 0 || crash.is_untried())
    }

    /// The number of tests that were written, and how many of them need the crash file.
    fn state(&self) -> (usize, usize) {
        let frames = self.crashes.iter().flat_map(|crash| &crash.frames);
        let values: Vec<&ValuesReport> = frames.filter_map(|frame| frame.values.as_ref()).collect();
        let state = values.iter().filter(|values| values.state).count();
        (values.len(), state)
    }

    /// The frames of a crash that reproduce.
    pub fn reproduced(&self, crash: usize) -> Vec<usize> {
        let frames = self
            .crashes
            .get(crash)
            .map_or(&[][..], |crash| &crash.frames);
        let good = frames
            .iter()
            .filter(|frame| frame.verdict == Verdict::Reproduces);
        good.map(|frame| frame.index).collect()
    }

    /// The result for a frame of a crash, and the reason.
    pub fn verdict(&self, crash: usize, frame: usize) -> (Verdict, &str) {
        let frames = self
            .crashes
            .get(crash)
            .map_or(&[][..], |crash| &crash.frames);
        let found = frames.iter().find(|found| found.index == frame);
        found.map_or((Verdict::Unsupported, ""), |found| {
            (found.verdict, &found.reason)
        })
    }

    /// The settings of these frames' tests.
    pub fn sets(&self, crash: usize, frames: &[usize]) -> Sets {
        let all = self
            .crashes
            .get(crash)
            .map_or(&[][..], |crash| &crash.frames);
        let mut chosen = all.iter().filter(|frame| frames.contains(&frame.index));
        Sets {
            defaults: chosen.clone().any(|frame| frame.defaults),
            properties: chosen.clone().any(|frame| frame.properties),
            statics: chosen.any(|frame| frame.statics),
        }
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes the report for people.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written.
    pub fn write_text(&self, options: &Options, out: &mut dyn Write) -> io::Result<()> {
        for crash in &self.crashes {
            crash.write_text(out)?;
            writeln!(out)?;
        }
        let sources: Vec<&String> = self
            .crashes
            .iter()
            .flat_map(|crash| &crash.sources)
            .collect();
        self.write_sources(options, &sources, out)?;
        for hint in &self.hints {
            writeln!(out, "\n{hint}")?;
        }
        Ok(())
    }

    fn write_sources(
        &self,
        options: &Options,
        sources: &[&String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if sources.is_empty() {
            return writeln!(out, "Nothing was written.");
        }
        writeln!(out, "Written:")?;
        for source in sources {
            writeln!(out, "  {}", one_line(source, usize::MAX))?;
        }
        let dir = text::path(&options.out);
        let (tests, state) = self.state();
        let library = self.library;
        if library {
            writeln!(out, "  {dir}/lib/{REPLAY_JAR_NAME}, which tests need")?;
        }
        if state < tests {
            let built = tests - state;
            writeln!(
                out,
                "{built} of {} need{} no stored state.",
                count(tests, "test"),
                if built == 1 { "s" } else { "" }
            )?;
        }
        if options.project {
            writeln!(
                out,
                "Run them: mvn -q -f {} test (see {dir}/README.md)",
                quoted(&format!("{dir}/pom.xml"))
            )
        } else {
            let mut path = vec!["the program".to_owned()];
            path.extend(library.then(|| "that library".to_owned()));
            path.extend((state > 0).then(|| format!("{dir}/src/test/resources")));
            writeln!(
                out,
                "Run them with JUnit and, on the class path, {} (--project makes a Maven project).",
                path.join(" and ")
            )
        }
    }
}

impl CrashReport {
    /// Whether nothing was to be run.
    fn is_untried(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|frame| frame.verdict == Verdict::NotRun)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", one_line(&self.file, usize::MAX), self.title)?;
        for note in &self.notes {
            writeln!(out, "  ! {note}")?;
        }
        let frames = self.frames.iter().map(|frame| frame.class.as_str());
        for difference in told(&self.class_path_differences, &frames.collect()) {
            writeln!(out, "  ! {difference}")?;
        }
        if self.threads > 0 {
            return writeln!(
                out,
                "  {} of {}: {STILL_RUNNING}\n  hindsight inspect shows them",
                count(self.frames.len(), "frame"),
                count(self.threads, "thread"),
            );
        }
        let rows = self.rows();
        let longest = |cell: fn(&Row<'_>) -> usize| rows.iter().map(cell).max().unwrap_or(0);
        let number_width = longest(|row| row.number.len()).max(4);
        let width = longest(|row| row.place.chars().count()).min(60);
        let mut exception = 0;
        let mut reasons = BTreeMap::new();
        for row in &rows {
            let Row { number, place, .. } = row;
            let frame = row.frame;
            let is_long = frame.reason.chars().count() > LONG;
            let before = *reasons
                .entry((frame.verdict.name(), frame.reason.as_str()))
                .or_insert(frame.index);
            if frame.exception != exception {
                exception = frame.exception;
                if let Some(heading) = &frame.heading {
                    writeln!(out, "  {heading}")?;
                }
            }
            let verdict = frame.verdict.name();
            writeln!(
                out,
                "  {number:<number_width$} {place:<width$}  {verdict:<12}  {}",
                match before == frame.index || frame.test.is_some() || !is_long {
                    true => frame.tell(),
                    false => format!("as #{before}"),
                }
            )?;
            if let Some(last) = row.same {
                let first = frame.index + 1;
                let range = match last == first {
                    true => String::new(),
                    false => format!(" to #{last}"),
                };
                writeln!(out, "  {:number_width$} the same for #{first}{range}", "")?;
            }
        }
        let tests = self
            .frames
            .iter()
            .filter(|frame| frame.test.is_some())
            .count();
        let frames = self.frames.iter().filter(|frame| !frame.gap).count();
        let frames = count(frames, "frame");
        let tests = count(tests, "test");
        if self.is_untried() {
            return writeln!(out, "  {tests} of {frames} written, none was run");
        }
        writeln!(
            out,
            "  {} of {frames} reproduce; {tests} written",
            self.reproduced
        )
    }
}

/// A path in a form for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}
