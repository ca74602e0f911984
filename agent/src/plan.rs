//! What is known of the program's methods before they run: the file of
//! `hindsight plan`.
//!
//! It knows classes by their names and by a checksum of their files, so that a
//! plan of another version does no harm: of such classes, as of those that it
//! does not name, the method's own body decides what is kept.

use crate::counters::Counters;
use crate::originals::Original;
use hindsight_instrument::{Effects, ParameterEffects};
use hindsight_tracelog::plan::{Field, Method, Parameter, Plan};
use std::fs;
use std::path::Path;

/// A plan, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Known(Option<Plan>);

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
            Ok(Ok(plan)) => Ok(Known(Some(plan))),
            Ok(Err(error)) => failed(&error),
            Err(error) => failed(&error),
        }
    }

    /// The static fields that a method may read, in what it calls too, if that is known. The class's
    /// name has dots.
    pub(crate) fn statics(&self, class: &str, name: &str, descriptor: &str) -> Option<&[Field]> {
        let class = self.0.as_ref()?.class(&class.replace('.', "/"))?;
        let mut methods = class.methods.iter();
        let method = methods.find(|one| one.name == name && one.descriptor == descriptor)?;
        method.statics.as_deref()
    }

    /// What is known of a class's methods, as the instrumenter wants it. Counts
    /// whether the plan fits.
    pub(crate) fn class(
        &self,
        name: Option<&str>,
        file: Option<&Original>,
        counters: &Counters,
    ) -> Vec<Effects> {
        let Some(plan) = &self.0 else {
            return Vec::new();
        };
        let known = name.and_then(|name| plan.class(name));
        let Some((class, file)) = known.zip(file) else {
            counters.add("classes_not_in_the_plan", 1);
            return Vec::new();
        };
        if class.crc != file.crc() {
            counters.add("classes_unlike_the_plan", 1);
            return Vec::new();
        }
        counters.add("classes_by_the_plan", 1);
        let mut methods: Vec<Effects> = class.methods.iter().map(effects).collect();
        methods.sort_by(|one, other| {
            (&one.name, &one.descriptor).cmp(&(&other.name, &other.descriptor))
        });
        methods
    }
}

fn effects(method: &Method) -> Effects {
    let parameter = |parameter: &Parameter| ParameterEffects {
        index: parameter.index,
        exact: parameter.immutable || !parameter.deep,
        fields: parameter
            .fields
            .iter()
            .map(|field| (field.class.clone(), field.name.clone()))
            .collect(),
    };
    Effects {
        name: method.name.clone(),
        descriptor: method.descriptor.clone(),
        cannot_throw: method.cannot_throw,
        parameters: method.parameters.iter().map(parameter).collect(),
    }
}
