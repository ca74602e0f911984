//! Turns the vocabulary into records.
//!
//! Each function returns the bytes of one record; the caller writes them to a file in the order
//! that the crate's documentation gives.

use crate::crash::{Body, ClassInfo, Failure, Meta, Object, ObjectBlock, Origin, Text, Value};
use crate::record::{self, FILE_HEADER, Kind, MAX_RAW, pack};
use serde::Serialize;
use std::iter;
use std::mem::size_of;

/// The number of objects in one record. A file cut short loses whole records.
pub const OBJECTS_PER_BLOCK: usize = 2048;

/// The number of bytes of content after which a record takes no further object.
const BYTES_PER_BLOCK: usize = 16 << 20;

/// The most bytes of content in memory that an object may have, so that no record of it exceeds
/// [`MAX_RAW`].
pub const MAX_OBJECT: usize = MAX_RAW / 2;

// Two bytes of text in memory take at most three bytes in the file.
const _: () = assert!(BYTES_PER_BLOCK + MAX_OBJECT / 2 * 3 < MAX_RAW);

fn encode<T: Serialize>(kind: Kind, value: &T) -> Vec<u8> {
    let raw = rmp_serde::to_vec(value).expect("plain data always serialises to memory");
    pack(kind, &raw)
}

/// The record of a failure's circumstances.
pub fn meta(meta: &Meta) -> Vec<u8> {
    encode(Kind::Meta, meta)
}

/// The record of the exception and its frames.
pub fn failure(failure: &Failure) -> Vec<u8> {
    encode(Kind::Failure, failure)
}

/// A record of classes.
pub fn classes(classes: &[ClassInfo]) -> Vec<u8> {
    encode(Kind::Classes, &classes)
}

/// A record of objects whose numbers start at `first`.
pub fn objects(first: u32, objects: Vec<Object>) -> Vec<u8> {
    encode(Kind::Objects, &ObjectBlock { first, objects })
}

/// Records of all objects in their order, made one after the other.
pub fn blocks(objects: impl Iterator<Item = Object>) -> impl Iterator<Item = Vec<u8>> {
    let mut all = objects;
    let mut first = 0_u32;
    iter::from_fn(move || {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while block.len() < OBJECTS_PER_BLOCK && bytes < BYTES_PER_BLOCK {
            let Some(object) = all.next() else { break };
            bytes += size(&object.body);
            block.push(object);
        }
        let number = first;
        first += block.len() as u32;
        (!block.is_empty()).then(|| self::objects(number, block))
    })
}

/// The number of bytes of an object's content in memory; in a file, it takes no more besides its
/// frame.
fn size(body: &Body) -> usize {
    match body {
        Body::Primitives(bytes) | Body::String(Text::Utf16(bytes)) => bytes.len(),
        Body::String(Text::Utf8(text)) | Body::Class(text) | Body::Hole(text) => text.len(),
        Body::Instance(values) | Body::References(values) | Body::Enum { fields: values, .. } => {
            values.len() * size_of::<Value>()
        }
        Body::Lambda(lambda) => lambda.captured.len() * size_of::<(String, Value)>(),
    }
}

/// A record of origins.
pub fn origins(origins: &[Origin]) -> Vec<u8> {
    encode(Kind::Origins, &origins)
}

/// A record of the classes whose objects could not be restored.
pub fn unrestored(classes: &[String]) -> Vec<u8> {
    encode(Kind::Unrestored, &classes)
}

/// The bytes of a whole file with these records for tests in place of those that it has; `None` if
/// the file is not whole.
pub fn for_tests(file: &[u8], new: &[Origin], classes: Option<&[String]>) -> Option<Vec<u8>> {
    let mut out = file.get(..FILE_HEADER)?.to_vec();
    let mut offset = FILE_HEADER;
    let mut records = 0;
    loop {
        let found = record::find(file, offset).ok()?;
        match found.kind {
            Kind::End => break,
            Kind::Origins | Kind::Unrestored => {}
            _ => {
                out.extend(&file[offset..found.next]);
                records += 1;
            }
        }
        offset = found.next;
    }
    if !new.is_empty() {
        out.extend(origins(new));
        records += 1;
    }
    if let Some(classes) = classes {
        out.extend(unrestored(classes));
        records += 1;
    }
    out.extend(end(records));
    Some(out)
}

/// The last record; `records` is the number of records before it.
pub fn end(records: u32) -> Vec<u8> {
    encode(Kind::End, &records)
}
