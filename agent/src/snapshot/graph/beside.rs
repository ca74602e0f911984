//! Secrets that are recognised by what stands beside their place, or has stood there: the key of an
//! entry, an option of a command line.

use super::Graph;
use super::elements::MAX_ARGUMENTS;
use crate::jni::Obj;
use crate::masks;
use crate::snapshot::arrays;
use crate::snapshot::classes::{Class, Number, Storage};
use crate::snapshot::collections::KEY_SET;
use hindsight_tracelog::crash::{Body, Value};

/// The UTF-16 code units of the longest key that may name a secret.
pub(super) const MAX_KEY: usize = 100;

/// The most steps from keys to the object that has them all: a set, its list, the list's array.
const MAX_INSIDE: usize = 3;

/// What a key, or whatever has a value by its side, says about the value by its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    Plain,
    /// The value is a secret if it is a text: a `pass` may also be a number of passes, or have a
    /// list of what has passed.
    Text,
    /// It is a secret if it is a text, and so are the texts in a container, as in a header.
    Texts,
    /// It is a secret whatever it is.
    Secret,
}

impl Graph<'_> {
    /// What is known of a place by what stands beside it, or has stood there.
    pub(super) fn beside(&self, object: u32, slot: usize) -> Named {
        let places = self.beside.get(&object);
        let named = places.and_then(|places| places.get(&slot).copied());
        named.unwrap_or(Named::Plain)
    }

    /// Notes that something that stands beside a place, or has stood there, may make its content
    /// secret, now and before.
    pub(super) fn stands_beside(&mut self, object: u32, slot: usize, named: Named) {
        if named == Named::Plain || named <= self.beside(object, slot) {
            return;
        }
        self.beside.entry(object).or_default().insert(slot, named);
        let now = match &self.objects[object as usize].body {
            Body::References(values) => values.get(slot),
            body => body.fields().and_then(|values| values.get(slot)),
        };
        let now = match now {
            Some(Value::Ref(value)) => Some(*value),
            _ => None,
        };
        let old = self.old.get(&object).into_iter().flatten();
        let old = old.filter(|(of, _)| *of == slot).map(|(_, value)| *value);
        for value in old.chain(now).collect::<Vec<u32>>() {
            if self.is_class_secret_by(named, self.objects[value as usize].class) {
                self.hide_in(object, value);
            }
        }
    }

    /// Hides a present or earlier value in a secret place of an object.
    fn hide_in(&mut self, object: u32, value: u32) {
        let class = self.objects[value as usize].class;
        if self.classes[class as usize].number == Number::Box {
            self.hide_boxes(object, &[value]);
        } else if self.is_worth_hiding(class) {
            self.redact_stored(value);
        } else {
            self.hide(value);
        }
    }

    /// Notes what the keys of entries say about their values.
    pub(super) fn look_at_keys(&mut self, object: Obj, number: u32, class: u32) {
        for at in 0..self.classes[class as usize].entries.len() {
            let Class {
                entries,
                info,
                fields,
                ..
            } = &self.classes[class as usize];
            let (key, value) = entries[at];
            let are_all = info.fields[key].name == KEY_SET;
            let key = self.jni.get_object(object, fields[key].0);
            let named = match are_all {
                true => self.named_among(key, MAX_INSIDE),
                false => self.named_by(key),
            };
            self.stands_beside(number, value, named);
            if let Some(key) = key {
                self.jni.delete_local(key);
            }
        }
    }

    /// The same for maps that have an array of keys and one of values.
    pub(super) fn look_at_array_of_keys(&mut self, map: Obj, class: u32, values: &[Value]) {
        let class = &self.classes[class as usize];
        let Some((keys, held)) = class.parallel else {
            return;
        };
        let (Some(Value::Ref(of)), Some(Value::Ref(held))) = (values.get(keys), values.get(held))
        else {
            return;
        };
        let (of, held) = (*of, *held);
        let Some(keys) = self.jni.get_object(map, class.fields[keys].0) else {
            return;
        };
        self.held.insert(of, held);
        let class = self.class_of(keys);
        // Values that are too many to be stored need not be judged.
        let len = self.jni.array_len(keys);
        let is_looked_at = self.classes[class as usize].storage == Storage::References
            && len.saturating_mul(size_of::<Value>()) <= self.bytes_left();
        if is_looked_at {
            for index in 0..len {
                let key = self.jni.array_get(keys, index);
                let named = self.named_by(key);
                self.stands_beside(held, index, named);
                if let Some(key) = key {
                    self.jni.delete_local(key);
                }
            }
        }
        self.jni.delete_local(keys);
    }

    /// The strongest statement of the keys in a collection, at most this many steps inside.
    fn named_among(&mut self, keys: Option<Obj>, steps: usize) -> Named {
        let Some(object) = keys else {
            return Named::Plain;
        };
        let class = self.class_of(object);
        let jni = self.jni;
        let Class {
            storage,
            contains,
            fields,
            ..
        } = &self.classes[class as usize];
        let inside: Vec<Option<Obj>> = match storage {
            Storage::References if steps > 0 => {
                let len = jni.array_len(object).min(MAX_ARGUMENTS);
                (0..len).map(|index| jni.array_get(object, index)).collect()
            }
            Storage::Instance if *contains && steps > 0 => {
                let fields = fields
                    .iter()
                    .filter(|(_, letter)| matches!(letter, b'L' | b'['));
                fields
                    .map(|(field, _)| jni.get_object(object, *field))
                    .collect()
            }
            _ => return self.named_by(keys),
        };
        let mut most = Named::Plain;
        for object in inside {
            most = most.max(self.named_among(object, steps - 1));
            if let Some(object) = object {
                jni.delete_local(object);
            }
        }
        most
    }

    /// Notes that a key of a table in which keys and values alternate names a secret: then all its
    /// values may be secrets, because it is not known which of them have stood beside which key.
    pub(super) fn has_secret_key(&mut self, table: u32) {
        if !self.secret_pairs.insert(table) {
            return;
        }
        let old = self.old.get(&table).into_iter().flatten();
        let old = old.filter(|(slot, _)| slot % 2 == 1);
        for value in old.map(|(_, value)| *value).collect::<Vec<u32>>() {
            self.hide_in(table, value);
        }
    }

    /// Judges an earlier value of a place by what it says about the place beside it. Returns
    /// whether it is a secret itself.
    pub(super) fn was_beside(&mut self, object: u32, index: usize, old: Option<Obj>) -> bool {
        if self.pairs.contains(&object) {
            if index.is_multiple_of(2) && self.named_by(old) != Named::Plain {
                self.has_secret_key(object);
            }
            return false;
        }
        let class = &self.classes[self.objects[object as usize].class as usize];
        let value = class.entries.iter().find(|(key, _)| *key == index);
        if let Some((_, value)) = value.copied() {
            let named = self.named_by(old);
            self.stands_beside(object, value, named);
            return false;
        }
        if let Some(held) = self.held.get(&object).copied() {
            let named = self.named_by(old);
            self.stands_beside(held, index, named);
            return false;
        }
        let is_list = match class.info.name.as_str() {
            "[Ljava.lang.String;" => false,
            "[Ljava.lang.Object;" => true,
            _ => return false,
        };
        let Body::References(values) = &self.objects[object as usize].body else {
            return false;
        };
        let len = values.len();
        if len > MAX_ARGUMENTS {
            return false;
        }
        let mut next = Named::Plain;
        let is_secret = self.is_secret_argument(&mut next, old, is_list);
        if next == Named::Plain
            && is_list
            && self.may_take_turns(object, len)
            && index.is_multiple_of(2)
        {
            next = self.named_by_name(old);
        }
        self.stands_beside(object, index + 1, next);
        is_secret
    }

    /// Whether an earlier value of a place must not be stored, whatever key it has stood beside.
    pub(super) fn is_secret_place(
        &mut self,
        object: u32,
        class: usize,
        index: usize,
        old: Option<Obj>,
    ) -> bool {
        if self.secret.contains(&object) || self.classes[class].secrets.contains(&index) {
            return true;
        }
        // The key that the value of a table had is not known.
        if self.pairs.contains(&object) {
            return index % 2 == 1 && self.secret_pairs.contains(&object);
        }
        let named = self.beside(object, index);
        self.is_secret_by(named, old)
    }

    /// Whether a key makes the value beside it a secret; the value is `None` if it is not a
    /// reference.
    pub(crate) fn is_secret_of_key(&mut self, key: Option<Obj>, value: Option<Obj>) -> bool {
        let named = self.named_by(key);
        match value {
            Some(_) => self.is_secret_by(named, value),
            None => named == Named::Secret,
        }
    }

    /// What a name says about the value behind it in an array of objects, where a value that is not
    /// a text may be anything.
    pub(super) fn named_by_name(&mut self, name: Option<Obj>) -> Named {
        match self.named_by(name) {
            Named::Secret => Named::Texts,
            named => named,
        }
    }

    /// What an object that is the key of a value says about it.
    pub(super) fn named_by(&mut self, key: Option<Obj>) -> Named {
        let Some(key) = key else {
            return Named::Plain;
        };
        let class = self.class_of(key);
        match self.classes[class as usize].storage {
            Storage::Enum(name) => match self.jni.get_object(key, name) {
                Some(name) => {
                    let text = self.jni.string(name);
                    self.jni.delete_local(name);
                    self.named_by_constant(&text)
                }
                None => Named::Plain,
            },
            Storage::String if self.jni.string_len(key) <= MAX_KEY => {
                self.named(&self.jni.string(key))
            }
            Storage::Instance => self.named_by_text_of(key, class),
            _ => Named::Plain,
        }
    }

    /// The same for a text that is not a string (Netty's `AsciiString`), or an object that has
    /// nothing but a text.
    fn named_by_text_of(&mut self, key: Obj, class: u32) -> Named {
        let jni = self.jni;
        let mut most = Named::Plain;
        for at in 0..self.classes[class as usize].said.len() {
            let Some(text) = jni.get_object(key, self.classes[class as usize].said[at]) else {
                continue;
            };
            let of = self.class_of(text);
            let said = match self.classes[of as usize].storage {
                Storage::String if jni.string_len(text) <= MAX_KEY => Some(jni.string(text)),
                Storage::Primitives(letter @ (b'B' | b'C')) if jni.array_len(text) <= MAX_KEY => {
                    let elements = jni.primitives(text, letter, jni.array_len(text));
                    match letter {
                        b'C' => Some(arrays::of_chars(&elements)),
                        _ => arrays::of_bytes(&elements),
                    }
                }
                _ => None,
            };
            jni.delete_local(text);
            if let Some(said) = said {
                most = most.max(self.named(said.trim_end_matches('\0')));
            }
        }
        most
    }

    /// What the name of an enum's constant says. Results have such names as well (`PASS`, `FAIL`).
    fn named_by_constant(&self, name: &str) -> Named {
        match self.named(name) {
            Named::Text => Named::Plain,
            named => named,
        }
    }

    fn named(&self, name: &str) -> Named {
        if !masks::names_secret(name, &|name| self.options.is_secret_text(name)) {
            Named::Plain
        } else if masks::names_secret(name, &|name| self.options.is_secret(name)) {
            Named::Secret
        } else if name.eq_ignore_ascii_case("pass") {
            Named::Text
        } else {
            Named::Texts
        }
    }

    /// Whether a value is secret because of what stands beside it.
    pub(super) fn is_secret_by(&mut self, named: Named, value: Option<Obj>) -> bool {
        let Some(value) = value.filter(|_| named != Named::Plain) else {
            return false;
        };
        let class = self.class_of(value);
        self.is_class_secret_by(named, class)
    }

    /// The same for an object of a class.
    pub(super) fn is_class_secret_by(&self, named: Named, class: u32) -> bool {
        let Class { said, contains, .. } = &self.classes[class as usize];
        let is_text = self.is_text(class) || !said.is_empty();
        match named {
            Named::Plain => false,
            Named::Text => is_text,
            Named::Texts => is_text || *contains,
            Named::Secret => true,
        }
    }
}
