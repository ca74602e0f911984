//! Searches objects that an option forbids to store (`redact=type:...`, an annotation on their
//! class).
//!
//! Nothing of them gets into the graph, and their content is as secret elsewhere as that of an
//! object in a secret place: the texts directly in it, and the content of its containers.

use super::{Graph, INSIDE, unpack};
use crate::jni::Obj;
use crate::snapshot::classes::{Class, Number, Storage};

/// The objects to be searched, with their classes.
type Pending = Vec<(Obj, u32)>;

impl Graph<'_> {
    /// Notes what is secret elsewhere because an option forbids to store an object.
    pub(super) fn look_inside(&mut self, object: Obj, class: u32) {
        if !self.classes[class as usize].is_asked_for {
            return;
        }
        let mut pending = Pending::new();
        self.look(object, class, &mut pending);
        self.look_on(pending);
    }

    /// The same for an earlier value in such an object. Takes over the local reference.
    pub(super) fn was_inside(&mut self, holder: usize, old: Obj) {
        let mut pending = Pending::new();
        self.take(holder, old, &mut pending);
        self.look_on(pending);
    }

    fn look_on(&mut self, mut pending: Pending) {
        while let Some((object, class)) = pending.pop() {
            self.look(object, class, &mut pending);
            self.jni.delete_local(object);
        }
    }

    /// Searches an object that was not searched yet. The number of objects that are not stored has
    /// the same limit as that of the others.
    fn look(&mut self, object: Obj, class: u32, pending: &mut Pending) {
        let tag = self.jvmti.tag(object);
        if tag & INSIDE != 0 || self.looked_into >= self.options.max_objects {
            return;
        }
        self.looked_into += 1;
        self.jvmti.set_tag(object, tag | INSIDE);
        let (known, _) = unpack(tag);
        if (known as usize) < self.objects.len() {
            // It was met elsewhere before.
            self.hide(known);
        }
        let (jni, class) = (self.jni, class as usize);
        let is_array = self.classes[class].storage == Storage::References;
        let count = match is_array {
            true => jni.array_len(object),
            false => self.classes[class].fields.len(),
        };
        for index in 0..count {
            if self.secrets.are_too_many() {
                // No text is stored then.
                break;
            }
            let value = match self.classes[class].fields.get(index) {
                _ if is_array => jni.array_get(object, index),
                Some((field, b'L' | b'[')) => jni.get_object(object, *field),
                _ => None,
            };
            if let Some(value) = value {
                self.take(class, value, pending);
            }
        }
    }

    /// Handles a reference in an object of class `holder`. Takes over the local reference.
    fn take(&mut self, holder: usize, value: Obj, pending: &mut Pending) {
        let class = self.class_of(value);
        let of = |class: &Class| (class.contains, class.wraps_text, class.is_asked_for);
        let (contains, wraps_text, is_asked_for) = of(&self.classes[holder]);
        let (is_container, is_text, is_unstored) = of(&self.classes[class as usize]);
        let number = self.classes[class as usize].number;
        // One box is the same number in many places.
        let is_followed = contains && number != Number::Box
            || is_text
            || is_unstored
            || is_asked_for && is_container;
        if self.is_text(class) || contains && number == Number::Own {
            let holds_more = !contains && !wraps_text;
            let says_nothing =
                self.is_empty(value, class) || holds_more && self.is_word(value, class);
            if !says_nothing {
                let tag = self.jvmti.tag(value);
                let (known, _) = unpack(tag);
                if (known as usize) < self.objects.len() {
                    self.redact(value, known, class);
                } else {
                    self.note(value, class);
                    self.jvmti.set_tag(value, tag | INSIDE);
                }
            }
        } else if is_followed && self.looked_into + pending.len() < self.options.max_objects {
            pending.push((value, class));
            return;
        }
        self.jni.delete_local(value);
    }
}
