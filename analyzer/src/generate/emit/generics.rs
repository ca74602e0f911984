//! Types with their type arguments, for variables of generic classes.
//!
//! - `lambdas` learns from lambdas.
//!
//! Signatures (JVMS 4.7.9.1) have the types of parameters and results; what a type variable stands
//! for is inferred from the arguments in a test: `new Box(...)` that gets texts is a `Box<String>`.
//! The result need not be right, since javac checks it: a test that it rejects is written with raw
//! types.

mod lambdas;

use super::super::asserted::Checked;
use super::super::platform::MAX_NESTED;
use super::super::sequence::{Arg, Method};
use super::Context;
use crate::classinfo::ClassInfo;
use crate::java::descriptor;
use crate::java::signature::MAX_DEPTH;
use crate::model::values::Literal;
use std::collections::HashMap;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// A primitive one, by its descriptor.
    Primitive(String),
    /// A class by its binary name, with type arguments: for an inner class those of the enclosing
    /// classes first.
    Class(String, Vec<Type>),
    Array(Box<Type>),
    /// A type variable by its name; only while a signature is read.
    Variable(String),
    /// A type that stands for a type variable and is to be inferred.
    Open(usize),
    /// A wildcard without bounds, or with one: whether it is an upper one.
    Wildcard(Option<(bool, Box<Type>)>),
}

const OBJECT: &str = "java.lang.Object";

impl Type {
    fn object() -> Type {
        Type::Class(OBJECT.to_owned(), Vec::new())
    }

    /// The type that a descriptor names.
    fn of(descriptor: &str) -> Option<Type> {
        Some(match descriptor.strip_prefix('[') {
            Some(element) => Type::Array(Box::new(Type::of(element)?)),
            None if descriptor.len() == 1 => Type::Primitive(descriptor.to_owned()),
            None => Type::Class(descriptor::class_name(descriptor)?, Vec::new()),
        })
    }

    /// The descriptor of its erasure.
    pub fn erased(&self) -> String {
        match self {
            Type::Primitive(descriptor) => descriptor.clone(),
            Type::Class(name, _) => descriptor::of_class(name),
            Type::Array(element) => format!("[{}", element.erased()),
            Type::Wildcard(Some((true, bound))) => bound.erased(),
            Type::Variable(_) | Type::Open(_) | Type::Wildcard(_) => descriptor::of_class(OBJECT),
        }
    }

    /// Whether a source must name type arguments.
    pub fn has_arguments(&self) -> bool {
        match self {
            Type::Class(_, arguments) => !arguments.is_empty(),
            Type::Array(element) => element.has_arguments(),
            _ => false,
        }
    }

    /// The class of one of its type arguments, or of the bound of that.
    pub fn argument(&self, at: usize) -> Option<String> {
        let Type::Class(_, arguments) = self else {
            return None;
        };
        match arguments.get(at)? {
            Type::Class(name, _) => Some(name.clone()),
            Type::Wildcard(Some((_, bound))) => descriptor::class_name(&bound.erased()),
            _ => None,
        }
    }

    /// The type as a type argument, which a primitive cannot be.
    fn boxed(self) -> Type {
        let Type::Primitive(kind) = &self else {
            return self;
        };
        let name = match kind.as_str() {
            "Z" => "Boolean",
            "B" => "Byte",
            "C" => "Character",
            "S" => "Short",
            "J" => "Long",
            "F" => "Float",
            "D" => "Double",
            _ => "Integer",
        };
        Type::Class(format!("java.lang.{name}"), Vec::new())
    }
}

/// The type variables that a class or method declares, with the bound of each.
type Variables = Vec<(String, Option<Type>)>;

/// The signature of a class: its variables and supertypes.
struct OfClass {
    variables: Variables,
    above: Vec<Type>,
}

/// The signature of a method.
struct OfMethod {
    variables: Variables,
    parameters: Vec<Type>,
    result: Type,
}

fn class_signature(text: &str) -> Option<OfClass> {
    let mut parser = Parser::new(text);
    let variables = parser.variables()?;
    let mut above = Vec::new();
    while !parser.rest.is_empty() {
        above.push(parser.one()?);
    }
    Some(OfClass { variables, above })
}

/// The number of type variables that a class declares, by its signature.
pub(super) fn variables(signature: &str) -> usize {
    class_signature(signature).map_or(0, |signature| signature.variables.len())
}

/// The types of a method's parameters, by its signature.
pub(super) fn parameters(signature: &str) -> Option<Vec<Type>> {
    Some(method_signature(signature)?.parameters)
}

fn method_signature(text: &str) -> Option<OfMethod> {
    let mut parser = Parser::new(text);
    let variables = parser.variables()?;
    parser.skip(b'(')?;
    let mut parameters = Vec::new();
    while parser.skip(b')').is_none() {
        parameters.push(parser.one()?);
    }
    let result = parser.one()?;
    Some(OfMethod {
        variables,
        parameters,
        result,
    })
}

struct Parser<'a> {
    rest: &'a str,
    /// The number of types around the next one.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(rest: &'a str) -> Parser<'a> {
        Parser { rest, depth: 0 }
    }

    fn skip(&mut self, sign: u8) -> Option<()> {
        (self.rest.as_bytes().first() == Some(&sign)).then(|| self.rest = &self.rest[1..])
    }

    fn until(&mut self, signs: &[char]) -> Option<String> {
        let end = self.rest.find(signs)?;
        let word = self.rest[..end].to_owned();
        self.rest = &self.rest[end..];
        Some(word)
    }

    fn variables(&mut self) -> Option<Variables> {
        let mut variables = Vec::new();
        if self.skip(b'<').is_none() {
            return Some(variables);
        }
        while self.skip(b'>').is_none() {
            let name = self.until(&[':'])?;
            let mut bound = None;
            while self.skip(b':').is_some() {
                // A class bound may be missing if there are interface bounds.
                if !self.rest.starts_with(':') {
                    let one = self.one()?;
                    bound.get_or_insert(one);
                }
            }
            variables.push((name, bound));
        }
        Some(variables)
    }

    /// A type, if it is not nested deeper than any that people write: the JVM does not read
    /// signatures, so anything may be there.
    fn one(&mut self) -> Option<Type> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let one = self.next();
        self.depth -= 1;
        one
    }

    fn next(&mut self) -> Option<Type> {
        let first = *self.rest.as_bytes().first()?;
        let rest = self.rest.get(1..)?;
        Some(match first {
            b'[' => {
                self.rest = rest;
                Type::Array(Box::new(self.one()?))
            }
            b'T' => {
                self.rest = rest;
                let name = self.until(&[';'])?;
                self.skip(b';')?;
                Type::Variable(name)
            }
            b'L' => {
                self.rest = rest;
                self.class()?
            }
            _ => {
                self.rest = rest;
                Type::Primitive(char::from(first).to_string())
            }
        })
    }

    /// The rest of a class, after its `L`.
    fn class(&mut self) -> Option<Type> {
        let mut name = String::new();
        let mut arguments = Vec::new();
        loop {
            name += &self.until(&['<', ';', '.'])?.replace('/', ".");
            if self.skip(b'<').is_some() {
                while self.skip(b'>').is_none() {
                    arguments.push(self.argument()?);
                }
            }
            // A member of a class with type arguments.
            if self.skip(b'.').is_none() {
                break;
            }
            name.push('$');
        }
        self.skip(b';')?;
        Some(Type::Class(name, arguments))
    }

    fn argument(&mut self) -> Option<Type> {
        if self.skip(b'*').is_some() {
            return Some(Type::Wildcard(None));
        }
        for (sign, upper) in [(b'+', true), (b'-', false)] {
            if self.skip(sign).is_some() {
                return Some(Type::Wildcard(Some((upper, Box::new(self.one()?)))));
            }
        }
        self.one()
    }
}

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
                    Some(text) => Parser::new(text).one()?,
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
        if depth > 20 {
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
        if depth > 20 {
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
        let ty = ty.clone().boxed();
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

    /// A type without open parts; `None` if that is not possible.
    fn closed(&self, ty: &Type, depth: usize) -> Option<Type> {
        if depth > 20 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, arguments: &[Type]) -> Type {
        Type::Class(name.to_owned(), arguments.to_vec())
    }

    #[test]
    fn signatures_are_read() {
        let read = method_signature(
            "<K:Ljava/lang/Object;V::Ljava/lang/Comparable<TV;>;>(Ljava/util/Map<TK;+[I>;TV;J)TK;",
        )
        .unwrap();
        let variable = |name: &str| Type::Variable(name.to_owned());
        let comparable = class("java.lang.Comparable", &[variable("V")]);
        assert_eq!(
            read.variables,
            [
                ("K".to_owned(), Some(class(OBJECT, &[]))),
                ("V".to_owned(), Some(comparable)),
            ]
        );
        let ints = Type::Array(Box::new(Type::Primitive("I".to_owned())));
        let wild = Type::Wildcard(Some((true, Box::new(ints))));
        assert_eq!(
            read.parameters,
            [
                class("java.util.Map", &[variable("K"), wild]),
                variable("V"),
                Type::Primitive("J".to_owned()),
            ]
        );
        assert_eq!(read.result, variable("K"));
        assert_eq!(read.parameters[0].erased(), "Ljava/util/Map;");
        let inner = method_signature("(Lp/Pool<TT;>.Lease<*>.End;)V").unwrap();
        let arguments = [variable("T"), Type::Wildcard(None)];
        assert_eq!(inner.parameters, [class("p.Pool$Lease$End", &arguments)]);
        for broken in ["(", "()", "<T>()V", "(Lx;", "(Lx<*;)V"] {
            assert!(method_signature(broken).is_none(), "{broken}");
        }
    }
}
