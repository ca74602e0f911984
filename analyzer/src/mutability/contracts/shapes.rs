//! The shapes that effects have of which a table says, not a body.

use crate::mutability::effects::kinds::Kinds;
use crate::mutability::effects::{Cause, Made, Node, Summary, Write, join, reference};
use crate::program::Sym;

/// What a method does, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Changes nothing; what it returns is not of its arguments.
    Reads,
    /// Changes nothing; returns something that the receiver leads to.
    Gets,
    /// The same of something that the receiver holds as an element.
    Picks,
    /// Changes nothing; returns the first argument.
    Passes,
    /// Changes nothing; returns something that the arguments lead to.
    Hands,
    /// Changes nothing; returns a new object, of a class of the JDK's own, that
    /// leads to the receiver.
    Views,
    /// The same of an object that anybody may have made.
    Collects,
    /// Changes the receiver only, and returns something that it leads to.
    Steps,
    /// Changes the receiver, which may keep the arguments; returns something
    /// that it leads to.
    Changes,
    /// The same, and the receiver gets what the arguments lead to.
    Absorbs,
    /// Changes the receiver and what it is a view of, which may keep the arguments.
    ChangesBelow,
    /// Changes nothing; what changes the result changes the receiver.
    Backed,
    /// Changes nothing; returns something that the first argument leads to.
    GetsFirst,
    /// A new object that leads to all arguments.
    Makes,
    /// Changes the first argument.
    ChangesFirst,
    /// Changes the first and the second argument.
    ChangesTwo,
    /// Changes the second argument, and may return what that leads to.
    ChangesSecond,
    /// Changes the receiver, and what it returns is not of its arguments.
    Consumes,
    /// Changes the receiver; returns a new object of the JDK's that leads to it.
    Pipes,
    /// Stores what the receiver leads to in its argument, or a new object, and
    /// returns that.
    Fills,
    /// Copies elements of the first argument to the third.
    ArrayCopy,
    /// Changes the receiver, which keeps the argument; returns that.
    Pushes,
    /// Changes the receiver; what it holds the first argument gets.
    Drains,
    /// Copies the receiver, not what it leads to.
    Clones,
    /// Copies the receiver and all of its state.
    Copies,
    /// Changes the receiver, and reads the rest; returns the receiver, if anything.
    Outputs,
    /// Changes the receiver and what it is a view of; returns the receiver.
    Puts,
    /// Anything may happen to what it gets.
    Anything,
}

use Shape::*;

/// The effect that a method of a shape has. `any` is the field that stands for all
/// fields, `element` the one of elements.
pub(super) fn summary(shape: Shape, any: Sym, element: Sym) -> Summary {
    const THIS: u32 = 0;
    const DEEP: u32 = 1;
    const OUTSIDE: u32 = 2;
    const MADE: u32 = 3;
    const ARGUMENT: u32 = 4;
    /// More arguments than any method of the tables has.
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
        // The receiver too: some of these are static and return what they get.
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
            // The elements of the first: read, then stored.
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
