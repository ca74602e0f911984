//! From a chunk's events to the payload of a block.

use std::collections::BTreeSet;

use super::block::{Header, Index};
use super::error::{Error, ErrorKind};
use super::kind::{LAYOUTS, Names, tag};
use super::model::{
    CLASS_SHIFT, COLUMNS, Model, NEWEST, NULL, NUMBERS, OBJECTS, OPS, OTHER, Place, RECENT,
    REFERENCES, SAME, SERIAL, SHORT, TEXTS, THIS, put_varint, zigzag,
};

/// Packs blocks, one after another in the same memory.
pub struct Packer {
    model: Model,
    columns: [Vec<u8>; COLUMNS],
    plain: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
    /// Ids that are in the index already, so that it is not asked each time.
    seen: Box<[(Names, u32); SEEN]>,
}

const SEEN: usize = 1024;

/// Reads little-endian numbers; past the end, zeros, for which the caller looks
/// before.
struct Raw<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Raw<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let piece = self.bytes.get(self.at..self.at + len);
        self.at += len;
        piece.ok_or(Error::at(ErrorKind::EventCut, self.at))
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Error> {
        let bytes = self.take(4)?.try_into();
        Ok(u32::from_le_bytes(bytes.expect("four bytes")))
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?.try_into();
        Ok(u64::from_le_bytes(bytes.expect("eight bytes")))
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
            put_varint(&mut self.plain, column.len() as u64);
        }
        for column in &self.columns {
            self.plain.extend_from_slice(column);
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
        self.columns.iter_mut().for_each(Vec::clear);
        self.seen.fill((Names::Nothing, 0));
        header.events = 0;
        header.last_stamp = header.stamp;
        let mut methods = BTreeSet::new();
        let mut fields = BTreeSet::new();
        let mut threads = BTreeSet::from([header.thread]);
        let mut index = Index::default();
        let mut bytes = Raw { bytes: raw, at: 0 };
        while let Some(&tag) = raw.get(bytes.at) {
            let start = bytes.at;
            bytes.at += 1;
            let Some(layout) = &LAYOUTS[usize::from(tag)] else {
                return Err(Error::at(ErrorKind::UnknownTag { tag }, start));
            };
            let id = if layout.names == Names::Nothing {
                self.columns[OPS].push(tag);
                None
            } else {
                let id = bytes.u32()?;
                let short = SHORT[usize::from(tag)];
                if short != 0 && id == self.model.method() {
                    self.columns[OPS].push(short);
                } else {
                    self.columns[OPS].push(tag);
                    put_varint(&mut self.columns[OPS], u64::from(id));
                }
                let ids = match layout.names {
                    Names::Method => Some(&mut methods),
                    Names::Field => Some(&mut fields),
                    _ => None,
                };
                if let Some(ids) = ids {
                    let seen = &mut self.seen[id as usize % SEEN];
                    let is = (layout.names, id);
                    if *seen != is {
                        *seen = is;
                        ids.insert(id);
                    }
                }
                Some(id)
            };
            let place = self.model.place(tag, id);
            let mut first = 0;
            for position in 0..usize::from(layout.references) {
                let reference = bytes.u64()?;
                if position == 0 {
                    first = reference;
                }
                if tag == tag::OBJECT {
                    self.object(reference);
                } else {
                    self.reference(place.plus(position), reference);
                }
                index.add_object(reference);
            }
            for position in 0..usize::from(layout.ints) {
                let value = bytes.u32()?;
                let last = self.model.number(place.plus(8 + position));
                let difference = (value as i32).wrapping_sub(*last as i32);
                *last = u64::from(value);
                put_varint(&mut self.columns[NUMBERS], zigzag(i64::from(difference)));
            }
            let mut longs = [0; 2];
            for position in 0..usize::from(layout.longs) {
                let value = bytes.u64()?;
                if let Some(long) = longs.get_mut(position) {
                    *long = value;
                }
                let last = self.model.number(place.plus(12 + position));
                let difference = (value as i64).wrapping_sub(*last as i64);
                *last = value;
                put_varint(&mut self.columns[NUMBERS], zigzag(difference));
            }
            if layout.text {
                let coder = bytes.take(1)?[0];
                let len = bytes.take(2)?;
                let len = u16::from_le_bytes([len[0], len[1]]);
                let text = bytes.take(usize::from(len))?;
                let texts = &mut self.columns[TEXTS];
                texts.push(coder);
                put_varint(texts, u64::from(len));
                texts.extend_from_slice(text);
            }
            match tag {
                tag::STAMP => header.last_stamp = longs[0],
                tag::SWITCH => {
                    threads.insert(longs[0]);
                    header.last_stamp = longs[1];
                }
                tag::LOST => header.lost = header.lost.saturating_add(longs[0]),
                _ => {}
            }
            self.model.step(layout, id.unwrap_or_default(), first);
            header.events += 1;
        }
        index.methods = methods.into_iter().collect();
        index.fields = fields.into_iter().collect();
        index.threads = threads.into_iter().collect();
        Ok(index)
    }

    #[inline]
    fn reference(&mut self, place: Place, reference: u64) {
        let model = &mut self.model;
        let codes = &mut self.columns[REFERENCES];
        if reference == 0 {
            codes.push(NULL);
            return;
        }
        let slot = Model::slot(reference);
        let last = model.last(place);
        if reference == model.this() {
            codes.push(THIS);
        } else if reference == last {
            codes.push(SAME);
        } else if reference == model.newest {
            codes.push(NEWEST);
        } else if reference == model.recent(slot) {
            codes.push(RECENT + slot as u8);
        } else {
            codes.push(OTHER);
            let objects = &mut self.columns[OBJECTS];
            let class = (reference >> CLASS_SHIFT) as i64 - (last >> CLASS_SHIFT) as i64;
            put_varint(objects, zigzag(class));
            let serial = (reference & SERIAL) as i64 - (last & SERIAL) as i64;
            put_varint(objects, zigzag(serial));
        }
        model.saw(place, reference);
    }

    /// An object that is seen for the first time.
    fn object(&mut self, reference: u64) {
        let objects = &mut self.columns[OBJECTS];
        let newest = self.model.newest & SERIAL;
        let serial = (reference & SERIAL) as i64 - newest as i64 - 1;
        put_varint(objects, zigzag(serial));
        put_varint(objects, reference >> CLASS_SHIFT);
        self.model.newest = reference;
    }
}
