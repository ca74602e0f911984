//! The body of a test.

use super::Context;
use super::generics::{Type, Types};
use super::words::{capital, lower, wrap};
use crate::classinfo::{ClassInfo, Nesting};
use crate::generate::asserted::{Assertion, Checked};
use crate::generate::sequence::{Arg, Method, Statement};
use crate::generate::worker::{class_get_name, primitive, unboxed};
use crate::graph::Typed;
use crate::java::names::{Names, is_identifier, package_of, sanitize};
use crate::java::{descriptor, literal};
use crate::junit::Framework;
use crate::model::values::Literal;
use crate::text::simple_name;
use hindsight_classfile::access;
use hindsight_tracelog::crash::Value;
use std::collections::{HashMap, HashSet};

/// The body of a test.
pub(super) struct Body<'a, 'n> {
    context: &'a Context<'a>,
    checked: &'a Checked,
    names: &'n mut Names,
    /// Names of variables.
    vars: HashMap<usize, String>,
    taken: HashSet<String>,
    /// Assertions that are used.
    pub statics: HashSet<&'static str>,
    /// Whether a call may throw what must be declared.
    pub throws: bool,
    /// Whether a generic type is written without its arguments.
    pub raw: bool,
    /// The calls as they are written.
    pub calls: Vec<String>,
    /// Types with arguments, unless they are to be left out.
    types: Option<Types<'a>>,
}

impl<'a, 'n> Body<'a, 'n> {
    /// For one test; with `raw`, types are written without arguments.
    pub fn new(
        context: &'a Context<'a>,
        checked: &'a Checked,
        names: &'n mut Names,
        raw: bool,
    ) -> Self {
        Body {
            context,
            checked,
            names,
            vars: HashMap::new(),
            taken: HashSet::new(),
            statics: HashSet::new(),
            throws: false,
            raw: false,
            calls: Vec::new(),
            types: (!raw).then(|| Types::of(context, checked)),
        }
    }

    /// The code; nothing if it cannot be written.
    pub fn write(&mut self) -> Option<String> {
        let mut used = HashSet::new();
        for (at, statement) in self.checked.sequence.iter().enumerate() {
            statement.vars(|var| {
                used.insert(var);
            });
            if let Some(Assertion::Same(var)) = self.checked.assertions[at] {
                used.insert(var);
            }
        }
        let mut out = String::new();
        for (at, statement) in self.checked.sequence.iter().enumerate() {
            let method = self.context.methods.get(statement.method).clone();
            self.throws |= self.may_throw(&method);
            let call = self.call(&method, statement)?;
            self.calls.push(call.clone());
            let line = match (&self.checked.assertions[at], used.contains(&at)) {
                (Some(Assertion::Throws(class, message)), _) => {
                    let class = self.type_name(&descriptor::of_class(class))?;
                    let assert = self.assert("assertThrows");
                    let thrown = format!("{assert}({class}.class, () -> {call})");
                    match message {
                        Some(message) => {
                            let message = text(message)?;
                            let equals = self.assert("assertEquals");
                            format!("{equals}({message}, {thrown}.getMessage());")
                        }
                        None => format!("{thrown};"),
                    }
                }
                // Alone it would be no statement.
                (None, false) if method.is_constant() => self.declare(at, &method, &call)?,
                (None, false) => format!("{call};"),
                (None, true) => self.declare(at, &method, &call)?,
                (Some(assertion), false) => self.asserted(&method, assertion, &call)?,
                (Some(assertion), true) => {
                    let declared = self.declare(at, &method, &call)?;
                    let name = self.vars.get(&at)?.clone();
                    let assert = self.asserted(&method, assertion, &name)?;
                    format!("{declared}\n        {assert}")
                }
            };
            out.push_str(&wrap(&line));
        }
        Some(out)
    }

    fn may_throw(&self, method: &Method) -> bool {
        if method.is_constant() {
            return false;
        }
        match self.context.classes.info(&method.class) {
            Some(found) => found
                .info
                .as_ref()
                .and_then(|info| info.method(&method.name, &method.descriptor))
                .is_none_or(|method| method.throws),
            None => true,
        }
    }

    fn assert(&mut self, name: &'static str) -> &'static str {
        self.statics.insert(name);
        name
    }

    fn call(&mut self, method: &Method, statement: &Statement) -> Option<String> {
        if method.is_constant() {
            let class = self.type_name(&descriptor::of_class(&method.class))?;
            return is_identifier(&method.name).then(|| format!("{class}.{}", method.name));
        }
        let (types, _) = method.types();
        let overloaded = self.is_overloaded(method, types.len());
        let mut args = Vec::new();
        for (arg, ty) in statement.args.iter().zip(&types) {
            args.push(self.argument(arg, ty, overloaded)?);
        }
        self.spread(method, statement, overloaded, &mut args);
        if method.is_constructor() {
            let Some(simple) = self.inner(method) else {
                let class = self.made(&method.class)?;
                return Some(format!("new {class}({})", args.join(", ")));
            };
            // The first argument is the object around the new one.
            let outer = match statement.args.first() {
                Some(Arg::Var(outer)) => self.vars.get(outer)?.clone(),
                _ => return None,
            };
            args.remove(0);
            return Some(format!("{outer}.new {simple}({})", args.join(", ")));
        }
        let args = args.join(", ");
        if !is_identifier(&method.name) {
            return None;
        }
        let on = match statement.on {
            Some(on) => self.vars.get(&on)?.clone(),
            None => self.type_name(&descriptor::of_class(&method.class))?,
        };
        Some(format!("{on}.{}({args})", method.name))
    }

    /// The name of an inner class after `new`, if it is one.
    fn inner(&self, method: &Method) -> Option<String> {
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

    /// Whether no supertype has a method of this name, as far as that is known.
    fn is_new_above(&self, info: &ClassInfo, name: &str) -> bool {
        let mut pending: Vec<String> = info.interfaces.clone();
        pending.extend(info.super_class.clone());
        while let Some(class) = pending.pop() {
            if class == "java.lang.Object" {
                continue;
            }
            let found = self.context.classes.info(&class);
            let Some(info) = found.as_ref().and_then(|found| found.info.as_ref()) else {
                return false;
            };
            if info.methods.iter().any(|method| method.name == name) {
                return false;
            }
            pending.extend(info.interfaces.iter().cloned());
            pending.extend(info.super_class.clone());
        }
        true
    }

    /// Writes the array of a method with variable arity as its elements, where that can mean nothing else.
    fn spread(
        &self,
        method: &Method,
        statement: &Statement,
        overloaded: bool,
        args: &mut Vec<String>,
    ) {
        let found = self.context.classes.info(&method.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        let Some(info) = info else { return };
        let is_variable = (info.method(&method.name, &method.descriptor))
            .is_some_and(|method| method.is(access::VARARGS));
        let alone = !overloaded
            && (info.methods.iter())
                .filter(|other| other.name == method.name)
                .count()
                == 1
            && self.is_new_above(info, &method.name);
        if let Some(Arg::Array(element, elements)) = statement.args.last()
            && is_variable
            && alone
            && let Some(array) = args.last()
        {
            let is_plain = |one: &Arg| !matches!(one, Arg::Literal(Literal::Null) | Arg::Array(..));
            // Of objects, a sole one that is an array would be taken for all of them.
            let objects = element == "Ljava/lang/Object;" && elements.len() == 1;
            let inner = array
                .split_once('{')
                .and_then(|(_, rest)| rest.strip_suffix('}'));
            if !elements.iter().all(is_plain) || objects {
                return;
            }
            let inner = inner.unwrap_or_default().to_owned();
            args.pop();
            if !inner.is_empty() {
                args.push(inner);
            }
        }
    }

    fn is_overloaded(&self, method: &Method, count: usize) -> bool {
        let found = self.context.classes.info(&method.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_none_or(|info| {
            let same = info.methods.iter().filter(|other| {
                other.name == method.name
                    && descriptor::split(&other.descriptor)
                        .is_some_and(|(types, _)| types.len() == count)
            });
            same.count() > 1
        })
    }

    fn argument(&mut self, arg: &Arg, ty: &str, overloaded: bool) -> Option<String> {
        Some(match arg {
            Arg::Var(var) => self.vars.get(var)?.clone(),
            Arg::Literal(Literal::Null) if overloaded => {
                format!("({}) null", self.raw_name(ty)?)
            }
            // Where only one method can be meant, the compiler makes the box.
            Arg::Literal(literal @ Literal::Box(class, _))
                if !overloaded
                    && matches!(
                        class.as_str(),
                        "java.lang.Integer" | "java.lang.Boolean" | "java.lang.Double"
                    ) =>
            {
                let kind = unboxed_kind(class);
                self.literal(&primitive(literal.clone()), kind)?
            }
            Arg::Literal(literal) => self.literal(literal, ty)?,
            Arg::Array(element, elements) => {
                let mut list = Vec::new();
                for one in elements {
                    list.push(self.argument(one, element, false)?);
                }
                let name = self.raw_name(element)?;
                format!("new {name}[] {{{}}}", list.join(", "))
            }
        })
    }

    /// The class behind `new`.
    fn made(&mut self, class: &str) -> Option<String> {
        let name = self.type_name(&descriptor::of_class(class))?;
        if !self.is_generic(class) {
            return Some(name);
        }
        match &self.types {
            Some(_) => Some(format!("{name}<>")),
            None => {
                self.raw = true;
                Some(name)
            }
        }
    }

    fn literal(&mut self, value: &Literal, ty: &str) -> Option<String> {
        let kind = ty.bytes().next()?;
        let typed = |value: Value, ty: &str| Typed::new(value, ty);
        Some(match value {
            Literal::Null => "null".to_owned(),
            Literal::Text(value) => text(value)?,
            Literal::Enum(class, name) => {
                if !is_identifier(name) {
                    return None;
                }
                format!("{}.{name}", self.type_name(&descriptor::of_class(class))?)
            }
            Literal::Class(name) => {
                let ty = match name.as_str() {
                    "void" => return Some("void.class".to_owned()),
                    name => descriptor_of(name),
                };
                format!("{}.class", self.type_name(&ty)?)
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
            // What is declared as an object is a box.
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

    /// Whether a class has type parameters.
    fn is_generic(&self, class: &str) -> bool {
        let found = self.context.classes.info(class);
        match found.as_ref().and_then(|found| found.info.as_ref()) {
            // An enum is generic by its superclass alone.
            Some(info) => {
                let signature = info.signature.as_deref();
                signature.is_some_and(|text| text.starts_with('<'))
            }
            None => false,
        }
    }

    /// The name of a type where a generic one should have arguments.
    fn raw_name(&mut self, ty: &str) -> Option<String> {
        let (_, element) = descriptor::element(ty);
        self.raw |= descriptor::class_name(element).is_some_and(|class| self.is_generic(&class));
        self.type_name(ty)
    }

    /// The name of a type with its arguments.
    fn generic_name(&mut self, ty: &Type) -> Option<String> {
        Some(match ty {
            Type::Class(class, arguments) if !arguments.is_empty() => {
                let mut list = Vec::new();
                for one in arguments {
                    list.push(self.generic_name(one)?);
                }
                let name = self.type_name(&descriptor::of_class(class))?;
                format!("{name}<{}>", list.join(", "))
            }
            Type::Array(element) => format!("{}[]", self.generic_name(element)?),
            Type::Wildcard(None) => "?".to_owned(),
            Type::Wildcard(Some((upper, bound))) => {
                let word = if *upper { "extends" } else { "super" };
                format!("? {word} {}", self.generic_name(bound)?)
            }
            Type::Class(..) | Type::Primitive(_) => self.raw_name(&ty.erased())?,
            Type::Variable(_) | Type::Open(_) => return None,
        })
    }

    /// How a type is written, if any source may name it.
    fn type_name(&mut self, ty: &str) -> Option<String> {
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

    fn class_name(&mut self, class: &str) -> Option<String> {
        let mut path = Vec::new();
        let mut at = class.to_owned();
        loop {
            let found = self.context.classes.info(&at);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            let nesting = match info {
                Some(info) => info.nesting.clone(),
                // Of the JDK: there a dollar stands for nesting.
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
                Nesting::Member { outer, simple } => {
                    path.push(simple);
                    at = outer;
                }
                Nesting::Local => return None,
            }
        }
        if !path.iter().all(|name| is_identifier(name)) {
            return None;
        }
        // No source of a package can name what is in none.
        if package_of(&at).is_empty() && !package_of(&self.checked.class).is_empty() {
            return None;
        }
        path.reverse();
        Some(self.names.write(package_of(&at), &path.join(".")))
    }

    fn declare(&mut self, at: usize, method: &Method, call: &str) -> Option<String> {
        let (_, result) = method.types();
        // What a signature says, if all that follows can be done with it.
        let told = self.types.as_ref().and_then(|types| types.var(at));
        let told = told.filter(|told| {
            let erased = told.erased();
            (told.has_arguments() || erased != result)
                && self.variable_type(at, &erased).as_ref() == Some(&erased)
        });
        if let Some(told) = told
            && let Some(written) = self.generic_name(&told)
        {
            let name = self.variable(&told.erased());
            self.vars.insert(at, name.clone());
            return Some(format!("{written} {name} = {call};"));
        }
        let ty = self.variable_type(at, &result)?;
        let written = self.raw_name(&ty)?;
        let cast = if ty == result {
            String::new()
        } else {
            format!("({written}) ")
        };
        let name = self.variable(&ty);
        self.vars.insert(at, name.clone());
        Some(format!("{written} {name} = {cast}{call};"))
    }

    /// The static type, if all that follows can be done with it.
    fn variable_type(&self, at: usize, result: &str) -> Option<String> {
        let mut wanted: HashSet<String> = HashSet::new();
        for statement in &self.checked.sequence {
            let method = self.context.methods.get(statement.method);
            if statement.on == Some(at) {
                wanted.insert(descriptor::of_class(&method.class));
            }
            let (types, _) = method.types();
            for (arg, ty) in statement.args.iter().zip(&types) {
                arg_types(arg, ty, at, &mut wanted);
            }
        }
        let is = |ty: &str, wanted: &str| {
            ty == wanted
                || wanted == "Ljava/lang/Object;"
                || (self.context.worker.named(&class_get_name(ty)))
                    .is_some_and(|class| class.is_a(&class_get_name(wanted)))
        };
        let accessible = |ty: &str| {
            let (_, element) = descriptor::element(ty);
            descriptor::primitive_name(element).is_some()
                || (self.context.worker.named(&class_get_name(ty)))
                    .is_none_or(|class| class.accessible)
        };
        if accessible(result) && wanted.iter().all(|wanted| is(result, wanted)) {
            return Some(result.to_owned());
        }
        // One of the types that are wanted may be all of them.
        let narrow = |ty: &&String| accessible(ty) && wanted.iter().all(|wanted| is(ty, wanted));
        let mut fitting: Vec<&String> = wanted.iter().filter(narrow).collect();
        fitting.sort();
        fitting.first().map(|ty| (*ty).clone())
    }

    fn variable(&mut self, ty: &str) -> String {
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
        let mut name = base.clone();
        let mut number = 1;
        while self.taken.contains(&name) || self.names.is_used(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        self.taken.insert(name.clone());
        name
    }

    fn asserted(&mut self, method: &Method, assertion: &Assertion, actual: &str) -> Option<String> {
        let (_, result) = method.types();
        let junit4 = self.context.framework == Framework::Junit4;
        Some(match assertion {
            Assertion::Equals(Literal::Null) => format!("{}({actual});", self.assert("assertNull")),
            Assertion::Equals(Literal::Bool(value)) if result == "Z" => {
                let name = if *value { "assertTrue" } else { "assertFalse" };
                format!("{}({actual});", self.assert(name))
            }
            Assertion::Equals(value) => {
                let expected = self.literal(value, &result)?;
                let delta = match (junit4, result.as_str()) {
                    (true, "D") => ", 0.0",
                    (true, "F") => ", 0.0f",
                    _ => "",
                };
                format!(
                    "{}({expected}, {actual}{delta});",
                    self.assert("assertEquals")
                )
            }
            Assertion::Array(elements) => {
                let element = result.strip_prefix('[')?;
                let primitive = descriptor::primitive_name(element).is_some();
                if !primitive && element != "Ljava/lang/String;" {
                    return None;
                }
                let mut list = Vec::new();
                for one in elements {
                    list.push(self.literal(one, element)?);
                }
                let name = self.type_name(element)?;
                let delta = match (junit4, element) {
                    (true, "D") => ", 0.0",
                    (true, "F") => ", 0.0f",
                    _ => "",
                };
                let assert = self.assert("assertArrayEquals");
                format!(
                    "{assert}(new {name}[] {{{}}}, {actual}{delta});",
                    list.join(", ")
                )
            }
            Assertion::Same(var) => {
                let name = self.vars.get(var)?.clone();
                format!("{}({name}, {actual});", self.assert("assertSame"))
            }
            Assertion::NotNull => format!("{}({actual});", self.assert("assertNotNull")),
            Assertion::Text(said) => {
                let said = text(said)?;
                format!(
                    "{}({said}, {actual}.toString());",
                    self.assert("assertEquals")
                )
            }
            Assertion::Throws(..) => return None,
        })
    }
}

/// A text as a literal.
fn text(value: &str) -> Option<String> {
    let units: Vec<u16> = value.encode_utf16().collect();
    literal::string(&units)
}

/// The types that are wanted of a variable that is passed.
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
        Arg::Var(_) | Arg::Literal(_) => {}
    }
}

/// What a box of a class holds.
fn unboxed_kind(class: &str) -> &'static str {
    match class {
        "java.lang.Boolean" => "Z",
        "java.lang.Double" => "D",
        _ => "I",
    }
}

/// The descriptor of a class by the name that `Class.getName` gives.
fn descriptor_of(name: &str) -> String {
    let primitives = ["Z", "B", "C", "S", "I", "J", "F", "D"];
    let primitive = primitives
        .into_iter()
        .find(|ty| descriptor::primitive_name(ty) == Some(name));
    primitive.map_or_else(|| descriptor::of_class(name), str::to_owned)
}
