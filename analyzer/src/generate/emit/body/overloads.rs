//! Inserts casts if javac would select another method of the same name than the one that is meant.
//!
//! A call is written with arguments of their own types, and of several applicable methods javac
//! chooses the most specific one (JLS 15.12.2.5): for a `String` that is passed as a
//! `CharSequence`, the one that takes a `String`.

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
    /// The cast to write before each argument of a call, if there is to be one. If its class itself
    /// has several methods of that name, a null has a cast already.
    pub(super) fn casts(
        &mut self,
        method: &Method,
        statement: &Statement,
        (types, overloaded): (&[String], bool),
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
            .map(|(arg, ty)| match arg {
                Arg::Literal(Literal::Null) if !overloaded => None,
                _ => self.type_passed(arg, ty),
            })
            .collect();
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        for rival in &rivals {
            let mut all = statement.args.iter().zip(&passed).zip(rival);
            let takes = all.all(|((arg, passed), ty)| match (arg, passed) {
                (Arg::Lambda(lambda), _) => self.may_be(lambda, ty),
                (_, Some(passed)) => self.converts(passed, ty),
                (_, None) => !descriptor::is_primitive(ty),
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
        let signature = self.generic_parameters(method);
        for at in wanted {
            let ty = &types[at];
            if descriptor::is_primitive(ty)
                || passed[at].as_ref() == Some(ty) && !matches!(statement.args[at], Arg::Lambda(_))
            {
                continue;
            }
            let generic = signature.as_ref().and_then(|known| known.get(at));
            casts[at] = match generic {
                // The argument determines the type variable.
                Some(Type::Variable(_)) => None,
                Some(known) => self.generic_name(known).or_else(|| self.type_name(ty)),
                None => self.type_name(ty),
            };
        }
        casts
    }

    /// The parameters of the other methods that a call with as many arguments could mean.
    pub(super) fn rivals(
        &self,
        method: &Method,
        statement: &Statement,
        count: usize,
    ) -> Vec<Vec<String>> {
        let (own, _) = method.types();
        let (named, _) = self.named(method, statement);
        let parameters = named.iter().filter_map(parameters);
        parameters
            .filter(|other| other.len() == count && *other != own)
            .collect()
    }

    /// The methods with the same name, including this one, in all types in which javac looks for
    /// them; and whether all of these are known.
    fn named(&self, method: &Method, statement: &Statement) -> (Vec<classinfo::Method>, bool) {
        let mut pending = vec![method.class.clone()];
        if let Some(on) = statement.on.and_then(|on| self.static_type(on)) {
            pending.extend(descriptor::class_name(&on));
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut is_all = true;
        while let Some(class) = pending.pop() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let known = self.context.classes.info(&class);
            let Some(info) = known.as_ref().and_then(|known| known.info.as_ref()) else {
                is_all &= class == OBJECT;
                continue;
            };
            // Static methods of an interface are not inherited.
            let is_other = info.is(access::INTERFACE) && class != method.class;
            let is_named = |other: &&classinfo::Method| {
                other.name == method.name
                    && !other.is(access::SYNTHETIC | access::PRIVATE)
                    && !(is_other && other.is(access::STATIC))
            };
            found.extend(info.methods.iter().filter(is_named).cloned());
            if !method.is_constructor() {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
        }
        (found, is_all)
    }

    /// Whether a method has variable arity, and a call with the elements in place of its array
    /// cannot mean another one.
    pub(super) fn takes_spread(&self, method: &Method, statement: &Statement) -> bool {
        let (own, _) = method.types();
        let (Some((Arg::Array(element, elements), fixed)), (named, true)) =
            (statement.args.split_last(), self.named(method, statement))
        else {
            return false;
        };
        let (same, rivals): (Vec<_>, Vec<_>) = (named.iter())
            .filter_map(|one| Some((one, parameters(one)?)))
            .partition(|(_, parameters)| *parameters == own);
        // An overriding method may lack the flag.
        if same.is_empty() || !same.iter().all(|(one, _)| one.is(access::VARARGS)) {
            return false;
        }
        let fixed = fixed.iter().zip(&own);
        let elements = elements.iter().map(|one| (one, element));
        let passed: Vec<Option<String>> = (fixed.chain(elements))
            .map(|(arg, ty)| match arg {
                // It may be written without a cast.
                Arg::Literal(Literal::Null) => None,
                _ => self.type_passed(arg, ty),
            })
            .collect();
        let fits = |passed: &[Option<String>], types: &[String]| {
            let mut pairs = passed.iter().zip(types);
            pairs.all(|(passed, ty)| self.may_pass(passed.as_deref(), ty))
        };
        !rivals.iter().any(|(rival, types)| {
            let as_many = types.len() == passed.len() && fits(&passed, types);
            let spread = || {
                let (last, fixed) = types.split_last()?;
                let rest = passed.get(fixed.len()..)?;
                let element = vec![last.strip_prefix('[')?.to_owned(); rest.len()];
                Some(fits(&passed[..fixed.len()], fixed) && fits(rest, &element))
            };
            as_many || rival.is(access::VARARGS) && spread().unwrap_or(true)
        })
    }

    /// Whether a value may be converted to a type, with boxing; `None` is the type of a null.
    fn may_pass(&self, from: Option<&str>, to: &str) -> bool {
        let Some(from) = from else {
            return !descriptor::is_primitive(to);
        };
        match (descriptor::is_primitive(from), descriptor::is_primitive(to)) {
            // To a supertype of the box, or from one.
            (true, false) => to.starts_with("Ljava/"),
            (false, true) => from.starts_with("Ljava/lang/") && from != "Ljava/lang/String;",
            _ => self.converts(from, to),
        }
    }

    pub(super) fn generic_parameters(&self, method: &Method) -> Option<Vec<Type>> {
        let (_, known) = self.context.declared(method)?;
        generics::parameters(known.signature.as_deref()?)
    }

    /// The type that javac gives to an argument as it is written.
    pub(super) fn type_passed(&self, arg: &Arg, ty: &str) -> Option<String> {
        let class = |name: &str| Some(descriptor::of_class(name));
        match arg {
            Arg::Var(var) => self.static_type(*var),
            Arg::Array(element, _) => Some(format!("[{element}")),
            Arg::Lambda(lambda) => class(&lambda.interface),
            Arg::Literal(literal) => match literal {
                // It is written with a cast.
                Literal::Null => Some(ty.to_owned()),
                Literal::Text(_) | Literal::Units(_) => class("java.lang.String"),
                Literal::Class(_) => class("java.lang.Class"),
                Literal::Enum(name, _) | Literal::Box(name, _) | Literal::JdkValue(name, _) => {
                    class(name)
                }
                Literal::Bool(_) if !descriptor::is_primitive(ty) => class("java.lang.Boolean"),
                Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Double(_) => {
                    Some(ty.to_owned())
                }
            },
        }
    }

    /// The declared type of a variable, or the type of the call in its place.
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

    /// Whether a value of a type is converted to another one without boxing (JLS 5.3, phase 1).
    pub(super) fn converts(&self, from: &str, to: &str) -> bool {
        /// Primitive types, each of which widens to those behind it; `char` does not from `short` or `byte`.
        const WIDENING: &str = "BSCIJFD";
        if from == to {
            return true;
        }
        if descriptor::is_primitive(from) || descriptor::is_primitive(to) {
            let place = |ty: &str| WIDENING.find(ty);
            return matches!((place(from), place(to)), (Some(from), Some(to)) if from < to)
                && to != "C";
        }
        if let (Some(from), Some(to)) = (from.strip_prefix('['), to.strip_prefix('[')) {
            return !descriptor::is_primitive(from)
                && !descriptor::is_primitive(to)
                && self.converts(from, to);
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

/// The descriptors of a method's parameters.
fn parameters(method: &classinfo::Method) -> Option<Vec<String>> {
    let (parameters, _) = descriptor::split(&method.descriptor)?;
    Some(parameters.into_iter().map(str::to_owned).collect())
}
