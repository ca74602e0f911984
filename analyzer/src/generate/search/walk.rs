//! Walks: an object goes as far along its model as the run has gone, in one sequence.
//!
//! Steps one by one spread over all edges of all models, and seldom come where a run has been after thirty
//! calls: to a query of a table that other calls have made and filled. A walk takes the edges one after
//! another, those of one recorded life with the values that it had. Calls that throw where the run's did not
//! are left out, and what is left is tried again.

use super::super::sequence::{Sequence, moved, without_all};
use super::super::worker::{Executed, Outcome};
use super::{COMPARED, Candidate, Search};
use crate::model::graph::Node;
use crate::model::values::Life;
use std::collections::BTreeSet;

/// Calls of one walk.
pub(super) const MAX_LENGTH: usize = 80;
/// For how many walks one counts that takes too long, or wants what it must not.
const OF_STUMBLED: usize = 8;
/// How many times one walk is tried again without calls that have thrown, and models skipped where they ask for
/// what is not there.
const MAX_LEFT_OUT: u32 = 12;

/// What is known of a walk.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// The class whose model it goes along.
    class: usize,
    /// How many times calls were left out.
    left_out: u32,
    /// Its calls along the model, behind the one with which it begins.
    steps: Vec<Step>,
}

/// A call of a walk.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Which call of the sequence.
    at: usize,
    /// Where its object stands then.
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

/// What has come of walks along the model of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walked {
    count: usize,
    /// Basic blocks that were new.
    novel: usize,
}

impl Search<'_> {
    /// A walk from where an object stands: of some classes, along the model of that whose walks have come to
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
            // Nodes are numbered as they are come to.
            true => *nodes.first()?,
            false => *self.random.pick(&nodes)?,
        };
        let life = self.seldom_followed(class, node);
        // Those that have come as that life has.
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
                // What it takes is not there: perhaps what follows does without.
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

    /// Of the lives that go on from a node, one that was followed least.
    fn seldom_followed(&mut self, class: usize, node: Node) -> Option<Life> {
        let (_, edges) = self.leaving(class, Some(node))?;
        let lives = edges.iter().flat_map(|(_, edge)| edge.tally.lives.all());
        let often = |life| self.followed.get(&(class, life)).copied().unwrap_or(0);
        let least = lives.min_by_key(|life| (often(*life), *life))?;
        *self.followed.entry((class, least)).or_default() += 1;
        Some(least)
    }

    /// Whether it is a walk that did not end well; others of its class are taken less often then.
    pub(super) fn stumbled(&mut self, candidate: &Candidate) -> bool {
        let Some(walk) = &candidate.walk else {
            return false;
        };
        self.walked.entry(walk.class).or_default().count += OF_STUMBLED;
        true
    }

    /// What a walk has come to that has ended well.
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

    /// A walk without the calls that have thrown where the run's have not, and those that use what they would have
    /// returned; if there are any.
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
            let mut is_used = false;
            statement.vars(|var| is_used |= gone.contains(&var));
            if is_used {
                gone.insert(at);
            }
        }
        let walk = walk.clone().without(&gone);
        let sequence = without_all(&candidate.sequence, &gone);
        again(candidate, sequence, walk, moved(modelled.object, &gone))
    }

    /// Goes on with a walk that a call has ended, without this.
    pub(super) fn go_on(&mut self, candidate: &Candidate, executed: &Executed) {
        let (Some(walk), Some(modelled)) = (&candidate.walk, candidate.modelled) else {
            return;
        };
        let Some(at) = executed.outcomes.len().checked_sub(1) else {
            return;
        };
        let mut is_used = at == modelled.object || walk.left_out >= MAX_LEFT_OUT;
        for statement in &candidate.sequence {
            statement.vars(|var| is_used |= var == at);
        }
        let gone = match is_used {
            // What is left is the way to there.
            true => (at..candidate.sequence.len()).collect(),
            false => BTreeSet::from([at]),
        };
        let sequence = without_all(&candidate.sequence, &gone);
        let walk = walk.clone().without(&gone);
        let object = moved(modelled.object, &gone);
        self.again.extend(again(candidate, sequence, walk, object));
    }
}

/// A walk of which something was left out. There is none if its object is, or all of its calls are.
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
