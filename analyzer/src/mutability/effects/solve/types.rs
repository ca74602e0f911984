//! What declared types say of objects and of what is reachable from them.

use super::Solver;
use crate::mutability::effects::kinds::{Kind, Kinds};
use crate::mutability::facts::Facts;
use crate::mutability::{types, values};
use crate::program::names::Set;
use crate::program::{ClassId, MethodId, Sym};
use hindsight_classfile::{MethodDescriptor, Utf8, access};
use std::sync::{Arc, PoisonError};

/// A declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Class(ClassId),
    Array,
    /// A class that is not known, or no reference type.
    Unknown,
}

/// What is reachable from the objects of a type.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// The classes of these objects, including those that extend or implement them.
    classes: Set<ClassId>,
    arrays: bool,
}

/// If more classes than this are reachable, anything is assumed to be.
const MOST: usize = 64;

impl Solver<'_> {
    /// The declared type of a parameter; 0 is the receiver.
    fn declared_type(&self, method: MethodId, param: u16) -> Type {
        let program = self.program;
        let method = program.method(method);
        let place = match (method.is(access::STATIC), param) {
            (false, 0) => return Type::Class(method.class),
            (false, param) => param - 1,
            (true, param) => param,
        };
        let text = program.names.bytes(method.signature);
        let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
        let descriptor = MethodDescriptor::parse(Utf8::new(&text[open..]));
        let ty = descriptor.ok();
        let ty = ty.and_then(|found| found.parameters().nth(place.into()));
        ty.map_or(Type::Unknown, |ty| self.type_of(ty.descriptor().as_bytes()))
    }

    fn type_of(&self, descriptor: &[u8]) -> Type {
        match descriptor {
            [b'[', ..] => Type::Array,
            [b'L', name @ .., b';'] => {
                let name = self.program.names.find(name);
                let class = name.and_then(|name| self.program.find(name));
                class.map_or(Type::Unknown, Type::Class)
            }
            _ => Type::Unknown,
        }
    }

    /// The class that a parameter is declared to be, if the program has it; 0 is the receiver.
    pub fn declared(&self, method: MethodId, param: u16) -> Option<ClassId> {
        match self.declared_type(method, param) {
            Type::Class(class) => Some(class),
            Type::Array | Type::Unknown => None,
        }
    }

    /// The class that declares a field, and the field's name.
    fn owner(&self, field: Sym) -> Option<(ClassId, Sym)> {
        let names = &self.program.names;
        let text = names.bytes(field);
        let end = text.iter().rposition(|&byte| byte == b'.')?;
        let class = self.program.find(names.find(&text[..end])?)?;
        Some((class, names.find(&text[end + 1..])?))
    }

    /// Whether a declared type can be relied on. The verifier does not check interface types.
    fn is_sure(&self, class: ClassId) -> bool {
        !self.sound || self.program.class(class).access & access::INTERFACE == 0
    }

    fn may_be_of(&self, ty: Type, kind: Kind) -> bool {
        let is_above_arrays = |class: ClassId| {
            let name = self.program.names.bytes(self.program.class(class).name);
            types::is_above_arrays(&name)
        };
        match (ty, kind) {
            (Type::Unknown, _) | (Type::Array, Kind::Array) => true,
            (Type::Array, Kind::Class(class)) => {
                is_above_arrays(class) || self.program.class(class).library
            }
            (Type::Class(class), Kind::Array) => is_above_arrays(class) || !self.is_sure(class),
            (Type::Class(class), Kind::Class(other)) => {
                class == other
                    || !self.is_sure(class)
                    || self.has_common(class, other)
                    || self.program.class(other).library && self.has_views(class)
            }
        }
    }

    fn has_common(&self, class: ClassId, other: ClassId) -> bool {
        let lock = || (self.common.lock()).unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&(class, other)).copied();
        known.unwrap_or_else(|| {
            let found = types::has_common(self.program, class, other);
            lock().insert((class, other), found);
            found
        })
    }

    /// Whether objects of a class may be collections: contracts let these stand for views of them,
    /// such as an array for its list.
    pub(super) fn has_views(&self, class: ClassId) -> bool {
        let names = &self.program.names;
        let viewed: [&[u8]; 2] = [b"java/util/Collection", b"java/util/Map"];
        viewed.iter().any(|name| {
            let viewed = names.find(name).and_then(|name| self.program.find(name));
            viewed.is_some_and(|viewed| self.has_common(class, viewed))
        })
    }

    /// What is reachable from the instances of a class; `None` if that may be anything.
    fn below(&self, class: ClassId) -> Option<Arc<Below>> {
        let lock = || (self.below.lock()).unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&class).cloned();
        known.unwrap_or_else(|| {
            let found = self.find_below(class).map(Arc::new);
            lock().insert(class, found.clone());
            found
        })
    }

    fn find_below(&self, class: ClassId) -> Option<Below> {
        let program = self.program;
        let object = program.names.find(b"java/lang/Object");
        let mut found = Below::default();
        let mut seen = Set::default();
        let mut due = vec![class];
        while let Some(class) = due.pop() {
            if !seen.insert(class) {
                continue;
            }
            // The values that a lambda has captured are in no declared field.
            let is_anything = Some(program.class(class).name) == object
                || self.lambda_types.contains(&class)
                || !self.is_sure(class);
            if is_anything {
                return None;
            }
            for own in program.subtypes(class) {
                let mut at = Some(own).filter(|&own| !program.is_incomplete(own));
                at?;
                while let Some(class) = at {
                    let fields = program.class(class).fields.iter();
                    for field in fields.filter(|field| field.access & access::STATIC == 0) {
                        let descriptor = program.names.bytes(field.descriptor);
                        due.extend(self.add_below(&descriptor, &mut found)?);
                    }
                    at = program.class(class).superclass;
                }
            }
            if seen.len() > MOST || found.classes.len() > MOST {
                return None;
            }
        }
        Some(found)
    }

    /// Adds what a field of a type refers to; returns the class, if there is one. `None` if it may
    /// be anything.
    fn add_below(&self, descriptor: &[u8], found: &mut Below) -> Option<Option<ClassId>> {
        let element = descriptor.iter().position(|&byte| byte != b'[')?;
        found.arrays |= element > 0;
        let class = match &descriptor[element..] {
            [b'L', name @ .., b';'] if values::is_trivial(name) => return Some(None),
            own @ [b'L', ..] => match self.type_of(own) {
                Type::Class(class) => class,
                Type::Array | Type::Unknown => return None,
            },
            _ => return Some(None),
        };
        if !found.classes.contains(&class) {
            // `Object` has too many subclasses to list them.
            self.program.class(class).superclass?;
            found.classes.extend(self.program.subtypes(class));
        }
        Some(Some(class))
    }

    /// The kinds of objects that have a field.
    pub(super) fn kinds_with(&self, field: Sym) -> Kinds {
        if *self.program.names.bytes(field) == *Facts::ELEMENT.as_bytes() {
            return Kinds::one(Kind::Array);
        }
        (self.owner(field)).map_or(Kinds::ANY, |(class, _)| Kinds::one(Kind::Class(class)))
    }

    /// Whether an argument may be of a kind.
    pub(super) fn is_param_of(&self, method: MethodId, param: u16, kind: Kind) -> bool {
        self.may_be_of(self.declared_type(method, param), kind)
    }

    /// Whether the object that a field refers to may be of a kind.
    pub(super) fn is_field_of(&self, field: Sym, kind: Kind) -> bool {
        let Some((class, name)) = self.owner(field) else {
            return true;
        };
        let declared = self.program.class(class).fields.iter();
        let mut types = declared
            .filter(|declared| declared.name == name)
            .map(|declared| self.type_of(&self.program.names.bytes(declared.descriptor)))
            .peekable();
        types.peek().is_none() || types.any(|ty| self.may_be_of(ty, kind))
    }

    /// Whether something reachable from an argument may be of a kind.
    pub(super) fn leads_param_to(&self, method: MethodId, param: u16, kind: Kind) -> bool {
        let declared = self.declared(method, param);
        let Some(below) = declared.and_then(|class| self.below(class)) else {
            return true;
        };
        let is_of = |&class: &ClassId| self.may_be_of(Type::Class(class), kind);
        below.arrays && self.may_be_of(Type::Array, kind) || below.classes.iter().any(is_of)
    }
}
