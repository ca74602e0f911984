//! Equations over blocks, solved.

use super::ssa::Body;
use std::collections::BTreeSet;

/// Facts that can be merged where two paths meet.
pub trait Lattice: Clone {
    /// Adds what `other` knows; returns whether that was anything new.
    fn join(&mut self, other: &Self) -> bool;
}

/// Returns the facts that hold on entry to each block, `None` if unreachable.
///
/// `transfer` takes what holds at a block's start to what holds at its end, and
/// to what holds at any point of it where it may throw, which is what handlers
/// begin with.
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
    // Blocks in reverse postorder: taking the first one due visits most once.
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
