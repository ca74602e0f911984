//! Events of writes and reads.
//!
//! The operands that an instruction takes are duplicated before it, so that they are on the stack
//! for the probe after it; the value that it reads is put below them. No variable is used: it would
//! keep an object alive until the method returns.

use hindsight_classfile::{Insn, Operand, opcode as op};

use super::What;
use super::probes::{Probes, is_wide, kind_of};
use crate::SkipReason;
use crate::asm::Fragment;
use crate::contract::trace::{Kind, Probe};
use crate::insertions::Insertions;

/// Instructions that turn `a b` into `a b a b`, where `b` is wide.
const DOUBLE_UNDER_WIDE: [u8; 6] = [
    op::DUP2_X1,
    op::POP2,
    // b a
    op::DUP_X2,
    op::DUP_X2,
    // a a b a
    op::POP,
    op::DUP2_X1,
];

/// Instructions that turn `a i b` into `a i b a i b`.
pub const DOUBLE_THREE: [u8; 6] = [
    op::DUP_X2,
    op::POP,
    // b a i
    op::DUP2_X1,
    op::DUP2_X1,
    // a i a i b a i
    op::POP2,
    op::DUP_X2,
];

/// Instructions that turn `a i b` into `a i b a i b`, where `b` is wide.
const DOUBLE_THREE_WIDE: [u8; 6] = [
    op::DUP2_X2,
    op::POP2,
    op::DUP2_X2,
    op::DUP2_X2,
    op::POP2,
    op::DUP2_X2,
];

/// Instructions that turn `a i b` into `a i b a i`, where `b` may be wide.
pub fn double_object_and_index(wide: bool) -> &'static [u8] {
    if wide {
        &[op::DUP2_X2, op::POP2, op::DUP2_X2]
    } else {
        &[op::DUP_X2, op::POP, op::DUP2_X1]
    }
}

/// Adds the event of an instruction, if it has one. `early` says whether it writes a field of
/// `this` before `this` is initialized; `method` is the id of the method.
pub fn access(
    insn: &Insn<'_>,
    early: bool,
    method: u32,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    match insn.opcode {
        op::GETSTATIC..=op::PUTFIELD => {
            let write = matches!(insn.opcode, op::PUTSTATIC | op::PUTFIELD);
            let wanted = if write { what.writes } else { what.reads };
            if !(wanted || probes.has_secrets) {
                return Ok(());
            }
            let Operand::Constant(constant) = insn.operand()? else {
                return Err(SkipReason::MALFORMED);
            };
            let (id, kind, secret) = probes.field(constant)?;
            let kind = kind_of(kind);
            let hidden = secret && kind == Kind::Reference && what.references;
            if hidden && write {
                // Stack: .., value
                let before = inserted.before(insn.offset);
                before.op(op::DUP);
                probes.hide(before, method)?;
                inserted.stack(2);
            }
            if !wanted {
                if hidden && !write {
                    // Stack, after it: value
                    let after = inserted.after(insn.end());
                    after.op(op::DUP);
                    probes.hide(after, method)?;
                    inserted.stack(2);
                }
                return Ok(());
            }
            let what = What {
                values: what.values && !secret,
                ..what
            };
            let value = Some(kind).filter(|&kind| what.wants(kind));
            match insn.opcode {
                op::PUTFIELD if early => {
                    let copy = value.map(dup_below_one);
                    put_value(insn, copy, Probe::PutEarly(value), id, inserted, probes)
                }
                op::PUTFIELD => put(insn, kind, id, what, inserted, probes),
                op::PUTSTATIC => {
                    let copy = value.map(dup);
                    put_value(insn, copy, Probe::PutStatic(value), id, inserted, probes)
                }
                op::GETFIELD => {
                    let hidden = hidden.then_some(method);
                    let read = Read { kind, id, hidden };
                    get(insn, read, what, inserted, probes)
                }
                _ => {
                    let hidden = hidden.then_some(method);
                    let read = Read { kind, id, hidden };
                    get_static(insn, read, what, inserted, probes)
                }
            }
        }
        op::IASTORE..=op::SASTORE if what.writes => store(
            insn,
            element_kind(insn.opcode - op::IASTORE),
            what,
            inserted,
            probes,
        ),
        op::IALOAD..=op::SALOAD if what.reads => load(
            insn,
            element_kind(insn.opcode - op::IALOAD),
            what,
            inserted,
            probes,
        ),
        _ => Ok(()),
    }
}

/// The kind of an array's elements, given the place of the instruction among those of its sort.
fn element_kind(place: u8) -> Kind {
    match place {
        1 => Kind::Long,
        2 => Kind::Float,
        3 => Kind::Double,
        4 => Kind::Reference,
        _ => Kind::Int,
    }
}

fn dup(kind: Kind) -> u8 {
    if is_wide(kind) { op::DUP2 } else { op::DUP }
}

/// The instruction that also puts the value on top below one other slot.
fn dup_below_one(kind: Kind) -> u8 {
    if is_wide(kind) {
        op::DUP2_X1
    } else {
        op::DUP_X1
    }
}

/// The instruction that also puts the value on top below two other slots.
fn dup_below_two(kind: Kind) -> u8 {
    if is_wide(kind) {
        op::DUP2_X2
    } else {
        op::DUP_X2
    }
}

/// Pops the value on top if it is not wanted; returns its kind if it is.
fn told(kind: Kind, what: What, fragment: &mut Fragment) -> Option<Kind> {
    let told = Some(kind).filter(|&kind| what.wants(kind));
    if told.is_none() {
        fragment.op(if is_wide(kind) { op::POP2 } else { op::POP });
    }
    told
}

fn put(
    insn: &Insn<'_>,
    kind: Kind,
    id: u32,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    let before = inserted.before(insn.offset);
    // Stack: object, value
    if is_wide(kind) {
        before.code.extend_from_slice(&DOUBLE_UNDER_WIDE);
    } else {
        before.op(op::DUP2);
    }
    inserted.stack(3);
    // Stack, after it: object, value
    let after = inserted.after(insn.end());
    let value = told(kind, what, after);
    probes.call_with(after, Probe::Put(value), id)
}

/// A write of which at most the value is recorded: `copy` then duplicates it below the operands of
/// the write.
fn put_value(
    insn: &Insn<'_>,
    copy: Option<u8>,
    probe: Probe,
    id: u32,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    if let Some(copy) = copy {
        // Stack: [this], value
        inserted.before(insn.offset).op(copy);
    }
    inserted.stack(2);
    // Stack, after it: [value]
    probes.call_with(inserted.after(insn.end()), probe, id)
}

fn store(
    insn: &Insn<'_>,
    kind: Kind,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    // Stack: array, index, value
    let double = if is_wide(kind) {
        DOUBLE_THREE_WIDE
    } else {
        DOUBLE_THREE
    };
    inserted.before(insn.offset).code.extend_from_slice(&double);
    inserted.stack(4);
    // Stack, after it: array, index, value
    let after = inserted.after(insn.end());
    let value = told(kind, what, after);
    probes.call(after, Probe::Store(value))
}

/// A field that is read.
struct Read {
    kind: Kind,
    id: u32,
    /// The id of the method that reads, if the field's content is a secret.
    hidden: Option<u32>,
}

impl Read {
    /// Marks the object on the stack as a secret, if it is one.
    fn hide(&self, fragment: &mut Fragment, probes: &mut Probes<'_, '_>) -> Result<(), SkipReason> {
        if let Some(method) = self.hidden {
            fragment.op(op::DUP);
            probes.hide(fragment, method)?;
        }
        Ok(())
    }
}

fn get(
    insn: &Insn<'_>,
    read: Read,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    // Stack: object
    inserted.before(insn.offset).op(op::DUP);
    inserted.stack(5);
    let after = inserted.after(insn.end());
    // Stack, after it: object, value
    read.hide(after, probes)?;
    after.op(dup_below_one(read.kind));
    // Stack: value, object, value
    let value = told(read.kind, what, after);
    probes.call_with(after, Probe::Get(value), read.id)
}

fn get_static(
    insn: &Insn<'_>,
    read: Read,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    let value = Some(read.kind).filter(|&kind| what.wants(kind));
    inserted.stack(5);
    let after = inserted.after(insn.end());
    read.hide(after, probes)?;
    if value.is_some() {
        after.op(dup(read.kind));
    }
    // Stack: value, [value]
    probes.call_with(after, Probe::GetStatic(value), read.id)
}

fn load(
    insn: &Insn<'_>,
    kind: Kind,
    what: What,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    // Stack: array, index
    inserted.before(insn.offset).op(op::DUP2);
    inserted.stack(4);
    let after = inserted.after(insn.end());
    after.op(dup_below_two(kind));
    // Stack, after it: value, array, index, value
    let value = told(kind, what, after);
    probes.call(after, Probe::Load(value))
}
