//! What objects were before, where writes can be undone.

use super::hiding::Named;
use super::{Graph, words};
use crate::jni::{Obj, primitive_size};
use crate::snapshot::classes::{BLANK, Storage};
use crate::undo::rollback::Undo;
use hindsight_instrument::MemberName;
use hindsight_tracelog::crash::{Body, Patch, Value};

impl<'a> Graph<'a> {
    /// Has old values put into the graph too. To be called before the walk.
    pub(crate) fn undo_writes(&mut self, undo: Undo<'a>) {
        let numbered = self.queue.iter();
        self.written = numbered
            .filter_map(|(object, number, _)| Some((undo.targets().find(*object)?, *number)))
            .collect();
        self.targets = Some(undo.targets());
        self.undo = Some(undo);
    }

    /// The place of a field in an object that is stored by its fields. `owner` is as in
    /// [`Graph::stored_field`].
    pub(crate) fn field_slot(&self, object: u32, field: &MemberName) -> Option<u32> {
        let slot = self.slot(object, &field.owner, &field.name, &field.descriptor)?;
        u32::try_from(slot).ok()
    }

    /// What a field or an element was before, as it is to be stored. `None` if that place is not
    /// stored. Takes over the local reference.
    pub(crate) fn old_value(
        &mut self,
        object: u32,
        slot: u32,
        old: Option<Obj>,
        word: i64,
    ) -> Option<Value> {
        let index = slot as usize;
        let class = self.objects.get(object as usize)?.class as usize;
        let letter = match &self.objects[object as usize].body {
            Body::References(values) => values.get(index).map(|_| b'L')?,
            Body::Primitives(bytes) => {
                let Storage::Primitives(letter) = self.classes[class].storage else {
                    return None;
                };
                let size = primitive_size(letter)?;
                (index < bytes.len() / size).then_some(letter)?
            }
            body => {
                body.fields()?;
                self.classes[class].fields.get(index)?.1
            }
        };
        Some(match letter {
            b'L' | b'[' => {
                let in_pairs = self.pairs.contains(&object);
                if in_pairs && index.is_multiple_of(2) && self.named_by(old) != Named::Plain {
                    self.has_secret_key(object);
                }
                let secret = self.is_secret_place(object, class, index, old);
                let value = self.value_in(object, old, secret);
                if let Value::Ref(number) = value
                    && in_pairs
                    && index % 2 == 1
                    && !secret
                {
                    self.was_in_pairs(object, number);
                }
                value
            }
            BLANK => return None,
            _ if self.classes[class].secrets.contains(&index) => Value::Null,
            b'Z' => Value::Bool(word & 0xff != 0),
            b'C' => Value::Int(i64::from(word as u16)),
            b'F' => Value::Float(f32::from_bits(word as u32)),
            b'D' => Value::Double(f64::from_bits(word as u64)),
            _ => Value::Int(word),
        })
    }

    /// What a range of an array was before, by index; `None` if there is no room for it. Takes over
    /// the local reference.
    pub(crate) fn old_range(
        &mut self,
        object: u32,
        start: u32,
        old: Obj,
    ) -> Option<Vec<(u32, Value)>> {
        let jni = self.jni;
        let len = jni.array_len(old);
        if !self.afford(len.saturating_mul(size_of::<(u32, Value)>())) {
            jni.delete_local(old);
            return None;
        }
        let class = self.objects.get(object as usize)?.class as usize;
        let words = match &self.classes[class].storage {
            Storage::Primitives(letter) => words(*letter, &jni.primitives(old, *letter, len)),
            _ => Vec::new(),
        };
        let mut slots = Vec::with_capacity(len);
        for (slot, at) in (start..).zip(0..len) {
            let word = words.get(at).copied();
            let element = match word {
                None => jni.array_get(old, at),
                Some(_) => None,
            };
            if let Some(value) = self.old_value(object, slot, element, word.unwrap_or(0)) {
                slots.push((slot, value));
            }
        }
        jni.delete_local(old);
        Some(slots)
    }

    /// The stored value of a place, and a patch for that place with the same value.
    pub(crate) fn place(&self, object: u32, slot: u32) -> Option<(Value, Patch)> {
        let stored = self.objects.get(object as usize)?;
        let info = &self.classes[stored.class as usize].info;
        let element = |value, descriptor: &str| Patch {
            object,
            owner: String::new(),
            field: String::new(),
            descriptor: descriptor.to_owned(),
            value,
            index: Some(slot),
        };
        let index = slot as usize;
        let patch = match &stored.body {
            Body::Instance(values) | Body::Enum { fields: values, .. } => {
                let field = info.fields.get(index)?;
                Patch {
                    object,
                    owner: field.owner.clone(),
                    field: field.name.clone(),
                    descriptor: field.descriptor.clone(),
                    value: *values.get(index)?,
                    index: None,
                }
            }
            Body::References(values) => element(*values.get(index)?, "L"),
            Body::Primitives(bytes) => {
                let Storage::Primitives(letter) = self.classes[stored.class as usize].storage
                else {
                    return None;
                };
                let size = primitive_size(letter)?;
                let bytes = bytes.get(index * size..(index + 1) * size)?;
                let word = words(letter, bytes)[0];
                let value = match letter {
                    b'Z' => Value::Bool(word != 0),
                    b'F' => Value::Float(f32::from_bits(word as u32)),
                    b'D' => Value::Double(f64::from_bits(word as u64)),
                    _ => Value::Int(word),
                };
                element(value, char::from(letter).encode_utf8(&mut [0; 4]))
            }
            _ => return None,
        };
        Some((patch.value, patch))
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
        let slot = self.slot(object, owner, name, descriptor)?;
        let object = self.objects.get(object as usize)?;
        let values = object.body.fields()?;
        let info = &self.classes[object.class as usize].info;
        Some((info.fields.get(slot)?.owner.as_str(), *values.get(slot)?))
    }

    /// The place of a field among those of an object.
    fn slot(&self, object: u32, owner: &str, name: &str, descriptor: &str) -> Option<usize> {
        let object = self.objects.get(object as usize)?;
        object.body.fields()?;
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
        info.fields.iter().rposition(|field| {
            field.name == name && field.descriptor == descriptor && in_scope(&field.owner)
        })
    }
}
