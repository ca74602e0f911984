use super::super::sequence::{Arg, Method, MethodId};
use super::*;
use std::task::{Context, Poll, Waker};

#[test]
fn messages_of_the_program_are_asserted() {
    use Thrower::{Platform, Program};
    let index = "java.lang.IndexOutOfBoundsException";
    assert!(says(index, "no row 3", Program));
    assert!(!says(index, "Index 3 out of bounds for length 2", Platform));
    let number = "java.lang.NumberFormatException";
    assert!(says(number, "what is x1?", Program));
    assert!(!says(number, "For input string: \"x1\"", Platform));
    // The JVM throws it on behalf of the program.
    let array = "java.lang.ArrayIndexOutOfBoundsException";
    assert!(!says(array, "Index 3 out of bounds for length 2", Program));
    let null = "java.lang.NullPointerException";
    assert!(!says(null, "Cannot read the array length", Program));
    assert!(says(null, "a name", Program));
    // The messages of the JDK's own code do not count either, whatever it throws.
    assert!(!says(null, "Deflater has been closed", Platform));
    let argument = "java.lang.IllegalArgumentException";
    assert!(!says(argument, "bound must be positive", Platform));
    assert!(says(argument, "no row 3", Program));
    assert!(!says("java.lang.ArithmeticException", "/ by zero", Program));
    assert!(says("shop.Closed", "since May", Platform));
}

#[test]
fn what_another_release_throws_is_not_expected_by_its_class() {
    use Thrower::{Platform, Program};
    let closed = Some("Deflater has been closed");
    assert!(is_of_release(NULL_POINTER, closed, Platform));
    assert!(!is_of_release(NULL_POINTER, closed, Program));
    let jvm = Some("Cannot read the array length because \"value\" is null");
    assert!(!is_of_release(NULL_POINTER, jvm, Platform));
    assert!(!is_of_release(NULL_POINTER, None, Platform));
    let state = "java.lang.IllegalStateException";
    assert!(!is_of_release(state, closed, Platform));
}

#[test]
fn what_names_the_caller_is_seen() {
    for text in [
        "jdk.internal.reflect.NativeMethodAccessorImpl.invoke0:-2",
        "at DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:104)",
        "java.base/java.lang.reflect.Method.invoke(Method.java:580)",
        "[shop.Log.find, sun.reflect.NativeMethodAccessorImpl.invoke]",
        "dev.hindsight.worker.Worker.call",
    ] {
        assert!(names_caller(text), "{text}");
    }
    for text in [
        "class java.lang.reflect.Method",
        "java.lang.invoke.MethodType",
        "shop.Main.main:12",
    ] {
        assert!(!names_caller(text), "{text}");
    }
    let class = Literal::Class("sun.reflect.Frame".to_owned());
    assert!(tells_caller(&Outcome::Literal(class)));
}

/// Calls whose arguments are the results of these earlier calls.
fn calls(uses: &[Option<usize>]) -> Checked {
    let call = |(at, uses): (usize, &Option<usize>)| Statement {
        method: MethodId(at as u32),
        on: None,
        args: uses.iter().map(|var| Arg::Var(*var)).collect(),
        may_throw: false,
        shown: false,
    };
    Checked {
        sequence: uses.iter().enumerate().map(call).collect(),
        assertions: vec![None; uses.len()],
        kept: vec![false; uses.len()],
        fluent: vec![false; uses.len()],
        observers: 0,
        class: "A".to_owned(),
        whole: None,
    }
}

/// The remaining calls, by number, if these are needed, and the number of attempts.
fn reduced(checked: Checked, needed: &[u32]) -> (Vec<u32>, usize) {
    reduced_to(checked, |left| needed.iter().all(|one| left.contains(one)))
}

/// The same if the rest must be `enough`.
fn reduced_to(checked: Checked, enough: impl Fn(&[u32]) -> bool) -> (Vec<u32>, usize) {
    reduced_with(checked, false, enough)
}

/// The same, perhaps without those of the object's own calls that are idle.
fn reduced_with(
    mut checked: Checked,
    idle: bool,
    enough: impl Fn(&[u32]) -> bool,
) -> (Vec<u32>, usize) {
    let numbers = |checked: &Checked| -> Vec<u32> {
        let each = checked.sequence.iter();
        each.map(|call| call.method.0).collect()
    };
    let mut asked = 0;
    let holds = async |shorter: &Checked| {
        asked += 1;
        enough(&numbers(shorter))
    };
    {
        let job = std::pin::pin!(reduce(&mut checked, idle, holds));
        let done = job.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(done, Poll::Ready(()), "nothing is waited for");
    }
    (numbers(&checked), asked)
}

/// A test of an order, which was removed with the calls that nothing needs, becomes one of the
/// remaining door.
#[test]
fn a_test_is_about_what_is_left() {
    let mut methods = Methods::default();
    for (class, name, descriptor) in [
        ("Door", "<init>", "()V"),
        ("Door", "open", "()LState;"),
        ("Order", "of", "(LState;)LOrder;"),
    ] {
        methods.intern(Method {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            is_static: name == "of",
            runs: None,
        });
    }
    // The class that these calls test, if only those classes are tested.
    let about = |uses: &[Option<usize>], class: &str, tested: &[&str]| {
        let mut test = calls(uses);
        test.class = class.to_owned();
        let is = test.settle(&methods, |class| tested.contains(&class));
        is.then_some(test.class)
    };
    let all = ["Door", "Order", "State"];
    let is = |class: &str| Some(class.to_owned());
    assert_eq!(about(&[None, Some(0), Some(1)], "Order", &all), is("Order"));
    assert_eq!(about(&[None, Some(0), Some(1)], "Door", &all), is("Door"));
    assert_eq!(about(&[None, Some(0)], "Order", &all), is("Door"));
    assert_eq!(about(&[None, Some(0)], "Order", &["State"]), is("State"));
    assert_eq!(about(&[None, Some(0)], "Order", &["Order"]), None);
}

#[test]
fn calls_that_nothing_needs_go() {
    let loose = vec![None; 32];
    assert_eq!(reduced(calls(&loose), &[]), (vec![], 1));
    let (left, asked) = reduced(calls(&loose), &[3, 9, 30]);
    assert_eq!(left, [3, 9, 30]);
    assert!(asked < 32, "{asked}");
    let all: Vec<u32> = (0..32).collect();
    assert_eq!(reduced(calls(&loose), &all).0, all);
    // What a needed call uses stays; what a removed call uses may be removed.
    let chain = [None, Some(0), None, Some(2), Some(1)];
    assert_eq!(reduced(calls(&chain), &[1]).0, [0, 1]);
    assert_eq!(reduced(calls(&chain), &[3]).0, [2, 3]);
    // Kept and asserted calls are not even tried.
    let mut kept = calls(&loose);
    kept.kept[5] = true;
    kept.assertions[6] = Some(Assertion::NotNull);
    assert_eq!(reduced(kept, &[]), (vec![5, 6], 1));
}

/// A call of the object's own that changes nothing that is asserted goes, but not one that throws.
#[test]
fn what_has_no_effect_that_shows_goes() {
    let mut kept = calls(&[None; 4]);
    kept.kept = vec![true; 4];
    kept.assertions[1] = Some(Assertion::Throws("E".to_owned(), None));
    kept.assertions[3] = Some(Assertion::NotNull);
    assert_eq!(reduced_with(kept.clone(), true, |_| true).0, [1, 3]);
    let needs_first = |left: &[u32]| left.contains(&0);
    assert_eq!(reduced_with(kept.clone(), true, needs_first).0, [0, 1, 3]);
    assert_eq!(reduced_with(kept, false, |_| true).0, [0, 1, 2, 3]);
}

/// `put(a)`, `put(b)`, `remove(a)`: once nothing is put that it removes, `remove` has no
/// effect.
#[test]
fn what_undoes_a_call_goes_with_it() {
    let enough = |left: &[u32]| left.contains(&2) && (left.contains(&3) || !left.contains(&1));
    assert_eq!(reduced_to(calls(&[None; 4]), enough).0, [2]);
}
