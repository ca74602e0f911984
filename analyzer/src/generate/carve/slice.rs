//! The record of a run, and sequences cut out of it.
//!
//! - `convert` makes a sequence of the calls around a life.

mod convert;

use super::lambdas::Lambdas;
use super::stand_ins::argument;
use super::{End, Seen, Value, objects};
use crate::generate::sequence::{Method, Methods, Sequence};
use crate::generate::ways::Ways;
use crate::java::descriptor;
use crate::model::mutable::Mutability;
use crate::text::{short_type, simple_name};
use convert::MAX_CALLS;
pub(super) use convert::MAX_ELEMENTS;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The most steps of the run between a call and the next that still counts as looking at its
/// result.
const SOON: u64 = 16;
/// The most such calls that follow in a test of the object.
const MAX_ASKED: usize = 4;

/// How much of a run is cut out around the calls of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// For each object that takes part, what happened to it before.
    Needed,
    /// Also what happened until then to the objects that have returned it, of which it may be a
    /// part.
    Givers,
    /// Also what was done with others that came from the same objects, which may share state with
    /// it.
    Shared,
    /// Also what was done with the results of calls: what is done to a part is done to the whole.
    Returned,
}

/// Where the lives of objects begin that a slice needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// With the call that has made them, even within one that a test could make.
    Made,
    /// With the call further out that has returned them: for a part, the call of the whole that
    /// returns it.
    Given,
}

/// How a call in a life is handled whose argument a test cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmade {
    /// The life ends before it.
    Ends,
    /// The life continues without it; but an object of the JDK is replaced by another one.
    LeftOut,
    /// A lambda is replaced as well; if there is no replacement, this is not an option.
    Lambdas,
    /// The same, but lambdas return what their own code returned later, rather than what the call
    /// has returned: they were kept, and are not method references.
    Kept,
    /// Method references are handled like other lambdas: their method may return something else
    /// now. If there is no replacement, this is not an option.
    References,
}

impl Unmade {
    /// The options, beginning with the one that is closest to the run.
    pub const WAYS: [Unmade; 5] = [
        Unmade::Ends,
        Unmade::LeftOut,
        Unmade::Lambdas,
        Unmade::Kept,
        Unmade::References,
    ];

    /// Whether lambdas are replaced.
    fn replaces_lambdas(self) -> bool {
        matches!(self, Unmade::Lambdas | Unmade::Kept | Unmade::References)
    }
}

impl Seen {
    /// Whether it ran within one of these calls, which are in order of their beginning.
    fn is_within(&self, others: &BTreeMap<u64, Rc<Seen>>) -> bool {
        let mut before = others.range(..self.entered).rev();
        let before =
            before.find(|(_, other)| other.thread == self.thread && !other.method.is_constant());
        !self.method.is_constant() && before.is_some_and(|(_, other)| other.left >= self.left)
    }

    /// Whether it ran within another call.
    fn ran_within(&self, other: &Seen) -> bool {
        self.thread == other.thread && self.entered > other.entered && self.left <= other.left
    }

    /// Whether it is not on an object that a test would have to make.
    fn is_alone(&self) -> bool {
        self.method.is_static || self.constant.is_some()
    }

    /// Calls `each` for the objects that it may have changed.
    pub(super) fn changed(&self, mutability: Option<&Mutability>, each: &mut impl FnMut(u64)) {
        let changes = |position: i16| {
            mutability.is_none_or(|mutability| !self.method.leaves(mutability, position))
        };
        let on = self.on.filter(|_| changes(0));
        on.into_iter().for_each(&mut *each);
        for (position, arg) in (1..).zip(&self.args) {
            let may_be = matches!(arg, Value::Object(_) | Value::Array(..));
            if may_be && changes(position) {
                objects(arg, each);
            }
        }
    }

    /// Whether it may have changed any of these objects.
    fn changes(&self, objects: &HashMap<u64, usize>, mutability: Option<&Mutability>) -> bool {
        let mut any = false;
        self.changed(mutability, &mut |serial| {
            any |= objects.contains_key(&serial)
        });
        any
    }

    /// Whether it yields an object of the program, which may keep the arguments.
    fn gives_an_object(&self) -> bool {
        self.made.is_some() || matches!(self.end, End::Returned(Some(Value::Object(_))))
    }

    /// The class that a test of the call alone concerns, if this is the called method: for a
    /// constant its class, which may have its method from an interface.
    pub fn class_of<'m>(&'m self, called: &'m Method) -> &'m str {
        let of = self.constant.as_deref().unwrap_or(called);
        &of.class
    }

    /// The call in the usual notation, as part of the life of an object of some class.
    pub fn call_in_life(&self, object: u64, class: &str) -> String {
        let is_its = self.on == Some(object) || self.made == Some(object);
        self.call_of(if is_its { class } else { &self.method.class })
    }

    /// The call in the usual notation, with a name of its class.
    pub fn call_of(&self, class: &str) -> String {
        self.method.call_of(class)
    }

    /// The call, and the parts of it that a test cannot make: its object, or arguments.
    pub fn lacking(&self, objects: &HashMap<u64, usize>) -> Option<String> {
        let given = |arg: &Value| argument(arg, objects, false).is_some();
        let (types, _) = self.method.types();
        let missing = self.args.iter().zip(&types);
        let missing = missing.filter(|(arg, _)| !given(arg));
        let names = missing.map(|(arg, ty)| {
            let name = short_type(&descriptor::type_name(ty));
            // A number is always recorded, unless it is secret; so is a text that is not too long,
            // but it may be forgotten if many others come before it is used again.
            match *arg == Value::Unknown {
                true if descriptor::is_primitive(ty) => name + ", redacted",
                true if *ty == "Ljava/lang/String;" => name + ", redacted, too long or forgotten",
                _ => name,
            }
        });
        let on = self.on.filter(|on| !objects.contains_key(on));
        let on = on.map(|_| simple_name(&self.method.class).to_owned());
        let names: Vec<String> = on.into_iter().chain(names).collect();
        let call = self.method.call_of(simple_name(&self.method.class));
        (!names.is_empty()).then(|| format!("{call} ({})", names.join(", ")))
    }

    /// The objects that it needs.
    pub(super) fn operands(&self, each: &mut impl FnMut(u64)) {
        self.on.iter().for_each(|on| each(*on));
        self.args.iter().for_each(|arg| objects(arg, each));
    }
}

/// The record of a run.
pub struct Recorded {
    /// The classes of which a method was called: others were at most loaded.
    pub called: HashSet<String>,
    /// The objects with calls, in the order in which they were first seen, with their classes.
    pub objects: Vec<(u64, String)>,
    pub(super) histories: FxHashMap<u64, Vec<Rc<Seen>>>,
    /// The objects with more calls than are in their histories, with the beginning of the first of
    /// these.
    pub(super) cut: FxHashMap<u64, u64>,
    /// The calls that returned objects which others had made.
    pub(super) given: FxHashMap<u64, Rc<Seen>>,
    /// By object, the objects that were made by calls in which it took part.
    pub(super) derived: FxHashMap<u64, Vec<u64>>,
    /// The lambdas, and their results.
    pub(super) lambdas: Lambdas,
    /// The classes of objects that are the JDK's.
    pub(super) of_jdk: FxHashMap<u64, Rc<str>>,
    /// The calls of static methods, and on constants of enums, in which no object of the program
    /// took part: one of each method, then another of each, and so on.
    pub statics: Vec<Rc<Seen>>,
    /// The static methods with more such calls, and their number.
    pub left_out: Vec<(Method, usize)>,
}

/// A sequence that was cut out.
#[derive(Debug, Clone)]
pub struct Carved {
    /// The calls.
    pub sequence: Sequence,
    /// The record of each call.
    pub seen: Vec<Rc<Seen>>,
    /// Whether each call is one of the object's own, or questions it through something that it has
    /// returned.
    pub own: Vec<bool>,
    /// The number of its own calls that run within each call.
    pub nested: Vec<usize>,
    /// Whether calls of its own are left out, or have another argument, because an argument cannot
    /// be made.
    pub lacks: bool,
    /// The places in the sequence where something is left out, or another argument is passed, that
    /// may have changed its objects: what follows may differ.
    pub gaps: Vec<usize>,
    /// Those of these places where another lambda is passed: what the object says then refers to
    /// that lambda, if nothing else differs there.
    pub replaced: Vec<usize>,
    /// Whether it ends before the object's life, because there are too many calls.
    pub is_cut: bool,
    /// The object's own calls that are left out, with the types of what cannot be made.
    pub omitted: Vec<String>,
    /// The first call that is left out and may have changed something.
    pub left_out: Option<String>,
}

/// How much of an object's life the first calls of a sequence cover; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// When the last of them began, which is how far into the life they get.
    until: u64,
    /// The number of the object's calls that they make, including those within others.
    done: usize,
    /// The number of those with the same result as in the run.
    same: usize,
}

/// The calls of an object, and those around them.
#[derive(Debug)]
pub struct Around<'o> {
    own: &'o [Rc<Seen>],
    /// The calls on the result of the last of these.
    asked: Vec<Rc<Seen>>,
    /// The calls, including those of the object, in order of their beginning.
    calls: Vec<Rc<Seen>>,
    /// The calls that run within one of them, in order of their beginning.
    within: BTreeMap<u64, Rc<Seen>>,
    /// The time from which on something needed is not known to be as it was.
    unsure: u64,
}

/// The means by which sequences are cut out.
pub struct Means<'a> {
    /// The ways to make objects of the JDK.
    pub ways: Ways,
    /// The methods that change nothing, if that is known.
    pub mutability: Option<&'a Mutability>,
}

impl Recorded {
    /// The shape of an object's life: its calls without their arguments, and the classes of
    /// exceptions.
    pub fn shape(&self, serial: u64) -> Vec<(Method, Option<String>)> {
        let history = self.histories.get(&serial);
        let calls = history.into_iter().flatten();
        let threw = |seen: &Seen| match &seen.end {
            End::Threw(class) => Some(class.clone()),
            End::Returned(_) => None,
        };
        calls
            .map(|seen| (seen.method.as_written(), threw(seen)))
            .collect()
    }

    /// The ends of the calls of an object.
    pub fn ends(&self, serial: u64) -> Vec<&End> {
        let history = self.histories.get(&serial);
        let calls = history.into_iter().flatten();
        calls.map(|seen| &seen.end).collect()
    }

    /// The number of known calls of an object.
    pub fn calls(&self, object: u64) -> usize {
        self.histories.get(&object).map_or(0, Vec::len)
    }

    /// The call that has made an object, if it was recorded.
    pub fn maker(&self, object: u64) -> Option<&Seen> {
        let first = self.histories.get(&object)?.first()?;
        (first.made == Some(object)).then_some(first)
    }

    /// The class by which a call returns an object.
    pub fn given_as(&self, object: u64) -> Option<String> {
        let (_, result) = self.giver(object)?.types();
        descriptor::class_name(&result)
    }

    /// The object whose method returns another one.
    pub fn given_by(&self, object: u64) -> Option<u64> {
        let given = self.given.get(&object).map(Rc::as_ref);
        given.or_else(|| self.maker(object))?.on
    }

    /// The method that returns an object.
    pub fn giver(&self, object: u64) -> Option<&Method> {
        let given = self.given.get(&object).map(Rc::as_ref);
        Some(&given.or_else(|| self.maker(object))?.method)
    }

    /// The calls of an object, if the first is one that has made it; or from the call on that has
    /// returned it, if its own beginning is within a call that a test cannot take apart.
    pub fn life(&self, object: u64, begins: Begins) -> Option<Vec<Rc<Seen>>> {
        let own = self.histories.get(&object)?;
        if begins == Begins::Made {
            return (own.first()?.made == Some(object)).then(|| own.clone());
        }
        let given = self.given.get(&object)?;
        let later = own.iter().filter(|seen| seen.entered > given.left);
        Some([given].into_iter().chain(later).cloned().collect())
    }

    /// Whether an object was made within the call that has returned it, and was then used.
    pub fn is_used_part(&self, object: u64) -> bool {
        let given = self.given_outside(object);
        let later = self.histories.get(&object).and_then(|own| own.last());
        given.is_some_and(|given| later.is_some_and(|last| last.entered > given.left))
    }

    /// The call that returns an object and has fewer callers around it than the one that has made
    /// it.
    fn given_outside(&self, object: u64) -> Option<&Rc<Seen>> {
        let given = self.given.get(&object)?;
        let first = self.histories.get(&object).and_then(|own| own.first());
        first
            .is_none_or(|first| given.depth < first.depth)
            .then_some(given)
    }

    /// The calls of an object that began in this time, from where its life begins.
    fn calls_in(
        &self,
        object: u64,
        time: Range<u64>,
        begins: Begins,
    ) -> impl Iterator<Item = &Rc<Seen>> {
        let given = match begins {
            Begins::Made => None,
            Begins::Given => self.given_outside(object),
        };
        let given = given.filter(|given| given.entered < time.end);
        let from = given.map_or(0, |given| given.left + 1);
        let own = self.histories.get(&object).into_iter().flatten();
        let own = own.filter(move |call| call.entered >= from);
        let calls = given.into_iter().chain(own);
        calls.filter(move |call| time.contains(&call.entered))
    }

    /// Cuts out the calls of an object with those around them.
    pub fn slice(
        &self,
        object: u64,
        around: &Around<'_>,
        unmade: Unmade,
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        let mut carved = self.convert(around, (means, unmade), methods)?;
        carved.is_cut |= self.cut.contains_key(&object);
        Some(carved)
    }

    /// A call that stands for itself, such as one of a static method.
    pub fn call(
        &self,
        seen: &Rc<Seen>,
        unmade: Unmade,
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        let own = [seen.clone()];
        let around = self.around(&own, Reach::Needed, Begins::Made)?;
        self.convert(&around, (means, unmade), methods)
    }

    /// The calls with which the run looked at the result of a call at once, if that is a collection
    /// of the JDK, which has no test of its own.
    fn asked_at_once(&self, seen: &Seen) -> Vec<Rc<Seen>> {
        let End::Returned(Some(Value::Object(serial))) = seen.end else {
            return Vec::new();
        };
        if !self.of_jdk.contains_key(&serial) {
            return Vec::new();
        }
        let calls = self.histories.get(&serial).into_iter().flatten();
        let mut end = seen.left;
        let at_once = calls
            .filter(|call| call.entered > seen.left && call.on == Some(serial))
            .take_while(|call| {
                let is = call.thread == seen.thread && call.entered - end < SOON;
                end = call.left;
                is
            });
        at_once.take(MAX_ASKED).cloned().collect()
    }

    /// The calls that these need, and those around them.
    pub fn around<'o>(
        &self,
        own: &'o [Rc<Seen>],
        reach: Reach,
        begins: Begins,
    ) -> Option<Around<'o>> {
        let wide = matches!(reach, Reach::Shared | Reach::Returned);
        let end = own.last()?;
        let asked = match reach {
            Reach::Returned => self.asked_at_once(end),
            Reach::Shared | Reach::Givers | Reach::Needed => Vec::new(),
        };
        let last = asked.last().map_or(end.entered, |seen| seen.left);
        let mut chosen: BTreeMap<u64, Rc<Seen>> = BTreeMap::new();
        let mut within: BTreeMap<u64, Rc<Seen>> = BTreeMap::new();
        // The time up to which each object's calls are examined.
        let mut followed: FxHashMap<u64, u64> = FxHashMap::default();
        let mut came_of: FxHashSet<u64> = FxHashSet::default();
        // The time from which on something needed is not known to be as it was.
        let mut unsure = u64::MAX;
        // The longest calls are examined first, because what runs within them need not be.
        let mut all: Vec<(&Rc<Seen>, bool)> = Vec::new();
        let mut pending = BinaryHeap::new();
        let look_at = |seen, is_aside, pending: &mut BinaryHeap<_>, all: &mut Vec<_>| {
            let seen: &Rc<Seen> = seen;
            pending.push((seen.left - seen.entered, Reverse(seen.entered), all.len()));
            all.push((seen, is_aside));
        };
        for seen in own {
            look_at(seen, false, &mut pending, &mut all);
        }
        let mut follow = Vec::new();
        // Calls that are only included for what they leave to others: what they found themselves is
        // lost.
        let mut aside: FxHashSet<u64> = FxHashSet::default();
        while let Some((.., place)) = pending.pop() {
            let (seen, is_aside) = all[place];
            let is_there = chosen.contains_key(&seen.entered);
            if is_there && (is_aside || !aside.remove(&seen.entered)) {
                continue;
            }
            if wide && seen.is_within(&chosen) {
                within.insert(seen.entered, seen.clone());
                continue;
            }
            if chosen.len() > 4 * MAX_CALLS {
                unsure = unsure.min(seen.entered);
                // The same for all others, of which there may be a hundred thousand.
                for (.., place) in pending.drain() {
                    let (seen, _) = all[place];
                    let is_there =
                        || chosen.contains_key(&seen.entered) || wide && seen.is_within(&chosen);
                    if seen.entered < unsure && !is_there() {
                        unsure = seen.entered;
                    }
                }
                break;
            }
            chosen.insert(seen.entered, seen.clone());
            if is_aside {
                aside.insert(seen.entered);
            }
            for call in &seen.before {
                look_at(call, true, &mut pending, &mut all);
            }
            let until = if wide { last } else { seen.entered };
            seen.operands(&mut |operand| {
                // Once is enough, if it is up to the end: much has come from what many calls
                // concern.
                if wide && !came_of.insert(operand) {
                    return;
                }
                follow.push((operand, until));
                if reach == Reach::Givers {
                    let given = match begins {
                        Begins::Given => self.given_outside(operand).map(Rc::as_ref),
                        Begins::Made => None,
                    };
                    let giver = given.or_else(|| self.maker(operand));
                    follow.extend(giver.and_then(|seen| seen.on).map(|serial| (serial, until)));
                }
                if wide {
                    let derived = self.derived.get(&operand).into_iter().flatten();
                    follow.extend(derived.map(|serial| (*serial, last)));
                }
            });
            if reach == Reach::Returned
                && let End::Returned(Some(value)) = &seen.end
            {
                objects(value, &mut |serial| follow.push((serial, last)));
            }
            for (serial, until) in follow.drain(..) {
                if let Some(at) = self.cut.get(&serial).filter(|at| **at < until) {
                    unsure = unsure.min(*at);
                }
                let known = followed.entry(serial).or_default();
                let range = *known..until;
                *known = until.max(*known);
                for call in self.calls_in(serial, range, begins) {
                    look_at(call, false, &mut pending, &mut all);
                }
            }
        }
        // What runs within an included call runs with it.
        let mut ends: HashMap<u64, u64> = HashMap::new();
        let mut calls = Vec::new();
        for seen in chosen.into_values() {
            let end = ends.entry(seen.thread).or_default();
            if seen.method.is_constant() {
                // It can be read at any time.
                calls.push(seen);
            } else if seen.entered > *end {
                *end = seen.left;
                calls.push(seen);
            } else {
                within.insert(seen.entered, seen);
            }
        }
        Some(Around {
            own,
            asked,
            calls,
            within,
            unsure,
        })
    }
}

impl Carved {
    /// How much of the object's life the first calls cover; `is_same` says which of its own
    /// returned the same. `None` if none of them is the object's.
    pub fn score(&self, calls: usize, is_same: impl Fn(usize) -> bool) -> Option<Score> {
        let own = (0..calls).filter(|at| self.own[*at]);
        let until = own.clone().next_back().map(|at| self.seen[at].entered)?;
        let weight = |at: usize| match self.nested[at] {
            0 => 1,
            nested => nested,
        };
        Some(Score {
            until,
            done: own.clone().map(weight).sum(),
            same: own.filter(|at| is_same(*at)).map(weight).sum(),
        })
    }

    /// The first calls.
    pub fn until(&self, calls: usize) -> Carved {
        let mut until = self.clone();
        until.sequence.truncate(calls);
        until.seen.truncate(calls);
        until.own.truncate(calls);
        until.nested.truncate(calls);
        until
    }

    /// Whether a gap only consists of another lambda: nothing else is passed there, or left out
    /// before.
    pub fn is_replaced(&self, gap: usize) -> bool {
        let count = self.gaps.iter().filter(|other| **other == gap).count();
        count == 1 && self.replaced.contains(&gap)
    }

    /// Notes that another argument is passed than in the run; from a `gap` on, that may matter to
    /// what follows.
    pub(super) fn passes_another(&mut self, gap: Option<usize>) {
        self.lacks = true;
        self.gaps.extend(gap);
    }
}

#[cfg(test)]
mod tests;
