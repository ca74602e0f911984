//! Finds the calls of static methods that have left what a later one of their class finds, such as
//! those of a builder that keeps in static fields what `create` makes an object from.

use super::Seen;
use hindsight_tracelog::trace::Datum;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The most static fields of one class that are followed; with more of them, nothing is known.
const MAX_FIELDS: usize = 32;

/// The static fields of the program's classes, with what was written to them.
#[derive(Default)]
pub(super) struct Statics {
    /// The fields by class.
    fields: FxHashMap<Rc<str>, Vec<Field>>,
}

struct Field {
    number: u32,
    /// The value that was written first, which is what a test finds.
    first: Option<Datum>,
    /// The value that was written last, and when.
    last: Option<Datum>,
    written: u64,
    /// The call of a static method of its class that has written that, once it has ended; without
    /// the calls before it, each of which would have others before it, back to the beginning of the
    /// run.
    by: Option<Rc<Seen>>,
}

impl Field {
    /// Whether it is as a test finds it.
    fn is_fresh(&self) -> bool {
        let is_zero = match self.last {
            Some(Datum::Reference(None) | Datum::Int(0) | Datum::Long(0)) => true,
            Some(Datum::Float(value)) => value.to_bits() == 0,
            Some(Datum::Double(value)) => value.to_bits() == 0,
            _ => false,
        };
        is_zero || self.last.is_some() && self.last == self.first
    }
}

impl Statics {
    /// Notes a write to a field of a class; `is_first` says whether an initialiser of the class has
    /// done it.
    pub(super) fn wrote(
        &mut self,
        class: &str,
        number: u32,
        value: Option<Datum>,
        now: u64,
        is_first: bool,
    ) {
        if !self.fields.contains_key(class) {
            self.fields.insert(class.into(), Vec::new());
        }
        let Some(fields) = self.fields.get_mut(class) else {
            return;
        };
        match fields.iter().position(|field| field.number == number) {
            Some(at) => {
                let field = &mut fields[at];
                field.last = value;
                field.written = now;
                field.by = None;
                if is_first {
                    field.first = value;
                }
            }
            // One more than are followed shows that there are too many.
            None if fields.len() <= MAX_FIELDS => fields.push(Field {
                number,
                first: value.filter(|_| is_first),
                last: value,
                written: now,
                by: None,
            }),
            None => {}
        }
    }

    /// Notes a call of a static method that has ended.
    pub(super) fn ended(&mut self, seen: &Rc<Seen>) {
        let fields = self.fields.get_mut(seen.method.class.as_str());
        let mut alone: Option<Rc<Seen>> = None;
        for field in fields.into_iter().flatten() {
            if field.written > seen.entered {
                let call = alone.get_or_insert_with(|| {
                    Rc::new(Seen {
                        before: Vec::new(),
                        ..Seen::clone(seen)
                    })
                });
                field.by = Some(call.clone());
            }
        }
    }

    /// The calls that have left what a call of a static method of a class finds, in order; without
    /// those of that method itself, which have changed what they found.
    pub(super) fn before(&self, class: &str, method: (&str, &str), thread: u64) -> Vec<Rc<Seen>> {
        let Some(fields) = self.fields.get(class).filter(|all| all.len() <= MAX_FIELDS) else {
            return Vec::new();
        };
        let left = fields.iter().filter(|field| !field.is_fresh());
        let mut calls: Vec<Rc<Seen>> = left
            .filter_map(|field| field.by.clone())
            .filter(|call| call.thread == thread)
            .filter(|call| (call.method.name.as_str(), call.method.descriptor.as_str()) != method)
            .collect();
        calls.sort_by_key(|call| call.entered);
        calls.dedup_by_key(|call| call.entered);
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;

    fn call(name: &str, entered: u64) -> Rc<Seen> {
        let mut seen = Seen::of_end(End::Returned(None));
        seen.method.name = name.to_owned();
        seen.entered = entered;
        Rc::new(seen)
    }

    #[test]
    fn what_was_left_is_known_until_it_is_taken_back() {
        let mut statics = Statics::default();
        let names = |statics: &Statics| -> Vec<String> {
            let calls = statics.before("A", ("create", "()Ljava/lang/Object;"), 1);
            calls.iter().map(|call| call.method.name.clone()).collect()
        };
        // This is the initialiser.
        statics.wrote("A", 3, Some(Datum::Int(-1)), 1, true);
        statics.wrote("A", 1, Some(Datum::Int(7)), 5, false);
        statics.ended(&call("hasArgs", 4));
        statics.wrote("A", 2, Some(Datum::Int(1)), 8, false);
        statics.wrote("A", 3, Some(Datum::Int(2)), 9, false);
        statics.ended(&call("isRequired", 7));
        assert_eq!(names(&statics), ["hasArgs", "isRequired"]);
        for (number, value) in [(1, 0), (2, 0), (3, -1)] {
            statics.wrote("A", number, Some(Datum::Int(value)), 12, false);
        }
        statics.ended(&call("create", 11));
        assert!(names(&statics).is_empty());
        // It does not find what it does itself.
        statics.wrote("A", 1, Some(Datum::Int(9)), 15, false);
        statics.ended(&call("create", 14));
        assert!(names(&statics).is_empty());
    }

    /// The call that another one finds has found none, however many there were.
    #[test]
    fn methods_that_take_turns_make_no_chain() {
        let mut statics = Statics::default();
        let turns = ["nextInt", "nextDouble"].into_iter().cycle();
        for (turn, name) in (0..1_000_000).zip(turns) {
            let mut seen = Seen::clone(&call(name, 2 * turn));
            seen.before = statics.before("A", (name, &seen.method.descriptor), 1);
            assert_eq!(seen.before.len(), usize::from(turn > 0));
            assert!(seen.before.iter().all(|call| call.before.is_empty()));
            statics.wrote("A", 1, Some(Datum::Int(7)), 2 * turn + 1, false);
            statics.ended(&Rc::new(seen));
        }
    }
}
