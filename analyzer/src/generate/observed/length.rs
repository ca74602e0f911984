//! Decides where a test of a long life may end: where only more of the same follows.

use crate::generate::carve::{Carved, End, Kind, Value};
use std::collections::HashSet;

/// The number of an object's own informative calls after which more of the same add nothing.
const ENOUGH: usize = 40;

/// How many calls of a long life are enough, if not all are: up to the last own one that is the
/// first of its method to end in its way, and at least up to that number of informative ones.
pub fn enough(carved: &Carved) -> Option<usize> {
    let mut known = HashSet::new();
    let mut told = 0;
    let mut enough = 0;
    let own = (0..carved.sequence.len()).filter(|at| carved.own[*at]);
    let last = own.clone().next_back()?;
    for at in own {
        let end = &carved.seen[at].end;
        let is_first = known.insert((carved.sequence[at].method, way(end)));
        if is_first || told < ENOUGH {
            enough = at + 1;
        }
        told += usize::from(tells(end));
    }
    (enough <= last).then_some(enough)
}

/// Whether a call has a result that can be asserted.
fn tells(end: &End) -> bool {
    match end {
        End::Threw(_) => true,
        End::Returned(value) => matches!(value, Some(Value::Literal(_) | Value::Array(..))),
    }
}

/// The kind of end of a call, without what goes up and down in between: a count, or a line that is
/// empty.
fn way(end: &End) -> Kind<'_> {
    match end.kind() {
        Kind::Number(sign) => Kind::Number(sign.min(0)),
        Kind::Filled(_) => Kind::Filled(true),
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::carve::Seen;
    use crate::generate::sequence::{MethodId, Statement};
    use crate::model::values::Literal;
    use std::rc::Rc;

    /// How many of some calls, by their methods, are enough if they end in this way.
    fn enough_of(calls: &[(u32, Option<Literal>)]) -> Option<usize> {
        let call = |method: u32| Statement {
            method: MethodId(method),
            on: Some(0),
            args: Vec::new(),
            may_throw: false,
            shown: false,
        };
        let seen = |told: &Option<Literal>| {
            let value = told.clone().map(Value::Literal);
            Rc::new(Seen::of_end(End::Returned(value)))
        };
        enough(&Carved {
            sequence: calls.iter().map(|(method, _)| call(*method)).collect(),
            seen: calls.iter().map(|(_, told)| seen(told)).collect(),
            own: vec![true; calls.len()],
            nested: vec![0; calls.len()],
            lacks: false,
            gaps: Vec::new(),
            replaced: Vec::new(),
            is_cut: false,
            omitted: Vec::new(),
            left_out: None,
        })
    }

    #[test]
    fn a_test_ends_where_more_of_the_same_follows() {
        let peek = |number: i64| (1, Some(Literal::Int(number)));
        let many = |count: usize| (0..count as i64).map(peek).collect::<Vec<_>>();
        assert_eq!(enough_of(&many(ENOUGH)), None);
        assert_eq!(enough_of(&many(3 * ENOUGH)), Some(ENOUGH));
        // Another call, another kind of end; and again what has come before.
        let with = |last| enough_of(&[many(3 * ENOUGH), vec![last]].concat());
        assert_eq!(with((2, Some(Literal::Int(7)))), None);
        assert_eq!(with(peek(-1)), None);
        assert_eq!(with(peek(0)), Some(ENOUGH));
        // A call without a result may be needed for the questions at the end.
        assert_eq!(enough_of(&vec![(3, None); 3 * ENOUGH]), None);
    }
}
