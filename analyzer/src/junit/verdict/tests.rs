//! Recorded and actual failures made by hand.

use super::*;
use hindsight_tracelog::crash::StackElement;

fn recorded(stack: &[(&str, &str, i32)]) -> ExceptionInfo {
    let element = |&(class, method, line): &(&str, &str, i32)| StackElement {
        class: class.to_owned(),
        method: method.to_owned(),
        file: None,
        line,
    };
    ExceptionInfo {
        class: "E".to_owned(),
        stack: stack.iter().map(element).collect(),
        ..ExceptionInfo::default()
    }
}

fn outcome(exception: &str, stack: &[(&str, &str, i32)]) -> Outcome {
    let element = |&(class, method, line): &(&str, &str, i32)| Element {
        class: class.to_owned(),
        method: method.to_owned(),
        line,
    };
    Outcome {
        outcome: "threw".to_owned(),
        exception: Some(exception.to_owned()),
        stack: stack.iter().map(element).collect(),
        ..Outcome::default()
    }
}

fn threw(exception: &str, stack: &[(&str, &str, i32)]) -> Ran {
    Ran::Told(Box::new(outcome(exception, stack)))
}

/// The same with what stands behind it: exception, message and stack.
fn caused(
    threw: Outcome,
    (exception, message): (&str, Option<&str>),
    stack: &[(&str, &str, i32)],
) -> Outcome {
    let root = Root {
        exception: exception.to_owned(),
        message: message.map(str::to_owned),
        detail: message.map(str::to_owned),
        stack: outcome(exception, stack).stack,
    };
    Outcome {
        chain: vec![exception.to_owned()],
        cause: Some(root.clone()),
        root: Some(root),
        ..threw
    }
}

/// What is expected of a test of class A.
fn expected<'a>(exception: &'a ExceptionInfo, cause: Option<&'a ExceptionInfo>) -> Expected<'a> {
    Expected {
        exception,
        causes: cause.into_iter().collect(),
        cut: false,
        frames: Vec::new(),
        unchanged: vec!["A"],
        test: "T".to_owned(),
    }
}

fn of_a() -> Frame {
    Frame {
        class: "A".to_owned(),
        ..Frame::default()
    }
}

#[track_caller]
fn check(stack: &[(&str, &str, i32)], ran: Ran, verdict: Verdict, reason: &str) {
    let exception = recorded(stack);
    let expected = expected(&exception, None);
    let frame = of_a();
    assert_eq!(judge(&expected, &frame, &ran), (verdict, reason.to_owned()));
}

const STACK: &[(&str, &str, i32)] = &[("java.util.Objects", "check", 1), ("A", "m", 5)];

#[test]
fn the_first_program_frame_decides() {
    let newer = [("jdk.internal.X", "check", 9), ("A", "m", 5), ("T", "t", 1)];
    check(
        STACK,
        threw("E", &newer),
        Verdict::Reproduces,
        "throws E in A.m:5",
    );
}

#[test]
fn another_message_is_told() {
    let told = |then: &str, now: &str| {
        let exception = ExceptionInfo {
            message: Some(then.to_owned()),
            ..recorded(STACK)
        };
        let expected = expected(&exception, None);
        let mut outcome = outcome("E", STACK);
        outcome.message = Some("what getMessage makes of it".to_owned());
        outcome.detail = Some(now.to_owned());
        let frame = of_a();
        let (verdict, reason) = judge(&expected, &frame, &Ran::Told(Box::new(outcome)));
        assert_eq!(verdict, Verdict::Reproduces);
        reason
    };
    let plain = "throws E in A.m:5";
    assert_eq!(told("a is null", "a is null"), plain);
    assert_eq!(told("Index 5 of A@1fe3", "Index 5 of A@9b"), plain);
    let numbers = "throws E in A.m:5; other numbers in its message: Index -12 of A@9b";
    assert_eq!(told("Index 5 of A@1fe3", "Index -12 of A@9b"), numbers);
    assert_eq!(told("no *** here", "no word here"), plain);
    let other = "throws E in A.m:5; another message: b is null";
    assert_eq!(told("a is null", "b is null"), other);
}

fn taken_out(method: &str) -> (ExceptionInfo, Vec<Frame>, Frame) {
    // The trace was E in A.inner, A.middle, A.outer before the program took two out.
    let exception = recorded(&[("A", "outer", 7), ("A", "main", 8)]);
    let frame = |method: &str, line| Frame {
        class: "A".to_owned(),
        method: method.to_owned(),
        line,
        fidelity: Fidelity::Fields,
        ..Frame::default()
    };
    let frames = vec![
        frame("inner", None),
        frame("middle", None),
        frame("outer", Some(7)),
    ];
    (exception, frames, frame(method, None))
}

#[track_caller]
fn check_taken_out(method: &str, stack: &[(&str, &str, i32)], same: bool, reason: &str) {
    let (exception, frames, frame) = taken_out(method);
    let expected = Expected {
        frames: frames.iter().collect(),
        ..expected(&exception, None)
    };
    let verdict = if same {
        Verdict::Reproduces
    } else {
        Verdict::Differs
    };
    let told = judge(&expected, &frame, &threw("E", stack));
    assert_eq!(told, (verdict, reason.to_owned()));
}

#[test]
fn frames_that_the_program_took_out_are_known() {
    let whole = [
        ("A", "inner", 5),
        ("A", "middle", 6),
        ("T", "t", 1),
        ("dev.hindsight.replay.Runner", "run", 9),
    ];
    check_taken_out("inner", &whole[..], true, "throws E in A.inner:5");
    check_taken_out("middle", &whole[..], true, "throws E in A.inner:5");
    let cut = [("A", "outer", 7), ("T", "t", 1)];
    check_taken_out("outer", &cut, true, "throws E in A.outer:7");
    let reason = "throws E in A.middle:6 instead of E in A.inner";
    check_taken_out("middle", &whole[1..], false, reason);
    let reason = "throws E in A.middle:6 instead of E in A.outer:7";
    check_taken_out("outer", &whole[1..], false, reason);
}

#[test]
fn the_thread_of_a_task_is_chance() {
    let copy = [
        (
            "java.util.concurrent.ForkJoinTask",
            "getThrowableException",
            600,
        ),
        ("A", "sum", 9),
    ];
    let outcome = caused(outcome("E", &copy), ("E", None), STACK);
    let original = recorded(STACK);
    let frame = of_a();
    let copied = recorded(&copy);
    for (exception, cause) in [(&original, None), (&copied, Some(&original))] {
        let expected = expected(exception, cause);
        for ran in [threw("E", STACK), Ran::Told(Box::new(outcome.clone()))] {
            let told = judge(&expected, &frame, &ran);
            assert_eq!(told, (Verdict::Reproduces, "throws E in A.m:5".to_owned()));
        }
    }
}

#[test]
fn a_static_initializer_that_had_failed_before_fails_again() {
    let recorded = |then: &str| {
        let exception = ExceptionInfo {
            class: "java.lang.NoClassDefFoundError".to_owned(),
            message: Some("Could not initialize class B".to_owned()),
            ..recorded(STACK)
        };
        let cause = ExceptionInfo {
            class: "java.lang.ExceptionInInitializerError".to_owned(),
            message: Some(then.to_owned()),
            ..ExceptionInfo::default()
        };
        (exception, cause)
    };
    let error = "java.lang.ExceptionInInitializerError";
    let fails = |class: &str, line| {
        let outcome = outcome(error, &[("A", "m", line), ("T", "t", 1)]);
        let root = [("C", "c", 1), (class, "<clinit>", 2)];
        Ran::Told(Box::new(caused(outcome, ("F", None), &root)))
    };
    let frame = of_a();
    for (then, class, line, same) in [
        ("Exception F: bad [in thread \"main\"]", "B", 5, true),
        ("Exception F [in thread \"main\"]", "B", 5, true),
        ("Exception G [in thread \"main\"]", "B", 5, false),
        ("Exception F [in thread \"main\"]", "D", 5, false),
        ("Exception F [in thread \"main\"]", "B", 6, false),
    ] {
        let (exception, cause) = recorded(then);
        for cause in [Some(&cause), None] {
            let expected = expected(&exception, cause);
            let (verdict, reason) = judge(&expected, &frame, &fails(class, line));
            // Before Java 17 it is not known what it failed of.
            let same = same || cause.is_none() && class == "B" && line == 5;
            assert_eq!(
                verdict == Verdict::Reproduces,
                same,
                "{then} {class} {line}: {reason}"
            );
        }
    }
}

/// What an initializer fails of is wrapped, unless it is an error.
#[test]
fn a_static_initializer_fails_of_an_error_as_it_is() {
    let exception = ExceptionInfo {
        class: NO_CLASS.to_owned(),
        message: Some("Could not initialize class B".to_owned()),
        ..recorded(STACK)
    };
    let frame = of_a();
    let fails = [
        ("java.lang.System", "loadLibrary", 3),
        ("B", "<clinit>", 2),
        ("A", "m", 5),
        ("T", "t", 1),
    ];
    for (then, class, stack, same) in [
        (
            "Exception F: bad [in thread \"main\"]",
            "F",
            &fails[..],
            true,
        ),
        (
            "Exception G: bad [in thread \"main\"]",
            "F",
            &fails[..],
            false,
        ),
        (
            "Exception F: bad [in thread \"main\"]",
            "F",
            &fails[2..],
            false,
        ),
    ] {
        let cause = ExceptionInfo {
            class: INITIALIZER.to_owned(),
            message: Some(then.to_owned()),
            ..ExceptionInfo::default()
        };
        let expected = expected(&exception, Some(&cause));
        let (verdict, reason) = judge(&expected, &frame, &threw(class, stack));
        assert_eq!(verdict == Verdict::Reproduces, same, "{then}: {reason}");
        let told = "the static initializer of B fails, as it had before: F in B.<clinit>:2";
        assert_eq!(reason == told, same, "{reason}");
    }
    check(
        STACK,
        threw("F", &[("A", "k", 5), ("A", "<clinit>", 2), ("T", "t", 1)]),
        Verdict::Differs,
        "calling it runs the static initializer of A, which fails: F in A.k:5",
    );
}

/// A task whose thread has run the JDK's code alone, and the same on the thread that waits for it.
#[test]
fn a_task_need_not_have_a_frame_of_the_program() {
    let inner = [
        ("java.lang.Integer", "parseInt", 668),
        ("java.util.concurrent.ForkJoinTask", "exec", 3),
    ];
    let direct = [inner[0], ("A", "m", 5)];
    let copy = [
        (
            "java.util.concurrent.ForkJoinTask",
            "getThrowableException",
            600,
        ),
        ("A", "m", 5),
    ];
    let copied = caused(outcome("E", &copy), ("E", None), &inner);
    let frame = of_a();
    let (of_copy, of_cause, of_direct) = (recorded(&copy), recorded(&inner), recorded(&direct));
    for (exception, cause) in [(&of_copy, Some(&of_cause)), (&of_direct, None)] {
        let expected = expected(exception, cause);
        for ran in [threw("E", &direct), Ran::Told(Box::new(copied.clone()))] {
            assert_eq!(judge(&expected, &frame, &ran).0, Verdict::Reproduces);
        }
        let other = [("java.lang.Long", "parseLong", 9), ("B", "m", 5)];
        assert_eq!(
            judge(&expected, &frame, &threw("E", &other)).0,
            Verdict::Differs
        );
    }
}

#[test]
fn neither_the_test_nor_the_library_is_a_place() {
    let ours = [
        ("dev.hindsight.replay.Call", "invoke", 9),
        ("T", "t", 1),
        ("java.lang.reflect.Method", "invoke", 5),
    ];
    check(
        STACK,
        threw("E", &ours),
        Verdict::Differs,
        "throws E instead of E in A.m:5",
    );
    let runner = [
        ("java.lang.reflect.Method", "invoke", 5),
        ("dev.hindsight.replay.Runner", "run", 9),
    ];
    check_taken_out("middle", &runner, true, "throws E");
}

#[test]
fn what_stands_behind_an_exception_is_told() {
    let caused = |exception: &str, stack: &[(&str, &str, i32)], root: &[(&str, &str, i32)]| {
        let outcome = outcome(exception, stack);
        Ran::Told(Box::new(caused(outcome, ("F", Some("zone")), root)))
    };
    let error = "java.lang.ExceptionInInitializerError";
    check(
        STACK,
        caused(
            error,
            &[("A", "n", 3), ("T", "t", 1)],
            &[("B", "<clinit>", 2)],
        ),
        Verdict::Differs,
        "throws java.lang.ExceptionInInitializerError in A.n:3, caused by F in B.<clinit>:2 \
         (zone) instead of E in A.m:5",
    );
    check(
        STACK,
        caused(
            error,
            &[("T", "t", 1)],
            &[("A", "m", 5), ("A", "<clinit>", 2)],
        ),
        Verdict::Differs,
        "calling it runs the static initializer of A, which fails: F in A.m:5 (zone)",
    );
}

/// An exception that the program wraps, as it was recorded.
fn cause(class: &str, stack: &[(&str, &str, i32)]) -> ExceptionInfo {
    ExceptionInfo {
        class: class.to_owned(),
        message: Some("then".to_owned()),
        ..recorded(stack)
    }
}

const INNER: &[(&str, &str, i32)] = &[("java.util.Objects", "check", 1), ("A", "inner", 9)];

/// What is said of an exception with this cause where an F was behind it.
#[track_caller]
fn check_cause(class: &str, stack: &[(&str, &str, i32)], verdict: Verdict, reason: &str) {
    let (exception, f) = (recorded(STACK), cause("F", INNER));
    let expected = expected(&exception, Some(&f));
    let ran = caused(outcome("E", STACK), (class, Some("then")), stack);
    let told = judge(&expected, &of_a(), &Ran::Told(Box::new(ran)));
    assert_eq!(told, (verdict, reason.to_owned()));
}

#[test]
fn another_cause_is_another_failure() {
    let (reproduces, differs) = (Verdict::Reproduces, Verdict::Differs);
    check_cause("F", INNER, reproduces, "throws E in A.m:5");
    let reason = "throws E in A.m:5, caused by G in A.inner:9 (then) instead of F in A.inner:9";
    check_cause("G", INNER, differs, reason);
    let reason = "throws E in A.m:5, caused by F in A.other:9 (then) instead of F in A.inner:9";
    check_cause("F", &[("A", "other", 9)], differs, reason);
    // The JDK's own frames differ from version to version, and traces may be missing.
    check_cause(
        "F",
        &[("jdk.X", "x", 3), INNER[1]],
        reproduces,
        "throws E in A.m:5",
    );
    check_cause("F", &INNER[..1], reproduces, "throws E in A.m:5");
    check_cause("F", &[], reproduces, "throws E in A.m:5");
}

#[test]
fn a_cause_that_is_missing_is_told() {
    let (exception, f) = (recorded(STACK), cause("F", INNER));
    let frame = of_a();
    let told = |expected: &Expected<'_>, outcome: &Outcome| {
        judge(expected, &frame, &Ran::Told(Box::new(outcome.clone())))
    };
    let plain = outcome("E", STACK);
    let of_f = caused(plain.clone(), ("F", None), INNER);
    let reason = "throws E in A.m:5, without its cause F".to_owned();
    let with = expected(&exception, Some(&f));
    assert_eq!(told(&with, &plain), (Verdict::Differs, reason));
    let reason = "throws E in A.m:5, caused by F in A.inner:9, where nothing was".to_owned();
    let without = expected(&exception, None);
    assert_eq!(told(&without, &of_f), (Verdict::Differs, reason));
    // Unless it is not known, because the recording has not kept it or it was passed to the program.
    let cut = Expected {
        cut: true,
        ..expected(&exception, None)
    };
    assert_eq!(told(&cut, &of_f).0, Verdict::Reproduces);
    let given = Outcome {
        given: Some("F".to_owned()),
        chain: vec!["F".to_owned(), "G".to_owned()],
        ..of_f
    };
    assert_eq!(told(&with, &given).0, Verdict::Reproduces);
    assert_eq!(told(&without, &given).0, Verdict::Differs);
    // Versions of the JDK give their own exceptions other causes.
    let class = "java.lang.IllegalArgumentException";
    let of_jdk = ExceptionInfo {
        class: class.to_owned(),
        ..recorded(STACK)
    };
    let now = caused(
        outcome(class, STACK),
        ("java.lang.ClassCastException", None),
        &STACK[..1],
    );
    let (verdict, reason) = told(&expected(&of_jdk, None), &now);
    assert_eq!(verdict, Verdict::Reproduces);
    assert!(
        reason.contains("; caused by java.lang.ClassCastException in"),
        "{reason}"
    );
}

#[test]
fn only_the_innermost_cause_counts() {
    let (exception, middle, f) = (recorded(STACK), cause("D", STACK), cause("F", INNER));
    let expected = Expected {
        causes: vec![&middle, &f],
        ..expected(&exception, None)
    };
    let of_f = caused(outcome("E", STACK), ("F", Some("now")), INNER);
    let through_d = Outcome {
        chain: vec!["D".to_owned(), "F".to_owned()],
        ..of_f.clone()
    };
    let reason = "throws E in A.m:5; its cause has another message: now".to_owned();
    for outcome in [of_f, through_d] {
        let told = judge(&expected, &of_a(), &Ran::Told(Box::new(outcome)));
        assert_eq!(told, (Verdict::Reproduces, reason.clone()));
    }
}

/// Which use of a class was its first one is chance, also where the program wraps what that gives.
#[test]
fn causes_that_a_static_initializer_gives_are_alike() {
    let stack = [("A", "m", 5), ("A", "main", 6)];
    let exception = recorded(&stack);
    let had_failed = |message: &str| ExceptionInfo {
        message: Some(message.to_owned()),
        ..cause(NO_CLASS, &stack)
    };
    let not_initialized = had_failed("Could not initialize class B");
    let then = ExceptionInfo {
        message: Some("Exception F: bad [in thread \"main\"]".to_owned()),
        ..cause(INITIALIZER, &[])
    };
    let (error, f) = (
        cause(INITIALIZER, &stack),
        cause("F", &[("B", "<clinit>", 2)]),
    );
    let frame = of_a();
    let told = |causes: &[&ExceptionInfo], chain: &[&str], message: Option<&str>, of: &str| {
        let expected = Expected {
            causes: causes.to_vec(),
            ..expected(&exception, None)
        };
        let last = chain.last().copied().unwrap_or_default();
        let outcome = Outcome {
            chain: chain.iter().map(|class| (*class).to_owned()).collect(),
            ..caused(
                outcome("E", &stack),
                (last, message),
                &[(of, "<clinit>", 2)],
            )
        };
        judge(&expected, &frame, &Ran::Told(Box::new(outcome))).0
    };
    let first = [INITIALIZER, "F"];
    assert_eq!(
        told(&[&not_initialized, &then], &first, None, "B"),
        Verdict::Reproduces
    );
    assert_eq!(
        told(&[&not_initialized, &then], &[INITIALIZER, "G"], None, "B"),
        Verdict::Differs
    );
    assert_eq!(
        told(&[&not_initialized], &first, None, "C"),
        Verdict::Differs
    );
    // The other way round, with and without what newer JDKs tell.
    let second = [NO_CLASS];
    let message = not_initialized.message.as_deref();
    assert_eq!(
        told(&[&error, &f], &second, message, "B"),
        Verdict::Reproduces
    );
    assert_eq!(
        told(&[&error, &f], &second, Some("x/B"), "B"),
        Verdict::Differs
    );
    let second = [NO_CLASS, INITIALIZER];
    assert_eq!(
        told(&[&error, &f], &second, then.message.as_deref(), "B"),
        Verdict::Reproduces
    );
    assert_eq!(
        told(&[&error, &f], &second, Some("Exception G [in"), "B"),
        Verdict::Differs
    );
    // A missing class has a cause only once.
    let (missing, why) = (
        had_failed("x/B"),
        cause("java.lang.ClassNotFoundException", &[]),
    );
    assert_eq!(
        told(&[&missing, &why], &[NO_CLASS], Some("x/B"), "B"),
        Verdict::Reproduces
    );
}

#[test]
fn another_line_of_the_same_class_file_differs() {
    let reason = "throws E in A.m:6 instead of E in A.m:5";
    check(
        STACK,
        threw("E", &[("A", "m", 6)]),
        Verdict::Differs,
        reason,
    );
    let changed = [("B", "m", 5)];
    check(
        &changed,
        threw("E", &[("B", "m", 6)]),
        Verdict::Reproduces,
        "throws E in B.m:6",
    );
}

#[test]
fn another_class_or_method_differs() {
    let reason = "throws F in A.m:5 instead of E in A.m:5";
    check(
        STACK,
        threw("F", &[("A", "m", 5)]),
        Verdict::Differs,
        reason,
    );
    let reason = "throws E in A.n:5 instead of E in A.m:5";
    check(
        STACK,
        threw("E", &[("A", "n", 5)]),
        Verdict::Differs,
        reason,
    );
}

#[test]
fn what_did_not_end_is_told() {
    check(
        STACK,
        Ran::TimedOut(60),
        Verdict::Differs,
        "timed out after 60 s",
    );
    check(
        STACK,
        Ran::Waited(15),
        Verdict::Differs,
        "timed out: it waited for 15 s and did nothing",
    );
    let passed = Ran::Told(Box::new(Outcome {
        outcome: "passed".to_owned(),
        holes: vec!["a thread".to_owned()],
        ..Outcome::default()
    }));
    let reason = "returns without an exception; not restored: a thread";
    check(STACK, passed, Verdict::Passes, reason);
    let passed = Ran::Told(Box::new(Outcome {
        outcome: "passed".to_owned(),
        holes: vec![
            format!("a pool: a new one {STANDS_IN}"),
            "a thread".to_owned(),
        ],
        ..Outcome::default()
    }));
    let reason = "returns without an exception; not restored: a thread and 1 more";
    check(STACK, passed, Verdict::Passes, reason);
}

#[test]
fn a_stack_overflow_may_end_elsewhere_in_the_cycle() {
    let round = [("A", "m", 5), ("A", "n", 6), ("A", "m", 5), ("A", "n", 6)];
    let mut exception = recorded(&round);
    exception.class = "java.lang.StackOverflowError".to_owned();
    let expected = expected(&exception, None);
    let ends = |stack: &[(&str, &str, i32)]| {
        let ran = threw("java.lang.StackOverflowError", stack);
        judge(&expected, &Frame::default(), &ran).0
    };
    assert_eq!(ends(&[("A", "n", 9)]), Verdict::Reproduces);
    // In what is called from the cycle.
    let called = [&[("B", "<init>", 1)], &round[..]].concat();
    assert_eq!(ends(&called), Verdict::Reproduces);
    let other = [("B", "<init>", 1), ("A", "o", 1), ("A", "o", 1)];
    assert_eq!(ends(&other), Verdict::Differs);
    // In the proxy that stands for a lambda of the cycle.
    let proxy = [
        ("java.lang.invoke.MethodHandle", "invokeWithArguments", 1),
        ("dev.hindsight.replay.Lambdas$Handler", "invoke", 1),
    ];
    let proxied = [&proxy[..], &round[..1], &proxy[..], &round[..1]].concat();
    assert_eq!(ends(&proxied), Verdict::Reproduces);
}

#[test]
fn a_test_that_overflows_itself_reproduces_nothing() {
    let mut exception = recorded(STACK);
    exception.class = "java.lang.StackOverflowError".to_owned();
    let expected = expected(&exception, None);
    let ends = |stack: &[(&str, &str, i32)]| {
        let ran = threw("java.lang.StackOverflowError", stack);
        judge(&expected, &of_a(), &ran).0
    };
    assert_eq!(ends(&[("T", "t", 1)]), Verdict::Differs);
    assert_eq!(ends(&[]), Verdict::Reproduces);
}

#[test]
fn memory_that_ends_before_the_call_reproduces_nothing() {
    const ERROR: &str = "java.lang.OutOfMemoryError";
    let mut exception = recorded(STACK);
    exception.class = ERROR.to_owned();
    let expected = expected(&exception, None);
    let ends = |stack: &[(&str, &str, i32)]| judge(&expected, &of_a(), &threw(ERROR, stack)).0;
    let jdk = ("java.util.Objects", "check", 1);
    assert_eq!(ends(&[jdk, ("T", "t", 1)]), Verdict::Differs);
    assert_eq!(ends(&[("A", "m", 9), ("T", "t", 1)]), Verdict::Reproduces);
}

#[test]
fn what_is_thrown_while_state_is_loaded_reproduces_nothing() {
    let frame = |class| (class, "frame", 1);
    let crash = frame("dev.hindsight.replay.Crash");
    let stack = [STACK, &[crash, ("T", "t", 1)]].concat();
    check(
        STACK,
        threw("E", &stack),
        Verdict::Differs,
        "its state could not be restored: throws E",
    );
    // A lambda of the recording is called by the program.
    let lambda = frame("dev.hindsight.replay.Lambdas$Handler");
    let call = frame("dev.hindsight.replay.Call");
    let stack = [STACK, &[lambda, ("A", "n", 2), call, ("T", "t", 1)]].concat();
    check(
        STACK,
        threw("E", &stack),
        Verdict::Reproduces,
        "throws E in A.m:5",
    );
}
