//! Restores the frames that an exception has passed inside another one: if a handler rethrows the
//! cause of the exception that it has caught (`throw e.getCause()`), the frames between that
//! handler and the one that made the wrapper have seen only the wrapper.
//!
//! These frames are in the stack trace, because the cause was thrown below them. They are taken
//! from the wrapper's way only if nothing else fits: all ways, one after the other, are in the
//! trace, no other frame with probes is between them, and the method that caught the wrapper is the
//! one that rethrows the cause.

use crate::methods::Methods;
use crate::shim::{Raw, Way};
use hindsight_tracelog::crash::StackElement;
use std::collections::{HashMap, HashSet};

/// A way in the same thread, older than the last one of the exception that failed.
pub(crate) struct Earlier {
    pub(crate) frames: Vec<Raw>,
    /// For a way of another exception, of which the failed one is a cause: the method whose handler
    /// has caught it at the end.
    pub(crate) catcher: Option<u32>,
}

/// Puts the frames that the exception and its wrappers have passed before into its last way, if
/// there are wrappers and it is certain that it came that way. The earlier ways are given oldest
/// first. Returns whether it was done.
pub(crate) fn fill(
    last: &mut Way,
    earlier: Vec<Earlier>,
    elements: &[StackElement],
    all: &Methods,
) -> bool {
    if earlier.iter().all(|way| way.catcher.is_none()) {
        return false;
    }
    // Behind frames dropped in a deep recursion nothing is certain.
    let whole = match last.dropped {
        0 => last.frames.len(),
        _ => last.dropped_at.min(last.frames.len()),
    };
    let ways = earlier.iter().map(|way| way.frames.as_slice());
    let frames = ways.chain([&last.frames[..whole]]).flatten();
    let methods: HashSet<u32> = frames.map(|raw| raw.method).collect();
    let trace = Trace::new(
        elements,
        methods,
        |method| {
            let found = all.find(method);
            move |element: &StackElement| {
                let found = found.as_ref();
                found.is_some_and(|(class, index)| super::is(class, *index, element))
            }
        },
        |element| all.has_probes(&element.class, &element.method),
    );
    let Some(frames) = trace.joined(earlier, &last.frames[..whole]) else {
        return false;
    };
    last.dropped_at = frames.len();
    last.frames.splice(..whole, frames);
    true
}

/// A stack trace, indexed by method.
struct Trace {
    /// The places of each method in it.
    places: HashMap<u32, Vec<usize>>,
    /// From each place on, and from its end, the next one with a method that has probes.
    next: Vec<Option<usize>>,
}

impl Trace {
    fn new<Is: Fn(&StackElement) -> bool>(
        elements: &[StackElement],
        methods: HashSet<u32>,
        is: impl Fn(u32) -> Is,
        has_probes: impl Fn(&StackElement) -> bool,
    ) -> Trace {
        let places = methods.into_iter().map(|method| {
            let is = is(method);
            let all = elements.iter().enumerate();
            let own = all.filter(|(_, element)| is(element)).map(|(at, _)| at);
            (method, own.collect())
        });
        let mut next = vec![None; elements.len() + 1];
        for (at, element) in elements.iter().enumerate().rev() {
            next[at] = match has_probes(element) {
                true => Some(at),
                false => next[at + 1],
            };
        }
        Trace {
            places: places.collect(),
            next,
        }
    }

    /// The places of a frame's method in the trace.
    fn places(&self, raw: &Raw) -> &[usize] {
        self.places.get(&raw.method).map_or(&[], Vec::as_slice)
    }

    fn has(&self, raw: &Raw) -> bool {
        !self.places(raw).is_empty()
    }

    /// The frames of all ways, if some of them are those of wrappers.
    fn joined(&self, earlier: Vec<Earlier>, last: &[Raw]) -> Option<Vec<Raw>> {
        let mut frames: Vec<Raw> = Vec::new();
        let mut around = Vec::new();
        let mut has_wrappers = false;
        let last = Earlier {
            frames: last.to_vec(),
            catcher: None,
        };
        for way in earlier.into_iter().chain([last]) {
            if way.catcher.is_some() {
                around.push(way);
                continue;
            }
            if way.frames.is_empty() {
                continue;
            }
            if let Some(all) = self.around(&frames, &around, &way.frames) {
                frames = all;
                has_wrappers = true;
            } else if self.is_close(frames.iter().chain(&way.frames)) {
                frames.extend(way.frames);
            } else {
                // What came before is of another time.
                has_wrappers = false;
                frames.clear();
                if self.is_close(&way.frames) {
                    frames = way.frames;
                } else if way.frames.iter().any(|raw| self.has(raw)) {
                    return None;
                }
            }
            around.clear();
        }
        has_wrappers.then_some(frames)
    }

    /// The frames of a way, with those of wrappers that were caught before it began or went on, and
    /// all that came before, if there is only one place where they fit.
    fn around(&self, before: &[Raw], wrappers: &[Earlier], way: &[Raw]) -> Option<Vec<Raw>> {
        let catcher = wrappers.last()?.catcher?;
        // The earliest ones may be of another time.
        (0..wrappers.len()).find_map(|first| {
            let passed = wrappers[first..].iter().flat_map(|wrapper| {
                // Helpers that have made and thrown the wrapper were not on the cause's way.
                wrapper.frames.iter().skip_while(|raw| !self.has(raw))
            });
            let passed: Vec<&Raw> = passed.collect();
            let all = |at: usize| {
                let (inside, behind) = way.split_at(at);
                let passed = passed.iter().copied();
                (before.iter().chain(inside)).chain(passed).chain(behind)
            };
            let mut places = (0..way.len()).filter(|&at| {
                let (inside, behind) = way.split_at(at);
                // Helpers that rethrow it belong to the way that follows.
                let is_apart = inside.last().is_none_or(|last| self.has(last));
                let next = behind.iter().find(|raw| self.has(raw));
                is_apart
                    && next.is_some_and(|next| next.method == catcher)
                    && self.is_close(all(at))
            });
            let at = places.next()?;
            let is_certain = !passed.is_empty()
                && passed.iter().all(|raw| self.has(raw))
                && places.next().is_none();
            is_certain.then(|| all(at).cloned().collect())
        })
    }

    /// Whether these frames follow each other in the trace, with none between them that has probes,
    /// except helpers that are not in the trace.
    fn is_close<'r>(&self, frames: impl IntoIterator<Item = &'r Raw>) -> bool {
        let mut frames = frames.into_iter().filter(|raw| self.has(raw));
        let Some(first) = frames.next() else {
            return false;
        };
        let start = match *self.places(first) {
            // What came before may be forgotten.
            [at] => at,
            [at, ..] if self.next[0] == Some(at) => at,
            _ => return false,
        };
        let end = frames.try_fold(start + 1, |from, raw| {
            let at = self.next[from]?;
            self.places(raw)
                .binary_search(&at)
                .is_ok()
                .then_some(at + 1)
        });
        end.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of all ways together, if those of wrappers are among them. Methods are letters;
    /// those of the JDK, which have no probes, are upper case. The way of a wrapper has a plus sign
    /// in front, and its catcher at the end.
    fn joined(trace: &str, ways: &[&str]) -> Option<String> {
        let elements = trace.chars().map(|name| StackElement {
            class: "C".to_owned(),
            method: name.to_string(),
            file: None,
            line: 1,
        });
        let elements: Vec<StackElement> = elements.collect();
        let methods = trace.chars().map(u32::from).collect();
        let is = |method| {
            move |of: &StackElement| of.method.chars().next().map(u32::from) == Some(method)
        };
        let has_probes = |of: &StackElement| of.method != of.method.to_uppercase();
        let trace = Trace::new(&elements, methods, is, has_probes);
        let way = |names: &&str| {
            let frames = names.trim_start_matches('+').chars().map(|name| Raw {
                method: name as u32,
                references: Vec::new(),
                words: Vec::new(),
            });
            let mut frames: Vec<Raw> = frames.collect();
            let catcher = names.starts_with('+').then(|| frames.pop());
            let catcher = catcher.flatten().map(|catcher| catcher.method);
            Earlier { frames, catcher }
        };
        let (last, earlier) = ways.split_last().unwrap();
        let frames = trace.joined(earlier.iter().map(way).collect(), &way(last).frames)?;
        let letters = frames.iter().filter_map(|raw| char::from_u32(raw.method));
        Some(letters.collect())
    }

    #[test]
    fn what_a_wrapper_has_passed_fills_the_gap() {
        for (trace, ways, expected) in [
            ("abcdm", &["a", "+bcd", "dm"][..], "abcdm"),
            // If the JDK has made the wrapper, the way of the cause goes on.
            ("aJbJdm", &["+bd", "adm"], "abdm"),
            // Methods of the JDK have thrown it.
            ("JbcJdm", &["+bcd", "dm"], "bcdm"),
            // Helpers that wrap and that rethrow are in no trace.
            ("abcdm", &["a", "+wbcd", "xdm"], "abcxdm"),
            // A wrapper in another one, and one after the other.
            ("abcdem", &["a", "+bc", "+cde", "em"], "abcdem"),
            ("abcdem", &["a", "+bc", "c", "+de", "em"], "abcdem"),
            // What it has left before is forgotten, or does not matter.
            ("abcdm", &["+bcd", "dm"], "bcdm"),
            ("abcdm", &["x", "a", "+bcd", "dm"], "abcdm"),
            // It was rethrown again.
            ("abcdmn", &["a", "+bcd", "dm", "xn"], "abcdmxn"),
            ("abcdmn", &["+bcd", "adm", "n"], "abcdmn"),
            // Recursion.
            ("arrrm", &["a", "+rrr", "rm"], "arrrm"),
            ("arrrm", &["+rrr", "arm"], "arrrm"),
            // A way of an earlier time is left out.
            ("abcdm", &["+bcd", "a", "+bcd", "dm"], "abcdm"),
            ("abcdm", &["+bcd", "+bcd", "adm"], "abcdm"),
        ] {
            assert_eq!(
                joined(trace, ways).as_deref(),
                Some(expected),
                "{trace} {ways:?}"
            );
        }
    }

    #[test]
    fn what_may_be_of_another_way_is_left_out() {
        for (trace, ways) in [
            // Nothing is missing.
            ("abcdm", &["+bcd", "abcdm"][..]),
            ("abcdm", &["abcdm"]),
            // More is missing than the wrapper has passed, or less.
            ("abcdm", &["a", "+cd", "dm"]),
            ("abcdm", &["a", "+bd", "dm"]),
            ("abcdm", &["ac", "+bcd", "dm"]),
            // Another method has caught it.
            ("abcdm", &["a", "+bcm", "dm"]),
            ("abcdm", &["a", "+bcd", "m"]),
            // It came another way.
            ("abcdm", &["a", "+xyd", "dm"]),
            ("abcdm", &["a", "+cbd", "dm"]),
            ("abcdm", &["a", "+bxcd", "dm"]),
            ("arrrrm", &["a", "+rrr", "rm"]),
            ("rrrrm", &["+rrr", "rm"]),
            ("", &["a", "+bcd", "dm"]),
            // It was thrown again since.
            ("abcdm", &["a", "+bcd", "dm", "a", "dm"]),
        ] {
            assert_eq!(joined(trace, ways), None, "{trace} {ways:?}");
        }
    }
}
