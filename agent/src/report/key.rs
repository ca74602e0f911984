//! What makes failures the same.

use super::ways::traceless;
use super::{Call, Trigger, names, rules_method};
use crate::agent::Agent;
use crate::exceptions::Exceptions;
use crate::jdk;
use crate::jni::Jni;
use hindsight_tracelog::crash::{StackElement, evaluated};

/// The number of the program's frames that identify a crash.
const KEY_FRAMES: usize = 8;

/// The key that identifies a crash, and the frame to show for it.
pub(super) fn key(
    agent: &Agent,
    jni: Jni,
    call: &Call,
    exceptions: &Exceptions,
) -> (String, String) {
    let is_program = |element: &StackElement| {
        !jdk::may_be(&element.class)
            || agent
                .base
                .methods
                .has_probes(&element.class, &element.method)
    };
    let mut frames = key_frames(&exceptions.infos[0].stack, is_program);
    if frames.is_empty()
        && let Some(way) = call.way
    {
        let mut way = traceless(agent, jni, call.exception, way);
        way.truncate(KEY_FRAMES);
        let names = names(agent, &way).into_iter();
        frames = names
            .map(|(class, method)| format!("{class}.{method}"))
            .collect();
    }
    // Nothing else tells where an exception without a trace was caught.
    if call.trigger == Trigger::Caught && exceptions.infos[0].stack.is_empty() {
        frames.extend(rules_method(agent, call));
    }
    let frame = frames.first().cloned().unwrap_or_default();
    // The causes belong to the key: a wrapper that is made in one place may hide different
    // failures.
    let causes: Vec<String> = exceptions.infos[1..]
        .iter()
        .map(|info| {
            let frames = key_frames(&info.stack, is_program);
            format!("{} {}", info.class, frames.join(" "))
        })
        .collect();
    (
        format!(
            "{}\n{}\n{}",
            exceptions.infos[0].class,
            frames.join("\n"),
            causes.join("\n")
        ),
        frame,
    )
}

/// The place of the throw in a trace, and the first frames of the program. The JDK's frames in
/// between differ with its version, and from call to call (reflection changes its ways).
fn key_frames(stack: &[StackElement], is_program: impl Fn(&StackElement) -> bool) -> Vec<String> {
    let place = |element: &StackElement| {
        let StackElement {
            class,
            method,
            line,
            ..
        } = element;
        format!("{}.{method}:{line}", evaluated(class))
    };
    let rest = stack.get(1..).unwrap_or_default().iter();
    let program = rest.filter(|element| is_program(element)).take(KEY_FRAMES);
    stack
        .first()
        .into_iter()
        .chain(program)
        .map(place)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(class: &str, line: i32) -> StackElement {
        StackElement {
            class: class.to_owned(),
            method: "m".to_owned(),
            file: None,
            line,
        }
    }

    #[test]
    fn the_program_and_the_place_of_the_throw_make_a_key() {
        let mut stack = vec![element("java.lang.String", 1)];
        stack.extend((0..20).map(|line| element("jdk.internal.Util", line)));
        stack.push(element("a.Shop", 7));
        stack.push(element("java.util.stream.Pipeline", 3));
        stack.extend((0..20).map(|line| element("a.Deep", line)));
        let is_program = |element: &StackElement| element.class.starts_with("a.");
        let key = key_frames(&stack, is_program);
        assert_eq!(key[..2], ["java.lang.String.m:1", "a.Shop.m:7"]);
        assert_eq!(key.len(), 1 + KEY_FRAMES);
        assert_eq!(key[KEY_FRAMES], "a.Deep.m:6");
        assert!(key_frames(&[], is_program).is_empty());
        // A text that is evaluated once more fails in the same way.
        let key = |class| key_frames(&[element(class, 1)], is_program);
        assert_eq!(key("Script1"), key("Script2"));
    }
}
