//! Rules of `report`, and entries of `redact`, that match nothing, with the reasons that a run has.

use super::group::total;
use crate::text::count;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// A rule that names methods, with what it has matched in a run.
#[derive(Debug, Clone, Deserialize)]
pub struct Rule {
    /// The rule's text, as in `report`.
    rule: String,
    /// The number of methods with probes.
    methods: u64,
    /// The number of methods without, by reason.
    #[serde(default)]
    methods_left_alone: BTreeMap<String, u64>,
    /// The number of classes that may have such methods, and that `include` and `exclude` leave
    /// out.
    #[serde(default)]
    classes_outside: u64,
    /// The number of such classes that are left alone although `include` names them.
    #[serde(default)]
    classes_left_alone: u64,
}

/// The elements of a list of `run.json`, without those that cannot be parsed.
fn listed<T: DeserializeOwned>(run: &Value, key: &str) -> Vec<T> {
    let all = run.get(key).and_then(Value::as_array);
    let all = all.into_iter().flatten();
    all.filter_map(|one| T::deserialize(one).ok()).collect()
}

/// The rules of a run, by its `run.json`.
pub fn of(run: &Value) -> Vec<Rule> {
    listed(run, "rules")
}

impl Rule {
    /// The message for a rule that matches no method with probes.
    pub fn why_unmatched(&self) -> Option<String> {
        if self.methods > 0 {
            return None;
        }
        let rule = &self.rule;
        let without = total(self.methods_left_alone.values().copied());
        if without > 0 {
            let reasons: Vec<&str> = self.methods_left_alone.keys().map(String::as_str).collect();
            let methods = count(usize::try_from(without).unwrap_or(usize::MAX), "method");
            return Some(format!(
                "no method that matches report={rule} has probes ({methods} without: {})",
                reasons.join(", ")
            ));
        }
        let (outside, left_alone) = (self.classes_outside, self.classes_left_alone);
        if outside == 0 && left_alone == 0 {
            return Some(format!(
                "no method of a class that was loaded matches report={rule}"
            ));
        }
        let mut why = format!("no method of a class that has probes matches report={rule}");
        if outside > 0 {
            why += &format!(
                ", but {} outside of include= and exclude=",
                classes_were(outside)
            );
            let jdk = [":java.", ":javax.", ":jdk.", ":sun."];
            if jdk.iter().any(|package| rule.contains(package)) {
                why += "; methods of the JDK count only if include= names their class, too";
            }
        }
        if left_alone > 0 {
            why += &format!(
                ", but {} loaded before the agent, or cannot have probes as parts of the JDK",
                classes_were(left_alone)
            );
        }
        Some(why)
    }
}

fn classes_were(number: u64) -> String {
    let were = if number == 1 { "was" } else { "were" };
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    format!("{} that it may mean {were}", count(number, "class"))
}

/// An entry of `redact`, with whether it has matched anything in a run.
#[derive(Debug, Clone, Deserialize)]
pub struct Redacted {
    /// The entry's text, as in `redact`.
    entry: String,
    has_named: bool,
}

impl Redacted {
    /// The entries of a run, by its `run.json`.
    pub fn of(run: &Value) -> Vec<Redacted> {
        listed(run, "redact")
    }

    fn why_unmatched(&self) -> Option<String> {
        let what = match self.entry.split_once(':') {
            _ if self.has_named => return None,
            Some(("type", glob)) if !glob.contains(['.', '/', '*']) => {
                "no class of an object in a crash (a class is named with its package)"
            }
            Some(("type", _)) => "no class of an object in a crash",
            Some(_) => "no annotation in a class that was loaded",
            None => "no name in a crash",
        };
        Some(format!("{what} matches redact={}", self.entry))
    }
}

/// The rules and entries that match nothing in any of the runs that have them.
#[derive(Debug, Default)]
pub struct Unmatched(BTreeMap<String, Option<String>>);

impl Unmatched {
    /// Adds what a rule has matched in one more run.
    pub fn add(&mut self, rule: &Rule) {
        self.take(format!("report={}", rule.rule), rule.why_unmatched());
    }

    /// Adds an entry of `redact` in a run that has stored a crash.
    pub fn add_redacted(&mut self, entry: &Redacted) {
        self.take(format!("redact={}", entry.entry), entry.why_unmatched());
    }

    fn take(&mut self, what: String, why: Option<String>) {
        let known = self.0.entry(what);
        let known = known.or_insert_with(|| why.clone());
        if why.is_none() {
            *known = None;
        }
    }

    /// The messages about them.
    pub fn told(self) -> Vec<String> {
        self.0.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_is_told_that_names_nothing_in_any_run() {
        let run = |typo: u64| {
            of(&json!({"rules": [
                {"rule": "escape:a.B.c", "methods": 1},
                {"rule": "escape:a.B.typo", "methods": 0},
                {"rule": "escape:a.B.rare", "methods": typo},
            ]}))
        };
        let mut unmatched = Unmatched::default();
        for rules in [run(0), run(2), run(0)] {
            rules.iter().for_each(|rule| unmatched.add(rule));
        }
        let told = "no method of a class that was loaded matches report=escape:a.B.typo";
        assert_eq!(unmatched.told(), [told]);
    }

    #[test]
    fn an_entry_of_redact_is_told_that_names_nothing_in_any_run() {
        let entries = ["a.B", "type:Iban", "type:**.Iban", "annotation:Pii"];
        let mut unmatched = Unmatched::default();
        for named in ["annotation:Pii", "a.B"] {
            let told = entries.map(|entry| json!({"entry": entry, "has_named": entry == named}));
            for entry in Redacted::of(&json!({ "redact": told })) {
                unmatched.add_redacted(&entry);
            }
        }
        let told = [
            "no class of an object in a crash matches redact=type:**.Iban",
            "no class of an object in a crash (a class is named with its package) matches redact=type:Iban",
        ];
        assert_eq!(unmatched.told(), told);
    }

    #[test]
    fn the_reason_is_told() {
        let why = |told: Value| {
            let rules = of(&json!({ "rules": [told] }));
            rules[0].why_unmatched().unwrap_or_default()
        };
        let outside = why(json!({"rule": "caught:x.**", "methods": 0, "classes_outside": 2}));
        assert!(outside.contains("2 classes that it may mean were outside of include="));
        let early = why(json!({"rule": "caught:x.**", "methods": 0, "classes_left_alone": 1}));
        assert!(early.contains("1 class that it may mean was loaded before"));
        assert!(!early.contains("include="), "{early}");
        let left = json!({"cannot throw": 2});
        let left = why(json!({"rule": "caught:x.**", "methods": 0, "methods_left_alone": left}));
        assert!(left.ends_with("has probes (2 methods without: cannot throw)"));
        let left = json!({"cannot throw": u64::MAX, "native": 1});
        let left = why(json!({"rule": "caught:x.**", "methods": 0, "methods_left_alone": left}));
        assert!(left.ends_with("methods without: cannot throw, native)"));
    }
}
