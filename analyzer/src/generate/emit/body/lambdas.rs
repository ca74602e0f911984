//! Writes lambda expressions and method references.

use super::{Body, text};
use crate::generate::emit::words::lower;
use crate::generate::lambda::{Functional, Given, Lambda, Thrown, named, takes};
use crate::generate::sequence::Method;
use crate::java::descriptor;
use crate::java::names::{is_identifier, sanitize};
use crate::text::simple_name;

impl Body<'_, '_> {
    /// The text of a lambda that is passed for a method's parameter, if it is the argument itself.
    pub(super) fn lambda(
        &mut self,
        lambda: &Lambda,
        passed: Option<(&Method, usize)>,
    ) -> Option<String> {
        let (types, result) = lambda.types();
        if let Given::Calls(method) = &lambda.gives {
            return self.reference(method, &types);
        }
        let class = match &types[..] {
            [only] => self.class_taken(lambda, only, passed),
            _ => None,
        };
        let mut names: Vec<String> = Vec::new();
        for at in 0..types.len() {
            let name = self.parameter(at, class.as_deref(), types.len());
            names.push(name);
        }
        let given = match &lambda.gives {
            Given::Nothing => "{}".to_owned(),
            Given::Parameter(at) => names.get(*at)?.clone(),
            Given::Value(value) => self.argument(value, result, false)?,
            Given::Throws(thrown) => self.throw(thrown)?,
            Given::Calls(_) => return None,
        };
        let head = match &names[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        Some(format!("{head} -> {given}"))
    }

    /// A body that only throws.
    fn throw(&mut self, thrown: &Thrown) -> Option<String> {
        let class = self.class_name(&thrown.class)?;
        let message = match &thrown.message {
            Some(message) => text(message)?,
            None => String::new(),
        };
        Some(format!("{{ throw new {class}({message}); }}"))
    }

    /// The text of a method reference whose interface method takes these types; without type
    /// arguments it is a lambda, which makes the call with casts.
    fn reference(&mut self, method: &Method, types: &[&str]) -> Option<String> {
        let class = self.class_name(&method.class)?;
        let name = match method.is_constructor() {
            true => "new",
            false => &method.name,
        };
        let (mut taken, _) = method.types();
        if !method.is_static && !method.is_constructor() {
            taken.insert(0, descriptor::of_class(&method.class));
        }
        if self.types.is_some() || taken.iter().eq(types) {
            return Some(format!("{class}::{name}"));
        }
        let mut names = Vec::new();
        let mut passed = Vec::new();
        for (at, (ty, wanted)) in types.iter().zip(&taken).enumerate() {
            let name = self.parameter(at, None, types.len());
            passed.push(match ty == wanted {
                true => name.clone(),
                false => format!("({}) {name}", self.type_name(wanted)?),
            });
            names.push(name);
        }
        let head = match &names[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let call = match (method.is_constructor(), method.is_static) {
            (true, _) => format!("new {class}"),
            (_, true) => format!("{class}.{name}"),
            _ => format!("({}).{name}", passed.remove(0)),
        };
        Some(format!("{head} -> {call}({})", passed.join(", ")))
    }

    /// The class of a lambda's parameter, if it is the program's: from its type, or from what is
    /// known of its type variable.
    fn class_taken(
        &self,
        lambda: &Lambda,
        ty: &str,
        passed: Option<(&Method, usize)>,
    ) -> Option<String> {
        let argument = || {
            let classes = self.context.classes;
            let known = Functional::of(&lambda.interface, &|name| classes.info(name))?;
            let variable = (*known.variables.first()?)?;
            let (method, at) = passed?;
            self.generic_parameters(method)?.get(at)?.argument(variable)
        };
        let class = argument().or_else(|| descriptor::class_name(ty))?;
        (!class.starts_with("java.")).then_some(class)
    }

    /// A name for a parameter of a lambda: after the class of the only one, if that is informative.
    fn parameter(&mut self, at: usize, class: Option<&str>, count: usize) -> String {
        let base = class.map(|class| {
            let simple = simple_name(class).rsplit('$').next().unwrap_or("x");
            lower(&sanitize(simple))
        });
        let base = base.filter(|name| is_identifier(name));
        let base = base.unwrap_or_else(|| match count {
            1 => "x".to_owned(),
            _ => ["a", "b", "c", "d"].get(at).unwrap_or(&"e").to_string(),
        });
        let mut name = base.clone();
        let mut number = 1;
        while !self.is_free(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        self.bound.insert(name.clone());
        name
    }

    /// Whether a lambda may also be of another type, as far as javac considers it in choosing a
    /// method.
    pub(super) fn may_be(&self, lambda: &Lambda, ty: &str) -> bool {
        let class = descriptor::class_name(ty);
        let other =
            class.and_then(|class| Functional::of(&class, &|name| self.context.classes.info(name)));
        let Some(other) = other else { return false };
        match &lambda.gives {
            // One of several methods of that name may take what the other type has.
            Given::Calls(method) => {
                let named = named(method, &|name| self.context.classes.info(name));
                let mut named = named.iter().flatten();
                named.any(|(_, one)| takes(one, other.parameters()))
            }
            _ => other.parameters() == lambda.types().0.len(),
        }
    }

    /// Whether a name is used neither by a variable of the test nor by anything else in its file.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name) && !self.names.is_used(name)
    }
}
