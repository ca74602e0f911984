//! Stage S': what a method and all that it calls may write, read and keep, by the references
//! through which objects are obtained.
//!
//! A value is a set of [`Node`]s: parameters, what was read from them by up to two fields, objects
//! made here or in a call, and everything outside. The definition of mutability depends on how
//! values are obtained, not on which objects they are: an object read from a parameter's field
//! belongs to that parameter, and so does everything stored there before. Values are assigned once,
//! so the order of statements is respected for them. For the heap within a method, the order is
//! respected up to the first loop, except in proofs, in which other threads may interfere; and a
//! value that is read right after it was stored is known everywhere.
//!
//! - [`Summary`] is what a caller has to know of a method.
//! - [`method`] makes a summary of a body, given what [`world`] says of the rest of the program;
//!   [`heap`] is what objects refer to meanwhile, [`set`] are sets of nodes, and [`keep`] picks
//!   what callers can see. [`kinds`] distinguishes the objects that are written from those that
//!   they refer to.
//! - [`solve`] does so for all methods, in an order that [`circles`] finds; [`reach`] says which
//!   lambdas a call may run.

pub mod circles;
mod heap;
mod keep;
pub mod kinds;
mod method;
mod reach;
mod set;
pub mod solve;
pub mod world;

use crate::program::names::Map;
use crate::program::{ClassId, MethodId, Sym};
use kinds::Kinds;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// An argument.
    Param(u16),
    /// A value read from a node (an earlier one) by a field.
    Read(u32, Sym),
    /// Any value reachable from an argument by more reads than that.
    Deep(u16),
    /// What an argument holds, which for a collection is its elements: for an object known to be
    /// the library's, what is one read away; for any other object, anything that may be part of it.
    /// Only in contracts.
    Held(u16),
    /// An object made by the method, at this operation.
    New(u32, Made),
    /// A value from outside: static fields, constants, unknown code.
    Outside,
}

/// What an object is, if the code that makes it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Made {
    /// An instance of exactly this class.
    Class(ClassId),
    /// A lambda, made by this operation of this method.
    Lambda(MethodId, u32),
    /// An object that the library makes, of a class of its own, such as an iterator.
    Library,
    /// An array, or one of several kinds of objects.
    Some,
}

/// A node's number and, in the lowest bit, whether the way to it is uncertain.
pub type Ref = u32;

/// A reference to a node.
pub fn reference(node: u32, weak: bool) -> Ref {
    node << 1 | u32::from(weak)
}

/// A set of references, sorted.
pub type Refs = Vec<Ref>;

/// Adds references; returns whether there were new ones. Both lists are sorted. If there are a
/// certain and an uncertain way to a node, only the certain one is kept.
pub fn join(into: &mut Refs, from: &[Ref], weak: bool) -> bool {
    let weak = u32::from(weak);
    if let &[found] = from {
        return insert(into, found | weak);
    }
    // Most of the time there is nothing new.
    let mut at = 0;
    let is_known = |&found: &Ref| {
        let found = found | weak;
        while into.get(at).is_some_and(|known| known >> 1 < found >> 1) {
            at += 1;
        }
        into.get(at)
            .is_some_and(|&known| known >> 1 == found >> 1 && known <= found)
    };
    if from.iter().all(is_known) {
        return false;
    }
    let mut merged = Refs::with_capacity(into.len() + from.len());
    let mut push = |found: Ref| match merged.last_mut() {
        Some(last) if *last >> 1 == found >> 1 => *last = (*last).min(found),
        _ => merged.push(found),
    };
    let (mut mine, mut others) = (
        into.iter().copied().peekable(),
        from.iter().map(|found| found | weak).peekable(),
    );
    loop {
        match (mine.peek(), others.peek()) {
            (Some(one), Some(other)) if one <= other => push(mine.next().unwrap_or_default()),
            (_, Some(_)) => push(others.next().unwrap_or_default()),
            (Some(_), None) => push(mine.next().unwrap_or_default()),
            (None, None) => break,
        }
    }
    *into = merged;
    true
}

fn insert(into: &mut Refs, found: Ref) -> bool {
    let at = into.partition_point(|known| known >> 1 < found >> 1);
    match into.get_mut(at) {
        Some(known) if *known >> 1 == found >> 1 => {
            let better = found < *known;
            *known = (*known).min(found);
            better
        }
        _ => {
            into.insert(at, found);
            true
        }
    }
}

/// The reason why a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A store in this body: its operation.
    Store(u32),
    /// A call: its operation, the called method, and the index of the method's write.
    Call(u32, MethodId, u32),
    /// A call whose effect is known from a table: its operation.
    Known(u32),
    /// The node is passed to code that is not known: the operation.
    Unknown(u32),
    /// The body itself could not be read.
    NoBody,
    /// The body is too large to be analysed.
    TooLarge,
}

/// A write of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The node: a parameter, or something read from one.
    pub node: Ref,
    /// The cause of the write.
    pub cause: Cause,
    /// The condition under which it happens: a parameter must be an instance of a class.
    pub only: Only,
    /// The kinds of objects that are written.
    pub kinds: Kinds,
}

/// A parameter, and the class of which it must be an instance; `None` if there is no condition.
pub type Only = Option<(u16, ClassId)>;

/// What callers have to know of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The nodes. A node that is read from another one stands behind it.
    pub nodes: Vec<Node>,
    /// The writes, one for each written node.
    pub writes: Vec<Write>,
    /// What fields of nodes may refer to: node, field, references.
    pub heap: Vec<(u32, Sym, Refs)>,
    /// What the method returns.
    pub returned: Refs,
    /// What the method throws.
    pub thrown: Refs,
    /// What static fields keep.
    pub kept: Refs,
    /// What the library gets together with parameters that it may call back, if these are lambdas.
    pub given: Refs,
    /// Whether the method writes static state, or objects reachable from static fields.
    pub writes_outside: bool,
    /// Whether the method writes objects reachable from static fields.
    pub writes_kept: bool,
}

impl Summary {
    /// The parameter from which a node is derived.
    pub fn param(&self, mut node: u32) -> Option<u16> {
        loop {
            match self.nodes.get(node as usize)? {
                Node::Param(param) | Node::Deep(param) | Node::Held(param) => return Some(*param),
                Node::Read(from, _) => node = *from,
                _ => return None,
            }
        }
    }

    /// The certain write of a parameter or, failing that, the uncertain one.
    pub fn write_of(&self, param: u16) -> Option<(usize, &Write)> {
        let own = |write: &&Write| self.param(write.node >> 1) == Some(param);
        let mut writes = self
            .writes
            .iter()
            .enumerate()
            .filter(|(_, write)| own(write));
        let first = writes.clone().find(|(_, write)| write.node & 1 == 0);
        first.or_else(|| writes.next())
    }

    /// Whether a static field may keep something derived from a parameter.
    pub fn keeps(&self, param: u16) -> bool {
        let mut kept = self.kept.iter();
        kept.any(|one| self.param(one >> 1) == Some(param))
    }

    /// Whether something derived from a parameter may, after the method has returned, be referred
    /// to by something that did not have it before: by the result, an exception, a static field, or
    /// another object that lives on.
    pub fn lets_escape(&self, param: u16) -> bool {
        let is_own = |one: &Ref| self.param(one >> 1) == Some(param);
        let held = |(holder, _, refs): &(u32, Sym, Refs)| {
            self.param(*holder) != Some(param) && refs.iter().any(is_own)
        };
        [&self.returned, &self.thrown, &self.kept]
            .into_iter()
            .flatten()
            .any(is_own)
            || self.heap.iter().any(held)
    }

    /// Whether this summary includes another one; the causes of writes do not matter.
    pub fn covers(&self, other: &Summary) -> bool {
        let numbers: Map<Node, u32> = self
            .nodes
            .iter()
            .zip(0..)
            .map(|(&node, at)| (node, at))
            .collect();
        let mut means = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let own = match *node {
                Node::Read(from, field) => Node::Read(means[from as usize], field),
                other => other,
            };
            match numbers.get(&own) {
                Some(&number) => means.push(number),
                None => return false,
            }
        }
        let has = |refs: &[Ref], one: Ref| {
            let own = means[(one >> 1) as usize] << 1;
            refs.contains(&own) || one & 1 == 1 && refs.contains(&(own | 1))
        };
        let all = |own: &[Ref], others: &[Ref]| others.iter().all(|&one| has(own, one));
        let written = |write: &Write| {
            let node = Write {
                node: means[(write.node >> 1) as usize] << 1 | write.node & 1,
                ..*write
            };
            self.writes.iter().any(|own| {
                own.node >> 1 == node.node >> 1
                    && own.node <= node.node
                    && (own.only.is_none() || own.only == node.only)
                    && own.kinds.covers(&node.kinds)
            })
        };
        self.writes_outside >= other.writes_outside
            && self.writes_kept >= other.writes_kept
            && other.writes.iter().all(written)
            && all(&self.returned, &other.returned)
            && all(&self.thrown, &other.thrown)
            && all(&self.kept, &other.kept)
            && all(&self.given, &other.given)
            && other.heap.iter().all(|(node, field, refs)| {
                let own = means[*node as usize];
                let held = self
                    .heap
                    .iter()
                    .find(|entry| entry.0 == own && entry.1 == *field);
                held.is_some_and(|held| all(&held.2, refs))
            })
    }

    /// The union of two summaries, which covers both.
    pub fn joined(&self, other: &Summary) -> Summary {
        let mut both = self.clone();
        let mut numbers: Map<Node, u32> = (both.nodes.iter().zip(0..))
            .map(|(&node, at)| (node, at))
            .collect();
        let mut means = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let own = match *node {
                Node::Read(from, field) => Node::Read(means[from as usize], field),
                other => other,
            };
            let number = *numbers.entry(own).or_insert_with(|| {
                both.nodes.push(own);
                both.nodes.len() as u32 - 1
            });
            means.push(number);
        }
        let mean = |one: Ref| reference(means[(one >> 1) as usize], one & 1 == 1);
        let add = |into: &mut Refs, refs: &[Ref]| {
            refs.iter().for_each(|&one| {
                join(into, &[mean(one)], false);
            });
        };
        for write in &other.writes {
            let node = mean(write.node);
            match (both.writes.iter_mut()).find(|known| known.node >> 1 == node >> 1) {
                Some(known) => {
                    known.only = known.only.filter(|_| known.only == write.only);
                    known.kinds.join(write.kinds);
                    if node < known.node {
                        (known.node, known.cause) = (node, write.cause);
                    }
                }
                None => both.writes.push(Write { node, ..*write }),
            }
        }
        add(&mut both.returned, &other.returned);
        add(&mut both.thrown, &other.thrown);
        add(&mut both.kept, &other.kept);
        add(&mut both.given, &other.given);
        for (node, field, refs) in &other.heap {
            let own = means[*node as usize];
            let known = (both.heap.iter_mut()).find(|entry| entry.0 == own && entry.1 == *field);
            match known {
                Some(known) => add(&mut known.2, refs),
                None => {
                    let mut held = Refs::new();
                    add(&mut held, refs);
                    both.heap.push((own, *field, held));
                }
            }
        }
        both.writes_outside |= other.writes_outside;
        both.writes_kept |= other.writes_kept;
        both
    }

    /// Adds all references that the method may leave behind, if only its writes are known: static
    /// fields may keep its arguments; everything may refer to everything else and, if it is
    /// accessible, to what is outside; an exception may bring out any argument. For proofs.
    pub fn add_ways(&mut self, any: Sym, outside: bool) {
        let from_outside = self.number(Node::Outside);
        let made = self.number(Node::New(0, Made::Some));
        let of_params = |&node: &u32| self.param(node).is_some();
        let all: Vec<u32> = (0..self.nodes.len() as u32).filter(of_params).collect();
        let mut changed: Vec<u32> = self.writes.iter().map(|write| write.node >> 1).collect();
        changed.sort_unstable();
        let mut ways: Refs = all.iter().map(|&node| reference(node, true)).collect();
        if outside {
            join(&mut ways, &[reference(from_outside, true)], false);
        }
        join(&mut self.thrown, &ways, false);
        join(&mut self.thrown, &[reference(made, true)], false);
        let kept: Refs = changed.iter().map(|&node| reference(node, true)).collect();
        join(&mut self.kept, &kept, false);
        self.put(made, any, &ways);
        join(&mut ways, &[reference(made, true)], false);
        for node in changed {
            let is_own = |one: &Ref| self.param(one >> 1) == self.param(node);
            if matches!(self.nodes[node as usize], Node::Param(_)) {
                let others: Refs = ways.iter().copied().filter(|one| !is_own(one)).collect();
                self.put(node, any, &others);
            }
        }
    }

    fn number(&mut self, node: Node) -> u32 {
        let known = self.nodes.iter().position(|&known| known == node);
        known.unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        }) as u32
    }

    fn put(&mut self, node: u32, field: Sym, refs: &[Ref]) {
        let mut heap = self.heap.iter_mut();
        match heap.find(|entry| entry.0 == node && entry.1 == field) {
            Some(known) => {
                join(&mut known.2, refs, false);
            }
            None => self.heap.push((node, field, refs.to_vec())),
        }
    }

    /// The summary of a body that is not known: it may change all of its arguments, and return
    /// anything reachable from them.
    pub fn unknown(followed: &[bool]) -> Summary {
        let mut summary = Summary {
            nodes: vec![Node::Outside],
            returned: vec![reference(0, false)],
            writes_outside: true,
            writes_kept: true,
            ..Summary::default()
        };
        for param in (0..followed.len()).filter(|&param| followed[param]) {
            for node in [Node::Param(param as u16), Node::Deep(param as u16)] {
                let number = summary.nodes.len() as u32;
                summary.nodes.push(node);
                summary.returned.push(reference(number, true));
                summary.writes.push(Write {
                    node: reference(number, true),
                    cause: Cause::NoBody,
                    only: None,
                    kinds: Kinds::ANY,
                });
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Nodes, each with whether the way to it is uncertain.
    fn plain(refs: &[Ref]) -> BTreeMap<u32, bool> {
        refs.iter().map(|one| (one >> 1, one & 1 == 1)).collect()
    }

    fn sorted(of: BTreeMap<u32, bool>) -> Refs {
        of.into_iter()
            .map(|(node, weak)| reference(node, weak))
            .collect()
    }

    /// Summaries of a few nodes, of which any may stand first.
    fn summaries() -> impl Strategy<Value = Summary> {
        let (field, other) = (Sym(7), Sym(8));
        let all = vec![
            Node::Param(0),
            Node::Deep(0),
            Node::New(0, Made::Some),
            Node::Outside,
            Node::Param(1),
        ];
        let refs = || prop::collection::vec((0u32..7, any::<bool>()), 0..4);
        let parts = (refs(), refs(), refs(), refs(), refs(), any::<[bool; 2]>());
        (Just(all).prop_shuffle(), parts).prop_map(move |(mut nodes, parts)| {
            let param = nodes.iter().position(|&node| node == Node::Param(0));
            nodes.push(Node::Read(param.unwrap() as u32, field));
            nodes.push(Node::Read(5, other));
            let set = |of: &[(u32, bool)]| sorted(of.iter().copied().collect());
            let (writes, returned, thrown, kept, held, flags) = parts;
            let cause = Cause::NoBody;
            Summary {
                nodes,
                writes: (set(&writes).into_iter())
                    .map(|node| Write {
                        node,
                        cause,
                        only: [None, Some((1, ClassId(node % 3)))][usize::from(flags[1])],
                        kinds: [
                            Kinds::ANY,
                            Kinds::one(kinds::Kind::Class(ClassId(node % 7))),
                        ][usize::from(flags[0])],
                    })
                    .collect(),
                heap: vec![(2, field, set(&held)), (5, other, set(&writes))],
                returned: set(&returned),
                thrown: set(&thrown),
                kept: set(&kept),
                given: set(&returned),
                writes_outside: flags[0],
                writes_kept: flags[1],
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_joined_covers_both(one in summaries(), other in summaries()) {
            let both = one.joined(&other);
            prop_assert!(both.covers(&one));
            prop_assert!(both.covers(&other));
            prop_assert_eq!(both.joined(&other), both.clone());
            prop_assert_eq!(both.joined(&one), both);
        }

        #[test]
        fn joins_are_unions(one: BTreeMap<u8, bool>, other: BTreeMap<u8, bool>, weak: bool) {
            let wide = |of: BTreeMap<u8, bool>| of.into_iter().map(|(node, weak)| (u32::from(node), weak)).collect();
            let (one, other): (BTreeMap<u32, bool>, BTreeMap<u32, bool>) = (wide(one), wide(other));
            let mut expected = one.clone();
            for (&node, &own) in &other {
                let known = expected.entry(node).or_insert(true);
                *known &= own || weak;
            }
            let mut refs = sorted(one.clone());
            let changed = join(&mut refs, &sorted(other), weak);
            prop_assert_eq!(plain(&refs), expected.clone());
            prop_assert!(refs.is_sorted());
            prop_assert_eq!(changed, expected != one);
        }
    }
}
