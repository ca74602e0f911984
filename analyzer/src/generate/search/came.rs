//! Evaluates executed sequences: decides which become components, and which are proposed for tests.

use super::super::asserted::is_whole;
use super::super::sequence::{Arg, MethodId, Sequence};
use super::super::worker::{ClassNumber, Ended, Executed, Outcome};
use super::{
    Candidate, Component, Found, How, MAX_PER_CLASS, MAX_PER_NODE, MAX_TESTS, OF_BLOCKED, Search,
    Uses,
};
use crate::model::values::Literal;
use hindsight_tracelog::crash::is_box;

impl Search<'_> {
    /// Evaluates the result of a sequence.
    pub(super) fn take(&mut self, mut candidate: Candidate, executed: &Executed, phase: usize) {
        let method = candidate.method;
        let length = candidate.sequence.len();
        let outcome = executed.outcomes.get(length - 1);
        if let Some(outcome) = outcome {
            let calls = self.returned.entry(method).or_default();
            calls.0 += 1;
            calls.1 += u32::from(!matches!(outcome, Outcome::Threw(..)));
        }
        let lost = executed.ended != Ended::Well;
        if executed.blocked || lost {
            self.tally.blocked += u64::from(executed.blocked);
            self.tally.lost += u64::from(lost && !executed.blocked);
            if self.stumbled(&candidate) {
                // Any of its calls may have attempted it.
            } else if executed.blocked {
                *self.trouble.entry(method).or_default() += OF_BLOCKED;
            } else {
                self.proven.remove(&method);
                self.blame(&candidate);
            }
            return;
        }
        self.ended(&candidate);
        if outcome.is_some() {
            self.proven.insert(method);
        }
        // How long a thread takes to end is a matter of chance.
        let trouble = self.trouble.entry(method).or_default();
        *trouble = match executed.threads && self.timed {
            true => *trouble + 1,
            false => trouble.saturating_sub(1),
        };
        if !is_whole(executed, length) {
            self.go_on(&candidate, executed);
            return;
        }
        if let Some(again) = self.without_thrown(&candidate, executed) {
            self.again.push(again);
            return;
        }
        let blocks = executed.blocks.iter();
        let blocks = blocks.filter(|block| self.covered.insert(**block)).count();
        let how = How {
            phase,
            by_walk: candidate.walk.is_some(),
            novel: blocks,
            lasted: executed.lasted,
        };
        let novel = blocks > 0;
        self.walked(&mut candidate, executed, blocks);
        let Some(last) = candidate.sequence.last() else {
            return;
        };
        if let Some(Outcome::Threw(class, ..)) = executed.outcomes.last() {
            self.go_on(&candidate, executed);
            // The result of passing null is mostly not a decision of the program.
            let null = Arg::Literal(Literal::Null);
            let of_null = self.worker.class(*class).name == "java.lang.NullPointerException"
                && last.args.contains(&null);
            let mut sequence = candidate.sequence;
            if let Some(last) = sequence.last_mut() {
                last.may_throw = true;
            }
            if !of_null {
                self.propose(sequence, None, method, MAX_TESTS / 4, how);
            }
            return;
        }
        // Only sequences with new values become components.
        let touched = |var: usize| {
            var + 1 == length
                || last.on == Some(var)
                || candidate.modelled.is_some_and(|known| known.object == var)
        };
        let mut fresh = false;
        // What else the call has changed: its arguments.
        let mut changed = Vec::new();
        for (var, class, digest) in &executed.states {
            let is_new = self.states.insert((*class, *digest));
            if touched(*var) {
                fresh |= is_new;
            } else if is_new {
                changed.push((*var, *class));
            }
        }
        let object = candidate.modelled.map(|known| known.object);
        let shows = !matches!(executed.outcomes.last(), Some(Outcome::Void));
        let object = object.or(last.on).or(Some(length - 1));
        if fresh || shows || novel {
            let most = if fresh { MAX_TESTS } else { MAX_TESTS / 4 };
            self.propose(candidate.sequence.clone(), object, method, most, how);
        }
        // Another way to a place in a model is worth keeping all the same.
        let rare = candidate.modelled.is_some_and(|known| {
            let count = self.reached.entry((known.class, known.node)).or_default();
            *count += 1;
            *count <= MAX_PER_NODE
        });
        if !fresh && !rare && !novel {
            return;
        }
        let place = self.components.len();
        let mut useful = candidate.modelled.is_some();
        let own = (executed.states.iter()).filter(|(var, ..)| touched(*var));
        let own = own.map(|(var, class, _)| (*var, *class));
        for (var, class) in own.chain(changed) {
            if !is_value(&self.worker.class(class).name) {
                self.keep(class, (place, var));
                self.promising.extend(novel.then_some((place, var, class)));
                useful = true;
            }
        }
        if !useful {
            return;
        }
        if let Some(modelled) = candidate.modelled {
            self.modelled.push(place);
            let nodes = &mut self.standing[modelled.class];
            nodes.entry(modelled.node).or_default().push(place);
        }
        self.tally.components[phase] += 1;
        let objects = executed.states.iter().map(|(var, class, _)| (*var, *class));
        let objects = objects.filter(|(_, class)| !is_value(&self.worker.class(*class).name));
        self.components.push(Component {
            sequence: candidate.sequence,
            modelled: candidate.modelled,
            objects: objects.collect(),
            parts: candidate.parts,
        });
        self.uses.push(Uses::default());
    }

    /// Notes a further origin of objects of a class; if there are many already, it replaces one of
    /// them, so that what takes long to make has a chance.
    fn keep(&mut self, class: ClassNumber, from: (usize, usize)) {
        let list = self.values.entry(class).or_default();
        if list.len() < MAX_PER_CLASS {
            list.push(from);
        } else {
            list[self.random.below(MAX_PER_CLASS)] = from;
        }
    }

    /// Proposes it for a test, if there are not enough of its last method, or it runs what no other
    /// does.
    fn propose(
        &mut self,
        sequence: Sequence,
        object: Option<usize>,
        method: MethodId,
        most: usize,
        how: How,
    ) {
        let class = match object {
            Some(object) => self.methods.get(sequence[object].method).gives(),
            None => None,
        };
        let class = class
            .filter(|class| self.surface.is_tested(class))
            .unwrap_or_else(|| self.methods.get(method).class.clone());
        if !self.surface.is_tested(&class) {
            return;
        }
        let threw = sequence.last().is_some_and(|last| last.may_throw);
        let count = self
            .per_method
            .entry((method, threw, how.phase == 1, how.by_walk))
            .or_default();
        if *count >= most && how.novel == 0 {
            return;
        }
        *count += 1;
        self.found.push(Found {
            sequence,
            class,
            object,
            novel: how.novel,
            lasted: how.lasted,
        });
    }
}

/// Whether objects of a class are always written as literals, never built.
fn is_value(class: &str) -> bool {
    is_box(class) || matches!(class, "java.lang.String" | "java.lang.Class")
}
