//! Learns which calls are endless, so that they are not made again where they are not needed.

use super::{Ended, Executed};
use crate::generate::sequence::{MethodId, Methods, Sequence, Statement};
use std::collections::HashMap;

/// The number of endless calls that is required.
const MAX_LOST: u32 = 2;
/// The reciprocal of the share of all calls that must be endless.
const OF_CALLS: u32 = 5;

/// What may be endless.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Asked {
    /// A method.
    Call(MethodId),
    /// The text of an object with this declared type.
    Text(String),
}

/// The results of calls, and of requests for texts.
#[derive(Debug, Default)]
pub struct Endless {
    /// How often each ended, and how often it was endless.
    known: HashMap<Asked, (u32, u32)>,
}

impl Endless {
    /// Learns from the result of a sequence.
    pub(super) fn learn(&mut self, sequence: &Sequence, executed: &Executed, methods: &Methods) {
        if let (Ended::TimedOut, Some(stuck)) = (executed.ended, executed.stuck)
            && let Some(statement) = sequence.get(stuck.at)
        {
            let asked = match stuck.is_shown {
                true => text(statement, methods),
                false => Asked::Call(statement.method),
            };
            self.known.entry(asked).or_default().1 += 1;
        }
        // Mostly nothing is known yet.
        if self.known.is_empty() {
            return;
        }
        for statement in &sequence[..executed.outcomes.len().min(sequence.len())] {
            if let Some(known) = self.known.get_mut(&Asked::Call(statement.method)) {
                known.0 += 1;
            }
            if statement.shown
                && let Some(known) = self.known.get_mut(&text(statement, methods))
            {
                known.0 += 1;
            }
        }
    }

    /// Whether a method is better not called.
    pub fn is_call(&self, method: MethodId) -> bool {
        !self.known.is_empty() && self.is_bad(&Asked::Call(method))
    }

    /// Whether the result of a call is better not asked for its text.
    pub fn is_text(&self, statement: &Statement, methods: &Methods) -> bool {
        !self.known.is_empty() && self.is_bad(&text(statement, methods))
    }

    /// Whether a sequence, of which this part can be left out, contains what is better not done.
    pub fn is_in(&self, sequence: &Sequence, optional: usize, methods: &Methods) -> bool {
        let mut calls = sequence.iter().enumerate();
        !self.known.is_empty()
            && calls.any(|(at, call)| {
                at >= optional && self.is_call(call.method)
                    || call.shown && self.is_text(call, methods)
            })
    }

    fn is_bad(&self, asked: &Asked) -> bool {
        let (ended, lost) = self.known.get(asked).copied().unwrap_or_default();
        lost >= MAX_LOST && lost * OF_CALLS >= ended
    }
}

fn text(statement: &Statement, methods: &Methods) -> Asked {
    Asked::Text(methods.get(statement.method).types().1)
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, Stuck};
    use super::*;
    use crate::generate::sequence::Method;

    #[test]
    fn what_has_no_end_twice_is_not_done_again() {
        let mut methods = Methods::default();
        let mut call = |name: &str, on: Option<usize>| Statement {
            method: methods.intern(Method {
                class: "A".to_owned(),
                name: name.to_owned(),
                descriptor: "()LA;".to_owned(),
                is_static: false,
                runs: None,
            }),
            on,
            args: Vec::new(),
            may_throw: true,
            shown: true,
        };
        let sequence = vec![call("<init>", None), call("twin", Some(0))];
        let came = |stuck: Option<Stuck>| Executed {
            outcomes: match stuck {
                Some(_) => Vec::new(),
                None => vec![Outcome::Void; 2],
            },
            stuck,
            ..Executed::none(match stuck {
                Some(_) => Ended::TimedOut,
                None => Ended::Well,
            })
        };
        let mut endless = Endless::default();
        let mut learn = |stuck: Option<(usize, bool)>, times: usize| {
            for _ in 0..times {
                let stuck = stuck.map(|(at, is_shown)| Stuck { at, is_shown });
                endless.learn(&sequence, &came(stuck), &methods);
            }
            let calls = sequence.iter().map(|one| endless.is_call(one.method));
            let calls: Vec<bool> = calls.collect();
            let is_in = [1, 2].map(|optional| endless.is_in(&sequence, optional, &methods));
            (calls, endless.is_text(&sequence[0], &methods), is_in)
        };
        let nothing = (vec![false; 2], false, [false; 2]);
        assert_eq!(learn(Some((1, false)), 1), nothing);
        // What has been called is still needed.
        let twin = (vec![false, true], false, [true, false]);
        assert_eq!(learn(Some((1, false)), 1), twin);
        // This holds whatever returns it.
        let text = (vec![false, true], true, [true; 2]);
        assert_eq!(learn(Some((0, true)), 2), text);
        // Most ends are good ones.
        assert_eq!(learn(None, 11), nothing);
    }
}
