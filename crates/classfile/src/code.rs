//! A method's body (JVMS 4.7.3).

use crate::{Attribute, Attributes, Error, ErrorKind, Instructions, Reader};

/// The content of a `Code` attribute.
#[derive(Debug, Clone, Copy)]
pub struct Code<'a> {
    /// The greatest depth of the operand stack, in slots.
    pub max_stack: u16,
    /// The number of slots for local variables.
    pub max_locals: u16,
    /// The instructions: 1 to 65,535 bytes.
    pub bytecode: &'a [u8],
    /// The offset of the instructions in the file.
    pub bytecode_offset: usize,
    /// The exception table.
    pub handlers: Handlers<'a>,
    /// The attributes: `StackMapTable`, `LineNumberTable` and others.
    pub attributes: Attributes<'a>,
}

/// An entry of an exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The offset of the first instruction that it covers.
    pub start: u16,
    /// The offset behind the last instruction that it covers.
    pub end: u16,
    /// The offset at which the handler begins.
    pub handler: u16,
    /// The class constant of what it catches; 0 for everything.
    pub catch_type: u16,
}

impl<'a> Code<'a> {
    /// Reads the content of a `Code` attribute.
    #[inline]
    pub fn parse(attribute: &Attribute<'a>) -> Result<Self, Error> {
        let mut r = attribute.reader();
        let (max_stack, max_locals) = (r.u16()?, r.u16()?);
        let bytecode_offset = r.offset() + 4;
        let bytecode = r.bytes_u32()?;
        if bytecode.is_empty() || bytecode.len() > 0xffff {
            return Err(Error::new(ErrorKind::BadAttribute("Code"), bytecode_offset));
        }
        let count = r.u16()?;
        let handlers = Handlers(Reader::new(r.bytes(8 * usize::from(count))?, 0));
        let attributes = Attributes::parse(&mut r)?;
        if !r.is_empty() {
            return Err(r.error(ErrorKind::BadAttribute("Code")));
        }
        Ok(Self {
            max_stack,
            max_locals,
            bytecode,
            bytecode_offset,
            handlers,
            attributes,
        })
    }

    /// Iterates over the instructions.
    #[inline]
    pub fn instructions(&self) -> Instructions<'a> {
        self.instructions_from(0)
    }

    /// Iterates over the instructions from the one that begins at `offset` on.
    #[inline]
    pub fn instructions_from(&self, offset: usize) -> Instructions<'a> {
        Instructions::new(self.bytecode, self.bytecode_offset).starting_at(offset)
    }
}

/// The entries of an exception table, in its order. A copy can be iterated over independently.
#[derive(Debug, Clone, Copy)]
pub struct Handlers<'a>(Reader<'a>);

impl Handlers<'_> {
    /// The number of entries that are left.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.remaining() / 8
    }

    /// Whether no entries are left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Iterator for Handlers<'_> {
    type Item = Handler;

    #[inline]
    fn next(&mut self) -> Option<Handler> {
        let r = &mut self.0;
        Some(Handler {
            start: r.u16().ok()?,
            end: r.u16().ok()?,
            handler: r.u16().ok()?,
            catch_type: r.u16().ok()?,
        })
    }
}
