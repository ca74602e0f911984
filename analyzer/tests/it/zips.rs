//! Archives built byte by byte, with what packers can do and the `zip` crate
//! would not: entries of one name, sizes behind the data, odd extra fields.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// An entry to be written.
#[derive(Clone, Default)]
pub struct Part {
    pub name: Vec<u8>,
    pub content: Vec<u8>,
    pub deflated: bool,
    /// Whether the sizes stand behind the data, as `jar` has them.
    pub streamed: bool,
    pub local_extra: Vec<u8>,
    pub central_extra: Vec<u8>,
    pub comment: Vec<u8>,
}

pub fn part(name: &str, content: &[u8]) -> Part {
    Part {
        name: name.into(),
        content: content.to_vec(),
        deflated: true,
        ..Part::default()
    }
}

pub fn stored(name: &str, content: &[u8]) -> Part {
    Part {
        deflated: false,
        ..part(name, content)
    }
}

/// What a record says in both places, from the flags to the sizes.
fn common(part: &Part, packed: usize, sizes: bool) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(u16::from(part.streamed).rotate_left(3).to_le_bytes());
    out.extend(if part.deflated { 8u16 } else { 0 }.to_le_bytes());
    // 2024-02-29 12:34:56.
    out.extend([0x5c, 0x64, 0x5d, 0x58]);
    let numbers = [
        crc32fast::hash(&part.content),
        packed as u32,
        part.content.len() as u32,
    ];
    for number in numbers {
        out.extend(if sizes { number } else { 0 }.to_le_bytes());
    }
    out
}

/// An archive behind `prefix`, from which its offsets do not count.
pub fn archive(prefix: &[u8], parts: &[Part], comment: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    let mut directory = Vec::new();
    for part in parts {
        let offset = out.len() - prefix.len();
        let data = if part.deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&part.content).unwrap();
            encoder.finish().unwrap()
        } else {
            part.content.clone()
        };
        out.extend(b"PK\x03\x04\x14\0");
        out.extend(common(part, data.len(), !part.streamed));
        out.extend((part.name.len() as u16).to_le_bytes());
        out.extend((part.local_extra.len() as u16).to_le_bytes());
        out.extend(&part.name);
        out.extend(&part.local_extra);
        out.extend(&data);
        if part.streamed {
            out.extend(b"PK\x07\x08");
            out.extend(&common(part, data.len(), true)[8..]);
        }
        directory.extend(b"PK\x01\x02\x14\x03\x14\0");
        directory.extend(common(part, data.len(), true));
        for text in [&part.name, &part.central_extra, &part.comment] {
            directory.extend((text.len() as u16).to_le_bytes());
        }
        // Disk, text file, -rwxr-x---.
        directory.extend([0, 0, 1, 0]);
        directory.extend((0o100_750u32 << 16).to_le_bytes());
        directory.extend((offset as u32).to_le_bytes());
        directory.extend(&part.name);
        directory.extend(&part.central_extra);
        directory.extend(&part.comment);
    }
    let first = out.len() - prefix.len();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    let count = parts.len() as u16;
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend((first as u32).to_le_bytes());
    out.extend((comment.len() as u16).to_le_bytes());
    out.extend(comment);
    out
}
