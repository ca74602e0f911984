//! Which methods record less than was asked for, because their probes would make them too large.

use crate::text::{count, name};
use hindsight_tracelog::trace::dictionary::Dictionary;

/// The most methods that a note names.
const NAMED: usize = 3;

/// A method that records less than was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Less<'d> {
    /// The method's class, with dots.
    pub class: &'d str,
    /// The method's name.
    pub method: &'d str,
    /// The method's descriptor.
    pub descriptor: &'d str,
    /// Why it records less.
    pub reason: &'d str,
    /// Whether it records its calls; if not, it records nothing.
    pub tells_calls: bool,
}

/// All such methods, in the order of the dictionary.
pub fn telling_less(dictionary: &Dictionary) -> impl Iterator<Item = Less<'_>> {
    dictionary.traced.iter().flat_map(|class| {
        class.less.iter().map(|(name, descriptor, reason)| Less {
            class: &class.name,
            method: name,
            descriptor,
            reason,
            tells_calls: (class.methods.iter())
                .any(|method| method.name == *name && method.descriptor == *descriptor),
        })
    })
}

/// Notes about these methods for a reader of the events.
pub fn notes(dictionary: &Dictionary) -> Vec<String> {
    let (calls, nothing): (Vec<_>, Vec<_>) =
        telling_less(dictionary).partition(|less| less.tells_calls);
    let note = |told: &str, of: &[Less<'_>]| {
        let named = of.iter().take(NAMED);
        let named = named.map(|less| {
            let (class, method) = (name(less.class), name(less.method));
            format!("{class}.{method}: {}", name(less.reason))
        });
        let mut named: Vec<String> = named.collect();
        if of.len() > NAMED {
            named.push(format!("{} more", of.len() - NAMED));
        }
        format!(
            "of {} {told} told ({})",
            count(of.len(), "method"),
            named.join("; ")
        )
    };
    let mut notes = Vec::new();
    if !calls.is_empty() {
        notes.push(note("the calls alone are", &calls));
    }
    if !nothing.is_empty() {
        notes.push(note("nothing is", &nothing));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::trace::dictionary::{Method, Record, TracedClass, file_header, pack};

    #[test]
    fn methods_are_named_by_what_they_tell() {
        let less = |name: &str| (name.to_owned(), "()V".to_owned(), "too large".to_owned());
        let class = TracedClass {
            name: "a.B".to_owned(),
            methods: vec![Method {
                name: "big".to_owned(),
                descriptor: "()V".to_owned(),
                ..Method::default()
            }],
            less: ["big", "a", "b\nc", "c", "d"].map(less).to_vec(),
            ..TracedClass::default()
        };
        let mut file = file_header().to_vec();
        file.extend(pack(&Record::Traced(class)).expect("memory"));
        let (dictionary, _) = Dictionary::read(&file).expect("a dictionary");
        assert_eq!(
            notes(&dictionary),
            [
                "of 1 method the calls alone are told (a.B.big: too large)",
                "of 4 methods nothing is told (a.B.a: too large; a.B.b\\nc: too large; \
                 a.B.c: too large; 1 more)",
            ]
        );
    }
}
