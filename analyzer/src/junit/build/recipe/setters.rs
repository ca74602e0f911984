//! The calls on an object once it is made: setters, assignments, and methods that fill what they
//! keep.

use super::{Argument, Operation, Proposer, Recipe, Step, call, is_zero, name_of};
use crate::classinfo::{ClassInfo, Method};
use crate::graph::FieldView;
use crate::java::descriptor;
use crate::java::names::is_identifier;
use crate::junit::build::effects::Symbol;
use hindsight_classfile::access;

impl Proposer<'_> {
    /// Adds a setter, or an assignment, for each field with a value.
    pub(super) fn with_setters(&self, mut steps: Vec<Step>, result: usize) -> Recipe {
        let mut keepers = Vec::new();
        for field in &self.fields {
            let owner = &field.info.owner;
            let Some(found) = self.library.info(owner) else {
                continue;
            };
            let Some(info) = &found.info else { continue };
            let set = self.setter(info, &field.info.name, field, false);
            let roles = vec![field.info.name.clone()];
            // One call may serve several fields.
            let mut add = |step: Step| {
                let alike = |other: &Step| {
                    (&other.class, &other.name) == (&step.class, &step.name)
                        && other.descriptor == step.descriptor
                        && other.arguments == step.arguments
                };
                if !steps.iter().any(alike) {
                    steps.push(step);
                }
            };
            if let Some((method, argument)) = set {
                add(Step {
                    field: Some(name_of(field)),
                    ..call(owner, &method, Some(result), vec![argument], roles)
                });
                continue;
            }
            let member = self.library.fields(owner).into_iter().find(|member| {
                member.name == field.info.name && member.descriptor == field.info.descriptor
            });
            let open = |access_flags: u16| {
                access_flags & (access::FINAL | access::STATIC) == 0
                    && self.usable(info, access_flags)
            };
            if let Some(member) = member.filter(|member| open(member.access))
                && is_identifier(&member.name)
                && let Some(argument) = self.fit(field.value, &member.descriptor)
            {
                add(Step {
                    operation: Operation::PutField,
                    class: owner.clone(),
                    name: member.name,
                    descriptor: member.descriptor,
                    on: Some(result),
                    field: Some(name_of(field)),
                    arguments: vec![argument],
                    roles,
                    variadic: false,
                });
            } else if !is_zero(field.value)
                && let Some(method) = self.keeper(info, &field.info.name)
            {
                keepers.push(Step {
                    field: Some(name_of(field)),
                    ..call(owner, &method, Some(result), Vec::new(), Vec::new())
                });
            }
        }
        // The values that they keep depend on all that is set.
        for step in keepers {
            let alike = |other: &Step| {
                (&other.class, &other.name) == (&step.class, &step.name)
                    && other.descriptor == step.descriptor
            };
            if !steps.iter().any(alike) {
                steps.push(step);
            }
        }
        Recipe { steps, result }
    }

    /// A method of `info` that sets its field `name`.
    pub(super) fn setter(
        &self,
        info: &ClassInfo,
        name: &str,
        field: &FieldView<'_>,
        fluent: bool,
    ) -> Option<(Method, Argument)> {
        let own = descriptor::of_class(&info.name);
        let candidates = info.methods.iter().filter(|method| {
            !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && is_identifier(&method.name)
                && self.usable(info, method.access)
                && descriptor::split(&method.descriptor).is_some_and(|(parameters, result)| {
                    parameters.len() == 1 && (result == own || !fluent && result == "V")
                })
        });
        let mut found: Vec<(u8, &Method, Argument)> = Vec::new();
        for method in candidates {
            let Some((parameters, _)) = descriptor::split(&method.descriptor) else {
                continue;
            };
            let Some(argument) = self.fit(field.value, parameters[0]) else {
                continue;
            };
            let writes = self
                .library
                .writes(&info.name, &method.name, &method.descriptor);
            let written = writes.iter().find(|(written, _)| written.name == name);
            let named = method.name.eq_ignore_ascii_case(name)
                || method.name.to_ascii_lowercase() == format!("set{}", name.to_ascii_lowercase());
            let rank = match written {
                Some((_, Symbol::Parameter(0))) if named => 0,
                Some((_, Symbol::Parameter(0))) => 1,
                Some((_, Symbol::From(_))) => 2,
                _ if named => 3,
                _ => continue,
            };
            found.push((rank, method, argument));
        }
        found.sort_by_key(|(rank, method, _)| (*rank, !method.is(access::PUBLIC)));
        let (_, method, argument) = found.into_iter().next()?;
        Some((method.clone(), argument))
    }

    /// A method that keeps what it computes in a field, as `hashCode` and getters do.
    ///
    /// Other methods without parameters may do anything, and would do it to recorded objects.
    fn keeper(&self, info: &ClassInfo, name: &str) -> Option<Method> {
        const KEEPING: [&str; 2] = ["hashCode", "toString"];
        let found = info.methods.iter().find(|method| {
            let writes = || {
                let writes = (self.library).writes(&info.name, &method.name, &method.descriptor);
                writes.iter().any(|(field, _)| field.name == name)
            };
            method.descriptor.starts_with("()")
                && !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && is_identifier(&method.name)
                && self.usable(info, method.access)
                && (KEEPING.contains(&&*method.name)
                    || self
                        .library
                        .gives(&info.name, &method.name, &method.descriptor, name))
                && writes()
        });
        found.cloned()
    }
}
