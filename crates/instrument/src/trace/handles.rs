//! Calls that make objects by which fields are written: variable handles, and the updaters of
//! `java.util.concurrent.atomic`.
//!
//! ```text
//! store t..; load t..     the arguments, into fresh variables
//! invoke
//! dup; load t; load t; invokestatic named      the class and the name
//! aconst_null; store t..
//! ```

use hindsight_classfile::{
    ConstantPool, FieldType, Insn, MemberRef, MethodDescriptor, Operand, opcode as op,
};

use super::probes::Probes;
use crate::SkipReason;
use crate::insertions::Insertions;

/// Adds a probe that records which field a handle is for, if the instruction makes one. Fresh
/// variables begin at `max_locals`. Returns the number of variables that the body then needs in
/// all.
pub fn made(
    insn: &Insn<'_>,
    max_locals: u16,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<u16, SkipReason> {
    let Operand::Constant(constant) = insn.operand()? else {
        return Err(SkipReason::MALFORMED);
    };
    let Some(method) = maker(constant, probes.constants.pool) else {
        return Ok(max_locals);
    };
    let kinds = MethodDescriptor::parse(method.descriptor)?;
    let count = kinds.parameter_count();
    let end = (max_locals.checked_add(count)).ok_or(SkipReason::TooManyLocals)?;
    // The owner comes first. The name follows, with the type of the field before it or behind it.
    let name = match (method.name.as_bytes(), count) {
        (b"unreflectVarHandle", 1) => max_locals,
        (b"findVarHandle" | b"findStaticVarHandle", 3) => max_locals + 1,
        (b"newUpdater", 2..) => end - 1,
        _ => return Ok(max_locals),
    };
    if !kinds.parameters().all(|kind| FieldType::kind(kind) == b'L') {
        return Ok(max_locals);
    }
    let before = inserted.before(insn.offset);
    for slot in (max_locals..end).rev() {
        before.store(b'L', slot);
    }
    for slot in max_locals..end {
        before.load(b'L', slot);
    }
    let after = inserted.after(insn.end());
    // Stack: handle
    after.op(op::DUP);
    after.load(b'L', max_locals);
    after.load(b'L', name);
    probes.named(after)?;
    for slot in max_locals..end {
        after.op(op::ACONST_NULL);
        after.store(b'L', slot);
    }
    inserted.stack(3);
    Ok(end)
}

/// The method that a constant names, if it makes handles. If the constant makes no sense, the
/// verifier will say so.
fn maker<'a>(constant: u16, pool: &ConstantPool<'a>) -> Option<MemberRef<'a>> {
    let owner = pool.method_owner(constant).ok()?;
    let owner = owner.as_bytes();
    let is_updater = owner.ends_with(b"FieldUpdater");
    if !is_updater && owner != b"java/lang/invoke/MethodHandles$Lookup"
        || is_updater && !owner.starts_with(b"java/util/concurrent/atomic/Atomic")
    {
        return None;
    }
    pool.method(constant).ok()
}
