//! Builders: `X.builder("a").b(2).add(c).build()`.

use super::{Operation, Proposer, Recipe, Step, call, is_field, is_zero, name_of};
use crate::classinfo::{ClassInfo, Method};
use crate::java::descriptor;
use crate::junit::build::effects::{FieldName, Symbol};
use crate::junit::build::fill;
use hindsight_classfile::access;

/// The most methods that end a builder, and constructors of one, that are tried.
const MAX_TRIED: usize = 3;

/// The first step of a builder.
struct Start<'a> {
    operation: Operation,
    /// The class of the method.
    class: &'a str,
    method: &'a Method,
    /// The builder's fields at that point, in terms of the method's parameters.
    given: Vec<(FieldName, Symbol)>,
}

impl Proposer<'_> {
    /// All recipes with builders.
    pub(super) fn built(&self) -> Vec<Recipe> {
        let own = &self.info.name;
        let mut recipes = Vec::new();
        // Static methods return builders, and so do any methods of a class within the object's.
        let within = format!("{own}$");
        for method in &self.info.methods {
            let Some((_, result)) = descriptor::split(&method.descriptor) else {
                continue;
            };
            let Some(class) = descriptor::class_name(result) else {
                continue;
            };
            let may_build = class.ends_with("Builder") || class.starts_with(&within);
            if !method.is(access::STATIC) || !may_build || !self.usable(self.info, method.access) {
                continue;
            }
            let made = (self.library).returns_new(own, &method.name, &method.descriptor, &class);
            let given = made.map(|called| {
                let writes = self
                    .library
                    .writes(&class, "<init>", &called.target.descriptor);
                let given = |value: &Symbol| value.given(&called.arguments, &Symbol::Other);
                let writes = writes.iter();
                writes
                    .map(|(field, value)| (field.clone(), given(value)))
                    .collect()
            });
            let start = Start {
                operation: Operation::Static,
                class: own,
                method,
                given: given.unwrap_or_default(),
            };
            recipes.extend(self.ended(&start, &class));
        }
        for class in [format!("{own}$Builder"), format!("{own}Builder")] {
            let Some(found) = self.library.info(&class) else {
                continue;
            };
            let Some(builder) = &found.info else { continue };
            let makes = builder.methods.iter().filter(|method| {
                method.name == "<init>"
                    && self.usable(builder, method.access)
                    && !builder.is(access::ABSTRACT)
            });
            for method in makes.take(MAX_TRIED) {
                let writes = self.library.writes(&class, "<init>", &method.descriptor);
                let start = Start {
                    operation: Operation::New,
                    class: &class,
                    method,
                    given: writes.to_vec(),
                };
                recipes.extend(self.ended(&start, &class));
            }
        }
        recipes
    }

    /// The recipes that end with a method of a builder's class that returns the object.
    fn ended(&self, start: &Start<'_>, class: &str) -> Vec<Recipe> {
        let Some(found) = self.library.info(class) else {
            return Vec::new();
        };
        let Some(builder) = &found.info else {
            return Vec::new();
        };
        let own = descriptor::of_class(&self.info.name);
        let ends = builder.methods.iter().filter(|method| {
            method.descriptor == format!("(){own}")
                && !method.is(access::STATIC | access::SYNTHETIC)
                && self.usable(builder, method.access)
        });
        let ends = ends.take(MAX_TRIED);
        ends.filter_map(|end| self.chain(start, builder, end))
            .collect()
    }

    fn chain(&self, start: &Start<'_>, builder: &ClassInfo, end: &Method) -> Option<Recipe> {
        // The fields of the builder that become fields of the object.
        let called =
            self.library
                .returns_new(&builder.name, &end.name, &end.descriptor, &self.info.name)?;
        let writes = self
            .library
            .writes(&self.info.name, "<init>", &called.target.descriptor);
        let sources: Vec<String> = self
            .fields
            .iter()
            .map(|field| {
                let source = writes.iter().find_map(|(written, value)| {
                    if !is_field(written, field) {
                        return None;
                    }
                    builder_field(&value.given(&called.arguments, &Symbol::Other))
                        .or_else(|| builder_field(value))
                });
                source.unwrap_or_else(|| field.info.name.clone())
            })
            .collect();
        // The same for the parameters with which the builder begins.
        let given = |source: &String| {
            let given = start.given.iter().find(|(field, _)| field.name == *source);
            given.map(|(_, value)| value)
        };
        let fields = self.fields.iter().zip(&sources);
        let first: Vec<(FieldName, Symbol)> = fields
            .filter_map(|(field, source)| Some((name_of(field), given(source)?.clone())))
            .collect();
        let (arguments, roles) = self.arguments(start.class, start.method, &first)?;
        let mut steps = vec![Step {
            operation: start.operation,
            ..call(start.class, start.method, None, arguments, roles)
        }];
        // The last step that returned the builder.
        let mut on = 0;
        for (field, source) in self.fields.iter().zip(&sources) {
            let is_given = given(source)
                .is_some_and(|value| matches!(value, Symbol::Parameter(_) | Symbol::From(_)));
            // The parameter's name decides, as with a setter.
            let is_given = is_given || steps[0].roles.contains(&field.info.name);
            if is_zero(field.value) || is_given {
                continue;
            }
            if let Some((method, argument)) = self.setter(builder, source, field, true) {
                let roles = vec![field.info.name.clone()];
                steps.push(Step {
                    field: Some(name_of(field)),
                    ..call(&builder.name, &method, Some(on), vec![argument], roles)
                });
                on = steps.len() - 1;
                continue;
            }
            let adders = fill::adders(
                self.library,
                self.graph,
                (builder, source),
                field,
                self.package,
            );
            for adder in adders.into_iter().flatten() {
                let is_fluent = adder
                    .descriptor
                    .ends_with(&descriptor::of_class(&builder.name));
                steps.push(Step {
                    on: Some(on),
                    field: Some(name_of(field)),
                    ..adder
                });
                if is_fluent {
                    on = steps.len() - 1;
                }
            }
        }
        steps.push(call(&builder.name, end, Some(on), Vec::new(), Vec::new()));
        Some(Recipe {
            result: steps.len() - 1,
            steps,
        })
    }
}

/// The field of the builder from which a value comes.
fn builder_field(symbol: &Symbol) -> Option<String> {
    match symbol {
        Symbol::Field(_, field) => Some(field.name.clone()),
        Symbol::From(inner) => builder_field(inner),
        _ => None,
    }
}
