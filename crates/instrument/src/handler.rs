//! The handler of everything that leaves a body.
//!
//! ```text
//! handler: astore t
//! start:   aload t; push id; invokestatic frame
//!          load; invokevirtual a|i|j|f|d      each capture
//!          dup; invokevirtual escape          if a rule says so
//! guard:   pop; aload t; athrow
//! ```
//!
//! It is short because its size counts when the JIT decides on inlining. The
//! guard makes sure that a stack overflow in a probe's call never takes the
//! place of the program's exception.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::{
    APPEND_DOUBLE, APPEND_FLOAT, APPEND_INT, APPEND_LONG, APPEND_REFERENCE, ESCAPE, FRAME,
};
use crate::fields::KeptField;
use crate::parameters::{Parameter, Place, place_at};

/// What a handler hands over, and for which region.
pub struct Handler<'m, 'a> {
    pub id: u32,
    pub escape: bool,
    pub parameters: &'m [Parameter<'a>],
    pub fields: &'m [KeptField<'a>],
    /// Whether the region lies before a constructor's call of another one.
    pub uninitialized_this: bool,
}

/// A handler's code, and the local variables up to the highest that it uses.
pub struct Emitted {
    pub fragment: Fragment,
    pub max_locals: u16,
}

impl Handler<'_, '_> {
    /// Where a parameter's value is, if anywhere.
    fn slot(&self, parameter: &Parameter<'_>) -> Option<u16> {
        match parameter.place {
            // It may be in its slot, but nobody may see it.
            _ if self.uninitialized_this && parameter.index == 0 => None,
            Place::Own => Some(parameter.slot),
            Place::Copy(slot) => Some(slot),
            Place::Lost => None,
        }
    }

    /// The locals that the handler needs, by slot.
    fn needed(&self) -> Vec<(u16, VerificationType)> {
        let mut needed = Vec::with_capacity(self.parameters.len() + self.fields.len());
        if self.uninitialized_this {
            // Its frames must say that `this` is not initialized, and say so
            // by listing it.
            needed.push((0, VerificationType::UninitializedThis));
        }
        for parameter in self.parameters {
            if let Some(slot) = self.slot(parameter) {
                needed.push((slot, parameter.verified));
            }
        }
        needed.extend(self.fields.iter().map(|field| (field.slot, field.verified)));
        needed.sort_unstable_by_key(|&(slot, _)| slot);
        needed
    }

    /// Emits the handler.
    pub fn emit(&self, constants: &mut Constants<'_, '_>) -> Result<Emitted, SkipReason> {
        let needed = self.needed();
        let mut locals = Vec::new();
        let mut next = 0;
        // The first slot that is not needed holds the exception: nothing else in
        // the frame will be used again.
        let mut exception = None;
        for &(slot, verified) in &needed {
            if slot > next && exception.is_none() {
                exception = Some(next);
            }
            place_at(&mut locals, &mut next, slot, verified);
        }
        let exception = exception.unwrap_or(next);
        let max_locals = next.max(exception.checked_add(1).ok_or(SkipReason::TooManyLocals)?);

        let mut fragment = Fragment::default();
        fragment.frame(locals, constants.throwable()?);
        // Stack: exception
        fragment.store(b'L', exception);
        let start = fragment.here();
        fragment.load(b'L', exception);
        fragment.push_id(self.id, constants)?;
        // Stack: exception, id
        fragment.call(op::INVOKESTATIC, FRAME, constants)?;
        // Stack: buffer
        fragment.stack(2);
        for parameter in self.parameters {
            match self.slot(parameter) {
                Some(slot) => fragment.load(parameter.kind, slot),
                None => fragment.op(op::ACONST_NULL),
            }
            append(&mut fragment, parameter.kind, constants)?;
        }
        for field in self.fields {
            fragment.load(field.kind, field.slot);
            append(&mut fragment, field.kind, constants)?;
        }
        if self.escape {
            fragment.op(op::DUP);
            // Stack: buffer, buffer
            fragment.call(op::INVOKEVIRTUAL, ESCAPE, constants)?;
        }

        let mut locals = Vec::new();
        let mut next = 0;
        if self.uninitialized_this {
            place_at(
                &mut locals,
                &mut next,
                0,
                VerificationType::UninitializedThis,
            );
        }
        let throwable = VerificationType::Object(constants.throwable()?);
        place_at(&mut locals, &mut next, exception, throwable);
        fragment.guard_from(start, locals, constants)?;
        // Stack: buffer, or the probe's exception
        fragment.op(op::POP);
        fragment.load(b'L', exception);
        fragment.op(op::ATHROW);
        Ok(Emitted {
            fragment,
            max_locals,
        })
    }
}

/// Appends the value on top of the stack to the buffer below it.
fn append(
    fragment: &mut Fragment,
    kind: u8,
    constants: &mut Constants<'_, '_>,
) -> Result<(), SkipReason> {
    let (method, slots) = match kind {
        b'J' => (APPEND_LONG, 2),
        b'F' => (APPEND_FLOAT, 1),
        b'D' => (APPEND_DOUBLE, 2),
        b'L' | b'[' => (APPEND_REFERENCE, 1),
        _ => (APPEND_INT, 1),
    };
    // Stack: buffer, value
    fragment.stack(1 + slots);
    fragment.call(op::INVOKEVIRTUAL, method, constants)?;
    // Stack: buffer
    Ok(())
}
