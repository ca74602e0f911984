//! Which of the calls that probes have recorded are still on the stack.

use super::Tracing;
use crate::jni::{Jni, Obj};
use crate::shim::is_probe;
use crate::snapshot::classes::method_name;
use crate::sys::{FrameInfo, MethodId};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The most frames of a stack that are examined; a deeper stack counts as unknown.
const MAX_FRAMES: usize = 1024;

/// The frames that are examined first: where a constructor calls another one, both are among them.
const NEAR_FRAMES: usize = 16;

/// Identifies a method in any class loader, by a hash of its class, name and descriptor.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sign(u64);

impl Sign {
    pub(super) fn new(class: &str, name: &str, descriptor: &str) -> Sign {
        let mut hasher = DefaultHasher::new();
        (class, name, descriptor).hash(&mut hasher);
        Sign(hasher.finish())
    }
}

/// How many of the calls of these methods, from the outermost on, are on the stack of the current
/// thread. If a probe is `entering` its method, that method's frame does not count. `None` if the
/// number is not known.
pub(super) fn running(
    tracing: &Tracing,
    jni: Jni,
    methods: Obj,
    depth: usize,
    entering: bool,
) -> Option<usize> {
    let calls = tracing
        .ids
        .signs(&jni.ints(methods, depth.min(MAX_FRAMES)))?;
    let thread = tracing.jvmti.current_thread()?;
    // In a recursion there are few methods.
    let mut known: HashMap<MethodId, Option<Sign>> = HashMap::new();
    let mut sign = |frame: &FrameInfo| {
        let read = || method(tracing, jni, frame.method);
        *known.entry(frame.method).or_insert_with(read)
    };
    let mut among = |most: usize| {
        let (_, frames) = tracing.jvmti.stack(thread, most)?;
        let own = frames.iter().take_while(|frame| sign(frame).is_none());
        let inner = own.count() + usize::from(entering);
        let outer = frames.get(inner..).unwrap_or_default();
        let running = embedded(&calls, outer.iter().rev().map(&mut sign));
        // Calls that are found among the inner frames are on the stack; those that are not may be
        // further out.
        let is_known = frames.len() < most || running == calls.len();
        is_known.then_some(running)
    };
    let near = (calls.len() <= NEAR_FRAMES).then(|| among(NEAR_FRAMES));
    let running = near.flatten().or_else(|| among(MAX_FRAMES));
    jni.delete_local(thread);
    running
}

/// The method of a frame; `None` for a method of the probes.
fn method(tracing: &Tracing, jni: Jni, method: MethodId) -> Option<Sign> {
    let (class, name, descriptor) = method_name(tracing.jvmti, jni, method)?;
    (!is_probe(&class)).then(|| Sign::new(&class, &name, &descriptor))
}

/// How many of the calls, from the first on, are among the frames in this order. It is the ends of
/// the innermost calls that are missing, so the outer ones are those that are still active.
fn embedded(calls: &[Sign], frames: impl Iterator<Item = Option<Sign>>) -> usize {
    frames.fold(0, |running, frame| {
        let is_next = frame.is_some() && calls.get(running) == frame.as_ref();
        running + usize::from(is_next)
    })
}

#[cfg(test)]
mod tests {
    use super::{Sign, embedded};

    fn signs(names: &str) -> Vec<Sign> {
        let names = names.split_whitespace();
        names.map(|name| Sign::new("a.A", name, "()V")).collect()
    }

    #[test]
    fn calls_that_are_not_on_the_stack_are_over() {
        for (calls, frames, running) in [
            ("", "run task", 0),
            ("recurse recurse recurse", "run task", 0),
            ("recurse recurse recurse", "run recurse again recurse", 2),
            ("handle recurse recurse", "run handle log", 1),
            ("handle recurse", "run handle recurse log", 2),
            // The frames are of later calls, not of those that were recorded.
            ("handle recurse", "run recurse log", 0),
        ] {
            let frames = signs(frames);
            let frames = frames.into_iter().map(Some);
            assert_eq!(embedded(&signs(calls), frames), running, "{calls}");
        }
    }
}
