//! Decides which calls show their result: the text of an object at once.

use super::{Fits, needs, twice};
use crate::generate::asserted::Checked;
use crate::generate::lab::{Lab, Side, State};
use crate::generate::observed::Lost;
use crate::generate::sequence::Methods;
use crate::generate::worker::{Executed, Outcome, Worker};
use crate::java::descriptor;
use std::collections::HashSet;

/// The executions of a sequence in two JVMs.
type Both = (Executed, Executed);

/// Makes those calls show their result about which nothing else is asserted, if it is an object: no
/// test looks at what only the run has looked at. The content of a collection may be asked for in
/// any case.
pub(super) fn show(checked: &mut Checked, methods: &Methods) {
    let mut needed = HashSet::new();
    for (at, statement) in checked.sequence.iter_mut().enumerate().rev() {
        let method = methods.get(statement.method);
        let (_, result) = method.types();
        let returns = result.starts_with(['L', '[']) && !method.is_constructor();
        let is_asked = !needed.contains(&at) || says_what_is_in_it(&result);
        statement.shown |= returns && checked.kept[at] && is_asked;
        if checked.kept[at] || needed.contains(&at) {
            needs(statement, None, &mut needed);
        }
    }
}

/// Whether a type is one of the JDK's whose objects print their content.
fn says_what_is_in_it(ty: &str) -> bool {
    const KINDS: [&str; 6] = ["Collection", "Deque", "List", "Map", "Queue", "Set"];
    let class = descriptor::class_name(ty).unwrap_or_default();
    class.starts_with("java.util.") && KINDS.iter().any(|kind| class.ends_with(kind))
}

/// The executions of a sequence if none of its first `length` calls shows its result, provided that
/// more of them then agree with the run: asking an object for its text may change it, and what
/// follows is not the run's.
pub(super) async fn unasked(
    checked: &mut Checked,
    length: usize,
    fits: &dyn Fn(&Worker, usize, &Outcome) -> Fits,
    both: Result<Both, Lost>,
    lab: &Lab<'_>,
    state: State,
) -> Result<Both, Lost> {
    let lost = |(one, _): &Both| {
        let worker = lab.worker(Side::Here);
        let calls = one.outcomes.iter().take(length).zip(&checked.kept);
        let calls = calls.enumerate();
        calls
            .filter(|(at, (outcome, kept))| **kept && fits(&worker, *at, outcome) == Fits::Nothing)
            .count()
    };
    let before = match &both {
        Ok(both) => lost(both),
        // Then one of them may throw.
        Err(Lost::Unstable) => usize::MAX,
        Err(_) => 0,
    };
    let is_asked = checked.sequence[..length].iter().any(|call| call.shown);
    if before == 0 || !is_asked {
        return both;
    }
    let mut silent = checked.sequence.clone();
    for call in &mut silent[..length] {
        call.shown = false;
    }
    match twice(&silent, length, lab, state).await {
        Ok(again) if lost(&again) < before => {
            checked.sequence = silent;
            Ok(again)
        }
        _ => both,
    }
}
