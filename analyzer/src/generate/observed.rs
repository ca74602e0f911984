//! Tests of what a recorded run did: sequences that were carved, executed, and compared with the
//! record.
//!
//! - `length` decides where tests of long lives may end.
//! - `lives` chooses the lives of objects that get tests.
//! - `slices` chooses among the sequences of a life.

mod length;
mod lives;
mod slices;

use super::Result;
use super::asserted::Checked;
use super::carve::{Access, Begins, Carved, Means, Reach, Recorded, Seen, Unmade};
use super::complete::Wanted;
use super::sequence::{Arg, Method, Methods, Sequence};
use super::ways::Ways;
use super::worker::Worker;
use length::enough;
use lives::{Life, lives};
use slices::{Came, best};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The most tests of one class.
const MAX_PER_CLASS: usize = 20;

/// The most tests of one class that concern results of its calls, or its objects as parts of
/// others.
const MAX_PARTS: usize = 10;
/// The most calls of its static methods that are tested, including the tests of its objects.
const MAX_STATICS: usize = 2 * MAX_PER_CLASS;
/// The number of successive lives of one class that no test can begin, after which no others are
/// examined.
const MAX_IN_VAIN: usize = 50;
/// The most sequences for which the reason why they are not tests is reported one by one.
const MAX_TOLD: usize = 1000;

/// The reason why a sequence is not a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Its first call, or what that needs, ended differently than in the run: which call, and how.
    Otherwise(String),
    /// It agrees with the run only if it finds nothing that others have left.
    Leftover,
    /// It attempts what a test must not do: this, unless it has caught the exception.
    Blocked(Option<String>),
    /// Nothing shows what the run did, because a call was left out: which, if it is known.
    Without(Option<String>),
    /// It took too long, or ended the JVM.
    Ended,
    /// It does not do the same each time, and everywhere.
    Unstable,
    /// It has no result that could be asserted.
    Silent,
}

impl Lost {
    /// A word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Lost::Otherwise(_) => "otherwise",
            Lost::Leftover => "leftover",
            Lost::Without(_) => "without",
            Lost::Blocked(_) => "blocked",
            Lost::Ended => "ended",
            Lost::Unstable => "unstable",
            Lost::Silent => "silent",
        }
    }

    /// The reason in words.
    pub fn reason(&self) -> &'static str {
        match self {
            Lost::Otherwise(_) => "went another way than in the run",
            Lost::Leftover => {
                "met static state that other sequences had left, as a cache or a registry"
            }
            Lost::Without(_) => "showed nothing of what the run did once a call was left out",
            Lost::Blocked(_) => "wanted what a test must not do",
            Lost::Ended => "took too long, or ended the JVM",
            Lost::Unstable => "did not do the same each time and everywhere",
            Lost::Silent => "gave nothing that could be asserted",
        }
    }
}

/// The results for carved sequences.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// The number of lives of objects, and calls of static methods, that were tried.
    pub carved: usize,
    /// The number of those that did the same again, as far as possible.
    pub same: usize,
    /// The first of the others: their last call in the run, and the reason.
    pub lost: Vec<(String, Lost)>,
    /// The calls that were left out, or ended a life, because an argument cannot be made, with the
    /// number of lives.
    pub omitted: BTreeMap<String, usize>,
    /// The lives that no test can begin: nothing that it may call has made the object, of a class;
    /// or the call that has made it takes what cannot be made, which is named.
    pub unmade: BTreeMap<String, usize>,
    /// The number of lives that continue after the end of their tests, because there are too many
    /// calls, or only more of the same.
    pub cut: usize,
    /// The calls of static methods that were not tried, because others end in the same way, or
    /// there are too many: by method, their number.
    pub untried: BTreeMap<String, usize>,
    /// The lives that were not tried, because others make the same calls with the same ends, or
    /// there are too many: by class, their number.
    pub passed_over: BTreeMap<String, usize>,
    /// The lives whose tests end before they do, because a call ended differently than in the run:
    /// which, and how.
    pub ended: BTreeMap<String, usize>,
}

impl Counts {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: Counts) {
        self.carved += other.carved;
        self.same += other.same;
        self.lost.extend(other.lost);
        for (call, count) in other.omitted {
            *self.omitted.entry(call).or_default() += count;
        }
        self.cut += other.cut;
        for (call, count) in other.untried {
            *self.untried.entry(call).or_default() += count;
        }
        for (class, count) in other.passed_over {
            *self.passed_over.entry(class).or_default() += count;
        }
        for (call, count) in other.ended {
            *self.ended.entry(call).or_default() += count;
        }
        for (class, count) in other.unmade {
            *self.unmade.entry(class).or_default() += count;
        }
    }

    /// Notes the calls that a life lacks: in the slice that is its test, or in all of them.
    fn omit(&mut self, tries: &[Carved], chosen: Option<usize>) {
        let tries = chosen.map_or(tries, |at| &tries[at..=at]);
        let calls: BTreeSet<&String> = tries.iter().flat_map(|one| &one.omitted).collect();
        for call in calls {
            *self.omitted.entry(call.clone()).or_default() += 1;
        }
    }

    /// Returns the result for one, unless it is lost.
    fn take(&mut self, about: impl Fn() -> String, came: Result<Checked, Lost>) -> Option<Checked> {
        self.carved += 1;
        match came {
            Ok(test) => {
                self.same += 1;
                Some(test)
            }
            Err(lost) => {
                if self.lost.len() < MAX_TOLD {
                    self.lost.push((about(), lost));
                }
                None
            }
        }
    }
}

/// Makes tests of what was recorded.
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
    let means = Means {
        ways: Ways::new(access.platform(), methods),
        mutability: wanted.mutability,
    };
    let found = lives(recorded, access, |class| wants(wanted, class));
    let mut making = Making {
        recorded,
        wanted,
        access,
        methods,
        worker,
        other,
        means,
        counts: Counts {
            passed_over: found.passed_over,
            ..Counts::default()
        },
        per_class: HashMap::new(),
        parts: HashMap::new(),
        wholes: HashMap::new(),
        unmade: HashMap::new(),
    };
    for class in found.nameless {
        *(making.counts.unmade.entry(format!("of {class}"))).or_default() += 1;
    }
    let mut tests = Vec::new();
    for life in found.lives {
        tests.extend(making.of_life(life)?);
    }
    let mut of_statics = Vec::new();
    for seen in &recorded.statics {
        of_statics.extend(making.of_static(seen)?);
    }
    // Those of one method are neighbours.
    of_statics.sort_by(|(one, _), (other, _)| one.cmp(other));
    tests.extend(of_statics.into_iter().map(|(_, test)| test));
    let Making {
        access,
        methods,
        mut counts,
        ..
    } = making;
    for (method, count) in &recorded.left_out {
        if has_tests(wanted, access, method, &method.class) {
            *(counts.untried.entry(method.call_of(&method.class))).or_default() += count;
        }
    }
    for test in &mut tests {
        as_written(test, methods);
    }
    Ok((tests, counts))
}

/// Whether tests of a class are wanted.
fn wants(wanted: &Wanted<'_>, class: &str) -> bool {
    wanted.classes.is_empty() || wanted.classes.matches(class)
}

/// Whether calls of a method on a class get tests. Methods that compilers write need none.
fn has_tests(wanted: &Wanted<'_>, access: &mut Access<'_>, method: &Method, class: &str) -> bool {
    let is_written = match method.class.as_str() {
        "java.lang.Enum" | "java.lang.Object" => true,
        _ => method.is_static && matches!(method.name.as_str(), "values" | "valueOf"),
    };
    let is_admitted = wants(wanted, class) && access.is_own(class) && access.is_accessible(class);
    is_admitted && !(is_written && access.is_enum(class))
}

/// The tests that are being made of a run.
struct Making<'r, 'p> {
    recorded: &'r Recorded,
    wanted: &'r Wanted<'r>,
    access: &'r mut Access<'p>,
    methods: &'r mut Methods,
    worker: &'r mut Worker,
    other: &'r mut Worker,
    means: Means<'r>,
    counts: Counts,
    /// The number of tests of each class.
    per_class: HashMap<String, usize>,
    /// The number of those of its objects as parts of others.
    parts: HashMap<String, usize>,
    /// The number of objects that are tested by themselves and as parts of others.
    wholes: HashMap<String, usize>,
    /// The number of successive lives that no test can begin, by class and whether as parts.
    unmade: HashMap<(String, bool), usize>,
}

/// The class, name and descriptor by which tests of static methods are sorted.
type Key = (String, String, String);

impl Making<'_, '_> {
    /// The tests of a life.
    fn of_life(&mut self, life: Life) -> Result<Vec<Checked>> {
        let Making {
            recorded,
            wanted,
            access,
            methods,
            worker,
            other,
            means,
            counts,
            per_class,
            parts,
            wholes,
            unmade,
        } = self;
        let Life {
            serial,
            name,
            class,
            is_part,
        } = life;
        let class = class.as_str();
        let (tested, most) = match is_part {
            true => (parts, MAX_PARTS),
            false => (per_class, MAX_PER_CLASS),
        };
        if (tested.get(class)).is_some_and(|count| *count >= most) {
            *counts.passed_over.entry(class.to_owned()).or_default() += 1;
            return Ok(Vec::new());
        }
        let mut came: Option<Came> = None;
        let mut of_whole = None;
        let mut tried = Vec::new();
        let mut is_short = false;
        // If the first lives of a class could not begin, later ones hardly can.
        let in_vain = unmade.entry((class.to_owned(), is_part)).or_default();
        let ways = [Begins::Made, Begins::Given];
        for begins in ways.into_iter().filter(|_| *in_vain < MAX_IN_VAIN) {
            // An object with a test of its own is also tested as a part of the object from which it
            // was taken.
            let has_test = came.as_ref().is_some_and(|came| came.test.is_ok());
            let taken = wholes.entry(class.to_owned()).or_default();
            if has_test && (*taken >= MAX_PARTS || !recorded.is_used_part(serial)) {
                continue;
            }
            let mut tries = slices(recorded, serial, begins, means, methods);
            for one in &mut tries {
                let written = written(&one.sequence, class, access);
                if written < one.sequence.len() {
                    *one = one.until(written);
                }
            }
            tries.retain(|one| one.own.contains(&true));
            let mut is_shorter = false;
            for one in &mut tries {
                by_declared_types(&mut one.sequence, access, methods);
                if let Some(calls) = enough(one) {
                    *one = one.until(calls);
                    is_shorter = true;
                }
            }
            if tries.is_empty() {
                continue;
            }
            let now = best(&tries, class, wanted, access, methods, worker, other)?;
            if has_test {
                of_whole = now.test.ok();
                *taken += usize::from(of_whole.is_some());
            } else if came.is_none() || now.test.is_ok() {
                tried = tries;
                is_short = is_shorter;
                came = Some(now);
            }
        }
        let Some(came) = came else {
            *in_vain += 1;
            let made = recorded
                .maker(serial)
                .and_then(|seen| seen.lacking(&HashMap::new()));
            let what = made.unwrap_or_else(|| match is_part {
                true => format!("of {name}"),
                false => format!("of {class}"),
            });
            *counts.unmade.entry(what).or_default() += 1;
            return Ok(Vec::new());
        };
        *in_vain = 0;
        *tested.entry(class.to_owned()).or_default() += 1;
        counts.omit(&tried, came.of);
        counts.cut += usize::from(came.of.is_some_and(|of| is_short || tried[of].is_cut));
        if let Some(call) = came.ended.filter(|_| came.test.is_ok()) {
            *counts.ended.entry(call).or_default() += 1;
        }
        let about = || {
            let own = tried.last().and_then(|one| {
                let at = one.own.iter().rposition(|own| *own)?;
                Some(&one.seen[at])
            });
            let Some(seen) = own else {
                return class.to_owned();
            };
            match is_part {
                true => seen.call_of(&seen.method.class),
                false => seen.call_in_life(serial, class),
            }
        };
        let mut tests = Vec::from_iter(counts.take(about, came.test));
        tests.extend(of_whole.and_then(|test| counts.take(String::new, Ok(test))));
        Ok(tests)
    }

    /// The test of a call of a static method.
    fn of_static(&mut self, seen: &Rc<Seen>) -> Result<Option<(Key, Checked)>> {
        let Making {
            recorded,
            wanted,
            access,
            methods,
            worker,
            other,
            means,
            counts,
            per_class,
            ..
        } = self;
        let class = seen.class_of(&seen.method);
        let mut carve = |unmade| {
            let carved = recorded.call(seen, unmade, means, methods)?;
            let written = written(&carved.sequence, class, access);
            (written == carved.sequence.len()).then_some(carved)
        };
        let first = Unmade::WAYS.into_iter().find_map(&mut carve);
        let mut tries: Vec<Carved> = first.into_iter().collect();
        tries.extend(carve(Unmade::References));
        tries.dedup_by(|one, other| one.sequence == other.sequence);
        let Some(first) = tries.first() else {
            if has_tests(wanted, access, &seen.method, class)
                && let Some(call) = seen.lacking(&HashMap::new())
            {
                *counts.omitted.entry(call).or_default() += 1;
            }
            return Ok(None);
        };
        let last = first.sequence.len() - 1;
        for one in &mut tries {
            by_declared_types(&mut one.sequence, access, methods);
        }
        let method = methods.get(tries[0].sequence[last].method);
        let class = seen.class_of(method).to_owned();
        if !has_tests(wanted, access, method, &class) {
            return Ok(None);
        }
        let count = per_class.entry(class.clone()).or_default();
        if *count >= MAX_STATICS {
            *counts.untried.entry(seen.call_of(&class)).or_default() += 1;
            return Ok(None);
        }
        *count += 1;
        let lacks = tries.iter().all(|one| one.lacks);
        let came = best(&tries, &class, wanted, access, methods, worker, other)?;
        if came.test.is_err()
            && lacks
            && let Some(call) = seen.lacking(&HashMap::new())
        {
            // With another argument it is another call.
            *counts.omitted.entry(call).or_default() += 1;
            return Ok(None);
        }
        let test = counts.take(|| seen.call_of(&class), came.test);
        Ok(test.map(|test| {
            let method = seen.method.clone();
            ((class, method.name, method.descriptor), test)
        }))
    }
}

/// Reduces the calls to what a source says, by which tests are compared.
fn as_written(test: &mut Checked, methods: &mut Methods) {
    for call in &mut test.sequence {
        let method = methods.get(call.method).as_written();
        call.method = methods.intern(method);
    }
    if let Some(whole) = &mut test.whole {
        as_written(whole, methods);
    }
}

/// Calls the results of others with the types that these declare, if these have the method.
fn by_declared_types(sequence: &mut Sequence, access: &mut Access<'_>, methods: &mut Methods) {
    for at in 0..sequence.len() {
        let Some(on) = sequence[at].on else { continue };
        let maker = methods.get(sequence[on].method);
        if maker.is_constructor() {
            continue;
        }
        let (_, told) = maker.types();
        let called = methods.get(sequence[at].method).clone();
        if let Some(declared) = access.declared(&told, &called) {
            sequence[at].method = methods.intern(declared);
        }
    }
}

/// How many of the first calls a test of a class can have, given the lambdas that are passed: an
/// interface that is not public belongs to its package.
fn written(sequence: &Sequence, class: &str, access: &mut Access<'_>) -> usize {
    let mut can_be = |arg: &Arg| match arg {
        Arg::Lambda(lambda) => access.is_in_sight(&lambda.interface, class),
        _ => true,
    };
    let first = sequence
        .iter()
        .position(|call| !call.args.iter().all(&mut can_be));
    first.unwrap_or(sequence.len())
}

/// The possible slices of a life, each once; those with the most around come first.
fn slices(
    recorded: &Recorded,
    object: u64,
    begins: Begins,
    means: &Means<'_>,
    methods: &mut Methods,
) -> Vec<Carved> {
    let Some(life) = recorded.life(object, begins) else {
        return Vec::new();
    };
    // For a part, the whole may be one itself; or another test has made it.
    let others: &[Begins] = match begins {
        Begins::Made => &[Begins::Made],
        Begins::Given => &[Begins::Given, Begins::Made],
    };
    let reaches = [Reach::Returned, Reach::Shared, Reach::Givers, Reach::Needed];
    let around = others
        .iter()
        .flat_map(|others| reaches.map(|reach| (reach, *others)));
    let around: Vec<_> = around
        .filter_map(|(reach, others)| recorded.around(&life, reach, others))
        .collect();
    let mut all: Vec<Carved> = Vec::new();
    for unmade in Unmade::WAYS {
        for around in &around {
            let fresh = recorded
                .slice(object, around, unmade, means, methods)
                .filter(|one| all.iter().all(|other| other.sequence != one.sequence));
            all.extend(fresh);
        }
    }
    all
}
