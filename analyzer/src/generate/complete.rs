//! From a sequence to a test: asserts what it does in the same way each time, and nothing else.
//!
//! - `again` drops questions that have been asked before.
//! - `jdk` finds calls whose result says nothing about the program.
//! - `shown` decides which calls show their result.
//! - `thin` drops questions that are asked over and over.

mod again;
mod jdk;
mod shown;
mod thin;

use super::asserted::{
    Assertion, Checked, anew, assertion, assertion_of_any, drop_idle, held, is_said, is_whole,
    minimise,
};
use super::carve::Access;
use super::effects::{Effects, assert_effects};
use super::lab::{Lab, Side, State};
use super::observed::Lost;
use super::observers::{
    MAX_OBSERVERS, ask_others, choose, drop_observers, drop_silent, is_asked, observe,
};
use super::sequence::{Method, Methods, Sequence, Statement, without};
use super::worker::{Ended, Executed, Outcome, Worker};
use crate::classpath::is_jdk;
use crate::model::mutable::Mutability;
use crate::model::values::Literal;
use again::drop_again;
use hindsight_instrument::glob::Globs;
use jdk::{fills, is_of_jdk_alone, is_of_test, tells_of_jdk};
use shown::{show, unasked};
use std::cell::RefCell;
use std::collections::HashSet;
use thin::thin;

/// How much of the results of calls may be asserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    /// All of them.
    Whole,
    /// That there is an object, but not its text.
    Object,
    /// Nothing.
    Nothing,
}

impl Fits {
    /// The part of an assertion that is permitted.
    fn limit(self, found: Assertion) -> Option<Assertion> {
        match self {
            Fits::Whole => Some(found),
            Fits::Object => is_there(&found).then_some(Assertion::NotNull),
            Fits::Nothing => None,
        }
    }
}

/// How often a sequence must give the same results again before it is a test.
const CONFIRMED: usize = 2;

/// What tests are wanted.
pub struct Wanted<'a> {
    /// The classes; empty for all that the run has used.
    pub classes: &'a Globs,
    /// The methods that change nothing, if that is known.
    pub mutability: Option<&'a Mutability>,
    /// The classes with a method that changes nothing and still must not be called.
    pub harmful: RefCell<HashSet<String>>,
}

impl Wanted<'_> {
    /// Whether a method is known to do nothing to its object.
    pub fn changes_nothing(&self, method: &Method) -> bool {
        !method.is_static
            && !method.is_constructor()
            && !method.is_constant()
            && (self.mutability).is_some_and(|mutability| method.leaves(mutability, 0))
    }

    /// Whether a call is known not to change any of the objects that it gets. A method that gets
    /// none may exist for its effect on static state.
    fn leaves_all(&self, call: &Statement, method: &Method) -> bool {
        let Some(mutability) = self.mutability else {
            return false;
        };
        let on = call.on.map(|_| 0);
        let args = (1..).zip(&call.args).filter_map(|(position, arg)| {
            let mut is_object = false;
            arg.vars(&mut |_| is_object = true);
            is_object.then_some(position)
        });
        let mut objects = on.into_iter().chain(args).peekable();
        (objects.peek().is_some() || method.is_constructor())
            && objects.all(|at| method.leaves(mutability, at))
    }
}

/// Executes a sequence twice, asserts what is the same both times, and leaves out what that does
/// not need. `object` is what the test concerns, to be questioned at the end, if that is permitted;
/// `fits` says how much of the outcomes may be asserted. If it `is_novel`, it runs what no other
/// sequence does: none of its object's own calls is idle, whatever they show, and no time is spent
/// on asking other objects.
///
/// # Errors
///
/// Fails if it is not a test, with the reason.
pub async fn complete(
    checked: Checked,
    (object, is_novel): (Option<usize>, bool),
    fits: &dyn Fn(&Worker, usize, &Outcome) -> Fits,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    lab: &Lab<'_>,
) -> Result<Checked, Lost> {
    let concerned = (object, is_novel);
    let how = (wanted, access);
    // Restoring the initial static state takes ten times as long, and seldom matters.
    if lab.resets() {
        match attempt(checked.clone(), concerned, fits, how, lab, State::Left).await {
            Err(Lost::Unstable) => {}
            done => return done,
        }
    }
    attempt(checked, concerned, fits, how, lab, State::Fresh).await
}

/// The same, with this static state for the second execution. If that is what others have left, the
/// assertions may hold only because of it; then the test is unstable.
async fn attempt(
    mut checked: Checked,
    (object, is_novel): (Option<usize>, bool),
    fits: &dyn Fn(&Worker, usize, &Outcome) -> Fits,
    (wanted, access): (&Wanted<'_>, &Access<'_>),
    lab: &Lab<'_>,
    state: State,
) -> Result<Checked, Lost> {
    let length = checked.sequence.len();
    if let Some(object) = object {
        observe(&mut checked, object, wanted, access, &mut lab.methods_mut());
    }
    // The questions to the object's parts follow those to the object itself.
    let observers = checked.sequence[length..].iter();
    let own = observers.take_while(|call| call.shown).count();
    show(&mut checked, &lab.methods());
    spare(&mut checked, length, lab);
    let mut both = twice(&checked.sequence, length, lab, state).await;
    if both.is_err() && spare(&mut checked, length, lab) {
        both = twice(&checked.sequence, length, lab, state).await;
    }
    for observers in [own, MAX_OBSERVERS, 0] {
        if both.is_err() && checked.sequence.len() > length + observers {
            // Perhaps a question is forbidden: a method that changes no object may still delete a
            // file.
            (wanted.harmful.borrow_mut()).insert(checked.class.clone());
            checked.sequence.truncate(length + observers);
            checked.kept.truncate(length + observers);
            show(&mut checked, &lab.methods());
            spare(&mut checked, length, lab);
            both = twice(&checked.sequence, length, lab, state).await;
        }
    }
    let (one, two) = unasked(&mut checked, length, fits, both, lab, state).await?;
    for (at, outcome) in one.outcomes.iter().take(length).enumerate() {
        let says = matches!(
            outcome,
            Outcome::Object(_, None, _) | Outcome::Object(.., Some(_))
        );
        checked.sequence[at].shown &= says;
    }
    let again = lab.again_if_hashed(&two, &checked.sequence).await;
    if !again
        .iter()
        .all(|one| is_whole(one, checked.sequence.len()))
    {
        return Err(Lost::Unstable);
    }
    assert_same(&mut checked, length, (&one, &two, &again), fits, lab)?;
    {
        let methods = lab.methods();
        // An object with two names could be asked the same by each of them.
        by_one_name(&mut checked, (&one, &two), length, &methods);
        drop_again(&mut checked, length, wanted, &methods);
        if let Some(object) = object {
            drop_passive(&mut checked, object, length, wanted, &methods);
        }
        drop_observers(&mut checked, &one, length);
    }
    if let Some(object) = object {
        choose(&mut checked, object, length, wanted, lab).await;
    }
    // What is written to a writer, or into an array of the test's own, shows what the program does,
    // whatever was left out before.
    let of = match object {
        Some(_) => Effects::All,
        None => Effects::Written,
    };
    assert_effects(&mut checked, length, of, wanted, lab).await;
    keep_what_shows(&mut checked, length, &lab.methods());
    let whole = checked.clone();
    let mut asked = 0;
    if object.is_some() && !is_novel {
        asked = ask_others(&mut checked, (wanted, access), lab, state).await;
    }
    // Without questions it is not known what has an effect.
    let drops_idle = wanted.mutability.is_some() && !is_novel;
    let how = (wanted, drops_idle);
    shorten(&mut checked, how, lab, (Side::Here, State::Left)).await;
    if !confirmed(&checked, lab).await {
        if state == State::Left {
            return Err(Lost::Unstable);
        }
        // Static state that others have left has replaced a call.
        checked = whole.clone();
        if !confirmed(&checked, lab).await {
            return Err(Lost::Unstable);
        }
        shorten(&mut checked, how, lab, (Side::There, State::Fresh)).await;
        if !confirmed(&checked, lab).await {
            return Err(Lost::Unstable);
        }
    }
    if checked.calls().len() < whole.calls().len() + asked {
        checked.whole = Some(Box::new(whole));
    }
    match checked.asserts() {
        true => Ok(checked),
        false => Err(Lost::Silent),
    }
}

/// Leaves out calls that no assertion needs, also the object's own if wanted, and then what is asked
/// again without them in between.
async fn shorten(
    checked: &mut Checked,
    (wanted, drops_idle): (&Wanted<'_>, bool),
    lab: &Lab<'_>,
    (side, state): (Side, State),
) {
    let mut is_thin = false;
    loop {
        minimise(checked, lab, side, state).await;
        if !std::mem::replace(&mut is_thin, true) {
            thin(checked, wanted, lab, (side, state)).await;
            if drops_idle {
                drop_idle(checked, lab, side, state).await;
            }
        }
        let asserted = checked.assertions.iter().flatten().count();
        let kept = checked.kept.clone();
        {
            let methods = lab.methods();
            let length = checked.calls().len();
            drop_again(checked, length, wanted, &methods);
            drop_silent(checked);
            drop_used(checked);
            keep_what_shows(checked, length, &methods);
        }
        // If the users of an object are removed, it can be removed as well.
        let is_less = checked.assertions.iter().flatten().count() < asserted;
        if !is_less && checked.kept == kept {
            return;
        }
    }
}

/// Whether all assertions hold: with the initial static state, in one JVM or the other, so that
/// both have the same amount of work; and in each of them repeatedly, because a coin may fall on
/// the same side twice.
async fn confirmed(checked: &Checked, lab: &Lab<'_>) -> bool {
    let again = [Side::Here, Side::There].map(|side| [(side, State::Left); CONFIRMED]);
    let orders: Vec<_> = std::iter::once((lab.next_side(), State::Fresh))
        .chain(again.into_iter().flatten())
        .map(|(side, state)| (side, state, lab.order(side, state, &checked.sequence)))
        .collect();
    let mut holds = true;
    let mut hashed = None;
    for (side, state, order) in orders {
        let executed = order.await;
        let worker = lab.worker(side);
        holds &= held(&checked.sequence, &checked.assertions, &executed, &worker);
        drop(worker);
        // Classes that are loaded anew change hash codes for other reasons.
        let is_due = executed.hashed && state == State::Left;
        hashed = hashed.or(is_due.then_some(executed));
    }
    if let Some(executed) = hashed.filter(|_| holds) {
        for executed in lab.again_if_hashed(&executed, &checked.sequence).await {
            let worker = lab.worker(Side::Here);
            holds &= held(&checked.sequence, &checked.assertions, &executed, &worker);
        }
    }
    holds
}

/// Asserts what two JVMs and a repetition in the first agree on, as far as it is of interest.
fn assert_same(
    checked: &mut Checked,
    length: usize,
    (one, two, again): (&Executed, &Executed, &[Executed]),
    fits: &dyn Fn(&Worker, usize, &Outcome) -> Fits,
    lab: &Lab<'_>,
) -> Result<(), Lost> {
    let (worker, other) = (lab.worker(Side::Here), lab.worker(Side::There));
    let methods = lab.methods();
    for (at, (first, second)) in one.outcomes.iter().zip(&two.outcomes).enumerate() {
        // That a call returns the same collection again says less than the present content of that.
        let is_view = match first {
            Outcome::Object(class, Some(same), said) if at >= length || said.is_some() => {
                is_jdk(&worker.class(*class).name) && !is_of_test(checked, *same, &methods)
            }
            _ => false,
        };
        let told = match is_view {
            true => assertion_of_any,
            false => assertion,
        };
        let found = told(&worker, first)
            .and_then(|found| agreed(found, told(&other, second)?))
            .and_then(|found| {
                again.iter().try_fold(found, |found, one| {
                    agreed(found, told(&worker, one.outcomes.get(at)?)?)
                })
            })
            .and_then(|found| match (at < length, is_view) {
                (true, false) => fits(&worker, at, first).limit(found),
                (true, true) => fits(&worker, at, &anew(first)).limit(found),
                (false, _) => Some(found),
            });
        if checked.sequence[at].may_throw && found.is_none() && at < length {
            // It may throw now and then, or something that no test can expect.
            return Err(Lost::Unstable);
        }
        checked.assertions.push(found);
    }
    for (at, statement) in checked.sequence.iter().enumerate() {
        let method = methods.get(statement.method);
        let of_jdk = |at: usize| match one.outcomes.get(at) {
            Some(Outcome::Object(class, ..)) => is_jdk(&worker.class(*class).name),
            _ => false,
        };
        let of_jdk_alone = statement.on.is_some_and(of_jdk)
            && (checked.assertions[at].as_ref())
                .is_some_and(|told| tells_of_jdk(method, told, of_jdk(at)));
        let is_said = says_again(checked, at, method);
        let throws = matches!(checked.assertions[at], Some(Assertion::Throws(..)));
        let of_jdk_alone =
            of_jdk_alone || !throws && is_of_jdk_alone(checked, at, &methods, &of_jdk);
        let is_number = is_hash(method) && !throws;
        let is_asked = at >= length && is_asked(checked, at);
        if method.is_constant() || of_jdk_alone || is_said || is_number || is_asked {
            checked.assertions[at] = None;
            checked.kept[at] &= !method.is_constant();
        }
        // What the run has put into a map of its own is of interest if something else shows it.
        checked.kept[at] &= !fills(checked, at, &methods);
    }
    // That there is an object is of interest if no remaining call uses it.
    let mut needed = HashSet::new();
    for (at, statement) in checked.sequence.iter().enumerate().rev() {
        let method = methods.get(statement.method);
        let assertion = &mut checked.assertions[at];
        let is_used = needed.contains(&at);
        // Then the run has looked at the elements by itself.
        let is_silent = match assertion {
            Some(Assertion::NotNull) => {
                method.is_constructor() || at >= length || is_used || !checked.kept[at]
            }
            Some(Assertion::Size(_)) => is_used,
            _ => false,
        };
        if is_silent {
            *assertion = None;
        }
        let stays = assertion.is_some() || checked.kept[at] && method.types().1 == "V";
        if at >= length || stays || needed.contains(&at) {
            needs(statement, assertion.as_ref(), &mut needed);
        }
    }
    keep_what_shows(checked, length, &methods);
    Ok(())
}

/// Adds what a call and the assertion about it use.
fn needs(statement: &Statement, assertion: Option<&Assertion>, needed: &mut HashSet<usize>) {
    statement.vars(|var| {
        needed.insert(var);
    });
    if let Some(Assertion::Same(same)) = assertion {
        needed.insert(*same);
    }
}

/// Whether an object is asked for the text that it has given at once, and gives it again.
pub fn says_again(checked: &Checked, at: usize, method: &Method) -> bool {
    let on = checked.sequence[at].on.map(|on| &checked.assertions[on]);
    match (on, &checked.assertions[at]) {
        (Some(Some(Assertion::Text(said))), Some(Assertion::Equals(Literal::Text(told)))) => {
            method.name == "toString" && method.descriptor.starts_with("()") && said == told
        }
        _ => false,
    }
}

/// Whether the result of a method is not reliable: another release may have other numbers.
fn is_hash(method: &Method) -> bool {
    method.name == "hashCode" && method.descriptor == "()I"
}

/// Drops the assertion that there is an object if a remaining call uses it.
fn drop_used(checked: &mut Checked) {
    let mut used = HashSet::new();
    for (statement, assertion) in checked.sequence.iter().zip(&checked.assertions) {
        needs(statement, assertion.as_ref(), &mut used);
    }
    for at in used {
        let told = &mut checked.assertions[at];
        if matches!(told, Some(Assertion::NotNull | Assertion::Size(_))) {
            *told = None;
        }
    }
}

/// Keeps what shows something: a result that differs each time, or is only used by calls that no
/// test needs, does not justify a test.
fn keep_what_shows(checked: &mut Checked, length: usize, methods: &Methods) {
    let mut needed = HashSet::new();
    for (at, statement) in checked.sequence.iter().enumerate().rev() {
        let is_asserted = checked.assertions[at].is_some();
        if at < length {
            let (_, result) = methods.get(statement.method).types();
            checked.kept[at] &= is_asserted || result == "V" || needed.contains(&at);
        }
        if at >= length || checked.kept[at] || is_asserted || needed.contains(&at) {
            needs(statement, checked.assertions[at].as_ref(), &mut needed);
        }
    }
}

/// Leaves out the questions at the end, from `length` on, and the texts, if they are known not to
/// end. Returns whether there were any.
fn spare(checked: &mut Checked, length: usize, lab: &Lab<'_>) -> bool {
    let workers = [lab.worker(Side::Here), lab.worker(Side::There)];
    let mut found = false;
    for at in (0..checked.sequence.len()).rev() {
        let call = &mut checked.sequence[at];
        let mut endless = workers.iter().map(|worker| &worker.endless);
        if at >= length && endless.any(|endless| endless.is_call(call.method)) {
            take_out(checked, at);
            found = true;
            continue;
        }
        let methods = lab.methods();
        let mut endless = workers.iter().map(|worker| &worker.endless);
        if call.shown && endless.any(|endless| endless.is_text(call, &methods)) {
            call.shown = false;
            found = true;
        }
    }
    found
}

/// Removes an observer about which nothing is asserted yet, with those that question its result.
fn take_out(checked: &mut Checked, at: usize) {
    for later in (at + 1..checked.sequence.len()).rev() {
        if checked.sequence[later].on == Some(at) {
            take_out(checked, later);
        }
    }
    if let Some(sequence) = without(&checked.sequence, at) {
        checked.sequence = sequence;
        checked.kept.remove(at);
    }
}

/// What a sequence, of which this many calls are needed, does in two JVMs, if all of it can be
/// done.
async fn twice(
    sequence: &Sequence,
    needed: usize,
    lab: &Lab<'_>,
    state: State,
) -> Result<(Executed, Executed), Lost> {
    let whole = |one: Executed| match () {
        () if is_whole(&one, sequence.len()) => Ok(one),
        () if one.blocked => Err(Lost::Blocked(one.wanted())),
        () if one.ended == Ended::Well => Err(Lost::Unstable),
        () => Err(Lost::Ended),
    };
    let one = lab.order_needing(needed, Side::Here, State::Left, sequence);
    let two = lab.order_needing(needed, Side::There, state, sequence);
    let (one, two) = (one.await, two.await);
    Ok((whole(one)?, whole(two)?))
}

/// Whether the assertion only concerns the existence and the text of an object.
fn is_there(told: &Assertion) -> bool {
    is_said(told) || *told == Assertion::NotNull
}

/// The assertion if it held in two JVMs.
pub fn agreed(one: Assertion, two: Assertion) -> Option<Assertion> {
    match (one, two) {
        // If the text differs, there is at least an object.
        (one, two) if one != two && is_there(&one) && is_there(&two) => Some(Assertion::NotNull),
        (Assertion::Throws(one, said), Assertion::Throws(two, other)) if one == two => Some(
            Assertion::Throws(one, said.filter(|said| other.as_ref() == Some(said))),
        ),
        (one, two) => (one == two).then_some(one),
    }
}

/// Finds the calls that return their own object, and makes all that follows use that; likewise for
/// a constant that is read again, and for an earlier call's result.
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
        } else if let Some(Assertion::Same(same)) = checked.assertions[at]
            && at < length
            && methods.get(checked.sequence[at].method).types().1
                == methods.get(checked.sequence[same].method).types().1
        {
            name[at] = same;
        }
    }
}

/// Whether two calls are the same except for how their results are looked at.
pub fn is_alike(one: &Statement, other: &Statement) -> bool {
    one.method == other.method && one.on == other.on && one.args == other.args
}

/// In the life of an object, leaves calls to which it was only passed to others, unless they may
/// change it or show something.
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
        let unchanged = statement.args.iter().enumerate().all(|(place, arg)| {
            let mut is_passed = false;
            arg.vars(&mut |var| is_passed |= var == object);
            !is_passed || method.leaves(mutability, place as i16 + 1)
        });
        if unchanged {
            checked.kept[at] = false;
            checked.assertions[at] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a call was left out, it is known that a map exists, but not its content.
    #[test]
    fn what_the_run_does_not_tell_is_not_asserted() {
        let text = || Assertion::Text("{a=1}".to_owned());
        assert_eq!(Fits::Whole.limit(text()), Some(text()));
        assert_eq!(Fits::Object.limit(text()), Some(Assertion::NotNull));
        assert_eq!(Fits::Object.limit(Assertion::Equals(Literal::Null)), None);
        assert_eq!(Fits::Nothing.limit(text()), None);
    }
}
