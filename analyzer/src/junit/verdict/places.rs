//! The places in stack traces: the recorded ones and those of a test.

use super::Expected;
use crate::classpath::is_platform;
use crate::java::numbered;
use crate::junit::call::REPLAY;
use crate::junit::launch::Element;
use crate::text::{gap, one_line};
use hindsight_tracelog::crash::ExceptionInfo;
use std::collections::HashSet;

/// A place in the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) class: String,
    pub(super) method: String,
    pub(super) line: Option<i32>,
}

impl Place {
    fn tell(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        one_line(&format!("{}.{}{line}", self.class, self.method), 300)
    }

    /// Whether it is the same method; if its class has changed, numbers in names say nothing.
    pub(super) fn is_method(&self, other: &Place, unchanged: &[&str]) -> bool {
        if unchanged.contains(&self.class.as_str()) {
            return self.class == other.class && self.method == other.method;
        }
        numbered::is_same(&self.class, &other.class)
            && numbered::is_same(&self.method, &other.method)
    }
}

/// The first place of a trace that is the program's.
pub(super) fn of_program(trace: Vec<Place>) -> Option<Place> {
    let mut trace = trace.into_iter();
    trace.find(|place| !is_platform(&place.class))
}

/// Whether a trace repeats methods that repeat in the recorded one. Methods of the JDK count only
/// if no others repeat.
pub(super) fn is_recursion(recorded: &[Place], actual: &[Place]) -> bool {
    let recorded = going_round(recorded);
    let mut actual = going_round(actual);
    if actual.iter().any(|(class, _)| !is_platform(class)) {
        actual.retain(|(class, _)| !is_platform(class));
    }
    actual.iter().any(|method| recorded.contains(method))
}

/// The methods that occur in a trace more than once.
fn going_round(trace: &[Place]) -> HashSet<(&str, &str)> {
    let mut seen = HashSet::new();
    let methods = trace.iter().map(|place| (&*place.class, &*place.method));
    methods.filter(|&method| !seen.insert(method)).collect()
}

/// The trace that shows where an exception comes from. Which thread runs a task is a matter of
/// chance; a thread that waits for it gets its exception from `ForkJoinTask`, if that was another
/// thread, as a copy of the same class with the original as its cause.
pub(super) fn of_task(
    trace: &[Place],
    class: &str,
    cause: Option<(&str, Vec<Place>)>,
) -> Vec<Place> {
    let mut above = trace.iter().take_while(|place| is_platform(&place.class));
    match cause {
        Some((of, original))
            if of == class
                && above.any(|place| place.class == "java.util.concurrent.ForkJoinTask") =>
        {
            original
        }
        _ => trace.to_vec(),
    }
}

/// A remark on its place, if that is known.
pub(super) fn tell_place(place: Option<&Place>) -> String {
    place.map_or(String::new(), |place| format!(" in {}", place.tell()))
}

/// Whether a place is the recorded one; lines count if the class has not changed.
pub(super) fn same_place(want: &Place, got: &Place, unchanged: &[&str]) -> bool {
    let lines_count = unchanged.contains(&want.class.as_str());
    match (want.line, got.line) {
        _ if !want.is_method(got, unchanged) => false,
        (Some(want), Some(got)) if lines_count => want == got,
        _ => true,
    }
}

/// A trace down to the test, which calls the program directly or by the replay library.
pub(super) fn actual_places(stack: &[Element], test: &str) -> Vec<Place> {
    let is_ours = |element: &Element| {
        element.class == test
            || element
                .class
                .strip_prefix(REPLAY)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    let reflects = |element: &Element| {
        ["java.lang.reflect.", "java.lang.invoke.", "jdk.internal."]
            .iter()
            .any(|package| element.class.starts_with(package))
    };
    let ours = stack.iter().position(is_ours);
    let mut program = &stack[..ours.unwrap_or(stack.len())];
    // The caller of the test's code, if the test is not in the trace, or that initialises a class.
    let calls = |class: &str| class == test || class.strip_prefix(REPLAY) == Some(".Call");
    while ours.is_some_and(|ours| !calls(&stack[ours].class))
        && let [rest @ .., last] = program
        && reflects(last)
    {
        program = rest;
    }
    program.iter().map(actual_place).collect()
}

pub(super) fn actual_place(element: &Element) -> Place {
    Place {
        class: element.class.clone(),
        method: element.method.clone(),
        line: Some(element.line).filter(|&line| line > 0),
    }
}

/// The recorded stack trace.
pub(super) fn places(exception: &ExceptionInfo) -> Vec<Place> {
    let stack = exception.stack.iter().map(|element| Place {
        class: element.class.clone(),
        method: element.method.clone(),
        line: Some(element.line).filter(|&line| line > 0),
    });
    stack.collect()
}

/// The recorded stack trace of what must happen again, or the frames if the JVM gave none.
pub(super) fn recorded_places(expected: &Expected<'_>) -> Vec<Place> {
    let places = places(expected.exception);
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

/// Whether the test had called the code that restores its state.
pub(super) fn is_loading(stack: &[Element], test: &str) -> bool {
    let at = stack.iter().position(|element| element.class == test);
    let called = at.and_then(|at| stack[..at].last());
    let name = called.and_then(|called| called.class.strip_prefix(REPLAY));
    name.is_some_and(|name| [".Crash", ".Frame", ".Statics"].contains(&name))
}
