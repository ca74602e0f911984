//! From a file's bytes to a [`Crash`].

use crate::VERSION;
use crate::crash::{Body, ClassInfo, Failure, Meta, Object, ObjectBlock, Origin, Value};
use crate::record::{self, FILE_HEADER, Kind, MAGIC};
use serde::de::DeserializeOwned;

/// Why a file cannot be read as a crash file at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another kind of file.
    #[error("not a Hindsight crash file (it does not start with HSCRASH)")]
    NotACrashFile,
    /// Made by a later release.
    #[error(
        "crash file of format version {found}; this hindsight reads up to version {supported}: \
         use the hindsight release that recorded it, or a newer one"
    )]
    NewerVersion {
        /// Version in the file.
        found: u32,
        /// [`VERSION`].
        supported: u32,
    },
    /// What is needed at least (exception and frames) is not there.
    #[error("damaged at offset {offset:#x}: {what}; the exception and its frames are lost")]
    Damaged {
        /// Bytes from the start of the file.
        offset: usize,
        /// What was wrong there.
        what: String,
    },
}

/// A crash as read back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crash {
    /// Circumstances.
    pub meta: Meta,
    /// Exception and frames.
    pub failure: Failure,
    /// Classes by [`ClassInfo::id`].
    pub classes: Vec<ClassInfo>,
    /// Objects by number; `None` where the block that held it is lost.
    pub objects: Vec<Option<Object>>,
    /// Origins of names that compilers have numbered, if the file belongs to tests.
    pub origins: Vec<Origin>,
    /// Classes of which objects could not be restored when the tests were made that the file belongs to; not
    /// known of other files, and of tests that were not run.
    pub unrestored: Option<Vec<String>>,
    /// What is missing, in words with offsets; empty for a whole file.
    pub damage: Vec<String>,
    /// Bytes after the end record, of which nothing is known.
    pub trailing: usize,
}

impl Crash {
    /// Reads a file, as far as it is whole.
    ///
    /// A file that was cut short or damaged still gives what can be read, and
    /// says in [`Crash::damage`] what cannot.
    ///
    /// # Errors
    ///
    /// Fails if `file` is not a crash file, is of a newer version, or has lost
    /// its first two records.
    pub fn read(file: &[u8]) -> Result<Crash, Error> {
        check_header(file)?;
        let mut crash = Crash::default();
        let mut seen = Seen::default();
        let mut offset = FILE_HEADER;
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
            let taken = if found.sound {
                found
                    .unpack()
                    .map_err(str::to_owned)
                    .and_then(|raw| crash.take(found.kind, &raw, &mut seen))
            } else {
                Err("a record's checksum does not fit".to_owned())
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
            return Err(Error::Damaged { offset, what });
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
                    // Writers number classes as they come; a gap means a lost record.
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
            Kind::Unknown(_) => {}
        }
        Ok(())
    }

    /// Numbers of objects are stored as integers; the types of the places
    /// they stand in tell which are which.
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

/// Objects and classes that may be missing before others, in all of a file;
/// keeps hostile numbers from asking for gigabytes, at once or bit by bit.
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
    /// Counts numbers that were passed over; nothing if these are too many.
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

fn decode<T: DeserializeOwned>(raw: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(raw).map_err(|error| format!("a record does not decode: {error}"))
}
