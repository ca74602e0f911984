//! Which handlers record that they caught something.

use hindsight_classfile::{Code, Handler, Instructions, opcode as op};

use crate::caught::{MAX_STEPS, handler_offsets};
use crate::constructor::InitCalls;

/// The starts of the handlers whose probes can be guarded, sorted. A stack overflow in a probe must
/// not cut off what a handler does, nor keep it from leaving a monitor.
///
/// Handlers before a constructor's call of another one are not among them: the verifier's type of
/// `this` is not the same throughout the constructor.
pub fn guardable(code: &Code<'_>, init_calls: Option<&InitCalls>) -> Vec<usize> {
    let mut handlers = handler_offsets(code);
    handlers.retain(|&handler| init_calls.is_none_or(|calls| handler >= calls.end));
    handlers
}

/// The starts of the handlers that cover their own start, as compilers make them for `synchronized`
/// and `finally`, sorted.
pub fn in_themselves(code: &Code<'_>) -> Vec<usize> {
    let covers_itself = |entry: &Handler| (entry.start..entry.end).contains(&entry.handler);
    let entries = code.handlers.into_iter().filter(covers_itself);
    let mut handlers: Vec<usize> = entries.map(|entry| usize::from(entry.handler)).collect();
    handlers.sort_unstable();
    handlers.dedup();
    handlers
}

/// The starts of the handlers that get a probe, sorted.
///
/// Handlers that release a monitor and rethrow record nothing that the end of the call will not
/// record. Handlers before a constructor's call of another one get none, because of the rule by
/// which the active calls are found (see [`crate::contract::trace`]).
pub fn reporting(code: &Code<'_>, init_calls: Option<&InitCalls>) -> Vec<usize> {
    let mut handlers = guardable(code, init_calls);
    let mut steps = MAX_STEPS;
    handlers.retain(|&handler| !throws_at_once(code, handler, &mut steps));
    handlers
}

/// Whether there is nothing to record between a handler's start and its `athrow`. If `steps` is
/// used up, the answer is no.
fn throws_at_once(code: &Code<'_>, handler: usize, steps: &mut usize) -> bool {
    let bytecode = code.bytecode.get(handler..).unwrap_or_default();
    // A switch is not decoded correctly from the middle, but it ends the search anyway.
    for insn in Instructions::new(bytecode, 0) {
        let (Ok(insn), Some(left)) = (insn, steps.checked_sub(1)) else {
            return false;
        };
        *steps = left;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::with_handlers;

    #[test]
    fn what_is_thrown_on_at_once_tells_nothing() {
        let code = [op::RETURN, op::ASTORE_1, op::ALOAD_1, op::ATHROW, op::POP];
        let found = with_handlers(&code, &[1, 4], |code| reporting(code, None));
        assert_eq!(found, [4]);
    }

    #[test]
    fn each_of_many_handlers_is_not_followed_to_the_end() {
        // Every start except the last one lies in the middle of the path of those before it.
        let bodies = 30_000;
        let mut code = vec![op::RETURN];
        code.extend([op::ALOAD_0, op::ASTORE_0].repeat(bodies));
        code.push(op::ATHROW);
        let starts: Vec<u16> = (0..bodies as u16).map(|at| 1 + 2 * at).collect();
        let found = with_handlers(&code, &starts, |code| reporting(code, None));
        // One handler used up almost all steps; each of the others would take 30,000.
        assert!(found.len() > bodies - 5, "{}", found.len());
    }
}
