//! A cursor over big-endian bytes.

use crate::{Error, ErrorKind};

/// Reads big-endian values from a piece of a class file.
///
/// It knows the offset of the piece in the file, which errors report.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The bytes that are not read yet.
    rest: &'a [u8],
    /// The number of bytes at the beginning.
    len: usize,
    /// The offset of the first byte in the file.
    base: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`, which stand `base` bytes into the file.
    #[inline]
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
            base,
        }
    }

    /// The number of bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The position in bytes from the start of the file.
    #[inline]
    pub fn offset(&self) -> usize {
        self.base.saturating_add(self.position())
    }

    /// The number of bytes not yet read.
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

    /// Reads one unsigned byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads two bytes, unsigned.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads four bytes, unsigned.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads four bytes, signed.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, Error> {
        self.array().map(i32::from_be_bytes)
    }

    /// Reads a length in four bytes, and that many bytes.
    #[inline]
    pub fn bytes_u32(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u32()?;
        // On a machine where the length does not fit, the bytes do not either.
        self.bytes(usize::try_from(len).unwrap_or(usize::MAX))
    }
}
