use super::*;
use crate::mutability::effects::kinds::Kinds;
use crate::mutability::effects::{Cause, Node, Write, reference};
use std::cell::{Cell, RefCell};

/// A summary that writes one parameter.
fn writes(param: u16) -> Arc<Summary> {
    Arc::new(Summary {
        nodes: vec![Node::Param(param)],
        writes: vec![Write {
            node: reference(0, false),
            cause: Cause::NoBody,
            only: None,
            kinds: Kinds::ANY,
        }],
        ..Summary::default()
    })
}

/// The final summaries of two methods that call each other, and how often they were made.
fn settle(make: impl Fn(u32) -> Arc<Summary>) -> (Vec<Arc<Summary>>, u32) {
    let known = RefCell::new(vec![Arc::default(); 2]);
    let taken = [Cell::new(0), Cell::new(0)];
    until_settled(
        &[vec![1], vec![0, 1]],
        |at, _| {
            taken[at].set(taken[at].get() + 1);
            make(taken[at].get())
        },
        |_| writes(u16::MAX),
        |at, summary| known.borrow_mut()[at] = summary,
    );
    let taken = taken.iter().map(Cell::get).sum();
    (known.into_inner(), taken)
}

#[test]
fn what_says_the_same_is_taken_twice() {
    let (known, taken) = settle(|_| writes(0));
    assert_eq!(known, [writes(0), writes(0)]);
    assert!(taken <= 6, "{taken}");
}

#[test]
fn summaries_that_take_turns_are_joined() {
    let (known, taken) = settle(|taken| writes((taken % 2) as u16));
    for known in known {
        assert!(known.covers(&writes(0)) && known.covers(&writes(1)));
    }
    assert!(taken < 2 * GIVEN_UP_AT, "{taken}");
}

#[test]
fn what_grows_for_ever_is_given_up() {
    let (known, taken) = settle(|taken| writes(taken as u16));
    assert_eq!(known, [writes(u16::MAX), writes(u16::MAX)]);
    assert_eq!(taken, 2 * (GIVEN_UP_AT - 1));
}
