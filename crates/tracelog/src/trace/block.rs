//! Segments and their blocks: headers, and what is known of a block without unpacking it.

use super::error::{Error, ErrorKind};
use super::model::{SERIAL, put_varint};
use super::unpack::ObjectId;

/// The bytes that a segment starts with.
pub const SEGMENT_MAGIC: &[u8; 8] = b"HSTRACE\n";
/// The number of bytes of a segment's header.
pub const SEGMENT_HEADER: usize = 16;
/// The bytes that a block starts with.
pub const BLOCK_MAGIC: &[u8; 4] = b"HSBK";
/// The number of bytes of a block's header.
pub const BLOCK_HEADER: usize = 96;
/// The most bytes of events in a chunk.
pub const MAX_RAW: usize = 1 << 20;
/// The largest unpacked size of a payload: packing makes an event at most two bytes longer.
pub const MAX_PLAIN: usize = 2 * MAX_RAW;
/// The largest size of an index: each of its numbers takes an event of five bytes.
pub const MAX_INDEX: usize = MAX_RAW + FILTER;
/// The number of bytes of the filter of objects.
const FILTER: usize = 512;

/// The header of a segment.
pub fn segment_header() -> [u8; SEGMENT_HEADER] {
    file_header(SEGMENT_MAGIC)
}

/// The header of a file of a trace that begins with `magic`.
pub(super) fn file_header(magic: &[u8; 8]) -> [u8; SEGMENT_HEADER] {
    let mut header = [0; SEGMENT_HEADER];
    header[..8].copy_from_slice(magic);
    header[8..12].copy_from_slice(&super::VERSION.to_le_bytes());
    let sum = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// Checks the header of a segment or another file of a trace.
///
/// # Errors
///
/// Fails if it is not such a header, or of a later version.
pub fn check_header(header: &[u8], magic: &[u8; 8]) -> Result<(), Error> {
    let header: &[u8; SEGMENT_HEADER] = header
        .get(..SEGMENT_HEADER)
        .and_then(|header| header.try_into().ok())
        .ok_or(Error::at(ErrorKind::Cut, 0))?;
    if &header[..8] != magic {
        return Err(Error::at(ErrorKind::Magic, 0));
    }
    if crc32fast::hash(&header[..12]) != u32_at(header, 12) {
        return Err(Error::at(ErrorKind::HeaderSum, 0));
    }
    match u32_at(header, 8) {
        1..=super::VERSION => Ok(()),
        0 => Err(Error::at(ErrorKind::Magic, 8)),
        version => Err(Error::at(ErrorKind::Version { version }, 8)),
    }
}

/// The header of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// The recorder's number for the thread that wrote the block: a platform thread, which may have
    /// carried virtual ones.
    pub stream: u64,
    /// The place of the block in its stream, counting from 0.
    pub sequence: u64,
    /// The thread of the first events, as `Thread.getId` returns it.
    pub thread: u64,
    /// The stamp of the first events.
    pub stamp: u64,
    /// The stamp of the last events.
    pub last_stamp: u64,
    /// The time when the block was begun, in nanoseconds since 1970.
    pub time: u64,
    /// The number of events.
    pub events: u32,
    /// The number of bytes of the events before packing.
    pub raw_len: u32,
    /// The number of bytes of the columns.
    pub plain_len: u32,
    /// The number of bytes of the payload.
    pub stored_len: u32,
    /// CRC-32 of the payload.
    pub payload_sum: u32,
    /// The number of bytes of the index, which stands between header and payload.
    pub index_len: u32,
    /// The number of events lost in the block's time, according to its own events.
    pub lost: u64,
    /// Bit 0: the thread of the first events is virtual. Bit 1: the block is not part of its stream
    /// but a recap; see [`super::recap`].
    pub flags: u32,
}

impl Header {
    /// Whether the thread of the first events is virtual.
    pub fn is_virtual(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Bit 1 of the flags: the block is a recap.
    pub const RECAP: u32 = 2;

    /// Whether the block is a recap: it lists the calls that are active behind the block of its
    /// sequence number.
    pub fn is_recap(&self) -> bool {
        self.flags & Self::RECAP != 0
    }

    /// The number of bytes of the whole block.
    pub fn total_len(&self) -> u64 {
        BLOCK_HEADER as u64 + u64::from(self.index_len) + u64::from(self.stored_len)
    }

    pub(super) fn write(&mut self, index: &Index, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + BLOCK_HEADER, 0);
        index.write(out);
        self.index_len = (out.len() - start - BLOCK_HEADER) as u32;
        self.stored_len = payload.len() as u32;
        self.payload_sum = crc32fast::hash(payload);
        let fields = self.bytes();
        out[start..start + 4].copy_from_slice(BLOCK_MAGIC);
        out[start + 8..start + BLOCK_HEADER].copy_from_slice(&fields);
        let sum = crc32fast::hash(&out[start + 8..]);
        out[start + 4..start + 8].copy_from_slice(&sum.to_le_bytes());
        out.extend_from_slice(payload);
    }

    fn bytes(&self) -> [u8; BLOCK_HEADER - 8] {
        let mut bytes = [0; BLOCK_HEADER - 8];
        let longs = [
            self.stream,
            self.sequence,
            self.thread,
            self.stamp,
            self.last_stamp,
            self.time,
        ];
        for (place, long) in bytes.chunks_exact_mut(8).zip(longs) {
            place.copy_from_slice(&long.to_le_bytes());
        }
        let ints = [
            self.events,
            self.raw_len,
            self.plain_len,
            self.stored_len,
            self.payload_sum,
            self.index_len,
        ];
        for (place, int) in bytes[48..72].chunks_exact_mut(4).zip(ints) {
            place.copy_from_slice(&int.to_le_bytes());
        }
        bytes[72..80].copy_from_slice(&self.lost.to_le_bytes());
        bytes[80..84].copy_from_slice(&self.flags.to_le_bytes());
        bytes
    }

    /// The offset behind stream and sequence.
    pub(super) const ID_END: usize = 24;

    /// Stream and sequence of the block whose header begins with these bytes.
    pub(super) fn id(bytes: &[u8; BLOCK_HEADER]) -> (u64, u64) {
        (u64_at(bytes, 8), u64_at(bytes, 16))
    }

    /// Reads a header, whose checksum is still to be verified.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or if it claims what no block can have.
    pub fn read(bytes: &[u8; BLOCK_HEADER]) -> Result<Self, Error> {
        if &bytes[..4] != BLOCK_MAGIC {
            return Err(Error::at(ErrorKind::Magic, 0));
        }
        let (stream, sequence) = Self::id(bytes);
        let header = Self {
            stream,
            sequence,
            thread: u64_at(bytes, 24),
            stamp: u64_at(bytes, 32),
            last_stamp: u64_at(bytes, 40),
            time: u64_at(bytes, 48),
            events: u32_at(bytes, 56),
            raw_len: u32_at(bytes, 60),
            plain_len: u32_at(bytes, 64),
            stored_len: u32_at(bytes, 68),
            payload_sum: u32_at(bytes, 72),
            index_len: u32_at(bytes, 76),
            lost: u64_at(bytes, 80),
            flags: u32_at(bytes, 88),
        };
        let bounds = [
            (header.raw_len, MAX_RAW),
            (header.plain_len, MAX_PLAIN),
            (header.stored_len, MAX_PLAIN),
            (header.index_len, MAX_INDEX),
            (header.events, MAX_RAW),
        ];
        if bounds.iter().any(|&(len, most)| len as usize > most) {
            return Err(Error::at(ErrorKind::TooLong, 56));
        }
        Ok(header)
    }

    /// Verifies the checksum over the header and the index behind it.
    ///
    /// # Errors
    ///
    /// Fails if it does not match.
    pub fn check(bytes: &[u8; BLOCK_HEADER], index: &[u8]) -> Result<(), Error> {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[8..]);
        hasher.update(index);
        if hasher.finalize() == u32_at(bytes, 4) {
            Ok(())
        } else {
            Err(Error::at(ErrorKind::HeaderSum, 4))
        }
    }
}

/// What occurs in a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The methods to which the block's events belong (entries, ends, catches, ...), sorted.
    pub methods: Vec<u32>,
    /// The fields that are written and read, sorted.
    pub fields: Vec<u32>,
    /// The threads, sorted.
    pub threads: Vec<u64>,
    /// A bit for the hash of each object; empty if there are none.
    objects: Vec<u8>,
}

impl Index {
    #[inline]
    pub(super) fn add_object(&mut self, reference: u64) {
        if reference != 0 {
            if self.objects.is_empty() {
                self.objects = vec![0; FILTER];
            }
            let (byte, bit) = filter_place(reference & SERIAL);
            self.objects[byte] |= bit;
        }
    }

    /// Whether an object may occur in the block. The answer is never wrongly no, and now and then
    /// wrongly yes.
    pub fn may_have(&self, object: ObjectId) -> bool {
        let (byte, bit) = filter_place(object.serial());
        self.objects.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let lists: [&mut dyn Iterator<Item = u64>; 3] = [
            &mut self.methods.iter().map(|&id| u64::from(id)),
            &mut self.fields.iter().map(|&id| u64::from(id)),
            &mut self.threads.iter().copied(),
        ];
        let lens = [self.methods.len(), self.fields.len(), self.threads.len()];
        for (list, len) in lists.into_iter().zip(lens) {
            put_varint(out, len as u64);
            let mut last = 0;
            for value in list {
                put_varint(out, value.wrapping_sub(last));
                last = value;
            }
        }
        out.extend_from_slice(&self.objects);
    }

    /// Reads an index.
    ///
    /// # Errors
    ///
    /// Fails if it makes no sense.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut at = 0;
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for list in &mut lists {
            let len = varint(bytes, &mut at)?;
            let mut last = 0u64;
            // Each number takes at least a byte, so a false count ends soon.
            for _ in 0..len {
                last = last.wrapping_add(varint(bytes, &mut at)?);
                list.push(last);
            }
        }
        let [methods, fields, threads] = lists;
        let objects = bytes.get(at..).unwrap_or_default();
        if !objects.is_empty() && objects.len() != FILTER {
            return Err(Error::at(ErrorKind::Record, at));
        }
        Ok(Self {
            methods: methods.into_iter().map(|id| id as u32).collect(),
            fields: fields.into_iter().map(|id| id as u32).collect(),
            threads,
            objects: objects.to_vec(),
        })
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Error> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or(Error::at(ErrorKind::Cut, *at))?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Error::at(ErrorKind::LongNumber, *at))
}

fn filter_place(serial: u64) -> (usize, u8) {
    let hash = serial.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 12);
    ((hash >> 3) as usize, 1 << (hash & 7))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}
