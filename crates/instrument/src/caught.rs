//! The probe at the start of a handler.
//!
//! ```text
//! handler: astore t
//! start:   aload t; push id; invokestatic caught; goto next
//! guard:   pop; for traces: getstatic n; iconst_1; iadd; putstatic n
//! next:    aload t
//! ```
//!
//! It is guarded: a handler for stack overflows must not be cut off by another
//! stack overflow, its own probe's.

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

/// Instructions of one method that are looked at for what its handlers throw
/// again; where they are used up, handlers count as those that keep it. A target of
/// a switch is as much to look at.
pub const MAX_STEPS: usize = 1 << 16;

/// Variables that are known to hold the exception at a time.
const MAX_HELD: usize = 4;

/// Where handlers start, sorted, and whether they catch everything. One that
/// does both for some entries is there twice.
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

/// The starts of the handlers that keep an exception from going on, sorted:
/// those that catch only classes they name, and those of everything that never
/// throw it again (a `finally` that returns).
///
/// Most handlers of everything are `finally` blocks and `synchronized`
/// statements, which rethrow; these need no probe.
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

/// Those of these handlers that drop the exception at once, or put it into a
/// variable that is never thrown, nor copied to one that is (as the handlers of
/// resources do that ecj makes).
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

/// Takes out the handlers each way from which ends where they throw the same
/// exception again: it is not caught in the method.
///
/// Compilers make them for resources, and programs to clean up. One that wraps
/// it, or throws it again on some ways only, stays.
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

/// Whether all ways from this handler's start end in an `athrow` of what stands
/// on the stack there. Exceptions on the way are those of other handlers.
fn only_rethrows(code: &Code<'_>, handler: usize, steps: &mut usize) -> Result<bool, SkipReason> {
    // The variables that hold it on all ways to where ways meet.
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
            // It cannot be thrown any more.
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

/// What probes at handlers have in common within one method.
pub struct Caught<'f> {
    pub id: u32,
    /// What is called, with the exception and the id.
    pub probe: ProbeMethod,
    /// The variable for the exception, behind the fresh ones.
    pub slot: u16,
    /// Where the fresh variables begin.
    pub max_locals: u16,
    pub fresh: &'f [VerificationType],
    /// The static `int` that counts probes that meet the end of the stack.
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

    /// Begins what is guarded; where that is.
    pub fn begin(&self, fragment: &mut Fragment) -> usize {
        // Stack: exception
        fragment.store(b'L', self.slot);
        fragment.here()
    }

    /// Ends what is guarded from `start` on, whose failures are counted in the static `int` of `counter`. The handler's
    /// frame is needed if the method has frames.
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

    /// The locals behind a probe.
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

    /// Emits the probe for the handler at `handler`, whose frame there is, if
    /// the method has frames.
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
            // The handler's code takes any object, since other code jumps there
            // or by the whim of a compiler. The guard catches what is no
            // exception.
            let throwable = constants.throwable()?;
            fragment.op_u16(op::CHECKCAST, throwable);
        }
        fragment.push_id(self.id, constants)?;
        // Stack: exception, id
        fragment.stack(2);
        fragment.call(op::INVOKESTATIC, self.probe, constants)?;
        // Where the cast may fail, nobody knows which it was.
        let counter = self.counter.filter(|_| known);
        self.end(start, frame, counter, fragment, constants)
    }
}

/// Whether the type on a handler's stack is a subclass of `Throwable` for
/// certain. What the exception table names is, for the verifier checks it.
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
        // By way of another variable, with a cast.
        let copied = [store, load, op::ASTORE_2, op::ALOAD_2, op::CHECKCAST, 0, 1];
        assert!(rethrows(&[&copied[..], &[throw]].concat()));
        // Kotlin keeps it for the `finally` of a resource, in a variable before its own.
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
        // Half of it is written over; the code ends.
        assert!(!rethrows(&[store, op::LCONST_0, op::LSTORE_0, load, throw]));
        assert!(!rethrows(&[store, load]));
        // More than is looked at.
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
