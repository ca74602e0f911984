//! Which basic blocks have run: the file `coverage.hsb`.
//!
//! After the header, which is like a segment's, comes a byte for each block, by its
//! number: 0 if it has not run. What the file does not have has not run either. The
//! recorder maps the file, so that it is right whenever the process ends; what the
//! numbers mean stands in the dictionary ([`super::dictionary::Method::blocks`]).

use super::block::{SEGMENT_HEADER, check_header};
use super::error::Error;

/// What the file starts with.
pub const MAGIC: &[u8; 8] = b"HSBLOCK\n";
/// Bytes before that of the first block.
pub const HEADER: usize = SEGMENT_HEADER;

/// The header of the file.
pub fn file_header() -> [u8; HEADER] {
    super::block::file_header(MAGIC)
}

/// Which blocks have run.
#[derive(Debug, Clone, Default)]
pub struct Coverage(Vec<u8>);

impl Coverage {
    /// Takes the bytes of the file.
    ///
    /// # Errors
    ///
    /// Fails if it is none, or of a later version.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Error> {
        check_header(&bytes, MAGIC)?;
        Ok(Self(bytes))
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
        let coverage = Coverage::read(bytes).expect("it is one");
        let run: Vec<bool> = (0..5).map(|block| coverage.has_run(block)).collect();
        assert_eq!(run, [false, true, false, false, false]);
        assert!(!coverage.has_run(u32::MAX));
        Coverage::read(b"HSBLOCK\n".to_vec()).expect_err("it is cut");
        Coverage::read(super::super::block::segment_header().to_vec()).expect_err("a segment");
    }
}
