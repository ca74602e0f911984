//! The objects of a crash, as they were at one frame's entry.
//!
//! A crash file holds one graph and, for each frame, a patch of the fields and elements whose value
//! at that frame's entry differed. [`Graph`] applies the patch to the graph without copying it.

use hindsight_tracelog::crash::{Body, ClassInfo, ClassKind, Constant, FieldInfo, Frame, Value};
use hindsight_tracelog::reader::Crash;
use std::collections::HashMap;
use std::ops::Range;
use std::slice::ChunksExact;

/// A value together with the first character of its descriptor, without which a `char` cannot be
/// distinguished from an `int`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Typed {
    /// The value.
    pub value: Value,
    /// One of `ZBCSIJFDL[`.
    pub kind: u8,
}

impl Typed {
    /// A value of the type `descriptor`.
    pub fn new(value: Value, descriptor: &str) -> Typed {
        let kind = descriptor.as_bytes().first().copied().unwrap_or(b'L');
        Typed {
            value: value.typed(descriptor),
            kind,
        }
    }

    /// The default value of a place of this type.
    pub fn zero(descriptor: &str) -> Typed {
        let kind = descriptor.as_bytes().first().copied().unwrap_or(b'L');
        let value = match kind {
            b'Z' => Value::Bool(false),
            b'F' => Value::Float(0.0),
            b'D' => Value::Double(0.0),
            b'L' | b'[' => Value::Null,
            _ => Value::Int(0),
        };
        Typed { value, kind }
    }

    /// A reference, or null.
    pub fn reference(value: Value) -> Typed {
        Typed { value, kind: b'L' }
    }
}

/// An instance field as seen through a [`Graph`].
#[derive(Debug, Clone, Copy)]
pub struct FieldView<'a> {
    /// The field.
    pub info: &'a FieldInfo,
    /// Its value.
    pub value: Typed,
    /// Whether the value is the one at entry, and differs from that at the failure.
    pub patched: bool,
}

/// The objects, see the module's documentation.
#[derive(Debug)]
pub struct Graph<'a> {
    /// The crash to which the objects belong.
    pub crash: &'a Crash,
    /// Values of fields at entry, by object and by the field's class, name and descriptor: class
    /// files may have several fields of one name.
    overlay: HashMap<(u32, &'a str, &'a str, &'a str), Value>,
    /// Values of elements of arrays at entry.
    elements: HashMap<u32, HashMap<usize, Value>>,
}

impl<'a> Graph<'a> {
    /// The objects as they were when the failure was recorded.
    pub fn at_failure(crash: &'a Crash) -> Graph<'a> {
        Graph {
            crash,
            overlay: HashMap::new(),
            elements: HashMap::new(),
        }
    }

    /// The objects as they were at the entry of `frame`.
    pub fn at_entry(crash: &'a Crash, frame: &'a Frame) -> Graph<'a> {
        let place = |patch: &'a hindsight_tracelog::crash::Patch| {
            (
                (
                    patch.object,
                    patch.owner.as_str(),
                    patch.field.as_str(),
                    patch.descriptor.as_str(),
                ),
                patch.value.typed(&patch.descriptor),
            )
        };
        let mut elements: HashMap<u32, HashMap<usize, Value>> = HashMap::new();
        for patch in &frame.patch {
            if let Some(index) = patch.index {
                let value = patch.value.typed(&patch.descriptor);
                let array = elements.entry(patch.object).or_default();
                array.insert(index as usize, value);
            }
        }
        let fields = frame.patch.iter().filter(|patch| patch.index.is_none());
        Graph {
            crash,
            overlay: fields.map(place).collect(),
            elements,
        }
    }

    /// The stored content of an object, if there is any.
    pub fn body(&self, object: u32) -> Option<&'a Body> {
        self.crash.object(object).map(|object| &object.body)
    }

    /// The expression for an object of which each JVM has its own, which is stored as a hole.
    pub fn standing(&self, object: u32) -> Option<&'a Constant> {
        if !matches!(self.body(object), Some(Body::Hole(_))) {
            return None;
        }
        let mut constants = self.crash.failure.constants.iter();
        constants.find(|constant| constant.object == object && constant.is_standing())
    }

    /// The class of an object.
    pub fn class(&self, object: u32) -> Option<&'a ClassInfo> {
        self.crash.class(self.crash.object(object)?.class)
    }

    /// The enum of a constant: one with a body has a subclass of its own.
    pub fn enum_name(&self, object: u32) -> &'a str {
        match self.class(object) {
            Some(class) if class.kind == ClassKind::Enum => class
                .supers
                .first()
                .filter(|above| *above != "java.lang.Enum")
                .unwrap_or(&class.name),
            _ => self.class_name(object),
        }
    }

    /// The name of an object's class; `?` if it is lost.
    pub fn class_name(&self, object: u32) -> &'a str {
        match self.class(object) {
            Some(class) if !class.name.is_empty() => &class.name,
            _ => "?",
        }
    }

    /// The instance fields, those of the topmost class first.
    pub fn fields(&self, object: u32) -> Vec<FieldView<'a>> {
        let values = self.body(object).and_then(Body::fields);
        let (Some(values), Some(class)) = (values, self.class(object)) else {
            return Vec::new();
        };
        let view = |(info, value): (&'a FieldInfo, &Value)| {
            let patch = self.patch(object, info);
            let value = Typed::new(patch.unwrap_or(*value), &info.descriptor);
            FieldView {
                info,
                value,
                patched: patch.is_some(),
            }
        };
        class.fields.iter().zip(values).map(view).collect()
    }

    /// A field by name; if a subclass hides one, the subclass's.
    pub fn field(&self, object: u32, name: &str) -> Option<Typed> {
        let values = self.body(object)?.fields()?;
        let class = self.class(object)?;
        let index = class.fields.iter().rposition(|field| field.name == name)?;
        let info = &class.fields[index];
        let value = self.patch(object, info).or(values.get(index).copied())?;
        Some(Typed::new(value, &info.descriptor))
    }

    /// A field that refers to an object.
    pub fn reference(&self, object: u32, name: &str) -> Option<u32> {
        match self.field(object, name)?.value {
            Value::Ref(target) => Some(target),
            _ => None,
        }
    }

    /// A field that holds an integer.
    pub fn int(&self, object: u32, name: &str) -> Option<i64> {
        match self.field(object, name)?.value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn elements(&self, object: u32) -> Option<Vec<Typed>> {
        self.each(object).map(Iterator::collect)
    }

    /// The elements of an array, one after the other: in a list each takes 24 bytes, whatever its
    /// size in the file.
    pub fn each(&self, object: u32) -> Option<Elements<'_>> {
        let stored = match self.body(object)? {
            Body::References(values) => Stored::References(values),
            Body::Primitives(bytes) => {
                let kind = *self.class_name(object).as_bytes().get(1)?;
                Stored::Primitives(kind, bytes.chunks_exact(primitive_size(kind)?))
            }
            _ => return None,
        };
        let len = match &stored {
            Stored::References(values) => values.len(),
            Stored::Primitives(_, chunks) => chunks.len(),
        };
        Some(Elements {
            stored,
            patched: self.elements.get(&object),
            left: 0..len,
        })
    }

    /// The text of a string object, as UTF-16 code units.
    pub fn text(&self, object: u32) -> Option<Vec<u16>> {
        match self.body(object)? {
            Body::String(text) => Some(text.units()),
            _ => None,
        }
    }

    fn patch(&self, object: u32, field: &FieldInfo) -> Option<Value> {
        if self.overlay.is_empty() {
            return None;
        }
        let place = (
            object,
            field.owner.as_str(),
            field.name.as_str(),
            field.descriptor.as_str(),
        );
        self.overlay.get(&place).copied()
    }
}

/// The elements of an array, see [`Graph::each`].
#[derive(Debug, Clone)]
pub struct Elements<'g> {
    stored: Stored<'g>,
    /// Elements that differed at entry, by index.
    patched: Option<&'g HashMap<usize, Value>>,
    /// The indices that are still to come.
    left: Range<usize>,
}

#[derive(Debug, Clone)]
enum Stored<'g> {
    References(&'g [Value]),
    /// The type, and all elements.
    Primitives(u8, ChunksExact<'g, u8>),
}

impl Elements<'_> {
    fn get(&self, index: usize) -> Option<Typed> {
        let patched = self.patched.and_then(|patched| patched.get(&index));
        Some(match &self.stored {
            Stored::References(values) => Typed::reference(*patched.or_else(|| values.get(index))?),
            Stored::Primitives(kind, chunks) => Typed {
                value: match patched {
                    Some(value) => *value,
                    None => decode_primitive(*kind, chunks.clone().nth(index)?),
                },
                kind: *kind,
            },
        })
    }
}

impl Iterator for Elements<'_> {
    type Item = Typed;

    fn next(&mut self) -> Option<Typed> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Typed> {
        let index = self.left.nth(n)?;
        self.get(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Elements<'_> {}

/// The bytes of an element of an array of primitives, by the first character of its descriptor.
pub fn primitive_size(kind: u8) -> Option<usize> {
    match kind {
        b'Z' | b'B' => Some(1),
        b'C' | b'S' => Some(2),
        b'I' | b'F' => Some(4),
        b'J' | b'D' => Some(8),
        _ => None,
    }
}

fn decode_primitive(kind: u8, chunk: &[u8]) -> Value {
    let mut bytes = [0; 8];
    bytes[..chunk.len()].copy_from_slice(chunk);
    let bits = u64::from_le_bytes(bytes);
    match kind {
        b'Z' => Value::Bool(bits != 0),
        b'B' => Value::Int(i64::from(bits as u8 as i8)),
        b'C' => Value::Int(i64::from(bits as u16)),
        b'S' => Value::Int(i64::from(bits as u16 as i16)),
        b'I' => Value::Int(i64::from(bits as u32 as i32)),
        b'J' => Value::Int(bits as i64),
        b'F' => Value::Float(f32::from_bits(bits as u32)),
        _ => Value::Double(f64::from_bits(bits)),
    }
}
