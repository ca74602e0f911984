//! The probe at the start of a handler.
//!
//! ```text
//! handler: astore t
//! start:   aload t; push id; invokestatic caught; goto next
//! guard:   pop; for traces: getstatic n; iconst_1; iadd; putstatic n
//! next:    aload t
//! ```
//!
//! The probe is guarded: a stack overflow in the probe itself must not cut off a handler for stack
//! overflows.

use std::collections::BTreeMap;

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{Code, ConstantPool, Operand, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment, Locals};
use crate::contract::{ProbeMethod, WriteProbe};
use crate::entry::extend_locals;
use crate::frames::HandlerFrame;
use crate::parameters::place_at;
use crate::starts::Start;
use crate::writes;

/// The most instructions of one method that are followed to find out whether its handlers rethrow.
/// Handlers that are left when these are used up count as handlers that keep the exception. Each
/// target of a switch counts as one instruction.
pub const MAX_STEPS: usize = 1 << 16;

/// The most variables that are tracked as holding the exception at one time.
const MAX_HELD: usize = 4;

/// Where handlers start, sorted, and whether each catches everything. A handler that does so for
/// some table entries only is listed twice.
pub fn handler_starts(code: &Code<'_>) -> Vec<(usize, bool)> {
    let mut handlers: Vec<_> = code
        .handlers
        .map(|handler| (usize::from(handler.handler), handler.catch_type == 0))
        .collect();
    handlers.sort_unstable();
    handlers.dedup();
    handlers
}

/// Where handlers start, each once, sorted.
pub fn handler_offsets(code: &Code<'_>) -> Vec<usize> {
    let starts = handler_starts(code).into_iter();
    let mut handlers: Vec<usize> = starts.map(|(handler, _)| handler).collect();
    handlers.dedup();
    handlers
}

/// The starts of the handlers that keep an exception from going on, sorted: those that catch only
/// the classes they name, and those that catch everything and never throw it again (a `finally`
/// that returns).
///
/// Most handlers that catch everything are `finally` blocks and `synchronized` statements, which
/// rethrow; these need no probe.
pub fn catching_handlers(code: &Code<'_>) -> Result<Vec<usize>, SkipReason> {
    let handlers = handler_starts(code);
    let mut catching: Vec<usize> = Vec::new();
    let mut of_everything: Vec<usize> = Vec::new();
    for same in handlers.chunk_by(|a, b| a.0 == b.0) {
        match same {
            [(handler, false)] => catching.push(*handler),
            [(handler, _), ..] => of_everything.push(*handler),
            [] => {}
        }
    }
    if !of_everything.is_empty() {
        catching.extend(swallowing(code, &of_everything)?);
        catching.sort_unstable();
    }
    Ok(catching)
}

/// Picks from these handlers those that drop the exception at once, or store it in a variable that
/// is never thrown, nor copied to one that is thrown (as in the handlers that ecj makes for
/// resources).
fn swallowing(code: &Code<'_>, handlers: &[usize]) -> Result<Vec<usize>, SkipReason> {
    let mut kept_in: Vec<(usize, Option<u16>)> = Vec::new();
    let mut thrown: Vec<u16> = Vec::new();
    let mut copied: Vec<(u16, u16)> = Vec::new();
    let mut loaded = None;
    for insn in code.instructions() {
        let insn = insn?;
        let opcode = insn.effective_opcode();
        let local = match insn.operand() {
            Ok(Operand::Local(local)) => Some(local),
            _ => None,
        };
        if handlers.binary_search(&insn.offset).is_ok() {
            match opcode {
                op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => kept_in.push((insn.offset, local)),
                op::POP => kept_in.push((insn.offset, None)),
                _ => {}
            }
        }
        match opcode {
            op::ATHROW => thrown.extend(loaded),
            op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => copied.extend(loaded.zip(local)),
            _ => {}
        }
        loaded = local.filter(|_| matches!(opcode, op::ALOAD | op::ALOAD_0..=op::ALOAD_3));
    }
    let copies = copied.into_iter().filter(|(_, to)| thrown.contains(to));
    let by_copy: Vec<u16> = copies.map(|(from, _)| from).collect();
    thrown.extend(by_copy);
    Ok(kept_in
        .into_iter()
        .filter(|(_, local)| local.is_none_or(|local| !thrown.contains(&local)))
        .map(|(handler, _)| handler)
        .collect())
}

/// Removes the handlers that throw the same exception again on every path: such an exception is not
/// caught in the method.
///
/// Compilers make such handlers for resources, and programs write them to clean up. A handler that
/// wraps the exception, or rethrows it only on some paths, stays.
pub fn drop_rethrowing(code: &Code<'_>, catching: &mut Vec<usize>) -> Result<(), SkipReason> {
    let mut steps = MAX_STEPS;
    let mut kept = Vec::with_capacity(catching.len());
    for &handler in catching.iter() {
        if !only_rethrows(code, handler, &mut steps)? {
            kept.push(handler);
        }
    }
    *catching = kept;
    Ok(())
}

/// Whether all paths from this handler's start end in an `athrow` of the exception on its stack.
/// Exceptions that are thrown on the way are left to other handlers.
fn only_rethrows(code: &Code<'_>, handler: usize, steps: &mut usize) -> Result<bool, SkipReason> {
    // For each place where paths meet, the variables that hold the exception on all of them.
    let mut met: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
    let mut pending = vec![(handler, Vec::new())];
    let mut on_top = true;
    while let Some((from, mut held)) = pending.pop() {
        let mut goes_on = true;
        for insn in code.instructions_from(from) {
            let insn = insn?;
            let Some(left) = steps.checked_sub(1) else {
                return Ok(false);
            };
            *steps = left;
            let opcode = insn.effective_opcode();
            let was_on_top = std::mem::take(&mut on_top);
            let mut targets = Vec::new();
            match (opcode, insn.operand()?) {
                (op::ATHROW, _) if !was_on_top => return Ok(false),
                (op::IRETURN..=op::RETURN | op::JSR | op::JSR_W | op::RET, _) => {
                    return Ok(false);
                }
                (op::NOP | op::CHECKCAST, _) => on_top = was_on_top,
                (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(local)) => {
                    on_top = held.contains(&local);
                }
                (op::ISTORE..=op::ASTORE_3, Operand::Local(local)) => {
                    let is_wide = matches!(
                        opcode,
                        op::LSTORE
                            | op::DSTORE
                            | op::LSTORE_0..=op::LSTORE_3
                            | op::DSTORE_0..=op::DSTORE_3
                    );
                    let last = local.saturating_add(u16::from(is_wide));
                    held.retain(|other| !(local..=last).contains(other));
                    if was_on_top && held.len() < MAX_HELD {
                        held.push(local);
                    }
                }
                (_, Operand::Branch(target)) => targets.push(Some(target)),
                (_, Operand::Switch(switch)) => targets.extend(switch.targets()),
                _ => {}
            }
            for target in targets {
                let (Some(target), Some(left)) = (target, steps.checked_sub(1)) else {
                    return Ok(false);
                };
                *steps = left;
                let known = met.get_mut(&target);
                let before = known.as_ref().map(|known| known.len());
                let now = match known {
                    Some(known) => {
                        known.retain(|local| held.contains(local));
                        known.clone()
                    }
                    None => {
                        met.insert(target, held.clone());
                        held.clone()
                    }
                };
                if before != Some(now.len()) {
                    pending.push((target, now));
                }
            }
            // The exception cannot be thrown any more.
            if held.is_empty() && !on_top && opcode != op::ATHROW {
                return Ok(false);
            }
            if op::ends_flow(opcode) {
                goes_on = false;
                break;
            }
        }
        if goes_on {
            return Ok(false);
        }
        on_top = false;
    }
    Ok(true)
}

/// What the probes at handlers within one method have in common.
pub struct Caught<'f> {
    pub id: u32,
    /// The probe method, which takes the exception and the id.
    pub probe: ProbeMethod,
    /// The variable for the exception, behind the fresh variables.
    pub slot: u16,
    /// The slot at which the fresh variables begin.
    pub max_locals: u16,
    pub fresh: &'f [VerificationType],
    /// The constant of the static `int` that counts probes which found the stack exhausted.
    pub counter: Option<u16>,
}

impl Caught<'_> {
    /// Emits the probes for what the handler does first.
    pub fn first(
        &self,
        handler: &Start,
        frame: Option<&HandlerFrame>,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let start = self.begin(fragment);
        fragment.code.extend_from_slice(&handler.writes);
        if handler.exit.is_some() {
            writes::call(fragment, WriteProbe::Release, constants)?;
        }
        let missed = writes::missed(constants)?;
        self.end(start, frame, Some(missed), fragment, constants)
    }

    /// Begins the guarded code and returns where it begins.
    pub fn begin(&self, fragment: &mut Fragment) -> usize {
        // Stack: exception
        fragment.store(b'L', self.slot);
        fragment.here()
    }

    /// Ends the guarded code that begins at `start`; its failures are counted in the static `int`
    /// of `counter`. The handler's `frame` is needed if the method has stack-map frames.
    pub fn end(
        &self,
        start: usize,
        frame: Option<&HandlerFrame>,
        counter: Option<u16>,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let locals = self.locals(frame, fragment);
        fragment.go_on(start, locals, counter, constants)?;
        fragment.load(b'L', self.slot);
        // Stack: exception
        Ok(())
    }

    /// The locals of the frame behind a probe.
    fn locals(&self, frame: Option<&HandlerFrame>, fragment: &mut Fragment) -> Locals {
        fragment.list(|locals| {
            let Some(frame) = frame else { return };
            locals.extend_from_slice(&frame.locals);
            let slots = frame.locals.iter().map(|local| local.slots()).sum();
            extend_locals(locals, slots, self.max_locals, self.fresh);
            let mut next = if self.fresh.is_empty() {
                slots
            } else {
                self.slot
            };
            let exception = VerificationType::Object(frame.exception);
            place_at(locals, &mut next, self.slot, exception);
        })
    }

    /// Emits the probe for the handler at `handler`. The handler's `frame` is needed if the method
    /// has stack-map frames.
    pub fn probe(
        &self,
        code: &Code<'_>,
        handler: usize,
        frame: Option<&HandlerFrame>,
        fragment: &mut Fragment,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let start = self.begin(fragment);
        fragment.load(b'L', self.slot);
        let known =
            frame.is_some_and(|frame| is_throwable(constants.pool, code, handler, frame.exception));
        if !known {
            // The handler's frame has a more general type on the stack than `Throwable`, because
            // other code jumps there, too, or because a compiler chose so. The guard catches the
            // failure of the cast for an object that is not a throwable.
            let throwable = constants.throwable()?;
            fragment.op_u16(op::CHECKCAST, throwable);
        }
        fragment.push_id(self.id, constants)?;
        // Stack: exception, id
        fragment.stack(2);
        fragment.call(op::INVOKESTATIC, self.probe, constants)?;
        // Where the cast may fail, a caught exception need not be a stack overflow, so it is not
        // counted.
        let counter = self.counter.filter(|_| known);
        self.end(start, frame, counter, fragment, constants)
    }
}

/// Whether the type on a handler's stack is certainly a subclass of `Throwable`. A class that the
/// exception table names is one, because the verifier checks it.
fn is_throwable(pool: &ConstantPool<'_>, code: &Code<'_>, handler: usize, class: u16) -> bool {
    let Ok(name) = pool.class(class) else {
        return false;
    };
    let well_known = [
        "java/lang/Throwable",
        "java/lang/Exception",
        "java/lang/RuntimeException",
        "java/lang/Error",
    ];
    well_known.iter().any(|known| name == *known)
        || code.handlers.into_iter().any(|entry| {
            usize::from(entry.handler) == handler
                && entry.catch_type != 0
                && pool
                    .class(entry.catch_type)
                    .is_ok_and(|caught| caught == name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::with_code;

    fn rethrows(bytecode: &[u8]) -> bool {
        with_code(bytecode, |code| {
            let mut catching = vec![0];
            drop_rethrowing(code, &mut catching).expect("it can be read");
            catching.is_empty()
        })
    }

    #[test]
    fn handlers_of_everything_that_throw_a_copy_swallow_nothing() {
        let swallows = |bytecode: &[u8]| {
            let found = with_code(bytecode, |code| swallowing(code, &[0]));
            !found.expect("it can be read").is_empty()
        };
        let (store, load, throw) = (op::ASTORE_1, op::ALOAD_1, op::ATHROW);
        assert!(swallows(&[store, op::RETURN]));
        assert!(swallows(&[op::POP, op::RETURN]));
        assert!(!swallows(&[store, load, throw]));
        // primary = primary == null ? e : primary; throw primary;
        let copy = [
            op::ALOAD_2,
            op::IFNONNULL,
            0,
            5,
            load,
            op::ASTORE_2,
            op::ALOAD_2,
            throw,
        ];
        assert!(!swallows(&[&[store][..], &copy].concat()));
        assert!(swallows(&[store, load, op::ASTORE_3, op::ALOAD_2, throw]));
    }

    #[test]
    fn what_is_thrown_again_on_all_ways_is_not_caught() {
        let (store, load, throw) = (op::ASTORE_1, op::ALOAD_1, op::ATHROW);
        assert!(rethrows(&[throw]));
        assert!(rethrows(&[store, load, throw]));
        // The exception goes through another variable, with a cast.
        let copied = [store, load, op::ASTORE_2, op::ALOAD_2, op::CHECKCAST, 0, 1];
        assert!(rethrows(&[&copied[..], &[throw]].concat()));
        // Kotlin keeps the exception for the `finally` of a resource in a variable before its own.
        let kept = [op::ASTORE_2, op::ALOAD_2, op::ASTORE_1, op::ALOAD_2, throw];
        assert!(rethrows(&kept));
        // if (x) clean(); throw e;
        let joined = [op::ILOAD_0, op::IFEQ, 0, 4, op::NOP, load, throw];
        assert!(rethrows(&[&[store][..], &joined].concat()));
        // while (x) { } throw e;
        let turns = [op::ILOAD_0, op::IFNE, 0xff, 0xff, load, throw];
        assert!(rethrows(&[&[store][..], &turns].concat()));
    }

    #[test]
    fn what_may_not_be_thrown_again_is_caught() {
        let (store, load, throw) = (op::ASTORE_1, op::ALOAD_1, op::ATHROW);
        assert!(!rethrows(&[op::POP, op::RETURN]));
        assert!(!rethrows(&[store, op::RETURN]));
        assert!(!rethrows(&[store, op::ALOAD_2, throw]));
        // if (x) throw e;
        let some = [op::ILOAD_0, op::IFEQ, 0, 5, load, throw, op::RETURN];
        assert!(!rethrows(&[&[store][..], &some].concat()));
        // if (x) e = other; throw e;
        let other = [op::ILOAD_0, op::IFEQ, 0, 5, op::ALOAD_2, store, load, throw];
        assert!(!rethrows(&[&[store][..], &other].concat()));
        // Half of the long overwrites the variable; the code ends.
        assert!(!rethrows(&[store, op::LCONST_0, op::LSTORE_0, load, throw]));
        assert!(!rethrows(&[store, load]));
        // The code is longer than what is followed.
        let long = [&[store][..], &vec![op::NOP; 0x4000], &[load, throw]].concat();
        assert!(rethrows(&long));
        let back = [store, op::ILOAD_0, op::IFNE, 0xff, 0xff];
        let long = [&back[..], &vec![op::NOP; 0xfff0], &[load, throw]].concat();
        assert!(!rethrows(&long));
    }

    #[test]
    fn a_target_of_a_switch_is_as_much_as_an_instruction() {
        // switch (x) { 7,000 cases } throw e;
        let mut code = vec![op::ASTORE_1, op::ILOAD_0, op::NOP, op::TABLESWITCH];
        let len = 13 + 4 * 7000u32;
        code.extend([len, 0, 6999].map(u32::to_be_bytes).as_flattened());
        code.extend(len.to_be_bytes().repeat(7000));
        code.extend([op::ALOAD_1, op::ATHROW]);
        with_code(&code, |code| {
            let mut catching = vec![0; 20];
            drop_rethrowing(code, &mut catching).expect("it can be read");
            assert_eq!(catching.len(), 20 - MAX_STEPS / 7005);
        });
    }
}
