//! From a chunk's events to the payload of a block.

use std::mem;

use super::block::{Header, Index};
use super::error::{Error, ErrorKind};
use super::kind::{LAYOUTS, Names, tag};
use super::model::{
    CLASS_SHIFT, COLUMNS, Model, NEWEST, NULL, OTHER, Place, RECENT, SAME, SERIAL, SHORT, THIS,
    put_varint, zigzag,
};

/// Packs blocks, one after another in the same memory.
pub struct Packer {
    model: Model,
    columns: [Column; COLUMNS],
    plain: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
    /// Ids that are in the index already, so that it is not asked each time.
    seen: Box<[(Names, u32); SEEN]>,
}

const SEEN: usize = 1024;

/// Bytes that are appended to memory which is there already: no event needs more
/// than [`MOST_PER_BYTE`] in a column for each of its own bytes.
#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    len: usize,
}

const MOST_PER_BYTE: usize = 2;

impl Column {
    fn restart(&mut self, raw_len: usize) {
        let needed = MOST_PER_BYTE * raw_len;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
        self.len = 0;
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// The bytes of each event, by tag, but for its text.
static SIZES: [u8; 256] = sizes();

const fn sizes() -> [u8; 256] {
    let layouts = super::kind::layouts();
    let mut all = [0; 256];
    let mut tag = 0;
    while tag < 256 {
        if let Some(layout) = layouts[tag] {
            all[tag] = layout.size() as u8;
        }
        tag += 1;
    }
    all
}

/// Reads the little-endian numbers of an event that is there.
struct Raw<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Raw<'_> {
    #[inline]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let (_, rest) = self.bytes.split_at(self.at);
        self.at += N;
        rest.first_chunk().copied().unwrap_or([0; N])
    }

    #[inline]
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    #[inline]
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
}

impl Packer {
    /// # Errors
    ///
    /// Fails if there is no memory for the compressor.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            model: Model::default(),
            columns: Default::default(),
            plain: Vec::new(),
            // Level 1: on events higher ones gain little.
            compressor: zstd::bulk::Compressor::new(1)?,
            seen: Box::new([(Names::Nothing, 0); SEEN]),
        })
    }

    /// Appends the block of a chunk's events to `out`. `header` says whose they
    /// are; the rest of it is filled in.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are no events. What stands in `out` then is to be cut
    /// off.
    pub fn pack(
        &mut self,
        header: &mut Header,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let index = self.transform(header, raw)?;
        self.plain.clear();
        for column in &self.columns {
            put_varint(&mut self.plain, column.len as u64);
        }
        for column in &self.columns {
            self.plain.extend_from_slice(column.written());
        }
        header.raw_len = raw.len() as u32;
        header.plain_len = self.plain.len() as u32;
        let stored = (self.compressor)
            .compress(&self.plain)
            .map_err(|_| Error::at(ErrorKind::Compression, 0))?;
        header.write(&index, &stored, out);
        Ok(())
    }

    /// Fills the columns.
    fn transform(&mut self, header: &mut Header, raw: &[u8]) -> Result<Index, Error> {
        self.model.restart();
        self.seen.fill((Names::Nothing, 0));
        header.events = 0;
        header.last_stamp = header.stamp;
        let mut index = Index::default();
        index.threads.push(header.thread);
        // Out of `self`, so that their lengths stay in registers.
        let mut columns = mem::take(&mut self.columns);
        for column in &mut columns {
            column.restart(raw.len());
        }
        let done = self.fill(&mut columns, header, raw, &mut index);
        self.columns = columns;
        done?;
        sort(&mut index.methods);
        sort(&mut index.fields);
        sort(&mut index.threads);
        Ok(index)
    }

    fn fill(
        &mut self,
        columns: &mut [Column; COLUMNS],
        header: &mut Header,
        raw: &[u8],
        index: &mut Index,
    ) -> Result<(), Error> {
        let [ops, references, objects, numbers, texts] = columns;
        let mut at = 0;
        while let Some(&tag) = raw.get(at) {
            let Some(layout) = &LAYOUTS[usize::from(tag)] else {
                return Err(Error::at(ErrorKind::UnknownTag { tag }, at));
            };
            let end = at + usize::from(SIZES[usize::from(tag)]);
            let bytes = raw.get(at..end).ok_or(Error::at(ErrorKind::EventCut, at))?;
            let mut bytes = Raw { bytes, at: 1 };
            at = end;
            let id = if layout.names == Names::Nothing {
                ops.push(tag);
                None
            } else {
                let id = bytes.u32();
                let short = SHORT[usize::from(tag)];
                if short != 0 && id == self.model.method() {
                    ops.push(short);
                } else {
                    ops.push(tag);
                    ops.varint(u64::from(id));
                }
                let seen = &mut self.seen[id as usize % SEEN];
                if *seen != (layout.names, id) {
                    *seen = (layout.names, id);
                    match layout.names {
                        Names::Method => index.methods.push(id),
                        Names::Field => index.fields.push(id),
                        _ => {}
                    }
                }
                Some(id)
            };
            let place = self.model.place(tag, id);
            let mut first = 0;
            for position in 0..usize::from(layout.references) {
                let reference = bytes.u64();
                if position == 0 {
                    first = reference;
                }
                if tag == tag::OBJECT {
                    self.object(objects, reference);
                    index.add_object(reference);
                } else if self.reference(references, objects, place.plus(position), reference) {
                    index.add_object(reference);
                }
            }
            for position in 0..usize::from(layout.ints) {
                let value = bytes.u32();
                let last = self.model.number(place.plus(8 + position));
                let difference = (value as i32).wrapping_sub(*last as i32);
                *last = u64::from(value);
                numbers.varint(zigzag(i64::from(difference)));
            }
            let mut longs = [0; 2];
            for position in 0..usize::from(layout.longs) {
                let value = bytes.u64();
                if let Some(long) = longs.get_mut(position) {
                    *long = value;
                }
                let last = self.model.number(place.plus(12 + position));
                let difference = (value as i64).wrapping_sub(*last as i64);
                *last = value;
                numbers.varint(zigzag(difference));
            }
            if layout.text {
                let [coder] = bytes.array();
                let len = u16::from_le_bytes(bytes.array());
                let text = raw.get(at..at + usize::from(len));
                let text = text.ok_or(Error::at(ErrorKind::EventCut, at))?;
                at += text.len();
                texts.push(coder);
                texts.varint(u64::from(len));
                texts.extend(text);
            }
            match tag {
                tag::STAMP => header.last_stamp = longs[0],
                tag::SWITCH => {
                    index.threads.push(longs[0]);
                    header.last_stamp = longs[1];
                }
                tag::LOST => header.lost = header.lost.saturating_add(longs[0]),
                _ => {}
            }
            self.model.step(layout, id.unwrap_or_default(), first);
            header.events += 1;
        }
        Ok(())
    }

    /// Tells an object; whether it may not have been told of in this block.
    #[inline]
    fn reference(
        &mut self,
        codes: &mut Column,
        objects: &mut Column,
        place: Place,
        reference: u64,
    ) -> bool {
        let model = &mut self.model;
        if reference == 0 {
            codes.push(NULL);
            return false;
        }
        let slot = Model::slot(reference);
        let last = model.last(place);
        let mut other = false;
        if reference == model.this() {
            codes.push(THIS);
        } else if reference == last {
            codes.push(SAME);
        } else if reference == model.newest {
            codes.push(NEWEST);
        } else if reference == model.recent(slot) {
            codes.push(RECENT + slot as u8);
        } else {
            other = true;
            codes.push(OTHER);
            let class = (reference >> CLASS_SHIFT) as i64 - (last >> CLASS_SHIFT) as i64;
            objects.varint(zigzag(class));
            let serial = (reference & SERIAL) as i64 - (last & SERIAL) as i64;
            objects.varint(zigzag(serial));
        }
        model.saw(place, reference);
        other
    }

    /// An object that is seen for the first time.
    fn object(&mut self, objects: &mut Column, reference: u64) {
        let newest = self.model.newest & SERIAL;
        let serial = (reference & SERIAL) as i64 - newest as i64 - 1;
        objects.varint(zigzag(serial));
        objects.varint(reference >> CLASS_SHIFT);
        self.model.newest = reference;
    }
}

fn sort<T: Ord>(ids: &mut Vec<T>) {
    ids.sort_unstable();
    ids.dedup();
}
