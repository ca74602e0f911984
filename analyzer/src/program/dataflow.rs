//! Solves equations over blocks.

use super::ssa::Body;
use std::collections::BTreeSet;

/// Facts that can be merged where two paths meet.
pub trait Lattice: Clone {
    /// Adds what `other` knows; returns whether that was anything new.
    fn join(&mut self, other: &Self) -> bool;
}

/// Returns the facts that hold on entry to each block; `None` for unreachable blocks.
///
/// `transfer` maps the facts at a block's start to those at its end, and to those at any point of
/// it where it may throw, which are the facts at the start of its handlers.
pub fn forward<F: Lattice>(
    body: &Body,
    entry: F,
    mut transfer: impl FnMut(u32, F) -> (F, F),
) -> Vec<Option<F>> {
    let mut facts = vec![None; body.blocks.len()];
    let mut place = vec![0; body.blocks.len()];
    for (at, &block) in body.order.iter().enumerate() {
        place[block as usize] = at;
    }
    // Blocks are numbered in reverse postorder here: taking the lowest one that is due visits most
    // blocks once.
    let mut due = BTreeSet::new();
    if let Some(&first) = body.order.first() {
        facts[first as usize] = Some(entry);
        due.insert(0);
    }
    while let Some(at) = due.pop_first() {
        let block = body.order[at];
        let Some(before) = facts[block as usize].clone() else {
            continue;
        };
        let (after, thrown) = transfer(block, before);
        let flow = &body.cfg.blocks[block as usize];
        let ways = flow.next.iter().map(|&next| (next, &after));
        let ways = ways.chain(flow.handlers.iter().map(|&(next, _)| (next, &thrown)));
        for (next, new) in ways {
            let grew = match &mut facts[next as usize] {
                Some(known) => known.join(new),
                unknown => {
                    *unknown = Some(new.clone());
                    true
                }
            };
            if grew {
                due.insert(place[next as usize]);
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ssa::tests::a_loop;

    /// The blocks on some path.
    impl Lattice for BTreeSet<u32> {
        fn join(&mut self, other: &Self) -> bool {
            let before = self.len();
            self.extend(other);
            self.len() > before
        }
    }

    #[test]
    fn loops_and_handlers_are_gone_through() {
        let body = a_loop();
        let with = |block: u32, mut facts: BTreeSet<u32>| {
            let thrown = facts.clone();
            facts.insert(block);
            (facts, thrown)
        };
        let facts = forward(&body, BTreeSet::new(), with);
        let at = |pc: u32| {
            body.cfg
                .blocks
                .iter()
                .position(|block| block.start == pc)
                .unwrap()
        };
        // The loop's head comes after its end, because of the jump back.
        let head = facts[at(2)].as_ref().unwrap();
        assert!(
            head.contains(&(at(2) as u32)) && head.contains(&0),
            "{head:?}"
        );
        // The handler comes after blocks that threw before their end.
        let handler = facts[at(19)].as_ref().unwrap();
        assert!(handler.contains(&(at(2) as u32)), "{handler:?}");
        let end = facts[at(22)].as_ref().unwrap();
        assert!(
            end.contains(&(at(16) as u32)) && end.contains(&(at(19) as u32)),
            "{end:?}"
        );
    }
}
