//! What is asserted of a sequence, and which calls that takes.

use super::carve::{End, Seen, Value};
use super::sequence::{Methods, Sequence, Statement, without};
use super::worker::{Ended, Executed, Outcome, Said, Worker, primitive};
use crate::java::jdk_value::says_its_text;
use crate::model::values::Literal;
use anyhow::Result;

/// What is asserted of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// It returns this,
    Equals(Literal),
    /// an array of these,
    Array(Vec<Literal>),
    /// or what an earlier call has returned.
    Same(usize),
    /// It returns an object,
    NotNull,
    /// one that says this of itself.
    Text(String),
    /// It returns an array, or a collection of arrays, with these elements.
    Elements(String),
    /// It throws an object of this class, which says this if it is for the program to say.
    Throws(String, Option<String>),
}

/// A sequence with what is asserted of its calls.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The calls.
    pub sequence: Sequence,
    /// What is asserted of each.
    pub assertions: Vec<Option<Assertion>>,
    /// Calls that stay whatever is asserted.
    pub kept: Vec<bool>,
    /// Calls that return their own object, as far as that is known.
    pub fluent: Vec<bool>,
    /// How many of the last calls ask the object what it says of itself.
    pub observers: usize,
    /// The class that it is about.
    pub class: String,
    /// The same with all calls, if some were left out.
    pub whole: Option<Box<Checked>>,
}

impl Checked {
    /// The calls without those that ask the object at last.
    pub fn calls(&self) -> &[Statement] {
        &self.sequence[..self.sequence.len() - self.observers]
    }

    /// Whether anything is asserted.
    pub fn asserts(&self) -> bool {
        self.assertions.iter().any(Option::is_some)
    }
}

/// What can be asserted of an outcome.
pub fn assertion(worker: &Worker, outcome: &Outcome) -> Option<Assertion> {
    // What stands in for a class while tests are tried must not be in them.
    let is_ours = |text: &str| text.contains("dev.hindsight.worker");
    match outcome {
        Outcome::Literal(Literal::Text(text) | Literal::Class(text))
        | Outcome::Object(_, None, Some(Said::Text(text) | Said::Elements(text)))
        | Outcome::Threw(_, Some(text), _)
            if is_ours(text) =>
        {
            return None;
        }
        _ => {}
    }
    Some(match outcome {
        Outcome::Null => Assertion::Equals(Literal::Null),
        Outcome::Literal(literal) => Assertion::Equals(literal.clone()),
        Outcome::Array(_, elements) => Assertion::Array(elements.clone()),
        Outcome::Object(_, Some(same), _) => Assertion::Same(*same),
        Outcome::Object(_, None, Some(Said::Text(text))) => Assertion::Text(text.clone()),
        Outcome::Object(_, None, Some(Said::Elements(text))) => Assertion::Elements(text.clone()),
        Outcome::Object(_, None, None) => Assertion::NotNull,
        Outcome::Threw(class, message, false) => {
            let class = worker.class(*class);
            if !class.accessible
                || class.is_a("java.lang.VirtualMachineError")
                || class.is_a("java.lang.LinkageError")
            {
                return None;
            }
            let message = message.clone();
            let message = message.filter(|message| says(&class.name, message));
            Assertion::Throws(class.name.clone(), message)
        }
        Outcome::Void | Outcome::Opaque | Outcome::Threw(_, _, true) | Outcome::Failed(_) => {
            return None;
        }
    })
}

/// Whether the message of an exception is the program's: that of the JVM's and of the JDK's own, as of a
/// bad index, is not the same in all releases.
fn says(class: &str, message: &str) -> bool {
    // What the JVM says of a null begins so; all else is from who has thrown it.
    if class == "java.lang.NullPointerException" {
        return !message.starts_with("Cannot ");
    }
    const SAID_BY_PROGRAMS: [&str; 8] = [
        "java.lang.Exception",
        "java.lang.RuntimeException",
        "java.lang.IllegalArgumentException",
        "java.lang.IllegalStateException",
        "java.lang.SecurityException",
        "java.lang.UnsupportedOperationException",
        "java.io.IOException",
        "java.util.NoSuchElementException",
    ];
    let of_jdk = ["java.", "javax.", "jdk.", "sun.", "com.sun."];
    SAID_BY_PROGRAMS.contains(&class) || !of_jdk.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether an outcome is what was seen of the call.
pub fn as_seen(worker: &Worker, outcome: &Outcome, seen: &Seen) -> bool {
    match (&seen.end, outcome) {
        (End::Threw(class), Outcome::Threw(thrown, _, false)) => {
            worker.class(*thrown).name == *class
        }
        (End::Threw(_), _) | (_, Outcome::Threw(..) | Outcome::Failed(_)) => false,
        (End::Returned(None), _) => true,
        (End::Returned(Some(value)), outcome) => match (value, outcome) {
            (Value::Literal(Literal::Null), outcome) => *outcome == Outcome::Null,
            (Value::Literal(one @ Literal::Box(class, _)), Outcome::Literal(other)) => {
                let same_class = !matches!(other, Literal::Box(own, _) if own != class);
                same_class && primitive(one.clone()) == primitive(other.clone())
            }
            (Value::Literal(Literal::JdkValue(class, text)), Outcome::Object(_, _, said)) => {
                let said = said.as_ref().filter(|_| says_its_text(class));
                said.is_none_or(|said| said.text() == text)
            }
            (Value::Literal(literal), Outcome::Literal(other)) => literal == other,
            (Value::Literal(_), _) => false,
            (Value::Array(_, _, elements), Outcome::Array(_, others)) => {
                let mut pairs = elements.iter().zip(others);
                elements.len() == others.len() && pairs.all(|(one, other)| is_element(one, other))
            }
            (_, outcome) => *outcome != Outcome::Null,
        },
    }
}

/// Whether an element is what was seen of it. What was written to an array does not say whether an `int`
/// is a `boolean`.
fn is_element(seen: &Value, element: &Literal) -> bool {
    let plain = |literal: &Literal| match primitive(literal.clone()) {
        Literal::Bool(value) => Literal::Int(value.into()),
        other => other,
    };
    match seen {
        Value::Literal(literal) => plain(literal) == plain(element),
        Value::Unknown => true,
        _ => *element != Literal::Null,
    }
}

/// Whether all calls ran, and none wanted what it must not.
pub fn is_whole(executed: &Executed, length: usize) -> bool {
    executed.ended == Ended::Well
        && !executed.blocked
        && executed.outcomes.len() == length
        && !(executed.outcomes.iter()).any(|outcome| matches!(outcome, Outcome::Failed(_)))
}

/// Whether all that is asserted of a sequence holds.
///
/// # Errors
///
/// Fails if the worker does.
pub fn holds(
    sequence: &Sequence,
    assertions: &[Option<Assertion>],
    methods: &Methods,
    worker: &mut Worker,
) -> Result<bool> {
    let executed = worker.execute(methods, std::slice::from_ref(sequence))?;
    Ok(executed.first().is_some_and(|executed| {
        is_whole(executed, sequence.len())
            && (executed.outcomes.iter().zip(sequence).zip(assertions)).all(
                |((outcome, statement), wanted)| {
                    let threw = matches!(outcome, Outcome::Threw(..));
                    let found = assertion(worker, outcome);
                    let same = match (wanted, found) {
                        (None, _) => true,
                        // Where a text or message was not always the same.
                        (
                            Some(Assertion::NotNull),
                            Some(Assertion::Text(_) | Assertion::Elements(_)),
                        ) => true,
                        (
                            Some(Assertion::Throws(class, None)),
                            Some(Assertion::Throws(other, _)),
                        ) => *class == other,
                        (Some(wanted), found) => found.as_ref() == Some(wanted),
                    };
                    threw == statement.may_throw && same
                },
            )
    }))
}

/// Leaves out calls as long as all assertions hold.
///
/// # Errors
///
/// Fails if the worker does.
pub fn minimise(checked: &mut Checked, methods: &Methods, worker: &mut Worker) -> Result<()> {
    let mut at = checked.sequence.len();
    while at > 0 {
        at -= 1;
        // That a call on the way throws is asserted only for the way's sake.
        let aside = matches!(checked.assertions[at], Some(Assertion::Throws(..)));
        if checked.kept[at] || checked.assertions[at].is_some() && !aside {
            continue;
        }
        let refers = |assertion: &Option<Assertion>| *assertion == Some(Assertion::Same(at));
        if checked.assertions.iter().any(refers) {
            continue;
        }
        let Some(shorter) = without(&checked.sequence, at) else {
            continue;
        };
        let mut assertions = checked.assertions.clone();
        assertions.remove(at);
        for assertion in assertions.iter_mut().flatten() {
            if let Assertion::Same(var) = assertion
                && *var > at
            {
                *var -= 1;
            }
        }
        let holds = holds(&shorter, &assertions, methods, worker)?;
        if holds {
            checked.sequence = shorter;
            checked.assertions = assertions;
            checked.kept.remove(at);
            if at < checked.fluent.len() {
                checked.fluent.remove(at);
            }
        }
    }
    Ok(())
}
