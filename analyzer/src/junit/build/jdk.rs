//! Ways to make objects of the JDK through its public API.
//!
//! - `collections` makes collections and maps.
//! - `concurrent` makes latches, locks and futures.
//! - `exceptions` makes exceptions.
//! - `formats` makes formats and calendars.
//! - `parts` makes views of collections.
//! - `scalars` makes values: numbers, times, texts and the like.

mod collections;
mod concurrent;
mod exceptions;
mod formats;
mod parts;
mod scalars;

use collections::collection;
use concurrent::awaited;
use exceptions::exception;
pub use exceptions::suppressed;
use formats::format;
use parts::part;
use scalars::scalar;

use super::recipe::{Argument, Operation, Recipe, Step};
use crate::graph::Graph;
use crate::java::literal;
use hindsight_tracelog::crash::Body;

/// The length of the longest collection that is written into a test.
const MAX_ELEMENTS: usize = 24;

/// The role of an argument that orders a collection.
pub const COMPARATOR: &str = "comparator";
const LIST: &str = "Ljava/util/List;";
const STRING: &str = "Ljava/lang/String;";

/// How to make an object of the JDK; `None` if there is no readable way.
pub fn recipe(graph: &Graph<'_>, object: u32) -> Option<Recipe> {
    let class = graph.class_name(object);
    if !matches!(graph.body(object)?, Body::Instance(_)) {
        return None;
    }
    scalar(graph, object, class)
        .or_else(|| collection(graph, object, class))
        .or_else(|| awaited(graph, object, class))
        .or_else(|| exception(graph, object, class))
        .or_else(|| format(graph, object, class))
        .or_else(|| part(graph, object, class))
}

fn code(text: impl Into<String>) -> Argument {
    Argument::Code(text.into(), "I")
}

fn text(text: &str) -> Option<Argument> {
    let units: Vec<u16> = text.encode_utf16().collect();
    Some(Argument::Code(literal::string(&units)?, STRING))
}

fn step(operation: Operation, class: &str, name: &str, of: &str, arguments: Vec<Argument>) -> Step {
    Step {
        operation,
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: of.to_owned(),
        on: None,
        field: None,
        roles: vec![String::new(); arguments.len()],
        arguments,
        variadic: true,
    }
}

fn one(step: Step) -> Option<Recipe> {
    Some(Recipe {
        steps: vec![step],
        result: 0,
    })
}

fn new(class: &str, arguments: Vec<Argument>) -> Option<Recipe> {
    one(step(Operation::New, class, "<init>", "", arguments))
}

/// A call `Class.name(...)` with the descriptor `of`.
fn call(class: &str, name: &str, of: &str, arguments: Vec<Argument>) -> Option<Recipe> {
    let of = format!("(){of}");
    one(step(Operation::Static, class, name, &of, arguments))
}

fn constant(class: &str, name: &str, of: &str) -> Option<Recipe> {
    one(step(Operation::GetStatic, class, name, of, Vec::new()))
}

/// A call of an object's own method, whose result is not used.
fn on_first(class: &str, name: &str, arguments: Vec<Argument>) -> Step {
    Step {
        on: Some(0),
        ..step(Operation::Virtual, class, name, "()V", arguments)
    }
}

/// An object that is made empty and filled by calls of one method.
fn made(class: &str, name: &str, calls: Vec<Vec<Argument>>) -> Option<Recipe> {
    made_with(class, Vec::new(), name, calls)
}

/// An object that is made of some arguments and filled by calls of one method.
fn made_with(
    class: &str,
    arguments: Vec<Argument>,
    name: &str,
    calls: Vec<Vec<Argument>>,
) -> Option<Recipe> {
    let mut steps = vec![step(Operation::New, class, "<init>", "", arguments)];
    steps.extend(calls.into_iter().map(|call| on_first(class, name, call)));
    Some(Recipe { steps, result: 0 })
}
