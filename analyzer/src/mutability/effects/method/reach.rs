//! What is reachable from values.

use super::State;
use crate::mutability::effects::set::Nodes;
use crate::mutability::effects::{Made, Node, reference};

impl State<'_> {
    /// A value and everything reachable from it.
    pub fn closure(&mut self, start: Nodes) -> Nodes {
        self.closure_past(start, true)
    }

    /// A value and everything reachable from it. Whether that includes what lambdas have captured
    /// is given by `lambdas`: only the code that they run reads it.
    pub(super) fn closure_past(&mut self, start: Nodes, lambdas: bool) -> Nodes {
        let mut reached = start;
        let mut done = Nodes::default();
        while let Some(next) = reached.next_beyond(&done) {
            self.work += 1;
            done.insert(next);
            let (node, weak) = (next >> 1, next & 1 == 1);
            if !lambdas && self.is_lambda(node) {
                continue;
            }
            reached.join(&self.heap.below(node), weak);
            if let Some(param) = self.param_of(node) {
                if matches!(self.nodes[node as usize], Node::Deep(_)) {
                    reached.join(&self.heap.anywhere_below(param), weak);
                } else {
                    let deep = self.node(Node::Deep(param));
                    reached.insert(reference(deep, weak));
                }
            }
        }
        reached
    }

    pub(super) fn is_lambda(&self, node: u32) -> bool {
        matches!(self.nodes[node as usize], Node::New(_, Made::Lambda(..)))
    }

    /// Everything reachable from a value, without the value itself.
    pub(super) fn closure_below(&mut self, refs: &Nodes, lambdas: bool) -> Nodes {
        let mut start = Nodes::default();
        for one in refs.iter() {
            let (node, weak) = (one >> 1, one & 1 == 1);
            if !lambdas && self.is_lambda(node) {
                continue;
            }
            if let Some(param) = self.param_of(node) {
                let deep = self.node(Node::Deep(param));
                start.insert(reference(deep, weak));
            }
            if matches!(self.nodes[node as usize], Node::Outside) {
                start.insert(one);
            }
            start.join(&self.heap.below(node), weak);
        }
        self.closure_past(start, lambdas)
    }

    /// What values hold if they are collections. For objects of the library's classes that were
    /// made here, everything ever stored in them is known; any other object may be a view, or have
    /// its elements further away.
    pub(super) fn held_by(&mut self, refs: &Nodes) -> Nodes {
        let mut held = Nodes::default();
        let mut others = Nodes::default();
        for one in refs.iter() {
            let (node, weak) = (one >> 1, one & 1 == 1);
            match self.nodes[node as usize] {
                Node::New(_, Made::Class(class)) if self.world.is_of_library(class) => {
                    held.join(&self.heap.below(node), weak);
                }
                _ => {
                    others.insert(one);
                }
            }
        }
        held.join(&self.closure_below(&others, false), false);
        held.join(&others, false);
        held
    }
}
