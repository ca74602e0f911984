//! The questions to an object at the end of a test: methods that change nothing.
//!
//! - `others` asks other objects of the test.
//! - `said` finds answers that others give as well.
//! - `telling` decides which results are informative.

mod others;
mod said;
mod telling;

pub use others::ask_others;

use super::asserted::{
    Assertion, Checked, assertion, assertion_of_any, is_asked_of, is_said, is_whole,
};
use super::carve::Access;
use super::complete::{Wanted, is_alike};
use super::lab::{Lab, Side, State};
use super::sequence::{Arg, Method, Methods, Sequence, Statement};
use super::worker::{Executed, Outcome};
use crate::classpath::is_jdk;
use crate::java::descriptor;
use crate::model::mutable::Mutability;
use crate::model::values::Literal;
use said::{Answers, mentions};
use std::collections::{BTreeMap, HashSet};
use telling::{is_empty, message, says_itself, shows};

/// The most observers that are called at the end of a test.
pub const MAX_OBSERVERS: usize = 4;
/// The most that are tried, to find informative ones.
const MAX_TRIED: usize = 64;
/// The most results of an object that are questioned in turn.
const MAX_PARTS: usize = 4;
/// The most questions to each of these.
const MAX_ASKED: usize = 6;
/// The length from which on a text is less informative than others.
const MAX_TEXT: usize = 200;
/// The length of the longest text that is asked for beside others, some five lines of code.
const MAX_TEXT_BESIDE: usize = 400;

/// The most questions to an object that a call has returned, such as a copy: nothing is known about
/// it before.
const MAX_GIVEN: usize = 6;

/// Adds questions to the object at the end.
pub fn observe(
    checked: &mut Checked,
    object: usize,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
) {
    let Some(mutability) = wanted.mutability else {
        return;
    };
    let (_, declared) = methods.get(checked.sequence[object].method).types();
    let Some(declared) = descriptor::class_name(&declared) else {
        return;
    };
    if !access.is_a(&checked.class, &declared) {
        return;
    }
    let mut observers = questions(&checked.class, &declared, mutability, access);
    let is_exact = declared == checked.class;
    // What the run asked last need not be asked again.
    for statement in checked.sequence.iter().rev() {
        let method = methods.get(statement.method);
        let asked = statement.on == Some(object) && observers.contains_key(method.name.as_str());
        if !asked || !statement.args.is_empty() || statement.may_throw {
            break;
        }
        // Of a list it may not be known what it has said.
        let given = method.gives();
        if given.is_none_or(|class| !is_jdk(&class) || class == "java.lang.String") {
            observers.remove(method.name.as_str());
        }
    }
    let most = match wanted.harmful.borrow().contains(&checked.class) {
        true => MAX_OBSERVERS,
        false => MAX_TRIED,
    };
    let parts = match most == MAX_TRIED && is_exact {
        true => {
            let known = checked.sequence.iter().map(|call| methods.get(call.method));
            let known = known.map(|method| (method.name.clone(), method.descriptor.clone()));
            let known: Vec<_> = known.collect();
            parts(&checked.class, &known, access, mutability)
        }
        false => Vec::new(),
    };
    let called = words_called(&checked.sequence, methods);
    let mut observers: Vec<Method> = observers.into_values().collect();
    observers.sort_by_key(|method| !is_about(&method.name, &called));
    let mut ask = |method: Method, on: usize, shown: bool| {
        checked.sequence.push(Statement {
            method: methods.intern(method),
            on: Some(on),
            args: Vec::new(),
            may_throw: true,
            shown,
        });
        checked.kept.push(true);
        checked.sequence.len() - 1
    };
    for method in observers.into_iter().take(most) {
        ask(method, object, true);
    }
    for (gives, asking) in parts {
        let part = ask(gives, object, false);
        for method in asking {
            ask(method, part, true);
        }
    }
}

/// The questions to an object of a class, by name. A source only knows the declared type of the
/// object, which may be less specific: that of a factory's result.
fn questions(
    class: &str,
    declared: &str,
    mutability: &Mutability,
    access: &Access<'_>,
) -> BTreeMap<String, Method> {
    let asking = access.asking(class).into_iter();
    let asking = asking.filter(|method| is_question(method, mutability, access));
    let asking = asking.chain(message(class, access));
    let asking = asking.filter_map(|method| match declared == class {
        true => Some(method),
        false => access.declared(&descriptor::of_class(declared), &method),
    });
    asking.map(|method| (method.name.clone(), method)).collect()
}

/// Whether a method of an object may show something, and changes nothing. A copy has the same text
/// as the object.
fn is_question(method: &Method, mutability: &Mutability, access: &Access<'_>) -> bool {
    let (_, result) = method.types();
    (shows(&result, access) || says_itself(&result, mutability, access))
        && !matches!(&*method.name, "clone" | "hashCode")
        && method.leaves(mutability, 0)
}

/// The program's objects that an object returns, and their texts in turn: the account of a depot,
/// and its balance. Those that the calls have asked for themselves are not included.
fn parts(
    class: &str,
    called: &[(String, String)],
    access: &Access<'_>,
    mutability: &Mutability,
) -> Vec<(Method, Vec<Method>)> {
    let is_new = |method: &Method| {
        let mut called = called.iter();
        !called.any(|(name, descriptor)| *name == method.name && *descriptor == method.descriptor)
    };
    let given = access.asking(class).into_iter().filter_map(|gives| {
        let part = gives.gives().filter(|part| part != class)?;
        let is_part = is_new(&gives)
            && gives.leaves(mutability, 0)
            && access.is_own(&part)
            && access.is_open(&part)
            && !access.is_enum(&part);
        let asking = match is_part {
            true => access.asking(&part).into_iter(),
            false => return None,
        };
        let asking =
            asking.filter(|method| is_question(method, mutability, access) && is_new(method));
        let asking: Vec<Method> = asking.take(MAX_ASKED).collect();
        (!asking.is_empty()).then_some((gives, asking))
    });
    given.take(MAX_PARTS).collect()
}

/// The words in the names of the called methods, in lower case.
fn words_called(sequence: &[Statement], methods: &Methods) -> HashSet<String> {
    let names = sequence.iter().map(|call| &*methods.get(call.method).name);
    names.flat_map(words).collect()
}

/// Whether a method concerns what others with these words do: `getQuoteMode` concerns
/// `withQuoteMode`.
fn is_about(name: &str, called: &HashSet<String>) -> bool {
    let told = words(name).into_iter();
    let mut told = told.filter(|word| !matches!(word.as_str(), "get" | "is" | "has" | "to"));
    told.any(|word| called.contains(&word))
}

/// The words of a method's name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| word.len() > 1);
    words
}

/// Removes those of the observers, which begin at `first`, that are not informative.
pub fn drop_observers(checked: &mut Checked, executed: &Executed, first: usize) {
    for at in (first..checked.sequence.len()).rev() {
        let threw = matches!(executed.outcomes.get(at), Some(Outcome::Threw(..)));
        let is_left_out = (threw || checked.assertions[at].is_none()) && leave_out(checked, at);
        if !is_left_out {
            checked.sequence[at].may_throw = false;
            checked.observers += 1;
        }
    }
}

/// Removes an observer, unless another one is asserted to return the same object, or questions its
/// result. Returns whether it was removed.
pub fn leave_out(checked: &mut Checked, at: usize) -> bool {
    if checked.assertions.contains(&Some(Assertion::Same(at))) || is_asked(checked, at) {
        return false;
    }
    checked.remove(at);
    true
}

/// Whether another observer questions the result of this one.
pub fn is_asked(checked: &Checked, at: usize) -> bool {
    checked.sequence[at + 1..]
        .iter()
        .any(|later| later.on == Some(at))
}

/// Removes the observers about which nothing is asserted any more.
pub fn drop_silent(checked: &mut Checked) {
    for at in (checked.calls().len()..checked.sequence.len()).rev() {
        if checked.assertions[at].is_none() && leave_out(checked, at) {
            checked.observers -= 1;
        }
    }
}

/// Keeps those observers that show what the calls have changed; if none shows that, some that show
/// what the object is, unless the calls suffice.
pub async fn choose(
    checked: &mut Checked,
    object: usize,
    length: usize,
    wanted: &Wanted<'_>,
    lab: &Lab<'_>,
) {
    let count = checked.sequence.len() - length;
    if count == 0 {
        return;
    }
    // Changes show in comparison with the state before the first call, or before the last one that
    // may change anything.
    let mut own = (object + 1..length).filter(|at| checked.kept[*at]);
    let first = own.next();
    let last = own.rfind(|at| {
        let method = checked.sequence[*at].method;
        !wanted.changes_nothing(lab.methods().get(method))
    });
    let mut ordered = Vec::new();
    for place in [first, last].into_iter().flatten() {
        let moved = |var: usize| if var >= place { var + count } else { var };
        let asked = |var: usize| {
            if var >= length {
                var - length + place
            } else {
                var
            }
        };
        let calls = checked.sequence[place..length].iter();
        let observers = checked.sequence[length..].iter();
        let sequence: Sequence = (checked.sequence[..place].iter().cloned())
            .chain(observers.map(|call| call.renumbered(asked)))
            .chain(calls.map(|call| call.renumbered(moved)))
            .collect();
        ordered.push((place, lab.order(Side::Here, State::Left, &sequence)));
    }
    let mut before = Vec::new();
    for (place, order) in ordered {
        let executed = order.await;
        if is_whole(&executed, checked.sequence.len()) {
            let worker = lab.worker(Side::Here);
            let outcomes = executed.outcomes[place..place + count].iter();
            // This has the form of later reports, so that they can be compared.
            let told = outcomes.zip(&checked.assertions[length..]);
            let told = told.map(|(outcome, after)| match after {
                Some(after) if is_said(after) => assertion_of_any(&worker, outcome),
                _ => match assertion(&worker, outcome) {
                    Some(Assertion::Same(var)) if var >= place => {
                        Some(Assertion::Same(var - place + length))
                    }
                    told => told,
                },
            });
            before.push(told.collect::<Vec<_>>());
        }
    }
    let after = &checked.assertions[length..];
    let text = |at: usize| after[at].as_ref()?.text();
    let says = |at: usize| match &after[at] {
        Some(Assertion::NotNull) | None => false,
        Some(answer) => !is_empty(answer),
    };
    let changed = |at: usize| {
        let mut before = before.iter();
        before.any(|told| told[at].is_some() && told[at] != after[at])
    };
    // Arguments, and what the calls concern, are more informative than what comes first by name.
    let calls = || checked.sequence[..length].iter();
    let passed = |literal: &Literal| {
        let is_common = |literal: &Literal| matches!(literal, Literal::Bool(_) | Literal::Null);
        let mut args = calls().flat_map(|call| &call.args);
        !is_common(literal)
            && args.any(|arg| matches!(arg, Arg::Literal(passed) if passed == literal))
    };
    let called = words_called(&checked.sequence[..length], &lab.methods());
    let rank = |at: usize| {
        let is_passed = match &after[at] {
            Some(Assertion::Equals(literal)) => passed(literal),
            Some(Assertion::Text(text)) => passed(&Literal::Text(text.clone())),
            _ => false,
        };
        let methods = lab.methods();
        let name = &methods.get(checked.sequence[length + at].method).name;
        match (is_about(name, &called), is_passed) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        }
    };
    let of_part = |at: usize| (checked.sequence[length + at].on).is_some_and(|on| on >= length);
    let mut order: Vec<usize> = (0..count).collect();
    order.retain(|at| !is_asked(checked, length + at));
    let length_of = |at: usize| text(at).map_or(0, str::len);
    order.sort_by_cached_key(|at| {
        let is_long = length_of(*at) > MAX_TEXT;
        let is_list = matches!(
            after[*at],
            Some(Assertion::Array(_) | Assertion::Elements(_))
        );
        (of_part(*at), is_long, rank(*at), is_list)
    });
    // What a call has shown need not be asked for again, nor what another observer shows.
    let is_told_before = |at: usize| {
        let asked = &checked.sequence[length + at];
        let mut calls = checked.sequence[..length].iter().zip(&checked.assertions);
        !changed(at) && calls.any(|(call, told)| is_alike(call, asked) && *told == after[at])
    };
    order.retain(|at| !is_told_before(*at));
    // Nor what its text has said.
    {
        let methods = lab.methods();
        let said = texts(checked, object, length, &methods);
        let is_said = |told: &Assertion| said.iter().any(|said| mentions(said, told));
        order.retain(|at| changed(*at) || !after[*at].as_ref().is_some_and(is_said));
    }
    let mut answers = Answers::default();
    order.retain(|at| {
        let asked = &checked.sequence[length + at];
        let methods = lab.methods();
        let name = &methods.get(asked.method).name;
        (after[*at].as_ref()).is_none_or(|told| answers.are_new(asked.on, name, told))
    });
    if order.iter().any(|at| length_of(*at) <= MAX_TEXT_BESIDE) {
        order.retain(|at| length_of(*at) <= MAX_TEXT_BESIDE);
    }
    let some = |wanted: &dyn Fn(usize) -> bool, most: usize| -> Vec<usize> {
        let fitting = order.iter().copied().filter(|at| wanted(*at));
        fitting.take(most).collect()
    };
    let tells = |assertion: &Option<Assertion>| {
        !matches!(
            assertion,
            None | Some(Assertion::Same(_) | Assertion::NotNull)
        )
    };
    let is_told = checked.assertions[..length].iter().any(tells);
    let is_life = checked
        .kept
        .iter()
        .take(length)
        .filter(|kept| **kept)
        .count()
        > 1;
    let mut chosen = some(&|at| changed(at) && !of_part(at), MAX_OBSERVERS);
    if chosen.is_empty() {
        chosen = some(&|at| changed(at) && of_part(at), MAX_OBSERVERS);
    }
    if chosen.is_empty() {
        let says = |at: usize| says(at) && !of_part(at);
        chosen = match is_told && first.is_some() {
            true => some(&says, usize::from(is_life)),
            false => some(&says, 3),
        };
        if chosen.is_empty() && !is_told {
            chosen = some(&|at| !of_part(at), 2);
        }
    }
    if is_given(lab.methods().get(checked.sequence[object].method)) {
        let own = some(&|at| says(at) && !of_part(at), count);
        let methods = lab.methods();
        // What it says of itself is said first, unless calls have changed it.
        if !chosen.iter().any(|at| changed(*at)) && !own.is_empty() {
            chosen.clear();
        }
        add_unsaid(&mut chosen, own, checked, (object, length), &methods);
    }
    for at in (0..count).rev().filter(|at| !chosen.contains(at)) {
        if leave_out(checked, length + at) {
            checked.observers -= 1;
        }
    }
}

/// Whether a call may return a new object about which nothing is known: a constructor's is made
/// from its arguments, and what a class returns without arguments may be the only one.
fn is_given(method: &Method) -> bool {
    let is_alone = method.is_static && method.types().0.is_empty();
    !method.is_constructor() && !method.is_constant() && !is_alone
}

/// Whether a call gives the text of an object: the one that returns it, or a question.
fn is_text(checked: &Checked, object: usize, at: usize, methods: &Methods) -> bool {
    at == object || is_asked_of(&checked.sequence[at], object, "toString", methods)
}

/// The texts of an object that the first `length` calls have given.
fn texts<'c>(
    checked: &'c Checked,
    object: usize,
    length: usize,
    methods: &Methods,
) -> Vec<&'c str> {
    let calls = (0..length).filter(|at| is_text(checked, object, *at, methods));
    calls
        .filter_map(|at| checked.assertions[at].as_ref()?.text())
        .collect()
}

/// Adds to the chosen observers, which are places behind the first `length` calls, some of the
/// object's `own` that show what its text does not.
fn add_unsaid(
    chosen: &mut Vec<usize>,
    mut own: Vec<usize>,
    checked: &Checked,
    (object, length): (usize, usize),
    methods: &Methods,
) {
    let text = |at: usize| {
        let told = checked.assertions[at].as_ref();
        told.filter(|_| is_text(checked, object, at, methods))?
            .text()
    };
    let mut said = texts(checked, object, length, methods);
    said.extend(chosen.iter().filter_map(|at| text(length + at)));
    own.sort_by_key(|at| !is_text(checked, object, length + at, methods));
    for at in own {
        let told = checked.assertions[length + at].as_ref();
        let is_said = told.is_some_and(|told| said.iter().any(|said| mentions(said, told)));
        if chosen.len() < MAX_GIVEN && !chosen.contains(&at) && !is_said {
            chosen.push(at);
            said.extend(text(length + at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sequence::MethodId;
    use super::super::worker::{ClassNumber, Ended, Thrower};
    use super::*;
    use std::time::Duration;

    /// An object that is made, and questioned at the end; the first call is not an observer.
    fn asked(assertions: Vec<Option<Assertion>>) -> Checked {
        let call = |at: usize| Statement {
            method: MethodId(at as u32),
            on: at.checked_sub(1).map(|_| 0),
            args: Vec::new(),
            may_throw: at > 0,
            shown: at > 0,
        };
        Checked {
            sequence: (0..assertions.len()).map(call).collect(),
            kept: vec![true; assertions.len()],
            fluent: vec![false],
            assertions,
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    fn numbers(checked: &Checked) -> Vec<u32> {
        let calls = checked.sequence.iter();
        calls.map(|call| call.method.0).collect()
    }

    #[test]
    fn observers_that_give_the_same_object_find_it_when_others_go() {
        let one = |at: usize| match at {
            1 => Outcome::Threw(ClassNumber(0), None, Thrower::Program),
            4 => Outcome::Object(ClassNumber(0), Some(2), None),
            _ => Outcome::Object(ClassNumber(0), None, None),
        };
        let executed = Executed {
            outcomes: (0..5).map(one).collect(),
            states: Vec::new(),
            blocks: Vec::new(),
            blocked: false,
            ended: Ended::Well,
            stuck: None,
            threads: false,
            hashed: false,
            took: Duration::ZERO,
            lasted: Duration::ZERO,
        };
        // The first one has thrown; about the second, only that the last one returns the same is
        // asserted.
        let same = |at: usize| Some(Assertion::Same(at));
        let mut checked = asked(vec![None, None, None, None, same(2)]);
        drop_observers(&mut checked, &executed, 1);
        assert_eq!(numbers(&checked), [0, 2, 4]);
        assert_eq!(checked.assertions, [None, None, same(1)]);
        assert_eq!(checked.observers, 2);
        assert!(checked.sequence.iter().all(|call| !call.may_throw));
        // Without the last one, the second is not needed.
        checked.assertions[2] = None;
        drop_silent(&mut checked);
        assert_eq!(numbers(&checked), [0]);
        assert_eq!(checked.observers, 0);
    }

    /// A copy is asked for all that its text does not say, even if others return it as well.
    #[test]
    fn what_a_call_has_given_is_asked_for_what_its_text_does_not_say() {
        let mut methods = Methods::default();
        let method = |name: &str, is_static: bool, descriptor: &str| Method {
            class: "Person".to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            is_static,
            runs: None,
        };
        assert!(is_given(&method("withMail", false, "(LMail;)LPerson;")));
        assert!(is_given(&method("parse", true, "(LText;)LPerson;")));
        assert!(!is_given(&method("only", true, "()LPerson;")));
        assert!(!is_given(&method("<init>", false, "(LMail;)V")));
        let text = |text: &str| Some(Assertion::Equals(Literal::Text(text.to_owned())));
        let number = |number| Some(Assertion::Equals(Literal::Int(number)));
        let names = ["withMail", "first", "born", "roles", "toString", "age"];
        for name in names {
            methods.intern(method(name, false, "()I"));
        }
        let (born, roles) = (number(1990), text("[dev, ops]"));
        let age = number(9);
        let mut checked = asked(vec![None, text("Ann"), born, roles, text("Ann Lee"), age]);
        let mut chosen = vec![4];
        add_unsaid(&mut chosen, (0..5).collect(), &checked, (0, 1), &methods);
        // Her text contains her first name.
        assert_eq!(chosen, [4, 3, 1, 2]);
        // It is asked before, and what is not a word of its own does not count.
        checked.assertions[4] = text("Ann Lee, Annex 1990, 19");
        checked.assertions[1] = text("Ex");
        let mut chosen = Vec::new();
        add_unsaid(&mut chosen, (0..5).collect(), &checked, (0, 1), &methods);
        assert_eq!(chosen, [3, 0, 2, 4]);
    }

    /// A depot is asked for its account, and that for its balance: the account stays as long as it
    /// is questioned.
    #[test]
    fn what_is_asked_in_turn_keeps_what_is_asked_for_it() {
        let number = |number| Some(Assertion::Equals(Literal::Int(number)));
        let depot = || {
            let mut depot = asked(vec![None, number(1), None, number(-250), number(2)]);
            depot.sequence[3].on = Some(2);
            depot.sequence[4].on = Some(2);
            depot.observers = 4;
            depot
        };
        let mut checked = depot();
        assert!(!leave_out(&mut checked, 2));
        // The first is removed, and the others still find what they question.
        assert!(leave_out(&mut checked, 1));
        assert_eq!(numbers(&checked), [0, 2, 3, 4]);
        let on: Vec<_> = checked.sequence.iter().map(|call| call.on).collect();
        assert_eq!(on, [None, Some(0), Some(1), Some(1)]);
        // If nothing is asserted about the last ones, it is not needed.
        checked.assertions[2] = None;
        checked.assertions[3] = None;
        checked.observers = 3;
        drop_silent(&mut checked);
        assert_eq!(numbers(&checked), [0]);
    }
}
