//! Iterating over bytecode.

use crate::opcode::{self, Form, LENGTHS, OPCODES, Opcode};
use crate::{Error, ErrorKind, Reader};

/// An instruction as it stands in the bytecode.
#[derive(Debug, Clone, Copy)]
pub struct Insn<'a> {
    /// Bytes from the start of the method's bytecode.
    pub offset: usize,
    /// The opcode, which is the first byte; `wide` for widened instructions.
    pub opcode: u8,
    /// The bytes of the instruction, from its opcode on.
    pub bytes: &'a [u8],
}

/// The operands of an instruction. Jumps are given by their targets, counted from the start of the
/// bytecode; whether an instruction begins there is not checked.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// The instruction has no operands.
    None,
    /// The value of `bipush` and `sipush`.
    Int(i16),
    /// A local variable that is read or written, also one that the opcode implies.
    Local(u16),
    /// The operands of `iinc`.
    Iinc {
        /// The variable's slot.
        local: u16,
        /// The amount that is added.
        by: i16,
    },
    /// A constant's index.
    Constant(u16),
    /// The offset of a jump's target.
    Branch(usize),
    /// The targets of a switch.
    Switch(Switch<'a>),
    /// The element type of `newarray` (JVMS table 6.5.newarray-A).
    ArrayType(u8),
    /// The operands of `multianewarray`.
    MultiArray {
        /// The class constant of the array's type.
        class: u16,
        /// The number of dimensions that are allocated.
        dimensions: u8,
    },
}

/// The targets of a `tableswitch` or `lookupswitch`.
#[derive(Debug, Clone, Copy)]
pub struct Switch<'a> {
    offset: usize,
    default: i32,
    /// The lowest key of a `tableswitch`; `None` for a `lookupswitch`.
    low: Option<i32>,
    /// Jumps of four bytes each, or pairs of key and jump.
    entries: &'a [u8],
}

impl<'a> Insn<'a> {
    /// The instruction's name in the specification; for `wide`, that of the widened instruction.
    #[inline]
    pub fn name(&self) -> &'static str {
        OPCODES[usize::from(self.effective_opcode())].name
    }

    /// The opcode; for `wide`, that of the widened instruction.
    #[inline]
    pub fn effective_opcode(&self) -> u8 {
        if self.opcode == opcode::WIDE {
            self.byte(1)
        } else {
            self.opcode
        }
    }

    /// The offset behind the instruction.
    #[inline]
    pub fn end(&self) -> usize {
        self.offset + self.bytes.len()
    }

    // The length was checked when the instruction was read.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn half(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.byte(at), self.byte(at + 1)])
    }

    fn word(&self, at: usize) -> i32 {
        i32::from_be_bytes([
            self.byte(at),
            self.byte(at + 1),
            self.byte(at + 2),
            self.byte(at + 3),
        ])
    }

    fn target(&self, jump: i32) -> Result<usize, Error> {
        target(self.offset, jump).ok_or_else(|| Error::new(ErrorKind::BadOperand, self.offset))
    }

    /// The two bytes after the opcode, which are the operand of instructions that refer to a
    /// constant. Zero where there are fewer bytes.
    #[inline]
    pub fn constant(&self) -> u16 {
        self.half(1)
    }

    /// Decodes the operands. Fails if a jump leads before the bytecode.
    #[inline(always)]
    pub fn operand(&self) -> Result<Operand<'a>, Error> {
        Ok(match OPCODES[usize::from(self.opcode)].form {
            Form::None | Form::Invalid => Operand::None,
            Form::Byte => Operand::Int(i16::from(self.byte(1).cast_signed())),
            Form::Short => Operand::Int(self.half(1).cast_signed()),
            Form::Local => Operand::Local(u16::from(self.byte(1))),
            Form::LocalAt(local) => Operand::Local(u16::from(local)),
            Form::Iinc => Operand::Iinc {
                local: u16::from(self.byte(1)),
                by: i16::from(self.byte(2).cast_signed()),
            },
            Form::Constant1 => Operand::Constant(u16::from(self.byte(1))),
            Form::Constant2 | Form::InvokeInterface | Form::InvokeDynamic => {
                Operand::Constant(self.half(1))
            }
            Form::Branch2 => Operand::Branch(self.target(self.half(1).cast_signed().into())?),
            Form::Branch4 => Operand::Branch(self.target(self.word(1))?),
            Form::TableSwitch | Form::LookupSwitch => {
                let at = 4 - (self.offset & 3);
                let default = self.word(at);
                // Reading has checked that this much is there.
                let (low, from) = if self.opcode == opcode::TABLESWITCH {
                    (Some(self.word(at + 4)), at + 12)
                } else {
                    (None, at + 8)
                };
                let entries = self.bytes.get(from..).unwrap_or(&[]);
                Operand::Switch(Switch {
                    offset: self.offset,
                    default,
                    low,
                    entries,
                })
            }
            Form::ArrayType => Operand::ArrayType(self.byte(1)),
            Form::MultiArray => Operand::MultiArray {
                class: self.half(1),
                dimensions: self.byte(3),
            },
            Form::Wide if self.byte(1) == opcode::IINC => Operand::Iinc {
                local: self.half(2),
                by: self.half(4).cast_signed(),
            },
            Form::Wide => Operand::Local(self.half(2)),
        })
    }
}

fn target(offset: usize, jump: i32) -> Option<usize> {
    offset.checked_add_signed(isize::try_from(jump).ok()?)
}

impl<'a> Switch<'a> {
    /// The default target, unless it lies before the bytecode.
    #[inline]
    pub fn default(&self) -> Option<usize> {
        target(self.offset, self.default)
    }

    /// The keys with their targets, in order, without the default.
    #[inline]
    pub fn cases(&self) -> impl Iterator<Item = (i32, Option<usize>)> + use<'a> {
        let Self {
            offset,
            low,
            entries,
            ..
        } = *self;
        let (words, _) = entries.as_chunks::<4>();
        let step = if low.is_some() { 1 } else { 2 };
        (0i32..)
            .zip(words.chunks_exact(step))
            .map(move |(n, entry)| {
                let word = |at: usize| entry.get(at).map_or(0, |&word| i32::from_be_bytes(word));
                match low {
                    // `high` is an i32, so this does not overflow.
                    Some(low) => (low.wrapping_add(n), target(offset, word(0))),
                    None => (word(0), target(offset, word(1))),
                }
            })
    }

    /// All targets, the default first.
    #[inline]
    pub fn targets(&self) -> impl Iterator<Item = Option<usize>> + use<'a> {
        std::iter::once(self.default()).chain(self.cases().map(|(_, target)| target))
    }
}

/// The instructions of a body, one after the other. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    bytecode: &'a [u8],
    at: usize,
    base: usize,
}

impl<'a> Instructions<'a> {
    /// Iterates over `bytecode`, which stands `base` bytes into the file.
    #[inline]
    pub fn new(bytecode: &'a [u8], base: usize) -> Self {
        Self {
            bytecode,
            at: 0,
            base,
        }
    }

    #[inline]
    pub(crate) fn starting_at(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// The length of an instruction whose opcode does not decide it.
    #[cold]
    fn long_len(&self, row: &Opcode) -> Result<usize, Error> {
        let rest = self.bytecode.get(self.at..).unwrap_or(&[]);
        let padding = 3 - (self.at & 3);
        let mut r = Reader::new(rest, self.base.saturating_add(self.at));
        let opcode = r.u8()?;
        let bad = Error::new(ErrorKind::BadOperand, r.offset());
        match row.form {
            Form::TableSwitch => {
                r.bytes(padding + 4)?;
                let (low, high) = (i64::from(r.i32()?), i64::from(r.i32()?));
                let count = high
                    .checked_sub(low)
                    .and_then(|n| n.checked_add(1))
                    .ok_or(bad)?;
                let count = usize::try_from(count)
                    .ok()
                    .filter(|&n| n > 0 && n <= 0xffff);
                r.bytes(4 * count.ok_or(bad)?)?;
            }
            Form::LookupSwitch => {
                r.bytes(padding + 4)?;
                let count = usize::try_from(r.i32()?).ok().filter(|&n| n <= 0xffff);
                r.bytes(8 * count.ok_or(bad)?)?;
            }
            Form::Wide => {
                let widened = r.u8()?;
                match OPCODES[usize::from(widened)].form {
                    Form::Local => r.bytes(2)?,
                    Form::Iinc => r.bytes(4)?,
                    _ => return Err(bad),
                };
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::BadOpcode(opcode),
                    self.base + self.at,
                ));
            }
        }
        Ok(r.position())
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Insn<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        let &opcode = self.bytecode.get(offset)?;
        let len = match LENGTHS[usize::from(opcode)] {
            0 => match self.long_len(&OPCODES[usize::from(opcode)]) {
                Ok(len) => len,
                Err(error) => {
                    self.at = self.bytecode.len();
                    return Some(Err(error));
                }
            },
            len => usize::from(len),
        };
        match self.bytecode.get(offset..offset + len) {
            Some(bytes) => {
                self.at = offset + len;
                Some(Ok(Insn {
                    offset,
                    opcode,
                    bytes,
                }))
            }
            None => {
                self.at = self.bytecode.len();
                Some(Err(Error::new(
                    ErrorKind::UnexpectedEnd,
                    self.base.saturating_add(offset),
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytecode: &[u8]) -> Result<Vec<Insn<'_>>, Error> {
        Instructions::new(bytecode, 0).collect()
    }

    #[test]
    fn switches_are_padded_to_four() {
        // nop; tableswitch 5..6, default +15; lookupswitch -1, default -24
        let bytecode = [
            0, 0xaa, 0, 0, 0, 0, 0, 15, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, //
            0xab, 0, 0, 0, 0xff, 0xff, 0xff, 0xe8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 3,
        ];
        let insns = read(&bytecode).unwrap();
        let ends: Vec<_> = insns.iter().map(Insn::end).collect();
        assert_eq!(ends, [1, 24, 44]);
        let Operand::Switch(table) = insns[1].operand().unwrap() else {
            panic!()
        };
        assert_eq!(table.default(), Some(16));
        assert_eq!(
            table.cases().collect::<Vec<_>>(),
            [(5, Some(2)), (6, Some(3))]
        );
        let Operand::Switch(lookup) = insns[2].operand().unwrap() else {
            panic!()
        };
        assert_eq!(lookup.targets().collect::<Vec<_>>(), [Some(0), Some(27)]);
    }

    #[test]
    fn wide_and_implied_locals() {
        // wide iinc 256 -2; astore_3; wide ret 1
        let insns = read(&[0xc4, 0x84, 1, 0, 0xff, 0xfe, 0x4e, 0xc4, 0xa9, 0, 1]).unwrap();
        assert!(matches!(
            insns[0].operand(),
            Ok(Operand::Iinc { local: 256, by: -2 })
        ));
        assert!(matches!(insns[1].operand(), Ok(Operand::Local(3))));
        assert_eq!(
            (insns[2].name(), insns[2].effective_opcode()),
            ("ret", opcode::RET)
        );
    }

    #[test]
    fn what_is_no_code() {
        for bad in [
            &[0xca][..],
            &[0x10],
            &[0xc4, 0],
            &[0xc4],
            // A lookupswitch that claims 2^31-1 pairs, and one of -1.
            &[0xab, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff],
            &[0xab, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
            // A tableswitch from 1 to 0.
            &[0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_the_end_or_to_an_error(bytecode: Vec<u8>) {
            let mut end = 0;
            for insn in Instructions::new(&bytecode, 0) {
                let Ok(insn) = insn else { return Ok(()) };
                prop_assert_eq!(insn.offset, end);
                end = insn.end();
                if let Ok(Operand::Switch(switch)) = insn.operand() {
                    let _ = switch.targets().count();
                }
            }
            prop_assert_eq!(end, bytecode.len());
        }
    }
}
