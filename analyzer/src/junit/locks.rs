//! Finds the locks that a frame's method was called with.
//!
//! A method that waits for a monitor, notifies its waiters, or asserts that its thread holds it, is
//! called by one that has entered it. The monitors that a thread held are not recorded. If a test
//! ends because it does not hold one, that of the receiver is tried, and then those of the
//! arguments.

use super::candidate::Candidate;
use super::verdict::THROWS;
use crate::java::lines::INDENT;
use hindsight_tracelog::crash::{Frame, Value};

/// The exceptions of a method that was called without the lock that it needs.
const WITHOUT: [&str; 2] = [
    "java.lang.IllegalMonitorStateException",
    // `assert Thread.holdsLock(this)`
    "java.lang.AssertionError",
];

/// Classes whose monitors are not used to synchronise threads, because other code may have the same
/// object.
const SHARED: [&str; 9] = [
    "Ljava/lang/String;",
    "Ljava/lang/Boolean;",
    "Ljava/lang/Byte;",
    "Ljava/lang/Character;",
    "Ljava/lang/Short;",
    "Ljava/lang/Integer;",
    "Ljava/lang/Long;",
    "Ljava/lang/Float;",
    "Ljava/lang/Double;",
];

/// The monitor that a test holds while it calls its method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Held {
    /// None: there is no reason to try one.
    #[default]
    Untried,
    /// The receiver's (0) or an argument's, by its number.
    Of(u16),
    /// None: the test ended in the same way with each of them.
    NoneHelps,
}

impl Held {
    /// The number of the value to which it belongs.
    pub fn owner(self) -> Option<u16> {
        match self {
            Held::Of(index) => Some(index),
            Held::Untried | Held::NoneHelps => None,
        }
    }
}

/// The monitor that the candidate is to hold next if it ended for lack of one, as far as there is
/// more to try.
pub fn next(candidate: &Candidate, frame: &Frame, reason: &str) -> Option<Held> {
    if !is_wanting(reason) || candidate.held == Held::NoneHelps {
        return None;
    }
    let mut owners: Vec<u16> = (frame.arguments.iter())
        .filter(|argument| matches!(argument.value, Value::Ref(_)))
        .filter(|argument| argument.descriptor.starts_with(['L', '[']))
        .filter(|argument| !SHARED.contains(&argument.descriptor.as_str()))
        .filter(|argument| frame.method != "<init>" || argument.index > 0)
        .map(|argument| argument.index)
        .collect();
    owners.sort_unstable();
    let last = candidate.held.owner();
    let next = (owners.into_iter()).find(|&owner| last.is_none_or(|last| owner > last));
    Some(next.map_or(Held::NoneHelps, Held::Of))
}

/// Whether a test has ended for lack of a lock.
fn is_wanting(reason: &str) -> bool {
    let thrown = reason.strip_prefix(THROWS).unwrap_or_default();
    let class = thrown.split(' ').next().unwrap_or_default();
    WITHOUT.contains(&class)
}

/// The code of a call, which holds the lock of the object in a variable.
pub fn around(call: &str, lock: &str) -> String {
    let lines = call.lines().map(|line| format!("    {line}\n"));
    let inside: String = lines.collect();
    format!(
        "{INDENT}// Without this lock it ends in another way.\n{INDENT}synchronized ({lock}) {{\n{inside}{INDENT}}}\n"
    )
}

/// The remark on a test that reproduces with a lock.
pub fn remark(frame: &Frame, held: Held) -> String {
    let Some(index) = held.owner() else {
        return String::new();
    };
    let mut arguments = frame.arguments.iter();
    let name = arguments
        .find(|argument| argument.index == index)
        .and_then(|argument| argument.name.clone());
    match (index, name) {
        (0, _) => "; with the receiver's lock, as it was called".to_owned(),
        (_, Some(name)) => format!("; with the lock of {name}, as it was called"),
        (_, None) => format!("; with the lock of argument {index}, as it was called"),
    }
}
