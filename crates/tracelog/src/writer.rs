//! From the vocabulary to records.
//!
//! Each function gives the bytes of one record; the caller writes them to a
//! file in the order that the crate's documentation gives.

use crate::crash::{ClassInfo, Failure, Meta, Object, ObjectBlock, Origin};
use crate::record::{self, FILE_HEADER, Kind, pack};
use serde::Serialize;

/// Objects that go into one record. A file cut short loses whole blocks.
pub const OBJECTS_PER_BLOCK: usize = 2048;

fn encode<T: Serialize>(kind: Kind, value: &T) -> Vec<u8> {
    let raw = rmp_serde::to_vec(value).expect("plain data always serialises to memory");
    pack(kind, &raw)
}

/// The record of the circumstances.
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

/// A record of origins.
pub fn origins(origins: &[Origin]) -> Vec<u8> {
    encode(Kind::Origins, &origins)
}

/// A record of classes of which objects could not be restored.
pub fn unrestored(classes: &[String]) -> Vec<u8> {
    encode(Kind::Unrestored, &classes)
}

/// A whole file with these records for tests instead of those that it has; `None` if it is not whole.
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

/// The last record; `records` counts those before it.
pub fn end(records: u32) -> Vec<u8> {
    encode(Kind::End, &records)
}
