//! Statements that make the values of one test.
//!
//! - `arrays` writes arrays.
//! - `lambdas` writes lambdas and method references.
//! - `others` makes objects that other objects complete.
//! - `types` decides on the types of variables.

mod arrays;
mod lambdas;
mod others;
mod types;

use super::Recipes;
use super::jdk;
use super::recipe::{Argument, Operation, Recipe, Step};
use super::uses::{Uses, is_own_box, reached};
use crate::classinfo::Nesting;
use crate::graph::{Graph, Typed};
use crate::java::descriptor;
use crate::java::names::{Names, is_identifier, of_type};
use crate::java::signature::Generic;
use crate::junit::value::{Expression, Values};
use hindsight_tracelog::crash::{Body, Value};
use std::collections::{HashMap, HashSet};

/// The most objects that are made for one test.
const MAX_OBJECTS: usize = 60;
/// The most objects nested in each other.
const MAX_DEPTH: usize = 24;
/// The columns that an expression may take within another one.
const MAX_INLINE: usize = 60;

/// The state of the making of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// Its constructor's arguments are being made.
    Started,
    /// It has a variable, or was written in place.
    Made,
}

/// What has been written so far.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Statements, a line each.
    pub statements: Vec<String>,
    variables: HashMap<u32, Expression>,
    states: HashMap<u32, State>,
    /// The objects that are made on the way to others, each with its purpose and depth; they get
    /// variables.
    awaited: HashMap<u32, (String, usize)>,
    /// The names of variables.
    pub taken: Vec<String>,
    /// Whether a call declares exceptions.
    pub throws: bool,
    /// Whether raw types occur.
    pub raw_types: bool,
    /// Whether the code needs the replay library.
    pub library: bool,
    /// The number of objects that are made.
    pub objects: usize,
}

/// The place of a value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// The purpose of the value, as a name; empty if that is not known.
    pub role: &'a str,
    /// The number of objects around it.
    pub depth: usize,
    /// The type of the place, if it is known with its arguments.
    pub expected: Option<&'a Generic>,
}

/// Writes what makes objects.
pub struct Maker<'a> {
    values: &'a Values<'a>,
    graph: &'a Graph<'a>,
    recipes: &'a Recipes,
    crash: usize,
    loaded: &'a [u32],
    uses: Uses,
    /// Names that are reserved for the arguments.
    reserved: Vec<String>,
    /// The arguments that are objects: their names, and their types if those are known with type
    /// arguments.
    arguments: HashMap<u32, (String, Option<Generic>)>,
    /// What has been written so far.
    pub written: Written,
}

impl<'a> Maker<'a> {
    /// A maker that has written nothing yet. `slots` are the names of the arguments by number.
    pub fn new(
        values: &'a Values<'a>,
        recipes: &'a Recipes,
        crash: usize,
        loaded: &'a [u32],
        slots: &[(u16, String)],
        taken: Vec<String>,
    ) -> Maker<'a> {
        let named = |(index, name): &(u16, String)| {
            let mut arguments = values.frame.arguments.iter();
            match arguments.find(|argument| argument.index == *index)?.value {
                Value::Ref(object) => {
                    let of = values.parameter(*index);
                    let of = of.filter(|of| !of.arguments.is_empty());
                    Some((object, (name.clone(), of)))
                }
                _ => None,
            }
        };
        Maker {
            values,
            graph: values.graph,
            recipes,
            crash,
            loaded,
            uses: Uses::default(),
            reserved: slots.iter().map(|(_, name)| name.clone()).collect(),
            arguments: slots.iter().rev().filter_map(named).collect(),
            written: Written {
                taken,
                ..Written::default()
            },
        }
    }

    /// Which of `roots` can be built. Those that share objects are all built or all loaded, because
    /// a shared object must stay one.
    pub fn buildable(&mut self, roots: &[Value], names: &Names) -> Vec<bool> {
        let reached: Vec<_> = roots
            .iter()
            .map(|&root| reached(self.graph, root))
            .collect();
        let group = |a: usize, b: usize| {
            let (one, other) = (&reached[a].objects, &reached[b].objects);
            reached[a].too_many || reached[b].too_many || !one.is_disjoint(other)
        };
        // Groups by their first member.
        let mut groups: Vec<usize> = (0..roots.len()).collect();
        for a in 0..roots.len() {
            for b in 0..a {
                if groups[a] != groups[b] && group(a, b) {
                    let (from, to) = (groups[a].max(groups[b]), groups[a].min(groups[b]));
                    groups.iter_mut().for_each(|of| {
                        if *of == from {
                            *of = to;
                        }
                    });
                }
            }
        }
        let mut good = vec![false; roots.len()];
        for first in 0..roots.len() {
            if groups[first] != first {
                continue;
            }
            let members: Vec<usize> = (0..roots.len()).filter(|&of| groups[of] == first).collect();
            let before = (self.written.clone(), self.uses.clone());
            let mut names = names.clone();
            let whole = |&of: &usize| !reached[of].too_many && !reached[of].holes;
            let all = members.iter().all(whole)
                && members.iter().all(|&of| {
                    let root = Typed::reference(roots[of]);
                    self.count(root, 0);
                    true
                })
                && members.iter().all(|&of| {
                    let root = Typed::reference(roots[of]);
                    self.expression(root, &Place::default(), &mut names)
                        .is_some()
                });
            let objects = self.written.objects;
            self.written = before.0;
            if all {
                // They count for the following groups, as they will when they are written.
                self.written.objects = objects;
                members.into_iter().for_each(|of| good[of] = true);
            } else {
                self.uses = before.1;
            }
        }
        self.written.objects = 0;
        good
    }

    /// Counts how often objects are referred to by what would be written.
    fn count(&mut self, typed: Typed, depth: usize) {
        let Value::Ref(object) = typed.value else {
            return;
        };
        if !self.uses.add(self.graph, object, depth == 0) || depth > MAX_DEPTH {
            return;
        }
        let parts: Vec<Typed> = match self.graph.body(object) {
            Some(Body::References(_)) => self.graph.elements(object).unwrap_or_default(),
            Some(Body::Instance(_)) => match self.recipe(object) {
                Some(recipe) => {
                    let arguments = recipe.steps.iter().flat_map(|step| &step.arguments);
                    let values = arguments.filter_map(|argument| match argument {
                        Argument::Value(typed) => Some(*typed),
                        _ => None,
                    });
                    values.collect()
                }
                None => Vec::new(),
            },
            Some(Body::Lambda(lambda)) => {
                let captured = lambda.captured.iter();
                captured.map(|(of, value)| Typed::new(*value, of)).collect()
            }
            _ => Vec::new(),
        };
        for part in parts {
            self.count(part, depth + 1);
        }
        for (_, filler) in self.fillers(object) {
            if !self.uses.is_counted(filler) {
                self.count(Typed::reference(Value::Ref(filler)), depth + 1);
            }
        }
    }

    fn recipe(&self, object: u32) -> Option<Recipe> {
        if self.loaded.contains(&object) {
            return None;
        }
        match self.found(object) {
            // A gap that no object fills stays open.
            Some(found) if !found.gaps.is_empty() && self.fillers(object).is_empty() => None,
            Some(found) => Some(found.recipe.clone()),
            None => jdk::recipe(self.graph, object),
        }
    }

    /// An expression for a value, after the statements that it takes.
    pub fn expression(
        &mut self,
        typed: Typed,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        let depth = place.depth;
        let Value::Ref(object) = typed.value else {
            return self.values.plain(typed, names);
        };
        if let Some(known) = self.written.variables.get(&object) {
            return Some(known.clone());
        }
        // An argument is made as such first, wherever else it goes.
        let argument = self.arguments.get(&object);
        let of_argument = argument.and_then(|(_, of)| of.clone());
        let place = &Place {
            expected: of_argument.as_ref().or(place.expected),
            ..*place
        };
        if let Some(simple) = self.values.plain(typed, names) {
            return self.told_apart(object, simple, place, names);
        }
        if depth > MAX_DEPTH || self.written.states.get(&object) == Some(&State::Started) {
            return None;
        }
        self.owners_first(object, place, names)?;
        if let Some(known) = self.written.variables.get(&object) {
            return Some(known.clone());
        }
        self.written.objects += 1;
        if self.written.objects > MAX_OBJECTS {
            return None;
        }
        self.written.states.insert(object, State::Started);
        let made = match self.graph.body(object)? {
            Body::Primitives(_) | Body::References(_) => self.array(object, place, names),
            Body::Instance(_) => self.instance(object, place, names),
            Body::Lambda(_) if !self.loaded.contains(&object) => self.lambda(object, place, names),
            _ => None,
        }?;
        self.written.states.insert(object, State::Made);
        let made = self.fillers_then(object, place, made, names)?;
        if self.written.variables.contains_key(&object) {
            return Some(made);
        }
        let named = self.uses.is_shared(object) || self.written.awaited.contains_key(&object);
        if named || depth > 0 && made.code.chars().count() > MAX_INLINE {
            return self.variable(object, place, made, "", names);
        }
        Some(made)
    }

    /// The literal of a string or box, or an expression with as many objects as were recorded:
    /// literals of one text are one object, those of a large number are many.
    fn told_apart(
        &mut self,
        object: u32,
        literal: Expression,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        let shared = self.uses.is_shared(object);
        if self.uses.copies.contains(&object) {
            let string = names.java_lang("String");
            let copy = Expression {
                code: format!("new {string}({})", literal.code),
                constructs: true,
                ..literal
            };
            return match shared {
                true => self.variable(object, place, copy, "", names),
                false => Some(copy),
            };
        }
        match shared && !literal.redacted && is_own_box(self.graph, object) {
            true => self.variable(object, place, literal, "", names),
            false => Some(literal),
        }
    }

    /// Counts the arguments that are strings and boxes, if nothing is built.
    pub fn count_plain(&mut self, roots: &[Value]) {
        for root in roots {
            let Value::Ref(object) = *root else { continue };
            let is_text = matches!(self.graph.body(object), Some(Body::String(_)));
            if is_text || is_own_box(self.graph, object) {
                self.uses.add(self.graph, object, true);
            }
        }
    }

    /// The boxes among `roots` to which one of `loaded` also leads, so that they have to be loaded
    /// to stay the same object.
    pub fn loaded_boxes(&self, roots: &[Value], loaded: &[Value]) -> HashSet<u32> {
        let own_box = |root: &Value| match *root {
            Value::Ref(object) => Some(object).filter(|&object| is_own_box(self.graph, object)),
            _ => None,
        };
        let mut boxes: HashSet<u32> = roots.iter().filter_map(own_box).collect();
        if !boxes.is_empty() {
            let others = loaded.iter().filter(|root| own_box(root).is_none());
            let within: HashSet<u32> = others
                .flat_map(|&root| reached(self.graph, root).boxes)
                .collect();
            boxes.retain(|object| within.contains(object));
        }
        boxes
    }

    /// Whether `code` is a variable that was declared here.
    pub fn is_variable(&self, code: &str) -> bool {
        self.written.taken.iter().any(|name| name == code)
    }

    /// Declares a variable for an object.
    fn variable(
        &mut self,
        object: u32,
        place: &Place<'_>,
        made: Expression,
        used: &str,
        names: &mut Names,
    ) -> Option<Expression> {
        let made_as = types::Made {
            of: &made.descriptor,
            is_generic: self.values.is_generic(&made.descriptor),
            is_shared: self.uses.is_shared(object),
            used,
        };
        let (of, expected) = made_as.declared(place.expected);
        let (type_name, raw) = (self.values).variable_type(&of, expected.as_ref(), false, names)?;
        let name = self.name(object, place, names);
        self.written.raw_types |= raw;
        self.written
            .statements
            .push(format!("{type_name} {name} = {};", made.code));
        let variable = Expression {
            code: name,
            descriptor: of,
            ..made
        };
        self.written.variables.insert(object, variable.clone());
        Some(variable)
    }

    /// A name for a variable: its role, else its type.
    fn name(&mut self, object: u32, place: &Place<'_>, names: &Names) -> String {
        let awaited = self.written.awaited.get(&object);
        let awaited = awaited.map(|(role, depth)| (&**role, *depth));
        let argument = self.arguments.get(&object);
        let argument = argument.map(|(name, _)| (&**name, 0));
        let (role, depth) = argument.or(awaited).unwrap_or((place.role, place.depth));
        let telling = role.len() > 1 && !role.contains('$');
        let role = if is_identifier(role) && (telling || depth == 0) {
            role.to_owned()
        } else {
            let own = || self.graph.class_name(object);
            of_type(self.functional(object).unwrap_or_else(own))
        };
        let mut name = role.clone();
        let mut number = 1;
        let kept = |name: &String| depth > 0 && self.reserved.contains(name);
        while self.written.taken.contains(&name) || names.is_used(&name) || kept(&name) {
            number += 1;
            name = format!("{role}{number}");
        }
        self.written.taken.push(name.clone());
        name
    }

    fn instance(
        &mut self,
        object: u32,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        let recipe = self.recipe(object)?;
        let mut codes: Vec<Expression> = Vec::new();
        for (index, step) in recipe.steps.iter().enumerate() {
            let expression = self.step(step, &codes, place, names)?;
            let finished = index >= recipe.result && index + 1 < recipe.steps.len();
            if index == recipe.result && finished {
                // Its setters need a name on which they are called.
                self.written.states.insert(object, State::Made);
                let next = recipe.steps[index + 1].name.as_str();
                let variable = self.variable(object, place, expression, next, names)?;
                codes.push(variable);
            } else if index > recipe.result && !recipe.is_target(index) {
                self.written
                    .statements
                    .push(format!("{};", expression.code));
                codes.push(expression);
            } else {
                codes.push(expression);
            }
        }
        let mut result = codes.into_iter().nth(recipe.result)?;
        result.constructs = true;
        Some(result)
    }

    /// One step as an expression.
    fn step(
        &mut self,
        step: &Step,
        before: &[Expression],
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        let mut arguments = self.arguments(step, before, place, names)?;
        let list = |arguments: &[String]| arguments.join(", ");
        let (code, of) = match step.operation {
            Operation::New => {
                let of = descriptor::of_class(&step.class);
                let generic = self.values.is_generic(&of);
                let diamond = if generic { "<>" } else { "" };
                let inner = self.inner(step);
                let code = match inner {
                    Some(simple) if !arguments.is_empty() => {
                        let outer = arguments.remove(0);
                        if outer == "null" {
                            return None;
                        }
                        format!("{outer}.new {simple}{diamond}({})", list(&arguments))
                    }
                    _ => {
                        let name = self.values.type_name(&of, names)?;
                        format!("new {name}{diamond}({})", list(&arguments))
                    }
                };
                (code, of)
            }
            Operation::Static | Operation::GetStatic => {
                let class = self
                    .values
                    .type_name(&descriptor::of_class(&step.class), names)?;
                if step.operation == Operation::GetStatic {
                    (format!("{class}.{}", step.name), step.descriptor.clone())
                } else {
                    let code = format!("{class}.{}({})", step.name, list(&arguments));
                    (code, result_of(&step.descriptor))
                }
            }
            Operation::Virtual => {
                let on = &before[step.on?].code;
                let code = format!("{on}.{}({})", step.name, list(&arguments));
                (code, result_of(&step.descriptor))
            }
            Operation::OfArgument => {
                let on = arguments.remove(0);
                let code = format!("{on}.{}({})", step.name, list(&arguments));
                (code, result_of(&step.descriptor))
            }
            Operation::GetField => {
                let on = &before[step.on?].code;
                (format!("{on}.{}", step.name), step.descriptor.clone())
            }
            Operation::PutField => {
                let on = &before[step.on?].code;
                let code = format!("{on}.{} = {}", step.name, list(&arguments));
                (code, String::new())
            }
        };
        self.written.throws |= self.values.declares_exceptions(step);
        Some(Expression {
            code,
            descriptor: of,
            constructs: true,
            redacted: false,
            unboxed: false,
        })
    }

    /// The simple name of an inner class whose first argument is its outer object.
    fn inner(&self, step: &Step) -> Option<String> {
        let found = self.values.plan.classpath.info(&step.class)?;
        let info = found.info.as_ref()?;
        let Nesting::Member { outer, simple } = &info.nesting else {
            return None;
        };
        let (parameters, _) = descriptor::split(&step.descriptor)?;
        let first = parameters.first()?;
        (info.is_inner() && **first == descriptor::of_class(outer)).then(|| simple.clone())
    }

    fn arguments(
        &mut self,
        step: &Step,
        before: &[Expression],
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Vec<String>> {
        let parameters: Vec<String> = match descriptor::split(&step.descriptor) {
            Some((parameters, _)) if !step.variadic => {
                parameters.iter().map(|&of| of.to_owned()).collect()
            }
            _ if step.operation == Operation::PutField => vec![step.descriptor.clone()],
            _ => Vec::new(),
        };
        let ambiguous = self.values.step_is_overloaded(step);
        let types = self.types(step, place.expected);
        let typed = types.len() == step.arguments.len();
        let mut codes = Vec::new();
        for (index, argument) in step.arguments.iter().enumerate() {
            let role = step.roles.get(index).map_or("", String::as_str);
            let expression = match argument {
                Argument::Step(of) => before.get(*of)?.clone(),
                Argument::Code(code, of) => code_of(code.clone(), of),
                Argument::Flags(class, flags) => {
                    let class = self.values.type_name(&descriptor::of_class(class), names)?;
                    let named: Vec<String> =
                        flags.iter().map(|flag| format!("{class}.{flag}")).collect();
                    code_of(named.join(" | "), "I")
                }
                Argument::Value(value) => {
                    let expected = types.get(index).filter(|_| typed);
                    let inner = Place {
                        role,
                        depth: place.depth + 1,
                        expected: expected.and_then(Option::as_ref),
                    };
                    let made = self.expression(*value, &inner, names)?;
                    match value.value {
                        // Without a variable, javac could not infer the element type of an empty
                        // one.
                        Value::Ref(object)
                            if step.operation == Operation::OfArgument
                                && !self.is_variable(&made.code) =>
                        {
                            self.variable(object, &inner, made, "", names)?
                        }
                        _ => made,
                    }
                }
            };
            let mut code = expression.code.clone();
            if let Some(of) = parameters.get(index) {
                let null_array = code == "null" && of.starts_with('[');
                let static_type_lost = expression.descriptor == "Ljava/lang/Object;";
                if !expression.is_exactly(of) && (ambiguous || null_array || static_type_lost) {
                    code = expression.cast(&self.values.type_name(of, names)?);
                }
                if step.operation == Operation::PutField && expression.descriptor == *of {
                    // An assignment converts constants by itself.
                    for cast in ["(byte) ", "(short) "] {
                        if let Some(plain) = code.strip_prefix(cast) {
                            code = plain.to_owned();
                        }
                    }
                }
            }
            codes.push(code);
        }
        Some(codes)
    }
}

/// Source code as an expression of a type.
fn code_of(code: String, of: &str) -> Expression {
    Expression {
        code,
        descriptor: of.to_owned(),
        constructs: false,
        redacted: false,
        unboxed: false,
    }
}

/// The result type of a method's descriptor.
fn result_of(of: &str) -> String {
    of.rsplit_once(')').map_or(of, |(_, of)| of).to_owned()
}
