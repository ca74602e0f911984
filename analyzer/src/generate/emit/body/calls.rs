//! Writes calls and their arguments.

use super::{Body, text};
use crate::classinfo::Nesting;
use crate::generate::sequence::{Arg, Method, Statement};
use crate::generate::worker::{primitive, unboxed};
use crate::graph::Typed;
use crate::java::names::is_identifier;
use crate::java::{descriptor, jdk_value, literal};
use crate::model::values::Literal;
use crate::text::simple_name;
use hindsight_classfile::access;
use hindsight_tracelog::crash::Value;
use std::collections::HashMap;

/// The length up to which an array is written with its elements even if all have their default.
const FEW: usize = 3;

const OBJECT: &str = "Ljava/lang/Object;";
/// Types, or erasures of type variables, to which arrays belong.
const ARRAYS_ARE: [&str; 3] = [OBJECT, "Ljava/lang/Cloneable;", "Ljava/io/Serializable;"];

impl Body<'_, '_> {
    /// A call, with texts `instead` of variables.
    pub(super) fn call(
        &mut self,
        method: &Method,
        statement: &Statement,
        instead: &HashMap<usize, String>,
    ) -> Option<String> {
        if method.is_constant() {
            let class = self.type_name(&descriptor::of_class(&method.class))?;
            return is_identifier(&method.name).then(|| format!("{class}.{}", method.name));
        }
        if let (true, Some(Arg::Array(element, elements))) =
            (method.is_array_copy(), statement.args.first())
            && statement.args.get(1) == Some(&Arg::Literal(Literal::Int(elements.len() as i64)))
        {
            let array = Arg::Array(element.clone(), elements.clone());
            return self.argument(&array, &format!("[{element}"), false);
        }
        let (types, _) = method.types();
        let overloaded = self.is_overloaded(method, types.len());
        // A method of a superclass may take the unboxed value.
        let rivals = self.rivals(method, statement, types.len());
        let mut rivals = rivals.iter().flatten();
        let takes_primitives = rivals.any(|ty| descriptor::is_primitive(ty));
        let mut casts = self.casts(method, statement, (&types, overloaded));
        let mut args = Vec::new();
        let spread = self.spread(method, statement);
        if spread.is_none()
            && let Some(last) = casts.last_mut().filter(|cast| cast.is_none())
        {
            *last = self.cast_of_all(method, statement, &types);
        }
        let written = statement.args.len() - usize::from(spread.is_some());
        let passed = statement.args.iter().zip(&types).zip(casts);
        for (at, ((arg, ty), cast)) in passed.take(written).enumerate() {
            let taken = match arg {
                Arg::Var(var) => instead.get(var).cloned(),
                _ => None,
            };
            let is_box = matches!(arg, Arg::Literal(Literal::Box(..)));
            let written = match taken {
                Some(taken) => taken,
                None if let Arg::Lambda(lambda) = arg => self.lambda(lambda, Some((method, at)))?,
                None => self.argument(arg, ty, overloaded || is_box && takes_primitives)?,
            };
            args.push(match cast {
                // It may have one already.
                Some(cast) if !written.starts_with(&format!("({cast})")) => {
                    format!("({cast}) {written}")
                }
                _ => written,
            });
        }
        if let Some((element, elements)) = spread {
            args.extend(self.list(element, elements)?);
        }
        if method.is_constructor() {
            let Some(simple) = self.inner(method) else {
                let class = self.made(&method.class)?;
                return Some(format!("new {class}({})", args.join(", ")));
            };
            // The first argument is the outer instance of the new object.
            let outer = statement.args.first();
            if !matches!(outer, Some(Arg::Var(_) | Arg::Literal(Literal::Enum(..)))) {
                return None;
            }
            let outer = args.remove(0);
            return Some(format!("{outer}.new {simple}({})", args.join(", ")));
        }
        let args = args.join(", ");
        if !is_identifier(&method.name) {
            return None;
        }
        let on = match statement.on {
            Some(on) => match instead.get(&on) {
                Some(instead) => instead.clone(),
                None => {
                    let class = descriptor::of_class(&method.class);
                    self.as_needed(on, &class, Some(method))?
                }
            },
            None => self.type_name(&descriptor::of_class(&method.class))?,
        };
        Some(format!("{on}.{}({args})", method.name))
    }

    /// The name of an inner class after `new`, if it is one.
    pub(super) fn inner(&self, method: &Method) -> Option<String> {
        let found = self.context.classes.info(&method.class)?;
        let info = found.info.as_ref()?;
        let (types, _) = method.types();
        match &info.nesting {
            Nesting::Member { outer, simple } if info.is_inner() => {
                let diamond = if self.is_generic(&method.class) {
                    "<>"
                } else {
                    ""
                };
                (types.first() == Some(&descriptor::of_class(outer)))
                    .then(|| format!("{simple}{diamond}"))
            }
            _ => None,
        }
    }

    /// The elements of the array argument of a method with variable arity, if they can be written
    /// in its place without ambiguity.
    fn spread<'s>(
        &self,
        method: &Method,
        statement: &'s Statement,
    ) -> Option<(&'s str, &'s [Arg])> {
        let Some(Arg::Array(element, elements)) = statement.args.last() else {
            return None;
        };
        let is_plain = |one: &Arg| !matches!(one, Arg::Literal(Literal::Null) | Arg::Array(..));
        // A single element that is an array of objects would be taken for all of them.
        let is_taken_for_all = || match &elements[..] {
            [sole] if element == OBJECT => {
                let passed = self.type_passed(sole, element);
                passed.is_none_or(|ty| ty.starts_with('[') || ARRAYS_ARE.contains(&ty.as_str()))
            }
            _ => false,
        };
        let is_spread = elements.iter().all(is_plain)
            && !is_taken_for_all()
            && self.takes_spread(method, statement);
        is_spread.then_some((element, elements))
    }

    /// The cast of an argument that stands for all elements of a variable-arity parameter, if it
    /// could as well be one of them: a null, or an array of texts for objects.
    fn cast_of_all(
        &mut self,
        method: &Method,
        statement: &Statement,
        types: &[String],
    ) -> Option<String> {
        let (ty, arg) = (types.last()?, statement.args.last()?);
        let element = ty.strip_prefix('[').filter(|one| one.len() > 1)?;
        let (_, known) = self.context.declared(method)?;
        let is_one = match arg {
            Arg::Literal(Literal::Null) => true,
            arg => {
                let passed = self.type_passed(arg, ty)?;
                // The argument determines the type variable.
                let is_fixed = known.signature.is_none();
                is_fixed && passed != *ty && self.converts(&passed, element)
            }
        };
        (known.is(access::VARARGS) && is_one)
            .then(|| self.type_name(ty))
            .flatten()
    }

    pub(super) fn is_overloaded(&self, method: &Method, count: usize) -> bool {
        let found = self.context.classes.info(&method.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_none_or(|info| {
            let same = info.methods.iter().filter(|other| {
                // To a source, a bridge is not a separate method.
                other.name == method.name
                    && !other.is(access::SYNTHETIC)
                    && descriptor::split(&other.descriptor)
                        .is_some_and(|(types, _)| types.len() == count)
            });
            same.count() > 1
        })
    }

    pub(super) fn argument(&mut self, arg: &Arg, ty: &str, overloaded: bool) -> Option<String> {
        Some(match arg {
            Arg::Var(var) => {
                let name = self.as_needed(*var, ty, None)?;
                match self.is_of_others(*var, ty) {
                    true => format!("({}) {name}", self.type_name(ty)?),
                    false => name,
                }
            }
            Arg::Literal(Literal::Null) if overloaded => {
                format!("({}) null", self.type_name(ty)?)
            }
            // If only one method can be meant, the compiler boxes the value.
            Arg::Literal(literal @ Literal::Box(class, _))
                if let Some(kind) = boxed_alone(class, ty).filter(|_| !overloaded) =>
            {
                self.literal(&primitive(literal.clone()), kind)?
            }
            Arg::Literal(literal) => self.literal(literal, ty)?,
            Arg::Lambda(lambda) => self.lambda(lambda, None)?,
            Arg::Array(element, elements) => {
                let name = self.type_name(element)?;
                let is_new =
                    !element.starts_with('[') && elements.iter().all(|one| one.is_fresh(element));
                match elements.len() {
                    FEW.. if is_new => format!("new {name}[{}]", elements.len()),
                    _ => format!("new {name}[] {}", self.elements(element, elements)?),
                }
            }
        })
    }

    /// The elements of an array in braces.
    fn elements(&mut self, element: &str, elements: &[Arg]) -> Option<String> {
        Some(format!("{{{}}}", self.list(element, elements)?.join(", ")))
    }

    /// The elements of an array; nested arrays of exactly the element type need no `new`.
    fn list(&mut self, element: &str, elements: &[Arg]) -> Option<Vec<String>> {
        let each = elements.iter().map(|one| match one {
            Arg::Array(inner, elements) if element.strip_prefix('[') == Some(inner) => {
                self.elements(inner, elements)
            }
            one => self.argument(one, element, false),
        });
        each.collect()
    }

    /// Whether javac may know that a variable's type arguments differ from the required ones, as
    /// with `Properties` for a map of texts; this does not matter for a variable that is declared
    /// with type arguments.
    fn is_of_others(&self, var: usize, ty: &str) -> bool {
        let is_generic = |ty: &str| {
            let class = descriptor::class_name(ty);
            class.is_some_and(|class| self.is_generic(&class))
        };
        if self.types.is_some() || !is_generic(ty) {
            return false;
        }
        let method = (self.context.methods).get(self.checked.sequence[var].method);
        let declared = self.variable_type(var, &method.types().1);
        declared.is_some_and(|declared| declared != ty && !is_generic(&declared))
    }

    /// Whether a class is an enum.
    fn is_enum(&self, class: &str) -> bool {
        let found = self.context.classes.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_some_and(|info| info.is(access::ENUM))
    }

    /// The class after `new`.
    pub(super) fn made(&mut self, class: &str) -> Option<String> {
        let name = self.type_name(&descriptor::of_class(class))?;
        if !self.is_generic(class) {
            return Some(name);
        }
        match &self.types {
            Some(_) => Some(format!("{name}<>")),
            None => Some(name),
        }
    }

    pub(super) fn literal(&mut self, value: &Literal, ty: &str) -> Option<String> {
        let kind = ty.bytes().next()?;
        let typed = |value: Value, ty: &str| Typed::new(value, ty);
        Some(match value {
            Literal::Null => "null".to_owned(),
            Literal::Text(value) => text(value)?,
            Literal::Units(units) => literal::string(units)?,
            Literal::Enum(class, name) => {
                if !is_identifier(name) {
                    return None;
                }
                // A constant with a body has a class of its own.
                let own = self.context.classes.info(class);
                let own = own.as_ref().and_then(|found| found.info.as_ref());
                let above = own.and_then(|info| info.super_class.as_ref());
                let class = match above {
                    Some(above) if self.is_enum(above) => above,
                    _ => class,
                };
                format!("{}.{name}", self.type_name(&descriptor::of_class(class))?)
            }
            Literal::Class(name) => {
                format!("{}.class", self.type_name(&descriptor::of_name(name))?)
            }
            Literal::Box(class, text) => {
                let (kind, _) = unboxed(class, text)?;
                let literal = primitive(value.clone());
                let inner = self.literal(&literal, &char::from(kind).to_string())?;
                format!(
                    "{}.valueOf({inner})",
                    self.names.java_lang(simple_name(class))
                )
            }
            Literal::JdkValue(class, said) => {
                if let Some((class, name)) = jdk_value::constant(class, said) {
                    let class = self.type_name(&descriptor::of_class(class))?;
                    return Some(format!("{class}.{name}"));
                }
                let way = jdk_value::way(class)?;
                let class = self.type_name(&descriptor::of_class(way.class))?;
                if let Some((method, parts)) = jdk_value::parts(way.class, said) {
                    let parts = parts.into_iter().map(|(class, said)| {
                        let part = Literal::JdkValue(class.to_owned(), said.to_owned());
                        self.literal(&part, ty)
                    });
                    let parts: Option<Vec<String>> = parts.collect();
                    return Some(format!("{class}.{method}({})", parts?.join(", ")));
                }
                let said = text(said)?;
                match way.method {
                    Some(method) => format!("{class}.{method}({said})"),
                    None => format!("new {class}({said})"),
                }
            }
            // A value that is declared as an object is boxed.
            Literal::Bool(value) if kind == b'L' => {
                format!("{}.valueOf({value})", self.names.java_lang("Boolean"))
            }
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => literal::primitive(typed(Value::Int(*value), ty), self.names)?,
            Literal::Float(bits) => {
                literal::primitive(typed(Value::Float(f32::from_bits(*bits)), "F"), self.names)?
            }
            Literal::Double(bits) => {
                literal::primitive(typed(Value::Double(f64::from_bits(*bits)), "D"), self.names)?
            }
        })
    }
}

/// The content of a box of a class, if the compiler makes exactly that box of it for a parameter. A
/// `short` is written with a cast, which is no shorter than the box if anything may be passed.
fn boxed_alone(class: &str, ty: &str) -> Option<&'static str> {
    let is_just_that = || descriptor::of_class(class) == ty;
    Some(match class {
        "java.lang.Boolean" => "Z",
        "java.lang.Character" => "C",
        "java.lang.Double" => "D",
        "java.lang.Float" => "F",
        "java.lang.Integer" => "I",
        "java.lang.Long" => "J",
        "java.lang.Byte" if is_just_that() => "B",
        "java.lang.Short" if is_just_that() => "S",
        _ => return None,
    })
}
