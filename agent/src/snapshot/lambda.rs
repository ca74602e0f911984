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

    /// The member reference that is neither the superclass's constructor, nor a member of the hidden class
    /// itself, nor a conversion of what is passed and returned.
    ///
    /// Those that take arguments out of their boxes come before it, those that put results into them behind
    /// it. A method that is such a conversion itself is told from the one before or behind it where these do
    /// not do the same.
    fn target(&self, own: &str) -> Option<Lambda> {
        let mut all = Vec::new();
        for entry in &self.entries {
            let Entry::Method {
                class,
                name_and_type,
            } = *entry
            else {
                continue;
            };
            let Some(named) = self.method(class, name_and_type) else {
                continue;
            };
            let (class, method) = (named.0.as_str(), named.1.as_str());
            if class == "java.lang.invoke.MethodHandle" && method == "invokeExact" {
                // What the handle leads to is not in the pool.
                return None;
            }
            let super_constructor = class == "java.lang.Object" && method == "<init>";
            if !super_constructor && class != own && !class.starts_with("java.lang.invoke.") {
                all.push((named, name_and_type));
            }
        }
        let plain = all
            .iter()
            .position(|(named, _)| conversion(named).is_none());
        let place = plain.unwrap_or_else(|| match all.as_slice() {
            [(out, _), (into, _)] if conversion(out) != conversion(into) => 1,
            _ => 0,
        });
        if place >= all.len() {
            return None;
        }
        let ((class, method, descriptor), name_and_type) = all.swap_remove(place);
        // Rarely known here, for the pool does not say how it is called;
        // the replay library asks the class that declares it.
        let is_static = self.entries.iter().any(|entry| {
            matches!(entry, Entry::MethodHandle { kind: 6, reference }
                if matches!(self.entries.get(usize::from(*reference)), Some(Entry::Method { name_and_type: other, .. }) if *other == name_and_type))
        });
        Some(Lambda {
            class,
            method,
            descriptor,
            is_static,
            captured: Vec::new(),
        })
    }
}

/// The primitive type of a method that takes it out of a box or puts it into one; nothing for other methods.
fn conversion((class, method, descriptor): &(String, String, String)) -> Option<char> {
    let of_box = |primitive: char| {
        Some(match primitive {
            'Z' => "Boolean",
            'B' => "Byte",
            'C' => "Character",
            'S' => "Short",
            'I' => "Integer",
            'J' => "Long",
            'F' => "Float",
            'D' => "Double",
            _ => return None,
        })
    };
    let class = class.strip_prefix("java.lang.")?;
    let mut chars = descriptor.chars();
    match (chars.next(), chars.next(), chars.next(), chars.next()) {
        // Numbers also go out of the boxes of others.
        (Some('('), Some(')'), Some(primitive), None) if method.ends_with("Value") => {
            of_box(primitive)?;
            let boxes = "ZBCSIJFD".chars().filter_map(of_box);
            boxes
                .chain(["Number"])
                .any(|of| of == class)
                .then_some(primitive)
        }
        (Some('('), Some(primitive), Some(')'), Some('L')) if method == "valueOf" => {
            (of_box(primitive) == Some(class)).then_some(primitive)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Pool};

    /// The target among methods of a pool, in its order.
    fn target(methods: &[(&str, &str, &str)]) -> Option<String> {
        let mut entries = vec![Entry::Other];
        for (class, name, descriptor) in methods {
            let at = entries.len() as u16;
            entries.extend([
                Entry::Utf8(class.as_bytes()),
                Entry::Class(at),
                Entry::Utf8(name.as_bytes()),
                Entry::Utf8(descriptor.as_bytes()),
                Entry::NameAndType(at + 2, at + 3),
                Entry::Method {
                    class: at + 1,
                    name_and_type: at + 4,
                },
            ]);
        }
        let found = Pool { entries }.target("a.B$$Lambda")?;
        Some(format!("{}.{}", found.class, found.method))
    }

    const OBJECT: (&str, &str, &str) = ("java/lang/Object", "<init>", "()V");
    const OUT: (&str, &str, &str) = ("java/lang/Integer", "intValue", "()I");
    const INTO: (&str, &str, &str) = ("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;");

    #[test]
    fn conversions_are_no_targets() {
        let clamp = ("a/B", "clamp", "(I)I");
        assert_eq!(
            target(&[OBJECT, OUT, clamp, INTO]).as_deref(),
            Some("a.B.clamp")
        );
        let out = ("java/lang/Number", "doubleValue", "()D");
        let wide = ("a/B", "wide", "(D)V");
        assert_eq!(target(&[OBJECT, out, wide]).as_deref(), Some("a.B.wide"));
    }

    #[test]
    fn a_conversion_may_be_the_target() {
        assert_eq!(
            target(&[OBJECT, OUT]).as_deref(),
            Some("java.lang.Integer.intValue")
        );
        assert_eq!(
            target(&[OBJECT, INTO]).as_deref(),
            Some("java.lang.Integer.valueOf")
        );
        let parse = (
            "java/lang/Integer",
            "valueOf",
            "(Ljava/lang/String;)Ljava/lang/Integer;",
        );
        assert_eq!(
            target(&[OBJECT, parse]).as_deref(),
            Some("java.lang.Integer.valueOf")
        );
        // Of Function<Integer, Long>: the int is widened in between.
        let long = ("java/lang/Long", "valueOf", "(J)Ljava/lang/Long;");
        assert_eq!(
            target(&[OBJECT, OUT, long]).as_deref(),
            Some("java.lang.Long.valueOf")
        );
        let widens = ("java/lang/Integer", "longValue", "()J");
        assert_eq!(
            target(&[OBJECT, widens, long]).as_deref(),
            Some("java.lang.Integer.longValue")
        );
    }

    #[test]
    fn what_a_handle_leads_to_is_not_known() {
        let handle = ("java/lang/invoke/MethodHandle", "invokeExact", "(La/B;I)I");
        assert_eq!(target(&[OBJECT, OUT, handle, INTO]), None);
        assert_eq!(target(&[OBJECT]), None);
    }
}
