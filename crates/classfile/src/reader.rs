//! A cursor over big-endian bytes.

use crate::{Error, ErrorKind};

/// Reads big-endian values from a piece of a class file.
///
/// Knows where the piece stands in the file, so that errors can say it.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// What is not read yet.
    rest: &'a [u8],
    /// How many bytes there were at first.
    len: usize,
    /// Where the first of them stands in the file.
    base: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first of `bytes`, which stand `base` bytes into the file.
    #[inline]
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
            base,
        }
    }

    /// Bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The same in bytes from the start of the file.
    #[inline]
    pub fn offset(&self) -> usize {
        self.base.saturating_add(self.position())
    }

    /// Bytes not yet read.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all bytes are read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// An error at the current position.
    #[cold]
    #[inline]
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.offset())
    }

    /// The next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Error> {
        match self.rest.split_at_checked(len) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.error(ErrorKind::UnexpectedEnd)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        match self.rest.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(self.error(ErrorKind::UnexpectedEnd)),
        }
    }

    /// One unsigned byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes, unsigned.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes, unsigned.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    /// Four bytes, signed.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, Error> {
        self.array().map(i32::from_be_bytes)
    }

    /// A length in four bytes, and so many bytes.
    #[inline]
    pub fn bytes_u32(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u32()?;
        // On a machine where this does not fit, neither do the bytes.
        self.bytes(usize::try_from(len).unwrap_or(usize::MAX))
    }
}
