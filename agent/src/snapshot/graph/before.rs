//! Earlier values of objects, for writes that can be undone.

use super::{Graph, word, words};
use crate::jni::{Obj, primitive_size};
use crate::snapshot::classes::{BLANK, Storage};
use crate::snapshot::of_word;
use crate::undo::log::Log;
use crate::undo::rollback::Undo;
use hindsight_instrument::MemberName;
use hindsight_tracelog::crash::{Body, Patch, Value};
use std::collections::HashSet;

/// A field as it was at the entry of a frame.
pub(crate) struct Kept {
    /// The class that the bytecode names, as in [`Graph::slot`].
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    /// The earlier value: a reference, or a word.
    pub(crate) old: Option<Obj>,
    pub(crate) word: i64,
    /// The place where it is stored, and the stored value.
    place: Option<(u32, u32, Value)>,
}

impl Kept {
    pub(crate) fn new(
        (owner, name, descriptor): (String, &str, &str),
        old: Option<Obj>,
        word: i64,
    ) -> Kept {
        Kept {
            owner,
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            old,
            word,
            place: None,
        }
    }
}

impl<'a> Graph<'a> {
    /// Puts an object's field value into the graph once it is known which of the object's fields it
    /// is, and what stands beside it. To be called before the walk; the result is for
    /// [`Graph::kept`].
    pub(crate) fn keep(&mut self, object: u32, field: Kept) -> usize {
        self.kept_of
            .entry(object)
            .or_default()
            .push(self.kept.len());
        self.kept.push(field);
        self.kept.len() - 1
    }

    /// The fields of an object that has been read.
    pub(super) fn place_kept(&mut self, object: u32) {
        for id in self.kept_of.remove(&object).unwrap_or_default() {
            let Kept {
                owner,
                name,
                descriptor,
                ..
            } = &self.kept[id];
            let slot = self.slot(object, owner, name, descriptor);
            let Some(slot) = slot.and_then(|slot| u32::try_from(slot).ok()) else {
                continue;
            };
            let (old, word) = (self.kept[id].old.take(), self.kept[id].word);
            let value = self.old_value(object, slot, old, word);
            self.kept[id].place = value.map(|value| (object, slot, value));
        }
    }

    /// After the walk: the stored value of such a field, and a patch with the earlier one. `None`
    /// if it is not stored.
    pub(crate) fn kept(&self, id: usize) -> Option<(Value, Patch)> {
        let (object, slot, value) = self.kept.get(id)?.place?;
        let (now, patch) = self.place(object, slot)?;
        Some((now, Patch { value, ..patch }))
    }

    /// Puts in the old values of what other threads have written since the logs were read, too. The
    /// graph must be walked again.
    pub(crate) fn catch_up(&mut self, mut undo: Undo<'a>, newer: (Vec<Log>, i64)) {
        let mut written = HashSet::new();
        for object in undo.catch_up(newer) {
            written.extend(undo.targets().find(object).zip(self.number_of(object)));
        }
        self.undo_writes(undo);
        self.written.extend(written);
    }

    /// Puts old values into the graph, too. To be called before the walk.
    pub(crate) fn undo_writes(&mut self, undo: Undo<'a>) {
        let numbered = self.queue.iter();
        self.written = numbered
            .filter_map(|(object, number, _)| Some((undo.targets().find(*object)?, *number)))
            .collect();
        self.targets = Some(undo.targets());
        self.undo = Some(undo);
    }

    /// The place of a field in an object that is stored by its fields. `owner` is as in
    /// [`Graph::slot`].
    pub(crate) fn field_slot(&self, object: u32, field: &MemberName) -> Option<u32> {
        let slot = self.slot(object, &field.owner, &field.name, &field.descriptor)?;
        u32::try_from(slot).ok()
    }

    /// The earlier value of a field or an element, as it is to be stored. `None` if that place is
    /// not stored. Takes over the local reference.
    pub(crate) fn old_value(
        &mut self,
        object: u32,
        slot: u32,
        old: Option<Obj>,
        word: i64,
    ) -> Option<Value> {
        let index = slot as usize;
        let class = self.objects.get(object as usize)?.class as usize;
        if let Some(old) = old.filter(|_| self.classes[class].is_asked_for) {
            self.was_inside(class, old);
            return None;
        }
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
                let secret = self.was_beside(object, index, old)
                    || self.is_secret_place(object, class, index, old);
                let value = self.value_in(object, old, secret);
                if let Value::Ref(number) = value
                    && !secret
                {
                    self.old.entry(object).or_default().push((index, number));
                }
                value
            }
            BLANK => return None,
            _ if self.classes[class].secrets.contains(&index) => Value::Null,
            b'Z' => of_word(letter, word & 0xff),
            b'C' => of_word(letter, i64::from(word as u16)),
            _ => of_word(letter, word),
        })
    }

    /// The earlier values of a range of an array, by index; `None` if there is no room for them.
    /// Takes over the local reference.
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

    /// The stored value of a place.
    pub(crate) fn stored(&self, object: u32, slot: u32) -> Option<Value> {
        let stored = self.objects.get(object as usize)?;
        let index = slot as usize;
        match &stored.body {
            Body::Instance(values)
            | Body::Enum { fields: values, .. }
            | Body::References(values) => values.get(index).copied(),
            Body::Primitives(bytes) => {
                let Storage::Primitives(letter) = self.classes[stored.class as usize].storage
                else {
                    return None;
                };
                let size = primitive_size(letter)?;
                let bytes = bytes.get(index * size..(index + 1) * size)?;
                Some(of_word(letter, word(letter, bytes)))
            }
            _ => None,
        }
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
        let value = self.stored(object, slot)?;
        let patch = match (&stored.body, &self.classes[stored.class as usize].storage) {
            (Body::References(_), _) => element(value, "L"),
            (Body::Primitives(_), Storage::Primitives(letter)) => {
                element(value, char::from(*letter).encode_utf8(&mut [0; 4]))
            }
            _ => {
                let field = info.fields.get(slot as usize)?;
                Patch {
                    object,
                    owner: field.owner.clone(),
                    field: field.name.clone(),
                    descriptor: field.descriptor.clone(),
                    value,
                    index: None,
                }
            }
        };
        Some((value, patch))
    }

    /// The place of a field among those of an object that is stored by its fields.
    ///
    /// `owner` is the class that the bytecode names, which may be a subclass of the one that
    /// declares the field (JVMS 5.4.3.2).
    pub(super) fn slot(
        &self,
        object: u32,
        owner: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<usize> {
        let object = self.objects.get(object as usize)?;
        object.body.fields()?;
        let info = &self.classes[object.class as usize].info;
        // This searches classes from `owner` upwards, and none below it.
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
        // Fields are in order from the topmost class, and the lookup starts at the bottom.
        info.fields.iter().rposition(|field| {
            field.name == name && field.descriptor == descriptor && in_scope(&field.owner)
        })
    }
}
