//! Finds the objects that need not be as they were in the run, because calls are left out that may
//! have changed them.

use super::{End, Seen, Value, objects};
use crate::model::mutable::Mutability;
use rustc_hash::{FxHashMap, FxHashSet};

/// The objects in doubt, as the calls of a sequence are processed. Calls of the run that are left
/// out begin it; from there it spreads with each call in which such an object takes part and that
/// may change another one. A change of an object may affect all that it shares with others: the
/// objects that calls have brought together.
#[derive(Default)]
pub(super) struct Doubt {
    objects: FxHashSet<u64>,
    /// The objects that the sequence concerns.
    own: FxHashSet<u64>,
    /// The group of each object that was brought together with others.
    groups: FxHashMap<u64, usize>,
    /// The members of each group.
    members: Vec<Vec<u64>>,
}

/// The objects in a call, including what ran within it.
#[derive(Default)]
struct Parts {
    /// The objects that took part.
    taking: Vec<u64>,
    /// The objects that it may have changed or has returned.
    changed: Vec<u64>,
}

impl Parts {
    fn of<'s>(calls: impl Iterator<Item = &'s Seen>, mutability: Option<&Mutability>) -> Parts {
        let mut parts = Parts::default();
        for call in calls {
            call.operands(&mut |serial| parts.taking.push(serial));
            call.changed(mutability, &mut |serial| parts.changed.push(serial));
            parts.changed.extend(call.made);
            if let End::Returned(Some(value)) = &call.end {
                objects(value, &mut |serial| parts.changed.push(serial));
            }
        }
        parts
    }
}

impl Doubt {
    /// Leaves out a call, with those that ran within it. Returns whether what follows shows it:
    /// whether an object that the sequence concerns is in doubt since.
    pub(super) fn leave_out<'s>(
        &mut self,
        calls: impl Iterator<Item = &'s Seen>,
        mutability: Option<&Mutability>,
    ) -> bool {
        let parts = Parts::of(calls, mutability);
        let shows = self.spread(&parts.changed);
        self.join(&parts);
        shows
    }

    /// Adds a call to the sequence, with those that run within it. Returns whether from here on
    /// what it concerns may differ from the run.
    pub(super) fn add<'s>(
        &mut self,
        call: &'s Seen,
        within: impl Iterator<Item = &'s Seen>,
        is_own: bool,
        mutability: Option<&Mutability>,
    ) -> bool {
        let parts = Parts::of([call].into_iter().chain(within), mutability);
        let mut all = parts.taking.iter().chain(&parts.changed);
        let is_doubtful = all.any(|serial| self.objects.contains(serial));
        let spreads = is_doubtful && self.spread(&parts.changed);
        self.join(&parts);
        if is_own {
            self.own.extend(call.on.into_iter().chain(call.made));
            if let End::Returned(Some(Value::Object(serial))) = call.end {
                self.own.insert(serial);
            }
        }
        spreads || is_doubtful && is_own
    }

    /// Puts these objects and what shares state with them in doubt. Returns whether one of those
    /// that the sequence concerns is now in doubt.
    fn spread(&mut self, changed: &[u64]) -> bool {
        let mut shows = false;
        // Calls come back to the same objects, and these to the same groups.
        let mut done = FxHashSet::default();
        for serial in changed {
            let group = self.groups.get(serial);
            if group.is_some_and(|group| !done.insert(*group)) {
                continue;
            }
            let alone = std::slice::from_ref(serial);
            for one in group.map_or(alone, |group| &self.members[*group]) {
                shows |= self.objects.insert(*one) && self.own.contains(one);
            }
        }
        shows
    }

    /// Notes that each object that a call has changed may have kept what took part in it.
    fn join(&mut self, parts: &Parts) {
        let Some(first) = parts.changed.first() else {
            return;
        };
        let mut into = self.group(*first);
        for serial in parts.changed.iter().chain(&parts.taking) {
            let other = self.group(*serial);
            if other == into {
                continue;
            }
            let (from, to) = match self.members[other].len() > self.members[into].len() {
                true => (into, other),
                false => (other, into),
            };
            let moved = std::mem::take(&mut self.members[from]);
            self.groups.extend(moved.iter().map(|one| (*one, to)));
            self.members[to].extend(moved);
            into = to;
        }
    }

    fn group(&mut self, serial: u64) -> usize {
        *self.groups.entry(serial).or_insert_with(|| {
            self.members.push(vec![serial]);
            self.members.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&Seen; 0] = [];

    /// A call on an object, with other objects as arguments and result.
    fn call(on: u64, args: &[u64], returned: Option<u64>) -> Seen {
        let mut call = Seen::of_end(End::Returned(returned.map(Value::Object)));
        call.on = Some(on);
        call.args = args.iter().map(|serial| Value::Object(*serial)).collect();
        call
    }

    fn made(serial: u64) -> Seen {
        let mut call = Seen::of_end(End::Returned(None));
        call.made = Some(serial);
        call
    }

    fn leave_out(doubt: &mut Doubt, call: &Seen) -> bool {
        doubt.leave_out([call].into_iter(), None)
    }

    fn add(doubt: &mut Doubt, call: &Seen, is_own: bool) -> bool {
        doubt.add(call, NONE.into_iter(), is_own, None)
    }

    /// A call that another object lacks does not affect one that has never met it.
    #[test]
    fn doubt_goes_from_object_to_object() {
        let mut doubt = Doubt::default();
        assert!(!add(&mut doubt, &made(1), false));
        assert!(!leave_out(&mut doubt, &call(1, &[], None)));
        assert!(!add(&mut doubt, &made(2), true));
        assert!(!add(&mut doubt, &call(2, &[3], None), true));
        // Its result is in doubt, but does not matter until it is passed on.
        assert!(!add(&mut doubt, &call(1, &[], Some(4)), false));
        assert!(!add(&mut doubt, &call(2, &[], None), true));
        assert!(add(&mut doubt, &call(2, &[4], None), true));
        assert!(add(&mut doubt, &call(2, &[], None), true));
    }

    /// What an object has kept changes with it, and vice versa.
    #[test]
    fn what_calls_have_brought_together_is_in_doubt_together() {
        let mut doubt = Doubt::default();
        add(&mut doubt, &made(2), true);
        add(&mut doubt, &call(2, &[3], None), true);
        assert!(!add(&mut doubt, &call(2, &[], None), true));
        // It shows at once, not only at the next call: the object may be asked before that.
        assert!(leave_out(&mut doubt, &call(3, &[], None)));
        let mut doubt = Doubt::default();
        add(&mut doubt, &made(2), true);
        leave_out(&mut doubt, &call(5, &[6], None));
        assert!(add(&mut doubt, &call(6, &[2], None), false));
    }

    /// What runs within a call that is left out is left out with it.
    #[test]
    fn calls_within_others_count() {
        let mut doubt = Doubt::default();
        add(&mut doubt, &made(2), true);
        let [outer, inner] = [call(5, &[], None), call(2, &[], None)];
        assert!(doubt.leave_out([&outer, &inner].into_iter(), None));
    }
}
