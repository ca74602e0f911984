//! The vocabulary of a crash file.
//!
//! Class names are binary names with dots (`java.util.Map$Entry`, JLS 13.1),
//! arrays as in `Class.getName` (`[I`, `[Ljava.lang.String;`). Descriptors are
//! those of JVMS 4.3.

use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// [`Meta::reason`] where the program has asked for the recording, by `Hindsight.record`. If it gave
/// no exception, one of the class [`STATE_RECORDED`] stands in its place.
pub const ASKED_FOR: &str = "asked for by the program";

/// What an emitted test throws where the program asks for a recording of its state.
pub const STATE_RECORDED: &str = "dev.hindsight.replay.StateRecorded";

/// [`Meta::reason`] where somebody has asked what all threads are doing, which is in
/// [`Failure::threads`].
pub const THREADS_ASKED_FOR: &str = "all threads, asked for from outside";

/// The class that stands in the place of an exception for a thread.
pub const THREAD_STATE: &str = "dev.hindsight.ThreadState";

/// Exceptions by which test frameworks pass over a test that is not to run: no failures.
pub const SKIPS: [&str; 5] = [
    "org.opentest4j.TestAbortedException",
    "org.opentest4j.TestSkippedException",
    "org.junit.AssumptionViolatedException",
    "org.junit.internal.AssumptionViolatedException",
    "org.testng.SkipException",
];

/// Where, when and how a failure was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the agent that wrote the file.
    pub agent: String,
    /// The user's own text from the option `version`.
    pub program_version: String,
    /// `java.vm.name`.
    pub jvm_name: String,
    /// `java.vm.version`.
    pub jvm_version: String,
    /// `java.version`.
    pub java_version: String,
    /// `os.name` and `os.arch`.
    pub os: String,
    /// Process id.
    pub pid: u32,
    /// Start of the JVM, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// The failure, milliseconds since 1970 (UTC).
    pub time_ms: i64,
    /// Name of the thread that failed.
    pub thread: String,
    /// Whether that thread is a virtual one.
    pub thread_virtual: bool,
    /// What made this a failure: the report rule `uncaught`, `escape:...` or `caught:...`, or
    /// [`ASKED_FOR`].
    pub reason: String,
    /// The copy strategy in force: `reference`, `fields`, `depth:N` or `deep`, or one for the
    /// receiver and one for the arguments.
    pub copy: String,
    /// Main class or jar with its arguments, secrets masked.
    pub command: String,
    /// Everything lost or skipped up to now, by name.
    pub counters: Vec<(String, u64)>,
    /// System properties at the failure, without those that the JDK sets by itself, in the order
    /// of names; secrets masked as in the command line.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// In which order `Set.of` and `Map.of` iterate, which each JVM draws: `SALT32L` of
    /// `java.util.ImmutableCollections` (32 bits: which part of the table comes first) and `REVERSE` (whether it goes
    /// on upwards).
    #[serde(default)]
    pub order: Option<(i64, bool)>,
    /// What the JVM took for the locale and the time zone where the program named none.
    #[serde(default)]
    pub defaults: Defaults,
}

/// The JVM's default locale and time zone: of the system, of its options, or set by the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    /// The language tag of the locale (BCP 47); empty if unknown.
    pub locale: String,
    /// That of the locale for numbers and dates, where it is another one.
    pub format: String,
    /// The id of the time zone; empty if nobody had asked for it yet.
    pub zone: String,
}

/// Exceptions of a failure that are kept: a recording follows causes and suppressed exceptions up to
/// this many in all.
pub const MAX_EXCEPTIONS: usize = 32;

/// The exception and the frames it passed through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `exceptions[0]` failed; the others are its causes and suppressed ones.
    pub exceptions: Vec<ExceptionInfo>,
    /// Frames, index 0 is the one that threw.
    pub frames: Vec<Frame>,
    /// Static fields that the methods on the stack may read, as they were at the failure.
    #[serde(default)]
    pub statics: Vec<StaticField>,
    /// What all threads were doing, if nothing has failed: one for each of the exceptions, which
    /// then have the class [`THREAD_STATE`].
    #[serde(default)]
    pub threads: Vec<ThreadState>,
    /// Which of the objects are what a constant of the program holds: programs compare these by
    /// identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<Constant>,
}

/// An object that a static final field holds, or that each JVM has its own of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// Its number.
    pub object: u32,
    /// Class that declares the field.
    pub owner: String,
    /// The field's name; or calls, as they are written after the class's name: `currentThread()`. A reader
    /// that does not know these has the hole that is stored in the object's place.
    pub name: String,
}

impl Constant {
    /// Whether it is an object of the JDK that each JVM has its own of: in its place a hole is stored.
    pub fn is_standing(&self) -> bool {
        const OWNERS: [&str; 7] = [
            "java.lang.ClassLoader",
            "java.lang.ModuleLayer",
            "java.lang.Runtime",
            "java.lang.System",
            "java.lang.Thread",
            "java.nio.file.FileSystems",
            "java.util.concurrent.ForkJoinPool",
        ];
        OWNERS.contains(&self.owner.as_str())
    }

    /// How code asks for it, by the class's simple name.
    pub fn code(&self) -> String {
        let class = self.owner.rsplit('.').next().unwrap_or(&self.owner);
        format!("{class}.{}", self.name)
    }
}

/// A static field at the failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StaticField {
    /// Class that declares it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Access flags (JVMS 4.5).
    pub access: u16,
    /// Its value.
    pub value: Value,
}

/// A thread that goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    /// Its name.
    pub name: String,
    /// As `Thread.getState` calls it: `RUNNABLE`, `BLOCKED`, ...
    pub state: String,
    /// Whether the JVM would not wait for it.
    pub daemon: bool,
    /// Whether it is a virtual one.
    #[serde(default)]
    pub is_virtual: bool,
    /// How many other virtual threads are where it is, and are not told.
    #[serde(default)]
    pub alike: u32,
    /// What it waits for: a monitor, or what it is parked for.
    pub wants: Option<Lock>,
    /// The monitors that it has.
    pub owns: Vec<Lock>,
}

/// A monitor or a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The object.
    pub object: Option<u32>,
    /// Its class.
    pub class: String,
    /// Index in [`Failure::threads`] of the thread that has it.
    pub owner: Option<u32>,
}

/// A throwable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExceptionInfo {
    /// Its class.
    pub class: String,
    /// The field `detailMessage`, which is not always what `getMessage` says; of a
    /// `NullPointerException` without one what the JVM says of it, as from Java 17 on.
    pub message: Option<String>,
    /// Its object number, if it is in the graph.
    pub object: Option<u32>,
    /// Its stack trace, innermost first; empty if the JVM gave none.
    pub stack: Vec<StackElement>,
    /// Index of its cause in [`Failure::exceptions`].
    pub cause: Option<u32>,
    /// Indices of its suppressed exceptions.
    pub suppressed: Vec<u32>,
}

/// One element of a stack trace, as the JVM tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackElement {
    /// Declaring class.
    pub class: String,
    /// Method name.
    pub method: String,
    /// Source file, if known.
    pub file: Option<String>,
    /// Source line; negative if unknown, -2 in a native method.
    pub line: i32,
}

/// One frame of the failure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Declaring class.
    pub class: String,
    /// Method name, `<init>` for a constructor.
    pub method: String,
    /// Method descriptor; empty if the frame was not captured.
    pub descriptor: String,
    /// Source line that was being executed.
    pub line: Option<i32>,
    /// Source file.
    pub file: Option<String>,
    /// Access flags of the method (JVMS 4.6); 0 if not captured.
    pub access: u16,
    /// Which fidelity the arguments have.
    pub fidelity: Fidelity,
    /// Why a frame has no arguments or is degraded; empty if it is as good as asked for.
    pub reason: String,
    /// SHA-256 of the class file as it was loaded (before Hindsight), in hexadecimal.
    pub class_sha256: Option<String>,
    /// Receiver (index 0) and parameters (from 1) at entry.
    pub arguments: Vec<Argument>,
    /// Places whose value at this frame's entry differs from the graph.
    pub patch: Vec<Patch>,
    /// Index in [`Failure::exceptions`] of the exception that passed through.
    pub exception: u32,
}

/// How true a frame's arguments are to its entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum Fidelity {
    /// Not captured: only the stack trace knows this frame.
    #[default]
    None,
    /// References as at entry, objects as at the failure.
    Reference,
    /// And the fields that the method uses as at entry.
    Fields,
    /// And everything reachable from the arguments, as at entry.
    Deep,
    /// The same, some steps deep: [`Meta::copy`] says how many.
    Depth,
}

impl From<u8> for Fidelity {
    fn from(code: u8) -> Self {
        match code {
            1 => Fidelity::Reference,
            2 => Fidelity::Fields,
            3 => Fidelity::Deep,
            4 => Fidelity::Depth,
            _ => Fidelity::None,
        }
    }
}

impl From<Fidelity> for u8 {
    fn from(fidelity: Fidelity) -> u8 {
        match fidelity {
            Fidelity::None => 0,
            Fidelity::Reference => 1,
            Fidelity::Fields => 2,
            Fidelity::Deep => 3,
            Fidelity::Depth => 4,
        }
    }
}

/// A receiver or parameter at entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// 0 is `this`, parameters count from 1, in static methods too.
    pub index: u16,
    /// Source name, if the class file has it.
    pub name: Option<String>,
    /// Declared type.
    pub descriptor: String,
    /// Its value.
    pub value: Value,
}

/// A field or an element that had another value at a frame's entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The object.
    pub object: u32,
    /// Class that declares the field; empty for an element.
    pub owner: String,
    /// Field name; empty for an element.
    pub field: String,
    /// Descriptor of the field or element; of an element that is a reference, `L`.
    pub descriptor: String,
    /// The value at entry.
    pub value: Value,
    /// Index of the element, if the object is an array.
    #[serde(default)]
    pub index: Option<u32>,
}

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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Value::Null => serializer.serialize_none(),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Int(value) => serializer.serialize_i64(value),
            Value::Float(value) => serializer.serialize_f32(value),
            Value::Double(value) => serializer.serialize_f64(value),
            Value::Ref(object) => serializer.serialize_u32(object),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl Visitor<'_> for ValueVisitor {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("nil, a boolean or a number")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Int(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
                i64::try_from(value)
                    .map(Value::Int)
                    .map_err(|_| E::custom("integer beyond 63 bits"))
            }
            fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
                Ok(Value::Float(value))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Double(value))
            }
        }
        deserializer.deserialize_any(ValueVisitor)
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

/// Bytes that MessagePack should store as `bin`, not as an array of numbers.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

struct OwnedBytes(Vec<u8>);

impl<'de> Deserialize<'de> for OwnedBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = OwnedBytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<OwnedBytes, E> {
                Ok(OwnedBytes(bytes.to_vec()))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<OwnedBytes, E> {
                Ok(OwnedBytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Text::Utf8(text) => serializer.serialize_str(text),
            Text::Utf16(bytes) => serializer.serialize_bytes(bytes),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or its UTF-16 code units as bytes")
            }
            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text::Utf8(text.to_owned()))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text::Utf16(bytes.to_vec()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let constant = match &self.body {
            Body::Enum { fields, .. } if !fields.is_empty() => Some(fields),
            _ => None,
        };
        let mut tuple = serializer.serialize_tuple(3 + usize::from(constant.is_some()))?;
        let kind: u8 = match &self.body {
            Body::Instance(_) => 0,
            Body::Primitives(_) => 1,
            Body::References(_) => 2,
            Body::String(_) => 3,
            Body::Class(_) => 4,
            Body::Enum { .. } => 5,
            Body::Hole(_) => 6,
            Body::Lambda(_) => 7,
        };
        tuple.serialize_element(&kind)?;
        tuple.serialize_element(&self.class)?;
        match &self.body {
            Body::Instance(values) | Body::References(values) => tuple.serialize_element(values)?,
            Body::Primitives(bytes) => tuple.serialize_element(&Bytes(bytes))?,
            Body::String(text) => tuple.serialize_element(text)?,
            Body::Class(text) | Body::Enum { name: text, .. } | Body::Hole(text) => {
                tuple.serialize_element(text)?
            }
            Body::Lambda(lambda) => tuple.serialize_element(lambda)?,
        }
        if let Some(fields) = constant {
            tuple.serialize_element(fields)?;
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        fn need<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(
            seq: &mut A,
            index: usize,
        ) -> Result<T, A::Error> {
            seq.next_element()?
                .ok_or_else(|| de::Error::invalid_length(index, &"an object of three parts"))
        }

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object: kind, class, body")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Object, A::Error> {
                let kind: u8 = need(&mut seq, 0)?;
                let class = need(&mut seq, 1)?;
                let body = match kind {
                    0 => Body::Instance(need(&mut seq, 2)?),
                    1 => Body::Primitives(need::<A, OwnedBytes>(&mut seq, 2)?.0),
                    2 => Body::References(need(&mut seq, 2)?),
                    3 => Body::String(need(&mut seq, 2)?),
                    4 => Body::Class(need(&mut seq, 2)?),
                    5 => Body::Enum {
                        name: need(&mut seq, 2)?,
                        fields: seq.next_element()?.unwrap_or_default(),
                    },
                    6 => Body::Hole(need(&mut seq, 2)?),
                    7 => Body::Lambda(need(&mut seq, 2)?),
                    _ => return Err(de::Error::custom(format_args!("object kind {kind}"))),
                };
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Object { class, body })
            }
        }
        deserializer.deserialize_seq(ObjectVisitor)
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
