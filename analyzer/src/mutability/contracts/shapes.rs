//! The shapes of effects that a table lists, instead of a body.

use crate::mutability::effects::kinds::Kinds;
use crate::mutability::effects::{Cause, Made, Node, Summary, Write, join, reference};
use crate::program::Sym;

/// What a method does, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Changes nothing; the result is not derived from the arguments.
    Reads,
    /// Changes nothing; returns something reachable from the receiver.
    Gets,
    /// Changes nothing; returns something that the receiver holds as an element.
    Picks,
    /// Changes nothing; returns the first argument.
    Passes,
    /// Changes nothing; returns something reachable from the arguments.
    Hands,
    /// Changes nothing; returns a new object, of a class of the JDK's own, that refers to the
    /// receiver.
    Views,
    /// Changes nothing; returns a new object that refers to the receiver, and that any code may
    /// have made.
    Collects,
    /// Changes only the receiver; returns something reachable from it.
    Steps,
    /// Changes the receiver, which may keep the arguments; returns something reachable from it.
    Changes,
    /// Changes the receiver, which may keep what is reachable from the arguments; returns something
    /// reachable from it.
    Absorbs,
    /// Changes the receiver and the object of which it is a view, which may keep the arguments.
    ChangesBelow,
    /// Changes nothing; a change of the result is a change of the receiver.
    Backed,
    /// Changes nothing; returns something reachable from the first argument.
    GetsFirst,
    /// Makes a new object that refers to all arguments.
    Makes,
    /// Changes the first argument.
    ChangesFirst,
    /// Changes the first and the second argument.
    ChangesTwo,
    /// Changes the second argument, and may return something reachable from it.
    ChangesSecond,
    /// Changes the receiver; the result is not derived from the arguments.
    Consumes,
    /// Changes the receiver; returns a new object of the JDK's that refers to it.
    Pipes,
    /// Stores what is reachable from the receiver in its argument, or in a new object, and returns
    /// that.
    Fills,
    /// Copies elements of the first argument to the third one.
    ArrayCopy,
    /// Changes the receiver, which keeps the argument; returns the argument.
    Pushes,
    /// Changes the receiver; moves what it holds to the first argument.
    Drains,
    /// Makes a shallow copy of the receiver.
    Clones,
    /// Makes a copy of the receiver and of all of its state.
    Copies,
    /// Changes the receiver, and reads the arguments; returns the receiver, if anything.
    Outputs,
    /// Changes the receiver and the object of which it is a view; returns the receiver.
    Puts,
    /// Does anything with its arguments.
    Anything,
}

use Shape::*;

/// The effect of a method of a shape. `any` is the field that stands for all fields, `element` the
/// field of elements.
pub(super) fn summary(shape: Shape, any: Sym, element: Sym) -> Summary {
    const THIS: u32 = 0;
    const DEEP: u32 = 1;
    const OUTSIDE: u32 = 2;
    const MADE: u32 = 3;
    const ARGUMENT: u32 = 4;
    /// The number of arguments that is assumed; no method of the tables has more.
    const ARGUMENTS: u16 = 4;
    let certain = |node| reference(node, false);
    let write = |node| Write {
        node: certain(node),
        cause: Cause::NoBody,
        only: None,
        kinds: Kinds::ANY,
    };
    let mut summary = Summary {
        nodes: vec![
            Node::Param(0),
            Node::Deep(0),
            Node::Outside,
            Node::New(0, Made::Some),
        ],
        returned: vec![certain(OUTSIDE)],
        ..Summary::default()
    };
    for argument in 1..=ARGUMENTS {
        summary.nodes.push(Node::Param(argument));
    }
    let arguments: Vec<u32> = (0..u32::from(ARGUMENTS))
        .map(|n| certain(ARGUMENT + n))
        .collect();
    match shape {
        Reads => {}
        // The receiver is included, since some of these methods are static and return an argument.
        Gets => summary.returned = vec![certain(THIS), certain(DEEP), certain(OUTSIDE)],
        Picks => {
            let held = add(&mut summary, Node::Held(0));
            summary.returned = vec![certain(OUTSIDE), certain(held)];
        }
        Passes => summary.returned = vec![certain(ARGUMENT)],
        Views | Collects => {
            if shape == Views {
                summary.nodes[MADE as usize] = Node::New(0, Made::Library);
            }
            summary.returned = vec![certain(MADE)];
            summary
                .heap
                .push((MADE, any, vec![certain(THIS), certain(DEEP)]));
        }
        Steps => {
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(DEEP), certain(OUTSIDE)];
        }
        Changes | Absorbs => {
            let held = add(&mut summary, Node::Held(0));
            let mut all = arguments;
            if shape == Absorbs {
                for argument in 1..=ARGUMENTS {
                    let below = add(&mut summary, Node::Deep(argument));
                    all.push(certain(below));
                }
            }
            summary.writes.push(write(THIS));
            summary.heap.push((THIS, any, all));
            summary.returned = vec![certain(OUTSIDE), certain(held)];
        }
        ChangesBelow => {
            summary.writes.extend([write(THIS), write(DEEP)]);
            for keeps in [THIS, DEEP] {
                summary.heap.push((keeps, any, arguments.clone()));
            }
        }
        Backed => summary.returned = vec![certain(THIS), certain(DEEP)],
        GetsFirst => {
            let below = add(&mut summary, Node::Deep(1));
            summary.returned = vec![certain(OUTSIDE), certain(below)];
        }
        Puts => {
            summary.writes.extend([write(THIS), write(DEEP)]);
            summary.returned = vec![certain(THIS)];
        }
        Makes => {
            summary.returned = vec![certain(MADE)];
            let mut all = vec![certain(THIS), certain(DEEP)];
            join(&mut all, &arguments, false);
            summary.heap.push((MADE, any, all));
        }
        Outputs => {
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(THIS)];
        }
        ChangesFirst => {
            summary.writes.push(write(THIS));
            summary.heap.push((THIS, any, arguments));
        }
        ChangesTwo => summary.writes.extend([write(THIS), write(ARGUMENT)]),
        Hands => {
            let mut all = arguments;
            for argument in 1..=ARGUMENTS {
                let below = add(&mut summary, Node::Deep(argument));
                all.push(certain(below));
            }
            summary.returned.extend(all);
            summary.returned.sort_unstable();
        }
        ChangesSecond => {
            let below = add(&mut summary, Node::Deep(1));
            summary.writes.push(write(ARGUMENT));
            summary.heap.push((ARGUMENT, any, arguments[1..].to_vec()));
            summary.returned.push(certain(below));
            // The field may be a static one.
            summary.kept = arguments;
        }
        Consumes => summary.writes.push(write(THIS)),
        Pipes => {
            summary.nodes[MADE as usize] = Node::New(0, Made::Library);
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(MADE)];
            let held = vec![certain(THIS), certain(DEEP)];
            summary.heap.push((MADE, any, held));
        }
        Fills => {
            summary.writes.push(write(ARGUMENT));
            summary.returned = vec![certain(MADE), certain(ARGUMENT)];
            for array in [MADE, ARGUMENT] {
                summary.heap.push((array, element, vec![certain(DEEP)]));
            }
        }
        ArrayCopy => {
            // The elements of the first argument are read, then stored.
            let read = add(&mut summary, Node::Read(THIS, element));
            summary.writes.push(write(ARGUMENT + 1));
            summary
                .heap
                .push((ARGUMENT + 1, element, vec![certain(read)]));
        }
        Clones => {
            summary.returned = vec![certain(MADE)];
            summary.heap.push((MADE, any, vec![certain(DEEP)]));
        }
        Pushes => {
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(ARGUMENT)];
            summary.heap.push((THIS, any, arguments));
        }
        Drains => {
            let held = add(&mut summary, Node::Held(0));
            summary.writes.extend([write(THIS), write(ARGUMENT)]);
            summary.heap.push((ARGUMENT, any, vec![certain(held)]));
        }
        Copies => summary.returned = vec![certain(MADE)],
        Anything => return Summary::unknown(&[true; ARGUMENTS as usize + 1]),
    }
    summary
}

fn add(summary: &mut Summary, node: Node) -> u32 {
    summary.nodes.push(node);
    summary.nodes.len() as u32 - 1
}
