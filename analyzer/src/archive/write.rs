//! Writing archives.

use super::{Entry, ZIP64};
use std::io::{self, Write};

/// The smallest number that does not fit into the 32 bits of its field.
const WIDE: u64 = u32::MAX as u64;

/// Writes an archive from its first entry to its end.
pub struct Writer<'w> {
    out: &'w mut dyn Write,
    /// The bytes written so far, which are the offsets of entries.
    at: u64,
    base: u64,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A number in 32 bits; all ones if it is in the extra field.
fn narrow(value: u64) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// The extra field of zip64 for the numbers that need one.
fn wide_field(numbers: &[u64]) -> Vec<u8> {
    let wide: Vec<u8> = numbers
        .iter()
        .filter(|&&number| number >= WIDE)
        .flat_map(|number| number.to_le_bytes())
        .collect();
    if wide.is_empty() {
        return wide;
    }
    // At most three numbers.
    let mut field = [ZIP64.to_le_bytes(), (wide.len() as u16).to_le_bytes()].concat();
    field.extend(wide);
    field
}

/// Extra fields with that of zip64. The field may not fit beside others that fill the header; those
/// are dropped, because without it the entry cannot be found.
fn with_wide(numbers: &[u64], extra: &[u8]) -> Vec<u8> {
    let mut all = wide_field(numbers);
    if all.len() + extra.len() <= usize::from(u16::MAX) {
        all.extend_from_slice(extra);
    }
    all
}

fn short_len(bytes: &[u8]) -> [u8; 2] {
    // Names, extra fields and comments were read with lengths of 16 bits.
    u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes()
}

impl<'w> Writer<'w> {
    /// Starts an archive. Offsets count from `base`.
    pub fn new(out: &'w mut dyn Write, base: u64) -> Self {
        Self { out, at: 0, base }
    }

    /// The common part of both headers, from the version on.
    fn put_common(&mut self, entry: &Entry, flags: u16, wide: bool) -> io::Result<()> {
        let needed = if wide {
            entry.needed.max(45)
        } else {
            entry.needed
        };
        for number in [needed, flags, entry.method] {
            self.write_all(&number.to_le_bytes())?;
        }
        self.write_all(&entry.time)?;
        self.write_all(&entry.crc.to_le_bytes())
    }

    /// Writes an entry's local header and notes its offset; its data must follow, then
    /// [`Self::end_data`].
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn start(&mut self, entry: &mut Entry, local_extra: &[u8]) -> io::Result<()> {
        entry.offset = self.at;
        // The sizes are known, so they need not follow the data. Only a key's check depends on the
        // flag.
        if !entry.is_encrypted() {
            entry.flags &= !8;
        }
        let wide = entry.size >= WIDE || entry.packed >= WIDE;
        // A local header has both sizes or neither.
        let numbers = if wide {
            [entry.size.max(WIDE), entry.packed.max(WIDE)]
        } else {
            [entry.size, entry.packed]
        };
        let mut extra = with_wide(&numbers, local_extra);
        if wide {
            extra[4..12].copy_from_slice(&entry.size.to_le_bytes());
            extra[12..20].copy_from_slice(&entry.packed.to_le_bytes());
        }
        self.write_all(b"PK\x03\x04")?;
        self.put_common(entry, entry.flags, wide)?;
        self.write_all(&narrow(numbers[1]))?;
        self.write_all(&narrow(numbers[0]))?;
        self.write_all(&short_len(&entry.name))?;
        self.write_all(&short_len(&extra))?;
        self.write_all(&entry.name)?;
        self.write_all(&extra)
    }

    /// Ends an entry's data.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn end_data(&mut self, entry: &Entry) -> io::Result<()> {
        if !entry.has_descriptor() {
            return Ok(());
        }
        self.write_all(b"PK\x07\x08")?;
        self.write_all(&entry.crc.to_le_bytes())?;
        let wide = entry.size >= WIDE || entry.packed >= WIDE;
        for number in [entry.packed, entry.size] {
            let bytes = number.to_le_bytes();
            self.write_all(if wide { &bytes } else { &bytes[..4] })?;
        }
        Ok(())
    }

    fn put_central(&mut self, entry: &Entry) -> io::Result<()> {
        let offset = entry.offset - self.base;
        let numbers = [entry.size, entry.packed, offset];
        let extra = with_wide(&numbers, &entry.extra);
        let wide = numbers.iter().any(|&number| number >= WIDE);
        self.write_all(b"PK\x01\x02")?;
        self.write_all(&entry.made_by.to_le_bytes())?;
        self.put_common(entry, entry.flags, wide)?;
        self.write_all(&narrow(entry.packed))?;
        self.write_all(&narrow(entry.size))?;
        for text in [&entry.name, &extra, &entry.comment] {
            self.write_all(&short_len(text))?;
        }
        self.write_all(&[0, 0])?;
        self.write_all(&entry.internal.to_le_bytes())?;
        self.write_all(&entry.external.to_le_bytes())?;
        self.write_all(&narrow(offset))?;
        self.write_all(&entry.name)?;
        self.write_all(&extra)?;
        self.write_all(&entry.comment)
    }

    /// Writes the directory: `entries` in its order, which may differ from that of their data, and
    /// what follows the end record.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn finish<'e>(
        mut self,
        entries: impl Iterator<Item = &'e Entry>,
        comment_len: u16,
        tail: &[u8],
    ) -> io::Result<()> {
        let start = self.at;
        let mut count = 0u64;
        for entry in entries {
            self.put_central(entry)?;
            count += 1;
        }
        let (size, first) = (self.at - start, start - self.base);
        if count >= u64::from(u16::MAX) || size >= WIDE || first >= WIDE {
            let end_64 = self.at;
            self.write_all(b"PK\x06\x06")?;
            self.write_all(&44u64.to_le_bytes())?;
            // Made by and needed: 4.5. Two disk numbers.
            self.write_all(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
            for number in [count, count, size, first] {
                self.write_all(&number.to_le_bytes())?;
            }
            self.write_all(b"PK\x06\x07\0\0\0\0")?;
            self.write_all(&(end_64 - self.base).to_le_bytes())?;
            self.write_all(&1u32.to_le_bytes())?;
        }
        self.write_all(b"PK\x05\x06\0\0\0\0")?;
        let count = u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
        self.write_all(&count)?;
        self.write_all(&count)?;
        self.write_all(&narrow(size))?;
        self.write_all(&narrow(first))?;
        self.write_all(&comment_len.to_le_bytes())?;
        self.write_all(tail)
    }
}
