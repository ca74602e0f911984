//! Decides what is asserted of a sequence, and which calls that needs.

#[cfg(test)]
mod tests;

use super::carve::{End, Seen, Value};
use super::lab::{Lab, Side, State};
use super::sequence::{Methods, Sequence, Statement, without};
use super::worker::{Class, Ended, Executed, Outcome, Said, Thrower, Worker, primitive};
use crate::classpath::is_jdk;
use crate::java::jdk_value::says_its_text;
use crate::model::values::Literal;
use std::ops::Range;

/// An assertion about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// It returns this value.
    Equals(Literal),
    /// It returns an array of these values.
    Array(Vec<Literal>),
    /// It returns what an earlier call has returned.
    Same(usize),
    /// It returns an object.
    NotNull,
    /// It returns an object with this text.
    Text(String),
    /// It returns an array, or a collection of arrays, with these elements.
    Elements(String),
    /// It returns an array, a collection or a map with this number of elements.
    Size(i64),
    /// It throws an object of this class, or of a subclass that no source can name, with this
    /// message if that is up to the program.
    Throws(String, Option<String>),
}

impl Assertion {
    /// The text that a call returns, or that of the object that it returns.
    pub fn text(&self) -> Option<&str> {
        match self {
            Assertion::Text(text) | Assertion::Equals(Literal::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A sequence with the assertions about its calls.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The calls.
    pub sequence: Sequence,
    /// The assertion about each call.
    pub assertions: Vec<Option<Assertion>>,
    /// The calls that stay whatever is asserted.
    pub kept: Vec<bool>,
    /// The calls that return their own object, as far as that is known.
    pub fluent: Vec<bool>,
    /// The number of calls at the end that question the object.
    pub observers: usize,
    /// The tested class.
    pub class: String,
    /// The same with all calls, if some were left out.
    pub whole: Option<Box<Checked>>,
}

impl Checked {
    /// The calls, without those that question the object at the end.
    pub fn calls(&self) -> &[Statement] {
        &self.sequence[..self.sequence.len() - self.observers]
    }

    /// Decides anew which class is tested, if no remaining call is one of that class or returns an
    /// object of it: the last one of another class that `is_tested`. Returns whether there is one.
    pub fn settle(&mut self, methods: &Methods, is_tested: impl Fn(&str) -> bool) -> bool {
        let method = |at: usize| methods.get(self.sequence[at].method);
        let classes = |at: usize| {
            let object = self.sequence[at].on.and_then(|on| method(on).gives());
            let called = method(at).class.clone();
            [object, Some(called), method(at).gives()]
        };
        let mut classes = (0..self.sequence.len()).rev().flat_map(classes).flatten();
        if classes.clone().any(|class| class == self.class) {
            return true;
        }
        let Some(class) = classes.find(|class| is_tested(class)) else {
            return false;
        };
        if let Some(whole) = &mut self.whole {
            whole.class.clone_from(&class);
        }
        self.class = class;
        true
    }

    /// Removes a call whose result is not used.
    pub fn remove(&mut self, at: usize) {
        self.sequence.remove(at);
        let moved = |var: usize| if var > at { var - 1 } else { var };
        for later in &mut self.sequence[at..] {
            *later = later.renumbered(moved);
        }
        self.forget(at);
    }

    /// Inserts a call with what is asserted of it.
    pub fn insert(&mut self, at: usize, call: Statement, assertion: Assertion) {
        let moved = |var: usize| if var >= at { var + 1 } else { var };
        for later in &mut self.sequence[at..] {
            *later = later.renumbered(moved);
        }
        for assertion in self.assertions.iter_mut().flatten() {
            if let Assertion::Same(var) = assertion {
                *var = moved(*var);
            }
        }
        self.sequence.insert(at, call);
        self.assertions.insert(at, Some(assertion));
        self.kept.insert(at, true);
        if at < self.fluent.len() {
            self.fluent.insert(at, false);
        }
    }

    /// Removes the properties of a call that has been removed from the sequence.
    fn forget(&mut self, at: usize) {
        self.assertions.remove(at);
        for assertion in self.assertions.iter_mut().flatten() {
            if let Assertion::Same(var) = assertion
                && *var > at
            {
                *var -= 1;
            }
        }
        self.kept.remove(at);
        if at < self.fluent.len() {
            self.fluent.remove(at);
        }
    }

    /// Whether anything is asserted.
    pub fn asserts(&self) -> bool {
        self.assertions.iter().any(Option::is_some)
    }

    /// The same without the calls in a range that nothing asserts or uses, and the places of these,
    /// last first. Those that stay whatever is asserted only go if they are `idle`, that is, if they
    /// may have done nothing that shows; an exception shows.
    fn without_calls(&self, range: Range<usize>, idle: bool) -> (Checked, Vec<usize>) {
        let mut shorter = self.clone();
        let mut gone = Vec::new();
        for at in range.rev() {
            // An exception in the middle is only asserted because of the calls after it.
            let aside = matches!(shorter.assertions[at], Some(Assertion::Throws(..)));
            let is_asserted = shorter.assertions[at].is_some() && !aside;
            let refers = |assertion: &Option<Assertion>| *assertion == Some(Assertion::Same(at));
            let stays = shorter.kept[at] && (aside || !idle);
            if stays || is_asserted || shorter.assertions.iter().any(refers) {
                continue;
            }
            let Some(sequence) = without(&shorter.sequence, at) else {
                continue;
            };
            shorter.observers -= usize::from(at >= shorter.calls().len());
            shorter.sequence = sequence;
            shorter.forget(at);
            gone.push(at);
        }
        (shorter, gone)
    }
}

/// The worker's own classes. A class that replaces another one while tests are tried must not
/// appear in them.
const OURS: &str = "dev.hindsight.worker";

/// Whether a text names a stack frame or class that exists only because reflection calls, such as
/// one that looks for its caller on the stack: it differs between releases of the JDK, and between
/// places.
pub fn names_caller(text: &str) -> bool {
    const OF_REFLECTION: [&str; 8] = [
        OURS,
        "jdk.internal.reflect.",
        "sun.reflect.",
        "java.lang.invoke.LambdaForm",
        "java.lang.invoke.DirectMethodHandle",
        "java.lang.reflect.Method.invoke",
        "MethodAccessorImpl",
        "DirectMethodHandleAccessor",
    ];
    OF_REFLECTION.iter().any(|name| text.contains(name))
}

/// Whether an outcome reveals the caller.
pub fn tells_caller(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Literal(literal) => is_of_caller(literal),
        Outcome::Array(_, elements) => elements.iter().any(is_of_caller),
        Outcome::Object(_, None, Some(said)) => names_caller(said.text()),
        Outcome::Threw(_, Some(text), _) => names_caller(text),
        _ => false,
    }
}

fn is_of_caller(literal: &Literal) -> bool {
    match literal {
        Literal::Text(text) | Literal::Class(text) => names_caller(text),
        _ => false,
    }
}

/// The assertion that an outcome permits.
pub fn assertion(worker: &Worker, outcome: &Outcome) -> Option<Assertion> {
    match outcome {
        // In a test it may not be thrown at all.
        Outcome::Threw(_, Some(text), _) if text.contains(OURS) => return None,
        Outcome::Literal(_) | Outcome::Array(..) if tells_caller(outcome) => return None,
        _ => {}
    }
    Some(match outcome {
        Outcome::Object(_, None, Some(said)) if names_caller(said.text()) => Assertion::NotNull,
        Outcome::Null => Assertion::Equals(Literal::Null),
        Outcome::Literal(literal) => Assertion::Equals(literal.clone()),
        Outcome::Array(_, elements) => Assertion::Array(elements.clone()),
        Outcome::Object(_, Some(same), _) => Assertion::Same(*same),
        Outcome::Object(_, None, Some(Said::Text(text))) => Assertion::Text(text.clone()),
        Outcome::Object(_, None, Some(Said::Elements(text))) => Assertion::Elements(text.clone()),
        Outcome::Object(_, None, Some(Said::Size(size))) => {
            size.parse().map_or(Assertion::NotNull, Assertion::Size)
        }
        Outcome::Object(_, None, None) => Assertion::NotNull,
        Outcome::Threw(class, message, by @ (Thrower::Platform | Thrower::Program)) => {
            let class = worker.class(*class);
            if class.is_a("java.lang.VirtualMachineError") || class.is_a("java.lang.LinkageError") {
                return None;
            }
            let said = message.as_deref();
            let message = said.filter(|said| says(&class.name, said, *by) && !names_caller(said));
            let name = match is_of_release(&class.name, said, *by) {
                true => "java.lang.RuntimeException",
                false => &named(worker, class)?.name,
            };
            Assertion::Throws(name.to_owned(), message.map(str::to_owned))
        }
        Outcome::Void | Outcome::Threw(_, _, Thrower::Guard) | Outcome::Failed(_) => return None,
    })
}

/// The assertion as if no earlier call had returned the object: about its text.
pub fn assertion_of_any(worker: &Worker, outcome: &Outcome) -> Option<Assertion> {
    assertion(worker, &anew(outcome))
}

/// The outcome of a call, as if no earlier one had returned it.
pub fn anew(outcome: &Outcome) -> Outcome {
    match outcome {
        Outcome::Object(class, Some(_), said) => Outcome::Object(*class, None, said.clone()),
        outcome => outcome.clone(),
    }
}

/// The class of an exception, or its nearest superclass that a source can name.
fn named<'w>(worker: &'w Worker, class: &'w Class) -> Option<&'w Class> {
    let above = class.supers.iter().filter_map(|name| worker.named(name));
    let mut classes = std::iter::once(class).chain(above);
    classes.find(|class| class.accessible && class.is_a("java.lang.Throwable"))
}

const NULL_POINTER: &str = "java.lang.NullPointerException";
/// The beginning of the JVM's messages about a null.
const OF_JVM: &str = "Cannot ";

/// Whether another release of the JDK may throw something else: the message of its own code about a
/// null that was not an argument concerns its state, such as a closed `Deflater`, for which later
/// releases throw an `IllegalStateException`.
fn is_of_release(class: &str, said: Option<&str>, by: Thrower) -> bool {
    class == NULL_POINTER
        && by == Thrower::Platform
        && said.is_some_and(|said| !said.starts_with(OF_JVM))
}

/// Whether the message of an exception is the program's: those of the JVM and the JDK, as about a
/// bad index, differ between releases.
fn says(class: &str, message: &str, by: Thrower) -> bool {
    match class {
        // This is how the JVM's messages about a null begin; all others come from the code that has
        // thrown it.
        NULL_POINTER if message.starts_with(OF_JVM) => return false,
        "java.lang.ArithmeticException" if message == "/ by zero" => return false,
        "java.lang.ArrayIndexOutOfBoundsException"
        | "java.lang.ArrayStoreException"
        | "java.lang.ClassCastException"
        | "java.lang.NegativeArraySizeException" => return false,
        _ => {}
    }
    by == Thrower::Program || !is_jdk(class)
}

/// Whether an outcome agrees with the recorded call.
pub fn as_seen(worker: &Worker, outcome: &Outcome, seen: &Seen) -> bool {
    match (&seen.end, outcome) {
        (End::Threw(class), Outcome::Threw(thrown, _, Thrower::Platform | Thrower::Program)) => {
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

/// Whether an element agrees with the recorded one. A write to an array does not show whether an
/// `int` is a `boolean`.
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

/// Whether all calls ran, and none attempted what it must not do.
pub fn is_whole(executed: &Executed, length: usize) -> bool {
    executed.ended == Ended::Well
        && !executed.blocked
        && executed.outcomes.len() == length
        && !(executed.outcomes.iter()).any(|outcome| matches!(outcome, Outcome::Failed(_)))
}

/// Whether a call only asks an object by the method of this name.
pub fn is_asked_of(call: &Statement, on: usize, name: &str, methods: &Methods) -> bool {
    call.on == Some(on) && call.args.is_empty() && methods.get(call.method).name == name
}

/// Whether the text of an object is asserted.
pub fn is_said(told: &Assertion) -> bool {
    matches!(
        told,
        Assertion::Text(_) | Assertion::Elements(_) | Assertion::Size(_)
    )
}

/// Whether all assertions about a sequence have held.
pub fn held(
    sequence: &Sequence,
    assertions: &[Option<Assertion>],
    executed: &Executed,
    worker: &Worker,
) -> bool {
    is_whole(executed, sequence.len())
        && (executed.outcomes.iter().zip(sequence).zip(assertions)).all(
            |((outcome, statement), wanted)| {
                let threw = matches!(outcome, Outcome::Threw(..));
                let found = assertion(worker, outcome);
                let same = match (wanted, found) {
                    (None, _) => true,
                    // The text or message was not always the same.
                    (
                        Some(Assertion::NotNull),
                        Some(Assertion::Text(_) | Assertion::Elements(_) | Assertion::Size(_)),
                    ) => true,
                    (Some(Assertion::Throws(class, None)), Some(Assertion::Throws(other, _))) => {
                        *class == other
                    }
                    (Some(wanted), Some(Assertion::Same(_))) if is_said(wanted) => {
                        assertion_of_any(worker, outcome).as_ref() == Some(wanted)
                    }
                    (Some(wanted), found) => found.as_ref() == Some(wanted),
                };
                threw == statement.may_throw && same
            },
        )
}

/// Whether all assertions hold when it is executed there once more.
pub async fn holds(checked: &Checked, lab: &Lab<'_>, side: Side, state: State) -> bool {
    let executed = lab.order(side, state, &checked.sequence).await;
    let worker = lab.worker(side);
    held(&checked.sequence, &checked.assertions, &executed, &worker)
}

/// Calls that may be removed together.
struct Part {
    range: Range<usize>,
    /// Whether they are the second half of calls that cannot all be removed.
    is_second: bool,
    /// Whether it is known that not all of them can be removed.
    is_needed: bool,
}

/// Removes calls as long as all assertions hold.
pub async fn minimise(checked: &mut Checked, lab: &Lab<'_>, side: Side, state: State) {
    let holds = async |shorter: &Checked| holds(shorter, lab, side, state).await;
    reduce(checked, false, holds).await;
}

/// The most executions of a test to find the calls that have no effect which it asserts.
const MAX_IDLE_TRIALS: usize = 64;

/// Removes the object's own calls that have no effect which shows, as long as all assertions hold.
pub async fn drop_idle(checked: &mut Checked, lab: &Lab<'_>, side: Side, state: State) {
    let mut trials = 0;
    let holds = async |shorter: &Checked| {
        trials += 1;
        trials <= MAX_IDLE_TRIALS && holds(shorter, lab, side, state).await
    };
    reduce(checked, true, holds).await;
}

/// Removes calls as long as the rest `holds`, until none can be removed. If a call has been removed
/// that precedes some that could not, these are tried again: a call that removes an entry is
/// useless if none inserts it.
async fn reduce(checked: &mut Checked, idle: bool, mut holds: impl AsyncFnMut(&Checked) -> bool) {
    while reduce_once(checked, idle, &mut holds).await {}
}

/// The same with one attempt for each call: as many as possible at once, then of those that cannot
/// be removed, one half after the other. What is used precedes what uses it, so later calls are
/// removed first. Returns whether another attempt is worthwhile.
async fn reduce_once(
    checked: &mut Checked,
    idle: bool,
    holds: &mut impl AsyncFnMut(&Checked) -> bool,
) -> bool {
    let mut pending = vec![Part {
        range: 0..checked.sequence.len(),
        is_second: false,
        is_needed: false,
    }];
    let mut some_stay = false;
    let mut again = false;
    while let Some(part) = pending.pop() {
        let range = part.range;
        let (shorter, gone) = checked.without_calls(range.clone(), idle);
        // They are in order from the last to the first.
        let Some(middle) = gone.get(gone.len() / 2) else {
            continue;
        };
        if !part.is_needed && holds(&shorter).await {
            *checked = shorter;
            again |= some_stay;
            // Together with the first half, this was tried in vain.
            if let Some(first) = pending.last_mut().filter(|_| part.is_second) {
                first.is_needed = true;
            }
        } else if gone.len() > 1 {
            let middle = *middle + 1;
            for (range, is_second) in [(range.start..middle, false), (middle..range.end, true)] {
                pending.push(Part {
                    range,
                    is_second,
                    is_needed: false,
                });
            }
        } else {
            some_stay = true;
        }
    }
    again
}
