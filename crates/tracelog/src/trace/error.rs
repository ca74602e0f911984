//! What can be wrong with a trace.

use std::fmt;

/// A violation of the format in a piece of a trace, and its offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    /// Bytes from the start of the piece.
    offset: usize,
}

/// What was wrong. Match on this; print the [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An event has an unknown tag.
    UnknownTag {
        /// The event's first byte.
        tag: u8,
    },
    /// The last event is not whole.
    EventCut,
    /// A column has fewer values than the events need.
    ColumnEnds,
    /// A varint has more digits than its type allows.
    LongNumber,
    /// The payload cannot be unpacked.
    Compression,
    /// A header's checksum does not match.
    HeaderSum,
    /// A payload's checksum does not match.
    PayloadSum,
    /// A length exceeds its bound.
    TooLong,
    /// The file ends within a block or record.
    Cut,
    /// The file is not part of a trace.
    Magic,
    /// The file was written by a later version.
    Version {
        /// The version in the file.
        version: u32,
    },
    /// The byte of a basic block is neither 0 nor 1.
    BlockByte,
    /// The bytes of the basic blocks are not those with which the recording ended.
    BlockSum,
    /// A record of the dictionary cannot be decoded.
    Record,
    /// The file cannot be read.
    Io {
        /// The kind of the I/O error.
        kind: std::io::ErrorKind,
    },
}

impl Error {
    #[cold]
    pub(super) fn at(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    #[cold]
    pub(super) fn io(error: &std::io::Error, offset: u64) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => ErrorKind::Cut,
            kind => ErrorKind::Io { kind },
        };
        Self::at(kind, usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// The same error in a piece that begins at `offset`.
    #[cold]
    pub(super) fn after(mut self, offset: u64) -> Self {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        self.offset = self.offset.saturating_add(offset);
        self
    }

    /// What was wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::UnknownTag { tag } => write!(f, "unknown kind of event {tag}")?,
            ErrorKind::EventCut => f.write_str("the last event is not whole")?,
            ErrorKind::ColumnEnds => f.write_str("a column ends too early")?,
            ErrorKind::LongNumber => f.write_str("a number is too long")?,
            ErrorKind::Compression => f.write_str("the block cannot be unpacked")?,
            ErrorKind::HeaderSum => f.write_str("a header's checksum does not fit")?,
            ErrorKind::PayloadSum => f.write_str("a block's checksum does not fit")?,
            ErrorKind::TooLong => f.write_str("a length is beyond all bounds")?,
            ErrorKind::Cut => f.write_str("the file ends within a record")?,
            ErrorKind::Magic => f.write_str("not a part of a trace")?,
            ErrorKind::Version { version } => write!(
                f,
                "trace format {version} is newer than {}, the newest known; use a newer hindsight",
                super::VERSION
            )?,
            ErrorKind::BlockByte => f.write_str("the byte of a block is neither 0 nor 1")?,
            ErrorKind::BlockSum => {
                f.write_str("the bytes of blocks are not those that the recording ended with")?;
            }
            ErrorKind::Record => f.write_str("a record cannot be understood")?,
            ErrorKind::Io { kind } => write!(f, "{kind}")?,
        }
        write!(f, " (at offset {:#x})", self.offset)
    }
}

impl std::error::Error for Error {}
