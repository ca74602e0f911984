//! Finds results that come from the JDK and not from the program.

use crate::classpath::is_jdk;
use crate::generate::asserted::{Assertion, Checked};
use crate::generate::lambda::Given;
use crate::generate::sequence::{Arg, Method, Methods};
use crate::model::values::Literal;

/// Classes whose objects hold what they are passed as it is, and ask nothing of it.
const HOLDERS: [&str; 7] = [
    "java.util.ArrayDeque",
    "java.util.ArrayList",
    "java.util.Arrays",
    "java.util.LinkedList",
    "java.util.List",
    "java.util.Optional",
    "java.util.Vector",
];

/// The same for keys, as long as these are literals: an object of the program may be asked for its
/// hash code.
const MAPS: [&str; 3] = [
    "java.util.HashMap",
    "java.util.LinkedHashMap",
    "java.util.TreeMap",
];

/// Whether the assertion about a call on a JDK object says nothing about the program: that there is
/// another JDK object, or that a collection has accepted an element.
pub(super) fn tells_of_jdk(method: &Method, told: &Assertion, gives_jdk: bool) -> bool {
    match told {
        Assertion::NotNull => gives_jdk,
        // Whether a set already has an element, or a map a key, may depend on the program's
        // `equals`.
        Assertion::Equals(Literal::Bool(true) | Literal::Null) => matches!(
            method.name.as_str(),
            "add" | "addAll" | "offer" | "offerFirst" | "offerLast" | "put" | "putIfAbsent"
        ),
        _ => false,
    }
}

/// Whether a call makes a JDK list for the test, or asks one for content that no other call has
/// got: the result is known without the program. `of_jdk` says which calls have returned JDK
/// objects.
pub(super) fn is_of_jdk_alone(
    checked: &Checked,
    at: usize,
    methods: &Methods,
    of_jdk: &dyn Fn(usize) -> bool,
) -> bool {
    let statement = &checked.sequence[at];
    match statement.on {
        None => is_held(checked, at, at + 1, methods, of_jdk),
        Some(on) => {
            // An argument may be asked whether it equals another one.
            let mut args = statement.args.iter();
            is_jdk(&methods.get(statement.method).class)
                && of_jdk(on)
                && args.all(|arg| matches!(arg, Arg::Literal(_)))
                && is_held(checked, on, at, methods, of_jdk)
        }
    }
}

/// Whether a call has returned a JDK list, or an object that is asked for its elements, that was
/// not passed to any call before another one, and that was not sorted.
fn is_held(
    checked: &Checked,
    var: usize,
    until: usize,
    methods: &Methods,
    of_jdk: &dyn Fn(usize) -> bool,
) -> bool {
    let call = &checked.sequence[var];
    let method = methods.get(call.method);
    let (types, _) = method.types();
    let class = method.class.as_str();
    let is_map = call.on.is_none() && MAPS.contains(&class);
    let is_plain = |(arg, ty): (&Arg, &String)| {
        // A comparator of the program decides which keys are equal.
        let asks = matches!(arg, Arg::Lambda(lambda)
            if matches!(&lambda.gives, Given::Calls(by) if !is_jdk(&by.class)));
        let mut is_plain = !(is_map && asks);
        arg.vars(&mut |passed| {
            is_plain &= match of_jdk(passed) {
                true => is_held(checked, passed, var, methods, of_jdk),
                // A collection of the program decides about its content.
                false => matches!(ty.as_str(), "Ljava/lang/Object;" | "[Ljava/lang/Object;"),
            };
        });
        is_plain
    };
    let is_holder = match call.on {
        None => (is_map || HOLDERS.contains(&class)) && call.args.iter().zip(&types).all(is_plain),
        Some(on) => {
            is_jdk(&method.class) && of_jdk(on) && is_held(checked, on, var, methods, of_jdk)
        }
    };
    // It may also be changed through its results, such as an iterator.
    let mut views = vec![var];
    is_holder
        && (var + 1..until).all(|at| {
            let later = &checked.sequence[at];
            let mut is_passed = false;
            let args = later.args.iter();
            args.for_each(|arg| arg.vars(&mut |passed| is_passed |= views.contains(&passed)));
            let is_of_view = later.on.is_some_and(|on| views.contains(&on));
            let is_sorted = is_of_view && methods.get(later.method).name == "sort";
            let by = later.args.first();
            let is_asked =
                is_map && is_of_view && !by.is_none_or(|by| matches!(by, Arg::Literal(_)));
            if is_of_view && of_jdk(at) {
                views.push(at);
            }
            !is_passed && !is_sorted && !is_asked
        })
}

/// Whether a call is on a JDK object that was made for the test, and that no other call has got
/// yet.
pub(super) fn fills(checked: &Checked, at: usize, methods: &Methods) -> bool {
    let Some(on) = checked.sequence[at].on else {
        return false;
    };
    let maker = methods.get(checked.sequence[on].method);
    let mut before = checked.sequence[on + 1..at].iter();
    maker.is_constructor()
        && is_jdk(&maker.class)
        && before.all(|call| {
            let mut is_passed = false;
            let args = call.args.iter();
            args.for_each(|arg| arg.vars(&mut |var| is_passed |= var == on));
            !is_passed
        })
}

/// Whether an object is the test's own: made by a JDK call for it, or passed to a call of the
/// program.
pub(super) fn is_of_test(checked: &Checked, var: usize, methods: &Methods) -> bool {
    let call = &checked.sequence[var];
    let mut is_passed = call.on.is_none() && is_jdk(&methods.get(call.method).class);
    for later in &checked.sequence[var + 1..] {
        let args = later.args.iter();
        args.for_each(|arg| arg.vars(&mut |passed| is_passed |= passed == var));
    }
    is_passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::lambda::Lambda;
    use crate::generate::sequence::Statement;

    /// Stands for a comparator of the program in place of a variable.
    const COMPARES: usize = usize::MAX;

    fn passed(var: usize) -> Arg {
        if var != COMPARES {
            return Arg::Var(var);
        }
        Arg::Lambda(Box::new(Lambda {
            interface: "java.util.Comparator".to_owned(),
            method: "compare".to_owned(),
            descriptor: "(Ljava/lang/Object;Ljava/lang/Object;)I".to_owned(),
            gives: Given::Calls(Method {
                class: "Parcel".to_owned(),
                name: "compare".to_owned(),
                descriptor: "(Ljava/lang/String;Ljava/lang/String;)I".to_owned(),
                is_static: true,
                runs: None,
            }),
        }))
    }

    /// A class and a method, the object on which it is called, and its arguments.
    type Call<'c> = (&'c str, &'c str, Option<usize>, &'c [usize]);

    /// Those of these calls that only concern the JDK.
    fn alone(calls: &[Call<'_>]) -> Vec<usize> {
        let mut methods = Methods::default();
        let sequence = calls.iter().map(|(class, name, on, vars)| Statement {
            method: methods.intern(Method {
                class: (*class).to_owned(),
                name: (*name).to_owned(),
                descriptor: format!("({})V", "Ljava/lang/Object;".repeat(vars.len())),
                is_static: on.is_none() && *name != "<init>",
                runs: None,
            }),
            on: *on,
            args: vars.iter().map(|var| passed(*var)).collect(),
            may_throw: false,
            shown: false,
        });
        let checked = Checked {
            sequence: sequence.collect(),
            assertions: vec![None; calls.len()],
            kept: vec![true; calls.len()],
            fluent: Vec::new(),
            observers: 0,
            class: "Parcel".to_owned(),
            whole: None,
        };
        let of_jdk = |at: usize| match calls[at] {
            (class, "<init>", ..) => is_jdk(class),
            (_, name, ..) => name != "first",
        };
        let is = |at: &usize| is_of_jdk_alone(&checked, *at, &methods, &of_jdk);
        (0..calls.len()).filter(is).collect()
    }

    #[test]
    fn a_list_that_the_test_has_made_says_nothing_of_the_program() {
        let parcel = ("Parcel", "<init>", None, &[][..]);
        let list = ("java.util.List", "of", None, &[0][..]);
        let size = ("java.util.List", "size", Some(1), &[][..]);
        assert_eq!(alone(&[parcel, list, size]), [1, 2]);
        // An iterator, and what the program says about itself.
        let iterator = ("java.util.List", "iterator", Some(1), &[][..]);
        let next = ("java.util.Iterator", "hasNext", Some(2), &[][..]);
        let first = ("java.util.List", "first", Some(1), &[][..]);
        let text = ("java.lang.Object", "toString", Some(2), &[][..]);
        assert_eq!(alone(&[parcel, list, iterator, next]), [1, 2, 3]);
        assert_eq!(alone(&[parcel, list, first, text]), [1, 2]);
        // The program is asked whether it is equal, or which comes first; or has had it.
        let contains = ("java.util.List", "contains", Some(1), &[0][..]);
        let sort = ("java.util.Collections", "sort", None, &[1][..]);
        let fill = ("Parcel", "fill", Some(0), &[1][..]);
        assert_eq!(alone(&[parcel, list, contains]), [1]);
        assert_eq!(alone(&[parcel, list, sort, size]), [1]);
        assert_eq!(alone(&[parcel, list, fill, size]), [1]);
        let drain = ("Parcel", "drain", Some(0), &[2][..]);
        assert_eq!(alone(&[parcel, list, iterator, drain, size]), [1, 2]);
        // A map is known by its keys, as long as those are not the program's.
        let map = ("java.util.HashMap", "<init>", None, &[][..]);
        let size = ("java.util.Map", "size", Some(0), &[][..]);
        let put = ("java.util.Map", "put", Some(0), &[1, 1][..]);
        assert_eq!(alone(&[map, size]), [0, 1]);
        assert_eq!(alone(&[map, parcel, put, size]), [0]);
        // Or the program decides which keys there are.
        let tree = ("java.util.TreeMap", "<init>", None, &[COMPARES][..]);
        assert!(alone(&[tree, size]).is_empty());
        // An object that the program has returned, and a copy of it.
        let lines = ("Parcel", "lines", Some(0), &[][..]);
        let copy = ("java.util.List", "copyOf", None, &[1][..]);
        assert!(alone(&[parcel, lines, size, copy]).is_empty());
    }
}
