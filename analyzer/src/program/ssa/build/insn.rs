//! What each instruction of the bytecode takes from the stack, and leaves on it.

use super::{Builder, Result, is_wide, kind_of};
use crate::program::ssa::{Error, Insn, Kind, Op, Value};
use hindsight_classfile::opcode as oc;
use hindsight_classfile::{self as classfile, Constant, FieldType, MethodDescriptor, Operand};

impl Builder<'_> {
    pub(super) fn insn(&mut self, insn: &classfile::Insn<'_>) -> Result<()> {
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
                // The instruction takes nothing from the stack, so nothing is checked.
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

    fn category(&self, value: Value) -> usize {
        1 + usize::from(is_wide(self.kinds[value.0 as usize]))
    }

    /// Implements the `dup` instructions: copies the topmost values, of `size` slots together,
    /// below the next ones, which take `under` slots.
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
}
