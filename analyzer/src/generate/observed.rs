//! Tests of what a recorded run did: sequences that were carved, executed, and
//! compared with what was seen.

use super::asserted::{Assertion, Checked, as_seen, assertion, holds, is_whole, minimise};
use super::carve::{Access, Carved, Recorded};
use super::sequence::{Arg, Method, Methods, Sequence, Statement};
use super::worker::{Ended, Executed, Outcome, Worker};
use crate::model::mutable::{MethodName, Mutability};
use crate::model::values::Literal;
use anyhow::Result;
use hindsight_classfile::access;
use hindsight_instrument::glob::Globs;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Tests of one class.
const MAX_PER_CLASS: usize = 20;
/// Observers that are called at the end of a test.
const MAX_OBSERVERS: usize = 4;

/// How often a sequence must do the same again before it is a test.
const CONFIRMED: usize = 2;

/// What is to be made.
pub struct Wanted<'a> {
    /// Which classes; all that the run has used if there are none here.
    pub classes: &'a Globs,
    /// Which methods change nothing, if that is known.
    pub mutability: Option<&'a Mutability>,
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
        let tries: Vec<Carved> = [false, true]
            .into_iter()
            .filter_map(|wide| recorded.slice(*serial, wide, methods))
            .collect();
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
        let Some(carved) = recorded.call(seen, methods) else {
            continue;
        };
        let method = methods.get(carved.sequence[0].method);
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
    Ok((distinct(tests), counts))
}

/// Leaves out tests that say the same as others.
pub fn distinct(tests: Vec<Checked>) -> Vec<Checked> {
    let mut seen = HashSet::new();
    tests
        .into_iter()
        .filter(|test| seen.insert(test.sequence.clone()))
        .collect()
}

/// Leaves out tests that differ from others only in values that are passed to calls
/// of which nothing is asserted, and assert the same.
pub fn diverse(tests: Vec<Checked>) -> Vec<Checked> {
    let mut seen = HashSet::new();
    let said = |test: &Checked| {
        let mut sequence = test.sequence.clone();
        for (statement, assertion) in sequence.iter_mut().zip(&test.assertions) {
            for arg in statement.args.iter_mut().filter(|_| assertion.is_none()) {
                if let Arg::Literal(value) = arg {
                    *value = Literal::Null;
                }
            }
        }
        (sequence, format!("{:?}", test.assertions))
    };
    let mut tests = tests;
    tests.retain(|test| seen.insert(said(test)));
    tests
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
    if both.is_none() && checked.sequence.len() > length {
        // Perhaps one must not be asked: what changes no object may still delete a file.
        checked.sequence.truncate(length);
        checked.kept.truncate(length);
        both = twice(&checked.sequence, methods, worker, other)?;
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
    drop_observers(&mut checked, &one, length);
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
    let one = once(worker)?;
    Ok(match one {
        Some(one) => once(other)?.map(|two| (one, two)),
        None => None,
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
        (Assertion::Text(_), Assertion::NotNull) | (Assertion::NotNull, Assertion::Text(_)) => {
            Some(Assertion::NotNull)
        }
        (Assertion::Throws(one, said), Assertion::Throws(two, other)) if one == two => Some(
            Assertion::Throws(one, said.filter(|said| other.as_ref() == Some(said))),
        ),
        (one, two) => (one == two).then_some(one),
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

/// How many calls of a slice do as they did.
fn good(worker: &Worker, carved: &Carved, executed: &Executed) -> usize {
    if executed.ended != Ended::Well || executed.blocked {
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
    pairs.position(bad).unwrap_or(executed.outcomes.len())
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
    for (name, descriptor) in observers.into_iter().take(MAX_OBSERVERS) {
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
