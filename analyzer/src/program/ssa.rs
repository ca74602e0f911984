//! Bodies as three-address code in which each value is assigned once (static single assignment).
//!
//! The operand stack is gone: what instructions pushed and popped are operands now. Where paths
//! meet, a [`Op::Phi`] chooses by the edge that was taken. Every instruction keeps the offset of
//! the bytecode it comes from.
//!
//! The construction treats local variables and stack entries alike, as variables. A block that
//! reads a variable which it has not written asks for the value at the block's start, which becomes
//! a phi of the values that its predecessors leave; phis that choose between equal values are
//! removed at the end. Only variables that are read are asked for.
//!
//! - `build` makes bodies of bytecode; `interpret` runs them, in tests.
//!
//! **Invariant:** each value is defined once, and its definition dominates each use (for operands
//! of a phi: the end of the edge's block, or its start if the edge is one to a handler).

mod build;
#[cfg(test)]
mod interpret;
#[cfg(test)]
pub(super) mod tests;
use super::cfg::{self, Cfg};
use hindsight_classfile::{Code, ConstantPool, MethodDescriptor};

/// The number of a value, which is its index in [`Body::kinds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// The kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int,
    /// A `long`.
    Long,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A reference.
    Ref,
}

/// What an instruction does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The argument with this number; `this` is the first one of instance methods.
    Param(u16),
    /// Chooses the operand of the edge by which the block was entered; the edges are those of
    /// [`Block::before`].
    Phi,
    /// The exception that a handler catches.
    Catch,
    /// A variable that was not written on this path.
    Undefined,
    /// An `int` constant in the instruction itself.
    Int(i32),
    /// The constant of `lconst`.
    Long(i64),
    /// The constant of `fconst`, as bits.
    Float(u32),
    /// The constant of `dconst`, as bits.
    Double(u64),
    /// The constant of `aconst_null`.
    Null,
    /// A constant of the constant pool.
    Constant(u16),
    /// Arithmetic, comparison or conversion, given by its opcode. `iinc` becomes an `iadd`.
    Compute(u8),
    /// Reads an instance field. Operand: the object.
    GetField(u16),
    /// Writes an instance field. Operands: the object, the value.
    PutField(u16),
    /// Reads a static field.
    GetStatic(u16),
    /// Writes a static field. Operand: the value.
    PutStatic(u16),
    /// Reads an array element, given by the opcode. Operands: the array, the index.
    ArrayLoad(u8),
    /// Writes an array element, given by the opcode. Operands: the array, the index, the value.
    ArrayStore(u8),
    /// The length of an array. Operand: the array.
    ArrayLength,
    /// A new object of the class with this constant.
    New(u16),
    /// A new array of a primitive type. Operand: the length.
    NewPrimitiveArray(u8),
    /// A new array of references; the class constant is that of an element. Operand: the length.
    NewArray(u16),
    /// A new array of arrays; the class constant is that of the array. Operands: the lengths.
    NewMultiArray(u16),
    /// A call, given by opcode and constant; the receiver is the first operand.
    Invoke(u8, u16),
    /// The same object, if it is of this class. Operand: the object.
    CheckCast(u16),
    /// Whether an object is of this class. Operand: the object.
    InstanceOf(u16),
    /// Enters or leaves a monitor, given by the opcode. Operand: the object.
    Monitor(u8),
    /// Throws an exception. Operand: the throwable. Ends the block.
    Throw,
    /// Returns. Operand: the value, if there is one. Ends the block.
    Return,
    /// A conditional jump, given by the opcode. Operands: one or two values. Ends the block.
    Branch(u8),
    /// A switch. Operand: the key. Ends the block.
    Switch,
}

/// An instruction.
#[derive(Debug, Clone, Copy)]
pub struct Insn {
    /// The operation.
    pub op: Op,
    /// The offset of its bytecode; phis and catches have that of their block's start.
    pub pc: u16,
    /// The value that it defines.
    pub result: Option<Value>,
    operands: (u32, u32),
}

/// An edge to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The block in which the edge starts.
    pub from: u32,
    /// Whether the edge is taken by an exception.
    pub thrown: bool,
}

/// A block. Its number is the one that it has in the [`Cfg`].
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Its instructions, phis first, as a range of [`Body::insns`].
    pub insns: (u32, u32),
    /// The edges that lead to it.
    pub before: Vec<Edge>,
}

/// A body in three-address code.
#[derive(Debug)]
pub struct Body {
    /// The control flow.
    pub cfg: Cfg,
    /// The reachable blocks in reverse postorder, the entry first.
    pub order: Vec<u32>,
    /// The blocks by their numbers; unreachable ones are empty.
    pub blocks: Vec<Block>,
    /// All instructions.
    pub insns: Vec<Insn>,
    /// The kinds of the values.
    pub kinds: Vec<Kind>,
    /// The number of parameters, including `this`.
    pub params: u16,
    operands: Vec<Value>,
}

/// Why there is no three-address code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The body has no control flow.
    #[error(transparent)]
    Flow(#[from] cfg::Error),
    /// The operand stack underflows, or holds a value of another kind than the instruction takes.
    #[error("the operand stack does not fit the instruction (at {0})")]
    Stack(u32),
    /// A constant that an instruction refers to is missing or of another kind.
    #[error("malformed code: {0}")]
    Malformed(#[from] hindsight_classfile::Error),
    /// There are more values than any compiler's code has, which only an attack can have.
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
