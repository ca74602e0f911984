//! Tests of what a recorded run did: sequences that were carved, executed, and
//! compared with what was seen.

mod lives;

use super::asserted::{Checked, as_seen, tells_caller};
use super::carve::{Access, Begins, Carved, End, Means, Reach, Recorded, Score, Seen, Value};
use super::complete::{Wanted, complete};
use super::lab::Lab;
use super::sequence::{Method, Methods, Sequence};
use super::ways::Ways;
use super::worker::{Ended, Executed, Outcome, Worker};
use lives::{Life, lives};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tests of one class.
const MAX_PER_CLASS: usize = 20;

/// Tests of one class that are about what its calls have given away, or about its objects as parts of others,
const MAX_PARTS: usize = 10;
/// and calls of its static methods, with the tests of its objects.
const MAX_STATICS: usize = 2 * MAX_PER_CLASS;
/// Lives of one class, one after another, that no test can begin, after which no others are looked at.
const MAX_IN_VAIN: usize = 50;
/// How often a sequence is executed to see whether a call gives the same each time.
const CHANCES: usize = 5;
/// Sequences of which it is told one by one why they are no tests.
const MAX_TOLD: usize = 1000;

/// Why a sequence is no test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Its first call, or what that needs, went another way than in the run: which call, and how.
    Otherwise(String),
    /// It does as in the run only where nothing that others have left is there.
    Leftover,
    /// It wants what a test must not do: this, if it has not caught what says so.
    Blocked(Option<String>),
    /// Without a call that was left out, nothing shows what the run did.
    Without,
    /// It took too long, or ended the JVM.
    Ended,
    /// It does not do the same each time, and everywhere.
    Unstable,
    /// Nothing comes of it that could be asserted.
    Silent,
}

impl Lost {
    /// A word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Lost::Otherwise(_) => "otherwise",
            Lost::Leftover => "leftover",
            Lost::Without => "without",
            Lost::Blocked(_) => "blocked",
            Lost::Ended => "ended",
            Lost::Unstable => "unstable",
            Lost::Silent => "silent",
        }
    }

    /// The same for people.
    pub fn reason(&self) -> &'static str {
        match self {
            Lost::Otherwise(_) => "went another way than in the run",
            Lost::Leftover => {
                "met static state that other sequences had left, as a cache or a registry"
            }
            Lost::Without => "showed nothing of what the run did once a call was left out",
            Lost::Blocked(_) => "wanted what a test must not do",
            Lost::Ended => "took too long, or ended the JVM",
            Lost::Unstable => "did not do the same each time and everywhere",
            Lost::Silent => "gave nothing that could be asserted",
        }
    }
}

/// What became of carved sequences.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Lives of objects, and calls of static methods, that were tried.
    pub carved: usize,
    /// Those that did the same again, as far as they could be.
    pub same: usize,
    /// The first of the others: their last call in the run, and why.
    pub lost: Vec<(String, Lost)>,
    /// Calls that were left out, or ended a life, since what was passed cannot be made: of how many lives.
    pub omitted: BTreeMap<String, usize>,
    /// Lives that no test can begin: nothing that it may call has made the object, of a class, or the call
    /// that has takes what cannot be made, which is told.
    pub unmade: BTreeMap<String, usize>,
    /// Lives that go on behind the end of their tests, since there are too many calls.
    pub cut: usize,
    /// Calls of static methods that were not tried, since others end the same, or there are too many: of
    /// which methods, and how many.
    pub untried: BTreeMap<String, usize>,
    /// Lives that were not tried, since others make the same calls and end these alike, or there are too many:
    /// of which classes, and how many.
    pub passed_over: BTreeMap<String, usize>,
    /// Lives whose tests end before they do, since a call went another way than in the run: which, and how.
    pub ended: BTreeMap<String, usize>,
}

impl Counts {
    /// Adds those of another run.
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

    /// Notes which calls a life lacks: in the slice that is its test, or in all of them.
    fn omit(&mut self, tries: &[Carved], chosen: Option<usize>) {
        let tries = chosen.map_or(tries, |at| &tries[at..=at]);
        let calls: BTreeSet<&String> = tries.iter().flat_map(|one| &one.omitted).collect();
        for call in calls {
            *self.omitted.entry(call.clone()).or_default() += 1;
        }
    }

    /// Takes what came of one, unless it is lost.
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
) -> anyhow::Result<(Vec<Checked>, Counts)> {
    let mut counts = Counts::default();
    let means = Means {
        ways: Ways::new(access.platform(), methods),
        mutability: wanted.mutability,
    };
    let mut tests = Vec::new();
    let mut per_class: HashMap<String, usize> = HashMap::new();
    let mut parts: HashMap<String, usize> = HashMap::new();
    let mut wholes: HashMap<String, usize> = HashMap::new();
    let mut unmade: HashMap<(String, bool), usize> = HashMap::new();
    let wants = |class: &str| wanted.classes.is_empty() || wanted.classes.matches(class);
    let admits = |class: &str, access: &mut Access<'_>| {
        wants(class) && access.is_own(class) && access.is_accessible(class)
    };
    // What compilers write needs no test.
    let has_tests = |method: &Method, class: &str, access: &mut Access<'_>| {
        let is_written = match method.class.as_str() {
            "java.lang.Enum" | "java.lang.Object" => true,
            _ => method.is_static && matches!(method.name.as_str(), "values" | "valueOf"),
        };
        admits(class, access) && !(is_written && access.is_enum(class))
    };
    let found = lives(recorded, access, wants);
    counts.passed_over = found.passed_over;
    for class in found.nameless {
        *counts.unmade.entry(format!("of {class}")).or_default() += 1;
    }
    for Life {
        serial,
        name,
        class,
        is_part,
    } in found.lives
    {
        let class = class.as_str();
        let (tested, most) = match is_part {
            true => (&mut parts, MAX_PARTS),
            false => (&mut per_class, MAX_PER_CLASS),
        };
        if (tested.get(class)).is_some_and(|count| *count >= most) {
            *counts.passed_over.entry(class.to_owned()).or_default() += 1;
            continue;
        }
        let mut came: Option<Came> = None;
        let mut of_whole = None;
        let mut tried = Vec::new();
        // What the first lives of a class could not begin, later ones hardly can.
        let in_vain = unmade.entry((class.to_owned(), is_part)).or_default();
        let ways = [Begins::Made, Begins::Given];
        for begins in ways.into_iter().filter(|_| *in_vain < MAX_IN_VAIN) {
            // What has a test of its own has one as a part, too, of what it was taken from.
            let has_test = came.as_ref().is_some_and(|came| came.test.is_ok());
            let taken = wholes.entry(class.to_owned()).or_default();
            if has_test && (*taken >= MAX_PARTS || !recorded.is_used_part(serial)) {
                continue;
            }
            let mut tries = slices(recorded, serial, begins, &means, methods);
            for one in &mut tries {
                by_declared_types(&mut one.sequence, access, methods);
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
            continue;
        };
        *in_vain = 0;
        *tested.entry(class.to_owned()).or_default() += 1;
        counts.omit(&tried, came.of);
        counts.cut += usize::from(came.of.is_some_and(|of| tried[of].is_cut));
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
        tests.extend(counts.take(about, came.test));
        tests.extend(of_whole.and_then(|test| counts.take(String::new, Ok(test))));
    }
    let mut of_statics: Vec<((String, String, String), Checked)> = Vec::new();
    for seen in &recorded.statics {
        let mut calls = [false, true].into_iter();
        let Some(mut carved) =
            calls.find_map(|without| recorded.call(seen, without, &means, methods))
        else {
            continue;
        };
        by_declared_types(&mut carved.sequence, access, methods);
        let method = methods.get(carved.sequence[carved.sequence.len() - 1].method);
        let class = seen.class_of(method).to_owned();
        if !has_tests(method, &class, access) {
            continue;
        }
        let count = per_class.entry(class.clone()).or_default();
        if *count >= MAX_STATICS {
            *counts.untried.entry(seen.call_of(&class)).or_default() += 1;
            continue;
        }
        *count += 1;
        let lacks = carved.lacks;
        let came = best(&[carved], &class, wanted, access, methods, worker, other)?;
        if came.test.is_err()
            && lacks
            && let Some(call) = seen.lacking(&HashMap::new())
        {
            // With something else in its place it is another call.
            *counts.omitted.entry(call).or_default() += 1;
            continue;
        }
        if let Some(test) = counts.take(|| seen.call_of(&class), came.test) {
            let method = seen.method.clone();
            of_statics.push(((class, method.name, method.descriptor), test));
        }
    }
    // Those of one method stand together.
    of_statics.sort_by(|(one, _), (other, _)| one.cmp(other));
    tests.extend(of_statics.into_iter().map(|(_, test)| test));
    for (method, count) in &recorded.left_out {
        if has_tests(method, &method.class, access) {
            *(counts.untried.entry(method.call_of(&method.class))).or_default() += count;
        }
    }
    for test in &mut tests {
        as_written(test, methods);
    }
    Ok((tests, counts))
}

/// Leaves of the calls what a source says, by which tests are compared.
fn as_written(test: &mut Checked, methods: &mut Methods) {
    for call in &mut test.sequence {
        let method = methods.get(call.method).as_written();
        call.method = methods.intern(method);
    }
    if let Some(whole) = &mut test.whole {
        as_written(whole, methods);
    }
}

/// Calls what others have returned by the types that these declare, where these have the method.
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

/// What a life can be cut out as, each once; those with the most around come first.
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
    // Of a part, the whole may be one itself; or another test has made it.
    let others: &[Begins] = match begins {
        Begins::Made => &[Begins::Made],
        Begins::Given => &[Begins::Given, Begins::Made],
    };
    let reaches = [Reach::Returned, Reach::Shared, Reach::Needed];
    let around = others
        .iter()
        .flat_map(|others| reaches.map(|reach| (reach, *others)));
    let around: Vec<_> = around
        .filter_map(|(reach, others)| recorded.around(&life, reach, others))
        .collect();
    let mut all: Vec<Carved> = Vec::new();
    for without in [false, true] {
        for around in &around {
            let fresh = recorded
                .slice(object, around, without, means, methods)
                .filter(|one| all.iter().all(|other| other.sequence != one.sequence));
            all.extend(fresh);
        }
    }
    all
}

/// What came of slices of one life.
struct Came {
    /// Which of them is the test, or was to be.
    of: Option<usize>,
    /// What ended it before the life did, if anything has gone another way.
    ended: Option<String>,
    test: Result<Checked, Lost>,
}

/// The first calls of a slice that do as they did.
#[derive(Debug, Clone, Copy)]
struct Good {
    calls: usize,
    /// The call that goes another way, if one does.
    stopped_at: Option<usize>,
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
) -> anyhow::Result<Came> {
    worker.declare(methods)?;
    let batch: Vec<Sequence> = tries.iter().map(|carved| carved.sequence.clone()).collect();
    let mut executed = worker.execute(methods, &batch)?;
    let mut tries: Vec<Cow<'_, Carved>> = tries.iter().map(Cow::Borrowed).collect();
    // Before a call that takes all memory or time, all may be well.
    let mut stuck: Vec<Option<String>> = vec![None; tries.len()];
    for (at, executed) in executed.iter_mut().enumerate() {
        if let Some((until, how)) = until_stuck(&tries[at], executed, methods) {
            let again = worker.execute(methods, std::slice::from_ref(&until.sequence))?;
            if let Some(again) = again.into_iter().next() {
                *executed = again;
            }
            tries[at] = Cow::Owned(until);
            stuck[at] = Some(how);
        }
    }
    // What has been cut out, how much of it is good, and what that does.
    let mut able: Vec<(usize, Good, Score)> = Vec::new();
    for (at, (carved, executed)) in tries.iter().zip(&executed).enumerate() {
        let good = good(carved, executed, methods, worker, other)?;
        // Calls that went as they did, and returned what they did.
        let is_same = |at: usize| {
            let outcome = executed.outcomes.get(at);
            outcome.is_some_and(|outcome| as_seen(worker, outcome, &carved.seen[at]))
        };
        if let Some(score) = carved.score(good.calls, is_same) {
            able.push((at, good, score));
        }
    }
    // Of those that do as much, the one with the most around comes first.
    able.sort_by_key(|(.., score)| Reverse(*score));
    let mut came: Option<Came> = None;
    // Where the one that does most shows nothing, the next may.
    for (at, good, _) in able.into_iter().take(2) {
        let (carved, executed_at) = (&tries[at], &executed[at]);
        let test = tested(
            carved,
            executed_at,
            good.calls,
            class,
            wanted,
            access,
            methods,
            worker,
            other,
        )?;
        let is_test = test.is_ok();
        if is_test || came.is_none() {
            let mut own_left = carved.own.iter().skip(good.calls);
            let ended = good.stopped_at.filter(|_| own_left.any(|own| *own));
            came = Some(Came {
                of: Some(at),
                ended: ended
                    .map(|at| otherwise(worker, carved, &executed_at.outcomes[at], at, methods))
                    .or_else(|| stuck[at].clone()),
                test,
            });
        }
        if is_test {
            break;
        }
    }
    let Some(came) = came else {
        // Of the last one, which has the least to stumble over.
        let Some((last, executed)) = tries.iter().zip(&executed).next_back() else {
            return Ok(Came {
                of: None,
                ended: None,
                test: Err(Lost::Ended),
            });
        };
        let telling = telling(last, executed, methods, worker, other)?;
        let went = |worker: &Worker, executed: &Executed| {
            executed.ended == Ended::Well
                && !executed.blocked
                && first_other(worker, last, executed, &telling).is_none()
        };
        let lost = if went(worker, executed) {
            match last.gaps.is_empty() {
                true => Lost::Silent,
                false => Lost::Without,
            }
        } else {
            other.declare(methods)?;
            let fresh = other.execute(methods, std::slice::from_ref(&last.sequence))?;
            match fresh.first().is_some_and(|fresh| went(other, fresh)) {
                true => Lost::Leftover,
                false => why(worker, last, executed, &telling, methods),
            }
        };
        return Ok(Came {
            of: None,
            ended: None,
            test: Err(lost),
        });
    };
    Ok(came)
}

/// The calls of a slice before the one that took all memory or time, and how that is told.
fn until_stuck(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
) -> Option<(Carved, String)> {
    let (at, how) = match executed.ended {
        Ended::Memory => {
            let last = executed.outcomes.len().checked_sub(1)?;
            (last, "throws java.lang.OutOfMemoryError")
        }
        Ended::TimedOut => (executed.stuck?.at, "takes too long"),
        Ended::Well | Ended::Died => return None,
    };
    let method = methods.get(carved.sequence.get(at)?.method);
    let until = carved.until(at);
    let has_own = until.own.contains(&true);
    has_own.then(|| (until, format!("{} {how}", method.call_of(&method.class))))
}

/// The test of the first calls of a slice.
#[expect(
    clippy::too_many_arguments,
    reason = "who executes, what, and what is known of it"
)]
fn tested(
    carved: &Carved,
    executed: &Executed,
    good: usize,
    class: &str,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> anyhow::Result<Result<Checked, Lost>> {
    let kept = carved.own[..good].to_vec();
    // Where something was left out, what nobody has asked it in the run it is not asked now.
    let object = kept.iter().position(|own| *own);
    let object = object.filter(|_| !carved.is_cut && carved.gaps.iter().all(|gap| *gap >= good));
    let checked = Checked {
        sequence: carved.sequence[..good].to_vec(),
        assertions: Vec::new(),
        kept,
        fluent: Vec::new(),
        observers: 0,
        class: class.to_owned(),
        whole: None,
    };
    let stable = stable(carved, executed, methods, other)?;
    let as_seen = |worker: &Worker, at: usize, outcome: &Outcome| {
        let threw = matches!(outcome, Outcome::Threw(..));
        (carved.own[at] && stable[at] || threw)
            && as_seen(worker, outcome, &carved.seen[at])
            && !says_more(carved, at, outcome)
    };
    let lab = Lab::new(methods, worker, other);
    lab.one(complete(checked, object, &as_seen, wanted, access, &lab))
}

/// Whether an object says of itself what the run does not tell, though something was left out before that may
/// have changed it.
fn says_more(carved: &Carved, at: usize, outcome: &Outcome) -> bool {
    let is_told = matches!(carved.seen[at].end, End::Returned(Some(Value::Literal(_))));
    matches!(outcome, Outcome::Object(_, None, Some(_)))
        && !is_told
        && carved.gaps.iter().any(|gap| *gap <= at)
}

/// Which calls of a slice end as they did each time that it is executed elsewhere.
fn stable(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
    other: &mut Worker,
) -> anyhow::Result<Vec<bool>> {
    let mut stable = vec![true; carved.sequence.len()];
    other.declare(methods)?;
    // One of two numbers is the same by chance half of the time.
    for again in other.execute(methods, &vec![carved.sequence.clone(); CHANCES])? {
        for (at, stable) in stable.iter_mut().enumerate() {
            *stable &= match (again.outcomes.get(at), executed.outcomes.get(at)) {
                (Some(one), Some(other)) => is_alike(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
        }
    }
    Ok(stable)
}

/// Whether two JVMs tell the same; each has numbers of its own for classes. Who calls is not the same in all.
fn is_alike(one: &Outcome, other: &Outcome) -> bool {
    if tells_caller(one) || tells_caller(other) {
        return false;
    }
    match (one, other) {
        (Outcome::Array(_, one), Outcome::Array(_, other)) => one == other,
        (Outcome::Object(_, one, _), Outcome::Object(_, other, _)) => one == other,
        (Outcome::Threw(_, one, _), Outcome::Threw(_, other, _)) => one == other,
        (one, other) => one == other,
    }
}

/// Why nothing of a slice does as it did.
fn why(
    worker: &Worker,
    carved: &Carved,
    executed: &Executed,
    telling: &[bool],
    methods: &Methods,
) -> Lost {
    if executed.blocked {
        return Lost::Blocked(executed.wanted());
    }
    if executed.ended != Ended::Well {
        return Lost::Ended;
    }
    let Some(at) = first_other(worker, carved, executed, telling) else {
        return Lost::Ended;
    };
    let outcome = &executed.outcomes[at];
    Lost::Otherwise(otherwise(worker, carved, outcome, at, methods))
}

/// How a call went another way than in the run.
fn otherwise(
    worker: &Worker,
    carved: &Carved,
    outcome: &Outcome,
    at: usize,
    methods: &Methods,
) -> String {
    let seen = &carved.seen[at];
    let method = methods.get(carved.sequence[at].method);
    let name = method.call_of(&method.class);
    match (outcome, &seen.end) {
        (Outcome::Threw(class, message, _), end) => {
            let threw = &worker.class(*class).name;
            let message = message.as_ref().map(|message| format!(": {message}"));
            let instead = match end {
                End::Threw(class) => format!(", not {class}"),
                End::Returned(_) => String::new(),
            };
            format!(
                "{name} throws {threw}{}{instead}",
                message.unwrap_or_default()
            )
        }
        (Outcome::Failed(reason), _) => format!("{name} cannot be called: {reason}"),
        (_, End::Threw(class)) => format!("{name} does not throw {class}"),
        (..) => format!("{name} returns something else"),
    }
}

/// Whether a call ended in another way than it did; where something was left out, also whether it
/// returned something else.
fn differs(worker: &Worker, outcome: &Outcome, seen: &Seen, lacks: bool) -> bool {
    // Another number or text is no reason to stop, another way out is.
    match outcome {
        Outcome::Threw(..) | Outcome::Failed(_) => !as_seen(worker, outcome, seen),
        _ => matches!(seen.end, End::Threw(_)) || lacks && !as_seen(worker, outcome, seen),
    }
}

/// Which calls are the object's own and return what is to be compared with the run: a number that is another one
/// each time, and elsewhere, says nothing.
fn telling(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
    worker: &Worker,
    other: &mut Worker,
) -> anyhow::Result<Vec<bool>> {
    let mut telling = carved.own.clone();
    let mut calls = executed.outcomes.iter().zip(&carved.seen).zip(&carved.own);
    if calls.any(|((outcome, seen), own)| *own && !as_seen(worker, outcome, seen)) {
        let stable = stable(carved, executed, methods, other)?;
        for (telling, stable) in telling.iter_mut().zip(stable) {
            *telling &= stable;
        }
    }
    Ok(telling)
}

/// The first call of a slice that ends in another way than it did. What was left out must not have mattered:
/// behind it, all that is `telling` goes as it did.
fn first_other(
    worker: &Worker,
    carved: &Carved,
    executed: &Executed,
    telling: &[bool],
) -> Option<usize> {
    let mut calls = executed.outcomes.iter().zip(&carved.seen).enumerate();
    calls.position(|(at, (outcome, seen))| {
        differs(worker, outcome, seen, carved.lacks && telling[at])
    })
}

/// How many calls of a slice do as they did, as far as that shows: where it goes on after something was left
/// out, or comes to another result, it ends with the last call that shows the same as in the run.
fn good(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
    worker: &Worker,
    other: &mut Worker,
) -> anyhow::Result<Good> {
    let nothing = Good {
        calls: 0,
        stopped_at: None,
    };
    if executed.ended != Ended::Well {
        return Ok(nothing);
    }
    let telling = telling(carved, executed, methods, worker, other)?;
    let mut stopped_at = first_other(worker, carved, executed, &telling);
    let mut end = match stopped_at {
        Some(end) => end,
        // It caught what says that it must not.
        None if executed.blocked => return Ok(nothing),
        None => executed.outcomes.len(),
    };
    let is_same = |at: usize| as_seen(worker, &executed.outcomes[at], &carved.seen[at]);
    let own = |range: std::ops::Range<usize>| range.filter(|at| carved.own[*at]);
    let first = (0..end).find(|at| telling[*at] && !is_same(*at));
    let shows = |at: &usize| {
        let told = match &carved.seen[*at].end {
            End::Threw(_) => true,
            End::Returned(value) => match value {
                Some(Value::Array(_, _, elements)) => !elements.contains(&Value::Unknown),
                value => matches!(value, Some(Value::Literal(_))),
            },
        };
        told && is_same(*at)
    };
    if let Some(first) = first {
        stopped_at = Some(first);
        let last = own(0..first).rfind(shows);
        let made = own(0..first).next();
        end = last.or(made).map_or(0, |at| at + 1);
    }
    if carved.is_cut {
        // A hundred calls that show nothing are no test.
        let last = own(0..end).rfind(shows);
        let made = own(0..end).next();
        end = last.or(made).map_or(0, |at| at + 1);
    }
    if let Some(gap) = carved.gaps.iter().copied().filter(|gap| *gap < end).min() {
        let last = own(gap..end).rfind(shows);
        end = last.map_or(gap, |at| at + 1);
    }
    Ok(Good {
        calls: end,
        stopped_at,
    })
}
