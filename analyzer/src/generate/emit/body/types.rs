//! The types and names of variables.

use super::Body;
use crate::classinfo::{ClassInfo, Nesting};
use crate::generate::emit::generics::{self, Type};
use crate::generate::emit::roles;
use crate::generate::emit::words::{capital, lower};
use crate::generate::platform::MAX_NESTED;
use crate::generate::sequence::{Arg, Method};
use crate::generate::worker::class_get_name;
use crate::java::descriptor;
use crate::java::names::{is_identifier, is_package_name, package_of, sanitize};
use crate::text::simple_name;
use hindsight_classfile::access;
use std::collections::{HashSet, VecDeque};

/// Adds the types that are needed of a variable which is passed.
fn arg_types(arg: &Arg, ty: &str, var: usize, wanted: &mut HashSet<String>) {
    match arg {
        Arg::Var(passed) if *passed == var => {
            wanted.insert(ty.to_owned());
        }
        Arg::Array(element, elements) => {
            for one in elements {
                arg_types(one, element, var, wanted);
            }
        }
        Arg::Lambda(lambda) => {
            if let Some(value) = lambda.value() {
                arg_types(value, lambda.types().1, var, wanted);
            }
        }
        Arg::Var(_) | Arg::Literal(_) => {}
    }
}

impl Body<'_, '_> {
    /// Whether a class has type parameters.
    pub(super) fn is_generic(&self, class: &str) -> bool {
        let found = self.context.classes.info(class);
        match found.as_ref().and_then(|found| found.info.as_ref()) {
            // An enum is only generic because of its superclass.
            Some(info) => {
                let signature = info.signature.as_deref();
                signature.is_some_and(|text| text.starts_with('<'))
            }
            None => false,
        }
    }

    /// The name of a type with its type arguments.
    pub(super) fn generic_name(&mut self, ty: &Type) -> Option<String> {
        Some(match ty {
            Type::Class(class, arguments) if !arguments.is_empty() => {
                let mut list = Vec::new();
                for one in arguments {
                    list.push(self.generic_name(one)?);
                }
                self.with_arguments(class, &list)?
            }
            Type::Array(element) => format!("{}[]", self.generic_name(element)?),
            Type::Wildcard(None) => "?".to_owned(),
            Type::Wildcard(Some((upper, bound))) => {
                let word = if *upper { "extends" } else { "super" };
                format!("? {word} {}", self.generic_name(bound)?)
            }
            Type::Class(..) | Type::Primitive(_) => self.type_name(&ty.erased())?,
            Type::Variable(_) | Type::Open(_) => return None,
        })
    }

    /// A class with type arguments, if they belong to an enclosing class, there:
    /// `Pool<Item>.Lease`.
    fn with_arguments(&mut self, class: &str, arguments: &[String]) -> Option<String> {
        let found = self.context.classes.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        let signature = info.and_then(|info| info.signature.as_deref());
        let own = signature.map_or(0, generics::variables);
        let at = arguments.len().saturating_sub(own);
        let (around, own) = arguments.split_at(at);
        let inner = info.and_then(ClassInfo::around);
        let name = match inner.filter(|_| !around.is_empty()) {
            Some((outer, simple)) => format!("{}.{simple}", self.with_arguments(outer, around)?),
            None => self.type_name(&descriptor::of_class(class))?,
        };
        // For the JDK's classes it is not known to which class they belong.
        let own = if info.is_none() { arguments } else { own };
        Some(match own.is_empty() {
            true => name,
            false => format!("{name}<{}>", own.join(", ")),
        })
    }

    /// The text of a type, if any source may name it.
    pub(super) fn type_name(&mut self, ty: &str) -> Option<String> {
        let (dimensions, element) = descriptor::element(ty);
        let name = match descriptor::primitive_name(element) {
            Some(primitive) => primitive.to_owned(),
            None => {
                let class = descriptor::class_name(element)?;
                self.class_name(&class)?
            }
        };
        Some(name + &"[]".repeat(dimensions))
    }

    pub(super) fn class_name(&mut self, class: &str) -> Option<String> {
        let mut path = Vec::new();
        let mut at = class.to_owned();
        loop {
            let found = self.context.classes.info(&at);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            let nesting = match info {
                Some(info) => info.nesting.clone(),
                // In the JDK, a dollar means nesting.
                None => match at.rsplit_once('$') {
                    Some((outer, simple)) => Nesting::Member {
                        outer: outer.to_owned(),
                        simple: simple.to_owned(),
                    },
                    None => Nesting::TopLevel,
                },
            };
            match nesting {
                Nesting::TopLevel => {
                    path.push(simple_name(&at).to_owned());
                    break;
                }
                Nesting::Member { outer, simple } if path.len() < MAX_NESTED => {
                    path.push(simple);
                    at = outer;
                }
                _ => return self.unnamed(class),
            }
        }
        let is_written =
            is_package_name(package_of(&at)) && path.iter().all(|name| is_identifier(name));
        if !is_written || !self.is_in_sight(class) {
            return self.unnamed(class);
        }
        path.reverse();
        Some(self.names.write(package_of(&at), &path.join(".")))
    }

    /// Whether the package of the test sees a class that is not local.
    pub(super) fn is_in_sight(&self, class: &str) -> bool {
        let (here, there) = (package_of(&self.checked.class), package_of(class));
        // No source of a package can name a class of the unnamed one.
        let is_imported = !there.is_empty() || here.is_empty();
        match here == there {
            true => !self.is_known(class) || self.is_shared(class),
            false => is_imported && (!self.is_known(class) || self.is_public(class)),
        }
    }

    /// Whether all of its package see a class.
    fn is_shared(&self, class: &str) -> bool {
        let classes = &self.context.classes;
        classes.are_all_around(class, |info| !info.is(access::PRIVATE | access::SYNTHETIC))
    }

    /// Whether it is on the class path.
    fn is_known(&self, class: &str) -> bool {
        let found = self.context.classes.info(class);
        found.is_some_and(|found| found.info.is_some())
    }

    /// Notes a class that no source can name.
    fn unnamed(&mut self, class: &str) -> Option<String> {
        self.unwritten = Some(format!("a type that no source can name: {class}"));
        None
    }

    pub(super) fn declare(&mut self, at: usize, method: &Method, call: &str) -> Option<String> {
        let (_, result) = method.types();
        // This is the type from signatures, if all that follows can be done with it.
        let told = self.types.as_ref().and_then(|types| types.var(at));
        let told = told.filter(|told| {
            let erased = told.erased();
            (told.has_arguments() || erased != result)
                && self.variable_type(at, &erased).as_ref() == Some(&erased)
        });
        if let Some(told) = told
            && let Some(written) = self.generic_name(&told)
        {
            let name = self.variable(at, &told.erased());
            self.vars.insert(at, name.clone());
            return Some(format!("{written} {name} = {call};"));
        }
        let Some(ty) = self.variable_type(at, &result) else {
            // It is needed as several types that have no type in common.
            if self.is_accessible(&result) {
                let written = self.type_name(&result)?;
                let name = self.variable(at, &result);
                self.vars.insert(at, name.clone());
                self.several.insert(at, result);
                return Some(format!("{written} {name} = {call};"));
            }
            let wanted = self.wanted(at, &result);
            let mut wanted: Vec<String> = (wanted.iter())
                .filter_map(|ty| descriptor::class_name(descriptor::element(ty).1))
                .collect();
            wanted.sort();
            return match &wanted[..] {
                [only] => self.unnamed(only),
                all => {
                    let call = method.call_of(&method.class);
                    let all = all.join(" and ");
                    self.unwritten = Some(format!(
                        "a type for what {call} returns, which is used as {all}"
                    ));
                    None
                }
            };
        };
        let written = self.type_name(&ty)?;
        let cast = if self.converts(&result, &ty) {
            String::new()
        } else {
            format!("({written}) ")
        };
        let name = match ty == "Ljava/lang/Object;" {
            // Its name says more.
            true => self.variable(at, &result),
            false => self.variable(at, &ty),
        };
        self.vars.insert(at, name.clone());
        Some(format!("{written} {name} = {cast}{call};"))
    }

    /// The types that a variable must have for all that follows, if its static one does not
    /// suffice.
    fn wanted(&self, at: usize, result: &str) -> HashSet<String> {
        let mut wanted: HashSet<String> = HashSet::new();
        for statement in &self.checked.sequence {
            let method = self.context.methods.get(statement.method);
            if statement.on == Some(at) && !self.has_method(result, method) {
                wanted.insert(descriptor::of_class(&method.class));
            }
            let (types, _) = method.types();
            for (arg, ty) in statement.args.iter().zip(&types) {
                arg_types(arg, ty, at, &mut wanted);
            }
        }
        wanted
    }

    /// Whether the test can name a type: any source can, or those of its package.
    fn is_accessible(&self, ty: &str) -> bool {
        let (_, element) = descriptor::element(ty);
        let here = package_of(&self.checked.class);
        let is_neighbour = |class: String| package_of(&class) == here && self.is_in_sight(&class);
        descriptor::is_primitive(element)
            || (self.context.worker.named(&class_get_name(ty))).is_none_or(|class| class.accessible)
            || descriptor::class_name(element).is_some_and(is_neighbour)
    }

    /// The static type, if all that follows can be done with it; else one with which it can.
    pub(super) fn variable_type(&self, at: usize, result: &str) -> Option<String> {
        let does_all = |ty: &str| {
            let mut wanted = self.wanted(at, ty).into_iter();
            wanted.all(|wanted| self.is_a(ty, &wanted))
        };
        if self.is_accessible(result) && does_all(result) {
            return Some(result.to_owned());
        }
        // One of the required types may be a subtype of all of them.
        let wanted = self.wanted(at, result);
        let mut fitting: Vec<&String> = (wanted.iter())
            .filter(|ty| self.is_accessible(ty) && does_all(ty))
            .collect();
        fitting.sort();
        if let Some(ty) = fitting.first() {
            return Some((*ty).clone());
        }
        // A value that is only compared may have any supertype.
        self.above(result).into_iter().find(|ty| does_all(ty))
    }

    /// A variable, as a call needs it: with a cast if it is needed as several types. `needed` is a
    /// type, or that of a method.
    pub(super) fn as_needed(
        &mut self,
        var: usize,
        needed: &str,
        method: Option<&Method>,
    ) -> Option<String> {
        let name = self.vars.get(&var)?.clone();
        let is_so = self.several.get(&var).is_none_or(|ty| {
            self.is_a(ty, needed) || method.is_some_and(|method| self.has_method(ty, method))
        });
        if is_so {
            return Some(name);
        }
        let cast = format!("({}) {name}", self.type_name(needed)?);
        Some(match method {
            Some(_) => format!("({cast})"),
            None => cast,
        })
    }

    /// The supertypes that any source can name, the nearest first, except those with type
    /// parameters.
    fn above(&self, ty: &str) -> Vec<String> {
        let (dimensions, element) = descriptor::element(ty);
        let Some(class) = descriptor::class_name(element) else {
            return Vec::new();
        };
        let mut pending = VecDeque::from([class]);
        let mut seen = HashSet::new();
        let mut above = Vec::new();
        while let Some(class) = pending.pop_front() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let found = self.context.classes.info(&class);
            if let Some(info) = found.as_ref().and_then(|found| found.info.as_ref()) {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
            if class != "java.lang.Object" && !self.is_generic(&class) && self.is_public(&class) {
                above.push(descriptor::of_class(&class));
            }
        }
        above.push(descriptor::of_class("java.lang.Object"));
        let array = "[".repeat(dimensions);
        above
            .into_iter()
            .map(|one| format!("{array}{one}"))
            .collect()
    }

    /// Whether a class is public, with those that enclose it.
    fn is_public(&self, class: &str) -> bool {
        let classes = &self.context.classes;
        classes.are_all_around(class, |info| info.is(access::PUBLIC))
    }

    /// Whether a type that is not generic has a method that can be called on it as on the class
    /// that declares it.
    fn has_method(&self, ty: &str, method: &Method) -> bool {
        let classes = self.context.classes;
        let throws = |class: &str| {
            let found = classes.info(class);
            let info = found.as_ref().and_then(|found| found.info.as_ref())?;
            let known = info.method(&method.name, &method.descriptor)?;
            known.is(access::PUBLIC).then(|| self.declared(known))
        };
        let mut pending: Vec<String> = descriptor::class_name(ty).into_iter().collect();
        while let Some(class) = pending.pop() {
            let found = classes.info(&class);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            let Some(info) = info.filter(|_| !self.is_generic(&class)) else {
                return false;
            };
            if let Some(declared) = throws(&class) {
                // What must be declared is known from the method's own class.
                return declared <= throws(&method.class).unwrap_or_default();
            }
            pending.extend(info.interfaces.iter().chain(&info.super_class).cloned());
        }
        false
    }

    /// Whether a value of one type is one of another.
    pub(super) fn is_a(&self, ty: &str, wanted: &str) -> bool {
        ty == wanted
            || wanted == "Ljava/lang/Object;"
            || (self.context.worker.named(&class_get_name(ty)))
                .is_some_and(|class| class.is_a(&class_get_name(wanted)))
    }

    pub(super) fn variable(&mut self, at: usize, ty: &str) -> String {
        let (dimensions, element) = descriptor::element(ty);
        let base = match descriptor::primitive_name(element) {
            Some("boolean") => "flag".to_owned(),
            Some("char") => "character".to_owned(),
            Some("int" | "long" | "short" | "byte") => "number".to_owned(),
            Some(_) => "value".to_owned(),
            None => {
                let class = descriptor::class_name(element).unwrap_or_default();
                let simple = sanitize(simple_name(&class).rsplit('$').next().unwrap_or("x"));
                lower(&simple)
            }
        };
        let base = if dimensions > 0 {
            format!("{base}s")
        } else {
            base
        };
        let base = match is_identifier(&base) {
            true => base,
            false => format!("a{}", capital(&base)),
        };
        *self.wanted.entry(base.clone()).or_default() += 1;
        let is_free = |name: &String| self.is_free(name) && !self.bound.contains(name);
        // A type is not informative enough, or several variables have the same.
        let mut roles = match self.shared.contains(&base) {
            true => roles::roles(self.context, self.checked, at, &base),
            false => Vec::new(),
        };
        if roles::is_vague(ty) {
            let role = roles::parameter(self.context, self.checked, at);
            roles.splice(0..0, role);
        }
        if let Some(role) = roles.into_iter().find(is_free) {
            self.taken.insert(role.clone());
            return role;
        }
        self.free(&base)
    }

    /// A name that nothing in the test has, with a number if needed.
    pub(super) fn free(&mut self, base: &str) -> String {
        let mut name = base.to_owned();
        let mut number = 1;
        while !self.is_free(&name) || self.bound.contains(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        self.taken.insert(name.clone());
        name
    }
}
