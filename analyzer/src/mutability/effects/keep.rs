//! What callers can see of a body: its [`Summary`].

use super::method::State;
use super::set::Nodes;
use super::{Made, Node, Refs, Summary, Write, join, reference};
use crate::program::names::Map;

/// The most nodes in a summary; where there are more, they are merged.
const MAX_NODES: usize = 40;
/// The most entries of the heap in a summary; where there are more, they are merged.
const MAX_HEAP: usize = 80;

/// Makes the summary of what callers can see.
pub(super) fn summary(state: &State<'_>, coarse: bool) -> Summary {
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); state.nodes.len()];
    for (entry, place) in state.heap.entries().iter().zip(0..) {
        below[entry.0 as usize].push(place);
    }
    let keep = |coarse| Keep {
        state,
        below: &below,
        numbers: Map::default(),
        summary: Summary::default(),
        pending: Vec::new(),
        coarse,
    };
    let mut kept = keep(coarse);
    if !kept.all() {
        kept = keep(true);
        kept.all();
    }
    kept.summary
}

/// A summary in the making.
struct Keep<'s, 'a> {
    state: &'s State<'a>,
    /// The heap's entries by node.
    below: &'s [Vec<u32>],
    numbers: Map<Node, u32>,
    summary: Summary,
    /// Nodes of the state whose entries of the heap are still to be kept.
    pending: Vec<u32>,
    /// Whether everything further away than a parameter is merged.
    coarse: bool,
}

impl Keep<'_, '_> {
    fn node(&mut self, node: u32) -> u32 {
        let own = match self.state.nodes[node as usize] {
            Node::Read(..) if self.coarse => match self.state.param_of(node) {
                Some(param) => Node::Deep(param),
                None => Node::Outside,
            },
            Node::Read(from, field) => Node::Read(self.node(from), field),
            Node::New(_, made @ Made::Lambda(..)) => Node::New(0, made),
            Node::New(..) if self.coarse => Node::New(0, Made::Some),
            // Callers distinguish objects by what they are, not by where they were made.
            Node::New(_, made) => Node::New(0, made),
            other => other,
        };
        if let Some(&number) = self.numbers.get(&own) {
            if self.coarse || matches!(own, Node::New(..)) {
                self.pending.push(node);
            }
            return number;
        }
        let number = self.summary.nodes.len() as u32;
        self.summary.nodes.push(own);
        self.numbers.insert(own, number);
        self.pending.push(node);
        number
    }

    fn refs(&mut self, refs: &Nodes) -> Refs {
        let mut kept = Nodes::default();
        for one in refs.iter() {
            kept.insert(reference(self.node(one >> 1), one & 1 == 1));
        }
        kept.refs()
    }

    /// Keeps everything; returns false if it was too much.
    fn all(&mut self) -> bool {
        let state = self.state;
        self.summary.writes_outside = state.writes_outside;
        self.summary.writes_kept = state.writes_kept;
        let mut written = Nodes::default();
        // Certain writes come first: they cover the uncertain ones.
        let mut writes: Vec<&Write> = state.writes.iter().collect();
        writes.sort_by_key(|write| write.node & 1);
        for write in writes {
            let node = reference(self.node(write.node >> 1), write.node & 1 == 1);
            let only = state.guards.get(&(write.node >> 1)).copied();
            let kinds = state.kinds_of(write.node >> 1);
            if !written.has(node) {
                written.insert(node);
                self.summary.writes.push(Write {
                    node,
                    cause: write.cause,
                    only,
                    kinds,
                });
            } else if self.coarse {
                // This write was merged with an earlier one.
                let mut writes = self.summary.writes.iter_mut();
                if let Some(known) = writes.find(|known| known.node >> 1 == node >> 1) {
                    known.only = known.only.filter(|known| Some(*known) == only);
                    known.kinds.join(kinds);
                }
            }
        }
        self.summary.returned = self.refs(&state.returned);
        self.summary.thrown = self.refs(&state.thrown);
        self.summary.kept = self.refs(&state.kept);
        self.summary.given = self.refs(&state.given);
        // What was stored in objects that callers know.
        for (node, _, _) in state.heap.entries() {
            if state.param_of(*node).is_some() {
                self.node(*node);
                self.pending.push(*node);
            }
        }
        let mut done = vec![false; state.nodes.len()];
        let mut places = Map::default();
        while let Some(node) = self.pending.pop() {
            if std::mem::replace(&mut done[node as usize], true) {
                continue;
            }
            // Static fields belong to no parameter; what they keep is recorded already.
            if matches!(state.nodes[node as usize], Node::Outside) {
                continue;
            }
            let own = self.node(node);
            let lambda = matches!(
                self.summary.nodes[own as usize],
                Node::New(_, Made::Lambda(..))
            );
            for &place in &self.below[node as usize] {
                let (_, field, refs) = &state.heap.entries()[place as usize];
                let field = match self.coarse && !lambda {
                    true => state.world.any_field(),
                    false => *field,
                };
                let refs = self.refs(refs);
                let heap = &mut self.summary.heap;
                match places.get(&(own, field)) {
                    Some(&at) => {
                        let entry: &mut (_, _, Refs) = &mut heap[at];
                        join(&mut entry.2, &refs, false);
                    }
                    None => {
                        places.insert((own, field), heap.len());
                        heap.push((own, field, refs));
                    }
                }
                if self.is_too_much() {
                    return false;
                }
            }
        }
        !self.is_too_much()
    }

    fn is_too_much(&self) -> bool {
        let few = if self.state.is_coarse() { 3 } else { 1 };
        !self.coarse
            && (self.summary.heap.len() > MAX_HEAP / few
                || self.summary.nodes.len() > MAX_NODES / few)
    }
}
