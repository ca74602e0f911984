//! Finding the blocks of a trace's files.

use std::collections::HashMap;

use super::{Block, Damage, Source};
use crate::trace::block::{
    BLOCK_HEADER, BLOCK_MAGIC, Header, SEGMENT_HEADER, SEGMENT_MAGIC, check_header,
};
use crate::trace::chunk::{self, Chunk};
use crate::trace::error::{Error, ErrorKind};

/// How often a chunk is read again if it gets another owner meanwhile.
const MAX_READ: usize = 8;
/// The number of bytes that a search for the next block reads at once.
const WINDOW: usize = 64 << 10;

/// The bytes of indexes whose checksum may be computed in vain, besides the next constant for each
/// earlier byte of the file. Where every few bytes claim to be a header with a large index, reading
/// would otherwise take time quadratic in the file's size.
const FREE_SUMS: u64 = 16 << 20;
const SUMS_A_BYTE: u64 = 8;

/// The state of reading headers and verifying their checksums.
#[derive(Default)]
struct Sums {
    index: Vec<u8>,
    /// The number of bytes whose checksum was computed in vain.
    wasted: u64,
}

/// Stream and sequence of a block.
pub(super) type BlockId = (u64, u64);

/// Finds a segment's blocks. For a block that the end of the file cuts off, `ends` gets its index
/// in `damage`, and its id if that much of it is there.
pub(super) fn scan_segment<S: Source>(
    file: usize,
    source: &S,
    blocks: &mut Vec<Block>,
    damage: &mut Vec<Damage>,
    ends: &mut Vec<(usize, Option<BlockId>)>,
) -> Result<(), Error> {
    let io = |offset| move |error| Error::io(&error, offset);
    let len = source.len().map_err(io(0))?;
    let mut at = SEGMENT_HEADER as u64;
    let mut header = [0; SEGMENT_HEADER];
    if len < at {
        // A process that ended at this point had written nothing yet.
        if len > 0 {
            let error = Error::at(ErrorKind::Cut, 0);
            damage.push(Damage { file, error });
        }
        return Ok(());
    }
    source.read_at(0, &mut header).map_err(io(0))?;
    let mut sums = Sums::default();
    match check_header(&header, SEGMENT_MAGIC) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), ErrorKind::Version { .. }) => return Err(error),
        Err(error) => {
            // Only the header may be damaged: the file's blocks may be sound all the same, and
            // other segments are.
            damage.push(Damage { file, error });
            match find_block(source, 0, len, &mut sums) {
                Some(first) => at = first,
                None => return Ok(()),
            }
        }
    }
    let mut len = len;
    while at < len {
        let mut found = read_header(source, at, len, &mut sums);
        // A process that still runs may just be writing it.
        for _ in 0..MAX_READ {
            let is_cut = matches!(&found, Err(error) if error.kind() == ErrorKind::Cut);
            let grown = source.len().unwrap_or(len);
            if !is_cut || grown <= len {
                break;
            }
            len = grown;
            found = read_header(source, at, len, &mut sums);
        }
        match found {
            Ok(header) => {
                let total = header.total_len();
                blocks.push(Block {
                    file,
                    offset: at,
                    header,
                    live: false,
                });
                at += total;
            }
            Err(error) => {
                let is_cut = error.kind() == ErrorKind::Cut;
                damage.push(Damage { file, error });
                match find_block(source, at + 1, len, &mut sums) {
                    Some(next) => at = next,
                    None if is_cut => {
                        ends.push((damage.len() - 1, block_at(source, at, len)));
                        break;
                    }
                    None => break,
                }
            }
        }
    }
    Ok(())
}

/// The id of the block that begins at `at`, if the file goes on so far.
fn block_at<S: Source>(source: &S, at: u64, len: u64) -> Option<BlockId> {
    let mut bytes = [0; BLOCK_HEADER];
    let known = bytes.get_mut(..Header::ID_END)?;
    if known.len() as u64 > len - at {
        return None;
    }
    source.read_at(at, known).ok()?;
    Some(Header::id(&bytes))
}

/// Reads the header of the block at `at` and its index.
fn read_header<S: Source>(source: &S, at: u64, len: u64, sums: &mut Sums) -> Result<Header, Error> {
    let cut = || Error::at(ErrorKind::Cut, usize::try_from(at).unwrap_or(usize::MAX));
    let io = |error| Error::io(&error, at);
    if at + BLOCK_HEADER as u64 > len {
        return Err(cut());
    }
    let mut bytes = [0; BLOCK_HEADER];
    source.read_at(at, &mut bytes).map_err(io)?;
    let header = Header::read(&bytes).map_err(|error| error.after(at))?;
    if header.total_len() > len - at {
        return Err(cut());
    }
    let Sums { index, wasted } = sums;
    let summed = *wasted + u64::from(header.index_len);
    if summed > FREE_SUMS.saturating_add(at.saturating_mul(SUMS_A_BYTE)) {
        return Err(Error::at(ErrorKind::HeaderSum, 4).after(at));
    }
    index.clear();
    index.resize(header.index_len as usize, 0);
    source
        .read_at(at + BLOCK_HEADER as u64, index)
        .map_err(io)?;
    Header::check(&bytes, index).map_err(|error| {
        *wasted = summed;
        error.after(at)
    })?;
    Ok(header)
}

/// Finds the next block whose header is sound.
fn find_block<S: Source>(source: &S, from: u64, len: u64, sums: &mut Sums) -> Option<u64> {
    let mut window = vec![0; WINDOW];
    let mut at = from;
    while at < len {
        let size = usize::try_from(len - at).map_or(WINDOW, |left| left.min(WINDOW));
        let part = window.get_mut(..size)?;
        source.read_at(at, part).ok()?;
        let mut start = 0;
        while let Some(found) = part
            .get(start..)?
            .windows(BLOCK_MAGIC.len())
            .position(|bytes| bytes == BLOCK_MAGIC)
        {
            let place = at + (start + found) as u64;
            if read_header(source, place, len, sums).is_ok() {
                return Some(place);
            }
            start += found + 1;
        }
        // A magic number may lie across the border of two windows.
        at += (size.saturating_sub(BLOCK_MAGIC.len() - 1)).max(1) as u64;
    }
    None
}

/// Finds the chunks of a live file, and reads their events.
pub(super) fn scan_live<S: Source>(
    file: usize,
    source: &S,
    blocks: &mut Vec<Block>,
    chunks: &mut HashMap<(usize, u64), Vec<u8>>,
    damage: &mut Vec<Damage>,
) {
    let mut scan = || -> Result<(), Error> {
        let len = source.len().map_err(|error| Error::io(&error, 0))?;
        let mut at = 0;
        let mut header = [0; chunk::HEADER];
        let smallest = chunk::SIZES[0] as u64;
        while len - at >= chunk::HEADER as u64 {
            let mut found = None;
            for _ in 0..MAX_READ {
                source
                    .read_at(at, &mut header)
                    .map_err(|error| Error::io(&error, at))?;
                found = Chunk::read(&header);
                let Some(chunk) = found.filter(|chunk| chunk.in_use && chunk.len > 0) else {
                    break;
                };
                let mut events = vec![0; chunk.len];
                source
                    .read_at(at + chunk::HEADER as u64, &mut events)
                    .map_err(|error| Error::io(&error, at))?;
                source
                    .read_at(at, &mut header)
                    .map_err(|error| Error::io(&error, at))?;
                // Another thread may have taken over the chunk meanwhile.
                let after = Chunk::read(&header).filter(|after| after.in_use);
                if after.is_some_and(|after| after.header == chunk.header) {
                    let mut header = chunk.header;
                    header.raw_len = chunk.len as u32;
                    chunks.insert((file, at), events);
                    blocks.push(Block {
                        file,
                        offset: at,
                        header,
                        live: true,
                    });
                    break;
                }
            }
            // Chunks that were never used have no header.
            at += found
                .map_or(smallest, |chunk| chunk.size as u64)
                .max(smallest);
            if at > len {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = scan() {
        damage.push(Damage { file, error });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Packer;
    use crate::trace::block::segment_header;
    use std::cell::Cell;
    use std::io;

    /// A source that counts the bytes that are read of it.
    struct Counted {
        bytes: Vec<u8>,
        read: Cell<u64>,
    }

    impl Source for Counted {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.read.set(self.read.get() + buffer.len() as u64);
            self.bytes.read_at(at, buffer)
        }
    }

    #[test]
    fn headers_that_claim_large_indexes_cost_no_more_than_their_file() {
        let mut claim = [0; BLOCK_HEADER];
        claim[..BLOCK_MAGIC.len()].copy_from_slice(BLOCK_MAGIC);
        claim[76..80].copy_from_slice(&(1_u32 << 20).to_le_bytes());
        let mut bytes = segment_header().to_vec();
        bytes.extend(claim.repeat(4000));
        let first = bytes.len() as u64;
        let mut packer = Packer::new().expect("memory");
        packer
            .pack(&mut Header::default(), &[], &mut bytes)
            .expect("a block");
        bytes.resize(bytes.len() + (1 << 20), 0);
        let len = bytes.len() as u64;
        let source = Counted {
            bytes,
            read: Cell::new(0),
        };
        let mut blocks = Vec::new();
        scan_segment(0, &source, &mut blocks, &mut Vec::new(), &mut Vec::new()).expect("a segment");
        assert_eq!(
            blocks.iter().map(|block| block.offset).collect::<Vec<_>>(),
            [first]
        );
        let most = FREE_SUMS + 2 * SUMS_A_BYTE * len;
        assert!(source.read.get() < most, "{} of {len}", source.read.get());
    }
}
