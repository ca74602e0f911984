//! Asserts what calls have done to their arguments: to lists that they fill, writers, builders,
//! arrays.

#[cfg(test)]
mod tests;

use super::asserted::{Assertion, Checked, is_whole, names_caller};
use super::complete::Wanted;
use super::lab::{Lab, Side, State};
use super::sequence::{Arg, Method, MethodId, Methods, Sequence, Statement};
use super::worker::{Executed, Outcome, primitive};
use crate::classpath::is_jdk;
use crate::java::descriptor;
use crate::model::mutable::Mutability;
use crate::model::values::Literal;

/// The most objects and arrays whose changes are asserted in one test.
const MAX_EFFECTS: usize = 6;
/// The most that are examined.
const MAX_TRIED: usize = 8;
/// The length of the longest text of a collection that a person reads.
const MAX_TEXT: usize = 200;
/// The length of the longest text that the program has written.
const MAX_WRITTEN: usize = 2000;

/// The texts that may be asserted.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// The most bytes.
    length: usize,
    /// Whether they may have any characters, or only ASCII.
    is_any: bool,
}

const IN_ELEMENTS: Limit = Limit {
    length: MAX_TEXT,
    is_any: false,
};

/// Classes of the JDK whose objects print their content.
const TELLING: [&str; 26] = [
    "java.io.ByteArrayOutputStream",
    "java.io.StringWriter",
    "java.lang.StringBuffer",
    "java.lang.StringBuilder",
    "java.util.ArrayDeque",
    "java.util.ArrayList",
    "java.util.BitSet",
    "java.util.HashMap",
    "java.util.HashSet",
    "java.util.Hashtable",
    "java.util.LinkedHashMap",
    "java.util.LinkedHashSet",
    "java.util.LinkedList",
    "java.util.PriorityQueue",
    "java.util.Properties",
    "java.util.Stack",
    "java.util.TreeMap",
    "java.util.TreeSet",
    "java.util.Vector",
    "java.util.concurrent.ConcurrentHashMap",
    "java.util.concurrent.CopyOnWriteArrayList",
    "java.util.concurrent.LinkedBlockingQueue",
    "java.util.concurrent.atomic.AtomicBoolean",
    "java.util.concurrent.atomic.AtomicInteger",
    "java.util.concurrent.atomic.AtomicLong",
    "java.util.concurrent.atomic.AtomicReference",
];

/// Classes whose objects pass on at once what they get.
const PASSING: [&str; 3] = [
    "java.io.DataOutputStream",
    "java.io.PrintStream",
    "java.io.PrintWriter",
];

/// The objects whose changes are asserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// All that print their content.
    All,
    /// Only those to which texts are written, and arrays that are written as literals.
    Written,
}

/// An argument that a call may have changed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Passed {
    /// An object: the call that has made it, and the first call that may have changed it, or else
    /// kept it.
    Object(usize, usize),
    /// An array that is written as a literal: the call, and the index of the argument.
    Array(usize, usize),
}

/// Adds at the end what calls have changed in their arguments, as far as two JVMs agree. The first
/// `length` calls are not observers.
pub async fn assert_effects(
    checked: &mut Checked,
    length: usize,
    of: Effects,
    wanted: &Wanted<'_>,
    lab: &Lab<'_>,
) {
    let calls = &checked.sequence[..length];
    let stays = staying(checked, length);
    let passed = passed(calls, |at| stays[at], wanted.mutability, &lab.methods());
    let mut found = 0;
    // The places where arrays have got a name of their own, which moves what follows.
    let mut inserted: Vec<usize> = Vec::new();
    for one in passed.into_iter().take(MAX_TRIED) {
        let now = |at: usize| at + inserted.iter().filter(|before| **before <= at).count();
        if found == MAX_EFFECTS {
            break;
        }
        let written = match one {
            Passed::Object(var, _) => written(checked, now(var), &lab.methods()),
            Passed::Array(..) => None,
        };
        let Some(limit) = limit(one, of, written) else {
            continue;
        };
        let asked = match one {
            Passed::Object(var, at) => object(checked, now(var), now(at), &mut lab.methods_mut()),
            Passed::Array(at, place) => array(checked, now(at), place, &mut lab.methods_mut()),
        };
        let Some(Asked { changed, before }) = asked else {
            continue;
        };
        let after = lab.order(Side::Here, State::Left, &changed.sequence);
        let same = lab.order(Side::There, State::Left, &changed.sequence);
        let before = match before {
            Before::Known(before) => Some(before),
            Before::Asked(sequence) => {
                let executed = lab.order(Side::Here, State::Left, &sequence).await;
                let executed = Some(executed).filter(|one| is_whole(one, sequence.len()));
                executed.and_then(|executed| told(executed.outcomes.last()?, limit))
            }
        };
        let (after, same) = (after.await, same.await);
        let length = changed.sequence.len();
        if !is_whole(&after, length) || !is_whole(&same, length) {
            continue;
        }
        let again = lab.again_if_hashed(&same, &changed.sequence).await;
        // Each JVM has its own numbers for classes, which outcomes contain.
        let said = |one: &Executed| told(one.outcomes.last()?, limit);
        let mut others = again.iter().chain([&same]);
        let assertion = said(&after).filter(|after| {
            others.all(|one| is_whole(one, length) && said(one).as_ref() == Some(after))
        });
        let Some(assertion) = assertion else {
            continue;
        };
        if before.as_ref() == Some(&assertion) {
            continue;
        }
        if let Passed::Array(at, _) = one {
            inserted.push(at);
        }
        *checked = changed;
        checked.assertions.push(Some(assertion));
        checked.kept.push(true);
        checked.observers += 1;
        found += 1;
    }
}

/// A test with a question at the end, without its assertion, and the earlier answer.
struct Asked {
    changed: Checked,
    before: Before,
}

enum Before {
    Known(Assertion),
    /// The last call of this sequence gives the answer.
    Asked(Sequence),
}

/// Those of the first `length` calls that stay: by themselves, or because such calls use them.
fn staying(checked: &Checked, length: usize) -> Vec<bool> {
    let asserted = checked.assertions.iter().map(Option::is_some);
    let kept = checked.kept.iter().zip(asserted);
    let mut stays: Vec<bool> = (kept.take(length))
        .map(|(kept, is_asserted)| *kept || is_asserted)
        .collect();
    for at in (0..length).rev() {
        if stays[at] {
            checked.sequence[at].vars(|var| stays[var] = true);
        }
    }
    stays
}

/// Whether an object may keep the arguments of a call: the receiver, or the result, as with a
/// constructor, a factory or a lambda. A call that returns a number or a text is taken to be about
/// that.
fn may_keep(method: &Method) -> bool {
    const VALUES: [&str; 11] = [
        "Boolean",
        "Byte",
        "CharSequence",
        "Character",
        "Class",
        "Double",
        "Float",
        "Integer",
        "Long",
        "Short",
        "String",
    ];
    let (_, result) = method.types();
    let of_language = result
        .strip_prefix("Ljava/lang/")
        .and_then(|name| name.strip_suffix(';'));
    result == "V"
        || result.starts_with('L') && of_language.is_none_or(|name| !VALUES.contains(&name))
}

/// What calls of the program may have changed, in the order in which they are made; then what they
/// may have kept, for others to change. Only calls that stay count.
fn passed(
    sequence: &[Statement],
    stays: impl Fn(usize) -> bool,
    mutability: Option<&Mutability>,
    methods: &Methods,
) -> Vec<Passed> {
    let mut changed: Vec<Passed> = Vec::new();
    let mut kept: Vec<Passed> = Vec::new();
    let add = |passed: &mut Vec<Passed>, var: usize, at: usize| {
        let known = |one: &Passed| matches!(one, Passed::Object(of, _) if *of == var);
        if !passed.iter().any(known) {
            passed.push(Passed::Object(var, at));
        }
    };
    for at in (0..sequence.len()).filter(|at| stays(*at)) {
        let statement = &sequence[at];
        let method = methods.get(statement.method);
        if method.is_constant() || is_jdk(&method.class) {
            continue;
        }
        let may_keep = may_keep(method);
        for (place, arg) in statement.args.iter().enumerate() {
            let position = i16::try_from(place + 1).unwrap_or(i16::MAX);
            let changes = mutability.is_none_or(|mutability| !method.leaves(mutability, position));
            match arg {
                Arg::Var(var) if changes || may_keep => {
                    let Some(var) = teller(sequence, *var, methods) else {
                        continue;
                    };
                    if changes {
                        add(&mut changed, var, at);
                    } else if !is_written_later(sequence, var, at, mutability, methods) {
                        add(&mut kept, var, at);
                    }
                }
                Arg::Array(element, elements) if changes => {
                    let plain = |one: &Arg| matches!(one, Arg::Literal(_));
                    let primitive = descriptor::is_primitive(element);
                    if primitive && !elements.is_empty() && elements.iter().all(plain) {
                        changed.push(Passed::Array(at, place));
                    }
                }
                _ => {}
            }
        }
    }
    // Most of what is only kept stays as it was, and must not displace what is changed.
    for one in kept {
        if let Passed::Object(var, at) = one {
            add(&mut changed, var, at);
        }
    }
    changed
}

/// Whether a test may itself write to an object after a call: then its final content need not come
/// from the program.
fn is_written_later(
    sequence: &[Statement],
    var: usize,
    at: usize,
    mutability: Option<&Mutability>,
    methods: &Methods,
) -> bool {
    sequence[at + 1..].iter().any(|later| {
        let method = methods.get(later.method);
        let mut is_used = false;
        later.vars(|used| is_used |= teller(sequence, used, methods) == Some(var));
        // The run has only asked it for its text, for example to print it.
        let leaves = || mutability.is_some_and(|mutability| method.leaves(mutability, 0));
        let is_question = later.args.is_empty() && (method.name == "toString" || leaves());
        is_used && is_jdk(&method.class) && !method.is_constructor() && !is_question
    })
}

/// The object that prints its content: the one that a call has made, or the one to which it passes
/// on.
fn teller(sequence: &[Statement], mut var: usize, methods: &Methods) -> Option<usize> {
    loop {
        let statement = sequence.get(var)?;
        let method = methods.get(statement.method);
        if !method.is_constructor() {
            return None;
        }
        if TELLING.contains(&method.class.as_str()) {
            return Some(var);
        }
        match statement.args.first() {
            Some(Arg::Var(next)) if PASSING.contains(&method.class.as_str()) => var = *next,
            _ => return None,
        }
    }
}

/// Asks an object for its content.
fn object(checked: &Checked, var: usize, at: usize, methods: &mut Methods) -> Option<Asked> {
    let ask = Statement {
        method: methods.intern(Method {
            class: "java.lang.Object".to_owned(),
            name: "toString".to_owned(),
            descriptor: "()Ljava/lang/String;".to_owned(),
            is_static: false,
            runs: None,
        }),
        on: Some(var),
        args: Vec::new(),
        may_throw: false,
        shown: false,
    };
    if checked.sequence.contains(&ask) {
        return None;
    }
    let mut before = checked.sequence[..at].to_vec();
    before.push(ask.clone());
    let mut changed = checked.clone();
    changed.sequence.push(ask);
    Some(Asked {
        changed,
        before: Before::Asked(before),
    })
}

/// Gives an array argument a name, and asks for its elements.
fn array(checked: &Checked, at: usize, place: usize, methods: &mut Methods) -> Option<Asked> {
    let Some(Arg::Array(element, elements)) = checked.sequence[at].args.get(place) else {
        return None;
    };
    let (element, elements) = (element.clone(), elements.clone());
    let copy = array_copy(&element, methods);
    let moved = |var: usize| if var >= at { var + 1 } else { var };
    let call = |array: Arg| Statement {
        method: copy,
        on: None,
        args: vec![array, Arg::Literal(Literal::Int(elements.len() as i64))],
        may_throw: false,
        shown: false,
    };
    let mut changed = checked.clone();
    changed.sequence = (checked.sequence.iter())
        .map(|statement| statement.renumbered(moved))
        .collect();
    let is_boolean = element == "Z";
    let made = call(Arg::Array(element, elements.clone()));
    changed.sequence.insert(at, made);
    changed.sequence[at + 1].args[place] = Arg::Var(at);
    changed.sequence.push(call(Arg::Var(at)));
    changed.assertions.insert(at, None);
    for assertion in changed.assertions.iter_mut().flatten() {
        if let Assertion::Same(var) = assertion {
            *var = moved(*var);
        }
    }
    changed.kept.insert(at, false);
    if at < changed.fluent.len() {
        changed.fluent.insert(at, false);
    }
    let literals = elements.into_iter().map(|one| match one {
        // A write to an array does not show whether an `int` is a `boolean`.
        Arg::Literal(Literal::Int(value)) if is_boolean => Some(Literal::Bool(value != 0)),
        Arg::Literal(literal) => Some(primitive(literal)),
        _ => None,
    });
    Some(Asked {
        changed,
        before: Before::Known(Assertion::Array(literals.collect::<Option<_>>()?)),
    })
}

/// The method that copies an array of primitives: sources write the array itself.
fn array_copy(element: &str, methods: &mut Methods) -> MethodId {
    methods.intern(Method {
        class: "java.util.Arrays".to_owned(),
        name: "copyOf".to_owned(),
        descriptor: format!("([{element}I)[{element}"),
        is_static: true,
        runs: None,
    })
}

/// The texts that may be asserted of an object, if they are written to it and are not those of
/// elements.
fn written(checked: &Checked, var: usize, methods: &Methods) -> Option<Limit> {
    let class = &methods.get(checked.sequence[var].method).class;
    let is_written = class.starts_with("java.io.") || class.starts_with("java.lang.");
    is_written.then(|| Limit {
        length: MAX_WRITTEN,
        // The meaning of bytes depends on a charset.
        is_any: class != "java.io.ByteArrayOutputStream",
    })
}

/// The texts that may be asserted of an argument, if it is examined; `written` if texts are written
/// to it.
fn limit(one: Passed, of: Effects, written: Option<Limit>) -> Option<Limit> {
    match (one, of) {
        _ if written.is_some() => written,
        // No other call has it, so its content comes from the call.
        (Passed::Array(..), _) | (_, Effects::All) => Some(IN_ELEMENTS),
        (Passed::Object(..), Effects::Written) => None,
    }
}

/// The assertion about an answer, if that is a text within limits.
fn told(outcome: &Outcome, limit: Limit) -> Option<Assertion> {
    match outcome {
        Outcome::Literal(Literal::Text(text)) => {
            let fine = text.len() <= limit.length
                && !has_identity(text)
                && (limit.is_any || text.is_ascii());
            fine.then(|| Assertion::Equals(Literal::Text(text.clone())))
        }
        Outcome::Array(_, elements) => Some(Assertion::Array(elements.clone())),
        _ => None,
    }
}

/// Whether a text may show the identity of an object, or a class that was made at run time.
fn has_identity(text: &str) -> bool {
    let hex = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit);
        digits.count() >= 4
    };
    text.contains("$$Lambda")
        || text.contains("$Proxy")
        || names_caller(text)
        || text.split('@').skip(1).any(hex)
}
