//! Chunks: the mapped memory that threads write their events to.
//!
//! A live file is a run of chunks of one size. Each begins with a header of [`HEADER`] bytes,
//! little-endian:
//!
//! ```text
//! 0   "HSCK"          4   state:u32 (1: in use)
//! 8   end:u64         address behind the last whole event
//! 16  base:u64        address of this chunk
//! 24  stream:u64     32  sequence:u64    40  stamp:u64    48  time:u64
//! 56  thread:u64     64  flags:u32       68  size:u32 of the chunk
//! 72  crc32 of the bytes from 16 to 72:u32
//! ```
//!
//! The writer stores an event, and then `end`. So whenever the process ends, everything before
//! `end` is whole.

use super::block::{Header, MAX_RAW, u32_at, u64_at};

/// The bytes that a chunk starts with.
pub const MAGIC: &[u8; 4] = b"HSCK";
/// The number of bytes before the first event.
pub const HEADER: usize = 128;
/// The offset of `state`.
pub const STATE: usize = 4;
/// The offset of `end`.
pub const END: usize = 8;
/// The sizes of chunks in bytes: a thread's first one, and all others.
pub const SIZES: [usize; 2] = [16 << 10, 128 << 10];

/// The header of a fresh chunk at `base`, with no event in it.
pub fn header(of: &Header, base: u64, size: usize) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..4].copy_from_slice(MAGIC);
    bytes[END..END + 8].copy_from_slice(&(base + HEADER as u64).to_le_bytes());
    let longs = [base, of.stream, of.sequence, of.stamp, of.time, of.thread];
    for (place, long) in bytes[16..64].chunks_exact_mut(8).zip(longs) {
        place.copy_from_slice(&long.to_le_bytes());
    }
    bytes[64..68].copy_from_slice(&of.flags.to_le_bytes());
    bytes[68..72].copy_from_slice(&(size as u32).to_le_bytes());
    let sum = crc32fast::hash(&bytes[16..72]);
    bytes[72..76].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The content of a chunk's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The stream, thread and stamps of its events; the sizes are not filled in.
    pub header: Header,
    /// The number of bytes of its events.
    pub len: usize,
    /// The number of bytes of the whole chunk.
    pub size: usize,
    /// Whether it holds events that are stored nowhere else.
    pub in_use: bool,
}

impl Chunk {
    /// Reads a chunk's header; `None` if there is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        if &bytes[..4] != MAGIC || crc32fast::hash(&bytes[16..72]) != u32_at(bytes, 72) {
            return None;
        }
        let size = u32_at(bytes, 68) as usize;
        let base = u64_at(bytes, 16);
        let end = u64_at(bytes, END).wrapping_sub(base);
        let len = usize::try_from(end).ok()?.checked_sub(HEADER)?;
        if size > MAX_RAW || len > size.checked_sub(HEADER)? {
            return None;
        }
        Some(Self {
            header: Header {
                stream: u64_at(bytes, 24),
                sequence: u64_at(bytes, 32),
                stamp: u64_at(bytes, 40),
                time: u64_at(bytes, 48),
                thread: u64_at(bytes, 56),
                flags: u32_at(bytes, 64),
                ..Header::default()
            },
            len,
            size,
            in_use: u32_at(bytes, STATE) == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_back() {
        let of = Header {
            stream: 3,
            sequence: 9,
            thread: 12,
            stamp: 88,
            time: 1 << 60,
            flags: 1,
            ..Header::default()
        };
        let mut bytes = header(&of, 0x7f00_0000_0000, SIZES[0]);
        let chunk = Chunk::read(&bytes).expect("it is one");
        assert_eq!((chunk.header, chunk.len, chunk.size), (of, 0, SIZES[0]));
        assert!(!chunk.in_use);
        bytes[END] += 7;
        assert_eq!(Chunk::read(&bytes).map(|chunk| chunk.len), Some(7));
        bytes[30] ^= 1;
        assert_eq!(Chunk::read(&bytes), None);
    }
}
