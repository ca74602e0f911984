//! How values, texts and objects are laid out in a file.

use super::{Body, Object, Text, Value};
use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

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

/// Bytes that MessagePack is to store as `bin`, instead of as an array of numbers.
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
