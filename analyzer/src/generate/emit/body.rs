//! The body of a test.
//!
//! - `calls` writes calls and their arguments.
//! - `lambdas` writes lambda expressions and method references.
//! - `overloads` inserts casts that select the right method.
//! - `types` decides on the types and names of variables.

mod calls;
mod lambdas;
mod overloads;
mod types;

use super::generics::Types;
use super::pending::{Pending, Use};
use super::{ASSERTIONS, Context};
use crate::classinfo;
use crate::generate::asserted::{Assertion, Checked};
use crate::generate::sequence::{Arg, Method, Statement};
use crate::java::lines::{INDENT, fits, laid_out};
use crate::java::names::Names;
use crate::java::{descriptor, literal};
use crate::junit::Framework;
use crate::model::values::Literal;
use std::collections::{HashMap, HashSet};

/// The exceptions that a test must declare because of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thrown {
    /// Nothing.
    #[default]
    Nothing,
    /// `Exception`, which covers nearly all.
    Exception,
    /// `Throwable`.
    Throwable,
}

/// The depth of calls within the arguments of others.
const MAX_DEPTH: usize = 2;
/// The length of the longest such call that is an argument.
const MAX_ARG: usize = 60;
/// The length of the longest call with all that is in it.
const MAX_CALL: usize = 80;

/// The body of a test.
pub(super) struct Body<'a, 'n> {
    context: &'a Context<'a>,
    checked: &'a Checked,
    names: &'n mut Names,
    /// The text of each variable, which mostly is its name.
    vars: HashMap<usize, String>,
    taken: HashSet<String>,
    /// The names of lambdas' parameters, which variables must not have.
    bound: HashSet<String>,
    /// The types of variables whose uses need several unrelated types: these are cast.
    several: HashMap<usize, String>,
    /// How many variables have wanted each name.
    wanted: HashMap<String, usize>,
    /// The names that several variables had when the body was last written.
    shared: HashSet<String>,
    /// The uses of each variable, with their kinds.
    uses: Vec<Vec<(usize, Use)>>,
    /// Whether calls are not nested in others.
    plain: bool,
    pending: Vec<Pending>,
    out: String,
    /// The assertion methods that are used.
    pub statics: HashSet<&'static str>,
    /// The exceptions that must be declared.
    pub throws: Thrown,
    /// The calls as they are written.
    pub calls: Vec<String>,
    /// The reason why something cannot be written.
    pub unwritten: Option<String>,
    /// The types with arguments, unless they are to be omitted.
    types: Option<Types<'a>>,
}

impl<'a, 'n> Body<'a, 'n> {
    /// The body of one test; with `raw`, types are written without arguments.
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
            bound: HashSet::new(),
            several: HashMap::new(),
            wanted: HashMap::new(),
            shared: HashSet::new(),
            uses: uses(checked),
            plain: raw,
            pending: Vec::new(),
            out: String::new(),
            statics: HashSet::new(),
            throws: Thrown::Nothing,
            calls: Vec::new(),
            unwritten: None,
            types: (!raw).then(|| Types::of(context, checked)),
        }
    }

    /// The code; `None` if it cannot be written, for the reason in `unwritten`.
    pub fn write(&mut self) -> Option<String> {
        // The names depend on which variables there are.
        self.once()?;
        let mut code = self.once()?;
        if self.statics.is_empty() {
            // The only assertions were that calls return their object.
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
        self.bound.clear();
        self.several.clear();
        self.statics.clear();
        self.calls.clear();
        for at in 0..self.checked.sequence.len() {
            self.unwritten = None;
            if self.statement(at).is_none() {
                let method = (self.context.methods).get(self.checked.sequence[at].method);
                let call = || {
                    format!(
                        "a call that no source can make: {}",
                        method.call_of(&method.class)
                    )
                };
                self.unwritten.get_or_insert_with(call);
                return None;
            }
        }
        self.flush()?;
        Some(std::mem::take(&mut self.out))
    }

    /// Writes a call, or keeps it to nest it in the next one.
    fn statement(&mut self, at: usize) -> Option<()> {
        let checked = self.checked;
        let statement = &checked.sequence[at];
        let method = self.context.methods.get(statement.method).clone();
        self.throws = self.throws.max(self.thrown_by(&method));
        let used = !self.uses[at].is_empty();
        let assertion = checked.assertions[at].as_ref();
        if method.is_constant() && used && self.is_plain(at, &method) {
            let constant = self.call(&method, statement, &HashMap::new())?;
            self.calls.push(constant.clone());
            self.vars.insert(at, constant);
            return Some(());
        }
        if method.is_constant() && !used && assertion.is_none() {
            // It would not be a statement by itself.
            self.calls.push(String::new());
            return Some(());
        }
        let throws = matches!(assertion, Some(Assertion::Throws(..)));
        // A question to an object stands alone, if the object has a name.
        let asks = assertion.is_some() && self.returned_again(at, &method).is_none();
        if asks && self.pending.last().is_some_and(|top| top.declared) {
            self.flush()?;
        }
        let (mut call, taken) = self.with_operands(at, &method, statement, throws)?;
        if at >= checked.calls().len()
            && method.is_array_copy()
            && let Some(Arg::Var(array)) = statement.args.first()
        {
            call = self.vars.get(array)?.clone();
        }
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
                let message = message.as_deref().and_then(text);
                self.thrown(&class, message.as_deref(), &call)
            }
            (None, false) => format!("{call};"),
            (None, true) => self.declare(at, &method, &call)?,
            (Some(assertion), false) => self.asserted(&method, assertion, &call)?,
            (Some(assertion), true) => {
                let declared = self.declare(at, &method, &call)?;
                let name = self.vars.get(&at)?.clone();
                let assert = self.asserted(&method, assertion, &name)?;
                format!("{declared}\n{INDENT}{assert}")
            }
        };
        self.out.push_str(&laid_out(&line));
        Some(())
    }

    /// The assertion that a call throws, with its message; the exception gets a name if that is too
    /// long for a line.
    fn thrown(&mut self, class: &str, message: Option<&str>, call: &str) -> String {
        let assert = self.assert("assertThrows");
        let thrown = format!("{assert}({class}.class, () -> {call})");
        let Some(message) = message else {
            return format!("{thrown};");
        };
        let equals = self.assert("assertEquals");
        let line = format!("{equals}({message}, {thrown}.getMessage());");
        if fits(&line) {
            return line;
        }
        let name = self.free("thrown");
        format!("{class} {name} = {thrown};\n{INDENT}{equals}({message}, {name}.getMessage());")
    }

    /// A call with as many of the pending calls as it can nest; and these, with whether each is an
    /// argument.
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
            // The object with which the result is compared needs a name.
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
            // A chain continues on the lines below.
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

    /// Writes the pending calls down to the first whose variable a call uses.
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

    /// Writes all pending calls.
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
                self.out.push_str(&laid_out(&line));
            }
        }
        Some(())
    }

    /// The variable that a call returns again, if the next call may be chained to it.
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

    /// Whether a call can be nested: its result is used once by another call, or calls are chained
    /// to it.
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

    /// Whether a call is an expression of exactly the type that its variable would have.
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

    /// The exceptions that a caller of a method must declare.
    fn thrown_by(&self, method: &Method) -> Thrown {
        if method.is_constant() {
            return Thrown::Nothing;
        }
        let declared = self.context.declared(method);
        declared.map_or(Thrown::Exception, |(_, declared)| self.declared(&declared))
    }

    /// The exceptions that a method declares.
    fn declared(&self, method: &classinfo::Method) -> Thrown {
        let all = method.exceptions.iter();
        let all = all.map(|class| match self.is_throwable_alone(class) {
            true => Thrown::Throwable,
            false => Thrown::Exception,
        });
        all.max().unwrap_or_default()
    }

    /// Whether an exception class is known to be neither an `Exception` nor an `Error`.
    fn is_throwable_alone(&self, class: &str) -> bool {
        let thrown = descriptor::of_class(class);
        let is = |class: &str| self.converts(&thrown, class);
        is("Ljava/lang/Throwable;") && !is("Ljava/lang/Exception;") && !is("Ljava/lang/Error;")
    }

    fn assert(&mut self, name: &'static str) -> &'static str {
        debug_assert!(ASSERTIONS.contains(&name), "no test may be called {name}");
        self.statics.insert(name);
        name
    }

    /// The assertion about a call's result; if a source cannot express it, that there is one.
    fn asserted(&mut self, method: &Method, assertion: &Assertion, actual: &str) -> Option<String> {
        if let Some(exactly) = self.asserted_exactly(method, assertion, actual) {
            return Some(exactly);
        }
        let (_, result) = method.types();
        let is_object = !descriptor::is_primitive(&result);
        is_object.then(|| format!("{}({actual});", self.assert("assertNotNull")))
    }

    fn asserted_exactly(
        &mut self,
        method: &Method,
        assertion: &Assertion,
        actual: &str,
    ) -> Option<String> {
        let (_, result) = method.types();
        let junit4 = self.context.framework == Framework::Junit4;
        Some(match assertion {
            Assertion::Equals(Literal::Null) => format!("{}({actual});", self.assert("assertNull")),
            Assertion::Equals(Literal::Bool(value)) if result == "Z" => {
                let name = if *value { "assertTrue" } else { "assertFalse" };
                format!("{}({actual});", self.assert(name))
            }
            Assertion::Equals(Literal::Enum(class, name)) if !self.is_in_sight(class) => {
                let any = self.type_name("Ljava/lang/Enum;")?;
                format!(
                    "{}({}, (({any}<?>) {actual}).name());",
                    self.assert("assertEquals"),
                    text(name)?
                )
            }
            Assertion::Equals(value) => {
                let expected = self.literal(value, &result)?;
                let assert = self.assert("assertEquals");
                let boxed = match result.as_str() {
                    "D" => "Ljava/lang/Double;",
                    "F" => "Ljava/lang/Float;",
                    _ => return Some(format!("{assert}({expected}, {actual});")),
                };
                if junit4 && is_zero(value) {
                    let boxed = self.type_name(boxed)?;
                    let of = |value: &str| format!("{boxed}.valueOf({value})");
                    format!("{assert}({}, {});", of(&expected), of(actual))
                } else {
                    let delta = delta(junit4, &result);
                    format!("{assert}({expected}, {actual}{delta});")
                }
            }
            Assertion::Array(elements) => {
                let element = result.strip_prefix('[').unwrap_or_default();
                let primitive = descriptor::is_primitive(element);
                let is_object = |one: &Literal| {
                    matches!(
                        one,
                        Literal::Null | Literal::Text(_) | Literal::Units(_) | Literal::Enum(..)
                    )
                };
                let objects = element.starts_with('L') && elements.iter().all(is_object);
                if !primitive && !objects {
                    // The declared type, such as `Object`, cannot be compared.
                    return Some(format!("{}({actual});", self.assert("assertNotNull")));
                }
                let mut list = Vec::new();
                for one in elements {
                    list.push(self.literal(one, element)?);
                }
                let name = self.type_name(element)?;
                let expected = format!("new {name}[] {{{}}}", list.join(", "));
                let delta = delta(junit4, element);
                if !delta.is_empty() && elements.iter().any(is_zero) {
                    let arrays = self.type_name("Ljava/util/Arrays;")?;
                    let of = |array: &str| format!("{arrays}.toString({array})");
                    let assert = self.assert("assertEquals");
                    return Some(format!("{assert}({}, {});", of(&expected), of(actual)));
                }
                let assert = self.assert("assertArrayEquals");
                format!("{assert}({expected}, {actual}{delta});")
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
            Assertion::Elements(said) => {
                let said = text(said)?;
                let arrays = self.type_name("Ljava/util/Arrays;")?;
                let shown = match result.strip_prefix('[') {
                    Some(element) if descriptor::is_primitive(element) => {
                        format!("{arrays}.toString({actual})")
                    }
                    Some(_) => format!("{arrays}.deepToString({actual})"),
                    None if self.is_a(&result, "Ljava/util/Collection;") => {
                        format!("{arrays}.deepToString({actual}.toArray())")
                    }
                    None => return Some(format!("{}({actual});", self.assert("assertNotNull"))),
                };
                format!("{}({said}, {shown});", self.assert("assertEquals"))
            }
            Assertion::Size(size) => {
                let is_a = |wanted| self.is_a(&result, wanted);
                let has = match result.starts_with('[') {
                    true => "length",
                    false if is_a("Ljava/util/Collection;") || is_a("Ljava/util/Map;") => "size()",
                    false => return None,
                };
                format!("{}({size}, {actual}.{has});", self.assert("assertEquals"))
            }
            Assertion::Throws(..) => return None,
        })
    }
}

/// The tolerance that JUnit 4 takes after two floating-point numbers.
fn delta(junit4: bool, ty: &str) -> &'static str {
    match (junit4, ty) {
        (true, "D") => ", 0.0",
        (true, "F") => ", 0.0f",
        _ => "",
    }
}

/// Whether this is a zero with or without a sign, which differ by nothing: JUnit 4 would take one
/// for the other.
fn is_zero(value: &Literal) -> bool {
    match value {
        Literal::Double(bits) => f64::from_bits(*bits) == 0.0,
        Literal::Float(bits) => f32::from_bits(*bits) == 0.0,
        _ => false,
    }
}

/// The uses of each variable. That a call returns its own object is not a use of it.
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
