//! Tests of what a recorded run did: sequences that were carved, executed, and
//! compared with what was seen.

use super::asserted::{Assertion, Checked, as_seen, assertion, holds, is_whole, minimise};
use super::carve::{Access, Carved, Recorded};
use super::sequence::{Arg, Method, MethodId, Methods, Sequence, Statement};
use super::ways::Ways;
use super::worker::{Ended, Executed, Outcome, Worker};
use crate::model::mutable::{MethodName, Mutability};
use crate::model::values::Literal;
use anyhow::Result;
use hindsight_classfile::access;
use hindsight_instrument::glob::Globs;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::thread;

/// Tests of one class.
const MAX_PER_CLASS: usize = 20;
/// Observers that are called at the end of a test,
const MAX_OBSERVERS: usize = 4;
/// and that are tried, to find those that tell something.
const MAX_TRIED: usize = 24;
/// A text that is longer tells less than others do.
const MAX_TEXT: usize = 200;

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
        let name = MethodName {
            class: &method.class,
            name: &method.name,
            descriptor: &method.descriptor,
            is_static: method.is_static,
        };
        !method.is_static
            && !method.is_constructor()
            && !method.is_constant()
            && (self.mutability).is_some_and(|mutability| mutability.is_immutable(&name, 0))
    }
}

/// What became of carved sequences.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Lives of objects, and calls of static methods, that were tried.
    pub carved: usize,
    /// Those that did the same again, as far as they could be.
    pub same: usize,
}

/// Makes tests of what was seen.
///
/// # Errors
///
/// Fails if the workers do. `other` is a second one, in a JVM of its own.
pub fn tests(
    recorded: &Recorded,
    wanted: &Wanted<'_>,
    access: &mut Access<'_>,
    methods: &mut Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> Result<(Vec<Checked>, Counts)> {
    let mut counts = Counts::default();
    let ways = Ways::new(access.platform(), methods);
    let mut tests = Vec::new();
    let mut per_class: HashMap<String, usize> = HashMap::new();
    let mut shapes: HashSet<(String, Vec<Method>)> = HashSet::new();
    let admits = |class: &str, access: &mut Access<'_>| {
        (wanted.classes.is_empty() || wanted.classes.matches(class))
            && access.is_own(class)
            && access.is_accessible(class)
    };
    for (serial, class) in &recorded.objects {
        if per_class
            .get(class)
            .is_some_and(|count| *count >= MAX_PER_CLASS)
            || !admits(class, access)
            || !shapes.insert((class.clone(), recorded.shape(*serial)))
        {
            continue;
        }
        let mut tries: Vec<Carved> = Vec::new();
        for without in [false, true] {
            for wide in [false, true] {
                let slice = recorded.slice(*serial, (wide, without), &ways, methods);
                tries.extend(slice.filter(|slice| slice.lacks == without));
            }
        }
        if tries.is_empty() {
            continue;
        }
        *per_class.entry(class.clone()).or_default() += 1;
        counts.carved += 1;
        if let Some(test) = best(&tries, class, wanted, access, methods, worker, other)? {
            counts.same += 1;
            tests.push(test);
        }
    }
    for seen in &recorded.statics {
        let mut calls = [false, true].into_iter();
        let Some(carved) = calls.find_map(|without| recorded.call(seen, without, &ways, methods))
        else {
            continue;
        };
        let method = methods.get(carved.sequence[carved.sequence.len() - 1].method);
        let class = method.class.clone();
        // What compilers write needs no test.
        if matches!(method.name.as_str(), "values" | "valueOf") && access.is_enum(&class) {
            continue;
        }
        let count = per_class.entry(class.clone()).or_default();
        if *count >= 2 * MAX_PER_CLASS || !admits(&class, access) {
            continue;
        }
        *count += 1;
        counts.carved += 1;
        if let Some(test) = best(&[carved], &class, wanted, access, methods, worker, other)? {
            counts.same += 1;
            tests.push(test);
        }
    }
    Ok((diverse(distinct(tests)), counts))
}

/// Leaves out tests that say the same as others.
pub fn distinct(tests: Vec<Checked>) -> Vec<Checked> {
    let mut seen = HashSet::new();
    tests
        .into_iter()
        .filter(|test| seen.insert(test.sequence.clone()))
        .collect()
}

/// Leaves out tests that differ from others only in what they pass, and in that it comes
/// back; and those that are the beginning of others which assert no less.
pub fn diverse(tests: Vec<Checked>) -> Vec<Checked> {
    let mut seen = HashSet::new();
    let mut tests = tests;
    tests.retain(|test| seen.insert(unnamed(test)));
    // That a call returns its object is said once.
    let mut returned = HashSet::new();
    tests.retain(|test| {
        let more = (test.assertions.iter().enumerate())
            .any(|(at, assertion)| assertion.is_some() && test.fluent.get(at) != Some(&true));
        let last = test.sequence.last().map(|last| last.method);
        more || returned.insert(last)
    });
    let mut begun: HashMap<&[Statement], Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate() {
        begun.entry(test.calls()).or_default().push(at);
    }
    let mut within = HashSet::new();
    for test in &tests {
        for length in 1..test.calls().len() {
            let beginnings = begun.get(&test.sequence[..length]);
            let less = |at: &&usize| is_less(&tests[**at], test);
            within.extend(beginnings.into_iter().flatten().filter(less).copied());
        }
    }
    let mut at = 0..;
    tests.retain(|_| at.next().is_none_or(|at| !within.contains(&at)));
    tests
}

/// Whether a test that is the beginning of another one asserts nothing else.
fn is_less(test: &Checked, whole: &Checked) -> bool {
    let asked = |test: &Checked| -> Vec<(MethodId, Option<Assertion>)> {
        let observers = test.calls().len()..test.sequence.len();
        observers
            .map(|at| (test.sequence[at].method, test.assertions[at].clone()))
            .collect()
    };
    let calls = test.assertions[..test.calls().len()].iter();
    let told = asked(whole);
    calls
        .zip(&whole.assertions)
        .all(|(one, other)| one.is_none() || one == other)
        && asked(test).iter().all(|one| told.contains(one))
}

/// A test with the numbers of its texts and numbers in their place.
fn unnamed(test: &Checked) -> (Sequence, String) {
    fn of_arg(arg: &mut Arg, names: &mut Vec<Literal>) {
        match arg {
            Arg::Literal(literal) => {
                let varies = matches!(
                    literal,
                    Literal::Text(_) | Literal::Int(_) | Literal::Float(_) | Literal::Double(_)
                );
                if varies {
                    let known = names.iter().position(|name| name == literal);
                    let number = known.unwrap_or_else(|| {
                        names.push(literal.clone());
                        names.len() - 1
                    });
                    *literal = Literal::Int(number as i64);
                }
            }
            Arg::Array(_, elements) => elements.iter_mut().for_each(|one| of_arg(one, names)),
            Arg::Var(_) => {}
        }
    }
    let mut names = Vec::new();
    let mut sequence = test.sequence.clone();
    for statement in &mut sequence {
        statement
            .args
            .iter_mut()
            .for_each(|arg| of_arg(arg, &mut names));
    }
    let in_text = |text: &str| {
        let mut text = text.to_owned();
        for (number, name) in names.iter().enumerate() {
            if let Literal::Text(name) = name
                && name.len() > 1
            {
                text = text.replace(name, &format!("\0{number}\0"));
            }
        }
        text
    };
    let said = test.assertions.iter().map(|assertion| match assertion {
        Some(Assertion::Equals(literal)) => {
            match (names.iter().position(|one| one == literal), literal) {
                (Some(number), _) => format!("\0{number}\0"),
                (None, Literal::Text(text)) => in_text(text),
                (None, literal) => format!("{literal:?}"),
            }
        }
        Some(Assertion::Text(text)) => in_text(text),
        Some(Assertion::Throws(class, message)) => {
            format!("{class} {:?}", message.as_deref().map(in_text))
        }
        other => format!("{other:?}"),
    });
    let said = said.collect::<Vec<_>>().join("\n");
    (sequence, said)
}

/// The test of the slice that does most of what was seen.
fn best(
    tries: &[Carved],
    class: &str,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> Result<Option<Checked>> {
    worker.declare(methods)?;
    let batch: Vec<Sequence> = tries.iter().map(|carved| carved.sequence.clone()).collect();
    let executed = worker.execute(methods, &batch)?;
    let mut chosen: Option<(usize, (usize, usize))> = None;
    for (at, (carved, executed)) in tries.iter().zip(&executed).enumerate() {
        let good = good(worker, carved, executed);
        let own = (0..good).filter(|at| carved.own[*at]);
        // Calls that went as they did, and returned what they did.
        let same = own.clone().filter(|at| {
            let outcome = executed.outcomes.get(*at);
            outcome.is_some_and(|outcome| as_seen(worker, outcome, &carved.seen[*at]))
        });
        let score = (own.clone().count(), same.count());
        if score.0 > 0 && chosen.is_none_or(|(_, most)| score > most) {
            chosen = Some((at, score));
        }
    }
    let Some((at, _)) = chosen else {
        return Ok(None);
    };
    let carved = &tries[at];
    let good = good(worker, carved, &executed[at]);
    let kept = carved.own[..good].to_vec();
    let object = kept.iter().position(|own| *own);
    let checked = Checked {
        sequence: carved.sequence[..good].to_vec(),
        assertions: Vec::new(),
        kept,
        fluent: Vec::new(),
        observers: 0,
        class: class.to_owned(),
        whole: None,
    };
    let as_seen = |worker: &Worker, at: usize, outcome: &Outcome| {
        let threw = matches!(outcome, Outcome::Threw(..));
        (carved.own[at] || threw) && as_seen(worker, outcome, &carved.seen[at])
    };
    complete(
        checked, object, &as_seen, wanted, access, methods, worker, other,
    )
}

/// Executes a sequence twice, asserts what is the same both times, and leaves out
/// what that does not need. `object` is what the test is about, to be asked at
/// last; `fits` says which outcomes may be asserted.
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
) -> Result<Option<Checked>> {
    let length = checked.sequence.len();
    if let Some(object) = object {
        observe(&mut checked, object, wanted, access, methods);
    }
    worker.declare(methods)?;
    other.declare(methods)?;
    let mut both = twice(&checked.sequence, methods, worker, other)?;
    for observers in [MAX_OBSERVERS, 0] {
        if both.is_none() && checked.sequence.len() > length + observers {
            // Perhaps one must not be asked: what changes no object may still delete a file.
            (wanted.harmful.borrow_mut()).insert(checked.class.clone());
            checked.sequence.truncate(length + observers);
            checked.kept.truncate(length + observers);
            both = twice(&checked.sequence, methods, worker, other)?;
        }
    }
    let Some((one, two)) = both else {
        return Ok(None);
    };
    let shown = show(&mut checked, &one, methods);
    let both = match shown {
        true => twice(&checked.sequence, methods, worker, other)?,
        false => Some((one, two)),
    };
    let Some((one, two)) = both else {
        return Ok(None);
    };
    for (at, (first, second)) in one.outcomes.iter().zip(&two.outcomes).enumerate() {
        let found = assertion(worker, first)
            .and_then(|found| agreed(found, assertion(other, second)?))
            .filter(|_| at >= length || fits(worker, at, first));
        if checked.sequence[at].may_throw && found.is_none() && at < length {
            // It may throw now and then, or throws what cannot be named.
            return Ok(None);
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
    // What a call returns that is another thing each time is no reason for a test.
    for at in 0..length {
        let (_, result) = methods.get(checked.sequence[at].method).types();
        let shows = result != "V" && !used.contains(&at);
        checked.kept[at] &= checked.assertions[at].is_some() || !shows;
    }
    drop_again(&mut checked, length, wanted, methods);
    if let Some(object) = object {
        drop_passive(&mut checked, object, length, wanted, methods);
    }
    drop_observers(&mut checked, &one, length);
    by_one_name(&mut checked, (&one, &two), length, methods);
    if let Some(object) = object {
        choose(&mut checked, object, length, wanted, methods, worker)?;
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
            return Ok(None);
        }
    }
    if checked.sequence.len() < whole.sequence.len() {
        checked.whole = Some(Box::new(whole));
    }
    Ok(checked.asserts().then_some(checked))
}

/// What a sequence does in two JVMs, if all of it can be done.
fn twice(
    sequence: &Sequence,
    methods: &Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> Result<Option<(Executed, Executed)>> {
    let once = |worker: &mut Worker| -> Result<Option<Executed>> {
        let executed = worker.execute(methods, std::slice::from_ref(sequence))?;
        Ok((executed.into_iter().next()).filter(|one| is_whole(one, sequence.len())))
    };
    // They are two JVMs.
    let (one, two) = thread::scope(|scope| {
        let two = scope.spawn(|| once(other));
        (once(worker), two.join())
    });
    let two = two.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(one?.zip(two?))
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
        (Assertion::Text(_), Assertion::NotNull) | (Assertion::NotNull, Assertion::Text(_)) => {
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

/// What was asked before, and can be nothing else by now, need not be asserted again.
fn drop_again(checked: &mut Checked, length: usize, wanted: &Wanted<'_>, methods: &Methods) {
    let mut since: Vec<usize> = Vec::new();
    for at in 0..length {
        let statement = &checked.sequence[at];
        if !wanted.changes_nothing(methods.get(statement.method)) {
            since.clear();
            continue;
        }
        let same = |before: &usize| {
            checked.sequence[*before] == *statement
                && checked.assertions[*before] == checked.assertions[at]
        };
        if since.iter().any(same) && !statement.may_throw {
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
        let name = MethodName {
            class: &method.class,
            name: &method.name,
            descriptor: &method.descriptor,
            is_static: method.is_static,
        };
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

fn drop_observers(checked: &mut Checked, executed: &Executed, first: usize) {
    for at in (first..checked.sequence.len()).rev() {
        let threw = matches!(executed.outcomes.get(at), Some(Outcome::Threw(..)));
        if threw || checked.assertions[at].is_none() {
            checked.sequence.remove(at);
            checked.assertions.remove(at);
            checked.kept.remove(at);
        } else {
            checked.sequence[at].may_throw = false;
            checked.observers += 1;
        }
    }
}

/// Leaves those observers that tell what the calls have changed; if nothing shows that,
/// some that tell what the object is, unless the calls tell enough.
fn choose(
    checked: &mut Checked,
    object: usize,
    length: usize,
    wanted: &Wanted<'_>,
    methods: &Methods,
    worker: &mut Worker,
) -> Result<()> {
    let count = checked.sequence.len() - length;
    if count == 0 {
        return Ok(());
    }
    // What the calls have changed is seen before the first of them, or the last that may change anything.
    let mut own = (object + 1..length).filter(|at| checked.kept[*at]);
    let first = own.next();
    let last = own.rfind(|at| !wanted.changes_nothing(methods.get(checked.sequence[*at].method)));
    let mut before = Vec::new();
    for place in [first, last].into_iter().flatten() {
        let moved = |var: usize| if var >= place { var + count } else { var };
        let calls = checked.sequence[place..length].iter();
        let sequence: Sequence = (checked.sequence[..place].iter().cloned())
            .chain(checked.sequence[length..].iter().cloned())
            .chain(calls.map(|call| call.renumbered(moved)))
            .collect();
        let executed = worker.execute(methods, std::slice::from_ref(&sequence))?;
        if let Some(executed) = executed.first().filter(|one| is_whole(one, sequence.len())) {
            let outcomes = executed.outcomes[place..place + count].iter();
            let told: Vec<_> = outcomes.map(|outcome| assertion(worker, outcome)).collect();
            before.push(told);
        }
    }
    let after = &checked.assertions[length..];
    let text = |at: usize| match &after[at] {
        Some(Assertion::Text(text) | Assertion::Equals(Literal::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    let says = |at: usize| match &after[at] {
        Some(Assertion::Equals(literal)) => match literal {
            Literal::Null | Literal::Bool(false) | Literal::Int(0) => false,
            Literal::Text(text) => !text.is_empty(),
            _ => true,
        },
        Some(Assertion::Text(text)) => !matches!(text.as_str(), "" | "[]" | "{}"),
        Some(Assertion::NotNull) | None => false,
        Some(_) => true,
    };
    let changed = |at: usize| {
        let mut before = before.iter();
        before.any(|told| told[at].is_some() && told[at] != after[at])
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| text(*at).map_or(0, str::len) > MAX_TEXT);
    // What one says, another need not say again.
    let mut told = HashSet::new();
    order.retain(|at| text(*at).is_none_or(|text| text.len() < 10 || told.insert(text.to_owned())));
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
    let mut chosen = some(&changed, MAX_OBSERVERS);
    if chosen.is_empty() {
        chosen = match is_told && first.is_some() {
            true => some(&says, usize::from(is_life)),
            false => some(&says, 3),
        };
        if chosen.is_empty() && !is_told {
            chosen = some(&|_| true, 2);
        }
    }
    for at in (0..count).rev().filter(|at| !chosen.contains(at)) {
        checked.sequence.remove(length + at);
        checked.assertions.remove(length + at);
        checked.kept.remove(length + at);
        checked.observers -= 1;
    }
    Ok(())
}

/// How many calls of a slice do as they did.
fn good(worker: &Worker, carved: &Carved, executed: &Executed) -> usize {
    if executed.ended != Ended::Well {
        return 0;
    }
    let pairs = executed.outcomes.iter().zip(&carved.seen);
    let bad = |(outcome, seen): (&Outcome, _)| {
        let seen: &std::rc::Rc<super::carve::Seen> = seen;
        // Another number or text is no reason to stop, another way out is.
        match outcome {
            Outcome::Threw(..) | Outcome::Failed(_) => !as_seen(worker, outcome, seen),
            _ => matches!(seen.end, super::carve::End::Threw(_)),
        }
    };
    let mut pairs = pairs;
    let end = match pairs.position(bad) {
        Some(end) => end,
        // It caught what says that it must not.
        None if executed.blocked => return 0,
        None => executed.outcomes.len(),
    };
    if !carved.lacks {
        return end;
    }
    // What was left out must not have mattered: all goes as it did.
    let other = |at: &usize| {
        carved.own[*at] && !as_seen(worker, &executed.outcomes[*at], &carved.seen[*at])
    };
    (0..end).find(other).unwrap_or(end)
}

/// Asks the object at last what it says of itself.
fn observe(
    checked: &mut Checked,
    object: usize,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
) {
    let Some(mutability) = wanted.mutability else {
        return;
    };
    let (_, result) = methods.get(checked.sequence[object].method).types();
    if crate::java::descriptor::class_name(&result).as_deref() != Some(checked.class.as_str()) {
        return;
    }
    let Some(found) = access.info(&checked.class) else {
        return;
    };
    let Some(info) = &found.info else { return };
    let mut observers: BTreeMap<&str, &str> = BTreeMap::new();
    for method in &info.methods {
        let name = MethodName {
            class: &checked.class,
            name: &method.name,
            descriptor: &method.descriptor,
            is_static: false,
        };
        let shown = method.descriptor.strip_prefix("()").is_some_and(|result| {
            let class = crate::java::descriptor::class_name(result);
            class.is_some_and(|class| tells(&class) || access.is_enum(&class))
                || crate::java::descriptor::primitive_name(result)
                    .is_some_and(|name| name != "void")
        });
        let fits = method.is(access::PUBLIC) && !method.is(access::STATIC | access::SYNTHETIC);
        if shown && fits && method.name != "hashCode" && mutability.is_immutable(&name, 0) {
            observers.insert(&method.name, &method.descriptor);
        }
    }
    // What was asked at last need not be asked again.
    for statement in checked.sequence.iter().rev() {
        let method = methods.get(statement.method);
        let asked = statement.on == Some(object) && observers.contains_key(method.name.as_str());
        if !asked || !statement.args.is_empty() || statement.may_throw {
            break;
        }
        observers.remove(method.name.as_str());
    }
    let most = match wanted.harmful.borrow().contains(&checked.class) {
        true => MAX_OBSERVERS,
        false => MAX_TRIED,
    };
    for (name, descriptor) in observers.into_iter().take(most) {
        let method = methods.intern(Method {
            class: checked.class.clone(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            is_static: false,
        });
        checked.sequence.push(Statement {
            method,
            on: Some(object),
            args: Vec::new(),
            may_throw: true,
            shown: true,
        });
        checked.kept.push(true);
    }
}

/// Whether the text of an object of the JDK says what it is.
fn tells(class: &str) -> bool {
    matches!(
        class,
        "java.lang.String"
            | "java.math.BigDecimal"
            | "java.math.BigInteger"
            | "java.util.Collection"
            | "java.util.List"
            | "java.util.Map"
            | "java.util.Optional"
            | "java.util.OptionalDouble"
            | "java.util.OptionalInt"
            | "java.util.OptionalLong"
            | "java.util.Set"
            | "java.util.SortedMap"
            | "java.util.SortedSet"
            | "java.util.UUID"
    ) || class.starts_with("java.time.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes an object of a text, and asks it something at last.
    fn test(made_of: &str, more: usize, assertion: Option<Assertion>) -> Checked {
        let call = |method: u32, on: Option<usize>, args: Vec<Arg>| Statement {
            method: MethodId(method),
            on,
            args,
            may_throw: false,
            shown: false,
        };
        let text = Arg::Literal(Literal::Text(made_of.to_owned()));
        let mut sequence = vec![call(0, None, vec![text])];
        sequence.extend((0..more).map(|_| call(1, Some(0), Vec::new())));
        let mut assertions = vec![None; sequence.len()];
        if let Some(last) = assertions.last_mut() {
            *last = assertion;
        }
        Checked {
            kept: vec![true; sequence.len()],
            fluent: vec![false; sequence.len()],
            sequence,
            assertions,
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    #[test]
    fn tests_that_say_the_same_are_one() {
        let says = |text: &str| Some(Assertion::Equals(Literal::Text(text.to_owned())));
        let left = |tests: Vec<Checked>| diverse(tests).len();
        // Another text that comes back, and one of which something else comes.
        assert_eq!(
            left(vec![test("ab", 1, says("ab!")), test("cd", 1, says("cd!"))]),
            1
        );
        assert_eq!(
            left(vec![test("ab", 1, says("ab!")), test("cd", 1, says("ab!"))]),
            2
        );
        // The beginning of another one, that asserts nothing else; or something.
        assert_eq!(left(vec![test("ab", 1, None), test("ab", 2, says("x"))]), 1);
        assert_eq!(
            left(vec![test("ab", 1, says("y")), test("ab", 2, says("x"))]),
            2
        );
        // What returns its object, once of each method.
        let fluent = |text: &str, more: usize| {
            let mut one = test(text, more, Some(Assertion::Same(0)));
            one.fluent = vec![true; more + 1];
            one
        };
        assert_eq!(left(vec![fluent("ab", 1), fluent("ab", 2)]), 1);
    }
}
