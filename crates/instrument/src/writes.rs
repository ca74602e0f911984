//! Probes before writes, which keep the old values.
//!
//! ```text
//! putfield   object and id are handed over; the probe reads the old value. Writes
//!            to one object in a straight line are logged at once
//! xastore    array and index are handed over
//! arraycopy  where it copies to
//! ```
//!
//! The probe itself reads the old value, because a `getfield` in the code would change what the
//! JVM's message says about a null: that a field cannot be read, instead of assigned. All probes
//! are in straight lines, without frames. Static fields are not part of what is recorded, so their
//! old values are not kept.
//!
//! Calls that write by way of `Unsafe`, variable handles and reflection, or that fill an array, are
//! logged by [`around`]. Some methods of the JDK that write many times are logged once, at their
//! start ([`bulk`]).
//!
//! Where a thread may publish its writes to other threads, a probe says so, so that the writes of
//! different threads can be ordered: where it leaves a monitor or a class initializer, writes a
//! volatile field of its own class, or bypasses field instructions. For fields of other classes,
//! the probe before the write finds out whether they are volatile. Writes that bypass field
//! instructions may be visible at once, so they are logged before that.
//!
//! What handlers do first is logged at their start ([`starts`](crate::starts)).

use std::ops::Range;

use hindsight_classfile::{Code, FieldType, Insn, Member, Operand, Utf8, access, opcode as op};

use crate::SkipReason;
use crate::around::{self, UNSAFE, VAR_HANDLE};
use crate::asm::{Constants, Fragment};
use crate::constructor::InitCalls;
use crate::contract::{MISSED, WRITES, WriteProbe};
use crate::fresh::{Fresh, Seen, is_copy};
use crate::starts::{Start, start_before};
use crate::throwing::Own;
use crate::trace::bulk::writes_unseen;
use crate::trace::early::early_writes;
use crate::trace::memory::{DOUBLE_THREE, double_object_and_index};
use crate::trace::probes::Members;

/// The writes of a class.
pub struct Writes<'a> {
    /// The fields that have ids.
    pub fields: Members<'a>,
    fresh: Fresh,
    /// The variable that keeps the position in the log, if the method keeps one.
    position: Option<u16>,
    /// Whether the class has volatile fields.
    volatile: Option<bool>,
    /// The stack slots that the probes of the last body need above the body's own.
    pub stack: u16,
    /// The slot behind the variables that the probes of the last body need; 0 if they need none.
    pub max_locals: u16,
    /// The code of the probes of the last body, one after the other.
    pub code: Vec<u8>,
}

impl<'a> Writes<'a> {
    pub fn new(first_field: u32) -> Self {
        Self {
            fields: Members::new(first_field, Vec::new()),
            fresh: Fresh::default(),
            position: None,
            volatile: None,
            stack: 0,
            max_locals: 0,
            code: Vec::new(),
        }
    }

    /// Makes the probes of a body: the offset of each one's instruction, by rising offset, and the
    /// range of its code in [`Self::code`]. Variables from `first_slot` on are free for them; if
    /// there are any probes, `position` is the variable that will keep the position. What handlers
    /// do first is logged at their `starts`.
    #[expect(clippy::too_many_arguments, reason = "what is known of a body")]
    pub fn probes(
        &mut self,
        own: &Own<'_, 'a>,
        method: &Member<'a>,
        code: &Code<'a>,
        init_calls: Option<&InitCalls>,
        parameter_slots: u16,
        this_in_0: bool,
        position: Option<u16>,
        first_slot: u16,
        starts: &mut [Start],
        constants: &mut Constants<'_, 'a>,
    ) -> Result<Vec<(usize, Range<usize>)>, SkipReason> {
        self.position = position;
        self.stack = 0;
        self.max_locals = 0;
        self.code.clear();
        // These methods return a new array, which the analysis of fresh objects does not see.
        if own.name == "java/util/Arrays" && method.name.as_bytes().starts_with(b"copyOf") {
            return Ok(Vec::new());
        }
        let mut first = self.at_start(own, method, constants)?;
        let only_first = first.is_some()
            && ["java/util/Arrays", "java/util/Random"]
                .iter()
                .any(|class| own.name == *class);
        let builder = own.name == BUILDER;
        let volatile = *self.volatile.get_or_insert_with(|| {
            let mut fields = own.class.fields.iter();
            fields.any(|field| field.is(access::VOLATILE))
        });
        let this_is_new = init_calls.is_some() && this_in_0;
        let seen = self
            .fresh
            .seen_writes(own, code, parameter_slots, this_is_new)?;
        let early = match init_calls {
            Some(calls) if !seen.is_empty() => early_writes(own, code, calls)?,
            _ => Vec::new(),
        };
        let mut list = Vec::new();
        let mut seen = seen.into_iter().peekable();
        for insn in code.instructions() {
            let insn = insn?;
            let mut start = start_before(starts, insn.offset);
            let releases = releases(own, method, &insn, volatile)?
                && start
                    .as_ref()
                    .is_none_or(|start| start.exit != Some(insn.offset));
            let seen = seen.next_if(|seen| seen.at == insn.offset).filter(|_| {
                early.binary_search(&insn.offset).is_err()
                    && !only_first
                    && !(builder && insn.opcode != op::PUTFIELD)
            });
            let mut fragment = first.take().unwrap_or_else(|| constants.spare.fragment());
            let around = goes_around_fields(own, &insn)?;
            if releases {
                call(&mut fragment, WriteProbe::Release, constants)?;
            }
            let length = fragment.code.len();
            if let Some(seen) = seen {
                let slot = seen.object().filter(|_| insn.opcode == op::PUTFIELD);
                let start = start.as_mut();
                match slot
                    .zip(start)
                    .filter(|(slot, start)| start.has(*slot, insn.offset))
                {
                    Some((slot, start)) => {
                        let mut earlier = constants.spare.fragment();
                        earlier.load(b'L', slot);
                        self.put(&insn, &seen, &mut earlier, constants)?;
                        start.writes.extend_from_slice(&earlier.code);
                        constants.spare.recycle(earlier);
                    }
                    None => self.probe(&insn, &seen, &mut fragment, constants)?,
                }
            }
            if fragment.code.len() == length
                && !only_first
                && !builder
                && let Some((slots, stack)) =
                    around::before(&insn, first_slot, &mut fragment, constants)?
            {
                self.max_locals = self.max_locals.max(slots);
                self.stack = self.stack.max(stack);
            }
            if around {
                call(&mut fragment, WriteProbe::Release, constants)?;
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

    /// The probe at the start of a method of the JDK that logs what the whole method writes.
    fn at_start(
        &mut self,
        own: &Own<'_, '_>,
        method: &Member<'_>,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Option<Fragment>, SkipReason> {
        let Some(bulk) = bulk(own, method)? else {
            return Ok(None);
        };
        let mut fragment = constants.spare.fragment();
        // In instance methods of classes other than builders, the first parameter is what is
        // written to.
        let first = u16::from(matches!(bulk, Bulk::Filled | Bulk::Decoded | Bulk::Encoded));
        fragment.load(b'L', first);
        let probe = match bulk {
            Bulk::Array | Bulk::Filled => WriteProbe::Array,
            Bulk::Decoded | Bulk::Encoded => {
                fragment.load(b'L', 2);
                match bulk {
                    Bulk::Decoded => WriteProbe::Decoded,
                    _ => WriteProbe::Encoded,
                }
            }
            Bulk::Range => {
                fragment.load(b'I', 1);
                fragment.load(b'I', 2);
                fragment.load(b'I', 1);
                fragment.op(op::ISUB);
                WriteProbe::Copy
            }
            Bulk::Text => {
                fragment.op(op::ICONST_0);
                WriteProbe::Text
            }
            Bulk::TextFrom => {
                fragment.load(b'I', 1);
                WriteProbe::Text
            }
            Bulk::Character => {
                fragment.load(b'I', 1);
                WriteProbe::Character
            }
        };
        self.stack = self.stack.max(4);
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

    /// Emits the probe before a write of a field; the object is on the stack.
    fn put(
        &mut self,
        insn: &Insn<'_>,
        seen: &Seen,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<(), SkipReason> {
        let Operand::Constant(constant) = insn.operand()? else {
            return Err(SkipReason::MALFORMED);
        };
        let mut ids = vec![self.field(constant, constants)?.0];
        for &also in seen.also.iter().filter(|also| **also != 0) {
            ids.push(self.field(also, constants)?.0);
        }
        // The ids are sorted, so that methods that write the same fields log them in one order.
        ids.sort_unstable();
        for &id in &ids {
            fragment.push_id(id, constants)?;
        }
        if let Some(slot) = self.position {
            fragment.load(b'J', slot);
        }
        self.stack = self.stack.max(4 + ids.len() as u16);
        let probe = WriteProbe::Put(ids.len(), self.position.is_some());
        call(fragment, probe, constants)
    }

    fn probe(
        &mut self,
        insn: &Insn<'_>,
        seen: &Seen,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, 'a>,
    ) -> Result<(), SkipReason> {
        let operand = insn.operand()?;
        let probe = match (insn.opcode, operand) {
            (op::PUTFIELD, Operand::Constant(constant)) => {
                let kind = self.field(constant, constants)?.1;
                // Stack: object, value
                if matches!(kind, b'J' | b'D') {
                    fragment
                        .code
                        .extend_from_slice(&[op::DUP2_X1, op::POP2, op::DUP_X2]);
                } else {
                    fragment.code.extend_from_slice(&[op::DUP2, op::POP]);
                }
                // Stack: object, value, object
                return self.put(insn, seen, fragment, constants);
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

/// What a method of the JDK writes to, as a whole.
enum Bulk {
    /// The array in the first parameter of a static method.
    Array,
    /// The array in the first parameter of an instance method.
    Filled,
    /// The buffer in the second parameter, which gets the characters that the bytes in the first
    /// parameter encode.
    Decoded,
    /// The buffer in the second parameter, which gets the bytes that encode the characters in the
    /// first parameter.
    Encoded,
    /// The array in the first parameter, from the index in the second parameter up to the index in
    /// the third.
    Range,
    /// The whole text of the builder.
    Text,
    /// The text of the builder from the index in the first parameter on.
    TextFrom,
    /// The character of the builder at the index in the first parameter.
    Character,
}

/// The superclass of all string builders. What it appends to an array lies behind the part that
/// counts.
const BUILDER: &str = "java/lang/AbstractStringBuilder";

/// What a method of the JDK writes to, as a whole. One log entry says more than thousands would,
/// and the JIT replaces some of these methods with intrinsics.
fn bulk(own: &Own<'_, '_>, method: &Member<'_>) -> Result<Option<Bulk>, SkipReason> {
    let name = method.name.as_bytes();
    let is_static = method.is(access::STATIC);
    if own.name == BUILDER && !is_static {
        return Ok(match name {
            b"reverse" => Some(Bulk::Text),
            b"setCharAt" => Some(Bulk::Character),
            b"setLength" | b"delete" | b"deleteCharAt" | b"replace" | b"insert" => {
                Some(Bulk::TextFrom)
            }
            _ => None,
        });
    }
    if !is_static {
        return Ok(match (own.name.as_bytes(), name) {
            (b"java/util/Random", b"nextBytes") => Some(Bulk::Filled),
            (b"java/nio/charset/CharsetDecoder", b"decode")
                if method.method_descriptor()?.parameter_count() == 3 =>
            {
                Some(Bulk::Decoded)
            }
            (b"java/nio/charset/CharsetEncoder", b"encode")
                if method.method_descriptor()?.parameter_count() == 3 =>
            {
                Some(Bulk::Encoded)
            }
            _ => None,
        });
    }
    if own.name != "java/util/Arrays" {
        return Ok(None);
    }
    let descriptor = method.method_descriptor()?;
    let kinds: Vec<u8> = descriptor.parameters().map(FieldType::kind).collect();
    // `fill` has the value behind the range, others may have a comparator.
    let ranged = match name {
        b"fill" => 4,
        b"sort" | b"parallelSort" | b"parallelPrefix" => 3,
        b"setAll" | b"parallelSetAll" => usize::MAX,
        _ => return Ok(None),
    };
    Ok(match kinds[..] {
        [b'[', b'I', b'I', ..] if kinds.len() >= ranged => Some(Bulk::Range),
        [b'[', ..] => Some(Bulk::Array),
        _ => None,
    })
}

/// Whether an instruction may publish the thread's earlier writes to other threads.
fn releases(
    own: &Own<'_, '_>,
    method: &Member<'_>,
    insn: &Insn<'_>,
    volatile: bool,
) -> Result<bool, SkipReason> {
    Ok(match (insn.opcode, insn.operand()?) {
        (op::MONITOREXIT, _) => true,
        (op::IRETURN..=op::RETURN, _) => {
            method.is(access::SYNCHRONIZED) || method.name == "<clinit>"
        }
        (op::PUTFIELD | op::PUTSTATIC, Operand::Constant(constant)) => {
            volatile && {
                let field = own.class.pool.field(constant)?;
                own.field_access(&field)
                    .is_some_and(|flags| flags & access::VOLATILE != 0)
            }
        }
        (op::INVOKEVIRTUAL, Operand::Constant(constant)) => {
            own.class.pool.method(constant).is_ok_and(|method| {
                method.name == "wait"
                    && [&b"()V"[..], b"(J)V", b"(JI)V"].contains(&method.descriptor.as_bytes())
            })
        }
        _ => false,
    })
}

/// Whether an instruction calls a method that writes by `Unsafe` or a variable handle.
fn goes_around_fields(own: &Own<'_, '_>, insn: &Insn<'_>) -> Result<bool, SkipReason> {
    let (op::INVOKEVIRTUAL, Operand::Constant(constant)) = (insn.opcode, insn.operand()?) else {
        return Ok(false);
    };
    Ok(own.class.pool.method(constant).is_ok_and(|method| {
        let around =
            method.owner == VAR_HANDLE || UNSAFE.iter().any(|class| method.owner == *class);
        around && writes_unseen(insn.opcode, &method)
    }))
}

/// The constant of the static `int` that counts probes which found the stack exhausted, so that
/// nothing was logged.
pub fn missed(constants: &mut Constants<'_, '_>) -> Result<u16, SkipReason> {
    let owner = constants.class(Utf8::new(WRITES.as_bytes()))?;
    let (name, descriptor) = MISSED;
    Ok((constants.added).field(owner, name.as_bytes(), descriptor.as_bytes())?)
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
