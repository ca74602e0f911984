//! From bytecode to [`Body`].

use super::{Block, Body, Edge, Error, Insn, Kind, Op, Value};
use crate::program::cfg::Cfg;
use hindsight_classfile::opcode as oc;
use hindsight_classfile::{Code, Constant, ConstantPool, FieldType, MethodDescriptor, Operand};

/// Phis and operands of one body, before they are thinned out.
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
    /// Instructions by block, without phis.
    insns: Vec<Vec<Insn>>,
    /// What blocks leave: pairs of variable and value, by variable.
    left: Vec<Vec<(u32, Value)>>,
    /// What blocks begin with, as far as it was asked for.
    begun: Vec<Vec<(u32, Value)>>,
    /// The kinds on the stack where a block begins.
    stacks: Vec<Option<Vec<Kind>>>,
    /// Phis: block, variable, value.
    phis: Vec<(u32, u32, Value)>,
    /// The block being read.
    at: u32,
    stack: Vec<Value>,
    /// Local variables that the block has written.
    written: Vec<(u32, Value)>,
}

/// Kind of a value of this type.
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
            // Several entries of the table may lead to one handler.
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

    /// The arguments are what the entry begins with. They stand before its
    /// first block, so a loop back to it does not write them again.
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

    /// The value of a variable where a block begins.
    fn begin(&mut self, mut block: u32, variable: u32, kind: Kind) -> Result<Value> {
        let mut path = Vec::new();
        let value = loop {
            if let Some(known) = find(&self.begun[block as usize], variable) {
                break known;
            }
            path.push(block);
            match self.before[block as usize].as_slice() {
                // The way up a chain of blocks needs no phis.
                &[Edge { from, thrown }] if block != 0 => {
                    let left = (!thrown)
                        .then(|| find(&self.left[from as usize], variable))
                        .flatten();
                    // What a block leaves is known only once it was read.
                    if let Some(left) = left {
                        break left;
                    }
                    if self.stacks[from as usize].is_none() || path.len() > self.before.len() {
                        let phi = self.value(kind)?;
                        self.phis.push((block, variable, phi));
                        break phi;
                    }
                    block = from;
                }
                _ => {
                    let phi = self.value(kind)?;
                    self.phis.push((block, variable, phi));
                    break phi;
                }
            }
        };
        for block in path {
            insert(&mut self.begun[block as usize], variable, value);
        }
        Ok(value)
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
            // A handler that is also jumped to has the exception from there.
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
        // What remains on the stack goes on as variables.
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

    /// Asks for the operands of phis, which may ask for more phis.
    fn fill_phis(&mut self) -> Result<()> {
        let mut at = 0;
        self.stack.clear();
        let mut filled = Vec::new();
        while let Some(&(block, variable, phi)) = self.phis.get(at) {
            at += 1;
            let kind = self.kinds[phi.0 as usize];
            let edges = self.before[block as usize].clone();
            let mut operands = Vec::with_capacity(edges.len() + 1);
            for Edge { from, thrown } in edges {
                let stacked = variable as usize >= self.locals;
                let operand = if thrown && stacked {
                    // The exception itself, on a way that also jumps lead to.
                    self.undefined(from, Op::Catch, kind)?
                } else {
                    let left = (!thrown)
                        .then(|| find(&self.left[from as usize], variable))
                        .flatten();
                    match left {
                        Some(left) => left,
                        None => self.begin(from, variable, kind)?,
                    }
                };
                operands.push(operand);
            }
            if block == 0 {
                // The edge from outside comes last.
                let arguments = self.left.get(self.insns.len());
                let argument = arguments.and_then(|left| find(left, variable));
                let operand = match argument {
                    Some(argument) => argument,
                    None => self.undefined(0, Op::Undefined, kind)?,
                };
                operands.push(operand);
            }
            // Values of different kinds are no value: no path reads it.
            if operands
                .iter()
                .any(|value| self.kinds[value.0 as usize] != kind)
            {
                operands.clear();
            }
            filled.push(operands);
            if self.phis.len() + self.operands.len() > MAX_VALUES {
                return Err(Error::TooLarge);
            }
        }
        let phis = std::mem::take(&mut self.phis);
        let total: usize = filled.iter().map(Vec::len).sum();
        if total > MAX_VALUES {
            return Err(Error::TooLarge);
        }
        let replaced = thin(&phis, &filled, self.kinds.len());
        for value in &mut self.operands {
            *value = replaced[value.0 as usize];
        }
        let mut by_block: Vec<Vec<Insn>> = vec![Vec::new(); self.insns.len()];
        for ((block, _, phi), operands) in phis.into_iter().zip(filled) {
            if replaced[phi.0 as usize] != phi {
                continue;
            }
            let start = self.operands.len() as u32;
            self.operands
                .extend(operands.iter().map(|value| replaced[value.0 as usize]));
            let op = if operands.is_empty() {
                Op::Undefined
            } else {
                Op::Phi
            };
            by_block[block as usize].push(Insn {
                op,
                pc: self.cfg.blocks[block as usize].start as u16,
                result: Some(phi),
                operands: (start, self.operands.len() as u32),
            });
        }
        for (insns, mut phis) in self.insns.iter_mut().zip(by_block) {
            phis.append(insns);
            *insns = phis;
        }
        Ok(())
    }

    /// A value that a block defines first thing.
    fn undefined(&mut self, block: u32, op: Op, kind: Kind) -> Result<Value> {
        let result = self.value(kind)?;
        let start = self.cfg.blocks[block as usize].start;
        let insn = Insn {
            op,
            pc: start as u16,
            result: Some(result),
            operands: (0, 0),
        };
        self.insns[block as usize].insert(0, insn);
        Ok(result)
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

    fn category(&self, value: Value) -> usize {
        1 + usize::from(is_wide(self.kinds[value.0 as usize]))
    }

    /// `dup`s: copies the topmost values of together `size` slots below those
    /// that take `under` slots more.
    fn dup(&mut self, size: usize, under: usize, pc: u32) -> Result<()> {
        let take = |stack: &mut Vec<Value>, mut slots: usize| -> Result<Vec<Value>> {
            let mut taken = Vec::new();
            while slots > 0 {
                let value = stack.pop().ok_or(Error::Stack(pc))?;
                let category = 1 + usize::from(is_wide(self.kinds[value.0 as usize]));
                slots = slots.checked_sub(category).ok_or(Error::Stack(pc))?;
                taken.push(value);
            }
            taken.reverse();
            Ok(taken)
        };
        let mut stack = std::mem::take(&mut self.stack);
        let top = take(&mut stack, size)?;
        let below = take(&mut stack, under)?;
        for value in top.iter().chain(&below).chain(&top) {
            stack.push(*value);
        }
        if stack.len() > usize::from(self.code.max_stack) {
            return Err(Error::Stack(pc));
        }
        self.stack = stack;
        Ok(())
    }

    fn result_of(&self, ty: Option<FieldType<'_>>) -> Option<Kind> {
        ty.map(|ty| kind_of(ty.kind()))
    }

    fn insn(&mut self, insn: &hindsight_classfile::Insn<'_>) -> Result<()> {
        let pc = insn.offset as u32;
        let code = insn.effective_opcode();
        let operand = insn.operand()?;
        let compute = Op::Compute(code);
        use Kind::{Double, Float, Int, Long, Ref};
        match (code, operand) {
            (oc::NOP, _) | (oc::GOTO | oc::GOTO_W, _) => Ok(()),
            (oc::ACONST_NULL, _) => self.emit(Op::Null, 0, Some(Ref), pc),
            (oc::ICONST_M1..=oc::ICONST_5, _) => self.emit(
                Op::Int(i32::from(code) - i32::from(oc::ICONST_0)),
                0,
                Some(Int),
                pc,
            ),
            (oc::LCONST_0 | oc::LCONST_1, _) => {
                self.emit(Op::Long(i64::from(code - oc::LCONST_0)), 0, Some(Long), pc)
            }
            (oc::FCONST_0..=oc::FCONST_2, _) => {
                let bits = f32::from(code - oc::FCONST_0).to_bits();
                self.emit(Op::Float(bits), 0, Some(Float), pc)
            }
            (oc::DCONST_0 | oc::DCONST_1, _) => {
                let bits = f64::from(code - oc::DCONST_0).to_bits();
                self.emit(Op::Double(bits), 0, Some(Double), pc)
            }
            (_, Operand::Int(value)) => self.emit(Op::Int(value.into()), 0, Some(Int), pc),
            (oc::LDC | oc::LDC_W | oc::LDC2_W, Operand::Constant(index)) => {
                let kind = match self.pool.get(index)? {
                    Constant::Integer(_) => Int,
                    Constant::Float(_) => Float,
                    Constant::Long(_) => Long,
                    Constant::Double(_) => Double,
                    Constant::Dynamic { descriptor, .. } => {
                        kind_of(FieldType::parse(descriptor)?.kind())
                    }
                    _ => Ref,
                };
                self.emit(Op::Constant(index), 0, Some(kind), pc)
            }
            (oc::ILOAD..=oc::ALOAD_3, Operand::Local(local)) => {
                let kind = match code {
                    oc::ILOAD | oc::ILOAD_0..=oc::ILOAD_3 => Int,
                    oc::LLOAD | oc::LLOAD_0..=oc::LLOAD_3 => Long,
                    oc::FLOAD | oc::FLOAD_0..=oc::FLOAD_3 => Float,
                    oc::DLOAD | oc::DLOAD_0..=oc::DLOAD_3 => Double,
                    _ => Ref,
                };
                let value = self.read(local.into(), kind, pc)?;
                if self.kinds[value.0 as usize] != kind {
                    return Err(Error::Stack(pc));
                }
                self.push(value, pc)
            }
            (oc::ISTORE..=oc::ASTORE_3, Operand::Local(local)) => {
                let value = self.pop(pc)?;
                self.write(local.into(), value, pc)
            }
            (oc::IINC, Operand::Iinc { local, by }) => {
                let value = self.read(local.into(), Int, pc)?;
                // It needs no stack of its own, so none is checked.
                self.stack.push(value);
                let amount = self.value(Int)?;
                self.insns[self.at as usize].push(Insn {
                    op: Op::Int(by.into()),
                    pc: pc as u16,
                    result: Some(amount),
                    operands: (0, 0),
                });
                self.stack.push(amount);
                let from = self.stack.len() - 2;
                let start = self.operands.len() as u32;
                self.operands.extend(self.stack.drain(from..));
                let sum = self.value(Int)?;
                self.insns[self.at as usize].push(Insn {
                    op: Op::Compute(oc::IADD),
                    pc: pc as u16,
                    result: Some(sum),
                    operands: (start, start + 2),
                });
                self.write(local.into(), sum, pc)
            }
            (oc::IALOAD..=oc::SALOAD, _) => {
                let kind =
                    [Int, Long, Float, Double, Ref, Int, Int, Int][usize::from(code - oc::IALOAD)];
                self.emit(Op::ArrayLoad(code), 2, Some(kind), pc)
            }
            (oc::IASTORE..=oc::SASTORE, _) => self.emit(Op::ArrayStore(code), 3, None, pc),
            (oc::POP, _) => self.pop(pc).map(drop),
            (oc::POP2, _) => {
                let value = self.pop(pc)?;
                match self.category(value) {
                    1 => self.pop(pc).map(drop),
                    _ => Ok(()),
                }
            }
            (oc::DUP, _) => self.dup(1, 0, pc),
            (oc::DUP_X1, _) => self.dup(1, 1, pc),
            (oc::DUP_X2, _) => self.dup(1, 2, pc),
            (oc::DUP2, _) => self.dup(2, 0, pc),
            (oc::DUP2_X1, _) => self.dup(2, 1, pc),
            (oc::DUP2_X2, _) => self.dup(2, 2, pc),
            (oc::SWAP, _) => {
                let (top, below) = (self.pop(pc)?, self.pop(pc)?);
                self.stack.extend([top, below]);
                Ok(())
            }
            (oc::IADD..=oc::DREM | oc::IAND..=oc::LXOR, _) => {
                let kind = match code {
                    oc::IAND..=oc::LXOR => [Int, Long][usize::from(code - oc::IAND) % 2],
                    _ => [Int, Long, Float, Double][usize::from(code - oc::IADD) % 4],
                };
                self.emit(compute, 2, Some(kind), pc)
            }
            (oc::INEG..=oc::DNEG, _) => {
                let kind = [Int, Long, Float, Double][usize::from(code - oc::INEG)];
                self.emit(compute, 1, Some(kind), pc)
            }
            (oc::ISHL..=oc::LUSHR, _) => {
                let kind = [Int, Long][usize::from(code - oc::ISHL) % 2];
                self.emit(compute, 2, Some(kind), pc)
            }
            (oc::I2L | oc::F2L | oc::D2L, _) => self.emit(compute, 1, Some(Long), pc),
            (oc::I2F | oc::L2F | oc::D2F, _) => self.emit(compute, 1, Some(Float), pc),
            (oc::I2D | oc::L2D | oc::F2D, _) => self.emit(compute, 1, Some(Double), pc),
            (oc::I2L..=oc::I2S, _) => self.emit(compute, 1, Some(Int), pc),
            (oc::LCMP..=oc::DCMPG, _) => self.emit(compute, 2, Some(Int), pc),
            (oc::IFEQ..=oc::IFLE | oc::IFNULL | oc::IFNONNULL, _) => {
                self.emit(Op::Branch(code), 1, None, pc)
            }
            (oc::IF_ICMPEQ..=oc::IF_ACMPNE, _) => self.emit(Op::Branch(code), 2, None, pc),
            (oc::TABLESWITCH | oc::LOOKUPSWITCH, _) => self.emit(Op::Switch, 1, None, pc),
            (oc::IRETURN..=oc::ARETURN, _) => self.emit(Op::Return, 1, None, pc),
            (oc::RETURN, _) => self.emit(Op::Return, 0, None, pc),
            (oc::ATHROW, _) => self.emit(Op::Throw, 1, None, pc),
            (oc::GETSTATIC..=oc::PUTFIELD, Operand::Constant(index)) => {
                let field = self.pool.field(index)?;
                let kind = kind_of(FieldType::parse(field.descriptor)?.kind());
                match code {
                    oc::GETSTATIC => self.emit(Op::GetStatic(index), 0, Some(kind), pc),
                    oc::PUTSTATIC => self.emit(Op::PutStatic(index), 1, None, pc),
                    oc::GETFIELD => self.emit(Op::GetField(index), 1, Some(kind), pc),
                    _ => self.emit(Op::PutField(index), 2, None, pc),
                }
            }
            (oc::INVOKEVIRTUAL..=oc::INVOKEDYNAMIC, Operand::Constant(index)) => {
                let descriptor = match self.pool.get(index)? {
                    Constant::InvokeDynamic { descriptor, .. } => descriptor,
                    _ => self.pool.method(index)?.descriptor,
                };
                let descriptor = MethodDescriptor::parse(descriptor)?;
                let receiver = !matches!(code, oc::INVOKESTATIC | oc::INVOKEDYNAMIC);
                let takes = usize::from(descriptor.parameter_count()) + usize::from(receiver);
                let makes = self.result_of(descriptor.result());
                self.emit(Op::Invoke(code, index), takes, makes, pc)
            }
            (oc::NEW, Operand::Constant(index)) => self.emit(Op::New(index), 0, Some(Ref), pc),
            (oc::NEWARRAY, Operand::ArrayType(ty)) => {
                self.emit(Op::NewPrimitiveArray(ty), 1, Some(Ref), pc)
            }
            (oc::ANEWARRAY, Operand::Constant(index)) => {
                self.emit(Op::NewArray(index), 1, Some(Ref), pc)
            }
            (oc::MULTIANEWARRAY, Operand::MultiArray { class, dimensions }) => {
                self.emit(Op::NewMultiArray(class), dimensions.into(), Some(Ref), pc)
            }
            (oc::ARRAYLENGTH, _) => self.emit(Op::ArrayLength, 1, Some(Int), pc),
            (oc::CHECKCAST, Operand::Constant(index)) => {
                self.emit(Op::CheckCast(index), 1, Some(Ref), pc)
            }
            (oc::INSTANCEOF, Operand::Constant(index)) => {
                self.emit(Op::InstanceOf(index), 1, Some(Int), pc)
            }
            (oc::MONITORENTER | oc::MONITOREXIT, _) => self.emit(Op::Monitor(code), 1, None, pc),
            _ => Err(Error::Stack(pc)),
        }
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

/// What each value is in truth: phis that choose between themselves and one
/// other value are that value.
fn thin(phis: &[(u32, u32, Value)], operands: &[Vec<Value>], count: usize) -> Vec<Value> {
    let mut replaced: Vec<Value> = (0..count as u32).map(Value).collect();
    fn root(replaced: &mut [Value], value: Value) -> Value {
        let mut at = value;
        while replaced[at.0 as usize] != at {
            let above = replaced[at.0 as usize];
            replaced[at.0 as usize] = replaced[above.0 as usize];
            at = above;
        }
        at
    }
    // Phis by the phis that they are operands of.
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); phis.len()];
    let mut place = vec![u32::MAX; count];
    for (number, &(_, _, phi)) in phis.iter().enumerate() {
        place[phi.0 as usize] = number as u32;
    }
    for (number, operands) in operands.iter().enumerate() {
        for operand in operands {
            if let Some(user) = users.get_mut(place[operand.0 as usize] as usize) {
                user.push(number as u32);
            }
        }
    }
    let mut pending: Vec<u32> = (0..phis.len() as u32).rev().collect();
    while let Some(number) = pending.pop() {
        let phi = phis[number as usize].2;
        if root(&mut replaced, phi) != phi {
            continue;
        }
        let mut only = None;
        let mut several = operands[number as usize].is_empty();
        for &operand in &operands[number as usize] {
            let operand = root(&mut replaced, operand);
            if operand == phi || only == Some(operand) {
                continue;
            }
            if only.replace(operand).is_some() {
                several = true;
                break;
            }
        }
        if let (Some(only), false) = (only, several) {
            replaced[phi.0 as usize] = only;
            // Those who took this phi take the other now.
            let mine = std::mem::take(&mut users[number as usize]);
            pending.extend(&mine);
            let other = place[only.0 as usize] as usize;
            if let Some(users) = users.get_mut(other) {
                users.extend(mine);
            }
        }
    }
    for at in 0..count {
        let value = root(&mut replaced, Value(at as u32));
        replaced[at] = value;
    }
    replaced
}
