//! Lays edges: objects move along calls that have returned.

use super::around::Around;
use super::{Frame, Inference, Object, Part, bit};
use crate::model::graph::{Node, ROOT};
use crate::model::values::{Counts, Literal};
use crate::model::{Call, CallId, RESULT};

impl Inference<'_> {
    /// Moves an object along a call that has returned.
    pub(super) fn walk(
        &mut self,
        object: &mut Object,
        part: &Part,
        method: u32,
        around: Around,
        (allowed, threw): (bool, bool),
        values: &[(i16, Literal)],
    ) {
        let nested = object.steps > part.steps;
        object.steps += 1;
        let Some(from) = part.from else {
            object.node = None;
            return;
        };
        if !allowed {
            if !around.any && object.made {
                // Calls nested in this one, or those of other threads, have brought the object to
                // its present node.
                object.node = object.node.filter(|_| nested).or(Some(from));
            } else if !nested || object.shared {
                object.node = None;
            }
            return;
        }
        // Even where too many calls are nested, the enclosing call becomes an edge, by which the
        // object gets to what follows.
        let is_outermost = !around.any;
        object.outermost += u32::from(is_outermost);
        object.inner += u32::from(!is_outermost);
        let most = self.limits.depth;
        if object.outermost > most || !is_outermost && object.inner > most {
            self.skipped.long += u64::from(!object.long);
            object.long = true;
            object.node = None;
            return;
        }
        let to = object.node.filter(|_| nested && !object.shared);
        object.node = self.lay(object, from, method, part.positions, to, threw, values);
        object.made = true;
        self.count(object);
    }

    /// Handles a method that returns an object which was made while it ran.
    pub(super) fn made(&mut self, frame: &Frame, serial: u64) {
        let Some(mut object) = self.objects.get(&serial).copied() else {
            return;
        };
        let takes_part = frame.parts.iter().any(|part| part.object == serial);
        if object.born <= frame.entered || takes_part || object.outermost > self.limits.depth {
            return;
        }
        let to = (object.node).filter(|node| *node != ROOT && !object.shared);
        object.steps += 1;
        object.seen = self.now;
        let result = bit(RESULT);
        object.node = self.lay(
            &object,
            ROOT,
            frame.method,
            result,
            to,
            false,
            &frame.values,
        );
        object.made = true;
        self.count(&mut object);
        self.objects.insert(serial, object);
    }

    #[expect(clippy::too_many_arguments, reason = "an edge and all that is on it")]
    fn lay(
        &mut self,
        object: &Object,
        from: Node,
        method: u32,
        positions: u64,
        to: Option<Node>,
        threw: bool,
        values: &[(i16, Literal)],
    ) -> Option<Node> {
        let call = self.call(method, positions);
        let place = (*self.classes.get(&object.class)?)?;
        let graph = &mut self.found[place].1.graph;
        let edge = match to {
            Some(to) => graph.join(from, call, to),
            None => graph.step(from, call),
        };
        match threw {
            true => edge.tally.threw.add(self.run),
            false => edge.tally.returned.add(self.run),
        }
        for (position, value) in values {
            let values = edge.tally.values.entry(*position).or_default();
            values.add(value, self.run, object.life);
        }
        edge.tally.lives.add(object.life);
        let target = edge.target;
        Some(graph.find(target))
    }

    fn count(&mut self, object: &mut Object) {
        if !object.counted
            && let Some(Some(place)) = self.classes.get(&object.class)
        {
            object.counted = true;
            self.found[*place].1.objects.add(self.run);
        }
    }

    pub(super) fn observe(&mut self, object: &Object, method: u32, positions: u64) {
        let call = self.call(method, positions);
        let Some(Some(place)) = self.classes.get(&object.class) else {
            return;
        };
        // This counts before there is an edge, too, since the call that made the object may not be
        // recorded.
        let counts: &mut Counts = self.found[*place].1.observers.entry(call).or_default();
        counts.add(self.run);
    }

    fn call(&mut self, method: u32, positions: u64) -> CallId {
        if let Some(id) = self.calls.get(&(method, positions)) {
            return *id;
        }
        let known = self.method(method).clone();
        let call = Call {
            class: known.class,
            method: known.name,
            descriptor: known.descriptor,
            is_static: known.is_static,
            positions: (-1..62).filter(|at| positions & bit(*at) != 0).collect(),
        };
        let id = self.model.intern(call);
        self.calls.insert((method, positions), id);
        id
    }
}
