//! Probes before writes, which keep what is written over.
//!
//! ```text
//! putfield   object and id are handed over; the probe reads the old value
//! xastore    array and index are handed over
//! arraycopy  where it copies to
//! ```
//!
//! A probe reads by itself, for a `getfield` in the code would change what the
//! JVM says of a null: that a field cannot be read rather than assigned. All are
//! in straight lines, without frames and without variables. Static fields are no
//! part of what is recorded, so nobody keeps their values.

use hindsight_classfile::{Code, FieldType, Insn, Operand, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::constructor::InitCall;
use crate::contract::{WRITES, WriteProbe};
use crate::fresh::{Fresh, is_copy};
use crate::throwing::Own;
use crate::trace::early::early_writes;
use crate::trace::memory::{DOUBLE_THREE, double_object_and_index};
use crate::trace::probes::Members;

/// The writes of a class.
pub struct Writes<'a> {
    /// The fields that got ids.
    pub fields: Members<'a>,
    fresh: Fresh,
    /// Slots of stack that the probes of the last body need above its own.
    pub stack: u16,
}

impl<'a> Writes<'a> {
    pub fn new(first_field: u32) -> Self {
        Self {
            fields: Members::new(first_field, Vec::new()),
            fresh: Fresh::default(),
            stack: 0,
        }
    }

    /// Makes the probes of a body, by rising offset.
    pub fn probes(
        &mut self,
        own: &Own<'_, 'a>,
        code: &Code<'a>,
        init_call: Option<InitCall>,
        parameter_slots: u16,
        this_in_0: bool,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<Vec<(usize, Fragment)>, SkipReason> {
        self.stack = 0;
        let this_is_new = init_call.is_some() && this_in_0;
        let seen = self
            .fresh
            .seen_writes(own, code, parameter_slots, this_is_new)?;
        if seen.is_empty() {
            return Ok(Vec::new());
        }
        let early = match init_call {
            Some(call) => early_writes(own, code, call)?,
            None => Vec::new(),
        };
        let mut list = Vec::new();
        let mut seen = seen.into_iter().peekable();
        for insn in code.instructions() {
            let insn = insn?;
            if seen.next_if_eq(&insn.offset).is_none() || early.binary_search(&insn.offset).is_ok()
            {
                continue;
            }
            if let Some(fragment) = self.probe(&insn, constants)? {
                list.push((insn.offset, fragment));
            }
        }
        Ok(list)
    }

    fn probe(
        &mut self,
        insn: &Insn<'_>,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<Option<Fragment>, SkipReason> {
        let operand = insn.operand()?;
        let mut fragment = constants.spare.fragment();
        let probe = match (insn.opcode, operand) {
            (op::PUTFIELD, Operand::Constant(constant)) => {
                if self.fields.known(constant).is_none() {
                    let field = constants.pool.field(constant)?;
                    let kind = FieldType::parse(field.descriptor)?.kind();
                    let count = constants.pool.count();
                    self.fields.add(constant, count, Some((field, kind)));
                }
                let place = self.fields.known(constant).flatten();
                let (id, kind) = self.fields.get(place.ok_or(SkipReason::MALFORMED)?)?;
                // Stack: object, value
                if matches!(kind, b'J' | b'D') {
                    fragment.code.extend([op::DUP2_X1, op::POP2, op::DUP_X2]);
                } else {
                    fragment.code.extend([op::DUP2, op::POP]);
                }
                // Stack: object, value, object
                fragment.push_id(id, constants)?;
                self.stack = self.stack.max(3);
                WriteProbe::Put(kind)
            }
            (op::IASTORE..=op::SASTORE, _) => {
                let place = insn.opcode - op::IASTORE;
                // Stack: array, index, value
                fragment
                    .code
                    .extend_from_slice(double_object_and_index(matches!(place, 1 | 3)));
                // Stack: array, index, value, array, index
                self.stack = self.stack.max(4);
                WriteProbe::Store(place)
            }
            (op::INVOKESTATIC, Operand::Constant(constant)) => {
                let Ok(method) = constants.pool.method(constant) else {
                    return Ok(None);
                };
                if !is_copy(insn.opcode, &method) {
                    return Ok(None);
                }
                // Stack: from, start, to, start, length
                fragment.code.extend(DOUBLE_THREE);
                self.stack = self.stack.max(4);
                WriteProbe::Copy
            }
            _ => return Ok(None),
        };
        call(&mut fragment, probe, constants)?;
        Ok(Some(fragment))
    }
}

/// Appends the call of a probe.
pub fn call(
    fragment: &mut Fragment,
    probe: WriteProbe,
    constants: &mut Constants<'_, '_>,
) -> Result<(), SkipReason> {
    let index = constants.probe_of(WRITES, probe.method())?;
    fragment.op_u16(op::INVOKESTATIC, index);
    Ok(())
}
