//! Replacements for objects of the JDK that nothing in a test has made.

use super::slice::{Carved, Recorded};
use super::{End, Seen, Value};
use crate::generate::sequence::{Arg, Method, MethodId, Methods, Statement, fresh};
use crate::generate::ways::Ways;
use crate::java::descriptor;
use crate::model::values::Literal;
use std::collections::HashMap;
use std::rc::Rc;

/// Classes of the JDK that are replaced by empty objects, although their constructors take
/// something.
const GUESSED: [&str; 8] = [
    "java.io.DataOutputStream",
    "java.io.PrintStream",
    "java.io.PrintWriter",
    "java.lang.StringBuffer",
    "java.lang.StringBuilder",
    "java.util.concurrent.atomic.AtomicBoolean",
    "java.util.concurrent.atomic.AtomicInteger",
    "java.util.concurrent.atomic.AtomicLong",
];

/// Those of these classes that are written to: earlier content does not matter to the writer, and
/// the final content shows what was written.
const WRITTEN_TO: [&str; 7] = [
    "java.io.ByteArrayOutputStream",
    "java.io.DataOutputStream",
    "java.io.PrintStream",
    "java.io.PrintWriter",
    "java.io.StringWriter",
    "java.lang.StringBuffer",
    "java.lang.StringBuilder",
];

impl Seen {
    /// Whether it hardly reads the object that it is passed with this type: the types of writers
    /// and streams permit nothing else, and of a builder whose text can be read, nothing is kept or
    /// returned except the builder itself. Whether it asked that for its length on the way, the run
    /// does not show.
    fn only_writes(&self, object: u64, ty: &str) -> bool {
        let can_be_read = ["StringBuffer", "StringBuilder", "CharSequence", "Object"];
        let can_be_read = can_be_read
            .iter()
            .any(|one| ty == format!("java.lang.{one}"));
        let keeps = match &self.end {
            End::Returned(Some(value)) => *value != Value::Object(object),
            _ => self.made.is_some(),
        };
        !can_be_read || !keeps
    }
}

impl Recorded {
    /// Makes objects of the JDK anew that a call needs and nothing has made; their content is not
    /// known.
    pub(super) fn stand_ins(
        &self,
        seen: &Seen,
        is_gap: bool,
        ways: &Ways,
        vars: &mut HashMap<u64, usize>,
        carved: &mut Carved,
        methods: &mut Methods,
    ) {
        let (types, _) = seen.method.types();
        for (arg, ty) in seen.args.iter().zip(&types) {
            let Value::Object(serial) = arg else { continue };
            let Some(class) = self.of_jdk.get(serial) else {
                continue;
            };
            if vars.contains_key(serial) {
                continue;
            }
            let declared = descriptor::class_name(ty).unwrap_or_default();
            let gap = carved.sequence.len();
            let Some(made) = carved.stand_in(&[class, &declared], seen, ways, methods) else {
                continue;
            };
            vars.insert(*serial, made);
            let class = &methods.get(carved.sequence[made].method).class;
            let is_written_to =
                WRITTEN_TO.contains(&class.as_str()) && seen.only_writes(*serial, &declared);
            carved.passes_another((is_gap && !is_written_to).then_some(gap));
        }
    }
}

impl Carved {
    /// Makes an object of the first of these JDK classes for which there is only one way to do so.
    /// Returns its place.
    fn stand_in(
        &mut self,
        classes: &[&str],
        seen: &Seen,
        ways: &Ways,
        methods: &Methods,
    ) -> Option<usize> {
        let mut known = classes.iter().flat_map(|class| ways.of(class));
        let (way, types) = known.find_map(|way| {
            let method = methods.get(way.make);
            let (types, _) = method.types();
            let fits = types.is_empty() || GUESSED.contains(&method.class.as_str());
            fits.then_some((way.make, types))
        })?;
        let mut args = Vec::new();
        for ty in &types {
            args.push(match descriptor::class_name(ty).as_deref() {
                None => Arg::Literal(fresh(ty)),
                Some("java.lang.String") => Arg::Literal(Literal::Text(String::new())),
                Some(class) => Arg::Var(self.stand_in(&[class], seen, ways, methods)?),
            });
        }
        let place = self.sequence.len();
        self.push_aside(way, args, seen, methods);
        Some(place)
    }

    /// The place where the constant of an enum is read, on which a call is made.
    pub(super) fn constant(
        &mut self,
        constant: &Method,
        seen: &Seen,
        methods: &mut Methods,
    ) -> usize {
        let id = methods.intern(constant.clone());
        let read = self.sequence.iter().position(|call| call.method == id);
        read.unwrap_or_else(|| {
            self.push_aside(id, Vec::new(), seen, methods);
            self.sequence.len() - 1
        })
    }

    /// Adds a call before another one, which the run has not made.
    fn push_aside(&mut self, method: MethodId, args: Vec<Arg>, seen: &Seen, methods: &Methods) {
        self.sequence.push(Statement {
            method,
            on: None,
            args,
            may_throw: false,
            shown: false,
        });
        self.seen.push(Rc::new(Seen {
            method: methods.get(method).clone(),
            on: None,
            constant: None,
            args: Vec::new(),
            before: Vec::new(),
            made: None,
            end: End::Returned(None),
            thread: seen.thread,
            depth: seen.depth,
            entered: seen.entered,
            left: seen.entered,
        }));
        self.own.push(false);
        self.nested.push(0);
    }
}

/// The argument for a value; unknown elements of arrays have their defaults if it is to be a
/// `guess`.
pub(super) fn argument(value: &Value, vars: &HashMap<u64, usize>, guess: bool) -> Option<Arg> {
    Some(match value {
        Value::Literal(literal) => Arg::Literal(literal.clone()),
        Value::Object(serial) => Arg::Var(*vars.get(serial)?),
        Value::Array(serial, element, elements) => match vars.get(serial) {
            Some(var) => Arg::Var(*var),
            None => {
                let element_of = |one: &Value| match one {
                    Value::Unknown if guess => Some(Arg::Literal(fresh(element))),
                    one => argument(one, vars, guess),
                };
                let elements: Option<Vec<Arg>> = elements.iter().map(element_of).collect();
                Arg::Array(element.clone(), elements?)
            }
        },
        Value::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call whose arguments are the builder 7, another one, and a number.
    fn call(end: End, made: Option<u64>) -> Seen {
        Seen {
            args: vec![
                Value::Object(7),
                Value::Object(8),
                Value::Literal(Literal::Int(0)),
            ],
            made,
            ..Seen::of_end(end)
        }
    }

    #[test]
    fn what_returns_more_than_the_builder_may_have_read_it() {
        let only_writes = |end, ty: &str| call(end, None).only_writes(7, ty);
        let returned = |value| End::Returned(Some(value));
        let builder = "java.lang.StringBuilder";
        assert!(only_writes(End::Returned(None), builder));
        assert!(only_writes(returned(Value::Object(7)), builder));
        assert!(!only_writes(returned(Value::Object(8)), builder));
        // A search that begins at 0 and finds something there would return the same.
        let number = || returned(Value::Literal(Literal::Int(0)));
        assert!(!only_writes(number(), builder));
        assert!(!only_writes(number(), "java.lang.CharSequence"));
        // What cannot be read.
        assert!(only_writes(number(), "java.lang.Appendable"));
        let keeps = call(End::Returned(None), Some(9));
        assert!(!keeps.only_writes(7, builder));
    }
}
