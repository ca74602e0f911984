//! What threads wait for: latches, semaphores, locks and futures.

use super::super::recipe::{Argument, Recipe};
use super::{call, code, new};
use crate::graph::{Graph, Typed};
use crate::views::{View, view};
use hindsight_tracelog::crash::Value;

pub(super) fn awaited(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let count = || match view(graph, object)? {
        View::Scalar(shown) => Some(code(shown)),
        _ => None,
    };
    let fair = || {
        let sync = graph.class_name(graph.reference(object, "sync")?);
        Some(sync.ends_with("$FairSync").then(|| code("true")))
    };
    match class.strip_prefix("java.util.concurrent.")? {
        "CountDownLatch" => new(class, vec![count()?]),
        "Semaphore" => {
            let mut arguments = vec![count()?];
            arguments.extend(fair()?);
            new(class, arguments)
        }
        "locks.ReentrantLock" | "locks.ReentrantReadWriteLock" => {
            new(class, fair()?.into_iter().collect())
        }
        "CompletableFuture" => future(graph, object, class),
        _ => None,
    }
}

/// A future as its end left it, or one that has not ended.
fn future(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    // What is to follow its end cannot be made.
    if graph.field(object, "stack")?.value != Value::Null {
        return None;
    }
    let ended = |name: &str, with: Typed| {
        let of = "Ljava/util/concurrent/CompletableFuture;";
        call(class, name, of, vec![Argument::Value(with)])
    };
    let result = graph.field(object, "result")?;
    if result.value == Value::Null {
        return new(class, Vec::new());
    }
    // An exception, and `null`, are within an object of the JDK's.
    let within = graph.reference(object, "result").filter(|held| {
        graph.class_name(*held) == "java.util.concurrent.CompletableFuture$AltResult"
    });
    match within {
        None => ended("completedFuture", result),
        Some(held) => match graph.field(held, "ex")? {
            exception if exception.value != Value::Null => ended("failedFuture", exception),
            _ => ended("completedFuture", Typed::reference(Value::Null)),
        },
    }
}
