//! How a value of a call was obtained, which decides what it carries.
//!
//! The same object may be several values. So a value is looked up by the variable that holds it, as
//! far as the trace shows what variables hold.

use super::bodies::Bodies;
use super::exact::Exact;
use super::frames::Frame;
use super::sets::{EMPTY, SetId, Sets};
use crate::mutability::facts::{NONE, Op, Var};

/// The most nested choices that are followed.
const MAX_CHOICES: usize = 16;

/// How a value was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The value is not this object.
    Not,
    /// The call has made the object, so it did not exist before.
    Fresh,
    /// The value is an argument, which carries this set.
    Argument(SetId),
    /// The value was read or returned, and carries this set.
    Value(SetId),
}

impl Exact {
    fn way(
        &mut self,
        bodies: &Bodies<'_>,
        frame: &Frame,
        var: Var,
        wanted: Option<u64>,
        seen: &mut Vec<Var>,
    ) -> Way {
        if var == NONE {
            return Way::Not;
        }
        let Some((_, op)) = bodies.definition(frame.body, var) else {
            return Way::Value(EMPTY);
        };
        match op {
            Op::Param { number, .. } => {
                let set = frame.params.get(usize::from(*number)).copied();
                let set = set.unwrap_or(EMPTY);
                let early = *number == 0 && bodies.get(frame.body).makes && !frame.bound;
                match (frame.arg(*number), wanted) {
                    (Some(own), Some(wanted)) if own != wanted => Way::Not,
                    (None, Some(_)) if !early => Way::Not,
                    _ => Way::Argument(set),
                }
            }
            Op::Phi { from, .. } => {
                if seen.contains(&var) || seen.len() > MAX_CHOICES {
                    return Way::Not;
                }
                seen.push(var);
                let (mut fresh, mut argument, mut value) = (false, None, None);
                for &from in from {
                    let join = |sets: &mut Sets, known: Option<SetId>, set| match known {
                        Some(known) => Some(sets.intersection(known, set)),
                        None => Some(set),
                    };
                    match self.way(bodies, frame, from, wanted, seen) {
                        Way::Not => {}
                        Way::Fresh => fresh = true,
                        Way::Argument(set) => argument = join(&mut self.sets, argument, set),
                        Way::Value(set) => value = join(&mut self.sets, value, set),
                    }
                }
                match (argument, value) {
                    (_, Some(_)) if fresh => Way::Value(EMPTY),
                    (Some(argument), Some(value)) => {
                        Way::Value(self.sets.intersection(argument, value))
                    }
                    (None, Some(value)) => Way::Value(value),
                    // An object that was made here is not one that was passed in.
                    (Some(argument), None) if wanted.is_some() || !fresh => Way::Argument(argument),
                    _ if fresh => Way::Fresh,
                    _ => Way::Not,
                }
            }
            Op::New { .. } | Op::Lambda(_) => Way::Fresh,
            Op::Load { .. } | Op::LoadStatic { .. } | Op::Call { .. } | Op::Catch { .. } => {
                let Some(values) = frame.values.get(&var) else {
                    // Calls may have run code that is not recorded.
                    return match op {
                        Op::Load { .. } | Op::LoadStatic { .. }
                            if self.reads && !bodies.get(frame.body).blind =>
                        {
                            Way::Not
                        }
                        Op::Catch { .. } => Way::Not,
                        // The call has not returned yet.
                        Op::Call { site, .. }
                            if self.reads
                                && !bodies.get(frame.body).blind
                                && bodies.is_told(*site) =>
                        {
                            Way::Not
                        }
                        _ => Way::Value(EMPTY),
                    };
                };
                let mut found = None;
                for &(object, set) in values {
                    if wanted.is_none_or(|wanted| wanted == object) {
                        found = Some(match found {
                            Some(known) => self.sets.intersection(known, set),
                            None => set,
                        });
                    }
                }
                match (found, op) {
                    (Some(set), _) => Way::Value(set),
                    // What unrecorded code has returned meanwhile is not known.
                    (None, Op::Call { .. }) => Way::Value(EMPTY),
                    (None, _) => Way::Not,
                }
            }
            _ => Way::Value(EMPTY),
        }
    }

    /// What an object carries in a call when it is obtained as the value of a variable.
    pub(super) fn carries(
        &mut self,
        bodies: &Bodies<'_>,
        frame: &Frame,
        var: Var,
        wanted: Option<u64>,
    ) -> SetId {
        match self.way(bodies, frame, var, wanted, &mut Vec::new()) {
            Way::Argument(set) | Way::Value(set) => set,
            Way::Fresh => EMPTY,
            // The object was read in an earlier round of a loop.
            Way::Not => wanted.map_or(EMPTY, |object| self.carries_at_least(frame, object)),
        }
    }

    /// What an object carries in a call, however it was obtained.
    pub(super) fn carries_at_least(&self, frame: &Frame, object: u64) -> SetId {
        frame.objects.get(object).unwrap_or(EMPTY)
    }

    pub(super) fn may_be(
        &mut self,
        bodies: &Bodies<'_>,
        frame: &Frame,
        var: Var,
        object: u64,
    ) -> bool {
        let phi = matches!(
            bodies.definition(frame.body, var),
            Some((_, Op::Phi { .. }))
        );
        phi || self.way(bodies, frame, var, Some(object), &mut Vec::new()) != Way::Not
    }

    /// What all sets have in common.
    pub(super) fn common(&mut self, sets: impl Iterator<Item = SetId>) -> SetId {
        let mut found = None;
        for set in sets {
            found = Some(match found {
                Some(known) => self.sets.intersection(known, set),
                None => set,
            });
        }
        found.unwrap_or(EMPTY)
    }
}
