//! Casts where javac would take another method of the same name than the one that is meant.
//!
//! A call is written with arguments of their own types, and of several methods that take these javac
//! chooses the most specific one (JLS 15.12.2.5): for a `String` that is passed as a `CharSequence`,
//! the one that takes a `String`.

use super::Body;
use crate::classinfo;
use crate::generate::emit::generics::{self, Type};
use crate::generate::sequence::{Arg, Method, Statement};
use crate::java::descriptor;
use crate::model::values::Literal;
use hindsight_classfile::access;
use std::collections::{BTreeSet, HashSet};

const OBJECT: &str = "java.lang.Object";

impl Body<'_, '_> {
    /// The cast to write before each argument of a call, if there is to be one.
    pub(super) fn casts(
        &mut self,
        method: &Method,
        statement: &Statement,
        types: &[String],
    ) -> Vec<Option<String>> {
        let mut casts = vec![None; types.len()];
        let rivals = self.rivals(method, statement, types.len());
        if rivals.is_empty() {
            return casts;
        }
        let passed: Vec<Option<String>> = statement
            .args
            .iter()
            .zip(types)
            .map(|(arg, ty)| self.type_passed(arg, ty))
            .collect();
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        for rival in &rivals {
            let takes = passed.iter().zip(rival).all(|(passed, ty)| match passed {
                Some(passed) => self.converts(passed, ty),
                None => !is_primitive(ty),
            });
            let is_less = types
                .iter()
                .zip(rival)
                .all(|(own, ty)| self.converts(own, ty));
            if takes && !is_less {
                let differs = |at: &usize| rival[*at] != types[*at];
                wanted.extend((0..types.len()).filter(differs));
            }
        }
        let signature = self.parameters(method);
        for at in wanted {
            let ty = &types[at];
            if is_primitive(ty) || passed[at].as_ref() == Some(ty) {
                continue;
            }
            let generic = signature.as_ref().and_then(|known| known.get(at));
            casts[at] = match generic {
                // What stands for it is what is passed.
                Some(Type::Variable(_)) => None,
                Some(known) => self.generic_name(known).or_else(|| self.type_name(ty)),
                None => self.type_name(ty),
            };
        }
        casts
    }

    /// What the other methods take that a call with so many arguments could mean.
    fn rivals(&self, method: &Method, statement: &Statement, count: usize) -> Vec<Vec<String>> {
        let mut pending = vec![method.class.clone()];
        if let Some(on) = statement.on.and_then(|on| self.static_type(on)) {
            pending.extend(descriptor::class_name(&on));
        }
        let mut seen = HashSet::new();
        let mut found: Vec<Vec<String>> = Vec::new();
        while let Some(class) = pending.pop() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let known = self.context.classes.info(&class);
            let Some(info) = known.as_ref().and_then(|known| known.info.as_ref()) else {
                continue;
            };
            let is_rival = |other: &&classinfo::Method| {
                other.name == method.name
                    && !other.is(access::SYNTHETIC | access::PRIVATE)
                    && other.descriptor != method.descriptor
            };
            for rival in info.methods.iter().filter(is_rival) {
                let Some((parameters, _)) = descriptor::split(&rival.descriptor) else {
                    continue;
                };
                let parameters: Vec<String> = parameters.into_iter().map(str::to_owned).collect();
                if parameters.len() == count && parameters != method.types().0 {
                    found.push(parameters);
                }
            }
            if !method.is_constructor() {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
        }
        found
    }

    fn parameters(&self, method: &Method) -> Option<Vec<Type>> {
        let found = self.context.classes.info(&method.class)?;
        let info = found.info.as_ref()?;
        let known = info.method(&method.name, &method.descriptor)?;
        generics::parameters(known.signature.as_deref()?)
    }

    /// The type that javac gives an argument as it is written.
    fn type_passed(&self, arg: &Arg, ty: &str) -> Option<String> {
        let class = |name: &str| Some(descriptor::of_class(name));
        match arg {
            Arg::Var(var) => self.static_type(*var),
            Arg::Array(element, _) => Some(format!("[{element}")),
            Arg::Literal(literal) => match literal {
                // Is written with a cast.
                Literal::Null => Some(ty.to_owned()),
                Literal::Text(_) => class("java.lang.String"),
                Literal::Class(_) => class("java.lang.Class"),
                Literal::Enum(name, _) | Literal::Box(name, _) | Literal::JdkValue(name, _) => {
                    class(name)
                }
                Literal::Bool(_) if !is_primitive(ty) => class("java.lang.Boolean"),
                Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Double(_) => {
                    Some(ty.to_owned())
                }
            },
        }
    }

    /// The type that a variable is declared with, or the call that stands for it has.
    fn static_type(&self, at: usize) -> Option<String> {
        if let Some(told) = self.types.as_ref().and_then(|types| types.var(at)) {
            return Some(told.erased());
        }
        let method = (self.context.methods).get(self.checked.sequence[at].method);
        if method.is_constructor() {
            return Some(descriptor::of_class(&method.class));
        }
        self.variable_type(at, &method.types().1)
    }

    /// Whether a value of a type is taken as one of another without boxing (JLS 5.3, phase 1).
    fn converts(&self, from: &str, to: &str) -> bool {
        /// Primitive types, each of which widens to those behind it; `char` does not from `short` or `byte`.
        const WIDENING: &str = "BSCIJFD";
        if from == to {
            return true;
        }
        if is_primitive(from) || is_primitive(to) {
            let place = |ty: &str| WIDENING.find(ty);
            return matches!((place(from), place(to)), (Some(from), Some(to)) if from < to)
                && to != "C";
        }
        if let (Some(from), Some(to)) = (from.strip_prefix('['), to.strip_prefix('[')) {
            return !is_primitive(from) && !is_primitive(to) && self.converts(from, to);
        }
        let Some(to) = descriptor::class_name(to) else {
            return false;
        };
        if to == OBJECT {
            return true;
        }
        let Some(from) = descriptor::class_name(from) else {
            return to == "java.lang.Cloneable" || to == "java.io.Serializable";
        };
        let mut pending = vec![from];
        let mut seen = HashSet::new();
        while let Some(class) = pending.pop() {
            if class == to {
                return true;
            }
            let known = self.context.classes.info(&class);
            if let Some(info) = known.as_ref().and_then(|known| known.info.as_ref())
                && seen.insert(class)
            {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
        }
        false
    }
}

fn is_primitive(ty: &str) -> bool {
    ty.len() == 1
}
