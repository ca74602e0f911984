//! Reading archives.

use super::{Entry, Error, ZIP64, fields, half, number, without_zip64, word};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The bytes of the largest central directory that is read: several million entries.
pub const MAX_DIRECTORY: u64 = 512 << 20;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// The lengths of the fixed parts of these records.
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: u64 = 22;
const END_64_LEN: u64 = 56;
const LOCATOR_64_LEN: u64 = 20;

/// A source from which an archive is read.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// A file, or a part of one: an archive stored in another.
pub struct Source<'f> {
    file: &'f mut dyn ReadSeek,
    start: u64,
    len: u64,
}

impl<'f> Source<'f> {
    /// The whole of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file's length is not available.
    pub fn new(file: &'f mut dyn ReadSeek) -> io::Result<Self> {
        let len = file.seek(SeekFrom::End(0))?;
        let start = 0;
        Ok(Source { file, start, len })
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part as a source of its own.
    ///
    /// # Errors
    ///
    /// Fails if it ends before the part does.
    pub fn part(&mut self, offset: u64, len: u64) -> Result<Source<'_>, Error> {
        self.check(offset, len)?;
        Ok(Source {
            file: &mut *self.file,
            start: self.start + offset,
            len,
        })
    }

    fn check(&self, offset: u64, len: u64) -> Result<(), Error> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::corrupt("the archive ends too early", self.len)),
        }
    }

    /// Reads `len` bytes; the caller has made sure that they are not too many.
    ///
    /// # Errors
    ///
    /// Fails if there are not that many, or they cannot be read.
    pub fn bytes(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, Error> {
        self.check(offset, len)?;
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        self.file.seek(SeekFrom::Start(self.start + offset))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A reader of `len` bytes.
    ///
    /// # Errors
    ///
    /// Fails if there are not that many, or they cannot be read.
    pub fn reader(&mut self, offset: u64, len: u64) -> Result<impl Read + '_, Error> {
        self.check(offset, len)?;
        self.file.seek(SeekFrom::Start(self.start + offset))?;
        Ok((&mut *self.file).take(len))
    }

    /// Copies `len` bytes.
    ///
    /// # Errors
    ///
    /// Fails if there are not that many, or they cannot be read or written.
    pub fn copy(&mut self, offset: u64, len: u64, out: &mut dyn Write) -> Result<(), Error> {
        let mut reader = self.reader(offset, len)?;
        let copied = io::copy(&mut reader, out)?;
        if copied < len {
            // The file has become shorter since.
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }
}

/// An archive's central directory, and what surrounds it.
#[derive(Debug)]
pub struct Directory {
    /// The entries, in the directory's order.
    pub entries: Vec<Entry>,
    /// Added to offsets in the file, which do not always count from the file's start.
    pub base: u64,
    /// The end record's comment length.
    pub comment_len: u16,
    /// The comment, and whatever follows it.
    pub tail: Vec<u8>,
    /// The offset of the directory.
    pub offset: u64,
}

/// Whether bytes are the start of an archive whose first entry comes first.
pub fn is_archive(bytes: &[u8]) -> bool {
    [LOCAL, END].contains(&word(bytes, 0))
}

impl Directory {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    ///
    /// Fails if it is not an archive, with the offset.
    pub fn read(source: &mut Source<'_>) -> Result<Directory, Error> {
        Directory::read_up_to(source, MAX_DIRECTORY)
    }

    /// Reads the directory of an archive, if it has no more than `max` bytes.
    ///
    /// # Errors
    ///
    /// Fails if it is larger, or not a directory, with the offset.
    pub fn read_up_to(source: &mut Source<'_>, max: u64) -> Result<Directory, Error> {
        let (end_at, end, tail) = find_end(source)?;
        if half(&end, 4) != 0 || half(&end, 6) != 0 {
            return Err(Error::corrupt("one part of an archive in several", end_at));
        }
        let mut size = u64::from(word(&end, 12));
        let mut first = u64::from(word(&end, 16));
        let mut directory_end = end_at;
        let asks_64 = half(&end, 10) == u16::MAX
            || size == u64::from(u32::MAX)
            || first == u64::from(u32::MAX);
        // Packers may write the larger record where the smaller one suffices.
        let end_64 = find_end_64(source, end_at);
        if let Some((at, end_64)) = if asks_64 {
            end_64?
        } else {
            end_64.unwrap_or(None)
        } {
            let (size_64, first_64) = (number(&end_64, 40, 8), number(&end_64, 48, 8));
            if asks_64 || (size_64, first_64) == (size, first) {
                (size, first, directory_end) = (size_64, first_64, at);
            }
        }
        let bad = || Error::corrupt("the end record points to no directory", end_at);
        let offset = directory_end.checked_sub(size).ok_or_else(bad)?;
        let base = offset.checked_sub(first).ok_or_else(bad)?;
        if size > max {
            return Err(Error::corrupt("the directory is too large", offset));
        }
        let bytes = source.bytes(offset, size)?;
        let mut entries = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (entry, len) = Entry::parse(&bytes[at..], base, offset, offset + at as u64)?;
            entries.push(entry);
            at += len;
        }
        Ok(Directory {
            entries,
            base,
            comment_len: half(&end, 20),
            tail,
            offset,
        })
    }

    /// The indices of the entries in the order of their data.
    ///
    /// # Errors
    ///
    /// Fails if entries share data: copies of them may exceed all disks, and no packer makes such
    /// entries.
    pub fn by_offset(&self) -> Result<Vec<usize>, Error> {
        let mut places: Vec<usize> = (0..self.entries.len()).collect();
        places.sort_by_key(|&place| self.entries[place].offset);
        let mut end = 0;
        for &place in &places {
            let entry = &self.entries[place];
            if entry.offset < end {
                return Err(Error::corrupt("entries share their data", entry.offset));
            }
            // `parse` has ensured that this does not overflow.
            end = entry.offset + LOCAL_LEN as u64 + entry.packed;
        }
        Ok(places)
    }
}

/// The end record with its offset, and what follows it.
fn find_end(source: &mut Source<'_>) -> Result<(u64, Vec<u8>, Vec<u8>), Error> {
    // The comment has at most 65,535 bytes.
    let len = source.len().min(END_LEN + 0xffff);
    let start = source.len() - len;
    let bytes = source.bytes(start, len)?;
    let candidates = (0..=bytes.len().saturating_sub(END_LEN as usize)).rev();
    let mut candidates = candidates.filter(|&at| {
        let comment = usize::from(half(&bytes, at + 20));
        word(&bytes, at) == END && at + END_LEN as usize + comment <= bytes.len()
    });
    let Some(at) = candidates.next() else {
        let what = "not a zip archive: it has no end record";
        return Err(Error::corrupt(what, source.len()));
    };
    let (end, tail) = bytes[at..].split_at(END_LEN as usize);
    Ok((start + at as u64, end.to_vec(), tail.to_vec()))
}

/// The end record of zip64 with its offset, if there is one.
fn find_end_64(source: &mut Source<'_>, end: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
    let Some(locator_at) = end.checked_sub(LOCATOR_64_LEN) else {
        return Ok(None);
    };
    let locator = source.bytes(locator_at, LOCATOR_64_LEN)?;
    if word(&locator, 0) != LOCATOR_64 {
        return Ok(None);
    }
    // It is where the locator says, or directly before that, if offsets have another start.
    let said = Some(number(&locator, 8, 8));
    for at in [said, locator_at.checked_sub(END_64_LEN)] {
        if let Some(at) = at.filter(|at| *at <= locator_at.saturating_sub(END_64_LEN)) {
            let record = source.bytes(at, END_64_LEN)?;
            if word(&record, 0) == END_64 {
                return Ok(Some((at, record)));
            }
        }
    }
    Err(Error::corrupt("no end record of zip64", locator_at))
}

impl Entry {
    /// Reads a record of the directory; returns its length as well.
    fn parse(bytes: &[u8], base: u64, directory: u64, at: u64) -> Result<(Entry, usize), Error> {
        let bad = |what| Error::corrupt(what, at);
        if bytes.len() < CENTRAL_LEN || word(bytes, 0) != CENTRAL {
            return Err(bad("no entry of a directory where one should be"));
        }
        let lens = [28, 30, 32].map(|at| usize::from(half(bytes, at)));
        let len = CENTRAL_LEN + lens.iter().sum::<usize>();
        let rest = bytes
            .get(CENTRAL_LEN..len)
            .ok_or_else(|| bad("a directory's entry ends too early"))?;
        let (name, rest) = rest.split_at(lens[0]);
        let (extra, comment) = rest.split_at(lens[1]);

        let mut numbers = [24, 20, 42].map(|at| u64::from(word(bytes, at)));
        if let Some((_, wide)) = fields(extra).find(|(kind, _)| *kind == Some(ZIP64)) {
            let mut from = 4;
            for number in &mut numbers {
                if *number == u64::from(u32::MAX) && from + 8 <= wide.len() {
                    *number = super::number(wide, from, 8);
                    from += 8;
                }
            }
        }
        let [size, packed, offset] = numbers;
        let offset = offset
            .checked_add(base)
            .filter(|offset| {
                let end = offset.checked_add(packed.saturating_add(LOCAL_LEN as u64));
                end.is_some_and(|end| end <= directory)
            })
            .ok_or_else(|| bad("an entry's data lies outside of the archive"))?;
        let entry = Entry {
            name: name.to_vec(),
            made_by: half(bytes, 4),
            needed: half(bytes, 6),
            flags: half(bytes, 8),
            method: half(bytes, 10),
            time: [bytes[12], bytes[13], bytes[14], bytes[15]],
            crc: word(bytes, 16),
            packed,
            size,
            internal: half(bytes, 36),
            external: word(bytes, 38),
            extra: without_zip64(extra),
            comment: comment.to_vec(),
            offset,
        };
        Ok((entry, len))
    }

    /// The offset of the data, and the extra fields of the local header.
    ///
    /// # Errors
    ///
    /// Fails if there is no local header, or the data ends too early.
    pub fn locate(&self, source: &mut Source<'_>) -> Result<(u64, Vec<u8>), Error> {
        let header = source.bytes(self.offset, LOCAL_LEN as u64)?;
        if word(&header, 0) != LOCAL {
            return Err(Error::corrupt("no local header", self.offset));
        }
        let (name, extra) = (u64::from(half(&header, 26)), u64::from(half(&header, 28)));
        let extra_at = self.offset + LOCAL_LEN as u64 + name;
        let local_extra = without_zip64(&source.bytes(extra_at, extra)?);
        let data = extra_at + extra;
        source.check(data, self.packed)?;
        Ok((data, local_extra))
    }
}
