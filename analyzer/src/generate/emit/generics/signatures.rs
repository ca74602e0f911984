//! Types as signatures in class files have them (JVMS 4.7.9.1), and reading these.

use crate::java::descriptor;
use crate::java::signature::MAX_DEPTH;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::generate::emit) enum Type {
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

pub(super) const OBJECT: &str = "java.lang.Object";

impl Type {
    pub(super) fn object() -> Type {
        Type::Class(OBJECT.to_owned(), Vec::new())
    }

    /// The type that a descriptor names.
    pub(super) fn of(descriptor: &str) -> Option<Type> {
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
    pub(super) fn boxed(self) -> Type {
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
pub(super) type Variables = Vec<(String, Option<Type>)>;

/// The signature of a class: its variables and supertypes.
pub(super) struct OfClass {
    pub variables: Variables,
    pub above: Vec<Type>,
}

/// The signature of a method.
pub(super) struct OfMethod {
    pub variables: Variables,
    pub parameters: Vec<Type>,
    pub result: Type,
}

/// The signature of a class, if it can be read.
pub(super) fn class_signature(text: &str) -> Option<OfClass> {
    let mut parser = Parser::new(text);
    let variables = parser.variables()?;
    let mut above = Vec::new();
    while !parser.rest.is_empty() {
        above.push(parser.one()?);
    }
    Some(OfClass { variables, above })
}

/// The number of type variables that a class declares, by its signature.
pub(in crate::generate::emit) fn variables(signature: &str) -> usize {
    class_signature(signature).map_or(0, |signature| signature.variables.len())
}

/// The types of a method's parameters, by its signature.
pub(in crate::generate::emit) fn parameters(signature: &str) -> Option<Vec<Type>> {
    Some(method_signature(signature)?.parameters)
}

/// The signature of a method, if it can be read.
pub(super) fn method_signature(text: &str) -> Option<OfMethod> {
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

/// The type of a field, if it can be read.
pub(super) fn field_signature(text: &str) -> Option<Type> {
    Parser::new(text).one()
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
