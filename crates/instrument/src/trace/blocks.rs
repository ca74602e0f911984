//! The basic blocks of a body.

use hindsight_classfile::{ClassFile, Code, Operand, Utf8, opcode as op, tables};

use crate::SkipReason;

/// Lists where blocks begin, sorted: the entry, the targets of jumps, what follows a jump that may
/// not be taken, and handlers.
pub fn block_starts(code: &Code<'_>, starts: &mut Vec<usize>) -> Result<(), SkipReason> {
    starts.clear();
    starts.push(0);
    for insn in code.instructions() {
        let insn = insn?;
        match insn.operand()? {
            Operand::Branch(target) => {
                starts.push(target);
                if !op::ends_flow(insn.opcode) {
                    starts.push(insn.end());
                }
            }
            Operand::Switch(switch) => starts.extend(switch.targets().flatten()),
            _ => {}
        }
    }
    let handlers = code.handlers.into_iter();
    starts.extend(handlers.map(|handler| usize::from(handler.handler)));
    starts.sort_unstable();
    starts.dedup();
    // The verifier refuses a jump to the end of the code.
    starts.retain(|&start| start < code.bytecode.len());
    Ok(())
}

/// The starts of blocks, each with its line, or 0.
pub fn with_lines(class: &ClassFile<'_>, code: &Code<'_>, starts: &[usize]) -> Vec<(u16, u16)> {
    let mut lines: Vec<(u16, u16)> = Vec::new();
    for attribute in code.attributes.iter() {
        if attribute.name(&class.pool).map(Utf8::as_bytes) == Ok(b"LineNumberTable")
            && let Ok(entries) = tables::line_numbers(&attribute)
        {
            lines.extend(entries.into_iter().map(|entry| (entry.start, entry.line)));
        }
    }
    lines.sort_unstable();
    let of = |start: u16| {
        let behind = lines.partition_point(|&(line_start, _)| line_start <= start);
        behind.checked_sub(1).map_or(0, |at| lines[at].1)
    };
    // Code has at most 65,535 bytes.
    let starts = starts.iter().map(|&start| start as u16);
    starts.map(|start| (start, of(start))).collect()
}
