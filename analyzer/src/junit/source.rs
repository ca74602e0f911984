//! One test class as a source file.

use super::build::values_method;
use super::call::{self, Body, REPLAY};
use super::candidate::{Needs, Plan, State};
use super::report::Verdict;
use super::run::{self, Assertions};
use super::unreported::{failing_alone, indented};
use super::verdict::{NOT_RESTORED, STANDS_IN};
use super::{Framework, Options, caught};
use crate::java::lines::within;
use crate::java::names::Names;
use crate::java::{comment, literal};
use crate::text::{exception, frame, role, stack, utc};
use hindsight_tracelog::crash::{ASKED_FOR, ExceptionInfo, STATE_RECORDED};
use hindsight_tracelog::reader::Crash;
use std::ops::Range;

/// The number of elements of the stack trace that the header shows.
const STACK: usize = 20;

/// The first line of every source file.
pub const FIRST_LINE: &str = "// Reproduces a recorded crash:\n";

/// A source file and the places of its tests.
#[derive(Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The candidates, with the lines (from 1) of their tests.
    pub lines: Vec<(usize, Range<usize>)>,
    /// The candidates whose level cannot express them, so that they are not in the text.
    pub failed: Vec<usize>,
    /// The candidates in the text, with whether an object of theirs is built, and what they need.
    pub made: Vec<(usize, bool, Needs)>,
}

/// Writes the class number `class` with the tests of `candidates`; with `checks`, also methods that
/// return the values that they build. `owners` are the result of
/// [`owners_kept`](call::statics::owners_kept).
pub fn source(
    plan: &Plan<'_>,
    class: usize,
    candidates: &[usize],
    owners: &[&str],
    options: &Options,
    checks: bool,
) -> Source {
    let framework = options.framework;
    let test_class = &plan.classes[class];
    let mut taken = test_class.siblings.clone();
    taken.insert(test_class.name.clone());
    let mut names = Names::new(&test_class.package, &taken);
    let test = match framework {
        Framework::Junit5 => names.write("org.junit.jupiter.api", "Test"),
        Framework::Junit4 => names.write("org.junit", "Test"),
    };

    let mut failed = Vec::new();
    let mut made = Vec::new();
    let mut tests: Vec<(usize, String)> = Vec::new();
    for &index in candidates {
        let candidate = &plan.candidates[index];
        match caught(|| call::body(plan, candidate, test_class, &mut names, owners)) {
            Some(body) => {
                let mut needs = body.needs;
                needs.library |= is_asked_for(plan, index);
                made.push((index, body.simplified, needs));
                // While it is compiled, javac must report its warnings.
                let suppressed = match (checks, &plan.candidates[index].warnings) {
                    (true, _) => Vec::new(),
                    (false, Some(warnings)) => warnings.iter().map(String::as_str).collect(),
                    (false, None) if body.raw_types => vec!["rawtypes", "unchecked"],
                    (false, None) => Vec::new(),
                };
                let mut text = method(
                    plan,
                    index,
                    &body,
                    &test,
                    &suppressed,
                    framework,
                    (checks, &mut names),
                );
                if checks && body.simplified {
                    text.push_str(&values(plan, index, &body, &mut names));
                }
                tests.push((index, text));
            }
            None => failed.push(index),
        }
    }

    let state = made.iter().any(|(_, _, needs)| needs.state);
    let bounds = run::setting(plan, test_class.crash, options).bounds;
    let mut text = header(
        &plan.inputs[test_class.crash].crash,
        &test_class.resource,
        (state, run::assertions(plan, test_class.crash)),
        &[&options.java_options[..], &bounds].concat(),
    );
    let of_all = run::bounds_of_all(plan, options);
    if options.project && bounds.iter().any(|bound| !of_all.contains(bound)) {
        text.push_str(&comment::lines(
            &format!(
                "The project's other tests need other bounds of memory. These run with theirs by mvn test \
                 -Dtest={} -DargLine=\"...\" with all of these options.",
                test_class.name
            ),
            "",
            4,
        ));
    }
    if !test_class.package.is_empty() {
        text.push_str(&format!("package {};\n\n", test_class.package));
    }
    let code: String = tests.iter().map(|(_, code)| code.as_str()).collect();
    text.push_str(&names.imports(&format!("{test} {code}")));
    let public = match framework {
        Framework::Junit5 => "",
        Framework::Junit4 => "public ",
    };
    text.push_str(&format!("\n{public}class {} {{\n", test_class.name));
    if options.project && run::is_mixed(plan) && run::has_asserted(plan, test_class.crash) {
        text.push_str(&format!(
            "    // The project's other tests need assertions to be off, these on.\n    static {{\n        \
             {}.class.getClassLoader().setDefaultAssertionStatus(true);\n    }}\n",
            test_class.name
        ));
    }
    let mut lines = Vec::new();
    for (index, code) in tests {
        text.push('\n');
        let first = text.lines().count() + 1;
        text.push_str(&code);
        lines.push((index, first..text.lines().count() + 1));
    }
    text.push_str("}\n");
    Source {
        text: literal::ascii(text),
        lines,
        failed,
        made,
    }
}

/// The method that returns what a test builds, for a comparison.
fn values(plan: &Plan<'_>, index: usize, body: &Body, names: &mut Names) -> String {
    let name = values_method(&plan.candidates[index]);
    let object = names.java_lang("Object");
    let throws = names.java_lang("Throwable");
    format!(
        "\n    static {object}[] {name}() throws {throws} {{\n{}    }}\n",
        body.values
    )
}

fn method(
    plan: &Plan<'_>,
    index: usize,
    body: &Body,
    test: &str,
    suppressed: &[&str],
    framework: Framework,
    (checks, names): (bool, &mut Names),
) -> String {
    let candidate = &plan.candidates[index];
    let at = plan.frame(candidate);
    let public = match framework {
        Framework::Junit5 => "",
        Framework::Junit4 => "public ",
    };
    // The fixed program may declare exceptions that the recorded one did not.
    let throws = names.java_lang(if body.throws {
        "Throwable"
    } else {
        "Exception"
    });
    let title = format!("Frame {} of the crash: {}", candidate.frame, frame(at));
    let mut out = comment::lines(&title, "    ", 3);
    let failure = &plan.inputs[candidate.crash].crash.failure;
    if at.exception != 0
        && let Some(info) = failure.exceptions.get(at.exception as usize)
    {
        let what = format!(
            "It was left by {} of the crash, which this test ends in: {}",
            role(failure, at.exception),
            exception(info)
        );
        out.push_str(&comment::lines(&what, "    ", 3));
    }
    if let State::Done(verdict, reason) = &candidate.state
        && *verdict != Verdict::Reproduces
    {
        let first = reason.lines().next().unwrap_or_default();
        out.push_str(&comment::lines(
            &format!("Verdict: {}: {first}", verdict.name()),
            "    ",
            3,
        ));
    }
    // What could not be restored may be why a test still fails after the fix.
    if let State::Done(Verdict::Reproduces, reason) = &candidate.state
        && let Some((_, missing)) = reason.split_once(NOT_RESTORED)
    {
        out.push_str(&comment::lines(
            &format!("Not restored: {missing}"),
            "    ",
            3,
        ));
        if !missing.ends_with(STANDS_IN) {
            out.push_str("    // Where the fixed code uses it, the test may stay red.\n");
        }
    }
    if let (State::Done(Verdict::Reproduces, _), Some(lapse)) = (&candidate.state, candidate.lapse)
    {
        out.push_str(&comment::lines(lapse.comment(), "    ", 3));
    }
    let asked = failure.exceptions.first();
    let code = match asked.filter(|_| is_asked_for(plan, index)) {
        Some(info) => failing_at_records(&body.code, info, names),
        None => body.code.clone(),
    };
    let left = failure.exceptions.get(at.exception as usize);
    let code = match left.filter(|info| info.class == "java.lang.OutOfMemoryError") {
        Some(_) if !checks && framework == Framework::Junit5 => failing_alone(&code, names),
        _ => code,
    };
    let code = match candidate.unreported.as_ref().filter(|_| !checks) {
        Some(unreported) => unreported.failing_reported(&code, names),
        None => code,
    };
    let code = within(&code);
    out.push_str(&format!("    @{test}\n"));
    if !suppressed.is_empty() {
        let annotation = names.java_lang("SuppressWarnings");
        let kinds: Vec<String> = suppressed
            .iter()
            .map(|kind| format!("\"{kind}\""))
            .collect();
        let kinds = match kinds.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        };
        out.push_str(&format!("    @{annotation}({kinds})\n"));
    }
    out.push_str(&format!(
        "    {public}void {}() throws {throws} {{\n{code}    }}\n",
        candidate.name
    ));
    out
}

/// Whether the program has asked for the recording of a candidate.
fn is_asked_for(plan: &Plan<'_>, candidate: usize) -> bool {
    plan.inputs[plan.candidates[candidate].crash]
        .crash
        .meta
        .reason
        == ASKED_FOR
}

/// The body of a test whose failure is that the program asks for a recording.
fn failing_at_records(code: &str, asked: &ExceptionInfo, names: &mut Names) -> String {
    let records = names.write(REPLAY, "Records");
    let (when, which) = match asked.stack.first() {
        Some(at) if asked.class == STATE_RECORDED => {
            ("failIn", format!("{}.{}", at.class, at.method))
        }
        _ => ("failWith", asked.class.clone()),
    };
    let units: Vec<u16> = which.encode_utf16().collect();
    // A name is never too long for a literal.
    let which = literal::string(&units).unwrap_or_default();
    let mut out =
        "        // The program has asked for the recording: to ask again is the failure.\n"
            .to_owned();
    out.push_str(&format!(
        "        try ({records} records = {records}.{when}({which})) {{\n{}        }}\n",
        indented(code)
    ));
    out
}

/// The failure and its time, as at the beginning of the source of a crash's tests.
pub fn beginning(crash: &Crash) -> String {
    let recorded = format!("// Recorded {}", utc(crash.meta.time_ms));
    literal::ascii(story(crash) + &recorded)
}

/// The failure in words.
fn story(crash: &Crash) -> String {
    let meta = &crash.meta;
    let mut out = FIRST_LINE.to_owned();
    let mut line = |text: &str, lines: usize| out.push_str(&comment::lines(text, "", lines));
    line("", 1);
    if let Some(first) = crash.failure.exceptions.first() {
        line(&exception(first), 4);
        let stack = stack(&crash.failure);
        for element in stack.iter().take(STACK) {
            line(&format!("    at {element}"), 2);
        }
        if stack.len() > STACK {
            line(&format!("    ... {} more", stack.len() - STACK), 1);
        }
        if let Some(cause) = first
            .cause
            .and_then(|c| crash.failure.exceptions.get(c as usize))
        {
            line(&format!("caused by {}", exception(cause)), 4);
        }
    }
    line("", 1);
    if !meta.program_version.is_empty() {
        line(&format!("Program version: {}", meta.program_version), 2);
    }
    out
}

/// The comment above the tests of a crash: whether they load its state, and whether they need
/// assertions.
fn header(
    crash: &Crash,
    resource: &str,
    (state, assertions): (bool, Assertions),
    java_options: &[String],
) -> String {
    let meta = &crash.meta;
    let mut out = story(crash);
    let mut line = |text: &str, lines: usize| out.push_str(&comment::lines(text, "", lines));
    line(
        &format!(
            "Recorded {} in thread \"{}\" of Java {} ({} {}).",
            utc(meta.time_ms),
            meta.thread,
            meta.java_version,
            meta.jvm_name,
            meta.jvm_version
        ),
        3,
    );
    let holds = match state {
        true => ", which holds the recorded state",
        false => "",
    };
    line(
        &format!(
            "Written by hindsight {} from {resource}{holds}.",
            crate::VERSION
        ),
        2,
    );
    if !java_options.is_empty() {
        line(
            &format!(
                "The tests need these options of java: {}",
                java_options.join(" ")
            ),
            4,
        );
    }
    match assertions {
        Assertions::Needed => line(
            "The tests show nothing where assertions are off: java -ea, as Maven and Gradle run tests.",
            2,
        ),
        Assertions::Unwanted => line(
            "The tests are to run with assertions off. Maven and Gradle turn them on, with which a test may end in one: \
             <enableAssertions>false</enableAssertions> of Maven's surefire plugin or enableAssertions = false of \
             Gradle's test task turns them off.",
            4,
        ),
        Assertions::Unknown => {}
    }
    if !crash.is_whole() {
        line(
            "The recorded file was damaged: this is a repaired copy, in which lost objects are holes.",
            2,
        );
    }
    line(
        "Each test calls the method of one stack frame as it was called then.",
        1,
    );
    line(
        "It fails while the bug is there, and passes when it is fixed.",
        1,
    );
    out
}
