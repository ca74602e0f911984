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
//!
//! Some classes of the JDK write by way of `Unsafe` and variable handles; of those
//! that everybody uses, [`hidden`] knows which methods write to what.
//!
//! Where a thread may let others see what it has done, a probe tells, so that the
//! writes of different threads can be put in order: it leaves a monitor, writes a
//! volatile field of the own class, or goes around fields.

use std::ops::Range;

use hindsight_classfile::{Code, FieldType, Insn, Member, Operand, access, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::constructor::InitCall;
use crate::contract::{WRITES, WriteProbe};
use crate::fresh::{Fresh, is_copy};
use crate::throwing::Own;
use crate::trace::bulk::writes_unseen;
use crate::trace::early::early_writes;
use crate::trace::memory::{DOUBLE_THREE, double_object_and_index};
use crate::trace::probes::Members;

/// The writes of a class.
pub struct Writes<'a> {
    /// The fields that got ids.
    pub fields: Members<'a>,
    fresh: Fresh,
    /// Whether the class has volatile fields.
    volatile: Option<bool>,
    /// Slots of stack that the probes of the last body need above its own.
    pub stack: u16,
    /// The code of the probes of the last body, one after the other.
    pub code: Vec<u8>,
}

impl<'a> Writes<'a> {
    pub fn new(first_field: u32) -> Self {
        Self {
            fields: Members::new(first_field, Vec::new()),
            fresh: Fresh::default(),
            volatile: None,
            stack: 0,
            code: Vec::new(),
        }
    }

    /// Makes the probes of a body: for each its instruction, by rising offset, and
    /// where its code stands in [`Self::code`].
    #[expect(clippy::too_many_arguments, reason = "what is known of a body")]
    pub fn probes(
        &mut self,
        own: &Own<'_, 'a>,
        method: &Member<'a>,
        code: &Code<'a>,
        init_call: Option<InitCall>,
        parameter_slots: u16,
        this_in_0: bool,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<Vec<(usize, Range<usize>)>, SkipReason> {
        self.stack = 0;
        self.code.clear();
        // What they return is new, in a way that is not seen.
        if own.name == "java/util/Arrays" && method.name.as_bytes().starts_with(b"copyOf") {
            return Ok(Vec::new());
        }
        let volatile = *self.volatile.get_or_insert_with(|| {
            let mut fields = own.class.fields.iter();
            fields.any(|field| field.is(access::VOLATILE))
        });
        let this_is_new = init_call.is_some() && this_in_0;
        let seen = self
            .fresh
            .seen_writes(own, code, parameter_slots, this_is_new)?;
        let early = match init_call {
            Some(call) if !seen.is_empty() => early_writes(own, code, call)?,
            _ => Vec::new(),
        };
        let mut list = Vec::new();
        let mut first = self.hidden(own, method, code, constants)?;
        let mut seen = seen.into_iter().peekable();
        for insn in code.instructions() {
            let insn = insn?;
            let releases = releases(own, method, &insn, volatile)?;
            let writes = seen.next_if_eq(&insn.offset).is_some()
                && early.binary_search(&insn.offset).is_err();
            if !releases && !writes && first.is_none() {
                continue;
            }
            let mut fragment = first.take().unwrap_or_else(|| constants.spare.fragment());
            if releases {
                call(&mut fragment, WriteProbe::Release, constants)?;
            }
            if writes {
                self.probe(&insn, &mut fragment, constants)?;
            }
            let start = self.code.len();
            self.code.extend_from_slice(&fragment.code);
            constants.spare.recycle(fragment);
            if start < self.code.len() {
                list.push((insn.offset, start..self.code.len()));
            }
        }
        Ok(list)
    }

    /// What a method of the JDK writes around fields, told at its start.
    fn hidden(
        &mut self,
        own: &Own<'_, 'a>,
        method: &Member<'a>,
        code: &Code<'a>,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<Option<Fragment>, SkipReason> {
        let Some(hidden) = hidden(own, method, code)? else {
            return Ok(None);
        };
        let mut fragment = constants.spare.fragment();
        let probe = match hidden {
            Hidden::Element => {
                fragment.load(b'L', 0);
                fragment.load(b'I', 1);
                WriteProbe::Store(op::AASTORE - op::IASTORE)
            }
            Hidden::Value(constant) => {
                let (id, kind) = self.field(constant, constants)?;
                fragment.load(b'L', 0);
                fragment.push_id(id, constants)?;
                WriteProbe::Put(kind)
            }
        };
        self.stack = self.stack.max(2);
        call(&mut fragment, probe, constants)?;
        Ok(Some(fragment))
    }

    /// The id of the field that a constant names, and the first byte of its
    /// descriptor.
    fn field(
        &mut self,
        constant: u16,
        constants: &Constants<'_, 'a>,
    ) -> Result<(u32, u8), SkipReason> {
        if self.fields.known(constant).is_none() {
            let field = constants.pool.field(constant)?;
            let kind = FieldType::parse(field.descriptor)?.kind();
            let count = constants.pool.count();
            self.fields.add(constant, count, Some((field, kind)));
        }
        let place = self.fields.known(constant).flatten();
        self.fields.get(place.ok_or(SkipReason::MALFORMED)?)
    }

    fn probe(
        &mut self,
        insn: &Insn<'_>,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<(), SkipReason> {
        let operand = insn.operand()?;
        let probe = match (insn.opcode, operand) {
            (op::PUTFIELD, Operand::Constant(constant)) => {
                let (id, kind) = self.field(constant, constants)?;
                // Stack: object, value
                if matches!(kind, b'J' | b'D') {
                    fragment
                        .code
                        .extend_from_slice(&[op::DUP2_X1, op::POP2, op::DUP_X2]);
                } else {
                    fragment.code.extend_from_slice(&[op::DUP2, op::POP]);
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
                    return Ok(());
                };
                if !is_copy(insn.opcode, &method) {
                    return Ok(());
                }
                // Stack: from, start, to, start, length
                fragment.code.extend(DOUBLE_THREE);
                self.stack = self.stack.max(4);
                WriteProbe::Copy
            }
            _ => return Ok(()),
        };
        call(fragment, probe, constants)
    }
}

/// A write that no instruction shows.
enum Hidden {
    /// Of an element: the array is the first parameter, the index the second, of a
    /// static method.
    Element,
    /// Of the field of `this` that this constant names.
    Value(u16),
}

/// What a method of the JDK writes by `Unsafe` or a variable handle, as far as it
/// is known.
fn hidden(
    own: &Own<'_, '_>,
    method: &Member<'_>,
    code: &Code<'_>,
) -> Result<Option<Hidden>, SkipReason> {
    let Some(name) = own.name.as_bytes().strip_prefix(b"java/util/concurrent/") else {
        return Ok(None);
    };
    let is_static = method.is(access::STATIC);
    match name {
        b"ConcurrentHashMap" if is_static => {
            let tables = method.name == "casTabAt" || method.name == "setTabAt";
            Ok(tables.then_some(Hidden::Element))
        }
        b"atomic/AtomicBoolean"
        | b"atomic/AtomicInteger"
        | b"atomic/AtomicLong"
        | b"atomic/AtomicReference"
            if !is_static && method.name != "<init>" =>
        {
            let pool = &own.class.pool;
            let goes_around = code.instructions().any(|insn| {
                insn.is_ok_and(|insn| matches!(goes_around_fields(own, &insn), Ok(true)))
            });
            let value = (1..pool.count()).find(|&constant| {
                pool.field(constant)
                    .is_ok_and(|field| field.owner == own.name && field.name == "value")
            });
            Ok(value.filter(|_| goes_around).map(Hidden::Value))
        }
        _ => Ok(None),
    }
}

/// Whether a thread may let others see what it has done by an instruction.
fn releases(
    own: &Own<'_, '_>,
    method: &Member<'_>,
    insn: &Insn<'_>,
    volatile: bool,
) -> Result<bool, SkipReason> {
    Ok(match (insn.opcode, insn.operand()?) {
        (op::MONITOREXIT, _) => true,
        (op::IRETURN..=op::RETURN, _) => method.is(access::SYNCHRONIZED),
        (op::PUTFIELD | op::PUTSTATIC, Operand::Constant(constant)) => {
            volatile && {
                let field = own.class.pool.field(constant)?;
                own.field_access(&field)
                    .is_some_and(|flags| flags & access::VOLATILE != 0)
            }
        }
        (op::INVOKEVIRTUAL, Operand::Constant(constant)) => {
            let waits = own.class.pool.method(constant).is_ok_and(|method| {
                method.name == "wait"
                    && [&b"()V"[..], b"(J)V", b"(JI)V"].contains(&method.descriptor.as_bytes())
            });
            waits || goes_around_fields(own, insn)?
        }
        _ => false,
    })
}

/// Whether an instruction calls a method that writes by `Unsafe` or a variable
/// handle.
fn goes_around_fields(own: &Own<'_, '_>, insn: &Insn<'_>) -> Result<bool, SkipReason> {
    let (op::INVOKEVIRTUAL, Operand::Constant(constant)) = (insn.opcode, insn.operand()?) else {
        return Ok(false);
    };
    Ok(own.class.pool.method(constant).is_ok_and(|method| {
        let owner = method.owner.as_bytes();
        let around = owner == b"java/lang/invoke/VarHandle" || owner.ends_with(b"/misc/Unsafe");
        around && writes_unseen(insn.opcode, &method)
    }))
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
