//! Records: framing, compression and checksums.

use crate::VERSION;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};

/// The bytes that a crash file starts with.
pub const MAGIC: &[u8; 8] = b"HSCRASH\n";
/// The number of bytes of the file header.
pub const FILE_HEADER: usize = 16;
/// The number of bytes of a record header.
pub const RECORD_HEADER: usize = 20;
/// The largest size that a payload may claim to have when unpacked. [`crate::writer::blocks`] stays
/// below.
pub const MAX_RAW: usize = 256 << 20;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The circumstances of the failure, a [`crate::crash::Meta`].
    Meta,
    /// The exception and its frames, a [`crate::crash::Failure`].
    Failure,
    /// A list of [`crate::crash::ClassInfo`].
    Classes,
    /// A block of objects, a [`crate::crash::ObjectBlock`].
    Objects,
    /// The number of records before this one. Its presence makes the file whole.
    End,
    /// A list of [`crate::crash::Origin`].
    Origins,
    /// A list of names of classes whose objects could not be restored.
    Unrestored,
    /// A kind of a later release of the same format version, which readers skip.
    Unknown(u32),
}

impl Kind {
    fn code(self) -> u32 {
        match self {
            Kind::Meta => 1,
            Kind::Failure => 2,
            Kind::Classes => 3,
            Kind::Objects => 4,
            Kind::End => 5,
            Kind::Origins => 6,
            Kind::Unrestored => 7,
            Kind::Unknown(code) => code,
        }
    }

    fn from_code(code: u32) -> Kind {
        match code {
            1 => Kind::Meta,
            2 => Kind::Failure,
            3 => Kind::Classes,
            4 => Kind::Objects,
            5 => Kind::End,
            6 => Kind::Origins,
            7 => Kind::Unrestored,
            other => Kind::Unknown(other),
        }
    }
}

/// The header of a file of the current version.
pub fn file_header() -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let crc = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// Packs one payload.
pub fn pack(kind: Kind, raw: &[u8]) -> Vec<u8> {
    let mut out = vec![0; RECORD_HEADER];
    // The fastest level: a crash must not hold up the dying thread, and level 1 already takes most
    // of what there is to gain from MessagePack.
    let mut encoder = DeflateEncoder::new(&mut out, Compression::fast());
    encoder
        .write_all(raw)
        .expect("writing to memory cannot fail");
    encoder.finish().expect("writing to memory cannot fail");
    let stored = out.len() - RECORD_HEADER;
    out[0..4].copy_from_slice(&kind.code().to_le_bytes());
    let raw_len = u32::try_from(raw.len()).unwrap_or(u32::MAX);
    out[4..8].copy_from_slice(&raw_len.to_le_bytes());
    out[8..12].copy_from_slice(&(stored as u32).to_le_bytes());
    let payload_crc = crc32fast::hash(&out[RECORD_HEADER..]);
    out[12..16].copy_from_slice(&payload_crc.to_le_bytes());
    let header_crc = crc32fast::hash(&out[..16]);
    out[16..20].copy_from_slice(&header_crc.to_le_bytes());
    out
}

/// Whether readers accept a packed record: its payload does not exceed [`MAX_RAW`].
pub fn is_taken(record: &[u8]) -> bool {
    find(record, 0).is_ok()
}

/// A record found in a file.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// What the record holds.
    pub kind: Kind,
    /// The packed payload.
    pub payload: &'a [u8],
    /// The number of bytes that the payload claims to have when unpacked.
    pub raw_len: usize,
    /// The offset at which the next record starts.
    pub next: usize,
    /// Whether the payload's checksum matches.
    pub sound: bool,
}

/// Reads the record at `offset`. `Err` says in words why there is none.
pub fn find(file: &[u8], offset: usize) -> Result<Found<'_>, &'static str> {
    let rest = file.get(offset..).unwrap_or_default();
    let header = rest
        .get(..RECORD_HEADER)
        .ok_or("the file ends within a record header")?;
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if crc32fast::hash(&header[..16]) != word(16) {
        return Err("a record header's checksum does not fit");
    }
    let raw_len = word(4) as usize;
    if raw_len > MAX_RAW {
        return Err("a record claims to be larger than any can be");
    }
    let stored = word(8) as usize;
    let end = RECORD_HEADER
        .checked_add(stored)
        .ok_or("a record's length overflows")?;
    let payload = rest
        .get(RECORD_HEADER..end)
        .ok_or("the file ends within a record")?;
    Ok(Found {
        kind: Kind::from_code(word(0)),
        payload,
        raw_len,
        next: offset + end,
        sound: crc32fast::hash(payload) == word(12),
    })
}

impl Found<'_> {
    /// Unpacks the payload; the result is never longer than the record claims.
    pub fn unpack(&self) -> Result<Vec<u8>, &'static str> {
        // Not `with_capacity(raw_len)`: the claim may be false, and memory should follow what is
        // really there.
        let mut raw = Vec::new();
        let limit = self.raw_len as u64 + 1;
        DeflateDecoder::new(self.payload)
            .take(limit)
            .read_to_end(&mut raw)
            .map_err(|_| "a record cannot be unpacked")?;
        if raw.len() == self.raw_len {
            Ok(raw)
        } else {
            Err("a record has not the length it claims")
        }
    }
}
