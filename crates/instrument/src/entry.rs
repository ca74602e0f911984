//! The code at a method's entry: parameters and fields go into fresh variables.
//!
//! ```text
//! invokestatic enter; lstore n          where the thread's log of writes is
//! load p; store c                      each parameter that the body destroys
//! aload 0; getfield f; store v         fields of this that the class declares
//! zero; store v                        all other fields
//! aload p; ifnull next                 each other parameter with fields
//!     aload p; getfield f; store v
//!     goto on; guard: pop              if a field is not the class's own
//! on: aload p; getfield f; store v     each field that only a plan names
//!     goto next; guard: pop
//! next:
//! ```
//!
//! Only fields that the class does not declare itself need the guard: finding them
//! may fail with a `LinkageError`, which the body might never have met. What only a
//! plan names has a guard of its own, so that no other field is lost with it.

use std::iter;

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::asm::{Constants, Fragment, Locals};
use crate::contract::WriteProbe;
use crate::fields::{KeptField, Voucher};
use crate::frames::entry_locals;
use crate::parameters::{Parameter, Place, place_at};
use crate::writes;

/// The types of the fresh variables, from the first one's slot on.
pub fn fresh_types(
    parameters: &[Parameter<'_>],
    fields: &[KeptField<'_>],
    position: Option<u16>,
) -> impl Iterator<Item = VerificationType> {
    let copies = parameters
        .iter()
        .filter_map(|parameter| match parameter.place {
            Place::Copy(_) => Some(parameter.verified),
            Place::Own | Place::Lost => None,
        });
    let position = position.map(|_| VerificationType::Long);
    copies
        .chain(fields.iter().map(|field| field.verified))
        .chain(position)
}

/// Emits the entry code of a method to an empty fragment. `fresh` are the types of the fresh
/// variables, which begin at `max_locals`; `position` is the variable that keeps the position in
/// the log of writes.
#[expect(clippy::too_many_arguments, reason = "what a method begins with")]
pub fn entry(
    fragment: &mut Fragment,
    parameters: &[Parameter<'_>],
    fields: &[KeptField<'_>],
    position: Option<u16>,
    fresh: &[VerificationType],
    constructor: bool,
    max_locals: u16,
    constants: &mut Constants<'_, '_>,
) -> Result<(), SkipReason> {
    if let Some(slot) = position {
        writes::call(fragment, WriteProbe::Enter, constants)?;
        fragment.store(b'J', slot);
        fragment.stack(2);
    }
    for parameter in parameters {
        if let Place::Copy(copy) = parameter.place {
            fragment.load(parameter.kind, parameter.slot);
            fragment.store(parameter.kind, copy);
            fragment.stack(parameter.width);
        }
    }

    let of_this = |field: &KeptField<'_>| {
        parameters
            .get(field.parameter)
            .is_some_and(|parameter| parameter.index == 0)
    };
    let sure = |field: &&KeptField<'_>| field.voucher == Voucher::Own && of_this(field);
    for field in fields.iter().filter(sure) {
        fragment.load(b'L', 0);
        fragment.op_u16(op::GETFIELD, field.index);
        // Stack: value
        fragment.store(field.kind, field.slot);
        fragment.stack(2);
    }
    for field in fields.iter().filter(|field| !sure(field)) {
        fragment.push_default(field.kind);
        fragment.store(field.kind, field.slot);
        fragment.stack(2);
    }
    // The locals behind all of the entry code, once frames name them.
    let mut all = None;
    for (at, parameter) in parameters.iter().enumerate() {
        let group = || {
            fields
                .iter()
                .filter(|field| field.parameter == at && !sure(field))
        };
        if group().next().is_none() {
            continue;
        }
        let jump = (parameter.index != 0).then(|| {
            fragment.load(b'L', parameter.slot);
            let jump = fragment.here();
            fragment.op_u16(op::IFNULL, 0);
            jump
        });
        let locals = *all.get_or_insert_with(|| {
            fragment.list(|locals| {
                locals.extend(entry_locals(parameters, constructor));
                let slots = crate::parameters::slots(parameters);
                extend_locals(locals, slots, max_locals, fresh);
            })
        });
        let is_planned = |field: &&KeptField<'_>| field.voucher == Voucher::Plan;
        let together = group().filter(|field| !is_planned(field));
        load(fragment, parameter.slot, together, locals, constants)?;
        for field in group().filter(is_planned) {
            load(
                fragment,
                parameter.slot,
                iter::once(field),
                locals,
                constants,
            )?;
        }
        if let Some(jump) = jump {
            let next = fragment.here();
            let distance = i16::try_from(next - jump).map_err(|_| SkipReason::TooLarge)?;
            if let Some(place) = fragment.code.get_mut(jump + 1..jump + 3) {
                place.copy_from_slice(&distance.to_be_bytes());
            }
        }
    }
    Ok(())
}

/// Emits the loads of fields of the object in `slot`, which go on behind the last one if one fails.
fn load<'f>(
    fragment: &mut Fragment,
    slot: u16,
    fields: impl Iterator<Item = &'f KeptField<'f>>,
    locals: Locals,
    constants: &mut Constants<'_, '_>,
) -> Result<(), SkipReason> {
    let start = fragment.here();
    let mut is_sure = true;
    for field in fields {
        fragment.load(b'L', slot);
        fragment.op_u16(op::GETFIELD, field.index);
        // Stack: value
        fragment.store(field.kind, field.slot);
        fragment.stack(2);
        is_sure &= field.voucher == Voucher::Own;
    }
    if fragment.here() == start {
        return Ok(());
    }
    match is_sure {
        true => {
            fragment.frame(locals, None);
            Ok(())
        }
        false => fragment.go_on(start, locals, None, constants),
    }
}

/// Adds the fresh variables' types to the locals of a frame, which take `slots`.
pub fn extend_locals(
    locals: &mut Vec<VerificationType>,
    mut slots: u16,
    max_locals: u16,
    fresh: &[VerificationType],
) {
    if let [first, rest @ ..] = fresh {
        place_at(locals, &mut slots, max_locals, *first);
        locals.extend_from_slice(rest);
    }
}
