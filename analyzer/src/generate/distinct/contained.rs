//! Finds tests that others contain, with further calls and assertions in between.

use crate::generate::asserted::{Assertion, Checked};
use crate::generate::complete::is_alike;
use crate::generate::distinct::asked::asks;
use crate::generate::sequence::{MethodId, Methods, Statement};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Leaves out numbered tests if another one of their class makes all of their calls, in the same
/// order, with the same assertions; those that equal a test of another class; and those that only
/// say that there is an object, if another test of any class asks it for more, or one of their
/// class says the same about the result of this method. Returns the number of these.
///
/// This is for tests that pass: one that comes out by chance would invalidate those that it
/// contains.
pub fn leave_out_contained(tests: &mut BTreeMap<usize, Checked>, methods: &Methods) -> usize {
    let mut order: Vec<(&usize, &Checked)> = tests.iter().collect();
    order.sort_by_key(|(_, test)| Reverse(test.sequence.len()));
    let mut left: Vec<&Checked> = Vec::new();
    let mut contained = Vec::new();
    let mut said_there = HashSet::new();
    for (number, test) in order {
        let is_bare = says_only_there(test, methods);
        let is_told = |other: &&Checked| {
            is_in(test, other, methods, is_bare)
                && (is_bare || other.class == test.class || is_in(other, test, methods, false))
        };
        let mut bare = || is_bare && !said_there.insert((&test.class, last_said(test)));
        match left.iter().any(is_told) || bare() {
            true => contained.push(*number),
            false => left.push(test),
        }
    }
    contained.iter().for_each(|number| {
        tests.remove(number);
    });
    contained.len()
}

/// Whether a test only says that there is an object, perhaps at the end of a chain.
fn says_only_there(test: &Checked, methods: &Methods) -> bool {
    let mut told = (0..test.sequence.len()).filter(|at| !is_chained(test, *at, methods));
    told.all(|at| matches!(test.assertions[at], None | Some(Assertion::NotNull)))
        && test.assertions.contains(&Some(Assertion::NotNull))
}

/// The last method about which a test asserts something.
fn last_said(test: &Checked) -> Option<MethodId> {
    let said = test.assertions.iter().rposition(Option::is_some)?;
    Some(test.sequence[said].method)
}

/// Whether a call returns its own object, with the same type: then what follows is chained to it.
fn is_chained(test: &Checked, at: usize, methods: &Methods) -> bool {
    let result = |at: usize| methods.get(test.sequence[at].method).types().1;
    let on = test.sequence[at].on;
    on.is_some_and(|on| {
        test.assertions[at] == Some(Assertion::Same(on)) && result(at) == result(on)
    })
}

/// Whether a test uses the result of a call, so that its existence is implied.
fn is_asked(test: &Checked, at: usize) -> bool {
    test.sequence.iter().any(|call| call.on == Some(at))
}

/// Whether a test is another one without some of its calls. The object of a chain may be implicit
/// there.
fn is_in(test: &Checked, other: &Checked, methods: &Methods, is_bare: bool) -> bool {
    // The place of each of its calls in the other test.
    let mut places: Vec<usize> = Vec::new();
    // The ends of the calls that do something, and of all of them.
    let (mut done, mut all) = (0, 0);
    for (at, call) in test.sequence.iter().enumerate() {
        let own = call.renumbered(|var| places[var]);
        let told = test.assertions[at].as_ref();
        let told = told.filter(|_| !is_bare || !is_chained(test, at, methods));
        let told = told.map(|told| match told {
            Assertion::Same(var) => Assertion::Same(places[*var]),
            told => told.clone(),
        });
        let is_question =
            (told.as_ref()).is_some_and(|told| asks(&own, methods.get(own.method), told));
        let from = if is_question { done } else { all };
        let mut rest = from..other.sequence.len();
        // The text that one asks for in a call of its own, the other has asserted at once.
        let at_once = || {
            let on = own.on.filter(|_| is_text(&own, methods))?;
            let said = told.as_ref()?.text()?;
            (says(other, on, methods) == Some(said)).then_some(on)
        };
        let same = |place: &usize| {
            let theirs = &other.sequence[*place];
            is_alike(&own, theirs)
                && own.may_throw == theirs.may_throw
                && match &told {
                    None => true,
                    told @ Some(Assertion::Text(_)) => {
                        other.assertions[*place] == *told
                            || says(other, *place, methods)
                                == told.as_ref().and_then(Assertion::text)
                    }
                    Some(Assertion::NotNull) if is_asked(other, *place) => true,
                    told => other.assertions[*place] == *told,
                }
        };
        let Some(place) = rest.find(same).or_else(at_once) else {
            return false;
        };
        places.push(place);
        all = all.max(place + 1);
        if !is_question {
            done = place + 1;
        }
    }
    true
}

/// Whether a call asks an object for its text.
fn is_text(call: &Statement, methods: &Methods) -> bool {
    let method = methods.get(call.method);
    method.name == "toString" && method.descriptor.starts_with("()")
}

/// The text that is asserted of a call's result, at once or when it is asked for.
fn says<'t>(test: &'t Checked, at: usize, methods: &Methods) -> Option<&'t str> {
    if let Some(Assertion::Text(text)) = &test.assertions[at] {
        return Some(text);
    }
    let asks = |call: &Statement| call.on == Some(at) && is_text(call, methods);
    let asked = test.sequence.iter().position(asks)?;
    test.assertions[asked].as_ref()?.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::{Arg, Method};
    use crate::model::values::Literal;

    /// Calls on others by their places, each with its argument and text. There is no assertion
    /// about those without a text; a text with a star is that of an object, and a lone star says
    /// that there is one.
    fn test(
        class: &str,
        calls: &[(&str, Option<usize>, i64, &str)],
        methods: &mut Methods,
    ) -> Checked {
        let mut call = |name: &str, on: Option<usize>, passed: i64| Statement {
            method: methods.intern(Method {
                class: "Bag".to_owned(),
                name: name.to_owned(),
                descriptor: "()Ljava/lang/String;".to_owned(),
                is_static: on.is_none(),
                runs: None,
            }),
            on,
            args: (passed != 0)
                .then_some(Arg::Literal(Literal::Int(passed)))
                .into_iter()
                .collect(),
            may_throw: false,
            shown: false,
        };
        let sequence = calls
            .iter()
            .map(|(name, on, passed, _)| call(name, *on, *passed));
        let assertions = calls.iter().map(|(.., says)| match says.strip_prefix('*') {
            Some("") => Some(Assertion::NotNull),
            Some(text) => Some(Assertion::Text(text.to_owned())),
            None => {
                (!says.is_empty()).then(|| Assertion::Equals(Literal::Text((*says).to_owned())))
            }
        });
        Checked {
            sequence: sequence.collect(),
            assertions: assertions.collect(),
            kept: vec![true; calls.len()],
            fluent: vec![false; calls.len()],
            observers: 0,
            class: class.to_owned(),
            whole: None,
        }
    }

    #[test]
    fn a_test_that_another_contains_is_none() {
        let whole: &[_] = &[
            ("create", None, 0, ""),
            ("put", Some(0), 1, "yes"),
            ("put", Some(0), 2, "yes"),
            ("remove", Some(0), 1, "yes"),
            ("size", Some(0), 0, "1"),
            ("view", Some(0), 0, "*{2}"),
        ];
        let is_in = |calls: &[(&str, Option<usize>, i64, &str)]| {
            let mut methods = Methods::default();
            let tests = [
                test("Bag", whole, &mut methods),
                test("Bag", calls, &mut methods),
            ];
            leave_out_contained(&mut (0..).zip(tests).collect(), &methods) == 1
        };
        let made = ("create", None, 0, "");
        let put = ("put", Some(0), 2, "");
        assert!(is_in(whole));
        assert!(is_in(&[made, put, ("view", Some(0), 0, "*{2}")]));
        // This has a variable for what it asks for its text.
        let view = ("view", Some(0), 0, "");
        assert!(is_in(&[made, put, view, ("toString", Some(2), 0, "{2}")]));
        // It may ask in any order, but not before something is done.
        let (size, text) = (("size", Some(0), 0, "1"), ("view", Some(0), 0, "*{2}"));
        assert!(is_in(&[made, put, text, size]));
        assert!(!is_in(&[made, size, put]));
        // Another answer, another call, or another order.
        assert!(!is_in(&[made, put, ("view", Some(0), 0, "*{}")]));
        assert!(!is_in(&[made, ("put", Some(0), 3, "")]));
        assert!(!is_in(&[made, ("remove", Some(0), 1, "yes"), put]));
        // An object of another class has a test there, unless that is the very same.
        let of_both = |own: &[_]| {
            let mut methods = Methods::default();
            let tests = [
                test("Bag", whole, &mut methods),
                test("View", own, &mut methods),
            ];
            leave_out_contained(&mut (0..).zip(tests).collect(), &methods)
        };
        assert_eq!(of_both(&[made, put, size]), 0);
        assert_eq!(of_both(whole), 1);
        // The one asks for the text at once, the other by a call.
        let asked = [&whole[..5], &[view, ("toString", Some(5), 0, "{2}")]].concat();
        assert_eq!(of_both(&asked), 1);
    }
    #[test]
    fn that_there_is_an_object_is_said_by_what_asks_it() {
        let left_out = |bare: &[(&str, Option<usize>, i64, &str)], asks: bool| {
            let mut methods = Methods::default();
            let asked = ("id", Some(1), 0, "j1");
            let build = ("build", Some(0), 0, "");
            let job = [("create", None, 0, ""), build, asked];
            let tests = [
                test("Job", &job[..if asks { 3 } else { 2 }], &mut methods),
                test("Builder", bare, &mut methods),
            ];
            leave_out_contained(&mut (0..).zip(tests).collect(), &methods)
        };
        let (made, there) = (("create", None, 0, ""), ("build", Some(0), 0, "*"));
        assert_eq!(left_out(&[made, there], true), 1);
        assert_eq!(left_out(&[made, there], false), 0);
        assert_eq!(left_out(&[made, ("build", Some(0), 0, "*j1")], true), 0);
        assert_eq!(left_out(&[made, ("build", Some(0), 1, "*")], true), 0);
        // For each method it is said once.
        let mut methods = Methods::default();
        let mut of =
            |name, passed| test("Job", &[made, (name, Some(0), passed, "*")], &mut methods);
        let tests = [of("build", 1), of("build", 2), of("copy", 1)];
        let mut tests = (0..).zip(tests).collect();
        assert_eq!(leave_out_contained(&mut tests, &methods), 1);
    }
}
