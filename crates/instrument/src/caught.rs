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

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{Code, ConstantPool, Operand, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::ProbeMethod;
use crate::entry::extend_locals;
use crate::frames::HandlerFrame;
use crate::parameters::place_at;

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
/// variable that is never thrown.
fn swallowing(code: &Code<'_>, handlers: &[usize]) -> Result<Vec<usize>, SkipReason> {
    let mut kept_in: Vec<(usize, Option<u16>)> = Vec::new();
    let mut thrown: Vec<u16> = Vec::new();
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
        if opcode == op::ATHROW {
            thrown.extend(loaded);
        }
        loaded = local.filter(|_| matches!(opcode, op::ALOAD | op::ALOAD_0..=op::ALOAD_3));
    }
    Ok(kept_in
        .into_iter()
        .filter(|(_, local)| local.is_none_or(|local| !thrown.contains(&local)))
        .map(|(handler, _)| handler)
        .collect())
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
        // Stack: exception
        fragment.store(b'L', self.slot);
        let start = fragment.here();
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
        let locals = fragment.list(|locals| {
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
        });
        // Where the cast may fail, nobody knows which it was.
        let counter = self.counter.filter(|_| known);
        fragment.go_on(start, locals, counter, constants)?;
        fragment.load(b'L', self.slot);
        // Stack: exception
        Ok(())
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
