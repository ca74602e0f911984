//! What a body does with references, and nothing else: the part of its three-address code that
//! mutability depends on.
//!
//! Values that cannot be mutated (numbers, strings, boxes, dates) are left out, and casts are
//! looked through. The rest is small enough to be kept for a whole program.
//!
//! - `reader` makes facts of three-address code.

mod reader;

use super::values;
use crate::program::calls::Site;
use crate::program::hierarchy::NEWEST;
use crate::program::ssa::Body;
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::{ClassFile, Member, Utf8, access};

/// A value of a body; [`NONE`] for one that is left out.
pub type Var = u32;
/// No value, or one that cannot be mutated.
pub const NONE: Var = u32::MAX;

/// What an instruction does with references.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "a variant says what its fields are")]
pub enum Op {
    /// Takes an argument.
    Param { dst: Var, number: u16 },
    /// Takes one of several values.
    Phi { dst: Var, from: Box<[Var]> },
    /// Reads a field, or an element through the field [`Facts::ELEMENT`].
    Load { dst: Var, base: Var, field: Sym },
    /// Writes a field, or an element through the field [`Facts::ELEMENT`].
    Store { base: Var, field: Sym, value: Var },
    /// Reads a static field.
    LoadStatic { dst: Var, field: Sym },
    /// Writes a static field. `own` says whether the field belongs to the class whose initializer
    /// this body is, since such a write is not an effect on others.
    StoreStatic { field: Sym, value: Var, own: bool },
    /// Makes a new object.
    New { dst: Var, class: Option<ClassId> },
    /// Makes a new object that implements an interface by a method.
    Lambda(Box<Lambda>),
    /// Calls a method; the receiver is the first argument.
    Call {
        dst: Var,
        site: Site,
        args: Box<[Var]>,
    },
    /// Calls something that is not known: a method of a missing class, or a dynamic call of an
    /// unknown kind.
    Unknown {
        dst: Var,
        what: Sym,
        args: Box<[Var]>,
    },
    /// Returns a reference.
    Return { value: Var },
    /// Throws an exception.
    Throw { value: Var },
    /// Takes the exception that a handler caught.
    Catch { dst: Var },
    /// Takes a value from outside: a constant.
    Outside { dst: Var },
}

impl Op {
    /// The value that an operation makes; [`NONE`] if it makes none.
    pub fn result(&self) -> Var {
        match self {
            Op::Param { dst, .. }
            | Op::Phi { dst, .. }
            | Op::Load { dst, .. }
            | Op::LoadStatic { dst, .. }
            | Op::New { dst, .. }
            | Op::Call { dst, .. }
            | Op::Unknown { dst, .. }
            | Op::Catch { dst }
            | Op::Outside { dst } => *dst,
            Op::Lambda(lambda) => lambda.dst,
            Op::Store { .. } | Op::StoreStatic { .. } | Op::Return { .. } | Op::Throw { .. } => {
                NONE
            }
        }
    }
}

/// An object that `LambdaMetafactory` makes of a method reference or a lambda expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lambda {
    /// The value of the object.
    pub dst: Var,
    /// The interface that it implements.
    pub interface: Option<ClassId>,
    /// Whether it also implements other interfaces, which are not recorded.
    pub marked: bool,
    /// The name of the interface's method that it implements.
    pub name: Sym,
    /// The method that this runs, which may be a constructor (see [`Lambda::makes`]).
    pub site: Site,
    /// Whether that method makes a new object, which is then the receiver.
    pub makes: bool,
    /// The captured arguments.
    pub captured: Box<[Var]>,
}

/// An operation and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The offset in the bytecode.
    pub pc: u16,
    /// The operation.
    pub op: Op,
}

/// What a body does with references.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The operations, in reverse postorder of the blocks.
    pub ops: Vec<Fact>,
    /// The number of values.
    pub vars: u32,
    /// Loads that give the value stored just before: the operation, and the value.
    pub stored: Box<[(u32, Var)]>,
    /// The index of the first operation that may run more than once.
    pub loops_from: usize,
    /// For each parameter, whether it is followed; numbers, strings and dates are not.
    pub followed: Box<[bool]>,
    /// Why nothing is known of the body; `None` if it is known.
    pub unknown: Option<String>,
    /// Whether the method has a body that could be read.
    pub present: bool,
    /// Whether anything in the body may throw.
    pub throws: bool,
    /// Whether the body has a loop.
    pub loops: bool,
}

/// Whether values of a type cannot be mutated: numbers, strings, boxes, dates.
pub fn is_trivial(descriptor: Utf8<'_>) -> bool {
    let bytes = descriptor.as_bytes();
    match bytes {
        [b'[', ..] => false,
        [b'L', name @ .., b';'] => values::is_trivial(name),
        _ => true,
    }
}

impl Facts {
    /// The name of the field that stands for the elements of arrays.
    pub const ELEMENT: &'static str = "[]";

    /// Reads the facts of a method.
    pub fn read(program: &Program, class: &ClassFile<'_>, id: MethodId) -> Facts {
        let method = program.method(id);
        let Some(member) = class.methods.get(usize::from(method.place)) else {
            return Facts::unknown(program, id, "its class file has changed".to_owned());
        };
        let followed = followed(member);
        let code = match member.code(&class.pool) {
            Ok(Some(_)) if class.major > NEWEST => {
                let why = "its class is of a Java newer than 25";
                return Facts::unknown(program, id, why.to_owned());
            }
            Ok(Some(code)) => code,
            Ok(None) if method.is(access::ABSTRACT) => {
                return Facts {
                    followed,
                    ..Facts::default()
                };
            }
            Ok(None) => return Facts::unknown(program, id, "it is native".to_owned()),
            Err(error) => return Facts::unknown(program, id, error.to_string()),
        };
        let body = member
            .method_descriptor()
            .map_err(Into::into)
            .and_then(|descriptor| {
                Body::new(&class.pool, &code, method.is(access::STATIC), &descriptor)
            });
        match body {
            Ok(body) => reader::Reader::new(program, class, &code, &body, id).facts(followed),
            Err(error) => Facts::unknown(program, id, error.to_string()),
        }
    }

    fn unknown(program: &Program, id: MethodId, why: String) -> Facts {
        let method = program.method(id);
        let text = program.names.bytes(method.signature);
        let at = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
        let descriptor = hindsight_classfile::MethodDescriptor::parse(Utf8::new(&text[at..]));
        let declared: Vec<bool> = match &descriptor {
            Ok(descriptor) => descriptor
                .parameters()
                .map(|ty| !is_trivial(ty.descriptor()))
                .collect(),
            Err(_) => Vec::new(),
        };
        let this = (!method.is(access::STATIC)).then_some(true);
        Facts {
            followed: this.into_iter().chain(declared).collect(),
            unknown: Some(why),
            present: true,
            throws: true,
            loops: true,
            ..Facts::default()
        }
    }
}

fn followed(member: &Member<'_>) -> Box<[bool]> {
    let this = (!member.is(access::STATIC)).then_some(true);
    let descriptor = member.method_descriptor();
    let types = descriptor
        .iter()
        .flat_map(|descriptor| descriptor.parameters());
    this.into_iter()
        .chain(types.map(|ty| !is_trivial(ty.descriptor())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_of_final_classes_cannot_be_mutated() {
        let is = |descriptor: &str| is_trivial(Utf8::new(descriptor.as_bytes()));
        for descriptor in [
            "I",
            "Ljava/lang/String;",
            "Ljava/time/LocalDate;",
            "Ljava/util/UUID;",
            "Ljava/time/temporal/ChronoUnit;",
        ] {
            assert!(is(descriptor), "{descriptor}");
        }
        // A program may have a subclass with state that changes; a class of the same name in
        // another package is not meant.
        for descriptor in [
            "[I",
            "Ljava/math/BigDecimal;",
            "Ljava/util/Date;",
            "Ljava/lang/Object;",
            "Lcom/acme/LocalDate;",
            "Ljava/util/String;",
            "LString;",
        ] {
            assert!(!is(descriptor), "{descriptor}");
        }
    }
}
