//! Copies with a change: `X.create().withA(1).withB(2)`, for immutable objects.

use super::{Argument, Proposer, Recipe, call, name_of};
use crate::classinfo::Method;
use crate::graph::FieldView;
use crate::java::descriptor;
use crate::java::names::is_identifier;
use crate::junit::build::effects::Symbol;
use hindsight_classfile::access;

/// The most initial objects that are tried.
const MAX_BASES: usize = 4;

impl Proposer<'_> {
    /// The results of `recipes`, or a constant, with a change for each field that differs.
    pub(super) fn changed_copies(&self, recipes: &[Recipe]) -> Vec<Recipe> {
        let changes = self.fields.iter().filter_map(|field| {
            let (method, argument) = self.changing(field)?;
            Some((field, method, argument))
        });
        let changes: Vec<_> = changes.collect();
        if changes.is_empty() {
            return Vec::new();
        }
        let mut bases: Vec<Recipe> = self.constants();
        // The making of the object, without later calls on it.
        bases.extend(recipes.iter().map(|recipe| Recipe {
            steps: recipe.steps[..=recipe.result].to_vec(),
            ..*recipe
        }));
        bases.sort_by_key(Recipe::cost);
        bases.dedup();
        bases.truncate(MAX_BASES);
        for Recipe { steps, result } in &mut bases {
            for (field, method, argument) in &changes {
                let roles = vec![field.info.name.clone()];
                let change = call(
                    &self.info.name,
                    method,
                    Some(*result),
                    vec![argument.clone()],
                    roles,
                );
                *result = steps.len();
                steps.push(super::Step {
                    field: Some(name_of(field)),
                    ..change
                });
            }
        }
        bases
    }

    /// A method that returns another object of the class, with a field's value.
    fn changing(&self, field: &FieldView<'_>) -> Option<(Method, Argument)> {
        let own = descriptor::of_class(&self.info.name);
        let name = field.info.name.to_ascii_lowercase();
        let ranked = self.info.methods.iter().filter_map(|method| {
            let (parameters, result) = descriptor::split(&method.descriptor)?;
            let [parameter] = parameters[..] else {
                return None;
            };
            let lower = method.name.to_ascii_lowercase();
            // A method that writes would change its receiver, which may be a constant of the
            // program.
            let writes =
                || (self.library).writes(&self.info.name, &method.name, &method.descriptor);
            let rank = match self.hands_on(method, field) {
                true => 0,
                false
                    if lower.strip_prefix("with").unwrap_or(&lower) == name
                        && writes().is_empty() =>
                {
                    1
                }
                false => return None,
            };
            let usable = result == own
                && !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && is_identifier(&method.name)
                && self.usable(self.info, method.access);
            let argument = self.fit(field.value, parameter).filter(|_| usable)?;
            Some((rank, method, argument))
        });
        let (_, method, argument) =
            ranked.min_by_key(|(rank, method, _)| (*rank, !method.is(access::PUBLIC)))?;
        Some((method.clone(), argument))
    }

    /// Whether a method with one parameter returns a new object that has it in this field.
    fn hands_on(&self, method: &Method, field: &FieldView<'_>) -> bool {
        let own = &self.info.name;
        let called = (self.library).returns_new(own, &method.name, &method.descriptor, own);
        let Some(called) = called else { return false };
        let made = self.made(&called.target.descriptor, &called.arguments);
        let given = Symbol::Parameter(0);
        let from = Symbol::From(Box::new(given.clone()));
        made.iter().any(|(written, value)| {
            super::is_field(written, field) && (*value == given || *value == from)
        })
    }
}
