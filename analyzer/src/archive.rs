//! Zip files as containers: reads and writes entries with all that describes them.
//!
//! - [`read`] reads archives.
//! - [`write`] writes archives.
//!
//! A rewritten jar must differ from the old one in its classes only, so what `zip` (which reads
//! class paths here) makes anew or cannot hold is carried along: entries of the same name,
//! comments, extra fields, the creator's attributes, names in any encoding, what precedes the first
//! entry (an executable jar's script, a jmod's magic) and what follows the directory. Data that is
//! not asked for is never unpacked.
//!
//! **Invariant:** memory is bounded by the central directory, and that by [`read::MAX_DIRECTORY`],
//! or less by [`read::Directory::read_up_to`]; data is passed on in pieces.

pub mod read;
pub mod write;

use std::fmt;
use std::io;

/// An entry of the central directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name, in the archive's encoding.
    pub name: Vec<u8>,
    /// The creator: the upper byte tells how to read `external`.
    pub made_by: u16,
    /// The version that is needed to unpack it.
    pub needed: u16,
    /// General-purpose flags.
    pub flags: u16,
    /// 0 for stored, 8 for deflated.
    pub method: u16,
    /// The time and date of its last change, in the format of DOS.
    pub time: [u8; 4],
    /// The CRC-32 of the content.
    pub crc: u32,
    /// The bytes of the packed content.
    pub packed: u64,
    /// The bytes of the content.
    pub size: u64,
    /// Internal attributes.
    pub internal: u16,
    /// External attributes: permissions and the like.
    pub external: u32,
    /// The extra fields, without those of zip64.
    pub extra: Vec<u8>,
    /// The comment.
    pub comment: Vec<u8>,
    /// The offset of the local header, from the start of the archive.
    pub offset: u64,
}

/// The method of entries that are stored as they are.
pub const STORED: u16 = 0;
/// The method of entries that are deflated.
pub const DEFLATED: u16 = 8;

impl Entry {
    /// The name as text, for people and for comparisons.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Whether the content is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Whether sizes also follow the content.
    pub fn has_descriptor(&self) -> bool {
        self.flags & 8 != 0
    }
}

/// The reason why an archive cannot be read.
#[derive(Debug)]
pub enum Error {
    /// It breaks the format.
    Corrupt {
        /// The violation.
        what: &'static str,
        /// The offset from the start, in bytes.
        offset: u64,
    },
    /// The file cannot be read.
    Io(io::Error),
}

impl Error {
    /// An error in the format, at this offset.
    pub fn corrupt(what: &'static str, offset: u64) -> Self {
        Self::Corrupt { what, offset }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt { what, offset } => write!(f, "{what} (at offset {offset:#x})"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// The little-endian number that begins at `at`; bytes that are missing are 0.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let bytes = bytes.get(at..).unwrap_or(&[]);
    let bytes = bytes.iter().take(len).rev();
    bytes.fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    number(bytes, at, 2) as u16
}

fn word(bytes: &[u8], at: usize) -> u32 {
    number(bytes, at, 4) as u32
}

/// The extra field of zip64.
const ZIP64: u16 = 1;

/// Extra fields as pairs of kind and content. A rest that is not a list of fields comes last,
/// without a kind.
fn fields(mut extra: &[u8]) -> impl Iterator<Item = (Option<u16>, &[u8])> {
    std::iter::from_fn(move || {
        if extra.is_empty() {
            return None;
        }
        let len = 4 + usize::from(half(extra, 2));
        if extra.len() < 4 || extra.len() < len {
            return Some((None, std::mem::take(&mut extra)));
        }
        let (field, rest) = extra.split_at(len);
        extra = rest;
        Some((Some(half(field, 0)), field))
    })
}

/// Extra fields without those of zip64, which are written anew.
fn without_zip64(extra: &[u8]) -> Vec<u8> {
    let kept = fields(extra).filter(|(kind, _)| *kind != Some(ZIP64));
    kept.flat_map(|(_, field)| field).copied().collect()
}
