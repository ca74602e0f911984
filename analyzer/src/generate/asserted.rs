//! Decides what is asserted of a sequence, and which calls that needs.

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
    /// last first.
    fn without_calls(&self, range: Range<usize>) -> (Checked, Vec<usize>) {
        let mut shorter = self.clone();
        let mut gone = Vec::new();
        for at in range.rev() {
            // An exception in the middle is only asserted because of the calls after it.
            let aside = matches!(shorter.assertions[at], Some(Assertion::Throws(..)));
            let is_asserted = shorter.assertions[at].is_some() && !aside;
            let refers = |assertion: &Option<Assertion>| *assertion == Some(Assertion::Same(at));
            if shorter.kept[at] || is_asserted || shorter.assertions.iter().any(refers) {
                continue;
            }
            let Some(sequence) = without(&shorter.sequence, at) else {
                continue;
            };
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
    reduce(checked, holds).await;
}

/// Removes calls as long as the rest `holds`, until none can be removed. If a call has been removed
/// that precedes some that could not, these are tried again: a call that removes an entry is
/// useless if none inserts it.
async fn reduce(checked: &mut Checked, mut holds: impl AsyncFnMut(&Checked) -> bool) {
    while reduce_once(checked, &mut holds).await {}
}

/// The same with one attempt for each call: as many as possible at once, then of those that cannot
/// be removed, one half after the other. What is used precedes what uses it, so later calls are
/// removed first. Returns whether another attempt is worthwhile.
async fn reduce_once(checked: &mut Checked, holds: &mut impl AsyncFnMut(&Checked) -> bool) -> bool {
    let mut pending = vec![Part {
        range: 0..checked.sequence.len(),
        is_second: false,
        is_needed: false,
    }];
    let mut some_stay = false;
    let mut again = false;
    while let Some(part) = pending.pop() {
        let range = part.range;
        let (shorter, gone) = checked.without_calls(range.clone());
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

#[cfg(test)]
mod tests {
    use super::super::sequence::{Arg, Method, MethodId};
    use super::*;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn messages_of_the_program_are_asserted() {
        use Thrower::{Platform, Program};
        let index = "java.lang.IndexOutOfBoundsException";
        assert!(says(index, "no row 3", Program));
        assert!(!says(index, "Index 3 out of bounds for length 2", Platform));
        let number = "java.lang.NumberFormatException";
        assert!(says(number, "what is x1?", Program));
        assert!(!says(number, "For input string: \"x1\"", Platform));
        // The JVM throws it on behalf of the program.
        let array = "java.lang.ArrayIndexOutOfBoundsException";
        assert!(!says(array, "Index 3 out of bounds for length 2", Program));
        let null = "java.lang.NullPointerException";
        assert!(!says(null, "Cannot read the array length", Program));
        assert!(says(null, "a name", Program));
        // The messages of the JDK's own code do not count either, whatever it throws.
        assert!(!says(null, "Deflater has been closed", Platform));
        let argument = "java.lang.IllegalArgumentException";
        assert!(!says(argument, "bound must be positive", Platform));
        assert!(says(argument, "no row 3", Program));
        assert!(!says("java.lang.ArithmeticException", "/ by zero", Program));
        assert!(says("shop.Closed", "since May", Platform));
    }

    #[test]
    fn what_another_release_throws_is_not_expected_by_its_class() {
        use Thrower::{Platform, Program};
        let closed = Some("Deflater has been closed");
        assert!(is_of_release(NULL_POINTER, closed, Platform));
        assert!(!is_of_release(NULL_POINTER, closed, Program));
        let jvm = Some("Cannot read the array length because \"value\" is null");
        assert!(!is_of_release(NULL_POINTER, jvm, Platform));
        assert!(!is_of_release(NULL_POINTER, None, Platform));
        let state = "java.lang.IllegalStateException";
        assert!(!is_of_release(state, closed, Platform));
    }

    #[test]
    fn what_names_the_caller_is_seen() {
        for text in [
            "jdk.internal.reflect.NativeMethodAccessorImpl.invoke0:-2",
            "at DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:104)",
            "java.base/java.lang.reflect.Method.invoke(Method.java:580)",
            "[shop.Log.find, sun.reflect.NativeMethodAccessorImpl.invoke]",
            "dev.hindsight.worker.Worker.call",
        ] {
            assert!(names_caller(text), "{text}");
        }
        for text in [
            "class java.lang.reflect.Method",
            "java.lang.invoke.MethodType",
            "shop.Main.main:12",
        ] {
            assert!(!names_caller(text), "{text}");
        }
        let class = Literal::Class("sun.reflect.Frame".to_owned());
        assert!(tells_caller(&Outcome::Literal(class)));
    }

    /// Calls whose arguments are the results of these earlier calls.
    fn calls(uses: &[Option<usize>]) -> Checked {
        let call = |(at, uses): (usize, &Option<usize>)| Statement {
            method: MethodId(at as u32),
            on: None,
            args: uses.iter().map(|var| Arg::Var(*var)).collect(),
            may_throw: false,
            shown: false,
        };
        Checked {
            sequence: uses.iter().enumerate().map(call).collect(),
            assertions: vec![None; uses.len()],
            kept: vec![false; uses.len()],
            fluent: vec![false; uses.len()],
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    /// The remaining calls, by number, if these are needed, and the number of attempts.
    fn reduced(checked: Checked, needed: &[u32]) -> (Vec<u32>, usize) {
        reduced_to(checked, |left| needed.iter().all(|one| left.contains(one)))
    }

    /// The same if the rest must be `enough`.
    fn reduced_to(mut checked: Checked, enough: impl Fn(&[u32]) -> bool) -> (Vec<u32>, usize) {
        let numbers = |checked: &Checked| -> Vec<u32> {
            let each = checked.sequence.iter();
            each.map(|call| call.method.0).collect()
        };
        let mut asked = 0;
        let holds = async |shorter: &Checked| {
            asked += 1;
            enough(&numbers(shorter))
        };
        {
            let job = std::pin::pin!(reduce(&mut checked, holds));
            let done = job.poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(done, Poll::Ready(()), "nothing is waited for");
        }
        (numbers(&checked), asked)
    }

    /// A test of an order, which was removed with the calls that nothing needs, becomes one of the
    /// remaining door.
    #[test]
    fn a_test_is_about_what_is_left() {
        let mut methods = Methods::default();
        for (class, name, descriptor) in [
            ("Door", "<init>", "()V"),
            ("Door", "open", "()LState;"),
            ("Order", "of", "(LState;)LOrder;"),
        ] {
            methods.intern(Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: name == "of",
                runs: None,
            });
        }
        // The class that these calls test, if only those classes are tested.
        let about = |uses: &[Option<usize>], class: &str, tested: &[&str]| {
            let mut test = calls(uses);
            test.class = class.to_owned();
            let is = test.settle(&methods, |class| tested.contains(&class));
            is.then_some(test.class)
        };
        let all = ["Door", "Order", "State"];
        let is = |class: &str| Some(class.to_owned());
        assert_eq!(about(&[None, Some(0), Some(1)], "Order", &all), is("Order"));
        assert_eq!(about(&[None, Some(0), Some(1)], "Door", &all), is("Door"));
        assert_eq!(about(&[None, Some(0)], "Order", &all), is("Door"));
        assert_eq!(about(&[None, Some(0)], "Order", &["State"]), is("State"));
        assert_eq!(about(&[None, Some(0)], "Order", &["Order"]), None);
    }

    #[test]
    fn calls_that_nothing_needs_go() {
        let loose = vec![None; 32];
        assert_eq!(reduced(calls(&loose), &[]), (vec![], 1));
        let (left, asked) = reduced(calls(&loose), &[3, 9, 30]);
        assert_eq!(left, [3, 9, 30]);
        assert!(asked < 32, "{asked}");
        let all: Vec<u32> = (0..32).collect();
        assert_eq!(reduced(calls(&loose), &all).0, all);
        // What a needed call uses stays; what a removed call uses may be removed.
        let chain = [None, Some(0), None, Some(2), Some(1)];
        assert_eq!(reduced(calls(&chain), &[1]).0, [0, 1]);
        assert_eq!(reduced(calls(&chain), &[3]).0, [2, 3]);
        // Kept and asserted calls are not even tried.
        let mut kept = calls(&loose);
        kept.kept[5] = true;
        kept.assertions[6] = Some(Assertion::NotNull);
        assert_eq!(reduced(kept, &[]), (vec![5, 6], 1));
    }

    /// `put(a)`, `put(b)`, `remove(a)`: once nothing is put that it removes, `remove` has no
    /// effect.
    #[test]
    fn what_undoes_a_call_goes_with_it() {
        let enough = |left: &[u32]| left.contains(&2) && (left.contains(&3) || !left.contains(&1));
        assert_eq!(reduced_to(calls(&[None; 4]), enough).0, [2]);
    }
}
