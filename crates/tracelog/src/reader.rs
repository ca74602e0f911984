//! Reads a file's bytes into a [`Crash`].

use crate::VERSION;
use crate::crash::{Body, ClassInfo, Failure, Meta, Object, ObjectBlock, Origin, Value};
use crate::record::{self, FILE_HEADER, Kind, MAGIC};
use serde::de::DeserializeOwned;

/// Why a file cannot be read as a crash file at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is of another kind.
    #[error("not a Hindsight crash file (it does not start with HSCRASH)")]
    NotACrashFile,
    /// The file was made by a later release.
    #[error(
        "crash file of format version {found}; this hindsight reads up to version {supported}: \
         use the hindsight release that recorded it, or a newer one"
    )]
    NewerVersion {
        /// The version in the file.
        found: u32,
        /// The newest version that can be read, [`VERSION`].
        supported: u32,
    },
    /// The file was made by a later release of the same version, which has added to a record.
    #[error("crash file with {LATER}")]
    LaterRecord,
    /// The minimum that is needed (the exception and its frames) is not there.
    #[error("damaged at offset {offset:#x}: {what}; the exception and its frames are lost")]
    Damaged {
        /// The offset of the damage, in bytes from the start of the file.
        offset: usize,
        /// What is wrong there.
        what: String,
    },
}

/// A crash as read back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crash {
    /// The circumstances of the failure.
    pub meta: Meta,
    /// The exception and its frames.
    pub failure: Failure,
    /// The classes, by [`ClassInfo::id`].
    pub classes: Vec<ClassInfo>,
    /// The objects by number; `None` where the block that held the object is lost.
    pub objects: Vec<Option<Object>>,
    /// The origins of names that compilers have numbered, if the file belongs to tests.
    pub origins: Vec<Origin>,
    /// The classes whose objects could not be restored when the file's tests were made; `None` for
    /// other files, and for tests that were not run.
    pub unrestored: Option<Vec<String>>,
    /// What is missing, in words with offsets; empty for a whole file.
    pub damage: Vec<String>,
    /// The number of records of kinds that a later release has added.
    pub unknown: usize,
    /// The number of bytes after the end record, of which nothing is known.
    pub trailing: usize,
}

impl Crash {
    /// Reads a file, as far as it is whole.
    ///
    /// A file that was cut short or damaged still gives what can be read; [`Crash::damage`] lists
    /// what cannot.
    ///
    /// # Errors
    ///
    /// Fails if `file` is not a crash file, is of a newer version, or has lost its first two
    /// records.
    pub fn read(file: &[u8]) -> Result<Crash, Error> {
        check_header(file)?;
        let mut crash = Crash::default();
        let mut seen = Seen::default();
        let mut offset = FILE_HEADER;
        let mut memory = MEMORY + MEMORY_PER_BYTE * file.len();
        let mut first = None;
        while !seen.end {
            if offset == file.len() {
                crash.damage.push(format!(
                    "the file ends at offset {offset:#x} without its end record"
                ));
                break;
            }
            let found = match record::find(file, offset) {
                Ok(found) => found,
                Err(what) => {
                    crash.damage.push(format!("{what} (at offset {offset:#x})"));
                    first.get_or_insert_with(|| (offset, what.to_string()));
                    break;
                }
            };
            let taken = if !found.sound {
                Err("a record's checksum does not fit".to_owned())
            } else if found.raw_len > memory {
                Err(TOO_LARGE.to_owned())
            } else {
                found.unpack().map_err(str::to_owned).and_then(|raw| {
                    memory = memory.checked_sub(weight(&raw)).ok_or(TOO_LARGE)?;
                    crash.take(found.kind, &raw, &mut seen)
                })
            };
            if let Err(what) = taken {
                crash.damage.push(format!("{what} (at offset {offset:#x})"));
                first.get_or_insert((offset, what));
            }
            seen.records += 1;
            offset = found.next;
        }
        if !(seen.meta && seen.failure) {
            let (offset, what) =
                first.unwrap_or_else(|| (offset, "the file ends before these".to_owned()));
            return Err(match what.as_str() {
                LATER => Error::LaterRecord,
                _ => Error::Damaged { offset, what },
            });
        }
        if seen.end {
            crash.trailing = file.len() - offset;
        }
        crash.type_values();
        Ok(crash)
    }

    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }

    /// The object with this number, if it was stored and is not lost.
    pub fn object(&self, number: u32) -> Option<&Object> {
        self.objects.get(number as usize)?.as_ref()
    }

    /// The class with this number.
    pub fn class(&self, id: u32) -> Option<&ClassInfo> {
        self.classes.get(id as usize)
    }

    fn take(&mut self, kind: Kind, raw: &[u8], seen: &mut Seen) -> Result<(), String> {
        match kind {
            Kind::Meta => {
                self.meta = decode(raw)?;
                seen.meta = true;
            }
            Kind::Failure => {
                self.failure = decode(raw)?;
                seen.failure = true;
            }
            Kind::Classes => {
                for class in decode::<Vec<ClassInfo>>(raw)? {
                    // Writers number classes consecutively; a gap means a lost record.
                    let id = class.id as usize;
                    let missing = id.saturating_sub(self.classes.len());
                    seen.skip(missing).ok_or("a class number is out of range")?;
                    if id >= self.classes.len() {
                        self.classes.resize_with(id + 1, ClassInfo::default);
                    }
                    self.classes[id] = class;
                }
            }
            Kind::Objects => {
                let block: ObjectBlock = decode(raw)?;
                let first = block.first as usize;
                let missing = first.saturating_sub(self.objects.len());
                seen.skip(missing)
                    .ok_or("an object number is out of range")?;
                if self.objects.len() < first + block.objects.len() {
                    self.objects.resize(first + block.objects.len(), None);
                }
                for (place, object) in self.objects[first..].iter_mut().zip(block.objects) {
                    *place = Some(object);
                }
            }
            Kind::Origins => self.origins.extend(decode::<Vec<Origin>>(raw)?),
            Kind::Unrestored => self.unrestored = Some(decode(raw)?),
            Kind::End => {
                seen.end = true;
                let records: u32 = decode(raw)?;
                if records != seen.records {
                    return Err(format!("{} records instead of {records}", seen.records));
                }
            }
            Kind::Unknown(_) => self.unknown += 1,
        }
        Ok(())
    }

    /// Object numbers are stored as integers; this finds them by the types of the places that hold
    /// them.
    fn type_values(&mut self) {
        for frame in &mut self.failure.frames {
            for argument in &mut frame.arguments {
                argument.value = argument.value.typed(&argument.descriptor);
            }
            for patch in &mut frame.patch {
                patch.value = patch.value.typed(&patch.descriptor);
            }
        }
        for field in &mut self.failure.statics {
            field.value = field.value.typed(&field.descriptor);
        }
        for object in self.objects.iter_mut().flatten() {
            match &mut object.body {
                Body::Instance(values) | Body::Enum { fields: values, .. } => {
                    let Some(class) = self.classes.get(object.class as usize) else {
                        continue;
                    };
                    for (value, field) in values.iter_mut().zip(&class.fields) {
                        *value = value.typed(&field.descriptor);
                    }
                }
                Body::References(values) => {
                    for value in values {
                        *value = value.typed("L");
                    }
                }
                Body::Lambda(lambda) => {
                    for (descriptor, value) in &mut lambda.captured {
                        *value = Value::typed(*value, descriptor);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The most objects and classes that may be missing between others, in a whole file. It keeps
/// hostile numbers from asking for gigabytes, at once or bit by bit.
const MAX_MISSING: usize = 1 << 20;

#[derive(Default)]
struct Seen {
    meta: bool,
    failure: bool,
    end: bool,
    records: u32,
    missing: usize,
}

impl Seen {
    /// Counts numbers that were skipped; `None` if there are too many.
    fn skip(&mut self, missing: usize) -> Option<()> {
        let missing = self.missing.checked_add(missing)?;
        if missing > MAX_MISSING {
            return None;
        }
        self.missing = missing;
        Some(())
    }
}

fn check_header(file: &[u8]) -> Result<(), Error> {
    if file.len() < MAGIC.len() && MAGIC.starts_with(file) {
        let what = match file {
            [] => "the file is empty",
            _ => "the file ends within its first bytes",
        };
        return Err(Error::Damaged {
            offset: file.len(),
            what: what.to_owned(),
        });
    }
    if file.get(..8) != Some(MAGIC.as_slice()) {
        return Err(Error::NotACrashFile);
    }
    let Some(header) = file.get(..FILE_HEADER) else {
        return Err(Error::Damaged {
            offset: file.len(),
            what: "the file ends within its header".to_owned(),
        });
    };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if crc32fast::hash(&header[..12]) != word(12) {
        return Err(Error::Damaged {
            offset: 8,
            what: "the header's checksum does not fit".to_owned(),
        });
    }
    match word(8) {
        found if found > VERSION => Err(Error::NewerVersion {
            found,
            supported: VERSION,
        }),
        _ => Ok(()),
    }
}

/// Bytes of memory that the content of a file may take, besides [`MEMORY_PER_BYTE`]: as much as an
/// agent with `max-bytes=512M` takes for it.
const MEMORY: usize = 512 << 20;

/// Additional bytes of memory for each byte of the file: texts are compressed to a tenth, arrays of
/// zeros to a thousandth.
const MEMORY_PER_BYTE: usize = 64;

const TOO_LARGE: &str =
    "what a record holds would take more memory than that of a file of this size may";

/// The damage reported for a record that has more members than this release knows; new members are
/// added at the end.
const LATER: &str = "more in a record than this hindsight knows, made by a later one: use the hindsight release that \
                     recorded it, or a newer one";

/// The approximate number of bytes that a record takes in memory: each MessagePack value takes as
/// much as a [`Value`], and texts also what is in them.
fn weight(raw: &[u8]) -> usize {
    let (mut at, mut weight) = (0_usize, 0_usize);
    while let Some(&tag) = raw.get(at) {
        let length = |bytes: usize| {
            let bytes = raw.get(at + 1..at + 1 + bytes).unwrap_or_default();
            let bytes = bytes.iter().map(|byte| usize::from(*byte));
            bytes.fold(0, |all, byte| all << 8 | byte)
        };
        let (head, content) = match tag {
            0xa0..=0xbf => (1, usize::from(tag & 0x1f)),
            0xc4 | 0xd9 => (2, length(1)),
            0xc5 | 0xda => (3, length(2)),
            0xc6 | 0xdb => (5, length(4)),
            0xcc | 0xd0 => (2, 0),
            0xcd | 0xd1 | 0xdc | 0xde => (3, 0),
            0xca | 0xce | 0xd2 | 0xdd | 0xdf => (5, 0),
            0xcb | 0xcf | 0xd3 => (9, 0),
            _ => (1, 0),
        };
        weight += size_of::<Value>() + content;
        at += head + content;
    }
    weight
}

fn decode<T: DeserializeOwned>(raw: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(raw).map_err(|error| match error {
        rmp_serde::decode::Error::LengthMismatch(_) => LATER.to_owned(),
        error => format!("a record does not decode: {error}"),
    })
}
