//! Steps as JSON objects.

use super::{Names, Thread, parameter_name, type_of};
use crate::graph::Typed;
use crate::inspect::json;
use crate::trace::steps::{Gap, Place, Step, What};
use hindsight_tracelog::crash::Value;
use hindsight_tracelog::trace::{Datum, ObjectId};
use serde_json::{Map, Value as Json, json};

impl Names<'_> {
    /// A step as a JSON object. Each object has the thread's name, because the event that records
    /// it may be left out, or be gone.
    pub fn json(&mut self, step: &Step) -> Json {
        let was_before = self.was_before(step);
        let thread = self.threads.entry(step.thread, Thread::is_idle);
        let thread_name = thread.name.clone();
        let mut fields = Map::new();
        let is_array = matches!(step.what, What::New { object, .. } if self.is_array(object));
        let mut put = |key: &str, value: Json| {
            fields.insert(key.to_owned(), value);
        };
        let event = match &step.what {
            What::Thread { .. } => "thread",
            What::Class { .. } => "class",
            What::End => "end",
            What::Enter { .. } => "enter",
            What::Exit { .. } => "exit",
            What::Unwind { .. } => "unwind",
            What::Caught { .. } => "caught",
            What::Bind { .. } => "bind",
            What::Write { .. } => "write",
            What::Read { .. } => "read",
            What::Called { .. } => "called",
            What::New { .. } => "new",
            What::Going { .. } => "running",
            What::Lost(_) => "lost",
        };
        put("event", json!(event));
        put(
            "thread",
            match was_before {
                true => Json::Null,
                false => json!(step.thread),
            },
        );
        if !thread_name.is_empty() && !matches!(step.what, What::Thread { .. }) {
            put("thread_name", json!(thread_name));
        }
        put("stamp", json!(step.stamp));
        if let What::Enter { method, .. }
        | What::Exit { method, .. }
        | What::Unwind { method, .. }
        | What::Caught { method, .. }
        | What::Bind { method, .. }
        | What::Going { method } = &step.what
        {
            put("method_id", json!(method));
            if let Some((class, method)) = self.dictionary.method(*method) {
                put("class", json!(class.name));
                put("method", json!(method.name));
                put("descriptor", json!(method.descriptor));
            }
        }
        let told = |value: &Option<Datum>, ty: &str| {
            value.map_or(Json::Null, |value| self.json_datum(value, ty))
        };
        match &step.what {
            What::Thread { name, paused } => {
                put("name", json!(name));
                put("virtual", json!(step.is_virtual));
                if *paused {
                    put("after_pause", json!(true));
                }
            }
            What::Class { class } => {
                if let Some(class) = self.dictionary.traced.get(*class) {
                    put("class", json!(class.name));
                    put("sha256", json!(class.sha256));
                    let defined = class.defined.as_ref();
                    put("loader", json!(defined.map(|defined| &defined.loader)));
                    if was_before {
                        put("before", json!(true));
                    }
                }
            }
            What::End | What::Going { .. } => {}
            What::Enter { method, arguments } => {
                let entry = self.dictionary.method(*method).map(|(_, method)| method);
                let arguments = arguments.iter().map(|argument| {
                    let ty = entry.map_or("", |entry| type_of(entry, argument.index));
                    json!({
                        "index": argument.index,
                        "name": entry.and_then(|entry| parameter_name(entry, argument.index)),
                        "type": ty,
                        "value": self.json_datum(argument.value, ty),
                    })
                });
                put("arguments", arguments.collect());
            }
            What::Exit { method, value } => {
                let entry = self.dictionary.method(*method);
                let ty = entry.and_then(|(_, method)| method.descriptor.rsplit(')').next());
                if value.is_some() {
                    put("value", told(value, ty.unwrap_or("")));
                }
            }
            What::Unwind { exception, .. } | What::Caught { exception, .. } => {
                put("exception", self.json_object(*exception));
            }
            What::Bind { this: None, .. } if self.is_anonymous => {}
            What::Bind { this, .. } => put("object", self.json_object(*this)),
            What::Write { place, value } | What::Read { place, value } => {
                let ty = match place {
                    Place::Field { object, field } => {
                        put("object", self.json_object(*object));
                        self.json_field(*field, false, &mut put)
                    }
                    Place::Static { field } => self.json_field(*field, true, &mut put),
                    Place::Element { array, index } => {
                        put("object", self.json_object(*array));
                        put("index", json!(index));
                        self.element_type(*array)
                    }
                };
                if value.is_some() {
                    put("value", told(value, &ty));
                }
            }
            What::Called { callee, values } => {
                put("callee_id", json!(callee));
                if let Some(callee) = self.dictionary.callee(*callee) {
                    put("class", json!(callee.owner));
                    put("method", json!(callee.name));
                    put("descriptor", json!(callee.descriptor));
                }
                let types = self.types_of_values(*callee, values.len());
                let values = values.iter().zip(types);
                let values = values.map(|(value, ty)| self.json_datum(*value, ty));
                put("values", values.collect());
            }
            What::New {
                object,
                length,
                hash,
                text,
                units,
                elements,
                secret,
                again,
            } => {
                if *again {
                    put("again", json!(true));
                }
                put("object", self.json_object(Some(*object)));
                if *secret {
                    put("redacted", json!(true));
                }
                let known = text.as_deref() == Some("") || !secret && is_array;
                if *length > 0 || known {
                    put("length", json!(length));
                }
                if let Some(text) = text {
                    put("text", json!(text));
                }
                if let Some(units) = units {
                    // JSON could represent the text, but many readers could not.
                    put("utf16", json!(units));
                }
                if let Some(hash) = hash {
                    put("hash", json!(hash));
                }
                if let Some(elements) = elements {
                    let ty = self.element_type(Some(*object));
                    let elements = elements.iter();
                    let elements = elements.map(|element| self.json_datum(*element, &ty));
                    put("elements", elements.collect());
                }
            }
            What::Lost(gap) => {
                put(
                    "count",
                    json!(Some(gap.events()).filter(|count| *count > 0)),
                );
                put("damaged", json!(*gap == Gap::Blocks));
            }
        }
        Json::Object(fields)
    }

    fn json_field(&self, field: u32, is_static: bool, put: &mut dyn FnMut(&str, Json)) -> String {
        put("field_id", json!(field));
        put("static", json!(is_static));
        let Some(field) = self.dictionary.field(field) else {
            return String::new();
        };
        put("class", json!(field.owner));
        put("field", json!(field.name));
        put("descriptor", json!(field.descriptor));
        field.descriptor.clone()
    }

    pub(super) fn json_object(&self, object: Option<ObjectId>) -> Json {
        match object {
            None => Json::Null,
            Some(object) => {
                let mut shown = json!({
                    "object": object.serial(),
                    "class": self.dictionary.class(object.class()),
                });
                if let Some(code) = self.dictionary.code(object.class()) {
                    shown["code"] = json!({
                        "class": code.class,
                        "method": code.name,
                        "descriptor": code.descriptor,
                    });
                }
                shown
            }
        }
    }

    fn json_datum(&self, value: Datum, ty: &str) -> Json {
        match (value, ty) {
            (Datum::Reference(object), _) => self.json_object(object),
            (Datum::Int(value), "Z") => json!(value != 0),
            (Datum::Int(value), _) => json!(value),
            (Datum::Long(value), _) => json!(value),
            (Datum::Float(value), _) => json::value(Typed::new(Value::Float(value), "F")),
            (Datum::Double(value), _) => json::value(Typed::new(Value::Double(value), "D")),
        }
    }
}
