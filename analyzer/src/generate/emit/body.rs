//! The body of a test.

use super::Context;
use super::generics::{Type, Types};
use super::pending::{Pending, Use};
use super::roles;
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

/// How deep calls may be in the arguments of others,
const MAX_DEPTH: usize = 2;
/// how long those may be that are passed,
const MAX_ARG: usize = 60;
/// and a call with all that is in it.
const MAX_CALL: usize = 80;

/// The body of a test.
pub(super) struct Body<'a, 'n> {
    context: &'a Context<'a>,
    checked: &'a Checked,
    names: &'n mut Names,
    /// How variables are written: mostly by their names.
    vars: HashMap<usize, String>,
    taken: HashSet<String>,
    /// How many variables have wanted each name,
    wanted: HashMap<String, usize>,
    /// and the names that several did when the body was last written.
    shared: HashSet<String>,
    /// Where each variable is used, and for what.
    uses: Vec<Vec<(usize, Use)>>,
    /// Whether calls stay out of others.
    plain: bool,
    pending: Vec<Pending>,
    out: String,
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
            wanted: HashMap::new(),
            shared: HashSet::new(),
            uses: uses(checked),
            plain: raw,
            pending: Vec::new(),
            out: String::new(),
            statics: HashSet::new(),
            throws: false,
            raw: false,
            calls: Vec::new(),
            types: (!raw).then(|| Types::of(context, checked)),
        }
    }

    /// The code; nothing if it cannot be written.
    pub fn write(&mut self) -> Option<String> {
        // What variables there are decides what they are called.
        self.once()?;
        let mut code = self.once()?;
        if self.statics.is_empty() {
            // All that was asserted is that calls return their object.
            self.plain = true;
            code = self.once()?;
        }
        Some(code)
    }

    fn once(&mut self) -> Option<String> {
        let wanted = std::mem::take(&mut self.wanted).into_iter();
        let shared = wanted.filter(|(_, count)| *count > 1);
        self.shared = shared.map(|(name, _)| name).collect();
        self.vars.clear();
        self.taken.clear();
        self.statics.clear();
        self.calls.clear();
        for at in 0..self.checked.sequence.len() {
            self.statement(at)?;
        }
        self.flush()?;
        Some(std::mem::take(&mut self.out))
    }

    /// Writes a call, or lets it wait for the next one.
    fn statement(&mut self, at: usize) -> Option<()> {
        let checked = self.checked;
        let statement = &checked.sequence[at];
        let method = self.context.methods.get(statement.method).clone();
        self.throws |= self.may_throw(&method);
        let used = !self.uses[at].is_empty();
        let assertion = checked.assertions[at].as_ref();
        if method.is_constant() && used && self.is_plain(at, &method) {
            let constant = self.call(&method, statement, &HashMap::new())?;
            self.calls.push(constant.clone());
            self.vars.insert(at, constant);
            return Some(());
        }
        if method.is_constant() && !used && assertion.is_none() {
            // Alone it would be no statement.
            self.calls.push(String::new());
            return Some(());
        }
        let throws = matches!(assertion, Some(Assertion::Throws(..)));
        // What is asked of an object stands alone, if that has a name.
        let asks = assertion.is_some() && self.returned_again(at, &method).is_none();
        if asks && self.pending.last().is_some_and(|top| top.declared) {
            self.flush()?;
        }
        let (call, taken) = self.with_operands(at, &method, statement, throws)?;
        self.calls.push(call.clone());
        let depth = taken
            .iter()
            .map(|(one, passed)| one.depth + usize::from(*passed));
        let depth = depth.max().unwrap_or(0);
        if let Some(object) = self.returned_again(at, &method) {
            let receiver = taken.into_iter().find(|(_, passed)| !passed);
            let on = receiver.map(|(one, _)| one).filter(|one| one.of == object);
            let (head, declared, asserted) = match on {
                Some(one) => (one.head, one.declared, one.asserted),
                None => (self.vars.get(&object)?.clone(), true, false),
            };
            let tail = call.strip_prefix(head.as_str())?.to_owned();
            self.pending.push(Pending {
                at,
                of: object,
                head,
                declared,
                tail,
                asserted: asserted || assertion.is_some(),
                depth,
            });
            return Some(());
        }
        if self.can_wait(at, &method, assertion) {
            self.pending.push(Pending {
                at,
                of: at,
                head: call,
                declared: false,
                tail: String::new(),
                asserted: false,
                depth,
            });
            return Some(());
        }
        self.flush()?;
        let line = match (assertion, used) {
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
        self.out.push_str(&wrap(&line));
        Some(())
    }

    /// A call with as many of the calls that wait in it as it can take; and these, with
    /// whether each is an argument.
    fn with_operands(
        &mut self,
        at: usize,
        method: &Method,
        statement: &Statement,
        throws: bool,
    ) -> Option<(String, Vec<(Pending, bool)>)> {
        let mut taken: Vec<(Pending, bool)> = Vec::new();
        let is_last = |body: &Self, var: usize| {
            let mut uses = body.uses[var].iter().filter(|(by, _)| *by >= at);
            uses.next().is_some_and(|(by, _)| *by == at) && uses.next().is_none()
        };
        if !throws {
            for arg in statement.args.iter().rev() {
                let Arg::Var(var) = arg else { continue };
                let top = self.pending.last().filter(|top| top.of == *var);
                let fits = top.is_some_and(|top| {
                    !top.declared && top.depth < MAX_DEPTH && top.text().chars().count() <= MAX_ARG
                });
                if fits && is_last(self, *var) {
                    taken.extend(self.pending.pop().map(|top| (top, true)));
                }
            }
            // What the result is compared with needs a name.
            let again = self.returned_again(at, method);
            let compared = self.checked.assertions[at] == statement.on.map(Assertion::Same);
            if let Some(on) = statement.on
                && (!compared || again == Some(on))
                && let Some(top) = self.pending.last().filter(|top| top.of == on)
                && (top.declared || is_last(self, on) || again == Some(on))
            {
                taken.extend(self.pending.pop().map(|top| (top, false)));
            }
        }
        let chain = match taken.last() {
            // A chain goes on below itself.
            Some((one, false)) if one.of != one.at => one.text().chars().count(),
            _ => 0,
        };
        let mut instead: HashMap<usize, String> = HashMap::new();
        instead.extend(taken.iter().map(|(one, _)| (one.of, one.text())));
        self.declare_operands(statement)?;
        let mut call = self.call(method, statement, &instead)?;
        if !taken.is_empty() && call.chars().count() - chain > MAX_CALL {
            let back = taken.drain(..).rev().map(|(one, _)| one);
            self.pending.extend(back);
            self.declare_operands(statement)?;
            call = self.call(method, statement, &HashMap::new())?;
        }
        Some((call, taken))
    }

    /// Writes the calls that wait down to the first whose variable a call uses.
    fn declare_operands(&mut self, statement: &Statement) -> Option<()> {
        let mut vars = HashSet::new();
        statement.vars(|var| {
            vars.insert(var);
        });
        let waits = |one: &Pending| vars.contains(&one.of);
        if let Some(last) = self.pending.iter().rposition(waits) {
            let above = self.pending.split_off(last + 1);
            self.flush()?;
            self.pending = above;
        }
        Some(())
    }

    /// Writes all calls that wait.
    fn flush(&mut self) -> Option<()> {
        for one in std::mem::take(&mut self.pending) {
            let later = self.uses[one.of].iter().any(|(by, _)| *by > one.at);
            let statement = &self.checked.sequence[one.of];
            let of = self.context.methods.get(statement.method).clone();
            let mut lines = Vec::new();
            if !one.declared && (later || one.tail.is_empty()) {
                lines.push(self.declare(one.of, &of, &one.text())?);
            } else if one.asserted {
                if !one.declared {
                    lines.push(self.declare(one.of, &of, &one.head)?);
                }
                let name = self.vars.get(&one.of)?.clone();
                let same = self.assert("assertSame");
                lines.push(format!("{same}({name}, {name}{});", one.tail));
            } else {
                lines.push(format!("{};", one.text()));
            }
            for line in lines {
                self.out.push_str(&wrap(&line));
            }
        }
        Some(())
    }

    /// The variable that a call returns again, if the next call may follow it at once.
    fn returned_again(&self, at: usize, method: &Method) -> Option<usize> {
        let statement = &self.checked.sequence[at];
        let on = statement.on?;
        let asserts_it = match &self.checked.assertions[at] {
            None => true,
            Some(Assertion::Same(same)) => *same == on,
            Some(_) => false,
        };
        let mut again = 0;
        statement.vars(|var| again += usize::from(var == on));
        let fluent = self.checked.fluent.get(at).is_some_and(|fluent| *fluent);
        if self.plain || !fluent || !asserts_it || again != 1 || !self.uses[at].is_empty() {
            return None;
        }
        let first = self.context.methods.get(self.checked.sequence[on].method);
        if first.is_constant() || !self.is_plain(on, first) {
            return None;
        }
        let (_, of) = first.types();
        let (_, result) = method.types();
        (self.is_a(&result, &of)).then_some(on)
    }

    /// Whether a call can wait: what it returns goes once into another call, or is called
    /// again and again.
    fn can_wait(&self, at: usize, method: &Method, assertion: Option<&Assertion>) -> bool {
        if self.plain || assertion.is_some() || method.is_constant() || !self.is_plain(at, method) {
            return false;
        }
        match &self.uses[at][..] {
            [] => false,
            [(_, Use::On | Use::Argument)] => true,
            [(by, Use::On), ..] => {
                let next = self.context.methods.get(self.checked.sequence[*by].method);
                self.returned_again(*by, next) == Some(at)
            }
            _ => false,
        }
    }

    /// Whether a call is an expression of just the type that its variable would have.
    fn is_plain(&self, at: usize, method: &Method) -> bool {
        let (_, result) = method.types();
        let (_, element) = descriptor::element(&result);
        if descriptor::class_name(element).is_some_and(|class| self.is_generic(&class)) {
            return false;
        }
        let told = self.types.as_ref().and_then(|types| types.var(at));
        told.is_none_or(|told| told.erased() == result && !told.has_arguments())
            && self.variable_type(at, &result).as_ref() == Some(&result)
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

    /// A call, with what stands `instead` of variables.
    fn call(
        &mut self,
        method: &Method,
        statement: &Statement,
        instead: &HashMap<usize, String>,
    ) -> Option<String> {
        if method.is_constant() {
            let class = self.type_name(&descriptor::of_class(&method.class))?;
            return is_identifier(&method.name).then(|| format!("{class}.{}", method.name));
        }
        let (types, _) = method.types();
        let overloaded = self.is_overloaded(method, types.len());
        let mut args = Vec::new();
        for (arg, ty) in statement.args.iter().zip(&types) {
            let taken = match arg {
                Arg::Var(var) => instead.get(var).cloned(),
                _ => None,
            };
            args.push(match taken {
                Some(taken) => taken,
                None => self.argument(arg, ty, overloaded)?,
            });
        }
        self.spread(method, statement, overloaded, &mut args);
        if method.is_constructor() {
            let Some(simple) = self.inner(method) else {
                let class = self.made(&method.class)?;
                return Some(format!("new {class}({})", args.join(", ")));
            };
            // The first argument is the object around the new one.
            if !matches!(statement.args.first(), Some(Arg::Var(_))) {
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
            Some(on) => instead.get(&on).or_else(|| self.vars.get(&on))?.clone(),
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
                // A constant with a body of its own has a class of its own.
                let own = self.context.classes.info(class);
                let own = own.as_ref().and_then(|found| found.info.as_ref());
                let class = match own {
                    Some(info) if info.nesting == Nesting::Local => info.super_class.as_ref()?,
                    _ => class,
                };
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
            let name = self.variable(at, &told.erased());
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
        let name = self.variable(at, &ty);
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
        let is = |ty: &str, wanted: &str| self.is_a(ty, wanted);
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

    /// Whether a value of one type is one of another.
    fn is_a(&self, ty: &str, wanted: &str) -> bool {
        ty == wanted
            || wanted == "Ljava/lang/Object;"
            || (self.context.worker.named(&class_get_name(ty)))
                .is_some_and(|class| class.is_a(&class_get_name(wanted)))
    }

    fn variable(&mut self, at: usize, ty: &str) -> String {
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
        let is_free = |name: &String| !self.taken.contains(name) && !self.names.is_used(name);
        // Where a type says not enough, or of several variables the same.
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
        let mut name = base.clone();
        let mut number = 1;
        while !is_free(&name) {
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

/// Where each variable is used. That a call returns its own object is no use of it.
fn uses(checked: &Checked) -> Vec<Vec<(usize, Use)>> {
    let mut uses: Vec<Vec<(usize, Use)>> = vec![Vec::new(); checked.sequence.len()];
    for (at, statement) in checked.sequence.iter().enumerate() {
        uses[statement.on.unwrap_or(at)].extend(statement.on.map(|_| (at, Use::On)));
        for arg in &statement.args {
            match arg {
                Arg::Var(var) => uses[*var].push((at, Use::Argument)),
                _ => arg.vars(&mut |var| uses[var].push((at, Use::Other))),
            }
        }
        if let Some(Assertion::Same(same)) = checked.assertions[at]
            && !(statement.on == Some(same) && checked.fluent.get(at) == Some(&true))
        {
            uses[same].push((at, Use::Other));
        }
    }
    uses
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
