//! Unpacks the payload of a block into events.

use super::block::Header;
use super::error::{Error, ErrorKind};
use super::kind::{Kind, LAYOUTS, Layout, MOST, Names, Value, coder, tag};
use super::model::{
    CLASS_SHIFT, COLUMNS, LONG, Model, NEWEST, NULL, NUMBERS, OBJECTS, OPS, OTHER, Place, RECENT,
    REFERENCES, SAME, SERIAL, TEXTS, THIS, unzigzag,
};

/// An event of the trace.
#[derive(Debug, Clone)]
pub struct Event {
    layout: &'static Layout,
    tag: u8,
    /// The method, field or callee that the event names; see [`Layout::names`].
    pub id: u32,
    /// The stream that the event belongs to; see [`crate::trace`].
    pub stream: u64,
    /// The thread on which it happened, as `Thread.getId` returns it.
    pub thread: u64,
    /// Whether that is a virtual thread.
    pub is_virtual: bool,
    /// Its time relative to other threads: events with a smaller stamp came before. Events with
    /// equal stamps are not ordered, except on one thread.
    pub stamp: u64,
    /// Whether blocks of its stream before it are missing or damaged.
    pub is_after_gap: bool,
    references: [u64; MOST.0],
    ints: [i32; MOST.1],
    longs: [i64; MOST.2],
    coder: u8,
    text: Vec<u8>,
}

/// An object's number, which no other object of the run has, and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u64);

impl ObjectId {
    /// The number of the class, for [`super::dictionary::Dictionary::class`].
    pub fn class(self) -> u32 {
        (self.0 >> CLASS_SHIFT) as u32
    }

    /// The number of the object, unique by itself.
    pub fn serial(self) -> u64 {
        self.0 & SERIAL
    }
}

impl Event {
    /// The kind of the event.
    pub fn kind(&self) -> Kind {
        self.layout.kind
    }

    /// The layout of the event, which also says what its id names.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// The tag: kind and shape in one number.
    pub fn tag(&self) -> u8 {
        self.tag
    }

    /// The references, in order.
    pub fn references(&self) -> impl ExactSizeIterator<Item = Option<ObjectId>> + '_ {
        self.raw_references()
            .iter()
            .map(|&id| (id != 0).then_some(ObjectId(id)))
    }

    fn raw_references(&self) -> &[u64] {
        self.references
            .get(..usize::from(self.layout.references))
            .unwrap_or(&[])
    }

    /// The reference at a place.
    pub fn reference(&self, place: usize) -> Option<ObjectId> {
        let id = *self.raw_references().get(place)?;
        (id != 0).then_some(ObjectId(id))
    }

    /// The values of type `int` and smaller, and the bits of `float`.
    pub fn ints(&self) -> &[i32] {
        self.ints
            .get(..usize::from(self.layout.ints))
            .unwrap_or(&[])
    }

    /// The values of type `long`, and the bits of `double`.
    pub fn longs(&self) -> &[i64] {
        self.longs
            .get(..usize::from(self.layout.longs))
            .unwrap_or(&[])
    }

    /// The value that was returned, written or read, if the event records it.
    pub fn value(&self) -> Option<Datum> {
        let int = || self.ints().last().copied();
        let long = || self.longs().last().copied();
        Some(match self.layout.value {
            Value::Nothing => return None,
            Value::Reference => {
                let last = self.raw_references().len().checked_sub(1)?;
                Datum::Reference(self.reference(last))
            }
            Value::Int => Datum::Int(int()?),
            Value::Long => Datum::Long(long()?),
            Value::Float => Datum::Float(f32::from_bits(int()? as u32)),
            Value::Double => Datum::Double(f64::from_bits(long()? as u64)),
        })
    }

    /// Whether the event has a text, which may be empty.
    pub fn is_text(&self) -> bool {
        self.layout.text && matches!(self.coder, coder::LATIN1 | coder::UTF16)
    }

    /// Whether the text of a [`Kind::Text`] was not stored because it is a secret.
    pub fn is_secret(&self) -> bool {
        self.layout.text && self.coder == coder::SECRET
    }

    /// Whether, at a [`Kind::Switch`], there was a pause in which calls of this thread may have
    /// begun and ended.
    pub fn is_after_pause(&self) -> bool {
        self.tag == tag::SWITCH && self.ints[0] & 2 != 0
    }

    /// For a [`Kind::Text`] of which only the beginning is stored, the `String.hashCode` of the
    /// whole; else `None`.
    pub fn hash(&self) -> Option<i32> {
        let &[length, hash] = self.ints() else {
            return None;
        };
        let units = match (self.layout.text, self.coder) {
            (true, coder::LATIN1) => self.text.len(),
            (true, coder::UTF16) => self.text.len() / 2,
            _ => return None,
        };
        (units < length as usize).then_some(hash)
    }

    /// The UTF-16 units of a text that has lone surrogates, so that no [`String`] equals it; else
    /// `None`. Half a pair where a text was cut does not count.
    pub fn lone_surrogates(&self) -> Option<Vec<u16>> {
        if !self.layout.text || self.coder != coder::UTF16 {
            return None;
        }
        let units = self.text.chunks_exact(2);
        let units: Vec<u16> = units
            .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
            .collect();
        let is_cut = self.hash().is_some() && matches!(units.last(), Some(0xd800..=0xdbff));
        let whole = units.len() - usize::from(is_cut);
        let lone = char::decode_utf16(units.iter().copied().take(whole)).any(|of| of.is_err());
        lone.then_some(units)
    }

    /// The text of a [`Kind::Text`] or [`Kind::Switch`], which the JVM has in UTF-16 units; lone
    /// surrogates are replaced.
    pub fn text(&self) -> String {
        match (self.layout.text, self.coder) {
            (true, coder::LATIN1) => self.text.iter().map(|&byte| char::from(byte)).collect(),
            (true, coder::UTF16) => {
                let units: Vec<u16> = (self.text.chunks_exact(2))
                    .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
                    .collect();
                String::from_utf16_lossy(&units)
            }
            _ => String::new(),
        }
    }

    /// For a [`Kind::Text`] of an array, its elements, whose type has this descriptor; `None` for
    /// other texts.
    pub fn elements(&self, descriptor: &str) -> Option<Vec<Datum>> {
        fn all<const N: usize>(text: &[u8], datum: impl Fn([u8; N]) -> Datum) -> Vec<Datum> {
            text.as_chunks()
                .0
                .iter()
                .map(|bytes| datum(*bytes))
                .collect()
        }
        let text = &self.text;
        Some(match (self.layout.text, self.coder) {
            (true, coder::REFERENCES) => all(text, |bytes| {
                let id = u64::from_le_bytes(bytes);
                Datum::Reference((id != 0).then_some(ObjectId(id)))
            }),
            (true, coder::PRIMITIVES) => match descriptor {
                "Z" | "B" => all(text, |[byte]| Datum::Int((byte as i8).into())),
                "C" => all(text, |bytes| Datum::Int(u16::from_le_bytes(bytes).into())),
                "S" => all(text, |bytes| Datum::Int(i16::from_le_bytes(bytes).into())),
                "I" => all(text, |bytes| Datum::Int(i32::from_le_bytes(bytes))),
                "J" => all(text, |bytes| Datum::Long(i64::from_le_bytes(bytes))),
                "F" => all(text, |bytes| Datum::Float(f32::from_le_bytes(bytes))),
                "D" => all(text, |bytes| Datum::Double(f64::from_le_bytes(bytes))),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// A value in an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Datum {
    /// An object, or null.
    Reference(Option<ObjectId>),
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
}

/// The events of one block, one after another.
pub struct Unpacker {
    model: Model,
    plain: Vec<u8>,
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
    columns: [Column; COLUMNS],
    left: u32,
    after_gap: bool,
    event: Event,
}

#[derive(Default, Clone, Copy)]
struct Column {
    at: usize,
    end: usize,
}

impl Column {
    #[inline]
    fn byte(&mut self, plain: &[u8]) -> Result<u8, Error> {
        // `end` is within `plain`, but only this check shows that to the compiler.
        match plain.get(self.at) {
            Some(&byte) if self.at < self.end => {
                self.at += 1;
                Ok(byte)
            }
            _ => Err(Error::at(ErrorKind::ColumnEnds, self.at)),
        }
    }

    #[inline]
    fn varint(&mut self, plain: &[u8]) -> Result<u64, Error> {
        let byte = self.byte(plain)?;
        if byte < 0x80 {
            return Ok(u64::from(byte));
        }
        self.long(byte, plain)
    }

    #[inline(never)]
    fn long(&mut self, byte: u8, plain: &[u8]) -> Result<u64, Error> {
        let mut value = u64::from(byte & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte(plain)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(Error::at(ErrorKind::LongNumber, self.at));
            }
        }
    }
}

impl Unpacker {
    /// Prepares memory for blocks.
    pub fn new() -> Self {
        Self {
            model: Model::default(),
            plain: Vec::new(),
            decompressor: None,
            columns: [Column::default(); COLUMNS],
            left: 0,
            after_gap: false,
            event: Event {
                layout: LAYOUTS[usize::from(tag::LOST)]
                    .as_ref()
                    .expect("a tag of ours"),
                tag: tag::LOST,
                id: 0,
                stream: 0,
                thread: 0,
                is_virtual: false,
                stamp: 0,
                is_after_gap: false,
                references: [0; MOST.0],
                ints: [0; MOST.1],
                longs: [0; MOST.2],
                coder: 0,
                text: Vec::new(),
            },
        }
    }

    /// Begins with a block, whose payload has been checked against its checksum.
    ///
    /// # Errors
    ///
    /// Fails if the payload cannot be unpacked. It takes no more memory than the header says, which
    /// is bounded.
    pub fn start(&mut self, header: &Header, payload: &[u8]) -> Result<(), Error> {
        let plain_len = header.plain_len as usize;
        self.plain.clear();
        self.plain.reserve(plain_len);
        self.left = 0;
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(
                zstd::bulk::Decompressor::new()
                    .map_err(|_| Error::at(ErrorKind::Compression, 0))?,
            ),
        };
        decompressor
            .decompress_to_buffer(payload, &mut self.plain)
            .map_err(|_| Error::at(ErrorKind::Compression, 0))?;
        if self.plain.len() != plain_len {
            return Err(Error::at(ErrorKind::Compression, self.plain.len()));
        }
        let mut lens = Column {
            at: 0,
            end: plain_len,
        };
        let mut columns = [0; COLUMNS];
        for len in &mut columns {
            *len = usize::try_from(lens.varint(&self.plain)?).unwrap_or(usize::MAX);
        }
        let mut at = lens.at;
        for (column, len) in self.columns.iter_mut().zip(columns) {
            let end = at.checked_add(len).filter(|end| *end <= plain_len);
            let end = end.ok_or(Error::at(ErrorKind::ColumnEnds, at))?;
            *column = Column { at, end };
            at = end;
        }
        self.model.restart();
        self.left = header.events;
        self.after_gap = false;
        self.event.stream = header.stream;
        self.event.thread = header.thread;
        self.event.is_virtual = header.is_virtual();
        self.event.stamp = header.stamp;
        Ok(())
    }

    /// The number of bytes that it takes for the block.
    pub(super) fn capacity(&self) -> usize {
        self.plain.capacity()
    }

    /// Records that what was before this block is missing or damaged.
    pub(super) fn comes_after_gap(&mut self) {
        self.after_gap = true;
    }

    /// The next event of the block.
    ///
    /// # Errors
    ///
    /// Fails if the payload makes no sense; no further events come then.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<&Event>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        match self.read() {
            Ok(()) => {
                self.left -= 1;
                self.event.is_after_gap = std::mem::take(&mut self.after_gap);
                Ok(Some(&self.event))
            }
            Err(error) => {
                self.left = 0;
                Err(error)
            }
        }
    }

    /// The event that [`Self::next_event`] returned last.
    pub fn event(&self) -> &Event {
        &self.event
    }

    #[inline]
    fn read(&mut self) -> Result<(), Error> {
        let op = self.columns[OPS].byte(&self.plain)?;
        let (tag, short) = match LONG[usize::from(op)] {
            0 => (op, false),
            tag => (tag, true),
        };
        let Some(layout) = &LAYOUTS[usize::from(tag)] else {
            let at = self.columns[OPS].at;
            return Err(Error::at(ErrorKind::UnknownTag { tag }, at));
        };
        let id = if layout.names == Names::Nothing {
            None
        } else if short {
            Some(self.model.method())
        } else {
            let id = self.columns[OPS].varint(&self.plain)?;
            Some(
                u32::try_from(id)
                    .map_err(|_| Error::at(ErrorKind::LongNumber, self.columns[OPS].at))?,
            )
        };
        let place = self.model.place(tag, id);
        let (references, ints, longs) = (
            usize::from(layout.references).min(MOST.0),
            usize::from(layout.ints).min(MOST.1),
            usize::from(layout.longs).min(MOST.2),
        );
        for position in 0..references {
            self.event.references[position] = if tag == tag::OBJECT {
                self.object()?
            } else {
                self.reference(place.plus(position))?
            };
        }
        for position in 0..ints {
            let difference = unzigzag(self.columns[NUMBERS].varint(&self.plain)?);
            let last = self.model.number(place.plus(8 + position));
            let value = (*last as i32).wrapping_add(difference as i32);
            *last = u64::from(value as u32);
            self.event.ints[position] = value;
        }
        for position in 0..longs {
            let difference = unzigzag(self.columns[NUMBERS].varint(&self.plain)?);
            let last = self.model.number(place.plus(12 + position));
            let value = (*last as i64).wrapping_add(difference);
            *last = value as u64;
            self.event.longs[position] = value;
        }
        let event = &mut self.event;
        if layout.text {
            let column = &mut self.columns[TEXTS];
            event.coder = column.byte(&self.plain)?;
            let len = column.varint(&self.plain)?;
            let end = usize::try_from(len)
                .ok()
                .and_then(|len| column.at.checked_add(len))
                .filter(|end| *end <= column.end)
                .ok_or(Error::at(ErrorKind::ColumnEnds, column.at))?;
            event.text.clear();
            let text = self.plain.get(column.at..end);
            event.text.extend_from_slice(text.unwrap_or_default());
            column.at = end;
        }
        event.layout = layout;
        event.tag = tag;
        event.id = id.unwrap_or_default();
        match tag {
            tag::STAMP => event.stamp = event.longs[0] as u64,
            tag::SWITCH => {
                event.thread = event.longs[0] as u64;
                event.stamp = event.longs[1] as u64;
                event.is_virtual = event.ints[0] & 1 != 0;
            }
            _ => {}
        }
        self.model.step(layout, event.id, event.references[0]);
        Ok(())
    }

    #[inline]
    fn reference(&mut self, place: Place) -> Result<u64, Error> {
        let reference = match self.columns[REFERENCES].byte(&self.plain)? {
            NULL => return Ok(0),
            THIS => self.model.this(),
            SAME => self.model.last(place),
            NEWEST => self.model.newest,
            OTHER => {
                let last = self.model.last(place);
                let objects = &mut self.columns[OBJECTS];
                let class = unzigzag(objects.varint(&self.plain)?);
                let serial = unzigzag(objects.varint(&self.plain)?);
                let class = ((last >> CLASS_SHIFT) as i64).wrapping_add(class);
                let serial = ((last & SERIAL) as i64).wrapping_add(serial);
                ((class as u64) << CLASS_SHIFT) | (serial as u64 & SERIAL)
            }
            code @ RECENT.. => self.model.recent(usize::from(code - RECENT)),
            code => {
                let at = self.columns[REFERENCES].at;
                return Err(Error::at(ErrorKind::UnknownTag { tag: code }, at));
            }
        };
        self.model.saw(place, Model::slot(reference), reference);
        Ok(reference)
    }

    fn object(&mut self) -> Result<u64, Error> {
        let objects = &mut self.columns[OBJECTS];
        let serial = unzigzag(objects.varint(&self.plain)?);
        let class = objects.varint(&self.plain)?;
        let newest = (self.model.newest & SERIAL) as i64;
        let serial = newest.wrapping_add(serial).wrapping_add(1);
        let reference = (class << CLASS_SHIFT) | (serial as u64 & SERIAL);
        self.model.newest = reference;
        Ok(reference)
    }
}

impl Default for Unpacker {
    fn default() -> Self {
        Self::new()
    }
}
