//! What is known of the program's methods before they run: the file of
//! `hindsight plan`.
//!
//! It knows classes by their names and by a checksum of their files, so that a
//! plan of another version does no harm: of such classes, as of those that it
//! does not name, the method's own body decides what is kept.

use crate::counters::Counters;
use crate::originals::Original;
use hindsight_instrument::{Effects, ParameterEffects};
use hindsight_tracelog::plan::{self, Field, Parameter, Plan};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A plan, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Known(Option<Vec<Class>>);

/// What is known of a class.
#[derive(Debug)]
struct Class {
    name: String,
    crc: u32,
    /// Sorted by name and descriptor, as the instrumenter wants them.
    methods: Vec<Effects>,
    /// For each of `methods`, the static fields that it may read.
    statics: Vec<Option<Vec<Field>>>,
    /// Whether a class of this name has been loaded that is the plan's, and one that is not.
    loaded: AtomicBool,
    unlike: AtomicBool,
}

impl Known {
    /// Reads the file that the option `plan` names. `Err` is a line for stderr.
    pub(crate) fn read(path: Option<&Path>) -> Result<Known, String> {
        let Some(path) = path else {
            return Ok(Known::default());
        };
        let failed = |what: &dyn std::fmt::Display| {
            let path = path.display();
            Err(format!(
                "option plan: {path}: {what}; make it with `hindsight plan --classpath CP --out FILE`"
            ))
        };
        match fs::read(path).map(|file| Plan::decode(&file)) {
            Ok(Ok(Plan { classes, .. })) => {
                let mut classes: Vec<Class> = classes.into_iter().map(class).collect();
                classes.sort_by(|one, other| one.name.cmp(&other.name));
                Ok(Known(Some(classes)))
            }
            Ok(Err(error)) => failed(&error),
            Err(error) => failed(&error),
        }
    }

    fn of(&self, name: &str) -> Option<&Class> {
        let classes = self.0.as_ref()?;
        let at = classes.binary_search_by(|class| class.name.as_str().cmp(name));
        Some(&classes[at.ok()?])
    }

    /// The static fields that a method may read, in what it calls too, if that is known: if the plan
    /// has its class, and every class of that name that was loaded is the plan's. The class's name
    /// has dots.
    pub(crate) fn statics(&self, class: &str, name: &str, descriptor: &str) -> Option<&[Field]> {
        let class = self.of(&class.replace('.', "/"))?;
        if !class.loaded.load(Ordering::Relaxed) || class.unlike.load(Ordering::Relaxed) {
            return None;
        }
        class.statics[Effects::find(&class.methods, name, descriptor)?].as_deref()
    }

    /// What is known of the methods of a class that is being loaded. Counts whether the plan fits.
    pub(crate) fn class(
        &self,
        name: Option<&str>,
        file: Option<&Original>,
        counters: &Counters,
    ) -> &[Effects] {
        if self.0.is_none() {
            return &[];
        }
        let known = name.and_then(|name| self.of(name));
        let Some((class, file)) = known.zip(file) else {
            counters.add("classes_not_in_the_plan", 1);
            return &[];
        };
        if class.crc != file.crc() {
            class.unlike.store(true, Ordering::Relaxed);
            counters.add("classes_unlike_the_plan", 1);
            return &[];
        }
        class.loaded.store(true, Ordering::Relaxed);
        counters.add("classes_by_the_plan", 1);
        &class.methods
    }
}

fn class(class: plan::Class) -> Class {
    let mut methods = class.methods;
    methods
        .sort_by(|one, other| (&one.name, &one.descriptor).cmp(&(&other.name, &other.descriptor)));
    let (methods, statics) = methods.into_iter().map(method).unzip();
    Class {
        name: class.name,
        crc: class.crc,
        methods,
        statics,
        loaded: AtomicBool::new(false),
        unlike: AtomicBool::new(false),
    }
}

fn method(method: plan::Method) -> (Effects, Option<Vec<Field>>) {
    let parameter = |parameter: Parameter| ParameterEffects {
        index: parameter.index,
        exact: parameter.immutable || !parameter.deep,
        fields: parameter
            .fields
            .into_iter()
            .map(|field| (field.class, field.name))
            .collect(),
    };
    let effects = Effects {
        name: method.name,
        descriptor: method.descriptor,
        cannot_throw: method.cannot_throw,
        parameters: method.parameters.into_iter().map(parameter).collect(),
    };
    (effects, method.statics)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What static fields `a.A.m()` may read by the plan, after these files were loaded under its name.
    fn statics_after(loaded: &[&[u8]]) -> Option<Vec<String>> {
        let known = Known(Some(vec![class(plan::Class {
            name: "a/A".to_owned(),
            crc: crc32fast::hash(b"planned"),
            methods: vec![plan::Method {
                name: "m".to_owned(),
                descriptor: "()V".to_owned(),
                statics: Some(vec![Field {
                    class: "a/B".to_owned(),
                    name: "cache".to_owned(),
                }]),
                ..plan::Method::default()
            }],
        })]));
        let counters = Counters::default();
        for bytes in loaded {
            let file = Original::new("a/A", bytes);
            let effects = known.class(Some("a/A"), Some(&file), &counters);
            assert_eq!(!effects.is_empty(), *bytes == b"planned");
        }
        let fields = known.statics("a.A", "m", "()V")?;
        Some(fields.iter().map(|field| field.name.clone()).collect())
    }

    #[test]
    fn a_plan_is_believed_for_the_classes_that_it_is_about() {
        assert_eq!(statics_after(&[b"planned"]), Some(vec!["cache".to_owned()]));
        assert_eq!(statics_after(&[]), None);
        assert_eq!(statics_after(&[b"changed"]), None);
        assert_eq!(statics_after(&[b"planned", b"changed"]), None);
    }
}
