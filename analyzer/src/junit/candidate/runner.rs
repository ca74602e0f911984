//! Which frames are those of a test framework, where the program failed in one of its own tests.

use crate::text::gap;
use hindsight_tracelog::crash::Frame;

/// What is said of the frames of what ran a test.
pub const OF_RUNNER: &str = "what ran the test, and no part of the program";

/// What test frameworks' packages begin with.
const FRAMEWORKS: [&str; 4] = [
    "org.junit.",
    "junit.framework.",
    "junit.extensions.",
    "org.testng.",
];

/// Refuses the frames from a test framework's call of a test method on: a build tool, an IDE, the
/// framework and its extensions, whose objects are of the run that recorded the failure, and whose classes
/// the program's class path has not.
///
/// A framework calls tests by reflection. What it calls otherwise, as the body of an `assertThrows`, is
/// within the test.
pub(super) fn leave_out_runner(frames: &[Frame], refusals: &mut [Option<String>]) {
    let mut start = 0;
    for stack in frames.chunk_by(|a, b| a.exception == b.exception) {
        if let Some(at) = call_of_test(stack) {
            refusals[start + at..start + stack.len()].fill(Some(OF_RUNNER.to_owned()));
        }
        start += stack.len();
    }
}

/// The innermost frame of a stack that is no longer the test's, nor of what that has called.
fn call_of_test(stack: &[Frame]) -> Option<usize> {
    let is_reflection = |frame: &Frame| {
        matches!(
            (frame.class.as_str(), frame.method.as_str()),
            ("java.lang.reflect.Method", "invoke")
                | ("java.lang.reflect.Constructor", "newInstance")
        )
    };
    let is_framework = |frame: &Frame| {
        let mut prefixes = FRAMEWORKS.iter();
        prefixes.any(|prefix| frame.class.starts_with(prefix))
    };
    let call = (1..stack.len()).find(|&at| {
        is_framework(&stack[at]) && gap(&stack[at]).is_none() && is_reflection(&stack[at - 1])
    })?;
    // Reflection's own frames come before it, and those that have thrown the exception on.
    let is_own = |frame: &Frame| {
        let jdk = [
            "java.lang.reflect.",
            "java.lang.invoke.",
            "jdk.internal.",
            "sun.reflect.",
        ];
        !jdk.iter().any(|prefix| frame.class.starts_with(prefix)) && !is_framework(frame)
    };
    let own = stack[..call].iter().rposition(is_own)?;
    Some(own + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(stack: &[(&str, &str, u32)]) -> Vec<usize> {
        let frames = stack.iter().map(|&(class, method, exception)| Frame {
            class: class.to_owned(),
            method: method.to_owned(),
            exception,
            ..Frame::default()
        });
        let frames: Vec<Frame> = frames.collect();
        let mut refusals = vec![None; frames.len()];
        leave_out_runner(&frames, &mut refusals);
        let refused = refusals.iter().enumerate();
        refused
            .filter_map(|(at, refusal)| refusal.as_ref().map(|_| at))
            .collect()
    }

    #[test]
    fn frames_behind_the_call_of_a_test_method_are_left_out() {
        let stack = [
            ("java.util.Objects", "requireNonNull", 0),
            ("app.Shop", "book", 0),
            ("org.junit.jupiter.api.AssertThrows", "assertThrows", 0),
            ("app.ShopTest", "booked", 0),
            (
                "org.junit.platform.commons.util.ExceptionUtils",
                "throwAs",
                0,
            ),
            (
                "jdk.internal.reflect.DirectMethodHandleAccessor",
                "invoke",
                0,
            ),
            ("java.lang.reflect.Method", "invoke", 0),
            (
                "org.junit.platform.commons.util.ReflectionUtils",
                "invokeMethod",
                0,
            ),
            ("java.util.ArrayList", "forEach", 0),
            ("com.acme.Extension", "intercept", 0),
            ("org.apache.maven.surefire.booter.ForkedBooter", "main", 0),
            ("app.Shop", "load", 1),
            ("app.ShopTest", "<init>", 1),
            ("java.lang.reflect.Constructor", "newInstance", 1),
            (
                "org.junit.platform.commons.util.ReflectionUtils",
                "newInstance",
                1,
            ),
        ];
        assert_eq!(refused(&stack), [4, 5, 6, 7, 8, 9, 10, 13, 14]);
    }

    #[test]
    fn what_fails_within_a_framework_or_calls_by_reflection_itself_is_kept() {
        let framework = [
            ("org.junit.platform.launcher.core.Loader", "load", 0),
            ("java.lang.reflect.Method", "invoke", 0),
            (
                "org.junit.platform.commons.util.ReflectionUtils",
                "invokeMethod",
                0,
            ),
        ];
        assert_eq!(refused(&framework), [0; 0]);
        let own = [
            ("app.Shop", "book", 0),
            ("java.lang.reflect.Method", "invoke", 0),
            ("app.Dispatcher", "call", 0),
            ("org.junit.jupiter.api.Assertions", "assertAll", 0),
        ];
        assert_eq!(refused(&own), [0; 0]);
    }
}
