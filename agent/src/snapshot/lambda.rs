//! The method behind a lambda expression or method reference.
//!
//! HotSpot implements a lambda by a hidden class whose only method of its own
//! calls the implementing method. The class file is never shown to agents, but
//! its constant pool can be asked for, and holds that method's name.

use crate::jni::Obj;
use crate::jvmti::Jvmti;
use hindsight_tracelog::crash::Lambda;

/// Names the implementing method, if `class` is a lambda's and it can be found.
pub(crate) fn implementation(jvmti: Jvmti, class: Obj, name: &str) -> Option<Lambda> {
    if !name.contains("$$Lambda") {
        return None;
    }
    let (count, bytes) = jvmti.constant_pool(class)?;
    let pool = Pool::parse(count, &bytes)?;
    let own = name.split('/').next()?;
    pool.target(own)
}

/// A constant pool (JVMS 4.4), as far as member references need it.
struct Pool<'a> {
    entries: Vec<Entry<'a>>,
}

#[derive(Clone, Copy)]
enum Entry<'a> {
    Utf8(&'a [u8]),
    Class(u16),
    NameAndType(u16, u16),
    Method { class: u16, name_and_type: u16 },
    MethodHandle { kind: u8, reference: u16 },
    Other,
}

impl<'a> Pool<'a> {
    fn parse(count: u16, bytes: &'a [u8]) -> Option<Pool<'a>> {
        let mut entries = vec![Entry::Other];
        let mut rest = bytes;
        let mut take = |len: usize| -> Option<&'a [u8]> {
            let (head, tail) = rest.split_at_checked(len)?;
            rest = tail;
            Some(head)
        };
        let u16_at = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        while entries.len() < usize::from(count) {
            let tag = take(1)?[0];
            let entry = match tag {
                1 => {
                    let len = u16_at(take(2)?, 0);
                    Entry::Utf8(take(usize::from(len))?)
                }
                7 => Entry::Class(u16_at(take(2)?, 0)),
                10 | 11 => {
                    let bytes = take(4)?;
                    Entry::Method {
                        class: u16_at(bytes, 0),
                        name_and_type: u16_at(bytes, 2),
                    }
                }
                12 => {
                    let bytes = take(4)?;
                    Entry::NameAndType(u16_at(bytes, 0), u16_at(bytes, 2))
                }
                15 => {
                    let bytes = take(3)?;
                    Entry::MethodHandle {
                        kind: bytes[0],
                        reference: u16_at(bytes, 1),
                    }
                }
                3 | 4 | 9 | 17 | 18 => {
                    take(4)?;
                    Entry::Other
                }
                5 | 6 => {
                    take(8)?;
                    Entry::Other
                }
                8 | 16 | 19 | 20 => {
                    take(2)?;
                    Entry::Other
                }
                _ => return None,
            };
            entries.push(entry);
            if matches!(tag, 5 | 6) {
                entries.push(Entry::Other);
            }
        }
        Some(Pool { entries })
    }

    fn text(&self, index: u16) -> Option<String> {
        match self.entries.get(usize::from(index))? {
            Entry::Utf8(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    fn method(&self, class: u16, name_and_type: u16) -> Option<(String, String, String)> {
        let Entry::Class(class) = *self.entries.get(usize::from(class))? else {
            return None;
        };
        let Entry::NameAndType(name, descriptor) = *self.entries.get(usize::from(name_and_type))?
        else {
            return None;
        };
        Some((
            self.text(class)?.replace('/', "."),
            self.text(name)?,
            self.text(descriptor)?,
        ))
    }

    /// The member reference that is neither the superclass's constructor nor a
    /// member of the hidden class itself.
    fn target(&self, own: &str) -> Option<Lambda> {
        for entry in &self.entries {
            let Entry::Method {
                class,
                name_and_type,
            } = *entry
            else {
                continue;
            };
            let Some((class, method, descriptor)) = self.method(class, name_and_type) else {
                continue;
            };
            let super_constructor = class == "java.lang.Object" && method == "<init>";
            if super_constructor || class == own || class.starts_with("java.lang.invoke.") {
                continue;
            }
            // Rarely known here, for the pool does not say how it is called;
            // the replay library asks the class that declares it.
            let is_static = self.entries.iter().any(|entry| {
                matches!(entry, Entry::MethodHandle { kind: 6, reference }
                    if matches!(self.entries.get(usize::from(*reference)), Some(Entry::Method { name_and_type: other, .. }) if *other == name_and_type))
            });
            return Some(Lambda {
                class,
                method,
                descriptor,
                is_static,
                captured: Vec::new(),
            });
        }
        None
    }
}
