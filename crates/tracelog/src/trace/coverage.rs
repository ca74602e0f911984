//! Which basic blocks have run: the file `coverage.hsb`.
//!
//! After the header, which is like a segment's, comes a byte for each block, by its number: 1 if it
//! has run, 0 if not. A block beyond the end of the file has not run either. The recorder maps the
//! file into memory, so that it is right whenever the process ends. The dictionary says what the
//! numbers mean ([`super::dictionary::Method::blocks`]), and holds the checksum of the file if the
//! recording ended in good order ([`super::dictionary::Stop::blocks`]).

use super::block::{SEGMENT_HEADER, check_header};
use super::error::{Error, ErrorKind};

/// The bytes that the file starts with.
pub const MAGIC: &[u8; 8] = b"HSBLOCK\n";
/// The number of bytes before the first block's byte.
pub const HEADER: usize = SEGMENT_HEADER;

/// The header of the file.
pub fn file_header() -> [u8; HEADER] {
    super::block::file_header(MAGIC)
}

/// The checksum of the bytes after the header.
pub fn checksum(blocks: &[u8]) -> u32 {
    crc32fast::hash(blocks)
}

/// Which blocks have run.
#[derive(Debug, Clone, Default)]
pub struct Coverage(Vec<u8>);

impl Coverage {
    /// Takes the bytes of the file.
    ///
    /// # Errors
    ///
    /// Fails if it is not such a file, or of a later version.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Error> {
        check_header(&bytes, MAGIC)?;
        Ok(Self(bytes))
    }

    /// What is wrong with the bytes, which are used all the same: one of them is neither 0 nor 1,
    /// or they are not those with which the recording ended.
    pub fn damage(&self, sum: Option<u32>) -> Option<Error> {
        let bytes = self.0.get(HEADER..).unwrap_or_default();
        if let Some(at) = bytes.iter().position(|byte| *byte > 1) {
            return Some(Error::at(ErrorKind::BlockByte, HEADER.saturating_add(at)));
        }
        let fits = sum.is_none_or(|sum| sum == checksum(bytes));
        (!fits).then(|| Error::at(ErrorKind::BlockSum, HEADER))
    }

    /// Whether a block has run.
    pub fn has_run(&self, block: u32) -> bool {
        let byte = HEADER.checked_add(block as usize);
        byte.and_then(|at| self.0.get(at))
            .is_some_and(|byte| *byte != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found() {
        let mut bytes = file_header().to_vec();
        bytes.extend([0, 1, 0]);
        let coverage = Coverage::read(bytes.clone()).expect("it is one");
        let run: Vec<bool> = (0..5).map(|block| coverage.has_run(block)).collect();
        assert_eq!(run, [false, true, false, false, false]);
        assert!(!coverage.has_run(u32::MAX));
        assert_eq!(coverage.damage(None), None);
        let sum = checksum(&[0, 1, 0]);
        assert_eq!(coverage.damage(Some(sum)), None);
        let told = |coverage: &Coverage, sum| coverage.damage(sum).map(|error| error.to_string());
        assert_eq!(
            told(&coverage, Some(sum ^ 1)).as_deref(),
            Some(
                "the bytes of blocks are not those that the recording ended with (at offset 0x10)"
            )
        );
        bytes[HEADER + 2] = 4;
        let coverage = Coverage::read(bytes).expect("it is one");
        assert!(coverage.has_run(1));
        assert_eq!(
            told(&coverage, None).as_deref(),
            Some("the byte of a block is neither 0 nor 1 (at offset 0x12)")
        );
        Coverage::read(b"HSBLOCK\n".to_vec()).expect_err("it is cut");
        Coverage::read(super::super::block::segment_header().to_vec()).expect_err("a segment");
    }
}
