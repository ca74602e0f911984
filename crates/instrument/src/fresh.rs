//! Which writes go to objects that nobody else has seen.
//!
//! An object that a method has created did not exist at the method's entry, nor at that of any
//! method below it on the stack, and a method above it cannot see what was never passed to it.
//! Writes to such an object need not be undone. The same holds for `this` in a constructor. The
//! condition is that the object has not escaped before the write: into a call (except that of its
//! own constructor), a field, an array or another variable.
//!
//! A second rule: a field that has just been written, with no other code in between that could
//! enter a method or publish the write to another thread, need not be logged again, because nobody
//! can observe the value in between. For the same reason several fields of an object that are
//! written in a straight line are logged at once, before the first of them is written. If one of
//! them is logged and then not written, because an exception came between, that does no harm.
//!
//! The analysis is one pass in the order of the code, without merging: where jumps arrive, nothing
//! is known of the stack, and the content of a variable is known only if a single instruction
//! stores into it.

use hindsight_classfile::{Code, Insn, MethodDescriptor, Operand, access, opcode as op};

use crate::SkipReason;
use crate::throwing::Own;
use crate::trace::early::{State, field_slots};

/// Where a reference on the stack comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    Unknown,
    /// An object that was just created.
    New,
    /// A reference loaded from the variable in this slot.
    Local(u16),
}

/// What is known of a variable.
#[derive(Debug, Clone, Copy)]
struct Variable {
    stores: u32,
    /// Whether a new object was stored into it.
    fresh: bool,
    /// The offset of the first instruction at which its content escapes.
    leak: usize,
}

/// A write that has to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The offset of the instruction.
    pub at: usize,
    /// The constants of further fields of the same object that are logged with it; 0 where there is
    /// none.
    pub also: [u16; MOST_AT_ONCE - 1],
    write: Write,
}

/// The most fields of an object that one probe logs.
pub const MOST_AT_ONCE: usize = 3;

impl Seen {
    fn alone(write: Write) -> Self {
        Self {
            at: write.at,
            also: [0; MOST_AT_ONCE - 1],
            write,
        }
    }

    /// The variable with the object, if the write may be logged earlier in its straight line.
    pub fn object(&self) -> Option<u16> {
        match self.write.origin {
            Origin::Local(slot) if self.write.field != 0 => Some(slot),
            _ => None,
        }
    }

    /// Adds another write to this one's probe; returns whether that is possible.
    fn join(&mut self, other: &Write) -> bool {
        let is_same = |write: &Write| (write.origin, write.line) == (other.origin, other.line);
        if other.field == 0 || self.write.field == 0 || !is_same(&self.write) {
            return false;
        }
        match self.also.iter_mut().find(|field| **field == 0) {
            Some(free) => *free = other.field,
            None => return false,
        }
        true
    }
}

/// An instruction that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Write {
    at: usize,
    origin: Origin,
    /// The constant of a field that may be logged earlier; 0 if it must not.
    field: u16,
    /// The number of the straight line that the instruction is in.
    line: u32,
}

/// The instructions of a body that write, and which of their writes need not be undone.
#[derive(Debug, Default)]
pub struct Fresh {
    writes: Vec<Write>,
    variables: Vec<Variable>,
    /// Backward jumps and backward ways to handlers, by falling offset of the jump or of the
    /// range's end. The target is the lowest of this entry's and of all entries before it.
    back: Vec<(usize, usize)>,
    targets: Vec<usize>,
    /// The number of jumps; each target of a switch counts as one.
    jumps: usize,
    /// Fields written since other code could last run: the variable with the object, and the
    /// field's constant.
    again: Vec<(u16, u16)>,
    /// The number of the current straight line: no jump leads into or out of it, and no other code
    /// runs within it.
    line: u32,
}

/// The most probes that are searched for one that can log another write, too.
const MAX_APART: usize = 4;

/// The most fields that are remembered as just written.
const MAX_AGAIN: usize = 16;

/// The largest product of backward edges and variables that is worked on; more is an attempt at
/// taking time.
const MAX_WORK: usize = 1 << 20;

/// The largest product of jumps and stack slots, all of which are forgotten behind each jump; more
/// is an attempt at taking time.
const MAX_FORGOTTEN: usize = 1 << 22;

impl Fresh {
    /// Lists the writes to objects that others may have seen, by rising offset. `this_is_new` says
    /// that variable 0 holds the object under construction throughout.
    pub fn seen_writes(
        &mut self,
        own: &Own<'_, '_>,
        code: &Code<'_>,
        parameter_slots: u16,
        this_is_new: bool,
    ) -> Result<Vec<Seen>, SkipReason> {
        self.writes.clear();
        if !code
            .instructions()
            .any(|insn| insn.is_ok_and(|insn| is_write(insn.opcode)))
        {
            return Ok(Vec::new());
        }
        self.edges(code)?;
        self.variables.clear();
        let unknown = Variable {
            stores: 0,
            fresh: false,
            leak: usize::MAX,
        };
        // A body may claim 65,535 variables and have a few bytes. A variable with a number beyond
        // what the code could fill is not tracked, and then nothing is.
        let filled = usize::from(parameter_slots) + code.bytecode.len();
        let count = usize::from(code.max_locals).min(filled);
        self.variables.resize(count, unknown);
        let known = self.pass(own, code).is_ok();
        if !known || self.back.len().saturating_mul(self.variables.len()) > MAX_WORK {
            let writes = code.instructions().filter_map(Result::ok);
            return Ok(writes
                .filter(|insn| is_write(insn.opcode))
                .map(|insn| {
                    Seen::alone(Write {
                        at: insn.offset,
                        origin: Origin::Unknown,
                        field: 0,
                        line: 0,
                    })
                })
                .collect());
        }
        let safe: Vec<usize> = (0..)
            .zip(&self.variables)
            .map(|(slot, variable)| {
                let made_here = variable.fresh && variable.stores == 1 && slot >= parameter_slots;
                if made_here || (slot == 0 && this_is_new) {
                    self.before(variable.leak)
                } else {
                    0
                }
            })
            .collect();
        let is_seen = |write: &&Write| match write.origin {
            Origin::Unknown => true,
            Origin::New => false,
            Origin::Local(slot) => safe
                .get(usize::from(slot))
                .is_none_or(|&end| write.at >= end),
        };
        let mut seen: Vec<Seen> = Vec::new();
        for write in self.writes.iter().filter(is_seen) {
            let mut latest = seen.iter_mut().rev().take(MAX_APART);
            if !latest.any(|earlier| earlier.join(write)) {
                seen.push(Seen::alone(*write));
            }
        }
        Ok(seen)
    }

    /// Lists where jumps and handlers lead.
    fn edges(&mut self, code: &Code<'_>) -> Result<(), SkipReason> {
        self.targets.clear();
        self.back.clear();
        for insn in code.instructions() {
            let insn = insn?;
            let first = self.targets.len();
            match insn.operand()? {
                Operand::Branch(target) => self.targets.push(target),
                Operand::Switch(switch) => self.targets.extend(switch.targets().flatten()),
                _ => {}
            }
            let back = self.targets.get(first..).unwrap_or_default().iter().min();
            if let Some(&target) = back.filter(|&&target| target <= insn.offset) {
                self.back.push((insn.offset, target));
            }
        }
        for handler in code.handlers {
            let (end, target) = (usize::from(handler.end), usize::from(handler.handler));
            self.targets.push(target);
            if target < end {
                self.back.push((end, target));
            }
        }
        self.jumps = self.targets.len();
        self.targets.sort_unstable();
        self.targets.dedup();
        self.back.sort_unstable_by(|one, other| other.cmp(one));
        let mut farthest = usize::MAX;
        for (_, target) in &mut self.back {
            farthest = farthest.min(*target);
            *target = farthest;
        }
        Ok(())
    }

    /// The offset before which every instruction runs before the instruction at `leak` does.
    fn before(&self, leak: usize) -> usize {
        let mut end = leak;
        loop {
            let behind = self.back.partition_point(|(from, _)| *from >= end);
            match behind.checked_sub(1).and_then(|last| self.back.get(last)) {
                Some((_, target)) if *target < end => end = *target,
                _ => return end,
            }
        }
    }

    fn pass(&mut self, own: &Own<'_, '_>, code: &Code<'_>) -> Result<(), SkipReason> {
        // Each byte of code pushes at most two slots.
        let depth = usize::from(code.max_stack).min(2 * code.bytecode.len());
        if self.jumps.saturating_mul(depth) > MAX_FORGOTTEN {
            return Err(SkipReason::TooLarge);
        }
        let mut state = State {
            stack: Vec::with_capacity(2 * depth),
            locals: vec![Origin::Unknown; self.variables.len()],
        };
        let mut targets = std::mem::take(&mut self.targets);
        let mut next_targets = targets.iter().peekable();
        let mut begins = false;
        self.other_code();
        for insn in code.instructions() {
            let insn = insn?;
            let mut is_target = false;
            while next_targets.next_if(|&&at| at <= insn.offset).is_some() {
                is_target = true;
            }
            if is_target || begins {
                self.leak_all(&mut state, insn.offset);
                self.other_code();
                state.stack.clear();
                state.stack.resize(depth, Origin::Unknown);
            }
            self.step(own, &insn, &mut state)?;
            begins = op::ends_flow(insn.opcode);
        }
        targets.clear();
        self.targets = targets;
        Ok(())
    }

    /// Follows the effects of an instruction.
    fn step(
        &mut self,
        own: &Own<'_, '_>,
        insn: &Insn<'_>,
        state: &mut State<Origin>,
    ) -> Result<(), SkipReason> {
        let at = insn.offset;
        let opcode = insn.effective_opcode();
        match opcode {
            op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
                let Operand::Local(slot) = insn.operand()? else {
                    return Err(SkipReason::MALFORMED);
                };
                state.stack.push(Origin::Local(slot));
                return Ok(());
            }
            op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => {
                let Operand::Local(slot) = insn.operand()? else {
                    return Err(SkipReason::MALFORMED);
                };
                let stored = state.stack.pop().ok_or(SkipReason::MALFORMED)?;
                // Two references to new objects may refer to the same one.
                let fresh = stored == Origin::New && !state.stack.contains(&Origin::New);
                self.leak(stored, at, state);
                self.again.retain(|(object, _)| *object != slot);
                // What the variable held may still be on the stack, as in `a.next = a = b`.
                for origin in &mut state.stack {
                    if *origin == Origin::Local(slot) {
                        *origin = Origin::Unknown;
                    }
                }
                self.line += 1;
                let variable = self.variables.get_mut(usize::from(slot));
                let variable = variable.ok_or(SkipReason::MALFORMED)?;
                variable.stores = variable.stores.saturating_add(1);
                variable.fresh = fresh;
                return Ok(());
            }
            op::NEW | op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => {
                // The class may have to be initialized.
                self.other_code();
                state.step(own, insn)?;
                if let Some(top) = state.stack.last_mut() {
                    *top = Origin::New;
                }
                return Ok(());
            }
            op::CHECKCAST => return Ok(()),
            op::PUTFIELD => {
                let slots = usize::from(field_slots(own, insn)?);
                let field = self.plain(own, insn)?;
                if field == 0 {
                    self.other_code();
                }
                let write = self.write_to(state, 1 + slots, at, field)?;
                if !self.is_again(&write) {
                    self.writes.push(write);
                }
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::IASTORE..=op::SASTORE => {
                let wide = matches!(opcode, op::LASTORE | op::DASTORE);
                self.writes
                    .push(self.write_to(state, 3 + usize::from(wide), at, 0)?);
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::PUTSTATIC => {
                self.other_code();
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                let quiet = match insn.operand()? {
                    Operand::Constant(callee) => own.quiet_call(opcode, callee),
                    _ => None,
                };
                if quiet.is_none() {
                    self.other_code();
                }
                self.call(own, insn, state)?;
            }
            // Reading a volatile field may reveal what another thread has written, and that methods
            // have begun in it since.
            op::GETFIELD if self.plain(own, insn)? == 0 => self.other_code(),
            // The method's own class is already initialized.
            op::GETSTATIC if self.plain(own, insn)? != 0 => {}
            op::GETSTATIC | op::MONITORENTER | op::MONITOREXIT => self.other_code(),
            op::IFEQ..=op::GOTO | op::TABLESWITCH | op::LOOKUPSWITCH => {
                // What stays on the stack is not tracked at the jump's target.
                self.line += 1;
                state.step(own, insn)?;
                self.leak_all(state, at);
                return Ok(());
            }
            op::IFNULL | op::IFNONNULL | op::GOTO_W => {
                self.line += 1;
                state.step(own, insn)?;
                self.leak_all(state, at);
                return Ok(());
            }
            _ => {}
        }
        state.step(own, insn)
    }

    /// Records that other code may run here, so that fields written before are logged again.
    fn other_code(&mut self) {
        self.again.clear();
        self.line += 1;
    }

    /// The constant of the field that is written, if the method's own class declares it and it is
    /// not volatile; 0 otherwise, since the fields of other classes are not known.
    fn plain(&self, own: &Own<'_, '_>, insn: &Insn<'_>) -> Result<u16, SkipReason> {
        let Operand::Constant(constant) = insn.operand()? else {
            return Err(SkipReason::MALFORMED);
        };
        let field = own.class.pool.field(constant)?;
        let access = own.field_access(&field);
        let is_plain = access.is_some_and(|flags| flags & access::VOLATILE == 0);
        Ok(if is_plain { constant } else { 0 })
    }

    /// Whether a field is written once more and nobody can have observed it since.
    fn is_again(&mut self, write: &Write) -> bool {
        let (Origin::Local(slot), field @ 1..) = (write.origin, write.field) else {
            return false;
        };
        if self.again.contains(&(slot, field)) {
            return true;
        }
        if self.again.len() < MAX_AGAIN {
            self.again.push((slot, field));
        }
        false
    }

    /// A write to the object `below` slots down the stack.
    fn write_to(
        &self,
        state: &State<Origin>,
        below: usize,
        at: usize,
        field: u16,
    ) -> Result<Write, SkipReason> {
        let object = state.stack.len().checked_sub(below);
        let object = object.and_then(|object| state.stack.get(object));
        let origin = *object.ok_or(SkipReason::MALFORMED)?;
        let field = match origin {
            Origin::Local(_) => field,
            // The reference may be to any object.
            Origin::Unknown | Origin::New => 0,
        };
        Ok(Write {
            at,
            origin,
            field,
            line: self.line,
        })
    }

    fn call(
        &mut self,
        own: &Own<'_, '_>,
        insn: &Insn<'_>,
        state: &mut State<Origin>,
    ) -> Result<(), SkipReason> {
        let Operand::Constant(constant) = insn.operand()? else {
            return Err(SkipReason::MALFORMED);
        };
        if insn.opcode == op::INVOKEDYNAMIC {
            // The stack's depth is not told apart from the arguments: all of the stack escapes.
            self.leak_all(state, insn.offset);
            return Ok(());
        }
        let method = own.class.pool.method(constant)?;
        if is_copy(insn.opcode, &method) {
            self.writes.push(self.write_to(state, 3, insn.offset, 0)?);
            return Ok(());
        }
        let slots = usize::from(MethodDescriptor::parse(method.descriptor)?.parameter_slots());
        // Passing the object to its own constructor is not an escape.
        let receiver = match insn.opcode {
            op::INVOKESTATIC => false,
            op::INVOKESPECIAL => method.name != "<init>",
            _ => true,
        };
        let first = state.stack.len().checked_sub(slots + usize::from(receiver));
        for place in first.ok_or(SkipReason::MALFORMED)?..state.stack.len() {
            let origin = state.stack.get(place).copied().unwrap_or_default();
            self.leak(origin, insn.offset, state);
        }
        Ok(())
    }

    /// Records that a reference escapes.
    fn leak(&mut self, origin: Origin, at: usize, state: &mut State<Origin>) {
        match origin {
            Origin::Unknown => {}
            // Which of the new references on the stack are to the same object is not known.
            Origin::New => {
                let new = state.stack.iter_mut().filter(|slot| **slot == Origin::New);
                new.for_each(|slot| *slot = Origin::Unknown);
            }
            Origin::Local(slot) => {
                if let Some(variable) = self.variables.get_mut(usize::from(slot)) {
                    variable.leak = variable.leak.min(at);
                }
            }
        }
    }

    fn leak_all(&mut self, state: &mut State<Origin>, at: usize) {
        for place in 0..state.stack.len() {
            let origin = state.stack.get(place).copied().unwrap_or_default();
            self.leak(origin, at, state);
        }
    }
}

/// Whether an instruction may write to an object.
fn is_write(opcode: u8) -> bool {
    matches!(
        opcode,
        op::PUTFIELD | op::IASTORE..=op::SASTORE | op::INVOKESTATIC
    )
}

/// Whether a call is one of `System.arraycopy`.
pub fn is_copy(opcode: u8, method: &hindsight_classfile::MemberRef<'_>) -> bool {
    opcode == op::INVOKESTATIC && method.name == "arraycopy" && method.owner == "java/lang/System"
}
