//! The elements of arrays, some of which are command lines or have alternating names and values.

use super::Graph;
use super::beside::{MAX_KEY, Named};
use crate::jni::Obj;
use crate::masks::{self, Says};
use crate::snapshot::classes::Storage;
use hindsight_tracelog::crash::Value;

/// The length from which an array is not taken for a command line, nor for names and values.
pub(super) const MAX_ARGUMENTS: usize = 1_000;

/// The length from which a text is not examined for what it says about secrets.
const MAX_ARGUMENT: usize = 1_000;

/// Whether the fields of a class are the elements of a list.
pub(super) fn is_list(class: &str) -> bool {
    const LISTS: [&str; 2] = [
        "java.util.ImmutableCollections$List12",
        "java.util.Collections$SingletonList",
    ];
    LISTS.contains(&class)
}

impl Graph<'_> {
    /// The elements of an array of references; `None` if there is no room for them.
    pub(super) fn elements(&mut self, array: Obj, number: u32, class: u32) -> Option<Vec<Value>> {
        let jni = self.jni;
        let len = jni.array_len(array);
        if !self.afford(len.saturating_mul(size_of::<Value>()) + 8) {
            return None;
        }
        let (all, pairs) = (self.secret.contains(&number), self.pairs.contains(&number));
        let name = self.classes[class as usize].info.name.as_str();
        let of_texts = name == "[[Ljava.lang.String;";
        let is_short = len <= MAX_ARGUMENTS;
        let of_objects = is_short && !pairs && name == "[Ljava.lang.Object;";
        let is_command = is_short && name == "[Ljava.lang.String;"
            || of_objects && len > 0 && self.at(array, 0, Self::is_string);
        let by_names = of_objects && is_command && self.has_names(array, number, len);
        let mut before = Named::Plain;
        let mut values = Vec::with_capacity(len);
        for index in 0..len {
            let element = jni.array_get(array, index);
            let mut next = Named::Plain;
            if pairs && index % 2 == 0 {
                next = self.named_by(element);
                if next != Named::Plain {
                    self.has_secret_key(number);
                }
            } else if by_names && index % 2 == 0 {
                next = self.named_by_name(element);
            }
            self.stands_beside(number, index, before);
            let beside = self.beside(number, index);
            let secret = all
                || self.is_secret_by(beside, element)
                || self.is_secret_in(number, element)
                || is_command && self.is_secret_argument(&mut next, element, of_objects);
            // It is a name with its value, if it has not been read in another place before.
            let is_pair = of_texts && element.is_some_and(|row| jni.array_len(row) == 2);
            let value = self.number(element, secret);
            if is_pair && let Value::Ref(row) = value {
                self.pairs.insert(row);
            }
            values.push(value);
            before = next;
        }
        Some(values)
    }

    /// Whether an element is an option with a secret. What it says about the next element goes to
    /// `next`. A list may have texts of all kinds, so there options begin with a hyphen or slash.
    pub(super) fn is_secret_argument(
        &mut self,
        next: &mut Named,
        element: Option<Obj>,
        in_list: bool,
    ) -> bool {
        let Some(element) = element.filter(|element| self.is_string(*element)) else {
            return false;
        };
        if self.jni.string_len(element) > MAX_ARGUMENT {
            return false;
        }
        let text = self.jni.string(element);
        if in_list && !text.starts_with(['-', '/']) {
            return false;
        }
        match masks::option(&text, &|name| self.options.is_secret_text(name)) {
            Says::Nothing => false,
            Says::NextIsSecret => {
                *next = Named::Secret;
                false
            }
            Says::HasSecret(parts) => {
                self.take_parts(&text, &parts);
                true
            }
        }
    }

    /// Whether names and values alternate in an array of objects, and one of the names is that of a
    /// secret.
    fn has_names(&mut self, array: Obj, number: u32, len: usize) -> bool {
        if !self.may_take_turns(number, len) {
            return false;
        }
        let mut is_secret = false;
        (0..len).step_by(2).all(|index| {
            self.at(array, index, |graph, name| {
                is_secret |= graph.named_by(Some(name)) != Named::Plain;
                graph.is_name(name)
            })
        }) && is_secret
    }

    /// Whether names and values may alternate in an array.
    pub(super) fn may_take_turns(&self, array: u32, len: usize) -> bool {
        len.is_multiple_of(2) && !self.collected.contains(&array)
    }

    fn is_name(&mut self, object: Obj) -> bool {
        let jni = self.jni;
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
        self.is_string(object)
            && (1..=MAX_KEY).contains(&jni.string_len(object))
            && jni.string(object).chars().all(is_of_name)
    }

    fn is_string(&mut self, object: Obj) -> bool {
        let class = self.class_of(object);
        self.classes[class as usize].storage == Storage::String
    }

    /// Applies a predicate to an element, if there is one.
    fn at(&mut self, array: Obj, index: usize, ask: impl FnOnce(&mut Self, Obj) -> bool) -> bool {
        let Some(element) = self.jni.array_get(array, index) else {
            return false;
        };
        let said = ask(self, element);
        self.jni.delete_local(element);
        said
    }
}
