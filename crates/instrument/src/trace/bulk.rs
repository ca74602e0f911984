//! Calls of methods that write to objects unseen: bulk copies, and methods that bypass field
//! instructions.
//!
//! ```text
//! store t..          the arguments, into fresh variables
//! dup; store t       the receiver
//! load t..           the arguments
//! invoke
//! store r            the result
//! load t..; load r; push id; invokestatic called
//! aconst_null; store t..      so that no object is kept alive
//! load r
//! ```
//!
//! A call that throws is not recorded, although a copy that fails on an element of the wrong type
//! has copied those before it.

use hindsight_classfile::{
    ConstantPool, FieldType, Insn, MemberRef, MethodDescriptor, Operand, Utf8, opcode as op,
};

use super::probes::{Probes, Variable};
use crate::SkipReason;
use crate::contract::trace::{Probe, Shape};
use crate::insertions::Insertions;

/// Whether a method is known to write unseen.
pub fn writes_unseen(opcode: u8, method: &MemberRef<'_>) -> bool {
    let name = method.name.as_bytes();
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word.as_bytes()));
    match (method.owner.as_bytes(), opcode) {
        ([b'[', ..], op::INVOKEVIRTUAL) => name == b"clone",
        // This copies an object. If the superclass has a `clone` of its own, that method's events
        // come first.
        (_, op::INVOKESPECIAL) if is_clone(method) => true,
        // In the class's own code, javac compiles `clone()` of an inherited method this way.
        (b"java/lang/Object", op::INVOKEVIRTUAL) => is_clone(method),
        (b"java/lang/System", _) => name == b"arraycopy",
        (b"java/util/Arrays", _) => starts(&["fill", "setAll", "sort", "parallel", "copyOf"]),
        (b"java/lang/reflect/Field" | b"java/lang/reflect/Array", _) => {
            starts(&["set"]) && name != b"setAccessible"
        }
        (b"java/lang/invoke/VarHandle", _) => {
            starts(&["set", "compareAnd", "weakCompareAnd", "getAnd"])
        }
        (b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe", _) => starts(&[
            "put",
            "compareAnd",
            "weakCompareAnd",
            "getAnd",
            "copyMemory",
            "copySwapMemory",
            "setMemory",
        ]),
        (
            [
                b'j',
                b'a',
                b'v',
                b'a',
                b'/',
                b'u',
                b't',
                b'i',
                b'l',
                b'/',
                owner @ ..,
            ],
            _,
        ) if owner.starts_with(b"concurrent/atomic/") => {
            name != b"<init>"
                && starts(&[
                    "set",
                    "lazySet",
                    "compareAnd",
                    "weakCompareAnd",
                    "getAnd",
                    "incrementAnd",
                    "decrementAnd",
                    "addAnd",
                    "updateAnd",
                    "accumulate",
                    "attempt",
                    "add",
                    "increment",
                    "decrement",
                    "reset",
                    "sumThenReset",
                    "getThenReset",
                ])
        }
        _ => false,
    }
}

/// Whether an instruction calls a method that makes an array together with the arrays in it.
pub fn makes_arrays(insn: &Insn<'_>, pool: &ConstantPool<'_>) -> Result<bool, SkipReason> {
    if insn.opcode != op::INVOKESTATIC {
        return Ok(false);
    }
    let Operand::Constant(constant) = insn.operand()? else {
        return Err(SkipReason::MALFORMED);
    };
    // If the constant makes no sense, the verifier will say so.
    let of_arrays = |owner| owner == "java/lang/reflect/Array";
    Ok(pool.method_owner(constant).is_ok_and(of_arrays)
        && pool.method(constant).is_ok_and(|method| {
            method.name == "newInstance"
                && method.descriptor == "(Ljava/lang/Class;[I)Ljava/lang/Object;"
        }))
}

fn is_clone(method: &MemberRef<'_>) -> bool {
    method.name == "clone" && method.descriptor == "()Ljava/lang/Object;"
}

/// Whether a class may have a method that writes unseen, other than one called by `invokespecial`.
/// Most calls of most classes are known to be harmless by this alone.
pub fn may_write_unseen(owner: Utf8<'_>) -> bool {
    match owner.as_bytes() {
        [b'[', ..] | b"java/lang/Object" => true,
        [b'j', b'a', b'v', b'a', b'/', _, _, _, _, b'/', rest @ ..] => {
            matches!(rest, [b'S', b'y', ..] | [b'A' | b'r' | b'i' | b'c', ..])
        }
        [b's' | b'j', ..] => owner.as_bytes().ends_with(b"misc/Unsafe"),
        _ => false,
    }
}

/// Adds the event of a call, if it has one. Fresh variables begin at `max_locals`. Returns the
/// number of variables that the body then needs in all.
pub fn called(
    insn: &Insn<'_>,
    max_locals: u16,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<u16, SkipReason> {
    let Operand::Constant(constant) = insn.operand()? else {
        return Err(SkipReason::MALFORMED);
    };
    let of_owner = |owner| insn.opcode == op::INVOKESPECIAL || may_write_unseen(owner);
    let Some((method, id)) = probes.callee(constant, of_owner, |method| {
        writes_unseen(insn.opcode, method)
    })?
    else {
        return Ok(max_locals);
    };
    let descriptor = MethodDescriptor::parse(method.descriptor)?;
    let result = descriptor.result().map(FieldType::kind);
    let receiver = insn.opcode != op::INVOKESTATIC;

    if (receiver, descriptor.parameter_count(), result) == (true, 0, Some(b'L')) {
        // Stack: object
        inserted.before(insn.offset).op(op::DUP);
        inserted.stack(3);
        let after = inserted.after(insn.end());
        after.op(op::DUP_X1);
        // Stack, after the call: copy, object, copy
        let shape = Shape {
            references: 2,
            ..Shape::default()
        };
        probes.call_with(after, Probe::Called(shape), id)?;
        return Ok(max_locals);
    }

    let kinds = receiver.then_some(b'L').into_iter();
    let kinds = kinds.chain(descriptor.parameters().map(FieldType::kind));
    let mut values = Vec::with_capacity(usize::from(descriptor.parameter_count()) + 2);
    let mut next = max_locals;
    let mut place = |kind: u8| {
        let value = Variable { kind, slot: next };
        let width = if matches!(kind, b'J' | b'D') { 2 } else { 1 };
        next = next.checked_add(width).ok_or(SkipReason::TooManyLocals)?;
        Ok::<_, SkipReason>(value)
    };
    for kind in kinds {
        values.push(place(kind)?);
    }
    let before = inserted.before(insn.offset);
    let (object, arguments) = values.split_at(usize::from(receiver));
    for value in arguments.iter().rev() {
        before.store(value.kind, value.slot);
    }
    if let [object] = object {
        // The receiver itself stays on the stack: the message of a `NullPointerException` says
        // where the null came from.
        before.op(op::DUP);
        before.store(object.kind, object.slot);
    }
    for value in arguments {
        before.load(value.kind, value.slot);
    }
    let after = inserted.after(insn.end());
    if let Some(kind) = result {
        let value = place(kind)?;
        after.store(value.kind, value.slot);
        values.push(value);
    }
    let stack = probes.event(after, Probe::Called, &values, id, |_| {})?;
    if let (Some(_), Some(value)) = (result, values.last()) {
        after.load(value.kind, value.slot);
    }
    for value in values
        .iter()
        .filter(|value| matches!(value.kind, b'L' | b'['))
    {
        after.op(op::ACONST_NULL);
        after.store(value.kind, value.slot);
    }
    // The result and a null may take more slots than the body's operands did there.
    inserted.stack(stack.max(3));
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_superclass_of_the_jdk_writes_is_seen() {
        let called = |owner: &'static str, name: &'static str| {
            let method = MemberRef {
                owner: Utf8::new(owner.as_bytes()),
                name: Utf8::new(name.as_bytes()),
                descriptor: Utf8::new(b"()Ljava/lang/Object;"),
            };
            writes_unseen(op::INVOKESPECIAL, &method)
        };
        assert!(called("java/util/concurrent/atomic/LongAdder", "add"));
        assert!(called("a/B", "clone") && called("java/lang/Object", "clone"));
        assert!(!called("java/util/concurrent/atomic/LongAdder", "<init>"));
        assert!(!called("a/B", "add") && !called("java/util/ArrayList", "add"));
    }

    #[test]
    fn the_quick_look_passes_over_no_class_that_writes_unseen() {
        let owners = [
            "[I",
            "[[La/B;",
            "java/lang/Object",
            "java/lang/System",
            "java/util/Arrays",
            "java/lang/reflect/Field",
            "java/lang/reflect/Array",
            "java/lang/invoke/VarHandle",
            "sun/misc/Unsafe",
            "jdk/internal/misc/Unsafe",
            "java/util/concurrent/atomic/AtomicLong",
        ];
        let names = [
            "clone",
            "arraycopy",
            "fill",
            "setInt",
            "getAndSet",
            "putInt",
        ];
        for owner in owners {
            let owner = Utf8::new(owner.as_bytes());
            let unseen = names.iter().any(|name| {
                let method = MemberRef {
                    owner,
                    name: Utf8::new(name.as_bytes()),
                    descriptor: Utf8::new(b"()Ljava/lang/Object;"),
                };
                writes_unseen(op::INVOKEVIRTUAL, &method)
            });
            assert!(unseen && may_write_unseen(owner), "{owner:?}");
        }
        for owner in [
            "a/B",
            "java/lang/Objects",
            "java/lang/String",
            "java/util/List",
            "sun/A",
            "jdk/B",
        ] {
            assert!(!may_write_unseen(Utf8::new(owner.as_bytes())), "{owner}");
        }
    }
}
