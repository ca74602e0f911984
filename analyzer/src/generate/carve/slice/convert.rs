//! Converts the calls around a life to a sequence, in which the arguments are the results of
//! earlier calls.

use super::{Around, Carved, Means, Recorded, Unmade};
use crate::generate::carve::doubt::Doubt;
use crate::generate::carve::omitted::Omitted;
use crate::generate::carve::stand_ins::argument;
use crate::generate::carve::{End, Seen, Value};
use crate::generate::sequence::{Arg, Methods, Statement};
use rustc_hash::FxHashSet;
use std::collections::HashMap;
use std::rc::Rc;

/// The most calls of one sequence.
pub(super) const MAX_CALLS: usize = 200;
/// The most elements of arrays in these: a method of Java has 64 KiB, and each takes some ten
/// bytes.
pub(in crate::generate::carve) const MAX_ELEMENTS: usize = 5000;

impl Recorded {
    pub(super) fn convert(
        &self,
        around: &Around<'_>,
        (means, unmade): (&Means<'_>, Unmade),
        methods: &mut Methods,
    ) -> Option<Carved> {
        let Around {
            own,
            asked,
            calls,
            within,
            unsure,
        } = around;
        let without = unmade != Unmade::Ends;
        let mut passed = calls.iter().flat_map(|seen| &seen.args);
        let is_way = match unmade {
            Unmade::Ends | Unmade::LeftOut => true,
            Unmade::Lambdas | Unmade::Kept => passed.any(|arg| self.lambdas.has(arg)),
            Unmade::References => passed.any(|arg| self.lambdas.referred(arg).is_some()),
        };
        if !is_way {
            return None;
        }
        let is_own = |seen: &Rc<Seen>| {
            let mut all = own.iter().chain(asked);
            all.any(|other| seen.entered == other.entered)
        };
        let mut vars: HashMap<u64, usize> = HashMap::new();
        let mut carved = Carved {
            sequence: Vec::new(),
            seen: Vec::new(),
            own: Vec::new(),
            nested: Vec::new(),
            lacks: false,
            gaps: Vec::new(),
            replaced: Vec::new(),
            is_cut: false,
            omitted: Vec::new(),
            left_out: None,
        };
        let mut told = false;
        let mut elements = 0;
        let mut omitted = Omitted::default();
        let mut doubt = Doubt::default();
        let mut given_away: FxHashSet<u64> = FxHashSet::default();
        for seen in calls {
            let nested = own.iter().filter(|one| one.ran_within(seen)).count();
            let within = within.range(seen.entered..=seen.left.max(seen.entered));
            let within = within
                .map(|(_, one)| one)
                .filter(|one| one.ran_within(seen));
            // What an iterator does that asks its owner is what the run has done with the owner.
            let is_part = seen.on.is_some_and(|on| given_away.contains(&on));
            let mine = is_own(seen) || nested > 0 && is_part;
            if mine && let End::Returned(Some(Value::Object(serial))) = seen.end {
                given_away.insert(serial);
            }
            // This precedes any replacement, which is not the run's.
            let changes = seen.changes(&vars, means.mutability);
            // For a call that stands alone, only its result shows whether its arguments have
            // mattered, if it has one.
            let stands_alone =
                mine && own.len() == 1 && seen.is_alone() && seen.end != End::Returned(None);
            let gap = changes || seen.gives_an_object() || stands_alone;
            let read =
                (seen.constant.as_ref()).map(|constant| carved.constant(constant, seen, methods));
            if without {
                self.stand_ins(seen, gap, &means.ways, &mut vars, &mut carved, methods);
            }
            let place = carved.sequence.len();
            let on = match seen.on {
                Some(on) => vars.get(&on).copied().map(Some),
                None => Some(read),
            };
            let (types, _) = seen.method.types();
            let mut lambdas = false;
            let mut args = |guess: bool| -> Option<Vec<Arg>> {
                let args = seen.args.iter().enumerate().map(|(at, arg)| {
                    let ty = types.get(at);
                    let itself = ty.filter(|_| unmade != Unmade::References);
                    let itself = itself.and_then(|ty| self.lambdas.reference(arg, ty, &vars));
                    if itself.is_some() {
                        return itself;
                    }
                    let ty = ty.filter(|_| unmade.replaces_lambdas());
                    let is_kept = unmade == Unmade::Kept;
                    let lambda = ty.and_then(|ty| {
                        let calls = &self.histories;
                        self.lambdas.stand_in(arg, ty, seen, &vars, is_kept, calls)
                    });
                    lambdas |= lambda.is_some();
                    lambda.or_else(|| argument(arg, &vars, guess))
                });
                args.collect()
            };
            let mut given = args(false);
            let is_guessed = given.is_none() && without;
            if is_guessed {
                given = args(true);
            }
            if (lambdas || is_guessed) && given.is_some() {
                let gap = gap.then_some(place);
                carved.passes_another(gap);
                carved.replaced.extend(gap.filter(|_| !is_guessed));
            }
            // Then the object is not as it was in the run.
            let is_other = omitted.shows_in(seen, &vars);
            let (Some(on), Some(args), false) = (on, given, is_other) else {
                if mine {
                    carved.omitted.extend(seen.lacking(&vars));
                }
                // What others have done can be left out.
                if mine && (!without || is_other || !carved.own.contains(&true)) {
                    break;
                }
                // What ran within it is left out with it.
                let mut goes = false;
                for one in within.clone() {
                    if one.changes(&vars, means.mutability) {
                        goes = true;
                        omitted.take(one, &vars);
                    }
                    if is_own(one) {
                        carved.omitted.extend(one.lacking(&vars));
                    }
                }
                if changes || goes {
                    omitted.take(seen, &vars);
                    carved.lacks |= mine || goes;
                    let calls = [seen].into_iter().chain(within).map(Rc::as_ref);
                    let shows = doubt.leave_out(calls, means.mutability);
                    // This names what has caused the doubt rather than what came before.
                    if carved.left_out.is_none() || shows && carved.gaps.is_empty() {
                        carved.left_out = Some(seen.call_of(&seen.method.class));
                    }
                    if shows {
                        carved.gaps.push(place);
                    }
                }
                continue;
            };
            elements += args.iter().map(Arg::elements).sum::<usize>();
            if mine && let End::Returned(Some(Value::Array(_, _, returned))) = &seen.end {
                elements += returned.len();
            }
            if place >= MAX_CALLS || elements > MAX_ELEMENTS {
                carved.is_cut = true;
                break;
            }
            if seen.entered > *unsure && !told {
                told = true;
                carved.passes_another(Some(place));
            }
            if doubt.add(seen, within.map(Rc::as_ref), mine, means.mutability) {
                carved.gaps.push(place);
            }
            if let End::Returned(Some(Value::Object(serial) | Value::Array(serial, ..))) = &seen.end
            {
                vars.entry(*serial).or_insert(place);
            }
            if let Some(made) = seen.made {
                vars.entry(made).or_insert(place);
            }
            carved.sequence.push(Statement {
                method: methods.intern(seen.method.clone()),
                on,
                args,
                may_throw: matches!(seen.end, End::Threw(_)),
                shown: false,
            });
            carved.seen.push(seen.clone());
            carved.own.push(mine);
            carved.nested.push(nested);
        }
        carved.own.contains(&true).then_some(carved)
    }
}
