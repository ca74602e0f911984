//! Which objects may be the same, as far as types show.

use super::answers::is_new;
use crate::program::{ClassId, MethodId, Program};
use hindsight_classfile::{MethodDescriptor, Utf8, access};

/// Whether two parameters of a method may be the same object.
pub fn may_alias(program: &Program, method: MethodId, one: u16, other: u16) -> bool {
    let method = program.method(method);
    let text = program.names.bytes(method.signature);
    if is_new(&text, one) || is_new(&text, other) {
        return false;
    }
    let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
    let Ok(descriptor) = MethodDescriptor::parse(Utf8::new(&text[open..])) else {
        return true;
    };
    let own = program.names.bytes(program.class(method.class).name);
    let type_of = |param: u16| -> Option<Vec<u8>> {
        let place = match (method.is(access::STATIC), param) {
            (false, 0) => return Some(own.to_vec()),
            (false, param) => param - 1,
            (true, param) => param,
        };
        let ty = descriptor.parameters().nth(usize::from(place))?;
        ty.constant_name().map(|name| name.as_bytes().to_vec())
    };
    let (Some(one), Some(other)) = (type_of(one), type_of(other)) else {
        return true;
    };
    may_be_both(program, &one, &other)
}

/// Whether an object may be of both of two types, which are named as in class constants.
fn may_be_both(program: &Program, one: &[u8], other: &[u8]) -> bool {
    if one == other {
        return true;
    }
    match (one.strip_prefix(b"["), other.strip_prefix(b"[")) {
        (Some(one), Some(other)) => match (element(one), element(other)) {
            (Some(one), Some(other)) => may_be_both(program, one, other),
            // An array of a primitive type is of no other array type.
            _ => false,
        },
        (Some(_), None) => is_above_arrays(other),
        (None, Some(_)) => is_above_arrays(one),
        (None, None) => {
            let find = |name: &[u8]| {
                let found = program.names.find(name);
                found.and_then(|name| program.find(name))
            };
            match (find(one), find(other)) {
                (Some(one), Some(other)) => has_common(program, one, other),
                _ => true,
            }
        }
    }
}

/// Whether there may be a class that extends or implements both of two others, or is one of them.
pub fn has_common(program: &Program, one: ClassId, other: ClassId) -> bool {
    if program.is_subtype(one, other) || program.is_subtype(other, one) {
        return true;
    }
    if program.is_incomplete(one) || program.is_incomplete(other) {
        return true;
    }
    let is_interface = |class: ClassId| program.class(class).access & access::INTERFACE != 0;
    let (class, interface) = match (is_interface(one), is_interface(other)) {
        (false, false) => return false,
        (true, _) => (other, one),
        (false, true) => (one, other),
    };
    let mut below = program.subtypes(class).into_iter();
    below.any(|class| program.is_subtype(class, interface) || program.is_incomplete(class))
}

/// Whether arrays are instances of a class.
pub fn is_above_arrays(class: &[u8]) -> bool {
    ABOVE_ARRAYS.contains(&class)
}

/// The supertypes of all array types.
const ABOVE_ARRAYS: [&[u8]; 3] = [
    b"java/lang/Object",
    b"java/lang/Cloneable",
    b"java/io/Serializable",
];

/// The element type of an array, given its descriptor behind the first bracket; `None` if it is a
/// primitive type.
fn element(descriptor: &[u8]) -> Option<&[u8]> {
    match descriptor {
        [b'L', name @ .., b';'] => Some(name),
        [b'[', ..] => Some(descriptor),
        _ => None,
    }
}
