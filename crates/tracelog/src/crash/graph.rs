//! Values, and the objects that they refer to, with their classes.

use serde::{Deserialize, Serialize};

/// A value of the JVM. Stored untyped; [`Value::typed`] reads it by its descriptor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `null`; in a primitive field: not stored (redacted).
    Null,
    /// boolean
    Bool(bool),
    /// byte, short, char, int, long
    Int(i64),
    /// float
    Float(f32),
    /// double
    Double(f64),
    /// An object number. Stored as an integer.
    Ref(u32),
}

impl Value {
    /// Tells object numbers from integers by the type of the place.
    pub fn typed(self, descriptor: &str) -> Value {
        match self {
            Value::Int(number) if descriptor.starts_with(['L', '[']) => {
                u32::try_from(number).map_or(Value::Null, Value::Ref)
            }
            other => other,
        }
    }
}

/// What a class is, as far as reading its objects depends on it.
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
    /// A record.
    Record,
    /// Made by `java.lang.reflect.Proxy`.
    Proxy,
    /// Hidden (JVMS 5.4.3.1): lambdas and the like; its name means nothing in another run.
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

/// A class that objects of the graph have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassInfo {
    /// Number of the class within the file, counting from 0.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ClassKind,
    /// Superclasses, nearest first, without `java.lang.Object`.
    pub supers: Vec<String>,
    /// Interfaces that the class itself declares.
    pub interfaces: Vec<String>,
    /// Instance fields in the order of [`Body::fields`]: those of the topmost class first. Of an enum
    /// none if none of them may change.
    pub fields: Vec<FieldInfo>,
    /// The class of its loader; empty for the boot loader.
    pub loader: String,
    /// SHA-256 of the class file as loaded, if the agent saw it, in hexadecimal.
    pub sha256: Option<String>,
}

/// An instance field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldInfo {
    /// Class that declares it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Access flags (JVMS 4.5).
    pub access: u16,
}

/// What tells which method or class a name means that a compiler has numbered, where another version of
/// the program gives it another number. Not recorded: what emits tests adds it to their crash files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The recorded name: of a class, or of a method with its class and descriptor, as in
    /// `Main.lambda$keep$0(I)V`.
    pub name: String,
    /// The name of the class or method (alone) where the tests were made, and behind slashes what the
    /// replay library's `Numbered` finds it by.
    pub found: String,
}

/// A block of objects with consecutive numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectBlock {
    /// Number of the first object of the block.
    pub first: u32,
    /// The objects.
    pub objects: Vec<Object>,
}

/// An object of the graph: `[kind, class, body]`, of an enum constant with fields
/// `[5, class, name, fields]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// [`ClassInfo::id`] of its class.
    pub class: u32,
    /// What was stored of it.
    pub body: Body,
}

/// What is stored of an object. The numbers are its `kind` in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// 0: the values of [`ClassInfo::fields`].
    Instance(Vec<Value>),
    /// 1: an array of primitives, its elements as little-endian bytes (booleans one byte each).
    Primitives(Vec<u8>),
    /// 2: an array of references: object numbers, or [`Value::Null`].
    References(Vec<Value>),
    /// 3: a `java.lang.String`.
    String(Text),
    /// 4: a `java.lang.Class`, by name; `int` and the like for primitive ones.
    Class(String),
    /// 5: an enum constant.
    Enum {
        /// Its name.
        name: String,
        /// The values of [`ClassInfo::fields`]; none if there was no room for them.
        fields: Vec<Value>,
    },
    /// 6: could not or should not be stored; why.
    Hole(String),
    /// 7: an instance of a lambda expression or method reference.
    Lambda(Lambda),
}

impl Body {
    /// The values of [`ClassInfo::fields`], of what has them.
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
    /// Class of the implementing method; empty if it could not be named.
    pub class: String,
    /// Name of the implementing method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Whether it is known to be static; if not, the class that declares it tells.
    pub is_static: bool,
    /// Captured values in order, with their descriptors.
    pub captured: Vec<(String, Value)>,
}

/// A Java string: any run of UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Well formed.
    Utf8(String),
    /// With lone surrogates: UTF-16 code units, little-endian.
    Utf16(Vec<u8>),
}

impl Text {
    /// Takes the code units of a Java string.
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

/// Whether a class, by its name with dots, is that of boxed values (JLS 5.1.7).
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
