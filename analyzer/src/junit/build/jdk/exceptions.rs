//! Exceptions of the JDK.

use super::super::recipe::{Argument, Operation, Recipe};
use super::{on_first, step};
use crate::graph::{Graph, Typed};
use crate::views::{View, view};
use hindsight_tracelog::crash::Value;

/// The exceptions of the JDK that accept a message and a cause.
const WITH_CAUSE: [&str; 13] = [
    "java.io.IOException",
    "java.lang.AssertionError",
    "java.lang.Error",
    "java.lang.Exception",
    "java.lang.IllegalArgumentException",
    "java.lang.IllegalStateException",
    "java.lang.RuntimeException",
    "java.lang.SecurityException",
    "java.lang.Throwable",
    "java.lang.UnsupportedOperationException",
    "java.util.ConcurrentModificationException",
    "java.util.concurrent.CompletionException",
    "java.util.concurrent.ExecutionException",
];
/// The exceptions of the JDK that accept a message.
const WITH_MESSAGE: [&str; 13] = [
    "java.io.EOFException",
    "java.io.FileNotFoundException",
    "java.lang.ArithmeticException",
    "java.lang.ArrayIndexOutOfBoundsException",
    "java.lang.ClassCastException",
    "java.lang.CloneNotSupportedException",
    "java.lang.IndexOutOfBoundsException",
    "java.lang.InterruptedException",
    "java.lang.NullPointerException",
    "java.lang.NumberFormatException",
    "java.lang.StringIndexOutOfBoundsException",
    "java.util.NoSuchElementException",
    "java.util.concurrent.TimeoutException",
];

/// An exception of the JDK with its message, its cause and its suppressed exceptions. Its stack
/// trace differs, so it must not be the thrown one.
pub(super) fn exception(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let takes_cause = WITH_CAUSE.contains(&class);
    if !takes_cause && !WITH_MESSAGE.contains(&class) {
        return None;
    }
    let mut exceptions = graph.crash.failure.exceptions.iter();
    if exceptions.any(|one| one.class == class) {
        return None;
    }
    let message = graph.field(object, "detailMessage")?;
    let cause = graph.field(object, "cause")?;
    // Until it has a cause, an exception is its own.
    let has_cause = cause.value != Value::Ref(object);
    let mut arguments = Vec::new();
    if message.value != Value::Null || has_cause {
        arguments.push(Argument::Value(message));
    }
    if has_cause && takes_cause {
        arguments.push(Argument::Value(cause));
    }
    let mut steps = vec![step(Operation::New, class, "<init>", "", arguments)];
    if has_cause && !takes_cause {
        steps.push(on_first(class, "initCause", vec![Argument::Value(cause)]));
    }
    let of = suppressed(graph, object)?.into_iter();
    steps.extend(of.map(|one| on_first(class, "addSuppressed", vec![Argument::Value(one)])));
    Some(Recipe { steps, result: 0 })
}

/// The suppressed exceptions of an exception.
pub fn suppressed(graph: &Graph<'_>, object: u32) -> Option<Vec<Typed>> {
    let list = graph.reference(object, "suppressedExceptions")?;
    match view(graph, list)? {
        View::List(elements) => Some(elements),
        _ => None,
    }
}
