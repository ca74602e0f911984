//! What values of a run are to a test: texts are known, arrays as far as their elements are, and
//! objects by their numbers.

use super::callable::of;
use super::slice::MAX_ELEMENTS;
use super::{MAX_OBJECTS, Object, Recorder, Value};
use crate::generate::lambda::Thrown;
use crate::model::literal::{is_reflected, literal, of_units};
use crate::model::values::Literal;
use hindsight_classfile::access;
use hindsight_tracelog::trace::{Datum, ObjectId};

/// The most elements of arrays that are followed.
const MAX_ARRAY: usize = 64;
/// The depth to which arrays in arrays are followed. A sequence has no more than [`MAX_ELEMENTS`]
/// of these anyway.
const MAX_DEPTH: usize = 8;

pub(super) struct Array {
    class: u32,
    length: usize,
    /// The known ones of the first elements: for most arrays nothing is known, and there may be
    /// very many.
    elements: Vec<Option<Element>>,
}

/// An element as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Element {
    /// A value that stays as it is.
    Fixed(Value),
    /// Another array: its content may change, and is looked up when the enclosing one is passed.
    Array(u64),
}

impl Array {
    pub(super) fn set(&mut self, at: usize, value: Option<Element>) {
        if at >= self.length || at >= self.elements.len() && value.is_none() {
            return;
        }
        if at >= self.elements.len() {
            self.elements.resize(at + 1, None);
        }
        self.elements[at] = value;
    }

    /// All elements, as far as they are known.
    fn all(&self) -> impl Iterator<Item = Option<&Element>> {
        let known = self.elements.iter().map(Option::as_ref);
        known.chain(std::iter::repeat(None)).take(self.length)
    }
}

impl Recorder<'_> {
    /// Notes the elements of an array when it is first seen.
    pub(super) fn fill(&mut self, serial: u64, elements: &[Datum]) {
        let elements = elements.iter().map(|element| self.element(*element));
        let elements: Vec<Element> = elements.collect();
        if let Some(array) = self.arrays.get_mut(&serial) {
            for (at, element) in elements.into_iter().enumerate() {
                array.set(at, Some(element));
            }
        }
    }

    /// The expression by which a test makes an exception: from the text from which the run has made
    /// it, if that is known and its constructor takes no more, or from nothing.
    pub(super) fn thrown(&mut self, id: ObjectId) -> Option<Thrown> {
        let class = self.dictionary.class(id.class())?;
        let info = self.access.info(class)?;
        let info = of(&info)?;
        let takes = |descriptor: &str| {
            let constructor = info.method("<init>", descriptor);
            constructor.is_some_and(|one| one.is(access::PUBLIC))
        };
        let object = self.objects.get(&id.serial());
        let maker = object.and_then(|object| object.history.first());
        let maker = maker.filter(|seen| seen.made == Some(id.serial()));
        let message = match maker.map(|seen| &seen.args[..]) {
            Some([Value::Literal(Literal::Text(message))]) => Some(message.clone()),
            _ => None,
        };
        let can_be_made = match &message {
            Some(_) => takes("(Ljava/lang/String;)V"),
            None => takes("()V"),
        };
        let class = class.to_owned();
        let can_be_made =
            can_be_made && !info.is(access::ABSTRACT) && self.access.is_accessible(&class);
        let mut free = ["Error", "RuntimeException"].iter();
        let is_checked = !free.any(|one| self.access.is_a(&class, &format!("java.lang.{one}")));
        can_be_made.then_some(Thrown {
            class,
            message,
            is_checked,
        })
    }

    /// Notes what a call of the JDK has written to arrays: a copy equals its source, and elements
    /// that cannot be determined are not known any more. The elements of the arrays that are
    /// `filled` were recorded after the call.
    pub(super) fn called(&mut self, callee: u32, values: &[Datum], filled: &[u64]) {
        let Some(callee) = self.dictionary.callee(callee) else {
            return;
        };
        let reference = |value: &Datum| match value {
            Datum::Reference(Some(id)) => Some(id.serial()),
            _ => None,
        };
        let place = |value: &Datum| match value {
            Datum::Int(at) => usize::try_from(*at).ok(),
            _ => None,
        };
        // The source, the destination, and the length.
        let copied = match (callee.owner.as_str(), callee.name.as_str(), values) {
            ("java.lang.System", "arraycopy", [from, at, to, into, length]) => {
                Some((from, place(at), to, place(into), place(length)))
            }
            (_, "clone", [from, to]) | ("java.util.Arrays", "copyOf", [from, _, to]) => {
                Some((from, Some(0), to, Some(0), None))
            }
            ("java.util.Arrays", "copyOfRange", [from, at, _, to]) => {
                Some((from, place(at), to, Some(0), None))
            }
            _ => None,
        };
        if let Some((from, at, to, into, length)) = copied {
            let from = reference(from).and_then(|serial| self.arrays.get(&serial));
            let all: Vec<Option<Element>> =
                from.map_or_else(Vec::new, |from| from.elements.clone());
            let to = reference(to).filter(|serial| !filled.contains(serial));
            let array = to.and_then(|serial| self.arrays.get_mut(&serial));
            if let (Some(array), Some(at), Some(into)) = (array, at, into) {
                let length = length.unwrap_or(usize::MAX);
                for (number, place) in (into..array.length).take(length).enumerate() {
                    array.set(place, all.get(at.saturating_add(number)).cloned().flatten());
                }
            }
            return;
        }
        let with = match (callee.owner.as_str(), callee.name.as_str(), values) {
            ("java.util.Arrays", "fill", [_, value]) => Some(self.element(*value)),
            _ => None,
        };
        let written = values.iter().filter_map(reference);
        for serial in written.filter(|serial| !filled.contains(serial)) {
            if let Some(array) = self.arrays.get_mut(&serial) {
                for at in 0..array.length {
                    array.set(at, with.clone());
                }
            }
        }
    }

    /// Notes a text with lone surrogates, or a box that holds one.
    pub(super) fn new_text(&mut self, id: ObjectId, units: &[u16], length: u32) {
        let class = self.dictionary.class(id.class()).unwrap_or_default();
        if let Some(literal) = of_units(class, units, length) {
            self.texts.insert(id.serial(), literal);
        }
    }

    pub(super) fn new_object(&mut self, id: ObjectId, text: Option<&str>, length: u32) {
        let name = self.dictionary.class(id.class()).unwrap_or_default();
        let text = text.filter(|_| !is_reflected(name));
        let known = text.map(|text| literal(name, text, length).map(|known| self.constant(known)));
        // Constants of an enum that no source can name are treated like other objects.
        let known = known.filter(|known| match known {
            Some(Literal::Enum(class, _)) => self.access.is_accessible(class),
            _ => true,
        });
        if let Some(known) = known {
            if let Some(literal) = known {
                self.texts.insert(id.serial(), literal);
            }
        } else if name.starts_with('[') {
            if (length as usize) > MAX_ARRAY {
                return;
            }
            if self.arrays.len() >= MAX_OBJECTS {
                self.full = true;
            } else {
                let array = Array {
                    class: id.class(),
                    length: length as usize,
                    elements: Vec::new(),
                };
                self.arrays.insert(id.serial(), array);
            }
        } else if self.objects.len() >= MAX_OBJECTS {
            self.full = true;
        } else if !name.is_empty() && name != "java.lang.String" {
            let object = Object {
                class: id.class(),
                born: self.now,
                history: Vec::new(),
                cut: None,
                given: None,
            };
            self.objects.insert(id.serial(), object);
            let code = self.dictionary.code(id.class());
            self.lambdas.take(id.serial(), name, id.class(), code);
        }
    }

    /// The constant itself: one with a body has a class of its own.
    fn constant(&self, literal: Literal) -> Literal {
        if let Literal::Enum(class, name) = &literal
            && let Some(found) = self.access.info(class)
            && let Some(parent) = of(&found).and_then(|info| info.super_class.as_deref())
            && parent != "java.lang.Enum"
        {
            return Literal::Enum(parent.to_owned(), name.clone());
        }
        literal
    }

    /// The form in which an array keeps a value.
    pub(super) fn element(&mut self, datum: Datum) -> Element {
        match datum {
            Datum::Reference(Some(id)) if self.arrays.contains_key(&id.serial()) => {
                Element::Array(id.serial())
            }
            datum => Element::Fixed(self.value(datum, "")),
        }
    }

    /// An array as it is now, with those in it. `around` are the arrays that contain it, and `left`
    /// is the number of elements that still fit.
    fn array(&self, serial: u64, around: &mut Vec<u64>, left: &mut usize) -> Value {
        let found = self.arrays.get(&serial).filter(|found| {
            // An array that contains itself cannot be written as a literal.
            found.length <= *left && around.len() < MAX_DEPTH && !around.contains(&serial)
        });
        let Some(found) = found else {
            return Value::Unknown;
        };
        *left -= found.length;
        around.push(serial);
        let elements = found.all().map(|one| match one {
            Some(Element::Fixed(value)) => value.clone(),
            Some(Element::Array(inner)) => self.array(*inner, around, left),
            None => Value::Unknown,
        });
        let elements = elements.collect();
        around.pop();
        let class = self.dictionary.class(found.class).unwrap_or_default();
        let element = class.strip_prefix('[').unwrap_or_default();
        Value::Array(serial, element.replace('.', "/"), elements)
    }

    pub(super) fn value(&mut self, datum: Datum, ty: &str) -> Value {
        Value::Literal(match datum {
            Datum::Reference(None) => Literal::Null,
            Datum::Reference(Some(id)) => {
                let serial = id.serial();
                if let Some(text) = self.texts.get(serial) {
                    text.clone()
                } else if self.arrays.contains_key(&serial) {
                    let mut left = MAX_ELEMENTS;
                    return self.array(serial, &mut Vec::new(), &mut left);
                } else if self.objects.contains_key(&serial) {
                    return Value::Object(serial);
                } else {
                    return Value::Unknown;
                }
            }
            Datum::Int(value) if ty == "Z" => Literal::Bool(value != 0),
            Datum::Int(value) => Literal::Int(value.into()),
            Datum::Long(value) => Literal::Int(value),
            Datum::Float(value) => Literal::float(value),
            Datum::Double(value) => Literal::double(value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_take_no_more_than_is_known_of_them() {
        let mut array = Array {
            class: 0,
            length: 4,
            elements: Vec::new(),
        };
        array.set(3, None);
        assert_eq!(array.elements.capacity(), 0);
        let one = || Element::Fixed(Value::Literal(Literal::Int(1)));
        array.set(1, Some(one()));
        array.set(4, Some(one()));
        assert_eq!(array.elements.len(), 2);
        let known: Vec<_> = array.all().collect();
        assert_eq!(known, [None, Some(&one()), None, None]);
        array.set(1, None);
        assert!(array.all().all(|one| one.is_none()));
    }
}
