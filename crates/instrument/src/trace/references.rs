//! Method references to methods that write unseen: they are turned to stand-ins that record the
//! writes ([`crate::contract::stand_ins`]).
//!
//! A method reference is a method handle that a bootstrap method of a call site takes as an
//! argument. The handle itself stays as it is, since other code may use it; the argument is changed
//! to name another one.

use hindsight_classfile::{Bootstrap, ClassFile, Constant, ConstantPool, MemberRef, Utf8};

use super::bulk::may_write_unseen;
use crate::SkipReason;
use crate::asm::Constants;
use crate::contract::stand_ins::{StandIn, UNSEEN};

/// Kinds of method handles (JVMS table 5.4.3.5-A).
const INVOKE_VIRTUAL: u8 = 5;
const INVOKE_STATIC: u8 = 6;

/// The index of the implementation method among the arguments of a `LambdaMetafactory`.
const MEANT: usize = 1;
/// The index of the flags, if the bootstrap method takes any.
const FLAGS: usize = 3;
/// The flag of a lambda that can be serialized, whose serialized form names the implementation
/// method.
const SERIALIZABLE: i32 = 1;

/// An argument of a bootstrap method that is to name another constant.
pub struct Turned {
    /// Where the argument stands, counted from the end of the class file: what stands behind the
    /// methods keeps that distance.
    from_end: usize,
    constant: u16,
}

impl Turned {
    /// Changes the argument in the rewritten class.
    pub fn apply(&self, class: &mut [u8]) {
        let place = class.len().checked_sub(self.from_end);
        if let Some(place) = place.and_then(|at| class.get_mut(at..at + 2)) {
            place.copy_from_slice(&self.constant.to_be_bytes());
        }
    }
}

/// The arguments that are to be changed, in a class file of `len` bytes.
pub fn turn(
    class: &ClassFile<'_>,
    len: usize,
    constants: &mut Constants<'_, '_>,
) -> Result<Vec<Turned>, SkipReason> {
    let mut all = Vec::new();
    let Some(attribute) = class.attributes.find(&class.pool, "BootstrapMethods") else {
        return Ok(all);
    };
    // The bootstrap methods begin behind their count.
    let mut at = attribute.offset + 2;
    for bootstrap in class.bootstraps()? {
        let arguments = at + 4;
        at = arguments + 2 * bootstrap.arguments.len();
        let Some(stand_in) = stand_in(&class.pool, &bootstrap) else {
            continue;
        };
        let owner = constants.class(Utf8::new(UNSEEN.as_bytes()))?;
        let descriptor = stand_in.own_descriptor();
        let added = &mut constants.added;
        let method = added.method(owner, stand_in.name.as_bytes(), descriptor.as_bytes())?;
        all.push(Turned {
            from_end: len.saturating_sub(arguments + 2 * MEANT),
            constant: added.method_handle(INVOKE_STATIC, method)?,
        });
    }
    Ok(all)
}

/// The stand-in for the method that a bootstrap method takes, if it makes a method reference of one
/// that writes unseen.
fn stand_in(pool: &ConstantPool<'_>, bootstrap: &Bootstrap) -> Option<StandIn> {
    let Ok(Constant::MethodHandle { kind, reference }) = pool.get(*bootstrap.arguments.get(MEANT)?)
    else {
        return None;
    };
    let meant = pool.method(reference).ok()?;
    let is_static = kind == INVOKE_STATIC;
    if !(is_static || kind == INVOKE_VIRTUAL) || !may_write_unseen(meant.owner) {
        return None;
    }
    if !makes_references(pool, bootstrap) {
        return None;
    }
    let is_it = |one: &StandIn| {
        let MemberRef {
            owner,
            name,
            descriptor,
        } = meant;
        one.is_static == is_static
            && owner == one.owner
            && name == one.name
            && descriptor == one.descriptor
    };
    StandIn::all().find(is_it)
}

/// Whether the bootstrap method makes an object of a method reference that cannot be asked which
/// method it means, because it is not serializable.
fn makes_references(pool: &ConstantPool<'_>, bootstrap: &Bootstrap) -> bool {
    let Ok(Constant::MethodHandle { reference, .. }) = pool.get(bootstrap.method) else {
        return false;
    };
    let Ok(method) = pool.method(reference) else {
        return false;
    };
    if method.owner != "java/lang/invoke/LambdaMetafactory" {
        return false;
    }
    if method.name == "metafactory" {
        return true;
    }
    let flags = bootstrap.arguments.get(FLAGS).map(|&flags| pool.get(flags));
    matches!(flags, Some(Ok(Constant::Integer(flags))) if flags & SERIALIZABLE == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::bulk::writes_unseen;
    use hindsight_classfile::opcode as op;

    #[test]
    fn what_has_a_stand_in_writes_unseen() {
        for one in StandIn::all() {
            let method = MemberRef {
                owner: Utf8::new(one.owner.as_bytes()),
                name: Utf8::new(one.name.as_bytes()),
                descriptor: Utf8::new(one.descriptor.as_bytes()),
            };
            let opcode = match one.is_static {
                true => op::INVOKESTATIC,
                false => op::INVOKEVIRTUAL,
            };
            let told = may_write_unseen(method.owner) && writes_unseen(opcode, &method);
            assert!(told, "{one:?}");
        }
    }
}
