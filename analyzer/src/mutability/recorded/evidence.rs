//! What runs have shown, independently of any pipeline.
//!
//! **Invariant:** merging is associative and commutative: counts are added, sets united, and of two
//! witnesses the smaller one is kept.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The `schema` of the file format.
const SCHEMA: &str = "hindsight.evidence/1";

/// The place at which a write was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Witness {
    /// The class of the method that wrote.
    pub class: String,
    /// The method's name.
    pub method: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// The offset in the bytecode; `None` if there are several.
    pub pc: Option<u16>,
    /// What was written, in words.
    pub what: String,
}

/// A parameter of a method: class, name, descriptor, place.
pub type ParamName = (String, String, String, u16);

/// What was seen of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamEvidence {
    /// It was changed through the parameter, by the exact semantics (X).
    pub exact: Option<Witness>,
    /// It was changed through the parameter, or later through a place where it was kept (X with
    /// `--transitive`).
    pub later: Option<Witness>,
    /// Something reachable from it was changed, to which no other argument of the call led (D).
    pub reached: Option<Witness>,
    /// Something reachable from it was changed (D with C).
    pub aliased: Option<Witness>,
    /// The parameters that its object was passed to while it was an argument (D with B).
    pub passed: BTreeSet<ParamName>,
}

/// What was seen of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodEvidence {
    /// The number of its calls.
    pub calls: u64,
    /// The bytecode offsets that were seen to run.
    pub seen: BTreeSet<u16>,
    /// The parameters of which something was seen.
    pub params: BTreeMap<u16, ParamEvidence>,
}

/// The methods of a class, by name and descriptor.
pub type ClassEvidence = BTreeMap<(String, String), MethodEvidence>;

/// What runs have shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The evidence by class and SHA-256 of the class file; the latter is empty if not known.
    pub classes: BTreeMap<(String, String), ClassEvidence>,
}

fn least(one: &mut Option<Witness>, other: Option<Witness>) {
    *one = match (one.take(), other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

impl ParamEvidence {
    fn merge(&mut self, other: ParamEvidence) {
        least(&mut self.exact, other.exact);
        least(&mut self.later, other.later);
        least(&mut self.reached, other.reached);
        least(&mut self.aliased, other.aliased);
        self.passed.extend(other.passed);
    }
}

impl MethodEvidence {
    /// Adds the evidence of another run.
    pub fn merge(&mut self, other: MethodEvidence) {
        self.calls = self.calls.saturating_add(other.calls);
        self.seen.extend(other.seen);
        for (param, found) in other.params {
            self.params.entry(param).or_default().merge(found);
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    classes: Vec<Class>,
}

#[derive(Serialize, Deserialize)]
struct Class {
    class: String,
    sha256: String,
    methods: Vec<Method>,
}

#[derive(Serialize, Deserialize)]
struct Method {
    method: String,
    descriptor: String,
    calls: u64,
    seen: BTreeSet<u16>,
    parameters: Vec<Parameter>,
}

#[derive(Serialize, Deserialize)]
struct Parameter {
    index: u16,
    exact: Option<Witness>,
    later: Option<Witness>,
    reached: Option<Witness>,
    aliased: Option<Witness>,
    passed: BTreeSet<ParamName>,
}

fn parameter(index: u16, found: ParamEvidence) -> Parameter {
    Parameter {
        index,
        exact: found.exact,
        later: found.later,
        reached: found.reached,
        aliased: found.aliased,
        passed: found.passed,
    }
}

impl Evidence {
    /// Adds the evidence of other runs.
    pub fn merge(&mut self, other: Evidence) {
        for (class, methods) in other.classes {
            let own = self.classes.entry(class).or_default();
            for (method, found) in methods {
                own.entry(method).or_default().merge(found);
            }
        }
    }

    /// Writes the content of an evidence file.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let classes = self.classes.iter().map(|((class, sha256), methods)| Class {
            class: class.clone(),
            sha256: sha256.clone(),
            methods: methods
                .iter()
                .map(|((method, descriptor), evidence)| Method {
                    method: method.clone(),
                    descriptor: descriptor.clone(),
                    calls: evidence.calls,
                    seen: evidence.seen.clone(),
                    parameters: (evidence.params.iter())
                        .map(|(&index, param)| parameter(index, param.clone()))
                        .collect(),
                })
                .collect(),
        });
        let document = Document {
            schema: SCHEMA.to_owned(),
            classes: classes.collect(),
        };
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)
    }

    /// Reads the content of an evidence file.
    ///
    /// # Errors
    ///
    /// Fails with a description of what is wrong with the bytes.
    pub fn read(bytes: &[u8]) -> Result<Evidence, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_slice(bytes)
            .map_err(|error| format!("not a file of evidence: {error}"))?;
        if head.schema != SCHEMA {
            return Err(format!(
                "its schema is {:?}; this release reads {SCHEMA}",
                head.schema
            ));
        }
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let mut evidence = Evidence::default();
        for class in document.classes {
            let own = evidence
                .classes
                .entry((class.class, class.sha256))
                .or_default();
            for method in class.methods {
                let params = method.parameters.into_iter().map(|param| {
                    let found = ParamEvidence {
                        exact: param.exact,
                        later: param.later,
                        reached: param.reached,
                        aliased: param.aliased,
                        passed: param.passed,
                    };
                    (param.index, found)
                });
                let found = MethodEvidence {
                    calls: method.calls,
                    seen: method.seen,
                    params: params.collect(),
                };
                own.entry((method.method, method.descriptor))
                    .or_default()
                    .merge(found);
            }
        }
        Ok(evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn witness() -> impl Strategy<Value = Option<Witness>> {
        let made = ("[AB]", "[mn]", any::<Option<u8>>()).prop_map(|(class, method, pc)| Witness {
            class,
            method,
            descriptor: "()V".to_owned(),
            pc: pc.map(u16::from),
            what: "A.x".to_owned(),
        });
        proptest::option::of(made)
    }

    fn param() -> impl Strategy<Value = ParamEvidence> {
        let passed = proptest::collection::btree_set(0u16..3, 0..3);
        (witness(), witness(), witness(), witness(), passed).prop_map(
            |(exact, later, reached, aliased, passed)| ParamEvidence {
                exact,
                later,
                reached,
                aliased,
                passed: passed
                    .into_iter()
                    .map(|param| ("A".to_owned(), "m".to_owned(), "()V".to_owned(), param))
                    .collect(),
            },
        )
    }

    fn evidence() -> impl Strategy<Value = Evidence> {
        let method = (
            any::<u64>(),
            proptest::collection::btree_set(0u16..9, 0..4),
            proptest::collection::btree_map(0u16..3, param(), 0..3),
        )
            .prop_map(|(calls, seen, params)| MethodEvidence {
                calls,
                seen,
                params,
            });
        let key = || ("[AB]", "[xy]?");
        let class = proptest::collection::btree_map(key(), method, 0..3);
        proptest::collection::btree_map(key(), class, 0..3).prop_map(|classes| Evidence { classes })
    }

    fn merged(mut one: Evidence, other: &Evidence) -> Evidence {
        one.merge(other.clone());
        one
    }

    proptest! {
        #[test]
        fn order_does_not_matter(a in evidence(), b in evidence(), c in evidence()) {
            let left = merged(merged(a.clone(), &b), &c);
            let right = merged(a.clone(), &merged(b.clone(), &c));
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(merged(a.clone(), &b), merged(b, &a));
        }

        #[test]
        fn files_keep_it(a in evidence()) {
            let mut bytes = Vec::new();
            a.write(&mut bytes).unwrap();
            prop_assert_eq!(Evidence::read(&bytes).unwrap(), a);
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(
            Evidence::read(b"{}")
                .unwrap_err()
                .contains("not a file of evidence")
        );
        let newer = br#"{"schema":"hindsight.evidence/9","classes":[]}"#;
        assert!(Evidence::read(newer).unwrap_err().contains("evidence/9"));
    }
}
