//! What leads to what.

use crate::mutability::effects::circles::levels;

/// A graph, gone through once from its end: however much its nodes have, each edge is looked at once.
#[derive(Debug)]
pub(super) struct Graph {
    /// By node, what it leads to.
    pub(super) next: Vec<Vec<u32>>,
    /// Nodes that lead to each other, behind all that they lead to.
    circles: Vec<Vec<u32>>,
}

impl Graph {
    /// The graph with these edges.
    pub(super) fn new(mut next: Vec<Vec<u32>>) -> Graph {
        for next in &mut next {
            next.sort_unstable();
            next.dedup();
        }
        let nodes: Vec<u32> = (0..next.len() as u32).collect();
        Graph {
            circles: levels(&nodes, &next).into_iter().flatten().collect(),
            next,
        }
    }

    /// For each node what it has itself, joined with that of all that it leads to.
    pub(super) fn joined<T: Clone>(&self, mut own: Vec<T>, join: impl Fn(&mut T, &T)) -> Vec<T> {
        for circle in &self.circles {
            let Some((&first, others)) = circle.split_first() else {
                continue;
            };
            let mut all = own[first as usize].clone();
            for &other in others {
                join(&mut all, &own[other as usize]);
            }
            for &node in circle {
                for &next in &self.next[node as usize] {
                    join(&mut all, &own[next as usize]);
                }
            }
            for &node in circle {
                own[node as usize].clone_from(&all);
            }
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_reached_is_joined(edges in prop::collection::vec((0u32..12, 0u32..12), 0..30)) {
            let mut next = vec![Vec::new(); 12];
            for &(from, to) in &edges {
                next[from as usize].push(to);
            }
            let own: Vec<u16> = (0..12).map(|node| 1 << node).collect();
            let joined = Graph::new(next).joined(own, |one, other| *one |= other);
            for (from, joined) in joined.into_iter().enumerate() {
                let mut reached = 1u16 << from;
                for _ in 0..12 {
                    for &(from, to) in &edges {
                        if reached & (1 << from) != 0 {
                            reached |= 1 << to;
                        }
                    }
                }
                prop_assert_eq!(joined, reached);
            }
        }
    }
}
