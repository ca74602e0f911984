//! The handler of everything that leaves a body.
//!
//! ```text
//! handler: astore t
//! start:   aload t; push id; load...          the first captures
//!          invokestatic frame
//!          load; invokevirtual a|i|j|f|d      each further capture
//!          dup; invokevirtual escape          if a rule says so
//!          pop; aload t; athrow
//! guard:   pop; aload t; athrow
//! ```
//!
//! The handler is short because its size counts when the JIT decides on inlining. The guard makes
//! sure that a stack overflow in a probe's call never takes the place of the program's exception.
//! The guard cannot share its last instructions with the way without failure: C1 compiles no method
//! with a handler that is reached both ways.
//!
//! Tried without gain (ecj, 387,000 lines, JDK 17): a constant that is loaded first, so that C2
//! stops compiling the handler there as long as none of the class's handlers has run (JDK 22 and
//! later do that by themselves). C2 resolves a string by itself. With the type of a method, `()V`,
//! C2's code per method is again as large as without the agent, but C1's grows by a tenth; the
//! ratios of CPU time to runs without agent are then 1.02, 1.11 and 1.10 in steady state, against
//! 0.97, 1.06 and 1.10 without the constant, and for whole runs 1.05, 1.06 and 1.14 against 1.08,
//! 1.10 and 1.13.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::{
    APPEND_DOUBLE, APPEND_FLOAT, APPEND_INT, APPEND_LONG, APPEND_REFERENCE, ESCAPE, MAX_REFERENCES,
    MAX_WORDS, WriteProbe,
};
use crate::fields::KeptField;
use crate::parameters::{Parameter, Place, place_at};
use crate::writes;

/// What a handler hands over, and for which region.
pub struct Handler<'m, 'a> {
    pub id: u32,
    pub escape: bool,
    pub parameters: &'m [Parameter<'a>],
    pub fields: &'m [KeptField<'a>],
    /// Whether the position of the log of writes at entry is handed over, and the variable that
    /// holds it; without a variable, the position has not changed since entry.
    pub position: Option<Option<u16>>,
    /// Whether the region lies before a constructor's call of another one.
    pub uninitialized_this: bool,
}

/// The local variables that a handler uses.
pub struct Variables {
    /// The variable that holds the exception.
    pub exception: u16,
    /// The number of variables up to the highest one in use.
    pub max_locals: u16,
}

impl Handler<'_, '_> {
    /// The slot that holds a parameter's value, if any does.
    fn slot(&self, parameter: &Parameter<'_>) -> Option<u16> {
        match parameter.place {
            // `this` may be in its slot, but nobody may use it.
            _ if self.uninitialized_this && parameter.index == 0 => None,
            Place::Own => Some(parameter.slot),
            Place::Copy(slot) => Some(slot),
            Place::Lost => None,
        }
    }

    /// Calls `need` with the slot and the type of each local variable that the handler needs.
    fn needed(&self, mut need: impl FnMut(u16, VerificationType)) {
        // Its frames must mark `this` as not initialized, which they do by listing it.
        if self.uninitialized_this {
            need(0, VerificationType::UninitializedThis);
        }
        // The parameters in their own slots come first, then the fresh variables in the order in
        // which their slots were assigned: parameters, fields, the position.
        let mut copies = false;
        for parameter in self.parameters {
            match self.slot(parameter) {
                Some(slot) if slot == parameter.slot => need(slot, parameter.verified),
                Some(_) => copies = true,
                None => {}
            }
        }
        for parameter in self.parameters.iter().filter(|_| copies) {
            if let Place::Copy(slot) = parameter.place {
                need(slot, parameter.verified);
            }
        }
        for field in self.fields {
            need(field.slot, field.verified);
        }
        if let Some(slot) = self.position.flatten() {
            need(slot, VerificationType::Long);
        }
    }

    /// Emits the handler to an empty fragment.
    pub fn emit(
        &self,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Variables, SkipReason> {
        let mut next = 0;
        // The first slot that is not needed holds the exception: nothing else in the frame is used
        // again.
        let mut exception = None;
        let locals = fragment.list(|locals| {
            self.needed(|slot, verified| {
                if slot > next && exception.is_none() {
                    exception = Some(next);
                }
                place_at(locals, &mut next, slot, verified);
            });
        });
        let exception = exception.unwrap_or(next);
        let max_locals = next.max(exception.checked_add(1).ok_or(SkipReason::TooManyLocals)?);

        fragment.frame(locals, Some(constants.throwable()?));
        // Stack: exception
        fragment.store(b'L', exception);
        let start = fragment.here();
        fragment.load(b'L', exception);
        fragment.push_id(self.id, constants)?;
        // Stack: exception, id
        let load = |fragment: &mut Fragment,
                    kind: u8,
                    slot: Option<u16>,
                    constants: &mut Constants<'_, '_>| {
            match slot {
                Some(slot) => fragment.load(kind, slot),
                None if is_reference(kind) => fragment.op(op::ACONST_NULL),
                None => return writes::call(fragment, WriteProbe::Enter, constants),
            }
            Ok(())
        };
        let mut values = std::mem::take(&mut constants.spare.values);
        values.clear();
        let of_parameters = self.parameters.iter();
        values.extend(of_parameters.map(|parameter| (parameter.kind, self.slot(parameter))));
        let of_fields = self.fields.iter();
        values.extend(of_fields.map(|field| (field.kind, Some(field.slot))));
        values.extend(self.position.map(|slot| (b'J', slot)));
        // The buffer keeps references and words apart, so that only the order within each of the
        // two matters. Words after the first float or double are appended, which preserves their
        // order.
        let (mut references, mut words) = (0, 0);
        for &(kind, slot) in &values {
            if is_reference(kind) && references < MAX_REFERENCES {
                references += 1;
                load(fragment, kind, slot, constants)?;
            }
        }
        for &(kind, slot) in values.iter().filter(|(kind, _)| !is_reference(*kind)) {
            if words == MAX_WORDS || matches!(kind, b'F' | b'D') {
                break;
            }
            words += 1;
            load(fragment, kind, slot, constants)?;
            if kind != b'J' {
                fragment.op(op::I2L);
            }
        }
        // Stack: exception, id, references.., words..; at most 2 + 8 + 2 * 3
        fragment.stack((2 + references + 2 * words) as u16);
        fragment.op_u16(op::INVOKESTATIC, constants.frame(references, words)?);
        // Stack: buffer
        if references + words < values.len() {
            let mut given = (references, words);
            for &(kind, slot) in &values {
                let given = if is_reference(kind) {
                    &mut given.0
                } else {
                    &mut given.1
                };
                match given.checked_sub(1) {
                    Some(left) => *given = left,
                    None => {
                        load(fragment, kind, slot, constants)?;
                        append(fragment, kind, constants)?;
                    }
                }
            }
        }
        constants.spare.values = values;
        if self.escape {
            fragment.op(op::DUP);
            // Stack: buffer, buffer
            fragment.call(op::INVOKEVIRTUAL, ESCAPE, constants)?;
        }

        let throwable = VerificationType::Object(constants.throwable()?);
        let locals = fragment.list(|locals| {
            let mut next = 0;
            if self.uninitialized_this {
                place_at(locals, &mut next, 0, VerificationType::UninitializedThis);
            }
            place_at(locals, &mut next, exception, throwable);
        });
        let end = fragment.here();
        let rethrow = |fragment: &mut Fragment| {
            fragment.load(b'L', exception);
            fragment.op(op::ATHROW);
        };
        fragment.op(op::POP);
        rethrow(fragment);
        fragment.guard(start, end, locals, None, constants)?;
        rethrow(fragment);
        Ok(Variables {
            exception,
            max_locals,
        })
    }
}

fn is_reference(kind: u8) -> bool {
    matches!(kind, b'L' | b'[')
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
