//! Values, and the objects that they refer to, with their classes.

use serde::{Deserialize, Serialize};

/// A value of the JVM. It is stored without its type; [`Value::typed`] interprets it by a
/// descriptor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `null`; in a primitive field, a value that was not stored because it is redacted.
    Null,
    /// A `boolean`.
    Bool(bool),
    /// A `byte`, `short`, `char`, `int` or `long`.
    Int(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// An object number. It is stored as an integer.
    Ref(u32),
}

impl Value {
    /// Distinguishes object numbers from integers, by the type of the place that holds the value.
    pub fn typed(self, descriptor: &str) -> Value {
        match self {
            Value::Int(number) if descriptor.starts_with(['L', '[']) => {
                u32::try_from(number).map_or(Value::Null, Value::Ref)
            }
            other => other,
        }
    }
}

/// The kinds of classes, as far as reading their objects depends on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum ClassKind {
    /// An ordinary class.
    #[default]
    Class,
    /// An interface.
    Interface,
    /// An array class.
    Array,
    /// An enum, or the class of an enum constant with a body.
    Enum,
    /// A record class.
    Record,
    /// A class made by `java.lang.reflect.Proxy`.
    Proxy,
    /// A hidden class (JVMS 5.4.3.1), such as those of lambda expressions; its name means nothing
    /// in another run.
    Hidden,
}

impl From<u8> for ClassKind {
    fn from(code: u8) -> Self {
        match code {
            1 => ClassKind::Interface,
            2 => ClassKind::Array,
            3 => ClassKind::Enum,
            4 => ClassKind::Record,
            5 => ClassKind::Proxy,
            6 => ClassKind::Hidden,
            _ => ClassKind::Class,
        }
    }
}

impl From<ClassKind> for u8 {
    fn from(kind: ClassKind) -> u8 {
        match kind {
            ClassKind::Class => 0,
            ClassKind::Interface => 1,
            ClassKind::Array => 2,
            ClassKind::Enum => 3,
            ClassKind::Record => 4,
            ClassKind::Proxy => 5,
            ClassKind::Hidden => 6,
        }
    }
}

/// The class of an object in the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassInfo {
    /// The number of the class within the file, counting from 0.
    pub id: u32,
    /// The class's name.
    pub name: String,
    /// The kind of the class.
    pub kind: ClassKind,
    /// The superclasses, nearest first, without `java.lang.Object`.
    pub supers: Vec<String>,
    /// The interfaces that the class itself declares.
    pub interfaces: Vec<String>,
    /// The instance fields in the order of [`Body::fields`]: those of the topmost class come first.
    /// An enum in which no field can change has none.
    pub fields: Vec<FieldInfo>,
    /// The class of its loader; empty for the boot loader.
    pub loader: String,
    /// SHA-256 in hexadecimal of the class file as it was loaded, if the agent saw it.
    pub sha256: Option<String>,
}

/// An instance field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldInfo {
    /// The class that declares it.
    pub owner: String,
    /// The field's name.
    pub name: String,
    /// The field's descriptor.
    pub descriptor: String,
    /// The field's access flags (JVMS 4.5).
    pub access: u16,
}

/// What identifies a class or method whose name a compiler has numbered, so that it is found in
/// another version of the program with other numbers. It is not recorded: the analyzer adds it to
/// the crash files of emitted tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The recorded name: of a class, or of a method with its class and descriptor, as in
    /// `Main.lambda$keep$0(I)V`.
    pub name: String,
    /// The name of the class or method alone when the tests were made and, after slashes, what the
    /// replay library's `Numbered` finds it by.
    pub found: String,
}

/// A block of objects with consecutive numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectBlock {
    /// Number of the first object of the block.
    pub first: u32,
    /// The objects, in the order of their numbers.
    pub objects: Vec<Object>,
}

/// An object of the graph, stored as `[kind, class, body]`; an enum constant with fields as `[5,
/// class, name, fields]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The [`ClassInfo::id`] of its class.
    pub class: u32,
    /// The object's content.
    pub body: Body,
}

/// The stored content of an object. The numbers are the object's `kind` in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Kind 0: the values of [`ClassInfo::fields`].
    Instance(Vec<Value>),
    /// Kind 1: an array of primitives; its elements as little-endian bytes (one byte for each
    /// boolean).
    Primitives(Vec<u8>),
    /// Kind 2: an array of references; object numbers, or [`Value::Null`].
    References(Vec<Value>),
    /// Kind 3: a `java.lang.String`.
    String(Text),
    /// Kind 4: a `java.lang.Class`, by its name; primitive types by `int` and the like.
    Class(String),
    /// Kind 5: an enum constant.
    Enum {
        /// The constant's name.
        name: String,
        /// The values of [`ClassInfo::fields`]; empty if there was no room for them.
        fields: Vec<Value>,
    },
    /// Kind 6: an object that could not or should not be stored, with the reason.
    Hole(String),
    /// Kind 7: an instance of a lambda expression or method reference.
    Lambda(Lambda),
}

impl Body {
    /// The values of [`ClassInfo::fields`]; `None` for an object that has no fields.
    pub fn fields(&self) -> Option<&[Value]> {
        match self {
            Body::Instance(fields) => Some(fields),
            Body::Enum { fields, .. } if !fields.is_empty() => Some(fields),
            _ => None,
        }
    }
}

/// The method behind a lambda expression or method reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lambda {
    /// The class of the implementing method; empty if it could not be named.
    pub class: String,
    /// The name of the implementing method.
    pub method: String,
    /// The descriptor of the implementing method.
    pub descriptor: String,
    /// Whether the method is known to be static; if false, only the class that declares it shows
    /// whether it is.
    pub is_static: bool,
    /// The captured values in order, with their descriptors.
    pub captured: Vec<(String, Value)>,
}

/// A Java string: any run of UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// A well-formed string.
    Utf8(String),
    /// A string with lone surrogates: its UTF-16 code units, little-endian.
    Utf16(Vec<u8>),
}

impl Text {
    /// Makes a text of the code units of a Java string.
    pub fn from_utf16(units: &[u16]) -> Text {
        match String::from_utf16(units) {
            Ok(text) => Text::Utf8(text),
            Err(_) => Text::Utf16(units.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
        }
    }

    /// The text, with U+FFFD for lone surrogates.
    pub fn to_lossy(&self) -> String {
        match self {
            Text::Utf8(text) => text.clone(),
            Text::Utf16(_) => String::from_utf16_lossy(&self.units()),
        }
    }

    /// The UTF-16 code units.
    pub fn units(&self) -> Vec<u16> {
        match self {
            Text::Utf8(text) => text.encode_utf16().collect(),
            Text::Utf16(bytes) => bytes
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect(),
        }
    }
}

/// Whether a class, given by its name with dots, is a class of boxed values (JLS 5.1.7).
pub fn is_box(class: &str) -> bool {
    matches!(
        class,
        "java.lang.Boolean"
            | "java.lang.Byte"
            | "java.lang.Character"
            | "java.lang.Short"
            | "java.lang.Integer"
            | "java.lang.Long"
            | "java.lang.Float"
            | "java.lang.Double"
    )
}
