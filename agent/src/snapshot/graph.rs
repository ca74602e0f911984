//! The breadth-first walk.

use crate::jni::{Jni, Obj, primitive_size};
use crate::jvmti::Jvmti;
use crate::methods::Methods;
use crate::options::Options;
use crate::recording;
use crate::snapshot::classes::{self, BLANK, Class, Storage};
use hindsight_tracelog::crash::{Body, Object, Text, Value};
use std::collections::{HashMap, HashSet, VecDeque};

/// What an untagged object's number reads as.
const NO_OBJECT: u32 = u32::MAX;

/// A graph under construction.
pub(crate) struct Graph<'a> {
    pub(crate) jni: Jni,
    /// An environment of this snapshot's own: tags are object and class numbers.
    jvmti: Jvmti,
    options: &'a Options,
    methods: &'a Methods,
    pub(crate) classes: Vec<Class>,
    pub(crate) objects: Vec<Object>,
    queue: VecDeque<(Obj, u32, u32)>,
    /// Bytes of content so far, against `max-bytes`.
    bytes: usize,
    /// Shared holes, one for each class and reason.
    holes: HashMap<(u32, &'static str), u32>,
    /// Containers in a place whose name says that their text is secret.
    secret: HashSet<u32>,
    /// Arrays in which keys and values take turns.
    pairs: HashSet<u32>,
}

/// UTF-16 code units of the longest key that may name a secret.
const MAX_KEY: usize = 100;

/// Why objects beyond a limit are holes.
const MAX_OBJECTS: &str = "beyond max-objects";
const MAX_BYTES: &str = "beyond max-bytes";
const REDACTED: &str = "redacted";

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        self.jvmti.dispose();
    }
}

impl<'a> Graph<'a> {
    /// `jvmti` is disposed of with the graph.
    pub(crate) fn new(
        jni: Jni,
        jvmti: Jvmti,
        options: &'a Options,
        methods: &'a Methods,
    ) -> Graph<'a> {
        Graph {
            jni,
            jvmti,
            options,
            methods,
            classes: Vec::new(),
            objects: Vec::new(),
            queue: VecDeque::new(),
            bytes: 0,
            holes: HashMap::new(),
            secret: HashSet::new(),
            pairs: HashSet::new(),
        }
    }

    /// The value for a reference: its number is given now, its content is read by [`Graph::walk`].
    /// Takes over the local reference.
    pub(crate) fn reference(&mut self, object: Option<Obj>) -> Value {
        self.number(object, false)
    }

    /// Like [`Graph::reference`], for a place whose name says that its text is secret.
    pub(crate) fn secret_reference(&mut self, object: Option<Obj>) -> Value {
        self.number(object, true)
    }

    fn number(&mut self, object: Option<Obj>, secret: bool) -> Value {
        let Some(object) = object else {
            return Value::Null;
        };
        let (known, _) = unpack(self.jvmti.tag(object));
        if known != NO_OBJECT && !secret {
            self.jni.delete_local(object);
            return Value::Ref(known);
        }
        let class = self.class_of(object);
        if secret && self.is_text(class) {
            self.jni.delete_local(object);
            return Value::Ref(self.shared_hole(class, REDACTED));
        }
        if known != NO_OBJECT {
            self.jni.delete_local(object);
            return Value::Ref(known);
        }
        if self.objects.len() >= self.options.max_objects {
            self.jni.delete_local(object);
            return Value::Ref(self.shared_hole(class, MAX_OBJECTS));
        }
        let number = self.push(class, Body::Hole(String::new()));
        if secret && self.classes[class as usize].contains {
            self.secret.insert(number);
        }
        // A class mirror may be tagged already, as the class of some object.
        let (_, as_class) = unpack(self.jvmti.tag(object));
        self.jvmti.set_tag(object, pack(number, as_class));
        self.queue.push_back((object, number, class));
        Value::Ref(number)
    }

    fn push(&mut self, class: u32, body: Body) -> u32 {
        self.objects.push(Object { class, body });
        (self.objects.len() - 1) as u32
    }

    fn shared_hole(&mut self, class: u32, reason: &'static str) -> u32 {
        if let Some(&hole) = self.holes.get(&(class, reason)) {
            return hole;
        }
        let hole = self.push(class, Body::Hole(reason.to_owned()));
        self.holes.insert((class, reason), hole);
        hole
    }

    fn is_text(&self, class: u32) -> bool {
        matches!(
            self.classes[class as usize].storage,
            Storage::String | Storage::Primitives(b'C' | b'B')
        )
    }

    /// The number of an object's class.
    fn class_of(&mut self, object: Obj) -> u32 {
        let class = self.jni.class_of(object);
        let (as_object, known) = unpack(self.jvmti.tag(class));
        if known != NO_OBJECT {
            self.jni.delete_local(class);
            return known;
        }
        let id = self.classes.len() as u32;
        let options = self.options;
        let read = self.jni.with_frame(|jni| {
            classes::read(
                jni,
                self.jvmti,
                self.methods,
                &|name| options.is_secret(name),
                class,
                id,
            )
        });
        self.classes.push(read.unwrap_or_else(|| Class {
            info: hindsight_tracelog::crash::ClassInfo {
                id,
                name: "?".to_owned(),
                ..Default::default()
            },
            storage: Storage::Hole("its class could not be read"),
            fields: Vec::new(),
            secrets: Vec::new(),
            entry: None,
            pairs: None,
            contains: false,
        }));
        self.jvmti.set_tag(class, pack(as_object, id));
        self.jni.delete_local(class);
        id
    }

    /// Reads all that is reachable, as far as the limits go.
    pub(crate) fn walk(&mut self) {
        while let Some((object, number, class)) = self.queue.pop_front() {
            let body = self.read(object, number, class);
            self.objects[number as usize].body = body;
            self.jni.delete_local(object);
        }
    }

    /// Takes `bytes` from the budget; whether they were there.
    fn afford(&mut self, bytes: usize) -> bool {
        let total = self.bytes.saturating_add(bytes);
        if total > self.options.max_bytes {
            return false;
        }
        self.bytes = total;
        true
    }

    /// Whether an object is text that names a secret.
    fn names_secret(&mut self, object: Option<Obj>) -> bool {
        let Some(object) = object else {
            return false;
        };
        let class = self.class_of(object);
        matches!(self.classes[class as usize].storage, Storage::String)
            && self.jni.string_len(object) <= MAX_KEY
            && recording::names_secret(&self.jni.string(object), &|name| {
                self.options.is_secret(name)
            })
    }

    fn read(&mut self, object: Obj, number: u32, class: u32) -> Body {
        let jni = self.jni;
        match &self.classes[class as usize].storage {
            Storage::Hole(reason) => Body::Hole((*reason).to_owned()),
            Storage::String => {
                let len = jni.string_len(object);
                if !self.afford(len * 2 + 8) {
                    return Body::Hole(MAX_BYTES.to_owned());
                }
                Body::String(Text::from_utf16(&jni.string_units(object, len)))
            }
            Storage::Class => {
                // For a class mirror, the signature is that of the class it stands for.
                let signature = self.jvmti.class_signature(object).unwrap_or_default();
                Body::Class(classes::binary_name(&signature))
            }
            Storage::Enum(field) => match jni.get_object(object, *field) {
                Some(name) => {
                    let text = jni.string(name);
                    jni.delete_local(name);
                    Body::Enum(text)
                }
                None => Body::Hole("enum constant under construction".to_owned()),
            },
            Storage::Primitives(letter) => {
                let letter = *letter;
                let len = jni.array_len(object);
                let size = len.saturating_mul(primitive_size(letter).unwrap_or(8));
                if !self.afford(size + 8) {
                    return Body::Hole(MAX_BYTES.to_owned());
                }
                Body::Primitives(jni.primitives(object, letter, len))
            }
            Storage::References => {
                let len = jni.array_len(object);
                if !self.afford(len.saturating_mul(size_of::<Value>()) + 8) {
                    return Body::Hole(MAX_BYTES.to_owned());
                }
                let mut values = Vec::with_capacity(len);
                let (all, pairs) = (self.secret.contains(&number), self.pairs.contains(&number));
                let mut after_secret = false;
                for index in 0..len {
                    let element = jni.array_get(object, index);
                    let names_secret = pairs && index % 2 == 0 && self.names_secret(element);
                    values.push(self.number(element, all || after_secret));
                    after_secret = names_secret;
                }
                Body::References(values)
            }
            Storage::Instance => match self.fields(object, number, class) {
                Some(values) => Body::Instance(values),
                None => Body::Hole(MAX_BYTES.to_owned()),
            },
            Storage::Lambda(lambda) => {
                let mut lambda = lambda.clone();
                let Some(values) = self.fields(object, number, class) else {
                    return Body::Hole(MAX_BYTES.to_owned());
                };
                let fields = &self.classes[class as usize].info.fields;
                lambda.captured = fields
                    .iter()
                    .zip(values)
                    .map(|(field, value)| (field.descriptor.clone(), value))
                    .collect();
                Body::Lambda(lambda)
            }
        }
    }

    fn fields(&mut self, object: Obj, number: u32, class: u32) -> Option<Vec<Value>> {
        let count = self.classes[class as usize].fields.len();
        if !self.afford(count * size_of::<Value>() + 8) {
            return None;
        }
        let jni = self.jni;
        let all = self.secret.contains(&number);
        let Class { entry, pairs, .. } = self.classes[class as usize];
        let named = entry.filter(|&(key, _)| {
            let key = jni.get_object(object, self.classes[class as usize].fields[key].0);
            let names_secret = self.names_secret(key);
            if let Some(key) = key {
                jni.delete_local(key);
            }
            names_secret
        });
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let (field, letter) = self.classes[class as usize].fields[index];
            let secret = self.classes[class as usize].secrets.contains(&index)
                || named.is_some_and(|(_, value)| value == index);
            values.push(match letter {
                b'L' | b'[' => {
                    let value = jni.get_object(object, field);
                    let value = self.number(value, secret || all);
                    if let (true, Value::Ref(table)) = (pairs == Some(index), value) {
                        self.pairs.insert(table);
                    }
                    value
                }
                _ if secret => Value::Null,
                BLANK => Value::Null,
                b'Z' => Value::Bool(jni.get_integral(object, field, letter) != 0),
                b'F' => Value::Float(jni.get_float(object, field)),
                b'D' => Value::Double(jni.get_double(object, field)),
                _ => Value::Int(jni.get_integral(object, field, letter)),
            });
        }
        Some(values)
    }

    /// The stored value of a field of an object, after the walk.
    ///
    /// `owner` is the class that the bytecode names, which may be a subclass of
    /// the one that declares the field (JVMS 5.4.3.2).
    pub(crate) fn stored_field(
        &self,
        object: u32,
        owner: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<(&str, Value)> {
        let object = self.objects.get(object as usize)?;
        let Body::Instance(values) = &object.body else {
            return None;
        };
        let info = &self.classes[object.class as usize].info;
        // Classes from `owner` upwards; those below it are not looked at.
        let start = if info.name == owner {
            0
        } else {
            1 + info.supers.iter().position(|name| name == owner)?
        };
        let in_scope = |class: &str| {
            if class == info.name {
                start == 0
            } else {
                info.supers[start.saturating_sub(1)..]
                    .iter()
                    .any(|name| name == class)
            }
        };
        // Fields stand topmost first, and the lookup starts at the bottom.
        info.fields
            .iter()
            .zip(values)
            .rev()
            .find(|(field, _)| {
                field.name == name && field.descriptor == descriptor && in_scope(&field.owner)
            })
            .map(|(field, value)| (field.owner.as_str(), *value))
    }
}

/// Both numbers that an object can have: as an object, and as a class mirror.
/// 0 is JVM TI's "no tag", so numbers are stored plus one.
fn pack(object: u32, class: u32) -> i64 {
    ((u64::from(class.wrapping_add(1)) << 32) | u64::from(object.wrapping_add(1))) as i64
}

fn unpack(tag: i64) -> (u32, u32) {
    let tag = tag as u64;
    (
        (tag as u32).wrapping_sub(1),
        ((tag >> 32) as u32).wrapping_sub(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_hold_two_numbers() {
        assert_eq!(unpack(0), (NO_OBJECT, NO_OBJECT));
        for (object, class) in [
            (0, NO_OBJECT),
            (NO_OBJECT, 0),
            (7, 9),
            (u32::MAX - 1, u32::MAX - 1),
        ] {
            assert_eq!(unpack(pack(object, class)), (object, class));
        }
    }
}
