//! Types with their type arguments, for variables of generic classes.
//!
//! - `signatures` reads the types of classes and methods.
//! - `lambdas` learns from lambdas.
//!
//! Signatures (JVMS 4.7.9.1) have the types of parameters and results; what a type variable stands
//! for is inferred from the arguments in a test: `new Box(...)` that gets texts is a `Box<String>`.
//! The result need not be right, since javac checks it: a test that it rejects is written with raw
//! types.

mod lambdas;
mod signatures;

use super::super::asserted::Checked;
use super::super::platform::MAX_NESTED;
use super::super::sequence::{Arg, Method};
use super::Context;
use crate::classinfo::ClassInfo;
use crate::java::descriptor;
use crate::model::values::Literal;
use signatures::{OBJECT, OfMethod, Variables, class_signature, field_signature, method_signature};
pub(super) use signatures::{Type, parameters, variables};
use std::collections::HashMap;

/// The depth of types within types.
const MAX_DEPTH: usize = 20;

/// The types of a test's variables.
pub(super) struct Types<'a> {
    context: &'a Context<'a>,
    vars: HashMap<usize, Type>,
    found: Vec<Found>,
}

/// What is known about the type that a variable stands for.
struct Found {
    known: Option<Type>,
    /// Whether it may also be a supertype of that: a list that got a bolt may be one of parts.
    is_least: bool,
    bound: Option<Type>,
}

/// The relation between a value's type and the type that a variable stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// It is the type, or a supertype.
    Above,
    /// It is the type, or a subtype.
    Below,
    /// It is the type.
    Same,
}

impl Match {
    /// The inverse relation.
    fn turned(self) -> Match {
        match self {
            Match::Above => Match::Below,
            Match::Below => Match::Above,
            Match::Same => Match::Same,
        }
    }
}

impl<'a> Types<'a> {
    /// Infers types from the calls and arguments of a test.
    pub fn of(context: &'a Context<'a>, checked: &Checked) -> Types<'a> {
        let mut types = Types {
            context,
            vars: HashMap::new(),
            found: Vec::new(),
        };
        for (at, statement) in checked.sequence.iter().enumerate() {
            let method = context.methods.get(statement.method);
            let Some((owner, signature)) = types.signature(method) else {
                continue;
            };
            let mut meaning = match (method.is_constructor(), statement.on) {
                (true, _) => types.opened(&types.class_variables(&method.class)),
                (false, Some(on)) => types.of_receiver(on, &owner),
                (false, None) => HashMap::new(),
            };
            let own = types.opened(&signature.variables);
            meaning.extend(own);
            for (parameter, arg) in signature.parameters.iter().zip(&statement.args) {
                let parameter = replaced(parameter, &meaning);
                if let Some(passed) = types.of_argument(arg) {
                    types.unify(&parameter, &passed, Match::Above, 0);
                }
                if let Arg::Lambda(lambda) = arg {
                    types.learn_of(lambda, &parameter);
                }
            }
            let result = match method.is_constructor() {
                true => {
                    let variables = types.class_variables(&method.class);
                    let arguments = variables.iter().filter_map(|(name, _)| meaning.get(name));
                    Type::Class(method.class.clone(), arguments.cloned().collect())
                }
                false => replaced(&signature.result, &meaning),
            };
            types.vars.insert(at, result);
        }
        types
    }

    /// The type of a variable, if signatures determine it.
    pub fn var(&self, at: usize) -> Option<Type> {
        self.closed(self.vars.get(&at)?, 0)
    }

    /// The type variables of a class, preceded by those of the enclosing classes if it is an inner
    /// one.
    fn class_variables(&self, class: &str) -> Variables {
        let mut nest = Vec::new();
        let mut next = Some(class.to_owned());
        while let Some(found) = next.and_then(|class| self.context.classes.info(&class))
            && nest.len() < MAX_NESTED
        {
            let around = found.info.as_ref().and_then(ClassInfo::around);
            next = around.map(|(outer, _)| outer.to_owned());
            nest.push(found);
        }
        let infos = nest.iter().rev().filter_map(|found| found.info.as_ref());
        let signatures = infos.filter_map(|info| class_signature(info.signature.as_deref()?));
        signatures.flat_map(|found| found.variables).collect()
    }

    /// The first parameter of an inner class's constructor.
    fn around(&self, class: &str) -> Option<Type> {
        let found = self.context.classes.info(class)?;
        let (outer, _) = found.info.as_ref()?.around()?;
        let variables = self.class_variables(outer).into_iter();
        let variables = variables.map(|(name, _)| Type::Variable(name));
        Some(Type::Class(outer.to_owned(), variables.collect()))
    }

    /// The signature of a method, with the class or interface whose variables it names.
    fn signature(&self, method: &Method) -> Option<(String, OfMethod)> {
        let found = self.context.classes.info(&method.class)?;
        let info = found.info.as_ref()?;
        if method.is_constant() {
            let known = info.constant(&method.name, &method.descriptor);
            let text = known.and_then(|known| known.signature.as_deref());
            let constant = OfMethod {
                variables: Vec::new(),
                parameters: Vec::new(),
                result: match text {
                    Some(text) => field_signature(text)?,
                    None => Type::of(&method.descriptor)?,
                },
            };
            return Some((method.class.clone(), constant));
        }
        let declared = self.context.declared(method);
        let owner = declared.as_ref().map_or(&method.class, |(class, _)| class);
        let owner = owner.clone();
        let text = declared.and_then(|(_, known)| known.signature);
        let (types, result) = method.types();
        let outer = method.is_constructor().then(|| self.around(&method.class));
        let outer = outer.flatten();
        if let Some(text) = text {
            let mut signature = method_signature(&text)?;
            if let Some(outer) = outer
                && signature.parameters.len() + 1 == types.len()
            {
                signature.parameters.insert(0, outer);
            }
            // Constructors of enums and local classes have parameters that it omits.
            let is_whole = signature.parameters.len() == types.len();
            return is_whole.then_some((owner, signature));
        }
        let parameters: Option<Vec<Type>> = types.iter().map(|ty| Type::of(ty)).collect();
        let mut parameters = parameters?;
        if let (Some(outer), Some(first)) = (outer, parameters.first_mut()) {
            *first = outer;
        }
        let plain = OfMethod {
            variables: Vec::new(),
            parameters,
            result: if method.is_constructor() {
                Type::Primitive("V".to_owned())
            } else {
                Type::of(&result)?
            },
        };
        Some((owner, plain))
    }

    /// New places for variables.
    fn opened(&mut self, variables: &Variables) -> HashMap<String, Type> {
        let first = self.found.len();
        let mut meaning = HashMap::new();
        for (at, (name, _)) in variables.iter().enumerate() {
            meaning.insert(name.clone(), Type::Open(first + at));
        }
        for (_, bound) in variables {
            let bound = bound.as_ref().map(|bound| replaced(bound, &meaning));
            self.found.push(Found {
                known: None,
                is_least: false,
                bound,
            });
        }
        meaning
    }

    /// What the variables of a class stand for in an object.
    fn of_receiver(&self, on: usize, class: &str) -> HashMap<String, Type> {
        let seen = self.vars.get(&on).and_then(|ty| self.above(ty, class, 0));
        let Some(Type::Class(_, arguments)) = seen else {
            return HashMap::new();
        };
        let names = self.class_variables(class).into_iter();
        names.map(|(name, _)| name).zip(arguments).collect()
    }

    /// A type as one of its supertypes.
    fn above(&self, ty: &Type, class: &str, depth: usize) -> Option<Type> {
        let ty = self.looked_up(ty);
        let Type::Class(name, arguments) = ty else {
            return None;
        };
        if name == class {
            return Some(ty.clone());
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let found = self.context.classes.info(name)?;
        let info = found.info.as_ref()?;
        let signature = info.signature.as_deref().and_then(class_signature);
        let Some(signature) = signature else {
            let above = info.super_class.iter().chain(&info.interfaces);
            let mut above = above.map(|name| Type::Class(name.clone(), Vec::new()));
            return above.find_map(|one| self.above(&one, class, depth + 1));
        };
        let names = self.class_variables(name).into_iter();
        let names = names.map(|(name, _)| name);
        let meaning: HashMap<String, Type> = names.zip(arguments.iter().cloned()).collect();
        let mut above = signature.above.iter();
        above.find_map(|one| self.above(&replaced(one, &meaning), class, depth + 1))
    }

    fn of_argument(&self, arg: &Arg) -> Option<Type> {
        let class = |name: &str| Some(Type::Class(name.to_owned(), Vec::new()));
        match arg {
            Arg::Var(var) => self.vars.get(var).cloned(),
            Arg::Array(element, _) => Some(Type::Array(Box::new(Type::of(element)?))),
            Arg::Lambda(_) => None,
            Arg::Literal(literal) => match literal {
                Literal::Text(_) => class("java.lang.String"),
                Literal::Enum(name, _) | Literal::Box(name, _) | Literal::JdkValue(name, _) => {
                    class(name)
                }
                Literal::Class(name) if name != "void" => {
                    let told = Type::of(&descriptor::of_name(name))?.boxed();
                    Some(Type::Class("java.lang.Class".to_owned(), vec![told]))
                }
                _ => None,
            },
        }
    }

    fn looked_up<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        while let Type::Open(place) = ty
            && let Some(known) = self.found.get(*place).and_then(|one| one.known.as_ref())
        {
            ty = known;
        }
        ty
    }

    /// The last of the variables that stand for each other, if it may still stand for something
    /// else.
    fn undecided(&self, ty: &Type) -> Option<usize> {
        let Type::Open(mut place) = *ty else {
            return None;
        };
        while let Some(Type::Open(next)) = self.found[place].known {
            place = next;
        }
        let found = &self.found[place];
        (found.known.is_none() || found.is_least).then_some(place)
    }

    fn is_below(&self, ty: &Type, other: &Type) -> bool {
        match other {
            Type::Class(name, _) => name == OBJECT || self.above(ty, name, 0).is_some(),
            _ => ty == other,
        }
    }

    /// Infers from a value that is passed for a parameter.
    fn unify(&mut self, parameter: &Type, passed: &Type, how: Match, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let places = (self.undecided(parameter), self.undecided(passed));
        let given = passed;
        let (parameter, passed) = (
            self.looked_up(parameter).clone(),
            self.looked_up(passed).clone(),
        );
        match places {
            // An unknown type says nothing, but may be what the parameter already is.
            (Some(place), Some(open))
                if passed == Type::Open(open) && parameter != Type::Open(place) =>
            {
                match how {
                    Match::Same => self.learn(open, &Type::Open(place), how),
                    how if depth > 0 => self.learn(open, &parameter, how.turned()),
                    _ => {}
                }
            }
            (Some(place), _) => self.learn(place, &passed, how),
            // The argument itself may be of a subtype of the parameter's type, whatever that is.
            (None, Some(place)) if depth > 0 => self.learn(place, &parameter, how.turned()),
            _ => {}
        }
        match (parameter, passed) {
            (Type::Wildcard(Some((upper, bound))), _) => {
                let how = if upper { Match::Above } else { Match::Below };
                self.unify(&bound, given, how, depth + 1);
            }
            (Type::Array(one), Type::Array(other)) => self.unify(&one, &other, how, depth + 1),
            (Type::Class(name, arguments), passed) => {
                if let Some(Type::Class(_, others)) = self.above(&passed, &name, 0) {
                    for (one, other) in arguments.iter().zip(&others) {
                        self.unify(one, other, Match::Same, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes a type for what a variable stands for, unless it contradicts what is known.
    fn learn(&mut self, place: usize, ty: &Type, how: Match) {
        if *ty == Type::Open(place) || matches!(ty, Type::Wildcard(_)) {
            return;
        }
        // A cache that is put into itself holds any objects.
        let ty = match self.is_within(place, ty, 0) {
            true => Type::object(),
            false => ty.clone().boxed(),
        };
        let (known, is_least) = match (&self.found[place].known, how) {
            (None, Match::Above) => (ty, true),
            (None, Match::Below | Match::Same) => (ty, false),
            // Open type arguments are inferred separately.
            (Some(known), Match::Same)
                if known.has_arguments() && known.erased() == ty.erased() =>
            {
                (known.clone(), false)
            }
            (Some(_), Match::Same) => (ty, false),
            (Some(known), Match::Above) if self.is_below(&ty, known) => return,
            (Some(known), Match::Above) if self.is_below(known, &ty) => (ty, true),
            // These are two types of which neither is a supertype of the other.
            (Some(_), Match::Above) => (Type::object(), true),
            (Some(known), Match::Below) if self.is_below(known, &ty) => return,
            (Some(_), Match::Below) => (ty, false),
        };
        let found = &mut self.found[place];
        (found.known, found.is_least) = (Some(known), is_least);
    }

    /// Whether a type argument or element somewhere in a type is what a variable stands for.
    fn is_within(&self, place: usize, ty: &Type, depth: usize) -> bool {
        match self.looked_up(ty) {
            Type::Class(_, arguments) => (arguments.iter()).any(|one| {
                self.looked_up(one) == &Type::Open(place)
                    || depth < MAX_DEPTH && self.is_within(place, one, depth + 1)
            }),
            Type::Array(element) => {
                self.looked_up(element) == &Type::Open(place)
                    || depth < MAX_DEPTH && self.is_within(place, element, depth + 1)
            }
            _ => false,
        }
    }

    /// A type without open parts; `None` if that is not possible.
    fn closed(&self, ty: &Type, depth: usize) -> Option<Type> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match ty {
            Type::Open(place) => match (&self.found[*place].known, &self.found[*place].bound) {
                (Some(known), _) => self.closed(known, depth + 1)?,
                (None, None) => Type::object(),
                // This is comparable to itself, as texts are.
                (None, Some(Type::Class(name, _))) if name == "java.lang.Comparable" => {
                    Type::Class("java.lang.String".to_owned(), Vec::new())
                }
                (None, Some(bound)) if bound.has_arguments() && depth > 0 => Type::Wildcard(None),
                (None, Some(bound)) if bound.has_arguments() => return None,
                (None, Some(bound)) => self.closed(bound, depth + 1)?,
            },
            Type::Class(name, arguments) => {
                let arguments: Option<Vec<Type>> = (arguments.iter())
                    .map(|one| self.closed(one, depth + 1))
                    .collect();
                Type::Class(name.clone(), arguments?)
            }
            Type::Array(element) => Type::Array(Box::new(self.closed(element, depth + 1)?)),
            Type::Wildcard(Some((upper, bound))) => {
                Type::Wildcard(Some((*upper, Box::new(self.closed(bound, depth + 1)?))))
            }
            // Its type arguments are not known.
            Type::Variable(_) if depth > 0 => Type::Wildcard(None),
            Type::Variable(_) => return None,
            Type::Primitive(_) | Type::Wildcard(None) => ty.clone(),
        })
    }
}

/// A type with what its variables stand for.
fn replaced(ty: &Type, meaning: &HashMap<String, Type>) -> Type {
    let inner = |ty: &Type| Box::new(replaced(ty, meaning));
    match ty {
        Type::Variable(name) => meaning.get(name).cloned().unwrap_or_else(|| ty.clone()),
        Type::Class(name, arguments) => {
            let arguments = arguments.iter().map(|one| replaced(one, meaning));
            Type::Class(name.clone(), arguments.collect())
        }
        Type::Array(element) => Type::Array(inner(element)),
        Type::Wildcard(Some((upper, bound))) => Type::Wildcard(Some((*upper, inner(bound)))),
        Type::Primitive(_) | Type::Open(_) | Type::Wildcard(None) => ty.clone(),
    }
}
