//! The last look at what is to be stored, when all secrets are known.

use super::Graph;
use super::beside::Named;
use super::hiding::is_word;
use crate::snapshot::classes::{Number, REDACTED, Storage};
use crate::snapshot::secrets::{Secrets, length_class};
use hindsight_tracelog::crash::{Body, Failure, Frame, Object, Patch, Value};
use std::collections::{HashMap, HashSet};

/// The field that says how much of its array is text.
const COUNT: &str = "count";

impl Graph<'_> {
    /// After the walk: makes holes of all text that has a secret in it, or had one at the entry of
    /// a frame; frames keep nothing of such text.
    pub(crate) fn scrub(&mut self, frames: &mut [Frame]) -> &Secrets {
        self.scrub_patches(frames);
        for object in &mut self.objects {
            let letter = match self.classes[object.class as usize].storage {
                Storage::Primitives(letter) => Some(letter),
                _ => None,
            };
            if self.secrets.are_in(&object.body, letter) {
                let len = match &object.body {
                    Body::String(text) => text.to_lossy().chars().count(),
                    Body::Primitives(bytes) => bytes.len(),
                    _ => 0,
                };
                object.body = Body::Hole(length_class(len).to_owned());
            }
        }
        let counts = self.scrub_counts();
        for frame in frames {
            (frame.patch.iter_mut()).for_each(|patch| self.hide_in_patch(patch));
            frame.patch.retain(|patch| {
                let object = self.objects.get(patch.object as usize);
                object.is_none_or(|object| !matches!(object.body, Body::Hole(_)))
                    && !(patch.field == COUNT && counts.contains(&patch.object))
            });
        }
        &self.secrets
    }

    /// Puts a hole in the place of a box or a word that turned out to be a secret there: the object
    /// itself is in other places as well.
    fn hide_in_patch(&mut self, patch: &mut Patch) {
        let Value::Ref(value) = patch.value else {
            return;
        };
        let Object { class, body } = &self.objects[value as usize];
        let (class, holder) = (*class, patch.object);
        let reason = match body {
            Body::Hole(_) => return,
            Body::String(said) => {
                let said = said.to_lossy();
                if !self.holders.contains(&holder) || !self.holds_more(holder) || !is_word(&said) {
                    return;
                }
                length_class(said.chars().count())
            }
            _ if self.classes[class as usize].number == Number::Box => {
                let slot = match patch.index {
                    Some(index) => Some(index as usize),
                    None => self.slot(holder, &patch.owner, &patch.field, &patch.descriptor),
                };
                let named = slot.is_some_and(|slot| self.beside(holder, slot) == Named::Secret);
                if !named && !self.secret.contains(&holder) {
                    return;
                }
                REDACTED
            }
            _ => return,
        };
        patch.value = Value::Ref(self.shared_hole(class, reason));
        self.displaced.insert(value, reason);
    }

    /// Makes holes also of those boxes and words that were only in secret places: nothing refers to
    /// them any more, but they would be in the file.
    pub(crate) fn scrub_displaced(&mut self, failure: &Failure) {
        let mut alone = std::mem::take(&mut self.displaced);
        if alone.is_empty() {
            return;
        }
        let mut see = |value: &Value| {
            if let Value::Ref(object) = value {
                alone.remove(object);
            }
        };
        for object in &self.objects {
            match &object.body {
                Body::References(values) => values.iter().for_each(&mut see),
                Body::Lambda(lambda) => lambda.captured.iter().for_each(|(_, value)| see(value)),
                body => body.fields().into_iter().flatten().for_each(&mut see),
            }
        }
        for frame in &failure.frames {
            (frame.arguments.iter()).for_each(|argument| see(&argument.value));
            frame.patch.iter().for_each(|patch| see(&patch.value));
        }
        let statics = failure.statics.iter();
        statics.for_each(|field| see(&field.value));
        for (object, reason) in alone {
            self.objects[object as usize].body = Body::Hole(reason.to_owned());
        }
    }

    /// Removes the length of a text that is a hole from builders, streams and writers of the JDK.
    /// Returns these objects.
    fn scrub_counts(&mut self) -> HashSet<u32> {
        let mut scrubbed = HashSet::new();
        for number in 0..self.objects.len() {
            let Object { class, body } = &self.objects[number];
            let class = &self.classes[*class as usize];
            if !class.wraps_text || !class.info.name.starts_with("java.") {
                continue;
            }
            let is_hole = |value: &Value| {
                let object = match value {
                    Value::Ref(object) => self.objects.get(*object as usize),
                    _ => None,
                };
                object.is_some_and(|object| matches!(object.body, Body::Hole(_)))
            };
            let mut fields = class.info.fields.iter();
            let count = fields.position(|field| field.name == COUNT && field.descriptor == "I");
            let holds_one = (body.fields()).is_some_and(|values| values.iter().any(is_hole));
            if let Some(count) = count.filter(|_| holds_one)
                && let Body::Instance(values) = &mut self.objects[number].body
                && let Some(value) = values.get_mut(count)
            {
                *value = Value::Null;
                scrubbed.insert(number as u32);
            }
        }
        scrubbed
    }

    /// Makes holes of arrays that had a secret in them, according to the patches of frames.
    fn scrub_patches(&mut self, frames: &[Frame]) {
        // Frames mostly have the same.
        let mut last: HashMap<u32, Vec<u8>> = HashMap::new();
        let mut had_secret = HashSet::new();
        for frame in frames {
            for (object, letter, bytes) in self.arrays_before(&frame.patch) {
                if had_secret.contains(&object) || last.get(&object) == Some(&bytes) {
                    continue;
                }
                if self.array_lets_in(letter, &bytes) {
                    had_secret.insert(object);
                }
                last.insert(object, bytes);
            }
        }
        // What was found in one of them may be in another.
        for frame in frames {
            for (object, letter, bytes) in self.arrays_before(&frame.patch) {
                let body = Body::Primitives(bytes);
                if had_secret.contains(&object) || self.secrets.are_in(&body, Some(letter)) {
                    had_secret.insert(object);
                }
            }
        }
        for object in had_secret {
            if let Body::Primitives(bytes) = &self.objects[object as usize].body {
                let hole = Body::Hole(length_class(bytes.len()).to_owned());
                self.objects[object as usize].body = hole;
            }
        }
    }

    /// The earlier contents of arrays of characters and bytes, according to a patch, with the
    /// letters of their types.
    fn arrays_before(&self, patch: &[Patch]) -> Vec<(u32, u8, Vec<u8>)> {
        let mut before: HashMap<u32, (u8, Vec<u8>)> = HashMap::new();
        for place in patch {
            let Some(object) = self.objects.get(place.object as usize) else {
                continue;
            };
            let (
                Body::Primitives(now),
                Storage::Primitives(letter),
                Some(index),
                Value::Int(value),
            ) = (
                &object.body,
                &self.classes[object.class as usize].storage,
                place.index,
                place.value,
            )
            else {
                continue;
            };
            let width = match letter {
                b'C' => 2,
                b'B' => 1,
                _ => continue,
            };
            let (_, bytes) = (before.entry(place.object)).or_insert_with(|| (*letter, now.clone()));
            let start = index as usize * width;
            if let Some(element) = bytes.get_mut(start..start + width) {
                element.copy_from_slice(&value.to_le_bytes()[..width]);
            }
        }
        let arrays = before.into_iter();
        arrays
            .map(|(object, (letter, bytes))| (object, letter, bytes))
            .collect()
    }
}
