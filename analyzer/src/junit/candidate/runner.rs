//! Refuses the frames of a test framework, if the program failed in one of its own tests, and of
//! methods that check for others.

use crate::text::gap;
use hindsight_tracelog::crash::{ExceptionInfo, Frame, SKIPS};

/// The reason for frames that ran a test.
pub const OF_RUNNER: &str = "what ran the test, and no part of the program";
/// The reason for frames that have found a failure of others.
const OF_CHECK: &str =
    "it checks for others, and throws whatever version of the program calls it so";

/// The prefixes of test frameworks' packages.
const FRAMEWORKS: [&str; 4] = [
    "org.junit.",
    "junit.framework.",
    "junit.extensions.",
    "org.testng.",
];

/// The prefixes of compilers' checks, and of libraries of assertions.
const CHECKS: [&str; 1] = ["kotlin.jvm.internal.Intrinsics"];
const ASSERTIONS: [&str; 5] = [
    "org.opentest4j.",
    "org.assertj.core.",
    "org.hamcrest.",
    "com.google.common.truth.",
    "kotlin.test.",
];

/// Refuses frames that no change of the program makes end differently: of a test that is skipped,
/// and those that only throw because a check for others has failed.
pub(super) fn leave_out_checks(
    frames: &[Frame],
    exceptions: &[ExceptionInfo],
    refusals: &mut [Option<String>],
) {
    for (stack, refusals) in stacks(frames, refusals) {
        let thrown = exceptions.get(stack[0].exception as usize);
        let thrown = thrown.map_or("", |exception| exception.class.as_str());
        if SKIPS.contains(&thrown) {
            refusals.fill(Some(
                "a test framework passes over a test by this exception: nothing has failed"
                    .to_owned(),
            ));
            continue;
        }
        let asserts = thrown == "java.lang.AssertionError"
            || [
                "Failure",
                "AssertionFailedError",
                "FailuresError",
                "AssertionError",
            ]
            .iter()
            .any(|end| thrown.ends_with(end));
        let begins =
            |frame: &Frame, all: &[&str]| all.iter().any(|one| frame.class.starts_with(one));
        let checks = |frame: &&Frame| {
            begins(frame, &CHECKS)
                || asserts && (begins(frame, &ASSERTIONS) || begins(frame, &FRAMEWORKS))
        };
        let leading = stack.iter().take_while(checks).count();
        // If there is nothing else, it is the program.
        if leading < stack.len() {
            refusals[..leading].fill(Some(OF_CHECK.to_owned()));
        }
    }
}

/// Refuses the frames from a test framework's call of a test method on: a build tool, an IDE, the
/// framework and its extensions, whose objects belong to the run that recorded the failure, and
/// whose classes are not on the program's class path.
///
/// A framework calls tests by reflection. What it calls in other ways, such as the body of an
/// `assertThrows`, is within the test.
pub(super) fn leave_out_runner(frames: &[Frame], refusals: &mut [Option<String>]) {
    for (stack, refusals) in stacks(frames, refusals) {
        if let Some(at) = call_of_test(stack) {
            refusals[at..].fill(Some(OF_RUNNER.to_owned()));
        }
    }
}

/// The frames of each exception, with their refusals.
pub(super) fn stacks<'a>(
    frames: &'a [Frame],
    mut refusals: &'a mut [Option<String>],
) -> impl Iterator<Item = (&'a [Frame], &'a mut [Option<String>])> {
    let stacks = frames.chunk_by(|a, b| a.exception == b.exception);
    stacks.map(move |stack| {
        let (own, rest) = std::mem::take(&mut refusals).split_at_mut(stack.len());
        refusals = rest;
        (stack, own)
    })
}

/// The innermost frame of a stack that belongs neither to the test nor to what the test has called.
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
    // Reflection's own frames precede it, and those that have rethrown the exception.
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
    fn what_checks_for_others_is_left_out_and_tests_that_are_passed_over() {
        let frame = |class: &str| Frame {
            class: class.to_owned(),
            ..Frame::default()
        };
        let refused = |thrown: &str, classes: &[&str]| {
            let frames: Vec<Frame> = classes.iter().map(|class| frame(class)).collect();
            let exceptions = [ExceptionInfo {
                class: thrown.to_owned(),
                ..ExceptionInfo::default()
            }];
            let mut refusals = vec![None; frames.len()];
            leave_out_checks(&frames, &exceptions, &mut refusals);
            refusals.iter().filter(|refusal| refusal.is_some()).count()
        };
        let asserted = [
            "org.junit.Assert",
            "org.junit.Assert",
            "app.ShopTest",
            "org.junit.Runner",
        ];
        assert_eq!(refused("java.lang.AssertionError", &asserted), 2);
        assert_eq!(refused("org.junit.ComparisonFailure", &asserted), 2);
        // A fault of the framework itself, and a framework that fails in its own code.
        assert_eq!(refused("java.lang.NullPointerException", &asserted), 0);
        assert_eq!(refused("java.lang.AssertionError", &asserted[..2]), 0);
        let checked = ["kotlin.jvm.internal.Intrinsics", "app.ShopKt"];
        assert_eq!(refused("java.lang.NullPointerException", &checked), 1);
        assert_eq!(refused("org.opentest4j.TestAbortedException", &asserted), 4);
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
