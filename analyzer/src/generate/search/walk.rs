//! Walks: an object goes as far along its model as the run did, in one sequence.
//!
//! Single steps spread over all edges of all models, and seldom get as far as a run does after
//! thirty calls: to a query of a table that other calls have made and filled. A walk takes the
//! edges one after another, those of one recorded life with its values. Calls that throw although
//! the run's did not are left out, and the rest is tried again.

use super::super::sequence::{Sequence, moved, without_all};
use super::super::worker::{Executed, Outcome};
use super::{COMPARED, Candidate, Search};
use crate::model::graph::Node;
use crate::model::values::Life;
use std::collections::BTreeSet;

/// The most calls of one walk.
pub(super) const MAX_LENGTH: usize = 80;
/// The number of walks for which one counts that takes too long, or attempts what is forbidden.
const OF_STUMBLED: usize = 8;
/// How often a walk is tried again without calls that have thrown, and models are skipped if they
/// need what is missing.
const MAX_LEFT_OUT: u32 = 12;

/// The state of a walk.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// The class along whose model it goes.
    class: usize,
    /// How often calls were left out.
    left_out: u32,
    /// Its calls along the model, after the one with which it begins.
    steps: Vec<Step>,
}

/// A call of a walk.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The index of the call in the sequence.
    at: usize,
    /// The place of its object after it.
    node: Node,
    /// Whether it throws in the run.
    throws: bool,
}

impl Walk {
    /// Its calls that do not throw in the run.
    pub(super) fn unwanted(&self) -> impl Iterator<Item = usize> {
        let steps = self.steps.iter().filter(|step| !step.throws);
        steps.map(|step| step.at)
    }

    /// Without some calls of its sequence.
    fn without(mut self, gone: &BTreeSet<usize>) -> Walk {
        self.left_out += 1;
        self.steps.retain(|step| !gone.contains(&step.at));
        for step in &mut self.steps {
            step.at = moved(step.at, gone);
        }
        self
    }
}

/// The results of walks along the model of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walked {
    count: usize,
    /// The number of basic blocks that were new.
    novel: usize,
}

impl Search<'_> {
    /// A walk from the place of an object: of some classes, along the model whose walks have found
    /// the most that is new.
    pub(super) fn walk(&mut self) -> Option<Candidate> {
        let mut best: Option<(usize, usize)> = None;
        for _ in 0..2 * COMPARED {
            let class = *self.random.pick(&self.targets)?;
            if self.standing[class].is_empty() {
                continue;
            }
            let walked = self.walked.get(&class).copied().unwrap_or_default();
            let worth = (walked.novel + 50) / (walked.count + 1);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, class));
            }
        }
        let (_, class) = best?;
        let nodes: Vec<_> = self.standing[class].keys().copied().collect();
        let node = match self.random.percent(60) {
            // Nodes are numbered in the order in which they are reached.
            true => *nodes.first()?,
            false => *self.random.pick(&nodes)?,
        };
        let life = self.seldom_followed(class, node);
        // These have followed that life.
        let places = &self.standing[class][&node];
        let follows = |place: &&usize| {
            let modelled = self.components[**place].modelled;
            modelled.is_some_and(|known| known.life.is_some() && known.life == life)
        };
        let own: Vec<usize> = places.iter().filter(follows).copied().collect();
        let place = match own.is_empty() {
            true => *self.random.pick(places)?,
            false => *self.random.pick(&own)?,
        };
        let component = &self.components[place];
        let (mut sequence, mut modelled) = (component.sequence.clone(), component.modelled?);
        modelled.life = life;
        let begun = sequence.len();
        let mut steps = vec![Step {
            at: begun.checked_sub(1)?,
            node: modelled.node,
            throws: false,
        }];
        let mut made: Option<Candidate> = None;
        let mut skipped = 0;
        while sequence.len() < MAX_LENGTH && skipped < MAX_LEFT_OUT {
            match self.step(place, sequence.clone(), modelled, true) {
                Some(mut next) if next.sequence.len() <= MAX_LENGTH => {
                    modelled = next.modelled?;
                    let at = next.sequence.len() - 1;
                    // All that throw are known after one execution.
                    let throws = std::mem::replace(&mut next.sequence[at].may_throw, true);
                    steps.push(Step {
                        at,
                        node: modelled.node,
                        throws,
                    });
                    sequence.clone_from(&next.sequence);
                    made = Some(match made {
                        Some(made) => Candidate::then(made, next),
                        None => next,
                    });
                }
                Some(_) => break,
                // Its arguments are missing: perhaps what follows does without.
                None => {
                    skipped += 1;
                    let Some(node) = self.beyond(modelled) else {
                        break;
                    };
                    modelled.node = node;
                }
            }
        }
        let mut made = made.filter(|made| made.sequence.len() > begun)?;
        self.walked.entry(class).or_default().count += 1;
        made.walk = Some(Walk {
            class,
            left_out: 0,
            steps,
        });
        Some(made)
    }

    /// Of the lives that continue from a node, a least followed one.
    fn seldom_followed(&mut self, class: usize, node: Node) -> Option<Life> {
        let (_, edges) = self.leaving(class, Some(node))?;
        let lives = edges.iter().flat_map(|(_, edge)| edge.tally.lives.all());
        let often = |life| self.followed.get(&(class, life)).copied().unwrap_or(0);
        let least = lives.min_by_key(|life| (often(*life), *life))?;
        *self.followed.entry((class, least)).or_default() += 1;
        Some(least)
    }

    /// Whether it is a walk that did not end well; then others of its class are taken less often.
    pub(super) fn stumbled(&mut self, candidate: &Candidate) -> bool {
        let Some(walk) = &candidate.walk else {
            return false;
        };
        self.walked.entry(walk.class).or_default().count += OF_STUMBLED;
        true
    }

    /// Notes what a walk that has ended well has found.
    pub(super) fn walked(&mut self, candidate: &mut Candidate, executed: &Executed, novel: usize) {
        let Some(walk) = &candidate.walk else {
            return;
        };
        self.walked.entry(walk.class).or_default().novel += novel;
        // Some calls that have thrown in the run may not do so now.
        for (statement, outcome) in candidate.sequence.iter_mut().zip(&executed.outcomes) {
            statement.may_throw = matches!(outcome, Outcome::Threw(..));
        }
    }

    /// A walk without the calls that have thrown although the run's have not, and those that use
    /// their results; if there are any.
    pub(super) fn without_thrown(
        &self,
        candidate: &Candidate,
        executed: &Executed,
    ) -> Option<Candidate> {
        let (walk, modelled) = (candidate.walk.as_ref()?, candidate.modelled?);
        let threw = |at: usize| matches!(executed.outcomes.get(at), Some(Outcome::Threw(..)));
        let mut gone: BTreeSet<usize> = walk.unwanted().filter(|at| threw(*at)).collect();
        // The last one alone may be of interest.
        let last = candidate.sequence.len() - 1;
        if gone.iter().all(|at| *at == last)
            || walk.left_out >= MAX_LEFT_OUT
            || gone.contains(&modelled.object)
        {
            return None;
        }
        for (at, statement) in candidate.sequence.iter().enumerate() {
            if statement.uses(|var| gone.contains(&var)) {
                gone.insert(at);
            }
        }
        let walk = walk.clone().without(&gone);
        let sequence = without_all(&candidate.sequence, &gone);
        again(candidate, sequence, walk, moved(modelled.object, &gone))
    }

    /// Continues a walk that a call has ended, without that call.
    pub(super) fn go_on(&mut self, candidate: &Candidate, executed: &Executed) {
        let (Some(walk), Some(modelled)) = (&candidate.walk, candidate.modelled) else {
            return;
        };
        let Some(at) = executed.outcomes.len().checked_sub(1) else {
            return;
        };
        let mut statements = candidate.sequence.iter();
        let ends = at == modelled.object
            || walk.left_out >= MAX_LEFT_OUT
            || statements.any(|statement| statement.uses(|var| var == at));
        let gone = match ends {
            // The rest is the way to that place.
            true => (at..candidate.sequence.len()).collect(),
            false => BTreeSet::from([at]),
        };
        let sequence = without_all(&candidate.sequence, &gone);
        let walk = walk.clone().without(&gone);
        let object = moved(modelled.object, &gone);
        self.again.extend(again(candidate, sequence, walk, object));
    }
}

/// A walk from which something was left out; `None` if that is its object, or all of its calls.
fn again(
    candidate: &Candidate,
    sequence: Sequence,
    walk: Walk,
    object: usize,
) -> Option<Candidate> {
    let last = sequence.last().filter(|_| object < sequence.len())?;
    let node = walk.steps.last()?.node;
    Some(Candidate {
        method: last.method,
        modelled: candidate.modelled.map(|known| super::Modelled {
            object,
            node,
            ..known
        }),
        walk: Some(walk),
        parts: candidate.parts.clone(),
        sequence,
    })
}
