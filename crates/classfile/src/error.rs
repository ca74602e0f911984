//! The only error type of this crate.

use std::fmt;

/// A violation of the class-file format, and its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    /// Bytes from the start of the class file.
    offset: usize,
}

/// What was wrong. Match on this; print the [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the structure does.
    UnexpectedEnd,
    /// The file does not start with `CAFEBABE`.
    BadMagic,
    /// Bytes follow the last attribute.
    TrailingBytes,
    /// A constant of a kind that the format does not know.
    BadTag(u8),
    /// A constant-pool index is out of range, or leads to an entry of another kind.
    BadConstant {
        /// The index that was used.
        index: u16,
        /// The kind that was expected.
        expected: &'static str,
    },
    /// A field or method descriptor that does not follow the grammar.
    BadDescriptor,
    /// A byte that is not an opcode.
    BadOpcode(u8),
    /// An instruction whose operands make no sense.
    BadOperand,
    /// A stack-map frame that contradicts the frames before it.
    BadFrame,
    /// An attribute whose length and content disagree.
    BadAttribute(&'static str),
    /// Something exceeds what the format can hold.
    TooLarge(&'static str),
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What was wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The offset of the violation: bytes from the start of the class file, or from the start of a
    /// piece that was parsed on its own.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::UnexpectedEnd => write!(f, "class file ends too early")?,
            ErrorKind::BadMagic => write!(f, "not a class file")?,
            ErrorKind::TrailingBytes => write!(f, "bytes follow the class")?,
            ErrorKind::BadTag(tag) => write!(f, "unknown kind of constant {tag}")?,
            ErrorKind::BadConstant { index, expected } => {
                write!(f, "constant {index} is not a {expected}")?;
            }
            ErrorKind::BadDescriptor => write!(f, "malformed descriptor")?,
            ErrorKind::BadOpcode(opcode) => write!(f, "unknown opcode {opcode:#04x}")?,
            ErrorKind::BadOperand => write!(f, "malformed instruction")?,
            ErrorKind::BadFrame => write!(f, "malformed stack-map frame")?,
            ErrorKind::BadAttribute(name) => write!(f, "malformed attribute {name}")?,
            ErrorKind::TooLarge(what) => write!(f, "too many or too large: {what}")?,
        }
        write!(f, " (at offset {:#x})", self.offset)
    }
}

impl std::error::Error for Error {}
