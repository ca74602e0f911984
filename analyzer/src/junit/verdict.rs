//! Compares the outcome of a candidate with the recording.
//!
//! The same failure is the same exception class thrown by the same frame. That frame is the first
//! one outside of the JDK, because the JDK's own frames differ from version to version. If all of
//! the failure is in the JDK, or a method of the JDK itself is called, it is the first frame.
//! `places` compares the places in traces.
//!
//! The exception's causes must be those of the same failure, too: programs wrap many failures in
//! one class at one place. [`behind`] knows where causes differ by chance.
//!
//! Programs take frames out of a trace before they rethrow an exception. The frames that were
//! captured inside of it are known all the same, and a test of one of them shows where the
//! exception came from.

mod places;

use super::launch::{Element, Outcome, Ran, Root};
use super::report::Verdict;
use crate::classpath::is_platform;
use crate::text::{gap, one_line};
use hindsight_tracelog::crash::{ExceptionInfo, Fidelity, Frame};
use places::{
    Place, actual_place, actual_places, is_loading, is_recursion, of_program, of_task, places,
    recorded_places, same_place, tell_place,
};

/// The beginning of the reason of a candidate that did not end.
pub const TIMED_OUT: &str = "timed out";

/// The continuation of a reason if state is missing.
pub const NOT_RESTORED: &str = "; not restored: ";

/// The end of the remark if another object was made in place of a recorded one.
pub const STANDS_IN: &str = "stands for it";

/// The beginning of the reason of a candidate that rethrows what it was passed.
pub const GIVEN: &str = "only throws the exception that it was passed";

/// The beginning of the reason of a candidate that did not get to its call.
const UNRESTORED: &str = "its state could not be restored: ";

/// The beginning of the reason of a candidate that ended in an exception.
pub const THROWS: &str = "throws ";

/// The beginning of the message of an error about a class that could not be initialized when it was
/// used before.
pub const NOT_INITIALIZED: &str = "Could not initialize class ";

/// The error of a class that is missing, or could not be initialized when it was used before.
const NO_CLASS: &str = "java.lang.NoClassDefFoundError";

/// The error of a class that cannot be initialized.
const INITIALIZER: &str = "java.lang.ExceptionInInitializerError";

/// The failure that must happen again.
#[derive(Debug)]
pub struct Expected<'a> {
    /// The exception that left the candidate's frame.
    pub exception: &'a ExceptionInfo,
    /// Its causes, the direct one first.
    pub causes: Vec<&'a ExceptionInfo>,
    /// Whether there may have been other causes, which are not recorded.
    pub cut: bool,
    /// The frames that it passed through, innermost first.
    pub frames: Vec<&'a Frame>,
    /// The classes whose class files are the recorded ones.
    pub unchanged: Vec<&'a str>,
    /// The candidate's test class, from which on frames are outside of the program.
    pub test: String,
}

/// Judges whether a run reproduced the recorded failure, and describes what happened.
pub fn judge(expected: &Expected<'_>, frame: &Frame, ran: &Ran) -> (Verdict, String) {
    let outcome = match ran {
        Ran::Told(outcome) => outcome,
        Ran::TimedOut(seconds) => {
            return (Verdict::Differs, format!("{TIMED_OUT} after {seconds} s"));
        }
        Ran::Waited(seconds) => {
            return (
                Verdict::Differs,
                format!("{TIMED_OUT}: it waited for {seconds} s and did nothing"),
            );
        }
        Ran::Died(how) => {
            return (
                Verdict::Differs,
                format!("its JVM ended without a result: {how}"),
            );
        }
    };
    let holes = holes(outcome);
    match outcome.outcome.as_str() {
        "passed" => (
            Verdict::Passes,
            format!("returns without an exception{holes}"),
        ),
        // It fails with any version of the program, and does not show where the exception came
        // from.
        "threw" if outcome.restored => {
            let what = one_line(outcome.exception.as_deref().unwrap_or("?"), 300);
            let reason = format!("{GIVEN}, by itself or within something else ({what})");
            (Verdict::Differs, format!("{reason}{holes}"))
        }
        // Nothing of the candidate has run, so no version of the program can make it pass.
        "threw" if is_loading(&outcome.stack, &expected.test) => {
            let what = one_line(outcome.exception.as_deref().unwrap_or("?"), 300);
            (Verdict::Differs, format!("{UNRESTORED}{THROWS}{what}"))
        }
        "threw" => {
            let (same, reason) = compare(expected, frame, outcome);
            match same {
                true => (Verdict::Reproduces, format!("{reason}{holes}")),
                false => (Verdict::Differs, format!("{reason}{holes}")),
            }
        }
        "exited" => (
            Verdict::Differs,
            "the program ended the JVM (System.exit)".to_owned(),
        ),
        _ => {
            let reason = outcome
                .reason
                .as_deref()
                .or(outcome.message.as_deref())
                .unwrap_or("unknown");
            let reason = format!("{UNRESTORED}{}", one_line(reason, 300));
            (Verdict::Differs, reason)
        }
    }
}

/// A remark on missing state, which may be the reason, especially if nothing replaces it.
fn holes(outcome: &Outcome) -> String {
    let holes = &outcome.holes;
    let is_empty = |hole: &&String| !hole.ends_with(STANDS_IN);
    let Some(hole) = holes.iter().find(is_empty).or(holes.first()) else {
        return String::new();
    };
    let more = match holes.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{NOT_RESTORED}{}{more}", one_line(hole, 120))
}

fn compare(expected: &Expected<'_>, frame: &Frame, outcome: &Outcome) -> (bool, String) {
    let class = outcome.exception.as_deref().unwrap_or("?");
    let actual = actual_places(&outcome.stack, &expected.test);
    let recorded = recorded_places(expected);
    let unchanged = &expected.unchanged;

    // Below a method of the JDK that is called by itself there is no frame of the program.
    let called = Place {
        class: frame.class.clone(),
        method: frame.method.clone(),
        line: None,
    };
    let any = is_platform(&called.class);
    let thrower = |places: &[Place]| {
        let program = places
            .iter()
            .find(|place| !is_platform(&place.class))
            .filter(|_| !any);
        program.or(places.first()).cloned()
    };
    let cause = expected.causes.first();
    let cause = cause.map(|cause| (&*cause.class, places(cause)));
    let want = of_task(&recorded, &expected.exception.class, cause);
    let cause = outcome.cause.as_ref().map(|cause| {
        let places = actual_places(&cause.stack, &expected.test);
        (&*cause.exception, places)
    });
    let got = of_task(&actual, class, cause);
    // If a task of the JDK has thrown, there need not be a frame of the program below; then the
    // innermost one decides.
    let alone = |places: &[Place]| places.iter().all(|place| is_platform(&place.class));
    let innermost = (alone(&want) || alone(&got)) && !want.is_empty();
    let innermost = innermost && want.first() == got.first();
    // The same holds for the cause.
    let of_task = alone(&want) || alone(&got);
    let by_cause = expected.causes.last().zip(outcome.root.as_ref());
    let by_cause = by_cause.filter(|(want, got)| of_task && want.class == got.exception);
    let by_cause = by_cause.is_some_and(|(want, got)| {
        let (want, got) = (places(want), actual_places(&got.stack, &expected.test));
        let both = thrower(&want).zip(thrower(&got));
        both.is_some_and(|(want, got)| same_place(&want, &got, &expected.unchanged))
    });
    let (want, got) = (thrower(&want), thrower(&got));
    // They are known for frames outside of what was taken out as well, which may throw before that
    // is done.
    let inner = taken_out(expected, &recorded);
    let is_taken_out = inner.is_some()
        && !recorded
            .iter()
            .any(|place| place.is_method(&called, unchanged));

    let what = one_line(class, 300);
    let at = tell_place(got.as_ref());
    let message = match outcome.message.as_deref() {
        Some(message) => format!(" ({})", one_line(message, 160)),
        None => String::new(),
    };
    let instead = || {
        if let Some(reason) = initializer(expected, outcome) {
            return reason;
        }
        let place = tell_place(inner.as_ref().filter(|_| is_taken_out).or(want.as_ref()));
        format!(
            "{THROWS}{what}{at}{message}{} instead of {}{place}",
            root(expected, outcome),
            one_line(&expected.exception.class, 300)
        )
    };
    if let Some((failed, used)) = failed_before(expected, outcome)
        && let (Some(want), Some(got)) = (&want, &thrower(&used))
        && same_place(want, got, &expected.unchanged)
    {
        return (true, failed);
    }
    if class != expected.exception.class {
        return (false, instead());
    }
    let known = |got: &Place| recorded.iter().any(|place| place.is_method(got, unchanged));
    if class == "java.lang.OutOfMemoryError"
        && let Some(got) = &got
    {
        // Where memory runs out is a matter of chance; but the JDK methods that the test itself
        // calls only make its state.
        if is_platform(&got.class) && !any && !alone(&recorded) {
            return (false, instead());
        } else if known(got) {
            return (true, format!("throws {what}{at}"));
        }
    }
    if class == "java.lang.StackOverflowError" {
        // It is a matter of chance where in the cycle the stack overflows, and in which method that
        // is called from there.
        let ends = got.as_ref().map_or(outcome.stack.is_empty(), known);
        // A cycle through a lambda that is a proxy has frames of the replay library in it.
        let inside = outcome.stack.iter();
        let inside = inside.take_while(|element| element.class != expected.test);
        let whole: Vec<Place> = inside.map(actual_place).collect();
        return match ends || is_recursion(&recorded, &whole) {
            true => (
                true,
                format!("throws {what} in one of the recorded methods"),
            ),
            false => (false, instead()),
        };
    }
    let same = match (&want, &got) {
        (Some(want), Some(got)) => {
            let is = |place: &Place| same_place(place, got, &expected.unchanged);
            is(want) || innermost || by_cause || inner.as_ref().is_some_and(is)
        }
        // Neither the recording nor the run has the frame.
        (None, None) => true,
        // The JVM leaves out traces of exceptions that it throws very often; and the program may
        // have taken out all frames of the candidate, as in the recording.
        (Some(_), None) => outcome.stack.is_empty() || is_taken_out,
        (None, Some(_)) => true,
    };
    if !same {
        return (false, instead());
    }
    match behind(expected, outcome) {
        Ok(remark) => {
            let now = (outcome.detail.as_deref(), outcome.message.as_deref());
            let message = other_message(expected.exception, now);
            // Wrappers repeat the message of their cause.
            let remark = message.map_or(remark, |other| format!("; {other}"));
            (true, format!("{THROWS}{what}{at}{remark}"))
        }
        Err(how) => (false, format!("{THROWS}{what}{at}{how}")),
    }
}

/// Whether an exception has the cause of the recorded one: the innermost cause has the same class
/// and was thrown at the same place. Returns a remark, or how it differs.
fn behind(expected: &Expected<'_>, outcome: &Outcome) -> Result<String, String> {
    let same = Ok(String::new());
    let infos = || std::iter::once(expected.exception).chain(expected.causes.iter().copied());
    let mut want: Vec<&str> = infos().map(|info| &*info.class).collect();
    let class = outcome.exception.as_deref().unwrap_or("?");
    let chain = outcome.chain.iter().map(String::as_str);
    let mut got: Vec<&str> = std::iter::once(class).chain(chain).collect();
    // The causes of an exception that was passed as an argument are only restored as far as they
    // were recorded.
    let given = outcome.given.as_deref();
    if expected.cut || given.is_some_and(|given| want[1..].contains(&given)) {
        return same;
    }
    let root = outcome.root.as_ref();
    // Whether a class fails in its first use or had failed before is a matter of chance.
    if let Some(at) = infos().position(|info| info.class == NO_CLASS)
        && let (Some(of), Some(root)) = (infos().nth(at), root)
        // An error leaves the initializer unwrapped; then the recorded cause has to show that.
        && (got.contains(&INITIALIZER) || infos().nth(at + 1).is_some())
        && fails_as_before(of, infos().nth(at + 1), root)
    {
        return same;
    }
    if want.contains(&INITIALIZER)
        && got.contains(&NO_CLASS)
        && root.is_some_and(|root| match root.message.as_deref() {
            Some(message) if root.exception == NO_CLASS => message.starts_with(NOT_INITIALIZED),
            Some(message) => want.last().is_some_and(|failed| tells_of(message, failed)),
            None => false,
        })
    {
        return same;
    }
    // Only the first use of a missing class has the reason why it is missing.
    for classes in [&mut want, &mut got] {
        let end = classes.iter().position(|class| *class == NO_CLASS);
        classes.truncate(end.map_or(classes.len(), |end| end + 1));
    }
    let last = expected.causes.last();
    let last_place = last.and_then(|last| of_program(places(last)));
    let instead = || match (last, root) {
        (Some(last), Some(root)) => format!(
            "caused by {} instead of {}{}",
            tell_root(expected, root),
            one_line(&last.class, 300),
            tell_place(last_place.as_ref())
        ),
        (None, Some(root)) => {
            format!("caused by {}, where nothing was", tell_root(expected, root))
        }
        (Some(last), None) => format!("without its cause {}", one_line(&last.class, 300)),
        (None, None) => String::new(),
    };
    if want.last() != got.last() {
        // The causes that the JDK gives to its exceptions depend on its version.
        let both = want.len().min(got.len());
        let of_jdk = infos().nth(both - 1).is_some_and(is_of_jdk);
        return match of_jdk && want[..both] == got[..both] {
            true => Ok(format!("; {}", instead())),
            false => Err(format!(", {}", instead())),
        };
    }
    let (Some(last), Some(root)) = (last, root) else {
        return same;
    };
    // Where memory runs out is a matter of chance.
    let any = ["java.lang.OutOfMemoryError", "java.lang.StackOverflowError"];
    let is_last = |class: &String| want.last() == Some(&class.as_str());
    if !is_last(&last.class) || !is_last(&root.exception) || any.contains(&&*last.class) {
        return same;
    }
    // Traces that the JDK or the program has removed say nothing, nor do those of tasks without a
    // frame of their own.
    let got_place = of_program(actual_places(&root.stack, &expected.test));
    if let (Some(want), Some(got)) = (&last_place, &got_place)
        && !same_place(want, got, &expected.unchanged)
    {
        return Err(format!(", {}", instead()));
    }
    let message = other_message(last, (root.detail.as_deref(), root.message.as_deref()));
    Ok(message.map_or(String::new(), |other| format!("; its cause has {other}")))
}

/// Whether an exception is one of the JDK's that the JDK itself has thrown.
fn is_of_jdk(info: &ExceptionInfo) -> bool {
    let thrower = info.stack.first();
    is_platform(&info.class) && thrower.is_none_or(|element| is_platform(&element.class))
}

/// A remark on a message that differs from the recorded one, because it may be another failure of
/// the same kind at the same place; or the same one with other values, if only numbers differ (they
/// may also be times). Hash codes differ each time, and secrets are not known. `now` is the value
/// of the exception's field, and its message.
fn other_message(of: &ExceptionInfo, now: (Option<&str>, Option<&str>)) -> Option<String> {
    let then = of.message.as_deref()?;
    // A message that a class computes on request is not recorded, except the JVM's about a null.
    let now = match now {
        (None, said) if of.class == "java.lang.NullPointerException" => said,
        (detail, _) => detail,
    }?;
    let said = |text: &str| -> String {
        let mut parts = text.split('@');
        let first = parts.next().unwrap_or_default();
        // A hash code in hexadecimal has letters.
        let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        std::iter::once(first).chain(rest).collect()
    };
    let words = |text: &str| -> String {
        let is_word = |c: &char| !c.is_ascii_digit() && *c != '-';
        said(text).chars().filter(is_word).collect()
    };
    if then.contains("***") || said(then) == said(now) {
        return None;
    }
    let what = match words(then) == words(now) {
        true => "other numbers in its message",
        false => "another message",
    };
    Some(format!("{what}: {}", one_line(now, 160)))
}

/// The innermost frame, if it was captured and is not in the recorded trace, because the program
/// has replaced that, as with `setStackTrace`.
fn taken_out(expected: &Expected<'_>, recorded: &[Place]) -> Option<Place> {
    let frames = expected.frames.iter();
    let mut of_program = frames.filter(|frame| gap(frame).is_none() && !is_platform(&frame.class));
    let innermost = of_program.next()?;
    let place = Place {
        class: innermost.class.clone(),
        method: innermost.method.clone(),
        line: innermost.line.filter(|&line| line > 0),
    };
    let captured = innermost.fidelity != Fidelity::None;
    (captured
        && !recorded
            .iter()
            .any(|known| known.is_method(&place, &expected.unchanged)))
    .then_some(place)
}

/// The causes of an exception, in words.
fn root(expected: &Expected<'_>, outcome: &Outcome) -> String {
    match &outcome.root {
        Some(root) => format!(", caused by {}", tell_root(expected, root)),
        None => String::new(),
    }
}

fn tell_root(expected: &Expected<'_>, root: &Root) -> String {
    let places = actual_places(&root.stack, &expected.test);
    let of_program = places.iter().find(|place| !is_platform(&place.class));
    let message = root.message.as_deref();
    let message = message.map_or(String::new(), |text| format!(" ({})", one_line(text, 160)));
    format!(
        "{}{}{message}",
        one_line(&root.exception, 300),
        tell_place(of_program.or(places.first()))
    )
}

/// Recognises a class whose static initializer had failed before the recorded failure, which was
/// only its next use, and fails in its first use here; returns the text, and the place. The earlier
/// failure is in the message of the recorded error's cause, from Java 17 on.
fn failed_before(expected: &Expected<'_>, outcome: &Outcome) -> Option<(String, Vec<Place>)> {
    let of = expected.exception;
    if of.class != NO_CLASS {
        return None;
    }
    let class = of.message.as_deref()?.strip_prefix(NOT_INITIALIZED)?.trim();
    let (root, used) = match outcome.exception.as_deref()? {
        INITIALIZER => (outcome.root.clone()?, &outcome.stack[..]),
        // An error leaves the initializer unwrapped, and the use of the class is further out.
        error => {
            let ran = |element: &Element| element.class == class && element.method == "<clinit>";
            let within = outcome.stack.iter().position(ran)?;
            let itself = Root {
                exception: error.to_owned(),
                message: outcome.message.clone(),
                detail: outcome.detail.clone(),
                stack: outcome.stack.clone(),
            };
            (itself, &outcome.stack[within + 1..])
        }
    };
    let same = fails_as_before(of, expected.causes.first().copied(), &root);
    same.then(|| {
        let told = format!(
            "the static initializer of {} fails, as it had before: {}",
            one_line(class, 300),
            tell_root(expected, &root)
        );
        (told, actual_places(used, &expected.test))
    })
}

/// Whether an initializer fails for the reason for which it had failed before an error was recorded
/// that reports this, as far as that error and its cause show.
fn fails_as_before(of: &ExceptionInfo, cause: Option<&ExceptionInfo>, root: &Root) -> bool {
    let message = of.message.as_deref();
    let class = message.map(|message| message.strip_prefix(NOT_INITIALIZED).map(str::trim));
    let ran = |element: &Element| {
        let same = class.is_none_or(|class| class == Some(element.class.as_str()));
        same && element.method == "<clinit>"
    };
    let then = cause.and_then(|cause| cause.message.as_deref());
    then.is_none_or(|then| tells_of(then, &root.exception)) && root.stack.iter().any(ran)
}

/// Whether the message of the error for a failed initializer, `Exception F: text [in thread ...]`,
/// names this exception.
fn tells_of(message: &str, failed: &str) -> bool {
    let message = message.strip_prefix("Exception ").unwrap_or(message);
    let rest = message.strip_prefix(failed);
    rest.is_some_and(|rest| rest.starts_with([':', ' ']))
}

/// A remark that the candidate's call has run a static initializer, which failed before the method
/// began.
fn initializer(expected: &Expected<'_>, outcome: &Outcome) -> Option<String> {
    let of_program = |element: &&Element| !is_platform(&element.class);
    let ran = |stack: &[Element]| {
        let mut failed = stack.iter().filter(of_program);
        let class = failed.rfind(|element| element.method == "<clinit>")?;
        Some(one_line(&class.class, 300))
    };
    let places = actual_places(&outcome.stack, &expected.test);
    let (class, what) = match outcome.exception.as_deref() {
        // Otherwise the method itself has thrown it.
        Some(INITIALIZER) if places.is_empty() => {
            let root = outcome.root.as_ref()?;
            (ran(&root.stack)?, tell_root(expected, root))
        }
        // An error leaves the initializer unwrapped.
        Some(error) => {
            let mut of_program = places.iter().rev();
            let outermost = of_program.find(|place| !is_platform(&place.class))?;
            if outermost.method != "<clinit>" {
                return None;
            }
            let thrower = places.iter().find(|place| !is_platform(&place.class));
            let what = format!("{}{}", one_line(error, 300), tell_place(thrower));
            (one_line(&outermost.class, 300), what)
        }
        None => return None,
    };
    Some(format!(
        "calling it runs the static initializer of {class}, which fails: {what}"
    ))
}

#[cfg(test)]
mod tests;
