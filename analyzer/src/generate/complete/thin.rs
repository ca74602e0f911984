//! Drops questions that are asked over and over between calls that do something, which nobody wants
//! to read.
//!
//! A method that may change its object, such as one that fills a buffer, may still be a question,
//! and whether it is one in a test shows if all else has the same result without it. Of questions
//! that get the same answer again, although nothing has been done, one is enough.

use super::jdk::fills;
use super::{Wanted, is_alike, needs};
use crate::generate::asserted::{Assertion, Checked, holds};
use crate::generate::lab::{Lab, Side, State};
use crate::generate::sequence::{Method, MethodId, Methods};
use crate::model::values::Literal;
use std::collections::HashSet;

/// The most executions of a test to find that out.
const MAX_TRIALS: usize = 20;

/// The role of a call in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is a question.
    Asks,
    /// It may be a question.
    MayAsk,
    /// It may be a question, but others are compared with its result: it stays.
    Given,
    /// It changes none of the existing objects.
    Leaves,
    /// It may do anything.
    Does,
}

/// Leaves out questions that get the same answer again, as long as all other assertions hold.
pub(super) async fn thin(
    checked: &mut Checked,
    wanted: &Wanted<'_>,
    lab: &Lab<'_>,
    (side, state): (Side, State),
) {
    let roles = roles(checked, wanted, &lab.methods());
    let holds = async |shorter: &Checked| holds(shorter, lab, side, state).await;
    thin_by(checked, roles, holds).await;
}

/// The same with the roles of the calls, and a way to find out whether a shorter test `holds`.
async fn thin_by(
    checked: &mut Checked,
    mut roles: Vec<Role>,
    mut holds: impl AsyncFnMut(&Checked) -> bool,
) {
    let mut again = again(checked, &mut roles);
    if again.is_empty() {
        return;
    }
    let mut trials = 0;
    let mut tried = HashSet::new();
    for at in 0..roles.len() {
        let method = checked.sequence[at].method;
        if roles[at] != Role::MayAsk || !tried.insert(method) {
            continue;
        }
        let of_method = places(checked, &roles, method);
        trials += 1;
        let is_question = trials <= MAX_TRIALS && holds(&without_all(checked, &of_method)).await;
        match is_question {
            true => (of_method.into_iter()).for_each(|at| roles[at] = Role::Asks),
            false => does(checked, &mut roles, method),
        }
    }
    again = self::again(checked, &mut roles);
    // The last come first, so that the places of the others stay valid.
    let mut parts = vec![again];
    while let Some(mut part) = parts.pop() {
        trials += 1;
        if part.is_empty() || trials > MAX_TRIALS {
            continue;
        }
        let shorter = without_all(checked, &part);
        if holds(&shorter).await {
            *checked = shorter;
        } else if part.len() > 1 {
            let second = part.split_off(part.len() / 2);
            parts.extend([part, second]);
        }
    }
}

/// The places of the calls of a method that may be a question.
fn places(checked: &Checked, roles: &[Role], method: MethodId) -> Vec<usize> {
    let places = (0..roles.len()).filter(|at| roles[*at] == Role::MayAsk);
    places
        .filter(|at| checked.sequence[*at].method == method)
        .collect()
}

/// Marks a method that may be a question as one that does something.
fn does(checked: &Checked, roles: &mut [Role], method: MethodId) {
    for (role, call) in roles.iter_mut().zip(&checked.sequence) {
        if call.method == method && matches!(role, Role::MayAsk | Role::Given) {
            *role = Role::Does;
        }
    }
}

/// A test without some calls, which are in order, and whose results are not used.
fn without_all(checked: &Checked, places: &[usize]) -> Checked {
    let mut shorter = checked.clone();
    for at in places.iter().rev() {
        shorter.remove(*at);
    }
    shorter
}

/// The questions that get the same answer as before, since something was done. A call that gets
/// another answer then does something itself, and has that role from now on.
fn again(checked: &Checked, roles: &mut [Role]) -> Vec<usize> {
    loop {
        let mut again = Vec::new();
        let mut since: Vec<usize> = Vec::new();
        let mut other = None;
        for (at, role) in roles.iter().enumerate() {
            match role {
                Role::Leaves | Role::Given => continue,
                Role::Does => {
                    since.clear();
                    continue;
                }
                Role::Asks | Role::MayAsk => {}
            }
            let call = &checked.sequence[at];
            let before = since.iter().rev();
            let mut before = before.filter(|one| is_alike(&checked.sequence[**one], call));
            match before.next() {
                Some(one) if checked.assertions[*one] == checked.assertions[at] => again.push(at),
                Some(_) if *role == Role::MayAsk => {
                    other = Some(call.method);
                    break;
                }
                _ => since.push(at),
            }
        }
        let Some(method) = other else {
            return again;
        };
        does(checked, roles, method);
    }
}

/// The roles of the calls of a test, except those that ask at the end anyway.
fn roles(checked: &Checked, wanted: &Wanted<'_>, methods: &Methods) -> Vec<Role> {
    let mut used = HashSet::new();
    for (call, told) in checked.sequence.iter().zip(&checked.assertions) {
        needs(call, told.as_ref(), &mut used);
    }
    let calls = checked.calls();
    // If the same question gets the same answer, each repetition only says that, and is not used.
    let again = calls.iter().zip(&checked.assertions);
    let again = again.filter_map(|(call, told)| match told {
        Some(Assertion::Same(same)) => is_alike(&checked.sequence[*same], call).then_some(*same),
        _ => None,
    });
    let again: HashSet<usize> = again.collect();
    let mut roles: Vec<Role> = Vec::new();
    let mut doing = HashSet::new();
    for (at, call) in calls.iter().enumerate() {
        let method = methods.get(call.method);
        let leaves_all = wanted.leaves_all(call, method);
        let gives = method.types().1 != "V" && !method.is_constructor() && !method.is_constant();
        let is_told = gives && checked.assertions[at].is_some() && !used.contains(&at);
        let is_question = is_told && !call.may_throw;
        let role = match () {
            () if is_question && (wanted.changes_nothing(method) || leaves_all) => Role::Asks,
            () if method.is_constant()
                || wanted.changes_nothing(method)
                || leaves_all
                || fills(checked, at, methods) =>
            {
                Role::Leaves
            }
            () if is_question && !is_done(checked, at, method) => Role::MayAsk,
            () if again.contains(&at) && !call.may_throw => Role::Given,
            () => {
                doing.insert(call.method);
                Role::Does
            }
        };
        roles.push(role);
    }
    for (call, role) in calls.iter().zip(&mut roles) {
        let may_ask = matches!(role, Role::MayAsk | Role::Given);
        if may_ask && doing.contains(&call.method) {
            *role = Role::Does;
        }
    }
    roles
}

/// Whether the answer of a call may only say that it is done.
fn is_done(checked: &Checked, at: usize, method: &Method) -> bool {
    let call = &checked.sequence[at];
    match &checked.assertions[at] {
        Some(Assertion::Equals(Literal::Bool(true) | Literal::Null)) => {
            // A comparison of two objects returns what it has found.
            !call.args.is_empty() && method.name != "equals"
        }
        Some(Assertion::Same(same)) => call.on == Some(*same),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::Statement;
    use hindsight_instrument::glob::Globs;
    use std::cell::RefCell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A call on the first object, its role, and the number that it returns.
    type Call = (u32, Role, i64);

    /// The calls that are left, by method and number, if only calls of these methods change what
    /// others return.
    fn left(calls: &[Call], needed: &[u32]) -> (Vec<(u32, i64)>, usize) {
        let call = |method: u32| Statement {
            method: MethodId(method),
            on: (method > 0).then_some(0),
            args: Vec::new(),
            may_throw: false,
            shown: false,
        };
        let made = (0, Role::Does, 0);
        let all: Vec<Call> = [made].into_iter().chain(calls.iter().copied()).collect();
        let told = |(_, _, number): &Call| Some(Assertion::Equals(Literal::Int(*number)));
        let mut checked = Checked {
            sequence: all.iter().map(|(method, ..)| call(*method)).collect(),
            assertions: all.iter().map(told).collect(),
            kept: vec![true; all.len()],
            fluent: vec![false; all.len()],
            observers: 0,
            class: "Reader".to_owned(),
            whole: None,
        };
        let count = |checked: &Checked, method: u32| {
            let calls = checked.sequence.iter();
            calls.filter(|call| call.method.0 == method).count()
        };
        let before: Vec<usize> = needed.iter().map(|one| count(&checked, *one)).collect();
        let mut asked = 0;
        let holds = async |shorter: &Checked| {
            asked += 1;
            let now = needed.iter().map(|one| count(shorter, *one));
            now.eq(before.iter().copied())
        };
        let roles = all.iter().map(|(_, role, _)| *role).collect();
        {
            let job = pin!(thin_by(&mut checked, roles, holds));
            let done = job.poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(done, Poll::Ready(()), "nothing is waited for");
        }
        let number = |told: &Option<Assertion>| match told {
            Some(Assertion::Equals(Literal::Int(number))) => *number,
            _ => 0,
        };
        let methods = checked.sequence.iter().map(|call| call.method.0);
        let left = methods.zip(checked.assertions.iter().map(number));
        (left.skip(1).collect(), asked)
    }

    /// `assertSame(token, lexer.peek())` need not occur three times.
    #[test]
    fn what_gives_the_same_object_again_and_again_says_so_once() {
        let mut methods = Methods::default();
        let names = ["<init>", "peek", "forward"];
        let [new, peek, forward] = names.map(|name| {
            methods.intern(Method {
                class: "Lexer".to_owned(),
                name: name.to_owned(),
                descriptor: if name == "peek" { "()LToken;" } else { "()V" }.to_owned(),
                is_static: false,
                runs: None,
            })
        });
        let calls = [new, peek, peek, peek, forward, peek, peek];
        let call = |method: &MethodId| Statement {
            method: *method,
            on: (*method != new).then_some(0),
            args: Vec::new(),
            may_throw: false,
            shown: false,
        };
        let same = |at| Some(Assertion::Same(at));
        let text = Some(Assertion::Text("(".to_owned()));
        let checked = Checked {
            sequence: calls.iter().map(call).collect(),
            assertions: vec![None, None, same(1), same(1), None, text, same(5)],
            kept: vec![true; calls.len()],
            fluent: vec![false; calls.len()],
            observers: 0,
            class: "Lexer".to_owned(),
            whole: None,
        };
        let globs = Globs::default();
        let wanted = Wanted {
            classes: &globs,
            mutability: None,
            harmful: RefCell::default(),
        };
        let mut roles = roles(&checked, &wanted, &methods);
        assert_eq!(roles[1..4], [Role::Given, Role::MayAsk, Role::MayAsk]);
        assert_eq!(again(&checked, &mut roles), [3]);
        // If it does something, so does the call that returns the object first.
        does(&checked, &mut roles, peek);
        assert_eq!(roles[1..], [Role::Does; 6]);
    }

    #[test]
    fn what_is_asked_over_and_over_is_asked_once() {
        use Role::{Asks, Does, MayAsk};
        let (peek, column, forward) = (1, 2, 3);
        let calls = [
            (peek, MayAsk, 97),
            (column, Asks, 0),
            (peek, MayAsk, 97),
            (peek, MayAsk, 97),
            (column, Asks, 0),
            (forward, Does, 0),
            (peek, MayAsk, 97),
            (column, Asks, 1),
            (peek, MayAsk, 97),
        ];
        let once = [
            (peek, 97),
            (column, 0),
            (forward, 0),
            (peek, 97),
            (column, 1),
        ];
        assert_eq!(left(&calls, &[]), (once.to_vec(), 2));
        // If all else needs each of them, it does something, and the questions are asked again.
        let all: Vec<(u32, i64)> = calls
            .iter()
            .map(|(method, _, told)| (*method, *told))
            .collect();
        assert_eq!(left(&calls, &[peek]).0, all);
        // A call that gets another answer by itself advances each time.
        let next = [
            (peek, MayAsk, 1),
            (column, Asks, 0),
            (peek, MayAsk, 2),
            (column, Asks, 0),
        ];
        assert_eq!(left(&next, &[]).1, 0);
        // If nothing is asked again, nothing is tried.
        assert_eq!(left(&calls[..2], &[]).1, 0);
    }
}
