//! What values carry through methods that write unseen.

use super::{ANY, Exact, MAX_COPIED};
use crate::mutability::facts::{NONE, Op};
use crate::mutability::recorded::bodies::Bodies;
use crate::mutability::recorded::frames::{Frame, object};
use crate::mutability::recorded::sets::{EMPTY, SetId};
use crate::program::Sym;
use crate::trace::unseen::{copies, written};
use hindsight_tracelog::trace::Datum;

impl Exact {
    /// Handles the return of a method that writes unseen.
    pub fn called(
        &mut self,
        bodies: &mut Bodies<'_>,
        stack: &mut [Frame],
        callee: u32,
        values: &[Datum],
    ) {
        let Some(frame) = stack.last() else { return };
        let Some((class, name, descriptor)) = bodies.callee(callee) else {
            return;
        };
        let objects: Vec<Option<u64>> = values.iter().map(|&value| object(value)).collect();
        let facts = bodies.facts(frame.body);
        let mut ops = Vec::new();
        for op in bodies.called(frame.body, callee) {
            if let Some(Op::Call { args, .. }) = facts.map(|facts| &facts.ops[op as usize].op) {
                let fits = args.iter().zip(&objects).all(|(&arg, object)| {
                    arg == NONE
                        || object.is_none_or(|object| self.may_be(bodies, frame, arg, object))
                });
                if fits {
                    ops.push((op, args));
                }
            }
        }
        let places: Vec<u32> = ops.iter().map(|op| op.0).collect();
        let mut of = |place: usize| {
            let object = objects.get(place).copied().flatten();
            let mut sets = Vec::new();
            for (_, args) in &ops {
                if let (Some(&arg), Some(object)) = (args.get(place), object) {
                    sets.push(self.carries(bodies, frame, arg, Some(object)));
                }
            }
            let set = self.common(sets.into_iter());
            match (facts, object) {
                (None, Some(object)) => self.carries_at_least(frame, object),
                _ => set,
            }
        };
        let body = frame.body;
        if copies(class, name) {
            let set = of(0);
            if let (Some(&Some(_)), Some(&Some(copy))) = (objects.first(), objects.last()) {
                self.copies.insert(copy, set);
                if let Some(frame) = stack.last_mut() {
                    self.assign(bodies, frame, &places, copy, EMPTY);
                }
            }
        } else if let Some(place) = written(class, name, descriptor) {
            let set = of(place);
            let source = of(0);
            bodies.saw(body, &places);
            if let (Some(&Some(_)), element) = (objects.get(place), bodies.element()) {
                self.mark(bodies, stack, set, &places, element);
            }
            if name == "arraycopy" {
                self.copy(bodies.element(), source, values, &objects);
            }
        }
    }

    /// Copies elements from one array to another.
    fn copy(&mut self, element: Sym, source: SetId, values: &[Datum], objects: &[Option<u64>]) {
        let (&[from, _, to, ..], &[_, Datum::Int(start), _, Datum::Int(at), Datum::Int(count)]) =
            (objects, values)
        else {
            return;
        };
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let held: Vec<Option<(u64, SetId)>> = (0..count.clamp(0, MAX_COPIED))
            .map(|n| {
                let held = self.heap.get(&(from, element, start.wrapping_add(n)));
                held.copied()
            })
            .collect();
        for (n, held) in held.into_iter().enumerate() {
            let key = (to, element, at.wrapping_add(n as i32));
            match held {
                Some((value, set)) => {
                    let set = self.sets.union(set, source);
                    self.store(key, Some(value), set);
                }
                // It is not known which object it is, but it was read from the array.
                None if source != EMPTY => self.store(key, Some(ANY), source),
                None => self.store(key, None, EMPTY),
            }
        }
    }
}
