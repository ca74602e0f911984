//! The control flow of a body: its blocks, and which may follow which.
//!
//! Blocks are cut so that, within a range that an exception handler covers, a store to a local
//! variable ends its block: an instruction that throws then sees the variables as they were when
//! its block began. So the edge to a handler starts at the beginning of a block, not at its end.

use hindsight_classfile::opcode::{self, Form, OPCODES};
use hindsight_classfile::{Code, Insn, Operand};

/// The blocks of one body, the entry first, in the order of the code.
#[derive(Debug, Default)]
pub struct Cfg {
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// Instructions that run one after the other.
#[derive(Debug, Default, Clone)]
pub struct Block {
    /// The offset of its first byte.
    pub start: u32,
    /// The offset behind its last byte.
    pub end: u32,
    /// The blocks that may follow, each once.
    pub next: Vec<u32>,
    /// The handlers that cover it, the innermost first: block and class constant (0 for
    /// everything).
    pub handlers: Vec<(u32, u16)>,
}

/// Why a body has no control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are not valid instructions.
    #[error("malformed code: {0}")]
    Malformed(#[from] hindsight_classfile::Error),
    /// A jump, a handler or the end leads out of the code or into an instruction.
    #[error("control flow leads to no instruction (at {0})")]
    NoInstruction(u32),
    /// It has subroutines (`jsr`), as compilers made them before Java 6.
    #[error("it has subroutines (jsr at {0}), which are not followed")]
    Subroutine(u32),
    /// It has more handlers than any compiler makes, which only an attack can have.
    #[error("it has too many exception handlers")]
    TooManyHandlers,
}

/// The most bytes that all handlers together may cover, and the most edges to handlers.
const MAX_COVERED: usize = 100_000_000;
const MAX_WAYS: usize = 4_000_000;

impl Cfg {
    /// Reads the control flow of a body.
    ///
    /// # Errors
    ///
    /// Fails if the code is malformed, or has subroutines.
    pub fn new(code: &Code<'_>) -> Result<Cfg, Error> {
        const INSN: u8 = 1;
        const LEADER: u8 = 2;
        const COVERED: u8 = 4;
        let len = code.bytecode.len();
        let mut marks = vec![0u8; len + 1];
        marks[0] |= LEADER;
        let lead = |marks: &mut Vec<u8>, at: usize, from: usize| match marks.get_mut(at) {
            Some(mark) if at < len => {
                *mark |= LEADER;
                Ok(())
            }
            _ => Err(Error::NoInstruction(from as u32)),
        };
        let mut covered = 0;
        for handler in code.handlers {
            let (start, end) = (usize::from(handler.start), usize::from(handler.end));
            if start >= end || end > len {
                return Err(Error::NoInstruction(handler.start.into()));
            }
            covered += end - start;
            if covered > MAX_COVERED {
                return Err(Error::TooManyHandlers);
            }
            lead(&mut marks, usize::from(handler.handler), start)?;
            marks[start] |= LEADER;
            marks[end] |= LEADER;
            marks[start..end]
                .iter_mut()
                .for_each(|mark| *mark |= COVERED);
        }
        for insn in code.instructions() {
            let insn = insn?;
            marks[insn.offset] |= INSN;
            let ends = match targets(&insn, &mut |at| lead(&mut marks, at, insn.offset))? {
                Flow::Falls => false,
                Flow::Ends | Flow::Both => true,
            };
            let stores = marks[insn.offset] & COVERED != 0 && is_store(&insn);
            if ends || stores {
                marks[insn.end()] |= LEADER;
            }
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut number = vec![0u32; len];
        for (at, &mark) in marks[..len].iter().enumerate() {
            if mark & LEADER != 0 {
                // A leader within an instruction is only an error if it is reachable, but no
                // compiler makes such code.
                if mark & INSN == 0 {
                    return Err(Error::NoInstruction(at as u32));
                }
                if let Some(last) = blocks.last_mut() {
                    last.end = at as u32;
                }
                blocks.push(Block {
                    start: at as u32,
                    end: len as u32,
                    ..Block::default()
                });
            }
            number[at] = blocks.len() as u32 - 1;
        }
        let mut block = 0;
        for insn in code.instructions() {
            let insn = insn?;
            while insn.offset >= blocks[block].end as usize {
                block += 1;
            }
            if insn.end() < blocks[block].end as usize {
                continue;
            }
            let mut next = Vec::new();
            let flow = targets(&insn, &mut |at| {
                next.push(number[at]);
                Ok(())
            })?;
            if !matches!(flow, Flow::Ends) {
                let after = number.get(insn.end());
                next.push(*after.ok_or(Error::NoInstruction(insn.offset as u32))?);
            }
            next.sort_unstable();
            next.dedup();
            blocks[block].next = next;
        }
        let mut ways = 0;
        for handler in code.handlers {
            let target = number[usize::from(handler.handler)];
            let first = number[usize::from(handler.start)] as usize;
            let covered = blocks[first..]
                .iter_mut()
                .take_while(|block| block.start < u32::from(handler.end));
            for block in covered {
                ways += block.handlers.len() + 1;
                if ways > MAX_WAYS {
                    return Err(Error::TooManyHandlers);
                }
                let known = block.handlers.iter();
                // Classes that an earlier entry catches do not get here.
                if !known
                    .clone()
                    .any(|&(_, class)| class == 0 || class == handler.catch_type)
                {
                    block.handlers.push((target, handler.catch_type));
                }
            }
        }
        Ok(Cfg { blocks })
    }

    /// The reachable blocks in reverse postorder, the entry first: apart from loops, each block
    /// comes after its predecessors.
    pub fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        let mut path = vec![(0u32, 0usize)];
        if let Some(first) = seen.first_mut() {
            *first = true;
        } else {
            return order;
        }
        while let Some((block, at)) = path.last_mut() {
            let all = &self.blocks[*block as usize];
            let next = match all.next.get(*at) {
                Some(&next) => Some(next),
                None => all
                    .handlers
                    .get(*at - all.next.len())
                    .map(|handler| handler.0),
            };
            *at += 1;
            match next {
                Some(next) if !seen[next as usize] => {
                    seen[next as usize] = true;
                    path.push((next, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

enum Flow {
    /// Execution goes on with the next instruction.
    Falls,
    /// Execution goes on only by jumps, or not at all.
    Ends,
    /// Execution goes on by a jump or with the next instruction.
    Both,
}

fn targets(
    insn: &Insn<'_>,
    jump: &mut dyn FnMut(usize) -> Result<(), Error>,
) -> Result<Flow, Error> {
    let bad = || Error::NoInstruction(insn.offset as u32);
    match OPCODES[usize::from(insn.opcode)].form {
        Form::Branch2 | Form::Branch4 => {
            if matches!(insn.opcode, opcode::JSR | opcode::JSR_W) {
                return Err(Error::Subroutine(insn.offset as u32));
            }
            if let Operand::Branch(target) = insn.operand()? {
                jump(target)?;
            }
        }
        Form::TableSwitch | Form::LookupSwitch => {
            if let Operand::Switch(switch) = insn.operand()? {
                for target in switch.targets() {
                    jump(target.ok_or_else(bad)?)?;
                }
            }
        }
        _ if insn.effective_opcode() == opcode::RET => {
            return Err(Error::Subroutine(insn.offset as u32));
        }
        _ if opcode::ends_flow(insn.opcode) => return Ok(Flow::Ends),
        _ => return Ok(Flow::Falls),
    }
    Ok(match insn.opcode {
        opcode::GOTO | opcode::GOTO_W | opcode::TABLESWITCH | opcode::LOOKUPSWITCH => Flow::Ends,
        _ => Flow::Both,
    })
}

/// Whether an instruction writes a local variable.
pub fn is_store(insn: &Insn<'_>) -> bool {
    matches!(
        insn.effective_opcode(),
        opcode::ISTORE..=opcode::ASTORE_3 | opcode::IINC
    )
}
