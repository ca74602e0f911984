//! Packs a chunk's events into the payload of a block.

use std::hint::select_unpredictable;
use std::mem;

use super::block::{Header, Index};
use super::error::{Error, ErrorKind};
use super::kind::{LAYOUTS, Layout, Names, coder, layouts, tag};
use super::model::{
    CLASS_SHIFT, COLUMNS, Model, NEWEST, NULL, OPS, OTHER, Place, RECENT, SAME, SERIAL, SHORT,
    THIS, put_varint, zigzag,
};

/// Packs blocks, one after another in the same memory.
pub struct Packer {
    model: Model,
    columns: [Column; COLUMNS],
    plain: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
    methods: Seen,
    fields: Seen,
}

/// A cache of ids that are in the index already, so that they are not added each time.
struct Seen([u32; SEEN]);

const SEEN: usize = 2048;

impl Seen {
    fn new() -> Self {
        Self([0; SEEN])
    }

    fn restart(&mut self) {
        // Each place has a number that belongs at another one.
        for (at, id) in (0..).zip(&mut self.0) {
            *id = !at;
        }
    }

    #[inline(always)]
    fn is_new(&mut self, id: u32) -> bool {
        let last = &mut self.0[id as usize % SEEN];
        let is_new = *last != id;
        *last = id;
        is_new
    }
}

/// Bytes that are appended to memory which is allocated beforehand: in each column, an event needs
/// at most [`MOST_PER_BYTE`] bytes for each of its own.
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

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    /// Appends the first bytes of an array.
    #[inline(always)]
    fn put(&mut self, bytes: [u8; 4], len: usize) {
        self.bytes[self.len..self.len + 4].copy_from_slice(&bytes);
        self.len += len;
    }

    #[inline(always)]
    fn varint(&mut self, value: u64) {
        match u8::try_from(value) {
            Ok(byte @ ..0x80) => self.push(byte),
            _ => self.long_varint(value),
        }
    }

    fn long_varint(&mut self, mut value: u64) {
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

/// Reads the little-endian numbers of an event that is known to be whole.
struct Raw<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Raw<'_> {
    #[inline(always)]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes.get(self.at..self.at + N);
        self.at += N;
        bytes
            .and_then(|bytes| bytes.first_chunk().copied())
            .unwrap_or([0; N])
    }

    #[inline(always)]
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    #[inline(always)]
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
}

impl Packer {
    /// Prepares memory and a compressor.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory for the compressor.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            model: Model::default(),
            columns: Default::default(),
            plain: Vec::new(),
            // Higher levels gain little on events.
            compressor: zstd::bulk::Compressor::new(1)?,
            methods: Seen::new(),
            fields: Seen::new(),
        })
    }

    /// Appends the block of a chunk's events to `out`. The caller fills in the stream, thread and
    /// stamps in `header`; the rest is filled in here.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not events. The caller must then cut off what was appended to `out`.
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
        self.methods.restart();
        self.fields.restart();
        header.events = 0;
        header.last_stamp = header.stamp;
        let mut index = Index::default();
        index.threads.push(header.thread);
        for column in &mut self.columns {
            column.restart(raw.len());
        }
        let mut filling = Filling {
            model: &mut self.model,
            columns: &mut self.columns,
            methods: &mut self.methods,
            fields: &mut self.fields,
            header,
            index: &mut index,
        };
        let mut at = 0;
        while let Some(&tag) = raw.get(at) {
            at = TELLERS[usize::from(tag)](&mut filling, raw, at)?;
        }
        sort(&mut index.methods);
        sort(&mut index.fields);
        sort(&mut index.threads);
        Ok(index)
    }
}

/// A block that is being filled.
struct Filling<'p> {
    model: &'p mut Model,
    columns: &'p mut [Column; COLUMNS],
    methods: &'p mut Seen,
    fields: &'p mut Seen,
    header: &'p mut Header,
    index: &'p mut Index,
}

/// Packs the event at an offset of the chunk; returns the offset of the next one.
type Teller = fn(&mut Filling<'_>, &[u8], usize) -> Result<usize, Error>;

/// The function that packs an event, by its tag. Those for the most frequent tags know the layout
/// at compile time: the jump to one of them is all that a processor has to predict for an event.
static TELLERS: [Teller; 256] = tellers();

macro_rules! hot {
    ($all:ident: $($tag:expr),* $(,)?) => {
        $($all[{ $tag } as usize] = tell_hot::<{ $tag }>;)*
    };
}

const fn tellers() -> [Teller; 256] {
    use super::kind::tag::{BIND, GET, LOAD, OBJECT, PUT, STORE, shaped};
    let mut all: [Teller; 256] = [tell_any; 256];
    hot!(all: shaped(0, 1, 0), shaped(0, 2, 0), shaped(0, 3, 0));
    hot!(all: shaped(1, 0, 0), shaped(1, 1, 0), shaped(1, 2, 0), shaped(1, 3, 0));
    hot!(all: shaped(2, 0, 0), shaped(2, 1, 0), shaped(2, 2, 0), shaped(2, 3, 0));
    hot!(all: shaped(3, 0, 0), shaped(3, 1, 0), shaped(3, 2, 0), shaped(4, 0, 0));
    hot!(all: shaped(0, 0, 1), shaped(1, 0, 1), shaped(4, 1, 0), shaped(5, 0, 0));
    hot!(all: EXIT + 1, EXIT + 2, EXIT + 3);
    hot!(all: PUT, PUT + 1, PUT + 2, PUT + 3, STORE, STORE + 1, STORE + 2, STORE + 3);
    hot!(all: GET, GET + 1, GET + 2, GET + 3, LOAD, LOAD + 1, LOAD + 2, LOAD + 3);
    hot!(all: BIND, OBJECT);
    all[ENTER as usize] = tell_bare::<ENTER>;
    all[EXIT as usize] = tell_bare::<EXIT>;
    all
}

/// The tag of calls that begin without values.
const ENTER: u8 = tag::shaped(0, 0, 0);
/// The tag of calls that end without a value.
const EXIT: u8 = tag::EXIT;
/// The number of bytes of such an event.
const BARE: usize = 5;

/// Packs an event with one of these tags, and those that follow it. Without values, most events
/// are such, and a processor cannot predict which of the two comes next.
fn tell_bare<const TAG: u8>(
    filling: &mut Filling<'_>,
    raw: &[u8],
    at: usize,
) -> Result<usize, Error> {
    let next = filling.tell_calls(raw, at);
    if next == at {
        return tell_hot::<TAG>(filling, raw, at);
    }
    Ok(next)
}

fn tell_any(filling: &mut Filling<'_>, raw: &[u8], at: usize) -> Result<usize, Error> {
    let tag = raw.get(at).copied().unwrap_or_default();
    let Some(layout) = &LAYOUTS[usize::from(tag)] else {
        return Err(Error::at(ErrorKind::UnknownTag { tag }, at));
    };
    filling.tell(tag, layout, raw, at)
}

fn tell_hot<const TAG: u8>(
    filling: &mut Filling<'_>,
    raw: &[u8],
    at: usize,
) -> Result<usize, Error> {
    match const { layouts()[TAG as usize] } {
        Some(layout) => filling.tell(TAG, &layout, raw, at),
        None => tell_any(filling, raw, at),
    }
}

impl Filling<'_> {
    /// Packs the calls that begin and end without values from an offset on, as far as that is
    /// simple; returns the offset of the first event that is left.
    fn tell_calls(&mut self, raw: &[u8], at: usize) -> usize {
        let mut ops = mem::take(&mut self.columns[OPS]);
        let methods = &mut *self.methods;
        let index = &mut self.index.methods;
        let (events, _) = raw.get(at..).unwrap_or_default().as_chunks::<BARE>();
        let told = self.model.follow(|calls| {
            let mut told = 0;
            for &[tag, ref id @ ..] in events {
                let id = u32::from_le_bytes(*id);
                let ends = tag == EXIT;
                let is_bare = ends | (tag == ENTER);
                if !is_bare | !calls.can_follow(ends, id) | (id >= SHORT_VARINT) {
                    break;
                }
                if methods.is_new(id) {
                    index.push(id);
                }
                let (varint, len) = short_varint(id);
                let began = u32::from(ENTER) | (varint << 8);
                let op = select_unpredictable(ends, u32::from(SHORT[usize::from(EXIT)]), began);
                ops.put(op.to_le_bytes(), select_unpredictable(ends, 1, 1 + len));
                calls.follow(ends, id);
                told += 1;
            }
            told
        });
        self.columns[OPS] = ops;
        self.header.events += told as u32;
        at + told * BARE
    }

    #[inline(always)]
    fn tell(&mut self, tag: u8, layout: &Layout, raw: &[u8], start: usize) -> Result<usize, Error> {
        let Self { model, index, .. } = self;
        let [ops, references, objects, numbers, texts] = &mut *self.columns;
        let mut at = start + layout.size();
        let bytes = raw.get(start..at);
        let bytes = bytes.ok_or(Error::at(ErrorKind::EventCut, start))?;
        let mut bytes = Raw { bytes, at: 1 };
        let id = if layout.names == Names::Nothing {
            ops.push(tag);
            None
        } else {
            let id = bytes.u32();
            let short = SHORT[usize::from(tag)];
            if short != 0 && id == model.method() {
                ops.push(short);
            } else {
                ops.push(tag);
                ops.varint(u64::from(id));
            }
            match layout.names {
                Names::Method if self.methods.is_new(id) => index.methods.push(id),
                Names::Field if self.fields.is_new(id) => index.fields.push(id),
                _ => {}
            }
            Some(id)
        };
        let place = model.place(tag, id);
        let mut first = 0;
        for position in 0..usize::from(layout.references) {
            let reference = bytes.u64();
            if position == 0 {
                first = reference;
            }
            if tag == tag::OBJECT {
                object(model, objects, reference);
                index.add_object(reference);
            } else if refer(model, references, objects, place.plus(position), reference) {
                index.add_object(reference);
            }
        }
        for position in 0..usize::from(layout.ints) {
            let value = bytes.u32();
            let last = model.number(place.plus(8 + position));
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
            let last = model.number(place.plus(12 + position));
            let difference = (value as i64).wrapping_sub(*last as i64);
            *last = value;
            numbers.varint(zigzag(difference));
        }
        if layout.text {
            let [of] = bytes.array();
            let len = u16::from_le_bytes(bytes.array());
            let text = raw.get(at..at + usize::from(len));
            let text = text.ok_or(Error::at(ErrorKind::EventCut, at))?;
            at += text.len();
            if of == coder::REFERENCES {
                for reference in text.as_chunks().0 {
                    index.add_object(u64::from_le_bytes(*reference));
                }
            }
            texts.push(of);
            texts.varint(u64::from(len));
            texts.extend(text);
        }
        match tag {
            tag::STAMP => self.header.last_stamp = longs[0],
            tag::SWITCH => {
                index.threads.push(longs[0]);
                self.header.last_stamp = longs[1];
            }
            tag::LOST => self.header.lost = self.header.lost.saturating_add(longs[0]),
            _ => {}
        }
        model.step(layout, id.unwrap_or_default(), first);
        self.header.events += 1;
        Ok(at)
    }
}

/// Packs a reference; returns whether the index of the block may lack the object.
///
/// The processor cannot predict which code applies, so all codes are tried, the best one last,
/// without a jump.
#[inline(always)]
fn refer(
    model: &mut Model,
    codes: &mut Column,
    objects: &mut Column,
    place: Place,
    reference: u64,
) -> bool {
    let slot = Model::slot(reference);
    let last = model.last(place);
    let mut code = OTHER;
    if reference == model.recent(slot) {
        code = RECENT + slot as u8;
    }
    if reference == model.newest {
        code = NEWEST;
    }
    if reference == last {
        code = SAME;
    }
    if reference == model.this() {
        code = THIS;
    }
    if reference == 0 {
        code = NULL;
    }
    codes.push(code);
    if code == OTHER {
        let class = (reference >> CLASS_SHIFT) as i64 - (last >> CLASS_SHIFT) as i64;
        objects.varint(zigzag(class));
        let serial = (reference & SERIAL) as i64 - (last & SERIAL) as i64;
        objects.varint(zigzag(serial));
    }
    if reference != 0 {
        model.saw(place, slot, reference);
    }
    code == OTHER
}

/// Packs an object that is seen for the first time.
#[inline(always)]
fn object(model: &mut Model, objects: &mut Column, reference: u64) {
    let newest = model.newest & SERIAL;
    let serial = (reference & SERIAL) as i64 - newest as i64 - 1;
    objects.varint(zigzag(serial));
    objects.varint(reference >> CLASS_SHIFT);
    model.newest = reference;
}

/// The limit of numbers of which the varint has at most three bytes.
const SHORT_VARINT: u32 = 1 << 21;

/// The varint of such a number and its length, without a jump.
#[inline(always)]
fn short_varint(value: u32) -> (u32, usize) {
    let groups = (value & 0x7f) | ((value & 0x3f80) << 1) | ((value & 0x1f_c000) << 2);
    let (second, third) = (value >= 1 << 7, value >= 1 << 14);
    let more = (u32::from(second) << 7) | (u32::from(third) << 15);
    (groups | more, 1 + usize::from(second) + usize::from(third))
}

fn sort<T: Ord>(ids: &mut Vec<T>) {
    ids.sort_unstable();
    ids.dedup();
}
