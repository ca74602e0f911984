//! The probe at the start of a handler.
//!
//! ```text
//! handler: astore t
//! start:   aload t; push id; invokestatic caught; aconst_null; goto next
//! guard:   nop
//! next:    pop; aload t
//! ```
//!
//! It is guarded: a handler for stack overflows must not be cut off by another
//! stack overflow, its own probe's.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{Code, ConstantPool, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::ProbeMethod;
use crate::entry::extend_locals;
use crate::frames::HandlerFrame;
use crate::parameters::place_at;

/// The starts of the handlers that catch only classes they name, sorted.
///
/// Handlers that catch everything are mostly `finally` blocks and
/// `synchronized` statements, which rethrow.
pub fn typed_handlers(code: &Code<'_>) -> Vec<usize> {
    let mut handlers: Vec<_> = code
        .handlers
        .map(|handler| (handler.handler, handler.catch_type == 0))
        .collect();
    handlers.sort_unstable();
    let mut typed: Vec<usize> = Vec::new();
    for same in handlers.chunk_by(|a, b| a.0 == b.0) {
        if let [(handler, false), .., (_, false)] | [(handler, false)] = same {
            typed.push(usize::from(*handler));
        }
    }
    typed
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
}

impl Caught<'_> {
    /// Emits the probe for the handler at `handler`, whose frame there is, if
    /// the method has frames.
    pub fn probe(
        &self,
        code: &Code<'_>,
        handler: usize,
        frame: Option<&HandlerFrame>,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Fragment, SkipReason> {
        let mut fragment = Fragment::default();
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
        fragment.op(op::ACONST_NULL);
        let locals = match frame {
            None => Vec::new(),
            Some(frame) => {
                let mut locals = frame.locals.clone();
                let slots = locals.iter().map(|local| local.slots()).sum();
                extend_locals(&mut locals, slots, self.max_locals, self.fresh);
                let mut next = if self.fresh.is_empty() {
                    slots
                } else {
                    self.slot
                };
                let exception = VerificationType::Object(frame.exception);
                place_at(&mut locals, &mut next, self.slot, exception);
                locals
            }
        };
        fragment.guard_from(start, locals, constants)?;
        // Stack: null, or the probe's exception
        fragment.op(op::POP);
        fragment.load(b'L', self.slot);
        // Stack: exception
        Ok(fragment)
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
