//! Tracks the arguments and results of calls that are left out: a later call that returns one of
//! them shows what they have done.

use super::{End, Seen, Value, objects};
use rustc_hash::FxHashSet;
use std::collections::HashMap;

/// Objects that only calls which were left out have been passed, or have returned.
#[derive(Default)]
pub(super) struct Omitted(FxHashSet<u64>);

impl Omitted {
    /// Leaves out a call; the objects in `known` exist without it.
    pub(super) fn take(&mut self, seen: &Seen, known: &HashMap<u64, usize>) {
        let mut add = |serial: u64| {
            if !known.contains_key(&serial) {
                self.0.insert(serial);
            }
        };
        seen.args.iter().for_each(|arg| objects(arg, &mut add));
        if let End::Returned(Some(value)) = &seen.end {
            objects(value, &mut add);
        }
        seen.made.into_iter().for_each(add);
    }

    /// Whether a call has returned one of them: without the calls that were left out it returns
    /// something else.
    pub(super) fn shows_in(&self, seen: &Seen, known: &HashMap<u64, usize>) -> bool {
        matches!(seen.end, End::Returned(Some(Value::Object(serial)))
            if self.0.contains(&serial) && !known.contains_key(&serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::sequence::Method;

    /// A call of the object 1.
    fn call(args: Vec<Value>, returned: Option<u64>) -> Seen {
        Seen {
            method: Method {
                class: "Conf".to_owned(),
                name: "context".to_owned(),
                descriptor: String::new(),
                is_static: false,
                runs: None,
            },
            on: Some(1),
            constant: None,
            args,
            before: Vec::new(),
            made: None,
            end: End::Returned(returned.map(Value::Object)),
            thread: 1,
            depth: 1,
            entered: 1,
            left: 2,
        }
    }

    /// A setter that is left out because of its argument is not followed by the getter, which
    /// returns that.
    #[test]
    fn what_was_passed_comes_back_only_with_the_call() {
        let mut omitted = Omitted::default();
        let known = HashMap::from([(1, 0), (4, 1)]);
        let array = Value::Array(9, "LContext;".to_owned(), vec![Value::Object(6)]);
        let set = call(vec![Value::Object(5), Value::Object(4), array], Some(1));
        let shows = |omitted: &Omitted, serial| omitted.shows_in(&call(vec![], serial), &known);
        assert!(!shows(&omitted, Some(5)));
        omitted.take(&set, &known);
        assert!(shows(&omitted, Some(5)) && shows(&omitted, Some(6)));
        // What exists without it, and what is unrelated to it.
        for other in [Some(1), Some(4), Some(7), None] {
            assert!(!shows(&omitted, other), "{other:?}");
        }
        // An object that it has returned.
        omitted.take(&call(vec![Value::Unknown], Some(7)), &known);
        assert!(shows(&omitted, Some(7)));
        // Another call has returned it meanwhile.
        let later = HashMap::from([(7, 2)]);
        assert!(!omitted.shows_in(&call(vec![], Some(7)), &later));
    }
}
