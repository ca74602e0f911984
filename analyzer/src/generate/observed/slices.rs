//! Chooses among the slices of a life, by how much of each agrees with the run, and by the
//! resulting test.

use super::Lost;
use crate::generate::asserted::{Assertion, Checked, as_seen, assertion, tells_caller};
use crate::generate::carve::{Access, Carved, End, Score, Seen, Value};
use crate::generate::complete::{Fits, Wanted, complete};
use crate::generate::lab::Lab;
use crate::generate::sequence::{Methods, Sequence};
use crate::generate::worker::{Ended, Executed, Outcome, Worker};
use std::borrow::Cow;
use std::cmp::Reverse;

/// How often a sequence is executed to see whether a call always returns the same.
const CHANCES: usize = 5;

/// The result for the slices of one life.
pub struct Came {
    /// The slice that is the test, or was to be.
    pub of: Option<usize>,
    /// The call that ended it before the life did, if one ended differently.
    pub ended: Option<String>,
    /// The test itself, or the reason why there is none.
    pub test: Result<Checked, Lost>,
}

/// The first calls of a slice that agree with the run.
#[derive(Debug, Clone, Copy)]
struct Good {
    calls: usize,
    /// The call that ends differently, if there is one.
    stopped_at: Option<usize>,
    /// Whether more of them might not agree: something that was left out may have changed their
    /// objects.
    is_unsure: bool,
}

/// The test of the slice that does most of what was seen.
///
/// # Errors
///
/// Fails if the workers do.
pub fn best(
    tries: &[Carved],
    class: &str,
    wanted: &Wanted<'_>,
    access: &Access<'_>,
    methods: &mut Methods,
    worker: &mut Worker,
    other: &mut Worker,
) -> crate::generate::Result<Came> {
    worker.declare(methods)?;
    let batch: Vec<Sequence> = tries.iter().map(|carved| carved.sequence.clone()).collect();
    let mut executed = worker.execute(methods, &batch)?;
    let mut tries: Vec<Cow<'_, Carved>> = tries.iter().map(Cow::Borrowed).collect();
    // Before a call that uses up memory or time, all may be well.
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
    // The slices, how much of each is good, and what that covers.
    let mut able: Vec<(usize, Good, Score)> = Vec::new();
    let mut telling_of_last = Vec::new();
    let mut without = None;
    for (at, (carved, executed)) in tries.iter().zip(&executed).enumerate() {
        let telling = telling(carved, executed, methods, worker, other)?;
        let good = good(carved, executed, &telling, worker);
        telling_of_last = telling;
        // Of several, the one that names what is left out is preferred.
        if good.is_unsure && !matches!(without, Some(Lost::Without(Some(_)))) {
            without = Some(Lost::Without(carved.left_out.clone()));
        }
        // Calls that ended as they did, with the same result.
        let is_same = |at: usize| {
            let outcome = executed.outcomes.get(at);
            outcome.is_some_and(|outcome| as_seen(worker, outcome, &carved.seen[at]))
        };
        if let Some(score) = carved.score(good.calls, is_same) {
            able.push((at, good, score));
        }
    }
    // Of those that cover as much, the one with the most around comes first.
    able.sort_by_key(|(.., score)| Reverse(*score));
    let mut came: Option<Came> = None;
    // If the one that covers most shows nothing, another may.
    for (at, good, _) in able.into_iter().take(3) {
        let (carved, executed_at) = (&tries[at], &executed[at]);
        let mut of_first = |calls: usize| {
            tested(
                carved,
                executed_at,
                calls,
                class,
                wanted,
                access,
                methods,
                worker,
                other,
            )
        };
        let mut test = of_first(good.calls)?;
        // Up to the place where something is left out, the object can be asked for its text, which
        // may say more than all later calls. After another lambda it can be asked as well.
        let gaps = carved.gaps.iter().copied();
        let gap = gaps.filter(|gap| !carved.is_replaced(*gap)).min();
        let gap = gap.filter(|gap| *gap < good.calls && carved.own[..*gap].contains(&true));
        if wanted.mutability.is_some()
            && let Some(gap) = gap
        {
            let until = of_first(gap)?;
            if told(&until) > told(&test) {
                test = until;
            }
        }
        let test = test.map_err(|lost| match (lost, &without) {
            (Lost::Silent, Some(without)) => without.clone(),
            (lost, _) => lost,
        });
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
        // This is the last one, with the fewest obstacles.
        let Some((last, executed)) = tries.iter().zip(&executed).next_back() else {
            return Ok(Came {
                of: None,
                ended: None,
                test: Err(Lost::Ended),
            });
        };
        let telling = telling_of_last;
        let went = |worker: &Worker, executed: &Executed| {
            executed.ended == Ended::Well
                && !executed.blocked
                && first_other(worker, last, executed, &telling).is_none()
        };
        let lost = if let Some(without) = without {
            without
        } else if went(worker, executed) {
            Lost::Silent
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

/// How informative a test is.
fn told(test: &Result<Checked, Lost>) -> usize {
    let told = test.iter().flat_map(|test| &test.assertions).flatten();
    let tells = |told: &&Assertion| !matches!(told, Assertion::Same(_) | Assertion::NotNull);
    told.filter(tells).count()
}

/// The calls of a slice before the one that used up memory or time, and the report about that.
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
) -> crate::generate::Result<Result<Checked, Lost>> {
    let kept = carved.own[..good].to_vec();
    // If something was left out, the object is only asked what the run has asked it. Another lambda
    // is visible in the test.
    let object = kept.iter().position(|own| *own);
    let mut gaps = carved.gaps.iter();
    let is_whole = gaps.all(|gap| *gap >= good || carved.is_replaced(*gap));
    let object = object.filter(|_| !carved.is_cut && is_whole);
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
    let fits = |worker: &Worker, at: usize, outcome: &Outcome| {
        let threw = matches!(outcome, Outcome::Threw(..));
        let is_told = carved.own[at] && stable[at] || threw;
        match is_told && as_seen(worker, outcome, &carved.seen[at]) {
            false => Fits::Nothing,
            true if says_more(carved, at, outcome) => Fits::Object,
            true => Fits::Whole,
        }
    };
    let lab = Lab::new(methods, worker, other);
    let test = lab.one(complete(
        checked,
        (object, false),
        &fits,
        wanted,
        access,
        &lab,
    ))?;
    Ok(test.and_then(|test| match is_hollow(carved, &test) {
        true => Err(Lost::Silent),
        false => Ok(test),
    }))
}

/// Whether a call that stands alone has another argument than in the run, and the only assertion is
/// that it returns an object: it might return any.
fn is_hollow(carved: &Carved, test: &Checked) -> bool {
    let own = carved.own.iter().filter(|own| **own).count();
    let mut told = test.assertions.iter().flatten();
    own == 1 && !carved.gaps.is_empty() && told.all(|told| *told == Assertion::NotNull)
}

/// Whether the text of an object goes beyond the record, although something was left out before
/// that may have changed it.
fn says_more(carved: &Carved, at: usize, outcome: &Outcome) -> bool {
    let is_told = matches!(carved.seen[at].end, End::Returned(Some(Value::Literal(_))));
    matches!(outcome, Outcome::Object(_, None, Some(_)))
        && !is_told
        && carved.gaps.iter().any(|gap| *gap <= at)
}

/// The calls of a slice that end as they did each time that it is executed elsewhere.
fn stable(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
    other: &mut Worker,
) -> crate::generate::Result<Vec<bool>> {
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

/// Whether two JVMs report the same; each has its own numbers for classes. The caller differs
/// between them.
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

/// The reason why nothing of a slice agrees with the run.
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

/// How a call ended differently than in the run.
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
                End::Threw(class) if class == threw => ", which no test can expect".to_owned(),
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

/// Whether a call ended differently, or in a way that no test can expect; if something was left
/// out, also whether it returned something else.
fn differs(worker: &Worker, outcome: &Outcome, seen: &Seen, lacks: bool) -> bool {
    // Another number or text is no reason to stop, but another kind of end is.
    match outcome {
        Outcome::Threw(..) | Outcome::Failed(_) => {
            !as_seen(worker, outcome, seen) || assertion(worker, outcome).is_none()
        }
        _ => matches!(seen.end, End::Threw(_)) || lacks && !as_seen(worker, outcome, seen),
    }
}

/// The calls that are the object's own and whose result is to be compared with the run: a number
/// that differs each time, and between places, says nothing.
fn telling(
    carved: &Carved,
    executed: &Executed,
    methods: &Methods,
    worker: &Worker,
    other: &mut Worker,
) -> crate::generate::Result<Vec<bool>> {
    let mut telling = carved.own.clone();
    if executed.ended != Ended::Well {
        // It ends differently in any case, and may take as long each time.
        return Ok(telling);
    }
    let mut calls = executed.outcomes.iter().zip(&carved.seen).zip(&carved.own);
    if calls.any(|((outcome, seen), own)| *own && !as_seen(worker, outcome, seen)) {
        let stable = stable(carved, executed, methods, other)?;
        for (telling, stable) in telling.iter_mut().zip(stable) {
            *telling &= stable;
        }
    }
    Ok(telling)
}

/// The first call of a slice that ends differently than it did. What was left out must not have
/// mattered: after it, all that is `telling` agrees with the run.
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

/// How many calls of a slice agree with the run, as far as that shows: if it continues after
/// something was left out, or has another result, it ends with the last call that shows the same as
/// in the run.
fn good(carved: &Carved, executed: &Executed, telling: &[bool], worker: &Worker) -> Good {
    let nothing = Good {
        calls: 0,
        stopped_at: None,
        is_unsure: false,
    };
    if executed.ended != Ended::Well {
        return nothing;
    }
    let mut stopped_at = first_other(worker, carved, executed, telling);
    let mut end = match stopped_at {
        Some(end) => end,
        // It caught the exception about what it must not do.
        None if executed.blocked => return nothing,
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
        // A hundred calls that show nothing are not a test.
        let last = own(0..end).rfind(shows);
        let made = own(0..end).next();
        end = last.or(made).map_or(0, |at| at + 1);
    }
    let before = end;
    if let Some(gap) = carved.gaps.iter().copied().filter(|gap| *gap < end).min() {
        let last = own(gap..end).rfind(shows);
        end = last.map_or(gap, |at| at + 1);
    }
    Good {
        calls: end,
        stopped_at,
        is_unsure: end < before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::worker::{ClassNumber, Said};
    use crate::model::values::Literal;
    use std::rc::Rc;

    /// A slice of one call with this end, with something left out before it or not.
    fn slice(end: End, gap: Option<usize>) -> Carved {
        Carved {
            sequence: Vec::new(),
            seen: vec![Rc::new(Seen::of_end(end))],
            own: vec![true],
            nested: vec![0],
            lacks: gap.is_some(),
            gaps: gap.into_iter().collect(),
            replaced: Vec::new(),
            is_cut: false,
            omitted: Vec::new(),
            left_out: None,
        }
    }

    #[test]
    fn what_an_object_says_after_a_gap_is_not_the_runs() {
        let returned = |value| End::Returned(Some(value));
        let text = || Some(Said::Text("A[1]".to_owned()));
        let says = |slice: &Carved, said| {
            says_more(slice, 0, &Outcome::Object(ClassNumber(1), None, said))
        };
        let object = || returned(Value::Object(7));
        assert!(says(&slice(object(), Some(0)), text()));
        // Nothing is left out, or only later.
        assert!(!says(&slice(object(), None), text()));
        assert!(!says(&slice(object(), Some(1)), text()));
        // That it exists is known all the same, and so is what was recorded.
        assert!(!says(&slice(object(), Some(0)), None));
        let told = returned(Value::Literal(Literal::Text("A[1]".to_owned())));
        assert!(!says(&slice(told, Some(0)), text()));
    }
}
