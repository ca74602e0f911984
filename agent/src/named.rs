//! What each rule of `report` has matched. A rule that matches nothing is misspelt, or its classes
//! have no probes; its user wants to know which.

use crate::counters::{Counters, NAMED_BY_REPORT};
use crate::options::Rules;
use hindsight_instrument::SkipReason;
use hindsight_instrument::glob::Globs;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The rules that name methods, with what they have matched.
pub(crate) struct Named(Vec<Rule>);

struct Rule {
    /// The rule's text, as in `report`.
    text: String,
    methods: Globs,
    /// The classes in which its methods can be.
    classes: Globs,
    tally: Mutex<Tally>,
}

#[derive(Default)]
struct Tally {
    /// The number of methods with probes.
    methods: u64,
    /// The number of methods without, by reason.
    methods_left_alone: BTreeMap<&'static str, u64>,
    /// The number of classes that `include` and `exclude` leave out.
    classes_outside: u64,
    /// The number of classes that are left alone although `include` names them.
    classes_left_alone: u64,
}

impl Rule {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Named {
    /// The rules, before they have matched anything.
    pub(crate) fn of(rules: &Rules) -> Named {
        let kinds = [("escape", &rules.escape), ("caught", &rules.caught)];
        let rules = kinds.into_iter().flat_map(|(kind, globs)| {
            globs.patterns().map(move |pattern| {
                let methods = Globs::new([pattern]);
                Rule {
                    text: format!("{kind}:{pattern}"),
                    classes: methods.of_classes(),
                    methods,
                    tally: Mutex::default(),
                }
            })
        });
        Named(rules.collect())
    }

    /// Whether no rule names methods.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of rules that have matched a method.
    pub(crate) fn found(&self) -> usize {
        let rules = self.0.iter();
        rules.filter(|rule| rule.tally().methods > 0).count()
    }

    /// Counts the methods of a class that was instrumented, each with the reason if it was left
    /// alone.
    pub(crate) fn methods(
        &self,
        counters: &Counters,
        class: &str,
        made: &mut dyn Iterator<Item = (&str, Option<SkipReason>)>,
    ) {
        for (name, left_alone) in made {
            let full = format!("{class}.{name}");
            let mut is_named = false;
            for rule in self.0.iter().filter(|rule| rule.methods.matches(&full)) {
                is_named = true;
                let mut tally = rule.tally();
                match left_alone {
                    None => tally.methods += 1,
                    Some(reason) => {
                        *tally.methods_left_alone.entry(reason.kind()).or_default() += 1;
                    }
                }
            }
            let has_probes = is_named && left_alone.is_none();
            counters.add(NAMED_BY_REPORT, u64::from(has_probes));
        }
    }

    /// Counts a class that hands over no frames. `is_asked` says that `include` names it: then the
    /// JVM loaded it too early, or the probes run on it.
    pub(crate) fn left_out(&self, class: &str, is_asked: bool) {
        for rule in self.0.iter().filter(|rule| rule.classes.matches(class)) {
            let mut tally = rule.tally();
            match is_asked {
                false => tally.classes_outside += 1,
                true => tally.classes_left_alone += 1,
            }
        }
    }

    /// The content for `run.json`.
    pub(crate) fn describe(&self) -> Value {
        let rules = self.0.iter().map(|rule| {
            let tally = rule.tally();
            json!({
                "rule": rule.text,
                "methods": tally.methods,
                "methods_left_alone": tally.methods_left_alone,
                "classes_outside": tally.classes_outside,
                "classes_left_alone": tally.classes_left_alone,
            })
        });
        rules.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_knows_what_it_has_named() {
        let rules = Rules {
            escape: Globs::new(["a.B.c", "a.B.typo", "x.**"]),
            caught: Globs::new(["**.B.*"]),
            ..Rules::default()
        };
        let (named, counters) = (Named::of(&rules), Counters::default());
        let left_alone = Some(SkipReason::CannotThrow);
        let made = [("c", None), ("c", None), ("d", None), ("e", left_alone)];
        named.methods(&counters, "a.B", &mut made.into_iter());
        named.left_out("x.y.Z", false);
        named.left_out("java.lang.B", true);
        // It is counted once, however many rules name it.
        assert_eq!(counters.get(NAMED_BY_REPORT), 3);
        assert_eq!(named.found(), 2);
        let told = named.describe();
        let of = |index: usize| {
            let rule = &told[index];
            let [methods, outside, left] =
                ["methods", "classes_outside", "classes_left_alone"].map(|key| &rule[key]);
            let text = rule["rule"].as_str().unwrap_or_default();
            format!(
                "{text} {methods} {outside} {left} {}",
                rule["methods_left_alone"]
            )
        };
        assert_eq!(of(0), "escape:a.B.c 2 0 0 {}");
        assert_eq!(of(1), "escape:a.B.typo 0 0 0 {}");
        assert_eq!(of(2), "escape:x.** 0 1 0 {}");
        assert_eq!(of(3), r#"caught:**.B.* 3 0 1 {"cannot throw":1}"#);
    }
}
