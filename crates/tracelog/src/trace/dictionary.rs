//! What the numbers in events mean: the file `dictionary.hsd`.
//!
//! After the header, which is like a segment's, come records:
//!
//! ```text
//! len:u32  stored_len:u32  crc32(payload):u32  crc32(of the 12 bytes before):u32
//! payload[stored_len]     zstd of len bytes of MessagePack: a [`Record`]
//! ```
//!
//! A record is a map with one entry: its name (`Start`, `Traced`, ...), and an array of its fields.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::block::{SEGMENT_HEADER, check_header, u32_at};
use super::error::{Error, ErrorKind};
use super::kind::Names;

/// The bytes that the file starts with.
pub const MAGIC: &[u8; 8] = b"HSDICT\n\0";
/// The number of bytes before a record's payload.
pub const RECORD_HEADER: usize = 16;
/// The largest size of a record.
pub const MAX_RECORD: usize = 64 << 20;

/// The bytes that all records together may unpack to, besides the next constant for each byte of
/// the file. A byte of a record can become dozens in memory.
const FREE_BYTES: usize = 4 << 20;
const BYTES_A_BYTE: usize = 64;

/// A record. Structures are MessagePack arrays in the order of their fields; new fields go to the
/// end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Record {
    /// What was recorded. It is the first record.
    Start(Start),
    /// A class whose code records events.
    Traced(TracedClass),
    /// A class that objects in events have.
    Class(ObjectClass),
    /// A platform thread.
    Thread(Thread),
    /// The end of the recording, in good order.
    Stop(Stop),
}

/// What was recorded, and of which process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Start {
    /// When the recording began, in milliseconds since 1970.
    pub started_ms: i64,
    /// The process id.
    pub pid: u32,
    /// Which events were asked for: `calls`, `writes`, `reads`, `values`.
    pub what: Vec<String>,
    /// The user's name for the program's version.
    pub version: String,
    /// The bounds of the recording (`from`, `until`, `sample`), as key and value; empty if it
    /// covers the whole run.
    #[serde(default)]
    pub bounds: Vec<(String, String)>,
    /// The unique name of this run, also across containers, like `run` in its `run.json`; empty
    /// before version 5.
    #[serde(default)]
    pub run: String,
}

/// A class that was instrumented.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TracedClass {
    /// The class's binary name with dots.
    pub name: String,
    /// SHA-256 in hexadecimal of the class file as its loader gave it; empty if not known.
    pub sha256: String,
    /// The class's methods, by rising id.
    pub methods: Vec<Method>,
    /// The meanings of the ids of fields in its code.
    pub fields: Vec<Member>,
    /// The meanings of the ids of callees in its code.
    pub callees: Vec<Member>,
    /// Methods that record less than asked for, or nothing: name, descriptor and reason.
    pub less: Vec<(String, String, String)>,
    /// When and by which loader the class was defined; `None` in version 1.
    #[serde(default)]
    pub defined: Option<Defined>,
}

/// The definition of a class.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Defined {
    /// The stamp at the definition: events with this or a later stamp come after it.
    pub stamp: u64,
    /// The thread on which the class was defined, as `Thread.getId` returns it; 0 if that is not
    /// known.
    pub thread: u64,
    /// The class of its loader; empty for the boot loader.
    pub loader: String,
    /// Whether the class existed before the recording, or was changed later by another agent.
    /// Traces of older recorders treat either as the definition.
    #[serde(default)]
    pub before: bool,
}

/// The basic blocks of a method.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Blocks {
    /// The number of the first block; the others are numbered consecutively.
    pub first: u32,
    /// The offset of each block in the bytecode, and its line, or 0.
    pub starts: Vec<(u16, u16)>,
}

/// A method whose code records events.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Method {
    /// The id by which events name it.
    pub id: u32,
    /// The method's name.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// The method's access flags.
    pub access: u16,
    /// The method's first and last line.
    pub lines: Option<(u16, u16)>,
    /// The parameters that its entry records: the index (0 is `this`; parameters count from 1, in
    /// static methods, too) and the descriptor. References come first in the event, then values
    /// that fit an `int`, then `long` and `double`, each in this order; what one event cannot hold
    /// is in the next ones.
    pub told: Vec<(u16, String)>,
    /// The names of its parameters, as far as they are known.
    pub parameter_names: Vec<Option<String>>,
    /// Its basic blocks, if their running is recorded.
    #[serde(default)]
    pub blocks: Option<Blocks>,
}

/// A field or method as code refers to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Member {
    /// The id by which events name it.
    pub id: u32,
    /// The class in which the search for it begins, as a binary name with dots.
    pub owner: String,
    /// The member's name.
    pub name: String,
    /// The member's descriptor.
    pub descriptor: String,
}

/// A class that objects in events have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ObjectClass {
    /// The number by which object ids name it.
    pub id: u32,
    /// The class's name as `Class.getName` returns it.
    pub name: String,
    /// The method that its objects run, if the class is that of a lambda expression or method
    /// reference and the method is known; `None` before version 7.
    #[serde(default)]
    pub code: Option<Code>,
}

/// The method behind a lambda expression or method reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Code {
    /// The class by which the method is named, with dots.
    pub class: String,
    /// The method's name.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
}

/// A platform thread that records events. Virtual threads are only in the log.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Thread {
    /// The thread's id, as `Thread.getId` returns it.
    pub id: u64,
    /// The thread's name at its first event.
    pub name: String,
}

/// How a recording ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Stop {
    /// When the recording ended, in milliseconds since 1970.
    pub ended_ms: i64,
    /// The number of events that were not stored.
    pub lost: u64,
    /// The number of segments that were deleted to keep to `max-trace`.
    pub segments_deleted: u64,
    /// How often the recording began with the method that `from` names.
    #[serde(default)]
    pub windows: u64,
    /// The number of the last segment, and how many blocks the segments have; `None` if that is not
    /// recorded.
    #[serde(default)]
    pub last: Option<(u32, u64)>,
    /// The [`super::coverage::checksum`] of the final content of `coverage.hsb`; `None` if there is
    /// no such file, or if its final content could not be written.
    #[serde(default)]
    pub blocks: Option<u32>,
    /// The number of stack overflows among the recorded exceptions. Where each was thrown, an event
    /// may be missing that is not counted as lost.
    #[serde(default)]
    pub stack_ends: u64,
    /// The streams to which the lost events belong, as far as that is known.
    #[serde(default)]
    pub losses: Vec<Loss>,
    /// How often an event refers to an object that has no number, because all numbers were in use.
    #[serde(default)]
    pub unnumbered: u64,
    /// The number of records of this file that were not stored. What their ids mean is not known.
    #[serde(default)]
    pub names_lost: u64,
}

/// The events that were lost of a stream.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Loss {
    /// The thread of the first events that were lost, or of those before them.
    pub thread: u64,
    /// Whether that thread is virtual; events of other threads may then be among the lost ones.
    pub is_virtual: bool,
    /// The number of the stream.
    pub stream: u64,
    /// The sequence number of the first block that is missing, or in whose time the first events
    /// were lost.
    pub sequence: u64,
    /// The number of events that were lost.
    pub events: u64,
}

/// The header of the file.
pub fn file_header() -> [u8; SEGMENT_HEADER] {
    super::block::file_header(MAGIC)
}

/// Packs one record.
///
/// # Errors
///
/// Fails if there is no memory for it.
pub fn pack(record: &Record) -> io::Result<Vec<u8>> {
    let raw = rmp_serde::to_vec(record).map_err(io::Error::other)?;
    let payload = zstd::bulk::compress(&raw, 1)?;
    let mut out = Vec::with_capacity(RECORD_HEADER + payload.len());
    out.extend((raw.len() as u32).to_le_bytes());
    out.extend((payload.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(&payload).to_le_bytes());
    out.extend(crc32fast::hash(&out).to_le_bytes());
    out.extend(payload);
    Ok(out)
}

/// A field or callee, by its indices in [`Dictionary`].
#[derive(Debug, Clone, Copy)]
struct Place {
    class: u32,
    index: u32,
}

/// The meanings of all numbers in events.
#[derive(Debug, Default)]
pub struct Dictionary {
    /// What was recorded; `None` if the file ends before that.
    pub start: Option<Start>,
    /// How the recording ended; `None` if it did not end in good order.
    pub stop: Option<Stop>,
    /// The classes whose code records events.
    pub traced: Vec<TracedClass>,
    /// The platform threads, by id.
    pub threads: BTreeMap<u64, String>,
    classes: FxHashMap<u32, ObjectClass>,
    methods: FxHashMap<u32, Place>,
    fields: FxHashMap<u32, Place>,
    callees: FxHashMap<u32, Place>,
}

impl Dictionary {
    /// Reads a dictionary as far as it is whole. The error in the result says where the first
    /// damage is, and why.
    ///
    /// Damaged records are skipped, and so are records that would take far more memory than the
    /// file is large; the records after them are still read.
    ///
    /// # Errors
    ///
    /// Fails if it is not a dictionary, or one of a later version.
    pub fn read(bytes: &[u8]) -> Result<(Self, Option<Error>), Error> {
        check_header(bytes, MAGIC)?;
        let mut dictionary = Self::default();
        let mut damage = None;
        let mut left = FREE_BYTES.saturating_add(bytes.len().saturating_mul(BYTES_A_BYTE));
        let mut at = SEGMENT_HEADER;
        while at < bytes.len() {
            let start = at;
            match record(bytes, &mut at, &mut left) {
                Ok(record) => dictionary.add(record),
                Err(error) => {
                    damage.get_or_insert(error);
                    if at == start {
                        at = find_record(bytes, start + 1);
                    }
                }
            }
        }
        Ok((dictionary, damage))
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Start(start) => self.start = Some(start),
            Record::Stop(stop) => self.stop = Some(stop),
            Record::Thread(thread) => {
                self.threads.insert(thread.id, thread.name);
            }
            Record::Class(class) => {
                self.classes.insert(class.id, class);
            }
            Record::Traced(traced) => {
                let class = self.traced.len() as u32;
                let place = |index: usize| Place {
                    class,
                    index: index as u32,
                };
                for (index, method) in traced.methods.iter().enumerate() {
                    self.methods.insert(method.id, place(index));
                }
                for (index, field) in traced.fields.iter().enumerate() {
                    self.fields.insert(field.id, place(index));
                }
                for (index, callee) in traced.callees.iter().enumerate() {
                    self.callees.insert(callee.id, place(index));
                }
                self.traced.push(traced);
            }
        }
    }

    /// The name of a class of objects.
    pub fn class(&self, id: u32) -> Option<&str> {
        self.classes.get(&id).map(|class| class.name.as_str())
    }

    /// The method that objects of a class run, if they are lambdas and it is known.
    pub fn code(&self, id: u32) -> Option<&Code> {
        self.classes.get(&id)?.code.as_ref()
    }

    /// The methods that the objects of all classes of lambdas run, as far as they are known.
    pub fn codes(&self) -> impl Iterator<Item = &Code> {
        self.classes
            .values()
            .filter_map(|class| class.code.as_ref())
    }

    /// All classes of objects.
    pub fn classes(&self) -> impl Iterator<Item = (u32, &str)> {
        self.classes
            .iter()
            .map(|(id, class)| (*id, class.name.as_str()))
    }

    /// The index in [`Self::traced`] of the class whose code has an event's id.
    pub fn class_of(&self, names: Names, id: u32) -> Option<usize> {
        let place = match names {
            Names::Nothing => return None,
            Names::Method => self.methods.get(&id),
            Names::Field => self.fields.get(&id),
            Names::Callee => self.callees.get(&id),
        };
        place.map(|place| place.class as usize)
    }

    /// A method and its class.
    pub fn method(&self, id: u32) -> Option<(&TracedClass, &Method)> {
        let place = self.methods.get(&id)?;
        let class = self.traced.get(place.class as usize)?;
        Some((class, class.methods.get(place.index as usize)?))
    }

    /// A field as code refers to it.
    pub fn field(&self, id: u32) -> Option<&Member> {
        let place = self.fields.get(&id)?;
        let class = self.traced.get(place.class as usize)?;
        class.fields.get(place.index as usize)
    }

    /// A callee as code refers to it.
    pub fn callee(&self, id: u32) -> Option<&Member> {
        let place = self.callees.get(&id)?;
        let class = self.traced.get(place.class as usize)?;
        class.callees.get(place.index as usize)
    }
}

/// The offset of the next record whose header is sound, or the end.
fn find_record(bytes: &[u8], from: usize) -> usize {
    let is_sound = |at: &usize| {
        let header = bytes.get(*at..).and_then(|rest| rest.get(..RECORD_HEADER));
        header.is_some_and(|header| {
            u32_at(header, 0) as usize <= MAX_RECORD
                && at + RECORD_HEADER + u32_at(header, 4) as usize <= bytes.len()
                && crc32fast::hash(&header[..12]) == u32_at(header, 12)
        })
    };
    (from..bytes.len()).find(is_sound).unwrap_or(bytes.len())
}

/// Reads a record, and moves `at` behind it; also behind a damaged one, if its header is sound.
/// `left` is the number of bytes that may still be unpacked.
fn record(bytes: &[u8], at: &mut usize, left: &mut usize) -> Result<Record, Error> {
    let start = *at;
    let error = |kind| Error::at(kind, start);
    let rest = bytes.get(start..).unwrap_or_default();
    let header = rest.get(..RECORD_HEADER).ok_or(error(ErrorKind::Cut))?;
    if crc32fast::hash(&header[..12]) != u32_at(header, 12) {
        return Err(error(ErrorKind::HeaderSum));
    }
    let (len, stored) = (u32_at(header, 0) as usize, u32_at(header, 4) as usize);
    if len > MAX_RECORD {
        return Err(error(ErrorKind::TooLong));
    }
    let payload = rest
        .get(RECORD_HEADER..)
        .and_then(|rest| rest.get(..stored));
    let payload = payload.ok_or(error(ErrorKind::Cut))?;
    *at = start + RECORD_HEADER + stored;
    if crc32fast::hash(payload) != u32_at(header, 8) {
        return Err(error(ErrorKind::PayloadSum));
    }
    *left = left.checked_sub(len).ok_or(error(ErrorKind::TooLong))?;
    // The length is a claim: memory follows what is really there.
    let mut raw = Vec::new();
    let decoder = zstd::stream::Decoder::new(payload).map_err(|_| error(ErrorKind::Compression))?;
    io::Read::read_to_end(&mut io::Read::take(decoder, len as u64 + 1), &mut raw)
        .map_err(|_| error(ErrorKind::Compression))?;
    if raw.len() != len {
        return Err(error(ErrorKind::Compression));
    }
    rmp_serde::from_slice(&raw).map_err(|_| error(ErrorKind::Record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_unpack_to_far_more_than_the_file_has_are_passed_over() {
        let class = |parameters: usize| {
            Record::Traced(TracedClass {
                methods: vec![Method {
                    parameter_names: vec![None; parameters],
                    ..Method::default()
                }],
                ..TracedClass::default()
            })
        };
        let mut file = file_header().to_vec();
        for parameters in [FREE_BYTES / 2, FREE_BYTES, 1] {
            file.extend(pack(&class(parameters)).unwrap());
        }
        let (read, damage) = Dictionary::read(&file).unwrap();
        let count = |class: &TracedClass| class.methods[0].parameter_names.len();
        let counts: Vec<usize> = read.traced.iter().map(count).collect();
        assert_eq!(counts, [FREE_BYTES / 2, 1]);
        assert_eq!(damage.map(|error| error.kind()), Some(ErrorKind::TooLong));
    }

    #[test]
    fn the_start_of_an_older_version_has_no_run() {
        #[derive(Serialize)]
        enum Old {
            Start(
                i64,
                u32,
                [&'static str; 1],
                &'static str,
                [(&'static str, &'static str); 1],
            ),
        }
        let old = Old::Start(1, 2, ["calls"], "1.0", [("from", "a.B.c")]);
        let read = rmp_serde::from_slice(&rmp_serde::to_vec(&old).unwrap());
        let Record::Start(start) = read.unwrap() else {
            panic!("not a start");
        };
        assert_eq!((start.started_ms, start.pid, start.bounds.len()), (1, 2, 1));
        assert_eq!(start.run, "");
    }

    #[test]
    fn classes_of_older_versions_do_not_say_what_runs() {
        #[derive(Serialize)]
        enum Old {
            Class(u32, &'static str),
        }
        let old = rmp_serde::to_vec(&Old::Class(7, "a.B$$Lambda/0x1")).unwrap();
        let Record::Class(class) = rmp_serde::from_slice(&old).unwrap() else {
            panic!("not a class");
        };
        assert_eq!((class.id, class.code), (7, None));
    }
}
