//! Hides what must not be stored: text in places that are secret by their names, keys or
//! annotations.
//!
//! A text there becomes a hole. In a container there, all text is secret. In another object, the
//! text directly in it is, also if it is wrapped in an object that holds nothing else. The order in
//! which a walk meets them must not matter: what has been read already is made a hole afterwards.
//!
//! Such text is not stored elsewhere either, except words and names of classes in an object that
//! holds more than that: a column called `passwordHash` has a type, which it shares with other
//! columns and which is not a secret.

use super::{Graph, NO_OBJECT, pack, unpack, words};
use crate::jni::Obj;
use crate::masks;
use crate::snapshot::arrays;
use crate::snapshot::classes::{Number, REDACTED, Storage};
use crate::snapshot::secrets::length_class;
use hindsight_tracelog::crash::{Body, Object, Value};
use std::collections::HashMap;
use std::ops::Range;

/// The code units of the longest word.
const MAX_WORD: usize = 200;

/// The most code units or bytes of a secret that are looked for elsewhere.
const MAX_SECRET: usize = 4_097;

impl Graph<'_> {
    /// Whether an object is not stored because its class is secret.
    pub(crate) fn is_redacted(&self, value: Value) -> bool {
        let Value::Ref(object) = value else {
            return false;
        };
        let class = self.objects.get(object as usize).map(|object| object.class);
        class.is_some_and(|class| self.classes[class as usize].storage == Storage::Hole(REDACTED))
    }

    /// Notes that an object that is not a text is in a secret place, whether it has been read or
    /// not.
    pub(super) fn hide(&mut self, object: u32) {
        let mut pending = vec![object];
        while let Some(number) = pending.pop() {
            let Object { class, body } = &self.objects[number as usize];
            let class = &self.classes[*class as usize];
            let contains = class.contains;
            let fresh = match class.storage {
                _ if contains => self.secret.insert(number),
                Storage::Instance | Storage::Enum(_) | Storage::Lambda(_) => {
                    self.holders.insert(number)
                }
                _ => false,
            };
            if !fresh {
                continue;
            }
            let number_of = |value: &Value| match value {
                Value::Ref(object) => Some(*object),
                _ => None,
            };
            // Those that were read before are in other places of the same object as well.
            let boxes: Vec<u32> = match body {
                Body::Instance(values) | Body::References(values) if contains => values
                    .iter()
                    .filter_map(number_of)
                    .filter(|object| {
                        let Object { class, body } = &self.objects[*object as usize];
                        let is_hole = matches!(body, Body::Hole(reason) if !reason.is_empty());
                        !is_hole && self.classes[*class as usize].number == Number::Box
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let mut inside: Vec<u32> = match body {
                Body::Instance(values)
                | Body::Enum { fields: values, .. }
                | Body::References(values) => values.iter().filter_map(number_of).collect(),
                Body::Lambda(lambda) => {
                    let captured = lambda.captured.iter();
                    captured.filter_map(|(_, value)| number_of(value)).collect()
                }
                _ => continue,
            };
            // An earlier value of the place is as secret.
            let old = self.old.get(&number).into_iter().flatten();
            inside.extend(old.map(|(_, value)| *value));
            self.hide_boxes(number, &boxes);
            for object in inside {
                let class = self.objects[object as usize].class;
                if self.is_text(class) && self.holds_more(number) {
                    self.redact_in(number, object);
                } else if self.is_text(class)
                    || contains && self.classes[class as usize].number == Number::Own
                {
                    self.redact_stored(object);
                } else if contains || self.classes[class as usize].wraps_text {
                    pending.push(object);
                }
            }
        }
    }

    /// Whether it is an object that holds more than one text.
    pub(super) fn holds_more(&self, holder: u32) -> bool {
        let class = &self.classes[self.objects[holder as usize].class as usize];
        let has_fields = matches!(class.storage, Storage::Instance | Storage::Enum(_));
        has_fields && !class.contains && !class.wraps_text
    }

    /// Hides a text in such an object: only there if it is a word.
    fn redact_in(&mut self, holder: u32, text: u32) {
        match &self.objects[text as usize].body {
            Body::Hole(reason) if reason.is_empty() => {
                self.in_holders.entry(text).or_default().push(holder);
            }
            Body::String(said) if is_word(&said.to_lossy()) => self.hide_text_in(holder, text),
            _ => self.redact_stored(text),
        }
    }

    /// Puts a hole in the place of a text to which an object refers.
    pub(super) fn hide_text_in(&mut self, holder: u32, text: u32) {
        let Object { class, body } = &self.objects[text as usize];
        let Body::String(said) = body else {
            return;
        };
        let reason = length_class(said.to_lossy().chars().count());
        let hole = Value::Ref(self.shared_hole(*class, reason));
        self.displaced.insert(text, reason);
        if let Body::Instance(values) | Body::Enum { fields: values, .. } =
            &mut self.objects[holder as usize].body
        {
            let same = values.iter_mut();
            let same = same.filter(|value| **value == Value::Ref(text));
            same.for_each(|value| *value = hole);
        }
    }

    /// The value of a reference in an object, which is secret by itself or because the object is.
    pub(super) fn value_in(&mut self, holder: u32, object: Option<Obj>, secret: bool) -> Value {
        let in_secret = self.is_secret_in(holder, object);
        if let Some(text) = object.filter(|_| in_secret && !secret && self.holds_more(holder)) {
            let class = self.class_of(text);
            if self.is_word(text, class) {
                let reason = length_class(self.jni.string_len(text));
                self.jni.delete_local(text);
                return Value::Ref(self.shared_hole(class, reason));
            }
        }
        self.number(object, secret || in_secret)
    }

    /// Whether a text is a word or the name of a class, which also occurs in too much that is
    /// harmless.
    pub(super) fn is_word(&self, object: Obj, class: u32) -> bool {
        self.classes[class as usize].storage == Storage::String
            && self.jni.string_len(object) <= MAX_WORD
            && is_word(&self.jni.string(object))
    }

    /// Whether it is the empty text.
    pub(super) fn is_empty(&self, object: Obj, class: u32) -> bool {
        self.classes[class as usize].storage == Storage::String && self.jni.string_len(object) == 0
    }

    /// Puts a hole in the place of each box to which a container refers.
    pub(super) fn hide_boxes(&mut self, container: u32, boxes: &[u32]) {
        let mut holes = HashMap::new();
        for number in boxes {
            let class = self.objects[*number as usize].class;
            holes.insert(*number, self.shared_hole(class, REDACTED));
            self.displaced.insert(*number, REDACTED);
        }
        let (Body::Instance(values) | Body::References(values)) =
            &mut self.objects[container as usize].body
        else {
            return;
        };
        for value in values {
            if let Value::Ref(number) = value
                && let Some(hole) = holes.get(number)
            {
                *number = *hole;
            }
        }
    }

    /// As [`Graph::redact`], for a text or number that already has its number.
    pub(super) fn redact_stored(&mut self, text: u32) {
        let Object { class, body } = &self.objects[text as usize];
        if self.classes[*class as usize].number == Number::Own {
            match body {
                Body::Hole(reason) if reason.is_empty() => _ = self.hidden.insert(text),
                Body::Hole(_) => {}
                _ => self.redact_number(text),
            }
            return;
        }
        let len = match body {
            Body::String(text) if text.to_lossy().is_empty() => return,
            Body::String(text) => {
                let units: Vec<u16> = text.to_lossy().encode_utf16().take(MAX_SECRET).collect();
                self.secrets.text(&units);
                units.len()
            }
            Body::Primitives(bytes) => {
                let short = &bytes[..bytes.len().min(2 * MAX_SECRET)];
                match self.classes[*class as usize].storage {
                    Storage::Primitives(b'C') => {
                        let units = words(b'C', short);
                        let units: Vec<u16> = units.iter().map(|unit| *unit as u16).collect();
                        self.secrets.text(&units);
                        bytes.len() / 2
                    }
                    _ => {
                        self.secrets.bytes(short);
                        bytes.len()
                    }
                }
            }
            Body::Hole(reason) if reason.is_empty() => {
                self.hidden.insert(text);
                return;
            }
            _ => return,
        };
        self.redacted.insert(text);
        self.objects[text as usize].body = Body::Hole(length_class(len).to_owned());
    }

    /// Whether the referent of an object is secret because the object is.
    pub(super) fn is_secret_in(&mut self, holder: u32, object: Option<Obj>) -> bool {
        let Some(object) = object.filter(|_| self.holders.contains(&holder)) else {
            return false;
        };
        let class = self.class_of(object);
        self.is_text(class) || self.classes[class as usize].wraps_text
    }

    /// Makes a hole of a number, and of its parts.
    fn redact_number(&mut self, number: u32) {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            self.redacted.insert(number);
            let hole = Body::Hole(REDACTED.to_owned());
            let body = std::mem::replace(&mut self.objects[number as usize].body, hole);
            let parts = body.fields().into_iter().flatten();
            pending.extend(parts.filter_map(|value| match value {
                Value::Ref(part) => {
                    let class = self.objects[*part as usize].class;
                    let digits = self.classes[class as usize].number == Number::Own;
                    (digits && !self.redacted.contains(part)).then_some(*part)
                }
                _ => None,
            }));
        }
    }

    /// Whether a text contains a secret by its form, which is then not stored elsewhere either.
    pub(super) fn lets_in(&mut self, units: &[u16]) -> bool {
        masks::may_let_in(units)
            && !self
                .credentials(&String::from_utf16_lossy(units))
                .is_empty()
    }

    /// The same for the text in an array.
    pub(super) fn array_lets_in(&mut self, letter: u8, elements: &[u8]) -> bool {
        let text = match letter {
            // Of the two bytes of a character, one is the sign itself.
            b'C' if masks::may_let_in(elements) => Some(arrays::of_chars(elements)),
            b'B' if masks::may_let_in(elements) => arrays::of_bytes(elements),
            _ => None,
        };
        text.is_some_and(|text| !self.credentials(&text).is_empty())
    }

    /// Masks such secrets in a text that is stored beside the objects.
    pub(crate) fn mask(&mut self, text: &mut String) {
        if masks::may_let_in(text.as_bytes()) {
            let parts = self.credentials(text);
            *text = masks::masked(text, &parts);
        }
    }

    /// Finds the secrets in a text, and notes them.
    fn credentials(&mut self, text: &str) -> Vec<Range<usize>> {
        let is_secret = |name: &str| self.options.is_secret_text(name);
        let parts = match self.options.may_name_secret(text) {
            true => masks::credentials(text, &is_secret),
            false => masks::credentials_by_form(text, &is_secret),
        };
        self.take_parts(text, &parts);
        parts
    }

    pub(super) fn take_parts(&mut self, text: &str, parts: &[Range<usize>]) {
        for part in parts {
            self.take_secret(text.get(part.clone()).unwrap_or_default());
        }
    }

    fn take_secret(&mut self, secret: &str) {
        for form in masks::forms(&secret[..secret.floor_char_boundary(MAX_SECRET)]) {
            self.secrets
                .text(&form.encode_utf16().collect::<Vec<u16>>());
        }
    }

    /// Notes what was masked in the command line or a property, which the program has read. Words
    /// occur in many places (`session.cookie.same-site=strict`): they are secret where they are all
    /// of a text.
    pub(crate) fn take_masked(&mut self, secret: &str) {
        match is_word(secret) {
            true => (self.secrets).word(&secret.encode_utf16().collect::<Vec<u16>>()),
            false => self.take_secret(secret),
        }
    }

    /// Whether a field of a `java.net.URL` holds a password: `user:password`, `user:password@host`.
    pub(super) fn is_login(&mut self, class: u32, index: usize, text: Option<Obj>) -> bool {
        let info = &self.classes[class as usize].info;
        if !matches!(info.name.as_str(), "java.net.URL" | "java.net.URI") {
            return false;
        }
        let name = info
            .fields
            .get(index)
            .map_or("", |field| field.name.as_str());
        let ("userInfo" | "authority", Some(text)) = (name, text) else {
            return false;
        };
        let text = self.jni.string(text);
        let user = match name {
            "userInfo" => Some(text.as_str()),
            _ => text.rsplit_once('@').map(|(user, _)| user),
        };
        let Some((_, password)) = user.and_then(|user| user.split_once(':')) else {
            return false;
        };
        let units: Vec<u16> = password.encode_utf16().collect();
        self.secrets.text(&units);
        !units.is_empty()
    }

    /// Notes the text of an object, if it is one, as a secret. Returns its length.
    pub(super) fn note(&mut self, object: Obj, class: u32) -> usize {
        let jni = self.jni;
        match self.classes[class as usize].storage {
            Storage::String => {
                let len = jni.string_len(object);
                self.secrets
                    .text(&jni.string_units(object, len.min(MAX_SECRET)));
                len
            }
            Storage::Primitives(letter) => {
                let len = jni.array_len(object);
                let bytes = jni.primitives(object, letter, len.min(MAX_SECRET));
                if letter == b'C' {
                    let units = words(letter, &bytes);
                    self.secrets
                        .text(&units.iter().map(|unit| *unit as u16).collect::<Vec<_>>());
                } else {
                    self.secrets.bytes(&bytes);
                }
                len
            }
            _ => 0,
        }
    }

    /// Notes that a text or number is secret, here and wherever else it is. Returns its number.
    pub(super) fn redact(&mut self, object: Obj, known: u32, class: u32) -> u32 {
        if self.redacted.contains(&known) {
            return known;
        }
        let len = self.note(object, class);
        let reason = match self.classes[class as usize].number {
            Number::Not => length_class(len),
            Number::Box | Number::Own => REDACTED,
        };
        if known != NO_OBJECT && reason == REDACTED {
            self.redact_number(known);
            return known;
        }
        if known != NO_OBJECT {
            self.redacted.insert(known);
            self.objects[known as usize].body = Body::Hole(reason.to_owned());
            return known;
        }
        if self.objects.len() >= self.options.max_objects {
            return self.shared_hole(class, reason);
        }
        let number = self.push(class, Body::Hole(reason.to_owned()));
        self.redacted.insert(number);
        let (_, as_class) = unpack(self.jvmti.tag(object));
        self.jvmti.set_tag(object, pack(number, as_class));
        number
    }
}

/// Whether a text consists of letters, and of characters that join those of names.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphabetic() || ".$_".contains(c))
}
