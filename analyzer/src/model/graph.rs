//! The graph of one class.

use super::CallId;
use super::values::{Counts, Lives, Values};
use std::collections::{BTreeMap, VecDeque};

/// A node, by its number. It may have been merged into another one since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// The node before the first call.
pub const ROOT: Node = Node(0);

/// An edge at a higher index than this is moved towards the front of its node's edges when it is
/// met.
const SOON: usize = 8;

/// What was seen on an edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often the call returned.
    pub returned: Counts,
    /// How often the call threw.
    pub threw: Counts,
    /// The objects whose lives led over the edge.
    pub lives: Lives,
    /// The numbers and texts that were passed, by the position of the parameter.
    pub values: BTreeMap<i16, Values>,
}

impl Tally {
    /// Adds what was seen at another place in the same runs.
    pub fn sum(&mut self, other: &Tally) {
        self.returned.sum(&other.returned);
        self.threw.sum(&other.threw);
        self.lives.merge(&other.lives);
        for (position, values) in &other.values {
            self.values.entry(*position).or_default().sum(values);
        }
    }

    /// Merges what another model has seen on the same edge.
    fn merge(&mut self, other: &Tally) {
        self.returned.merge(&other.returned);
        self.threw.merge(&other.threw);
        self.lives.merge(&other.lives);
        for (position, values) in &other.values {
            self.values.entry(*position).or_default().merge(values);
        }
    }

    fn renumbered(&self, runs: &[u32]) -> Tally {
        let values = self.values.iter();
        Tally {
            returned: self.returned.renumbered(runs),
            threw: self.threw.renumbered(runs),
            lives: self.lives,
            values: values
                .map(|(position, values)| (*position, values.renumbered(runs)))
                .collect(),
        }
    }
}

/// A call that leads from one node to another.
#[derive(Debug, Clone)]
pub struct Edge {
    /// The call.
    pub call: CallId,
    /// The node that it leads to.
    pub target: Node,
    /// What was seen on the edge.
    pub tally: Tally,
    /// What the other model has seen on the edge, while models are being merged.
    theirs: Option<Box<Tally>>,
}

/// Nodes and edges. No two edges of a node have the same call.
#[derive(Debug, Clone)]
pub struct Graph {
    /// For each node, the node that it was merged into: itself, or an older one.
    parents: Vec<Node>,
    edges: Vec<Vec<Edge>>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph {
            parents: vec![ROOT],
            edges: vec![Vec::new()],
        }
    }
}

impl Graph {
    /// Adds a new node.
    pub fn add_node(&mut self) -> Node {
        let node = Node(self.parents.len() as u32);
        self.parents.push(node);
        self.edges.push(Vec::new());
        node
    }

    /// The node that a node is now part of.
    pub fn find(&self, mut node: Node) -> Node {
        while self.parents[node.0 as usize] != node {
            node = self.parents[node.0 as usize];
        }
        node
    }

    /// The edges of a node, in no particular order.
    pub fn edges(&self, node: Node) -> &[Edge] {
        &self.edges[self.find(node).0 as usize]
    }

    /// Returns the edge of a call, which is made if there is none.
    pub fn step(&mut self, from: Node, call: CallId) -> &mut Edge {
        let from = self.find(from);
        let at = match self.place(from, call) {
            // It will be found sooner the next time.
            Some(at) if at > SOON => {
                self.edges[from.0 as usize].swap(at, at / 2);
                at / 2
            }
            Some(at) => at,
            None => {
                let target = self.add_node();
                self.push(from, call, target)
            }
        };
        &mut self.edges[from.0 as usize][at]
    }

    /// Makes an edge of a call that leads to a node. If there already is an edge of this call, its
    /// target and the node are merged.
    pub fn join(&mut self, from: Node, call: CallId, to: Node) -> &mut Edge {
        let start = self.find(from);
        match self.place(start, call) {
            Some(at) => {
                let target = self.edges[start.0 as usize][at].target;
                self.unite(target, to);
            }
            None => {
                self.push(start, call, to);
            }
        }
        // The node may have been merged itself.
        let from = self.find(from);
        let at = self.place(from, call).expect("merging keeps edges");
        &mut self.edges[from.0 as usize][at]
    }

    fn place(&self, from: Node, call: CallId) -> Option<usize> {
        let mut edges = self.edges[from.0 as usize].iter();
        edges.position(|edge| edge.call == call)
    }

    fn push(&mut self, from: Node, call: CallId, target: Node) -> usize {
        let edges = &mut self.edges[from.0 as usize];
        edges.push(Edge {
            call,
            target,
            tally: Tally::default(),
            theirs: None,
        });
        edges.len() - 1
    }

    /// Merges two nodes, and all nodes that must be merged as a consequence.
    pub fn unite(&mut self, a: Node, b: Node) {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            let (stays, goes) = (a.min(b), a.max(b));
            self.parents[goes.0 as usize] = stays;
            for edge in std::mem::take(&mut self.edges[goes.0 as usize]) {
                let Some(at) = self.place(stays, edge.call) else {
                    self.edges[stays.0 as usize].push(edge);
                    continue;
                };
                let known = &mut self.edges[stays.0 as usize][at];
                pending.push((known.target, edge.target));
                // Sightings by one model at two places add up; those of two models may be the same.
                known.tally.sum(&edge.tally);
                if let Some(theirs) = edge.theirs {
                    known.theirs.get_or_insert_default().sum(&theirs);
                }
            }
        }
    }

    /// Adds another model's graph, in which calls and runs have other numbers.
    pub fn merge(&mut self, other: &Graph, call: &dyn Fn(CallId) -> CallId, runs: &[u32]) {
        let mut mine: Vec<Node> = vec![ROOT];
        for _ in 1..other.parents.len() {
            let node = self.add_node();
            mine.push(node);
        }
        for (at, edges) in other.edges.iter().enumerate() {
            for edge in edges {
                let to = mine[other.find(edge.target).0 as usize];
                let joined = self.join(mine[at], call(edge.call), to);
                let theirs = edge.tally.renumbered(runs);
                joined.theirs.get_or_insert_default().sum(&theirs);
            }
        }
        for edge in self.edges.iter_mut().flatten() {
            if let Some(theirs) = edge.theirs.take() {
                edge.tally.merge(&theirs);
            }
        }
        self.compact();
    }

    /// Removes the nodes that have been merged into others.
    fn compact(&mut self) {
        let mut numbers = vec![Node(0); self.parents.len()];
        let mut edges = Vec::new();
        for (at, number) in numbers.iter_mut().enumerate() {
            if self.parents[at] == Node(at as u32) {
                *number = Node(edges.len() as u32);
                edges.push(std::mem::take(&mut self.edges[at]));
            }
        }
        for edge in edges.iter_mut().flatten() {
            edge.target = numbers[self.find(edge.target).0 as usize];
        }
        self.parents = (0..edges.len() as u32).map(Node).collect();
        self.edges = edges;
    }

    /// The number of nodes that can be reached from the root, and of their edges.
    pub fn size(&self) -> (usize, usize) {
        let nodes = self.order(&|id| id);
        let edges = nodes.iter().map(|node| self.edges(*node).len());
        (nodes.len(), edges.sum())
    }

    /// The nodes by their distance from the root; nodes of equal distance by the calls that lead to
    /// them, in the order that `key` gives.
    pub fn order<K: Ord>(&self, key: &dyn Fn(CallId) -> K) -> Vec<Node> {
        let mut seen = vec![false; self.parents.len()];
        let mut queue = VecDeque::from([ROOT]);
        let mut order = Vec::new();
        seen[0] = true;
        while let Some(node) = queue.pop_front() {
            order.push(node);
            let mut edges: Vec<_> = self.edges(node).iter().collect();
            edges.sort_by_key(|edge| key(edge.call));
            for edge in edges {
                let target = self.find(edge.target);
                if !std::mem::replace(&mut seen[target.0 as usize], true) {
                    queue.push_back(target);
                }
            }
        }
        order
    }
}
