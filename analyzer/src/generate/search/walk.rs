//! Walks: an object goes as far along its model as the run has gone, in one sequence.
//!
//! Steps one by one spread over all edges of all models, and seldom come where a run has been after thirty
//! calls: to a query of a table that other calls have made and filled. A walk takes the edges one after
//! another, those of one recorded life with the values that it had. A call that throws where the run's did not is left out, and all that follows is tried again.

use super::super::sequence::{Sequence, without};
use super::super::worker::{Executed, Outcome};
use super::{COMPARED, Candidate, Search};
use crate::model::graph::Node;
use crate::model::values::Life;

/// Calls of one walk.
pub(super) const MAX_LENGTH: usize = 80;
/// For how many walks one counts that takes too long, or wants what it must not.
const OF_STUMBLED: usize = 8;
/// Calls that are left out of one walk, one after another.
const MAX_LEFT_OUT: u32 = 12;

/// What is known of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    /// The class whose model it goes along.
    class: usize,
    /// How many calls were left out.
    left_out: u32,
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
        let mut made: Option<Candidate> = None;
        let mut skipped = 0;
        while sequence.len() < MAX_LENGTH && skipped < MAX_LEFT_OUT {
            match self.step(place, sequence.clone(), modelled, true) {
                Some(next) if next.sequence.len() <= MAX_LENGTH => {
                    modelled = next.modelled?;
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
        made.walk = Some(Walk { class, left_out: 0 });
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
        let Some(walk) = candidate.walk else {
            return false;
        };
        self.walked.entry(walk.class).or_default().count += OF_STUMBLED;
        true
    }

    /// What a walk has come to that has ended well.
    pub(super) fn walked(&mut self, candidate: &mut Candidate, executed: &Executed, novel: usize) {
        let Some(walk) = candidate.walk else { return };
        self.walked.entry(walk.class).or_default().novel += novel;
        // Some calls that have thrown in the run may not do so now.
        for (statement, outcome) in candidate.sequence.iter_mut().zip(&executed.outcomes) {
            statement.may_throw = matches!(outcome, Outcome::Threw(..));
        }
    }

    /// Goes on with a walk that a call has ended, without this.
    pub(super) fn go_on(&mut self, candidate: Candidate, executed: &Executed) {
        let Some(at) = executed.outcomes.len().checked_sub(1) else {
            return;
        };
        let Some(mut walk) = candidate.walk else {
            return;
        };
        let Some(modelled) = candidate.modelled else {
            return;
        };
        walk.left_out += 1;
        let mut sequence: Sequence = candidate.sequence;
        let goes_on = walk.left_out <= MAX_LEFT_OUT && at != modelled.object;
        let shorter = without(&sequence, at).filter(|_| goes_on);
        match shorter {
            Some(shorter) => sequence = shorter,
            // What is left is the way to there.
            None => sequence.truncate(at),
        }
        let object = match at < modelled.object {
            true => modelled.object - 1,
            false => modelled.object,
        };
        let Some(last) = sequence.last() else { return };
        if object >= sequence.len() {
            return;
        }
        self.again.push(Candidate {
            method: last.method,
            sequence,
            modelled: Some(super::Modelled { object, ..modelled }),
            walk: Some(walk),
            parts: candidate.parts,
        });
    }
}
