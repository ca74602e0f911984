//! Copy plans: what the analyzer knows of methods, for the agent to read before they run.
//!
//! # Layout
//!
//! All integers are little-endian.
//!
//! ```text
//! "HSPLAN\r\n"  version:u32  length:u32  crc32(content):u32  crc32(of the 20 bytes before):u32
//! content[length]: a Plan in MessagePack, structures as arrays in the order of their fields
//! ```
//!
//! New fields go to the end and are optional for the reader.
//!
//! # Versions
//!
//! - 1: first format.

use serde::{Deserialize, Serialize};

/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"HSPLAN\r\n";
const HEADER: usize = 24;

/// What is known of a program's methods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The name and version of the program that made the plan.
    pub made_by: String,
    /// The classes, sorted by name.
    pub classes: Vec<Class>,
}

/// A class of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// The class's internal name.
    pub name: String,
    /// CRC-32 of its class file. Nothing is known of another class with the same name.
    pub crc: u32,
    /// The methods with a body of which something is known, in the class file's order.
    pub methods: Vec<Method>,
}

/// A method of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// The method's name.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// Whether nothing in its body can throw.
    pub cannot_throw: bool,
    /// Whether it cannot throw, calls nothing and has no loop, so that no probe of any kind pays.
    pub trivial: bool,
    /// The parameters that refer to objects.
    pub parameters: Vec<Parameter>,
    /// The static fields that the method, or what it calls, may read; `None` if that is not known.
    #[serde(default)]
    pub statics: Option<Vec<Field>>,
}

/// A parameter of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The parameter's place. In instance methods `this` is 0; in static methods the first
    /// parameter is 0.
    pub index: u16,
    /// Whether the method, and all that it calls, leave the object as it was, so that the reference
    /// alone may be kept.
    pub immutable: bool,
    /// Whether more of the object's entry state may be lost than `fields` lists: objects that its
    /// fields refer to, array elements, or effects of code that is not known.
    pub deep: bool,
    /// The fields of the object itself that the method, or what it calls, may both read and write.
    /// Their values at entry may be needed, and may be lost.
    pub fields: Vec<Field>,
    /// Those of them that another class declares and that the method's class may
    /// read, as fields of the parameter's declared class.
    #[serde(default)]
    pub open: Vec<OpenField>,
}

/// A field.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Field {
    /// The internal name of the class that declares it.
    pub class: String,
    /// The field's name.
    pub name: String,
}

/// A field of a known class.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpenField {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// Why a file is not a usable plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is of another kind.
    #[error("not a Hindsight copy plan (it does not start with HSPLAN)")]
    NotAPlan,
    /// The file was made by a later release.
    #[error("copy plan of format version {found}; this release reads up to version {VERSION}")]
    NewerVersion {
        /// The version in the file.
        found: u32,
    },
    /// The file was cut short, or changed; the text says where.
    #[error("the copy plan is damaged: {0}")]
    Damaged(&'static str),
}

impl Plan {
    /// The bytes of the plan's file.
    ///
    /// # Panics
    ///
    /// Panics if the plan takes 4 GB or more.
    pub fn encode(&self) -> Vec<u8> {
        let content = rmp_serde::to_vec(self).expect("strings and numbers always encode");
        let mut file = MAGIC.to_vec();
        file.extend(VERSION.to_le_bytes());
        let length = u32::try_from(content.len()).expect("a plan has less than 4 GB");
        file.extend(length.to_le_bytes());
        file.extend(crc32fast::hash(&content).to_le_bytes());
        file.extend(crc32fast::hash(&file).to_le_bytes());
        file.extend(content);
        file
    }

    /// Reads a plan from the bytes of its file.
    ///
    /// # Errors
    ///
    /// Fails if it is not a plan, of a newer version, or damaged. A damaged plan is not used in
    /// part.
    pub fn decode(file: &[u8]) -> Result<Plan, Error> {
        if !file.starts_with(MAGIC) {
            return Err(Error::NotAPlan);
        }
        let Some((header, content)) = file.split_at_checked(HEADER) else {
            return Err(Error::Damaged("it ends within its header"));
        };
        let word = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        if crc32fast::hash(&header[..20]) != word(20) {
            return Err(Error::Damaged("the header's checksum does not fit"));
        }
        if word(8) > VERSION {
            return Err(Error::NewerVersion { found: word(8) });
        }
        if content.len() as u64 != u64::from(word(12)) {
            return Err(Error::Damaged("it has another length than it says"));
        }
        if crc32fast::hash(content) != word(16) {
            return Err(Error::Damaged("the checksum does not fit"));
        }
        rmp_serde::from_slice(content).map_err(|_| Error::Damaged("its content does not decode"))
    }

    /// What is known of a class.
    pub fn class(&self, name: &str) -> Option<&Class> {
        let at = self
            .classes
            .binary_search_by(|class| class.name.as_str().cmp(name));
        self.classes.get(at.ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan() -> Plan {
        let field = Field {
            class: "a/B".into(),
            name: "x".into(),
        };
        let parameter = Parameter {
            index: 1,
            immutable: false,
            deep: true,
            fields: vec![field],
            open: vec![OpenField {
                name: "x".into(),
                descriptor: "I".into(),
            }],
        };
        let method = Method {
            name: "m".into(),
            descriptor: "(La/B;)V".into(),
            cannot_throw: true,
            trivial: false,
            parameters: vec![parameter],
            statics: Some(Vec::new()),
        };
        Plan {
            made_by: "hindsight 1".into(),
            classes: vec![Class {
                name: "a/B".into(),
                crc: 7,
                methods: vec![method],
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Plan::decode(&plan().encode()).unwrap();
        assert_eq!(read, plan());
        assert_eq!(read.class("a/B").unwrap().crc, 7);
        assert!(read.class("a/C").is_none());
    }

    #[test]
    fn damage_is_told() {
        let file = plan().encode();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 0x40;
            assert!(Plan::decode(&damaged).is_err(), "byte {at}");
            assert!(Plan::decode(&file[..at]).is_err(), "cut at {at}");
        }
        let mut newer = file;
        newer[8] = 2;
        let crc = crc32fast::hash(&newer[..20]).to_le_bytes();
        newer[20..24].copy_from_slice(&crc);
        assert_eq!(Plan::decode(&newer), Err(Error::NewerVersion { found: 2 }));
    }

    /// A file with this content, all checksums as they should be.
    fn file(content: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend((content.len() as u32).to_le_bytes());
        file.extend(crc32fast::hash(content).to_le_bytes());
        file.extend(crc32fast::hash(&file).to_le_bytes());
        file.extend(content);
        file
    }

    proptest! {
        #[test]
        fn any_content_is_read_without_panic(content: Vec<u8>) {
            let _ = Plan::decode(&file(&content));
        }
    }

    /// Another number or letter is another plan, another structure is none.
    #[test]
    fn content_that_is_wrong_is_refused() {
        let sound = plan().encode();
        let content = &sound[HEADER..];
        let (mut taken, mut refused) = (0, 0);
        for at in 0..content.len() {
            for bit in 0..8 {
                let mut changed = content.to_vec();
                changed[at] ^= 1 << bit;
                match Plan::decode(&file(&changed)) {
                    Ok(read) => {
                        assert_eq!(Plan::decode(&read.encode()), Ok(read));
                        taken += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        let least = content.len();
        assert!(
            taken > least && refused > least,
            "{taken}, {refused} of {least}"
        );
    }
}
