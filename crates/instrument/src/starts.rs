//! What handlers do first, even when the stack is exhausted.
//!
//! A handler may run where the stack has just overflowed, and its first instructions put something
//! right: they leave a monitor, or restore a field. A probe that found the stack exhausted would
//! keep the handler from doing so; and because the handlers that compilers make for `synchronized`
//! also catch what is thrown within themselves, such a handler would loop forever. So the probes
//! for what a handler does first stand at its start, in one guard: between them and what they
//! record lie only instructions that run no other code.

use hindsight_classfile::{Code, Operand, access, opcode as op};

use crate::SkipReason;
use crate::caught::handler_offsets;
use crate::throwing::Own;

/// The most instructions from a handler's start on that are examined.
const MAX_LOOKED_AT: usize = 32;

/// The start of a handler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    pub handler: usize,
    /// The offset of the `monitorexit` that comes next, if there is one.
    pub exit: Option<usize>,
    /// The end of the instructions that run no other code.
    end: usize,
    /// The offsets at which variables are written, and their slots.
    stores: Vec<(usize, u16)>,
    /// The code of probes before writes.
    pub writes: Vec<u8>,
}

impl Start {
    /// Whether there is anything to record.
    pub fn tells(&self) -> bool {
        self.exit.is_some() || !self.writes.is_empty()
    }

    /// Whether a variable holds the same value at an instruction as at the handler's start.
    pub fn has(&self, slot: u16, at: usize) -> bool {
        at < self.end && !(self.stores.iter()).any(|&(store, stored)| store < at && stored == slot)
    }
}

/// The last start before an instruction.
pub fn start_before(starts: &mut [Start], at: usize) -> Option<&mut Start> {
    let next = starts.partition_point(|start| start.handler <= at);
    starts.get_mut(next.checked_sub(1)?)
}

/// The starts of all handlers, by rising offset.
pub fn starts(own: &Own<'_, '_>, code: &Code<'_>) -> Result<Vec<Start>, SkipReason> {
    let mut handlers = handler_offsets(code);
    // A handler at the method's start is wrong code.
    handlers.retain(|&handler| handler > 0);
    if handlers.is_empty() {
        return Ok(Vec::new());
    }
    let mut arrived = handlers.clone();
    for insn in code.instructions() {
        match insn?.operand()? {
            Operand::Branch(target) => arrived.push(target),
            Operand::Switch(switch) => arrived.extend(switch.targets().flatten()),
            _ => {}
        }
    }
    arrived.sort_unstable();
    let mut starts = Vec::with_capacity(handlers.len());
    for handler in handlers {
        let next = arrived.partition_point(|&at| at <= handler);
        let next = arrived.get(next).copied().unwrap_or(usize::MAX);
        starts.push(start(own, code, handler, next)?);
    }
    Ok(starts)
}

/// Examines a handler up to where other code may jump in.
fn start(
    own: &Own<'_, '_>,
    code: &Code<'_>,
    handler: usize,
    next: usize,
) -> Result<Start, SkipReason> {
    let mut start = Start {
        handler,
        end: handler,
        ..Start::default()
    };
    let mut at_once = true;
    for insn in code.instructions_from(handler).take(MAX_LOOKED_AT) {
        let insn = insn?;
        if insn.offset >= next {
            break;
        }
        let opcode = insn.effective_opcode();
        match (opcode, insn.operand()?) {
            (op::ISTORE..=op::ASTORE_3, Operand::Local(slot)) => {
                // The instruction may be a wide one.
                start.stores.push((insn.offset, slot));
                start.stores.push((insn.offset, slot.saturating_add(1)));
            }
            (op::ILOAD..=op::ALOAD_3, _) => {}
            (op::MONITOREXIT, _) if at_once => {
                start.exit = Some(insn.offset);
                break;
            }
            (op::NOP..=op::SIPUSH | op::POP..=op::DCMPG, _) => {
                at_once = false;
            }
            (op::GETFIELD | op::PUTFIELD, Operand::Constant(constant)) => {
                let field = own.class.pool.field(constant)?;
                let access = own.field_access(&field);
                if access.is_none_or(|flags| flags & access::VOLATILE != 0) {
                    break;
                }
                at_once = false;
            }
            _ => break,
        }
        start.end = insn.end();
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use hindsight_classfile::{Attribute, ClassFile};

    use super::*;

    /// What is found at each start in code that a handler of everything guards completely, itself
    /// included.
    fn found(bytecode: &[u8], handler: u8) -> Vec<Start> {
        // A class `A` without members.
        let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61];
        class.extend([0, 3, 1, 0, 1, b'A', 7, 0, 1]);
        class.extend([0, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
        let class = ClassFile::parse(&class).expect("a class");
        let own = Own::new(&class, class.name().expect("a name"));
        let length = bytecode.len() as u8;
        let mut info = vec![0, 9, 0, 9, 0, 0, 0, length];
        info.extend_from_slice(bytecode);
        info.extend([0, 1, 0, 0, 0, length, 0, handler, 0, 0, 0, 0]);
        let attribute = Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        };
        let code = Code::parse(&attribute).expect("it is a body");
        starts(&own, &code).expect("it can be read")
    }

    fn exits(bytecode: &[u8], handler: u8) -> Vec<(usize, usize)> {
        let starts = found(bytecode, handler).into_iter();
        starts
            .filter_map(|start| Some((start.handler, start.exit?)))
            .collect()
    }

    #[test]
    fn handlers_that_leave_at_once_are_found() {
        let (store, lock, load) = (op::ASTORE_1, op::ALOAD_0, op::ALOAD_1);
        let javac = [op::RETURN, store, lock, op::MONITOREXIT, load, op::ATHROW];
        assert_eq!(exits(&javac, 1), [(1, 3)]);
        let ecj = [op::RETURN, lock, op::MONITOREXIT, op::ATHROW];
        assert_eq!(exits(&ecj, 1), [(1, 2)]);
        // Another instruction comes first; the handler has no start.
        let calls = [op::RETURN, op::POP, lock, op::MONITOREXIT, op::RETURN];
        assert_eq!(exits(&calls, 1), []);
        assert_eq!(exits(&javac, 4), []);
        // A jump leads into the start, or to its beginning.
        let jumps = |to| {
            let within = [store, lock, op::MONITOREXIT, load, op::ATHROW];
            [&[op::GOTO, 0, to][..], &within].concat()
        };
        assert_eq!(exits(&jumps(4), 3), []);
        assert_eq!(exits(&jumps(3), 3), [(3, 5)]);
    }

    #[test]
    fn variables_hold_what_they_held_until_they_are_written() {
        let code = [
            op::RETURN,
            op::ASTORE_1,
            op::ICONST_1,
            op::LSTORE_2,
            op::ALOAD_0,
            op::INVOKESTATIC,
            0,
            1,
            op::RETURN,
        ];
        let start = &found(&code, 1)[0];
        for (slot, at, has) in [
            (0, 4, true),
            (0, 5, false),
            (1, 1, true),
            (1, 2, false),
            (3, 3, true),
            (3, 4, false),
        ] {
            assert_eq!(start.has(slot, at), has, "{slot} at {at}");
        }
    }
}
