//! Which handlers tell that they caught something.

use hindsight_classfile::{Code, Instructions, opcode as op};

use crate::caught::handler_starts;
use crate::constructor::InitCall;

/// The starts of the handlers that get a probe, sorted.
///
/// Those that release a monitor and rethrow tell nothing that the end of the
/// call will not tell. Those before a constructor's call of another one get
/// none, for the sake of the rule by which the active calls are found (see
/// [`crate::contract::trace`]).
pub fn reporting(code: &Code<'_>, init_call: Option<InitCall>) -> Vec<usize> {
    let starts = handler_starts(code).into_iter();
    let mut handlers: Vec<_> = starts.map(|(handler, _)| handler).collect();
    handlers.dedup();
    handlers.retain(|&handler| {
        init_call.is_none_or(|call| handler >= call.end) && !only_rethrows(code, handler)
    });
    handlers
}

/// Whether nothing can be told between a handler's start and its `athrow`.
fn only_rethrows(code: &Code<'_>, handler: usize) -> bool {
    let bytecode = code.bytecode.get(handler..).unwrap_or_default();
    // Switches are not read right from the middle, but they end the search.
    for insn in Instructions::new(bytecode, 0) {
        let Ok(insn) = insn else { return false };
        match insn.effective_opcode() {
            op::ALOAD
            | op::ALOAD_0..=op::ALOAD_3
            | op::ASTORE
            | op::ASTORE_0..=op::ASTORE_3
            | op::MONITOREXIT => {}
            opcode => return opcode == op::ATHROW,
        }
    }
    false
}
