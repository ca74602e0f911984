//! From a sequence to a test: what it does the same each time, and nothing else.

use super::asserted::{Assertion, Checked, assertion, holds, is_whole, minimise};
use super::carve::Access;
use super::effects::assert_effects;
use super::observed::Lost;
use super::observers::{MAX_OBSERVERS, choose, drop_observers, observe};
use super::sequence::{Method, Methods, Sequence};
use super::worker::{Ended, Executed, Outcome, Worker};
use crate::model::mutable::Mutability;
use hindsight_instrument::glob::Globs;
use std::cell::RefCell;
use std::collections::HashSet;
use std::thread;

/// How often a sequence must do the same again before it is a test.
const CONFIRMED: usize = 2;

/// What is to be made.
pub struct Wanted<'a> {
    /// Which classes; all that the run has used if there are none here.
    pub classes: &'a Globs,
    /// Which methods change nothing, if that is known.
    pub mutability: Option<&'a Mutability>,
    /// Classes of which some method that changes nothing must not be called even so.
    pub harmful: RefCell<HashSet<String>>,
}

impl Wanted<'_> {
    /// Whether a method is known to do nothing to its object.
    pub fn changes_nothing(&self, method: &Method) -> bool {
        let name = method.as_name();
        !method.is_static
            && !method.is_constructor()
            && !method.is_constant()
            && (self.mutability).is_some_and(|mutability| mutability.is_immutable(&name, 0))
    }
}

/// Executes a sequence twice, asserts what is the same both times, and leaves out
/// what that does not need; or says why that is no test. `object` is what the test is
/// about, to be asked at last; `fits` says which outcomes may be asserted.
///
/// # Errors
///
/// Fails if the workers do.
#[expect(
    clippy::too_many_arguments,
    reason = "a sequence and all that it is run with"
)]
pub fn complete(
    mut checked: Checked,
    object: Option<usize>,
    fits: &dyn Fn(&Worker, usize, &Outcome) -> bool,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> anyhow::Result<Result<Checked, Lost>> {
    let length = checked.sequence.len();
    if let Some(object) = object {
        observe(&mut checked, object, wanted, access, methods);
    }
    worker.declare(methods)?;
    other.declare(methods)?;
    let mut both = twice(&checked.sequence, methods, worker, other)?;
    for observers in [MAX_OBSERVERS, 0] {
        if both.is_err() && checked.sequence.len() > length + observers {
            // Perhaps one must not be asked: what changes no object may still delete a file.
            (wanted.harmful.borrow_mut()).insert(checked.class.clone());
            checked.sequence.truncate(length + observers);
            checked.kept.truncate(length + observers);
            both = twice(&checked.sequence, methods, worker, other)?;
        }
    }
    let (one, two) = match both {
        Ok(both) => both,
        Err(lost) => return Ok(Err(lost)),
    };
    let shown = show(&mut checked, &one, methods);
    let both = match shown {
        true => twice(&checked.sequence, methods, worker, other)?,
        false => Ok((one, two)),
    };
    let (one, two) = match both {
        Ok(both) => both,
        Err(lost) => return Ok(Err(lost)),
    };
    for (at, (first, second)) in one.outcomes.iter().zip(&two.outcomes).enumerate() {
        let found = assertion(worker, first)
            .and_then(|found| agreed(found, assertion(other, second)?))
            .filter(|_| at >= length || fits(worker, at, first));
        if checked.sequence[at].may_throw && found.is_none() && at < length {
            // It may throw now and then, or throws what cannot be named.
            return Ok(Err(Lost::Unstable));
        }
        checked.assertions.push(found);
    }
    // That there is an object is of interest where nothing is done with it.
    let mut used = HashSet::new();
    for statement in &checked.sequence {
        statement.vars(|var| {
            used.insert(var);
        });
    }
    for (at, assertion) in checked.assertions.iter_mut().enumerate() {
        let method = methods.get(checked.sequence[at].method);
        let made = method.is_constructor();
        if method.is_constant() {
            *assertion = None;
            checked.kept[at] = false;
        }
        if *assertion == Some(Assertion::NotNull)
            && (made || at >= length || used.contains(&at) || !checked.kept[at])
        {
            *assertion = None;
        }
    }
    keep_what_shows(&mut checked, length, methods);
    drop_again(&mut checked, length, wanted, methods);
    if let Some(object) = object {
        drop_passive(&mut checked, object, length, wanted, methods);
    }
    drop_observers(&mut checked, &one, length);
    by_one_name(&mut checked, (&one, &two), length, methods);
    if let Some(object) = object {
        choose(&mut checked, object, length, wanted, methods, worker)?;
        assert_effects(&mut checked, length, wanted, methods, worker, other)?;
    }
    let whole = checked.clone();
    minimise(&mut checked, methods, worker)?;
    if !holds(&checked.sequence, &checked.assertions, methods, other)? {
        // Static state that others have left has stood in for a call.
        checked = whole.clone();
        minimise(&mut checked, methods, other)?;
    }
    for _ in 0..CONFIRMED {
        if !holds(&checked.sequence, &checked.assertions, methods, other)? {
            return Ok(Err(Lost::Unstable));
        }
    }
    if checked.sequence.len() < whole.sequence.len() {
        checked.whole = Some(Box::new(whole));
    }
    Ok(match checked.asserts() {
        true => Ok(checked),
        false => Err(Lost::Silent),
    })
}

/// What a call returns that is another thing each time, or goes into calls alone that no test needs, is no
/// reason for a test.
fn keep_what_shows(checked: &mut Checked, length: usize, methods: &Methods) {
    let mut needed = HashSet::new();
    for (at, statement) in checked.sequence.iter().enumerate().rev() {
        let is_asserted = checked.assertions[at].is_some();
        if at < length {
            let (_, result) = methods.get(statement.method).types();
            checked.kept[at] &= is_asserted || result == "V" || needed.contains(&at);
        }
        if at >= length || checked.kept[at] || is_asserted || needed.contains(&at) {
            statement.vars(|var| {
                needed.insert(var);
            });
        }
    }
}

/// What a sequence does in two JVMs, if all of it can be done.
fn twice(
    sequence: &Sequence,
    methods: &Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> anyhow::Result<Result<(Executed, Executed), Lost>> {
    let once = |worker: &mut Worker| -> anyhow::Result<Result<Executed, Lost>> {
        let executed = worker.execute(methods, std::slice::from_ref(sequence))?;
        Ok(match executed.into_iter().next() {
            Some(one) if is_whole(&one, sequence.len()) => Ok(one),
            Some(one) if one.blocked => Err(Lost::Blocked),
            Some(one) if one.ended == Ended::Well => Err(Lost::Unstable),
            _ => Err(Lost::Ended),
        })
    };
    // They are two JVMs.
    let (one, two) = thread::scope(|scope| {
        let two = scope.spawn(|| once(other));
        (once(worker), two.join())
    });
    let two = two.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(match (one?, two?) {
        (Ok(one), Ok(two)) => Ok((one, two)),
        (Err(lost), _) | (_, Err(lost)) => Err(lost),
    })
}

/// Has those calls show what they return of which nothing else is asserted. Whether there are any.
fn show(checked: &mut Checked, executed: &Executed, methods: &Methods) -> bool {
    let mut used = HashSet::new();
    for statement in &checked.sequence {
        statement.vars(|var| {
            used.insert(var);
        });
    }
    let mut any = false;
    for (at, outcome) in executed.outcomes.iter().enumerate() {
        let is_object = matches!(outcome, Outcome::Object(_, None, _));
        let made = methods.get(checked.sequence[at].method).is_constructor();
        if is_object && checked.kept[at] && !made && !used.contains(&at) {
            checked.sequence[at].shown = true;
            any = true;
        }
    }
    any
}

/// What is asserted if it was so in two JVMs.
fn agreed(one: Assertion, two: Assertion) -> Option<Assertion> {
    match (one, two) {
        // Two texts of one object, or two messages: it is at least there.
        (Assertion::Text(one), Assertion::Text(two)) if one != two => Some(Assertion::NotNull),
        (Assertion::Elements(one), Assertion::Elements(two)) if one != two => {
            Some(Assertion::NotNull)
        }
        (Assertion::Text(_) | Assertion::Elements(_), Assertion::NotNull)
        | (Assertion::NotNull, Assertion::Text(_) | Assertion::Elements(_)) => {
            Some(Assertion::NotNull)
        }
        (Assertion::Throws(one, said), Assertion::Throws(two, other)) if one == two => Some(
            Assertion::Throws(one, said.filter(|said| other.as_ref() == Some(said))),
        ),
        (one, two) => (one == two).then_some(one),
    }
}

/// Finds the calls that return their own object, and has all that follows use that; as it
/// does of a constant that is read again.
fn by_one_name(
    checked: &mut Checked,
    (one, two): (&Executed, &Executed),
    length: usize,
    methods: &Methods,
) {
    let first = |executed: &Executed| {
        let mut first: Vec<usize> = (0..length).collect();
        for (at, outcome) in executed.outcomes.iter().take(length).enumerate() {
            if let Outcome::Object(_, Some(same), _) = outcome {
                first[at] = first.get(*same).copied().unwrap_or(at);
            }
        }
        first
    };
    let (one, two) = (first(one), first(two));
    let again = |at: usize| {
        let on = checked.sequence[at].on;
        on.is_some_and(|on| one[at] == one[on] && two[at] == two[on])
    };
    checked.fluent = (0..length).map(again).collect();
    let mut name: Vec<usize> = (0..checked.sequence.len()).collect();
    for at in 0..checked.sequence.len() {
        checked.sequence[at] = checked.sequence[at].renumbered(|var| name[var]);
        if let Some(Assertion::Same(same)) = &mut checked.assertions[at] {
            *same = name[*same];
        }
        if methods.get(checked.sequence[at].method).is_constant() {
            let same = |before: &usize| checked.sequence[*before] == checked.sequence[at];
            name[at] = (0..at).find(same).unwrap_or(at);
        }
        let on = checked.sequence[at].on;
        if let Some(on) = on.filter(|_| checked.fluent.get(at) == Some(&true)) {
            let result = |at: usize| methods.get(checked.sequence[at].method).types().1;
            if result(at) == result(on) {
                name[at] = on;
            }
        }
    }
}

/// Whether a call asks what the one before has asked, and gets the same answer.
fn asks_nothing_new(checked: &Checked, at: usize, methods: &Methods) -> bool {
    let statement = &checked.sequence[at];
    let (_, result) = methods.get(statement.method).types();
    at > 0
        && checked.assertions[at].is_some()
        && (statement.on.is_some() && statement.args.is_empty() && result != "V")
        && checked.sequence[at - 1] == *statement
        && checked.assertions[at - 1] == checked.assertions[at]
}

/// What was asked before, and can be nothing else by now, need not be asserted again.
fn drop_again(checked: &mut Checked, length: usize, wanted: &Wanted<'_>, methods: &Methods) {
    let mut since: Vec<usize> = Vec::new();
    for at in 0..length {
        let statement = &checked.sequence[at];
        let method = methods.get(statement.method);
        // Where that is not known, what looks like a question is one: without it, all else must hold.
        let asks = wanted.mutability.is_none()
            && statement.args.is_empty()
            && !method.is_constructor()
            && method.types().1 != "V";
        if !asks && !wanted.changes_nothing(method) && !asks_nothing_new(checked, at, methods) {
            since.clear();
            continue;
        }
        let same = |before: &usize| {
            checked.sequence[*before] == *statement
                && checked.assertions[*before] == checked.assertions[at]
        };
        let twice = asks_nothing_new(checked, at, methods);
        if (twice || since.iter().any(same)) && !statement.may_throw {
            checked.kept[at] = false;
            checked.assertions[at] = None;
        } else {
            since.push(at);
        }
    }
}

/// In the life of an object, calls that it was only passed to are left to others, unless
/// they may change it or tell something.
fn drop_passive(
    checked: &mut Checked,
    object: usize,
    length: usize,
    wanted: &Wanted<'_>,
    methods: &Methods,
) {
    let Some(mutability) = wanted.mutability else {
        return;
    };
    if checked.kept[..length].iter().filter(|kept| **kept).count() < 2 {
        return;
    }
    for at in object + 1..length {
        let statement = &checked.sequence[at];
        let method = methods.get(statement.method);
        let told = match &checked.assertions[at] {
            None => false,
            Some(Assertion::Same(same)) => statement.on != Some(*same),
            Some(_) => true,
        };
        if told || statement.on == Some(object) || method.is_constant() {
            continue;
        }
        let name = method.as_name();
        let unchanged = statement.args.iter().enumerate().all(|(place, arg)| {
            let mut is_passed = false;
            arg.vars(&mut |var| is_passed |= var == object);
            !is_passed || mutability.is_immutable(&name, place as i16 + 1)
        });
        if unchanged {
            checked.kept[at] = false;
            checked.assertions[at] = None;
        }
    }
}
