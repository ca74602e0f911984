//! Comparing what a candidate did with what was recorded.
//!
//! The same failure is the same exception class thrown by the same frame. That
//! frame is the first one outside of the JDK, for the JDK's own frames differ
//! from version to version; where the failure is in the JDK throughout, or a
//! method of the JDK itself is called, it is the first one.

use super::report::Verdict;
use super::run::{Element, Outcome, Ran};
use crate::classpath::is_platform;
use crate::text::{gap, one_line};
use hindsight_tracelog::crash::{ExceptionInfo, Frame};

/// How the reason of a candidate starts that did not end.
pub const TIMED_OUT: &str = "timed out";

/// How the reason of a candidate starts that ended in an exception.
pub const THROWS: &str = "throws ";

/// What must happen again.
#[derive(Debug)]
pub struct Expected<'a> {
    /// The exception that left the candidate's frame.
    pub exception: &'a ExceptionInfo,
    /// The frames it passed through, innermost first.
    pub frames: Vec<&'a Frame>,
    /// Classes whose class files are the recorded ones.
    pub unchanged: Vec<&'a str>,
}

/// A place in the program.
#[derive(Debug, Clone, PartialEq)]
struct Place {
    class: String,
    method: String,
    line: Option<i32>,
}

impl Place {
    fn tell(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        one_line(&format!("{}.{}{line}", self.class, self.method), 300)
    }

    fn is_method(&self, other: &Place) -> bool {
        self.class == other.class && self.method == other.method
    }
}

/// Says whether a run reproduced the recorded failure, and what happened.
pub fn judge(expected: &Expected<'_>, frame: &Frame, ran: &Ran) -> (Verdict, String) {
    let outcome = match ran {
        Ran::Told(outcome) => outcome,
        Ran::TimedOut(seconds) => {
            return (Verdict::Differs, format!("{TIMED_OUT} after {seconds} s"));
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
            let reason = format!("its state could not be restored: {}", one_line(reason, 300));
            (Verdict::Differs, reason)
        }
    }
}

/// A remark on state that is missing, for it may be the reason.
fn holes(outcome: &Outcome) -> String {
    match outcome.holes.as_slice() {
        [] => String::new(),
        [only] => format!("; not restored: {}", one_line(only, 120)),
        [first, rest @ ..] => {
            format!(
                "; not restored: {} and {} more",
                one_line(first, 120),
                rest.len()
            )
        }
    }
}

fn compare(expected: &Expected<'_>, frame: &Frame, outcome: &Outcome) -> (bool, String) {
    let class = outcome.exception.as_deref().unwrap_or("?");
    let actual: Vec<Place> = outcome.stack.iter().map(actual_place).collect();
    let recorded = recorded_places(expected);

    // A method of the JDK that is called by itself has no program frame below.
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
    let (want, got) = (thrower(&recorded), thrower(&actual));

    let what = one_line(class, 300);
    let at = got
        .as_ref()
        .map(|place| format!(" in {}", place.tell()))
        .unwrap_or_default();
    let message = match outcome.message.as_deref() {
        Some(message) if class != expected.exception.class => {
            format!(" ({})", one_line(message, 160))
        }
        _ => String::new(),
    };
    let instead = || {
        let place = want
            .as_ref()
            .map(|place| format!(" in {}", place.tell()))
            .unwrap_or_default();
        format!(
            "{THROWS}{what}{at}{message} instead of {}{place}",
            one_line(&expected.exception.class, 300)
        )
    };
    if class != expected.exception.class {
        return (false, instead());
    }
    if class == "java.lang.StackOverflowError" {
        // Where in the cycle the stack ends is chance.
        let known = |got: &Place| recorded.iter().any(|place| place.is_method(got));
        return match got.as_ref().is_none_or(known) {
            true => (
                true,
                format!("throws {what} in one of the recorded methods"),
            ),
            false => (false, instead()),
        };
    }
    let same = match (&want, &got) {
        (Some(want), Some(got)) => same_place(want, got, &expected.unchanged),
        // Neither the recording nor the run tells the frame.
        (None, None) => true,
        // The JVM leaves out traces of exceptions that it throws very often.
        (Some(_), None) => actual.is_empty(),
        (None, Some(_)) => true,
    };
    if same {
        (true, format!("throws {what}{at}"))
    } else {
        (false, instead())
    }
}

fn same_place(want: &Place, got: &Place, unchanged: &[&str]) -> bool {
    let lines_count = unchanged.contains(&want.class.as_str());
    match (want.line, got.line) {
        _ if !want.is_method(got) => false,
        (Some(want), Some(got)) if lines_count => want == got,
        _ => true,
    }
}

fn actual_place(element: &Element) -> Place {
    Place {
        class: element.class.clone(),
        method: element.method.clone(),
        line: Some(element.line).filter(|&line| line > 0),
    }
}

/// The recorded stack trace, or the frames where the JVM gave none.
fn recorded_places(expected: &Expected<'_>) -> Vec<Place> {
    let stack = expected.exception.stack.iter().map(|element| Place {
        class: element.class.clone(),
        method: element.method.clone(),
        line: Some(element.line).filter(|&line| line > 0),
    });
    let places: Vec<Place> = stack.collect();
    if !places.is_empty() {
        return places;
    }
    let frames = expected.frames.iter();
    let frames = frames.filter(|frame| gap(frame).is_none());
    let frames = frames.map(|frame| Place {
        class: frame.class.clone(),
        method: frame.method.clone(),
        line: None,
    });
    frames.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::StackElement;

    fn recorded(stack: &[(&str, &str, i32)]) -> ExceptionInfo {
        let element = |&(class, method, line): &(&str, &str, i32)| StackElement {
            class: class.to_owned(),
            method: method.to_owned(),
            file: None,
            line,
        };
        ExceptionInfo {
            class: "E".to_owned(),
            stack: stack.iter().map(element).collect(),
            ..ExceptionInfo::default()
        }
    }

    fn threw(exception: &str, stack: &[(&str, &str, i32)]) -> Ran {
        let element = |&(class, method, line): &(&str, &str, i32)| Element {
            class: class.to_owned(),
            method: method.to_owned(),
            line,
        };
        Ran::Told(Outcome {
            outcome: "threw".to_owned(),
            exception: Some(exception.to_owned()),
            stack: stack.iter().map(element).collect(),
            ..Outcome::default()
        })
    }

    #[track_caller]
    fn check(stack: &[(&str, &str, i32)], ran: Ran, verdict: Verdict, reason: &str) {
        let exception = recorded(stack);
        let expected = Expected {
            exception: &exception,
            frames: Vec::new(),
            unchanged: vec!["A"],
        };
        let frame = Frame {
            class: "A".to_owned(),
            ..Frame::default()
        };
        assert_eq!(judge(&expected, &frame, &ran), (verdict, reason.to_owned()));
    }

    const STACK: &[(&str, &str, i32)] = &[("java.util.Objects", "check", 1), ("A", "m", 5)];

    #[test]
    fn the_first_program_frame_decides() {
        let newer = [("jdk.internal.X", "check", 9), ("A", "m", 5), ("T", "t", 1)];
        check(
            STACK,
            threw("E", &newer),
            Verdict::Reproduces,
            "throws E in A.m:5",
        );
    }

    #[test]
    fn another_line_of_the_same_class_file_differs() {
        let reason = "throws E in A.m:6 instead of E in A.m:5";
        check(
            STACK,
            threw("E", &[("A", "m", 6)]),
            Verdict::Differs,
            reason,
        );
        let changed = [("B", "m", 5)];
        check(
            &changed,
            threw("E", &[("B", "m", 6)]),
            Verdict::Reproduces,
            "throws E in B.m:6",
        );
    }

    #[test]
    fn another_class_or_method_differs() {
        let reason = "throws F in A.m:5 instead of E in A.m:5";
        check(
            STACK,
            threw("F", &[("A", "m", 5)]),
            Verdict::Differs,
            reason,
        );
        let reason = "throws E in A.n:5 instead of E in A.m:5";
        check(
            STACK,
            threw("E", &[("A", "n", 5)]),
            Verdict::Differs,
            reason,
        );
    }

    #[test]
    fn what_did_not_end_is_told() {
        check(
            STACK,
            Ran::TimedOut(60),
            Verdict::Differs,
            "timed out after 60 s",
        );
        let passed = Ran::Told(Outcome {
            outcome: "passed".to_owned(),
            holes: vec!["a thread".to_owned()],
            ..Outcome::default()
        });
        let reason = "returns without an exception; not restored: a thread";
        check(STACK, passed, Verdict::Passes, reason);
    }

    #[test]
    fn a_stack_overflow_may_end_elsewhere_in_the_cycle() {
        let mut exception = recorded(&[("A", "m", 5), ("A", "n", 6)]);
        exception.class = "java.lang.StackOverflowError".to_owned();
        let expected = Expected {
            exception: &exception,
            frames: Vec::new(),
            unchanged: vec!["A"],
        };
        let ran = threw("java.lang.StackOverflowError", &[("A", "n", 9)]);
        let (verdict, _) = judge(&expected, &Frame::default(), &ran);
        assert_eq!(verdict, Verdict::Reproduces);
    }
}
