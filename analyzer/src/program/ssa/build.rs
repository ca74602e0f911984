//! Makes a [`Body`] of bytecode.
//!
//! - `insn` is what each instruction takes from the stack and leaves on it.
//! - `phis` finds the values of variables at the beginning of blocks.

mod insn;
mod phis;

use super::{Block, Body, Edge, Error, Insn, Kind, Op, Value};
use crate::program::cfg::Cfg;
use hindsight_classfile::{Code, ConstantPool, MethodDescriptor};

/// The most phis and operands of one body, before superfluous ones are removed.
const MAX_VALUES: usize = 4_000_000;

type Result<T> = std::result::Result<T, Error>;

struct Builder<'a> {
    pool: &'a ConstantPool<'a>,
    code: &'a Code<'a>,
    cfg: Cfg,
    before: Vec<Vec<Edge>>,
    locals: usize,
    kinds: Vec<Kind>,
    operands: Vec<Value>,
    /// The instructions by block, without phis.
    insns: Vec<Vec<Insn>>,
    /// For each block, the values that it leaves: pairs of variable and value, sorted by variable.
    left: Vec<Vec<(u32, Value)>>,
    /// For each block, the values at its beginning, as far as they were asked for.
    begun: Vec<Vec<(u32, Value)>>,
    /// For each block, the kinds on the stack at its beginning.
    stacks: Vec<Option<Vec<Kind>>>,
    /// The phis: block, variable, value.
    phis: Vec<(u32, u32, Value)>,
    /// The block that is being read.
    at: u32,
    stack: Vec<Value>,
    /// The local variables that the block has written.
    written: Vec<(u32, Value)>,
}

/// The kind of a value of this type.
fn kind_of(kind: u8) -> Kind {
    match kind {
        b'J' => Kind::Long,
        b'F' => Kind::Float,
        b'D' => Kind::Double,
        b'L' | b'[' => Kind::Ref,
        _ => Kind::Int,
    }
}

fn is_wide(kind: Kind) -> bool {
    matches!(kind, Kind::Long | Kind::Double)
}

pub(super) fn body(
    pool: &ConstantPool<'_>,
    code: &Code<'_>,
    is_static: bool,
    descriptor: &MethodDescriptor<'_>,
) -> Result<Body> {
    let cfg = Cfg::new(code)?;
    let order = cfg.order();
    let count = cfg.blocks.len();
    let mut before = vec![Vec::new(); count];
    for &from in &order {
        let block = &cfg.blocks[from as usize];
        for &to in &block.next {
            before[to as usize].push(Edge {
                from,
                thrown: false,
            });
        }
        for &(to, _) in &block.handlers {
            // Several entries of the exception table may lead to one handler.
            let edge = Edge { from, thrown: true };
            if before[to as usize].last() != Some(&edge) {
                before[to as usize].push(edge);
            }
        }
    }
    let mut builder = Builder {
        pool,
        code,
        cfg,
        before,
        locals: usize::from(code.max_locals),
        kinds: Vec::new(),
        operands: Vec::new(),
        insns: vec![Vec::new(); count],
        left: vec![Vec::new(); count],
        begun: vec![Vec::new(); count],
        stacks: vec![None; count],
        phis: Vec::new(),
        at: 0,
        stack: Vec::new(),
        written: Vec::new(),
    };
    let params = builder.parameters(is_static, descriptor)?;
    for &block in &order {
        builder.block(block)?;
    }
    builder.fill_phis()?;
    builder.finish(order, params)
}

impl Builder<'_> {
    fn value(&mut self, kind: Kind) -> Result<Value> {
        if self.kinds.len() >= MAX_VALUES || self.operands.len() >= MAX_VALUES {
            return Err(Error::TooLarge);
        }
        self.kinds.push(kind);
        Ok(Value(self.kinds.len() as u32 - 1))
    }

    /// Defines the arguments, which are the values of variables at the entry. They stand before the
    /// first block, so a loop back to it does not define them again.
    fn parameters(&mut self, is_static: bool, descriptor: &MethodDescriptor<'_>) -> Result<u16> {
        let this = (!is_static).then_some((Kind::Ref, 1));
        let declared = descriptor
            .parameters()
            .map(|ty| (kind_of(ty.kind()), u32::from(ty.slots())));
        let mut slot = 0;
        let mut number = 0;
        for (kind, slots) in this.into_iter().chain(declared) {
            let result = self.value(kind)?;
            self.insns[0].push(Insn {
                op: Op::Param(number),
                pc: 0,
                result: Some(result),
                operands: (0, 0),
            });
            self.begun[0].push((slot, result));
            number += 1;
            slot += slots;
        }
        if slot as usize > self.locals {
            return Err(Error::Stack(0));
        }
        // A jump back to the start needs phis of the arguments.
        if !self.before[0].is_empty() {
            let arguments = std::mem::take(&mut self.begun[0]);
            for &(variable, argument) in &arguments {
                let kind = self.kinds[argument.0 as usize];
                let phi = self.value(kind)?;
                self.begun[0].push((variable, phi));
                self.phis.push((0, variable, phi));
            }
            self.left.push(arguments);
        }
        Ok(number)
    }

    fn read(&mut self, variable: u32, kind: Kind, pc: u32) -> Result<Value> {
        if variable as usize >= self.locals {
            return Err(Error::Stack(pc));
        }
        let value = match find(&self.written, variable) {
            Some(value) => value,
            None => self.begin(self.at, variable, kind)?,
        };
        Ok(value)
    }

    fn write(&mut self, variable: u32, value: Value, pc: u32) -> Result<()> {
        let wide = is_wide(self.kinds[value.0 as usize]);
        if variable as usize + usize::from(wide) >= self.locals {
            return Err(Error::Stack(pc));
        }
        insert(&mut self.written, variable, value);
        Ok(())
    }

    fn pop(&mut self, pc: u32) -> Result<Value> {
        self.stack.pop().ok_or(Error::Stack(pc))
    }

    fn push(&mut self, value: Value, pc: u32) -> Result<()> {
        if self.stack.len() >= usize::from(self.code.max_stack) {
            return Err(Error::Stack(pc));
        }
        self.stack.push(value);
        Ok(())
    }

    /// Adds an instruction that takes its operands from the stack.
    fn emit(&mut self, op: Op, takes: usize, makes: Option<Kind>, pc: u32) -> Result<()> {
        let from = self
            .stack
            .len()
            .checked_sub(takes)
            .ok_or(Error::Stack(pc))?;
        let start = self.operands.len() as u32;
        self.operands.extend(self.stack.drain(from..));
        let result = makes.map(|kind| self.value(kind)).transpose()?;
        self.insns[self.at as usize].push(Insn {
            op,
            // Bytecode has at most 65,535 bytes.
            pc: pc as u16,
            result,
            operands: (start, self.operands.len() as u32),
        });
        match result {
            Some(value) => self.push(value, pc),
            None => Ok(()),
        }
    }

    fn block(&mut self, number: u32) -> Result<()> {
        let block = self.cfg.blocks[number as usize].clone();
        self.at = number;
        self.written.clear();
        self.stack.clear();
        let caught = self.before[number as usize].iter().any(|edge| edge.thrown);
        let kinds = match &self.stacks[number as usize] {
            Some(kinds) => kinds.clone(),
            None => Vec::new(),
        };
        self.stacks[number as usize].get_or_insert_default();
        if caught {
            // A handler to which other code jumps as well gets the exception by a phi.
            if self.before[number as usize].iter().all(|edge| edge.thrown) {
                self.emit(Op::Catch, 0, Some(Kind::Ref), block.start)?;
            } else {
                let value = self.value(Kind::Ref)?;
                self.phis.push((number, self.locals as u32, value));
                insert(&mut self.begun[number as usize], self.locals as u32, value);
                self.stack.push(value);
            }
        } else {
            for (depth, &kind) in kinds.iter().enumerate() {
                let value = self.begin(number, (self.locals + depth) as u32, kind)?;
                self.stack.push(value);
            }
        }
        let code = self.code;
        for insn in code.instructions_from(block.start as usize) {
            let insn = insn?;
            if insn.offset >= block.end as usize {
                break;
            }
            self.insn(&insn)?;
        }
        // What remains on the stack is passed on as variables.
        let mut left = std::mem::take(&mut self.written);
        left.extend(
            self.stack
                .iter()
                .enumerate()
                .map(|(depth, &value)| ((self.locals + depth) as u32, value)),
        );
        let kinds: Vec<Kind> = self
            .stack
            .iter()
            .map(|value| self.kinds[value.0 as usize])
            .collect();
        self.left[number as usize] = left;
        for &next in &block.next {
            let known = &mut self.stacks[next as usize];
            match known {
                None => *known = Some(kinds.clone()),
                Some(known) if known.len() != kinds.len() || *known != kinds => {
                    let by_exception = self.before[next as usize].iter().any(|edge| edge.thrown);
                    if !(by_exception && kinds.len() == 1) {
                        return Err(Error::Stack(block.end));
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn finish(self, order: Vec<u32>, params: u16) -> Result<Body> {
        let mut blocks = Vec::with_capacity(self.before.len());
        let mut insns = Vec::with_capacity(self.insns.iter().map(Vec::len).sum());
        for (number, (own, before)) in self.insns.into_iter().zip(self.before).enumerate() {
            let start = insns.len() as u32;
            if number == 0 {
                // Arguments stand before the phis that take them.
                let (params, rest): (Vec<Insn>, Vec<Insn>) = own
                    .into_iter()
                    .partition(|insn| matches!(insn.op, Op::Param(_) | Op::Undefined));
                insns.extend(params);
                insns.extend(rest);
            } else {
                insns.extend(own);
            }
            blocks.push(Block {
                insns: (start, insns.len() as u32),
                before,
            });
        }
        Ok(Body {
            cfg: self.cfg,
            order,
            blocks,
            insns,
            kinds: self.kinds,
            params,
            operands: self.operands,
        })
    }
}

fn find(list: &[(u32, Value)], variable: u32) -> Option<Value> {
    list.iter()
        .rev()
        .find(|entry| entry.0 == variable)
        .map(|entry| entry.1)
}

fn insert(list: &mut Vec<(u32, Value)>, variable: u32, value: Value) {
    match list.iter_mut().find(|entry| entry.0 == variable) {
        Some(entry) => entry.1 = value,
        None => list.push((variable, value)),
    }
}
