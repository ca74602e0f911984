//! A graph along which facts are propagated.

use crate::mutability::effects::circles::levels;

/// A graph that is processed once from its end: however large the facts of its nodes are, each edge
/// is followed once.
#[derive(Debug)]
pub(super) struct Graph {
    /// The successors of each node.
    pub(super) next: Vec<Vec<u32>>,
    /// The strongly connected components, each behind all that are reachable from it.
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

    /// For each node, its own fact joined with those of all nodes reachable from it.
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
