//! Which writes go to objects that nobody else has seen.
//!
//! What a method has made itself was not there at its entry, nor at that of any
//! method below it on the stack, and a method above it cannot see what was never
//! handed to it. Nothing has to be undone there. The same holds for `this` in a
//! constructor. What counts is that the object has not got away before: into a
//! call (that of a constructor of its own aside), a field, an array or another
//! variable.
//!
//! And a field that has been written a moment ago, with no other code in between
//! that could begin a method or let another thread see, need not be kept again:
//! nobody can ask for the value between.
//!
//! One pass in the order of the code, without merging: where jumps arrive,
//! nothing is known of the stack, and what a variable holds is known only if a
//! single instruction stores into it.

use hindsight_classfile::{Code, Insn, MethodDescriptor, Operand, access, opcode as op};

use crate::SkipReason;
use crate::throwing::Own;
use crate::trace::early::{State, field_slots};

/// Where a reference on the stack comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    Unknown,
    /// Just made.
    New,
    /// Loaded from a variable.
    Local(u16),
}

/// What is known of a variable.
#[derive(Debug, Clone, Copy)]
struct Variable {
    stores: u32,
    /// Whether a new object was stored.
    fresh: bool,
    /// Where what it holds gets away first.
    leak: usize,
}

/// The instructions of a body that write, and which of them need not be undone.
#[derive(Debug, Default)]
pub struct Fresh {
    writes: Vec<(usize, Origin)>,
    variables: Vec<Variable>,
    /// Jumps and ways to handlers that lead back: where they are at most, and
    /// where they lead.
    back: Vec<(usize, usize)>,
    targets: Vec<usize>,
    /// Fields written since other code could run: the variable with the object,
    /// and the constant.
    again: Vec<(u16, u16)>,
}

/// Fields of which it is known that they have just been written.
const MAX_AGAIN: usize = 16;

/// Edges back times variables, beyond which only an attempt at taking time lies.
const MAX_WORK: usize = 1 << 20;

impl Fresh {
    /// Lists the offsets of the writes to objects that others may have seen, by
    /// rising offset. `this_is_new` says that variable 0 holds the object under
    /// construction from beginning to end.
    pub fn seen_writes(
        &mut self,
        own: &Own<'_, '_>,
        code: &Code<'_>,
        parameter_slots: u16,
        this_is_new: bool,
    ) -> Result<Vec<usize>, SkipReason> {
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
        // A body may claim 65,535 variables and have a few bytes. One that is used beyond what it
        // could fill is not known, and then nothing is.
        let filled = usize::from(parameter_slots) + code.bytecode.len();
        let count = usize::from(code.max_locals).min(filled);
        self.variables.resize(count, unknown);
        let known = self.pass(own, code).is_ok();
        if !known || self.back.len().saturating_mul(self.variables.len()) > MAX_WORK {
            let writes = code.instructions().filter_map(Result::ok);
            return Ok(writes
                .filter(|insn| is_write(insn.opcode))
                .map(|insn| insn.offset)
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
        let is_seen = |&(offset, origin): &(usize, Origin)| match origin {
            Origin::Unknown => true,
            Origin::New => false,
            Origin::Local(slot) => safe.get(usize::from(slot)).is_none_or(|&end| offset >= end),
        };
        Ok(self
            .writes
            .iter()
            .filter(|write| is_seen(write))
            .map(|&(offset, _)| offset)
            .collect())
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
        self.targets.sort_unstable();
        self.targets.dedup();
        Ok(())
    }

    /// How far everything runs before the instruction at `leak` does.
    fn before(&self, leak: usize) -> usize {
        let mut end = leak;
        loop {
            let back = self.back.iter().filter(|(from, _)| *from >= end);
            match back.map(|(_, target)| *target).min() {
                Some(target) if target < end => end = target,
                _ => return end,
            }
        }
    }

    fn pass(&mut self, own: &Own<'_, '_>, code: &Code<'_>) -> Result<(), SkipReason> {
        // Each byte pushes two slots at most.
        let depth = usize::from(code.max_stack).min(2 * code.bytecode.len());
        let mut state = State {
            stack: Vec::with_capacity(2 * depth),
            locals: vec![Origin::Unknown; self.variables.len()],
        };
        let mut targets = std::mem::take(&mut self.targets);
        let mut next_targets = targets.iter().peekable();
        let mut begins = false;
        self.again.clear();
        for insn in code.instructions() {
            let insn = insn?;
            let mut is_target = false;
            while next_targets.next_if(|&&at| at <= insn.offset).is_some() {
                is_target = true;
            }
            if is_target || begins {
                self.leak_all(&mut state, insn.offset);
                self.again.clear();
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

    /// Goes over an instruction.
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
                // Two references to new objects may be to one.
                let fresh = stored == Origin::New && !state.stack.contains(&Origin::New);
                self.leak(stored, at, state);
                self.again.retain(|(object, _)| *object != slot);
                let variable = self.variables.get_mut(usize::from(slot));
                let variable = variable.ok_or(SkipReason::MALFORMED)?;
                variable.stores = variable.stores.saturating_add(1);
                variable.fresh = fresh;
                return Ok(());
            }
            op::NEW | op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => {
                // Its class may have to be initialized.
                self.again.clear();
                state.step(own, insn)?;
                if let Some(top) = state.stack.last_mut() {
                    *top = Origin::New;
                }
                return Ok(());
            }
            op::CHECKCAST => return Ok(()),
            op::PUTFIELD => {
                let slots = usize::from(field_slots(own, insn)?);
                if !self.is_again(own, insn, state, 1 + slots)? {
                    self.write(state, 1 + slots, at)?;
                }
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::IASTORE..=op::SASTORE => {
                let wide = matches!(opcode, op::LASTORE | op::DASTORE);
                self.write(state, 3 + usize::from(wide), at)?;
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::PUTSTATIC => {
                self.again.clear();
                let value = *state.stack.last().ok_or(SkipReason::MALFORMED)?;
                self.leak(value, at, state);
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                self.again.clear();
                self.call(own, insn, state)?;
            }
            op::GETSTATIC | op::MONITORENTER | op::MONITOREXIT => self.again.clear(),
            op::IFEQ..=op::GOTO | op::TABLESWITCH | op::LOOKUPSWITCH => {
                // What stays on the stack is out of sight where it leads.
                state.step(own, insn)?;
                self.leak_all(state, at);
                return Ok(());
            }
            op::IFNULL | op::IFNONNULL | op::GOTO_W => {
                state.step(own, insn)?;
                self.leak_all(state, at);
                return Ok(());
            }
            _ => {}
        }
        state.step(own, insn)
    }

    /// Whether a field is written once more, and nobody can have asked since.
    fn is_again(
        &mut self,
        own: &Own<'_, '_>,
        insn: &Insn<'_>,
        state: &State<Origin>,
        below: usize,
    ) -> Result<bool, SkipReason> {
        let Operand::Constant(constant) = insn.operand()? else {
            return Err(SkipReason::MALFORMED);
        };
        let field = own.class.pool.field(constant)?;
        // Of other classes' fields nobody knows whether they are volatile.
        let is_plain = own
            .field_access(&field)
            .is_some_and(|flags| flags & access::VOLATILE == 0);
        if !is_plain {
            self.again.clear();
            return Ok(false);
        }
        let object = state.stack.len().checked_sub(below);
        let Some(Origin::Local(slot)) = object.and_then(|object| state.stack.get(object)) else {
            return Ok(false);
        };
        if self.again.contains(&(*slot, constant)) {
            return Ok(true);
        }
        if self.again.len() < MAX_AGAIN {
            self.again.push((*slot, constant));
        }
        Ok(false)
    }

    /// Notes down a write to the object so many slots below the top.
    fn write(&mut self, state: &State<Origin>, below: usize, at: usize) -> Result<(), SkipReason> {
        let object = state.stack.len().checked_sub(below);
        let object = object.and_then(|object| state.stack.get(object));
        self.writes
            .push((at, *object.ok_or(SkipReason::MALFORMED)?));
        Ok(())
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
            // It has no arguments to speak of: all of the stack is as good.
            self.leak_all(state, insn.offset);
            return Ok(());
        }
        let method = own.class.pool.method(constant)?;
        if is_copy(insn.opcode, &method) {
            self.write(state, 3, insn.offset)?;
            return Ok(());
        }
        let slots = usize::from(MethodDescriptor::parse(method.descriptor)?.parameter_slots());
        // Its own constructor may have it.
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

    /// A reference gets away.
    fn leak(&mut self, origin: Origin, at: usize, state: &mut State<Origin>) {
        match origin {
            Origin::Unknown => {}
            // Which of those on the stack are the same is not known.
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

/// Whether a call is `System.arraycopy`.
pub fn is_copy(opcode: u8, method: &hindsight_classfile::MemberRef<'_>) -> bool {
    opcode == op::INVOKESTATIC && method.name == "arraycopy" && method.owner == "java/lang/System"
}
