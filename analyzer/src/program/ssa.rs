//! Bodies as three-address code in which each value is assigned once.
//!
//! The operand stack is gone: what instructions pushed and popped are operands
//! now. Where paths meet, a [`Op::Phi`] chooses by the edge that was taken.
//! Every instruction keeps the place of the bytecode it comes from.
//!
//! The way there is simple: local variables and stack entries are variables
//! alike. A block that reads one which it has not written asks for its value at
//! the block's start, which becomes a phi of what the blocks before it leave;
//! phis that choose between one value are taken away at the end. Only what is
//! read is asked for.
//!
//! **Invariant:** each value is defined once, and its definition dominates each
//! use (for operands of a phi: the end of the edge's block, or its start if the
//! edge is one to a handler).

mod build;
#[cfg(test)]
mod interpret;
#[cfg(test)]
pub(super) mod tests;
use super::cfg::{self, Cfg};
use hindsight_classfile::{Code, ConstantPool, MethodDescriptor};

/// A value's number: its place in [`Body::kinds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// What a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `boolean`, `byte`, `char`, `short` and `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A reference.
    Ref,
}

/// What an instruction does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The argument of this number; `this` is the first of instance methods.
    Param(u16),
    /// Chooses the operand of the edge by which its block was entered; edges as
    /// in [`Block::before`].
    Phi,
    /// What a handler catches.
    Catch,
    /// A variable that nothing was written to on this path.
    Undefined,
    /// A constant of the instruction itself.
    Int(i32),
    /// `lconst`.
    Long(i64),
    /// `fconst`, as bits.
    Float(u32),
    /// `dconst`, as bits.
    Double(u64),
    /// `aconst_null`.
    Null,
    /// A constant of the pool.
    Constant(u16),
    /// Arithmetic, comparison, conversion: by opcode. `iinc` is an `iadd`.
    Compute(u8),
    /// Object.
    GetField(u16),
    /// Object, value.
    PutField(u16),
    /// Reads a static field.
    GetStatic(u16),
    /// Value.
    PutStatic(u16),
    /// Array, index: by opcode.
    ArrayLoad(u8),
    /// Array, index, value: by opcode.
    ArrayStore(u8),
    /// Array.
    ArrayLength,
    /// A new object of this class constant.
    New(u16),
    /// Length; a new array of a primitive type.
    NewPrimitiveArray(u8),
    /// Length; the class constant is that of an element.
    NewArray(u16),
    /// Lengths; the class constant is that of the array.
    NewMultiArray(u16),
    /// A call by opcode and constant; the receiver is the first operand.
    Invoke(u8, u16),
    /// Object; the same object, if it is of this class.
    CheckCast(u16),
    /// Object.
    InstanceOf(u16),
    /// Object.
    Monitor(u8),
    /// Throwable. Ends the block.
    Throw,
    /// Value, if there is one. Ends the block.
    Return,
    /// One or two values, by opcode. Ends the block.
    Branch(u8),
    /// A key. Ends the block.
    Switch,
}

/// An instruction.
#[derive(Debug, Clone, Copy)]
pub struct Insn {
    /// What it does.
    pub op: Op,
    /// Where it stands in the bytecode; phis and catches stand at their
    /// block's start.
    pub pc: u16,
    /// What it makes.
    pub result: Option<Value>,
    operands: (u32, u32),
}

/// An edge to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where it comes from.
    pub from: u32,
    /// Whether it is taken by an exception.
    pub thrown: bool,
}

/// A block; its number is the one it has in the [`Cfg`].
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Its instructions, phis first: a range of [`Body::insns`].
    pub insns: (u32, u32),
    /// What leads to it.
    pub before: Vec<Edge>,
}

/// A body in three-address code.
#[derive(Debug)]
pub struct Body {
    /// The control flow.
    pub cfg: Cfg,
    /// Reachable blocks in reverse postorder, the entry first.
    pub order: Vec<u32>,
    /// Blocks by their numbers; those that nothing leads to are empty.
    pub blocks: Vec<Block>,
    /// All instructions.
    pub insns: Vec<Insn>,
    /// Kinds of the values.
    pub kinds: Vec<Kind>,
    /// How many arguments there are, `this` counted.
    pub params: u16,
    operands: Vec<Value>,
}

/// Why there is no three-address code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no control flow.
    #[error(transparent)]
    Flow(#[from] cfg::Error),
    /// The operand stack underflows, or holds something else than the
    /// instruction takes.
    #[error("the operand stack does not fit the instruction (at {0})")]
    Stack(u32),
    /// A constant that an instruction refers to is missing or another one.
    #[error("malformed code: {0}")]
    Malformed(#[from] hindsight_classfile::Error),
    /// So many values that only an attacker can have made them.
    #[error("it has too many values")]
    TooLarge,
}

impl Body {
    /// Turns a body into three-address code.
    ///
    /// # Errors
    ///
    /// Fails if the code breaks the rules of the format, or has subroutines.
    pub fn new(
        pool: &ConstantPool<'_>,
        code: &Code<'_>,
        is_static: bool,
        descriptor: &MethodDescriptor<'_>,
    ) -> Result<Body, Error> {
        build::body(pool, code, is_static, descriptor)
    }

    /// The operands of an instruction.
    pub fn operands(&self, insn: &Insn) -> &[Value] {
        &self.operands[insn.operands.0 as usize..insn.operands.1 as usize]
    }

    /// The instructions of a block, phis first.
    pub fn block(&self, block: u32) -> &[Insn] {
        let (start, end) = self.blocks[block as usize].insns;
        &self.insns[start as usize..end as usize]
    }

    /// The kind of a value.
    pub fn kind(&self, value: Value) -> Kind {
        self.kinds[value.0 as usize]
    }
}
