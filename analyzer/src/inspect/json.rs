//! Writes a crash as JSON: `hindsight.crash/1`, or `hindsight.crash_list/1` for several.

use crate::graph::{self, Graph, Typed};
use crate::input::Input;
use crate::inspect::Each;
use crate::text::deadlocks;
use hindsight_tracelog::crash::{
    Body, ClassInfo, ClassKind, ExceptionInfo, Fidelity, Frame, Lambda, Lock, Object, StaticField,
    Text, ThreadState, Value,
};
use hindsight_tracelog::reader::Crash;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};
use std::cell::RefCell;
use std::io::{self, Write};

/// One crash as a document of its own.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write_one(input: &Input, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::new(input))?;
    writeln!(out)
}

/// A crash as a JSON value, which takes fifty times as much memory as the file. It has at most this
/// many objects, and elements of an array, and the number of those left out.
///
/// # Errors
///
/// Fails if it cannot be converted, which does not happen.
pub fn document(input: &Input, objects: usize, elements: usize) -> serde_json::Result<Json> {
    let crash = &input.crash;
    let all = crash.objects.iter().flatten().count();
    let document = Document {
        objects: Objects {
            crash,
            most: objects,
            elements,
        },
        objects_left_out: Some(all.saturating_sub(objects)),
        ..Document::new(input)
    };
    serde_json::to_value(document)
}

/// Writes several crashes as one document. Each is taken when those before it are written; the
/// errors of others are known when all are.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write_all(
    inputs: impl Iterator<Item = Input>,
    errors: &RefCell<Vec<String>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Documents<'a, C> {
        schema: &'static str,
        crashes: C,
        errors: &'a RefCell<Vec<String>>,
    }
    let crashes = inputs.map(Whole);
    let documents = Documents {
        schema: "hindsight.crash_list/1",
        crashes: Each(crashes.into()),
        errors,
    };
    serde_json::to_writer_pretty(&mut *out, &documents)?;
    writeln!(out)
}

/// One crash of several.
struct Whole(Input);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::new(&self.0).serialize(serializer)
    }
}

/// The fields in the order in which they are printed.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    whole: bool,
    notes: Vec<String>,
    exception: Option<String>,
    message: Option<String>,
    thread: String,
    thread_virtual: bool,
    version: String,
    time_ms: i64,
    started_ms: i64,
    reason: String,
    copy: String,
    command: String,
    properties: Map<String, Json>,
    defaults: Json,
    pid: u32,
    os: String,
    java_version: String,
    jvm_name: String,
    jvm_version: String,
    agent: String,
    counters: Map<String, Json>,
    exceptions: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deadlocks: Vec<Vec<usize>>,
    frames: Vec<Json>,
    statics: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constants: Vec<Json>,
    holes: Vec<Json>,
    classes: Vec<Json>,
    objects: Objects<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects_left_out: Option<usize>,
}

/// The objects of a crash, each of which is converted as it is written: an element of an array
/// would take seventy bytes.
struct Objects<'a> {
    crash: &'a Crash,
    /// The most objects, and the most elements of each.
    most: usize,
    elements: usize,
}

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph = Graph::at_failure(self.crash);
        let objects = (0..).zip(&self.crash.objects);
        let stored = objects.filter_map(|(number, object)| Some((number, object.as_ref()?)));
        serializer.collect_seq(stored.take(self.most).map(|(number, stored)| {
            match graph.each(number) {
                Some(elements) => Entry::Array {
                    id: number,
                    class: self.crash.class(stored.class).map(|class| &*class.name),
                    kind: "array",
                    left_out: elements.len().saturating_sub(self.elements),
                    elements: Elements(elements, self.elements),
                },
                None => Entry::Other(object(self.crash, number, stored)),
            }
        }))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Array {
        id: u32,
        class: Option<&'a str>,
        kind: &'static str,
        elements: Elements<'a>,
        #[serde(skip_serializing_if = "is_zero")]
        left_out: usize,
    },
    Other(Json),
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The elements of an array, at most this many.
struct Elements<'g>(graph::Elements<'g>, usize);

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone().take(self.1).map(value))
    }
}

impl<'a> Document<'a> {
    fn new(input: &'a Input) -> Document<'a> {
        let crash = &input.crash;
        let meta = crash.meta.clone();
        let first = crash.failure.exceptions.first();
        let counters = meta
            .counters
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)));
        let properties = meta.properties.into_iter();
        let properties = properties.map(|(name, value)| (name, Json::String(value)));
        Document {
            schema: "hindsight.crash/1",
            file: input.path.display().to_string(),
            whole: crash.is_whole(),
            notes: input.notes.clone(),
            exception: first.map(|info| info.class.clone()),
            message: first.and_then(|info| info.message.clone()),
            thread: meta.thread,
            thread_virtual: meta.thread_virtual,
            version: meta.program_version,
            time_ms: meta.time_ms,
            started_ms: meta.started_ms,
            reason: meta.reason,
            copy: meta.copy,
            command: meta.command,
            properties: properties.collect(),
            defaults: json!({
                "locale": meta.defaults.locale,
                "format": meta.defaults.format,
                "zone": meta.defaults.zone,
            }),
            pid: meta.pid,
            os: meta.os,
            java_version: meta.java_version,
            jvm_name: meta.jvm_name,
            jvm_version: meta.jvm_version,
            agent: meta.agent,
            counters: counters.collect(),
            exceptions: crash.failure.exceptions.iter().map(exception).collect(),
            threads: crash.failure.threads.iter().map(thread).collect(),
            deadlocks: deadlocks(&crash.failure),
            frames: crash.failure.frames.iter().enumerate().map(frame).collect(),
            statics: crash.failure.statics.iter().map(static_field).collect(),
            constants: (crash.failure.constants.iter().map(|one| json!(one))).collect(),
            holes: holes(crash),
            classes: crash.classes.iter().map(class).collect(),
            objects: Objects {
                crash,
                most: usize::MAX,
                elements: usize::MAX,
            },
            objects_left_out: None,
        }
    }
}

fn exception(info: &ExceptionInfo) -> Json {
    let stack = info.stack.iter().map(|element| {
        json!({
            "class": element.class,
            "method": element.method,
            "file": element.file,
            "line": line(Some(element.line)),
            "native": element.is_native(),
        })
    });
    json!({
        "class": info.class,
        "message": info.message,
        "object": info.object,
        "cause": info.cause,
        "suppressed": info.suppressed,
        "stack": stack.collect::<Vec<_>>(),
    })
}

fn thread(thread: &ThreadState) -> Json {
    let lock =
        |lock: &Lock| json!({ "class": lock.class, "object": lock.object, "owner": lock.owner });
    json!({
        "name": thread.name,
        "state": thread.state,
        "daemon": thread.daemon,
        "virtual": thread.is_virtual,
        "alike": thread.alike,
        "wants": thread.wants.as_ref().map(lock),
        "owns": thread.owns.iter().map(lock).collect::<Vec<_>>(),
    })
}

fn line(line: Option<i32>) -> Option<i32> {
    line.filter(|&line| line >= 0)
}

fn frame((index, frame): (usize, &Frame)) -> Json {
    let arguments = frame.arguments.iter().map(|argument| {
        json!({
            "index": argument.index,
            "name": argument.name,
            "descriptor": argument.descriptor,
            "value": value(Typed::new(argument.value, &argument.descriptor)),
        })
    });
    let patch = frame.patch.iter().map(|patch| {
        json!({
            "object": patch.object,
            "owner": patch.owner,
            "field": patch.field,
            "descriptor": patch.descriptor,
            "value": value(Typed::new(patch.value, &patch.descriptor)),
            "index": patch.index,
        })
    });
    let fidelity = match frame.fidelity {
        Fidelity::None => "none",
        Fidelity::Reference => "reference",
        Fidelity::Fields => "fields",
        Fidelity::Depth => "depth",
        Fidelity::Deep => "deep",
    };
    json!({
        "index": index,
        "class": frame.class,
        "method": frame.method,
        "descriptor": frame.descriptor,
        "file": frame.file,
        "line": line(frame.line),
        "access": frame.access,
        "fidelity": fidelity,
        "reason": frame.reason,
        "class_sha256": frame.class_sha256,
        "exception": frame.exception,
        "gap": crate::text::gap(frame).is_some(),
        "arguments": arguments.collect::<Vec<_>>(),
        "patch": patch.collect::<Vec<_>>(),
    })
}

fn static_field(field: &StaticField) -> Json {
    json!({
        "class": field.owner,
        "name": field.name,
        "descriptor": field.descriptor,
        "access": field.access,
        "value": value(Typed::new(field.value, &field.descriptor)),
    })
}

/// A value as JSON: numbers and booleans as such, characters as their code, floating-point values
/// that JSON lacks as strings, objects as `{"ref": n}`.
pub(crate) fn value(typed: Typed) -> Json {
    let float = |value: f64| {
        if value.is_finite() {
            json!(value)
        } else if value.is_nan() {
            json!("NaN")
        } else {
            json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
        }
    };
    match typed.value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        // The shortest decimal of a float is not that of the double to which it widens.
        Value::Float(value) if value.is_finite() => format!("{value:?}")
            .parse::<f64>()
            .map_or(Json::Null, |value| json!(value)),
        Value::Float(value) => float(f64::from(value)),
        Value::Double(value) => float(value),
        Value::Ref(object) => json!({ "ref": object }),
    }
}

fn holes(crash: &Crash) -> Vec<Json> {
    let graph = Graph::at_failure(crash);
    let objects = (0u32..).zip(&crash.objects);
    let hole = |(number, object): (u32, &Option<Object>)| match object {
        Some(Object {
            class,
            body: Body::Hole(reason),
        }) if graph.standing(number).is_none() => Some(json!({
            "object": number,
            "class": crash.class(*class).map(|class| &class.name),
            "reason": reason,
        })),
        _ => None,
    };
    objects.filter_map(hole).collect()
}

fn class(class: &ClassInfo) -> Json {
    let kind = match class.kind {
        ClassKind::Class => "class",
        ClassKind::Interface => "interface",
        ClassKind::Array => "array",
        ClassKind::Enum => "enum",
        ClassKind::Record => "record",
        ClassKind::Proxy => "proxy",
        ClassKind::Hidden => "hidden",
    };
    json!({
        "id": class.id,
        "name": class.name,
        "kind": kind,
        "supers": class.supers,
        "interfaces": class.interfaces,
        "loader": class.loader,
        "sha256": class.sha256,
    })
}

/// An object that is not an array, or one whose class is lost.
fn object(crash: &Crash, number: u32, object: &Object) -> Json {
    let class = crash.class(object.class);
    let (kind, name, content) = match &object.body {
        Body::Instance(values) => ("instance", "fields", fields(class, values)),
        Body::Primitives(_) | Body::References(_) => ("array", "elements", json!([])),
        Body::String(text) => ("string", "text", json!(text.to_lossy())),
        Body::Class(name) => ("class", "name", json!(name)),
        Body::Enum { name, .. } => ("enum", "name", json!(name)),
        Body::Hole(reason) => ("hole", "reason", json!(reason)),
        Body::Lambda(lambda) => ("lambda", "lambda", lambda_json(lambda)),
    };
    let mut out = json!({
        "id": number,
        "class": class.map(|class| &class.name),
        "kind": kind,
        name: content,
    });
    if let Body::Enum { fields: values, .. } = &object.body
        && !values.is_empty()
    {
        out["fields"] = fields(class, values);
    }
    if let Body::String(text @ Text::Utf16(_)) = &object.body {
        // JSON could express lone surrogates, but many readers could not: the text has U+FFFD.
        out["utf16"] = json!(text.units());
    }
    out
}

fn fields(class: Option<&ClassInfo>, values: &[Value]) -> Json {
    let fields = class.map_or(&[][..], |class| &class.fields);
    let fields = fields.iter().zip(values).map(|(field, stored)| {
        json!({
            "owner": field.owner,
            "name": field.name,
            "descriptor": field.descriptor,
            "value": value(Typed::new(*stored, &field.descriptor)),
        })
    });
    fields.collect()
}

fn lambda_json(lambda: &Lambda) -> Json {
    let captured = lambda.captured.iter().map(|(descriptor, stored)| {
        json!({ "descriptor": descriptor, "value": value(Typed::new(*stored, descriptor)) })
    });
    json!({
        "class": lambda.class,
        "method": lambda.method,
        "descriptor": lambda.descriptor,
        "static": lambda.is_static,
        "captured": captured.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shared<'a>(&'a RefCell<Vec<u8>>);

    impl Write for Shared<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_crash_is_written_before_the_next_is_read() {
        let written = RefCell::new(Vec::new());
        let mut before = Vec::new();
        let inputs = ["one", "two"].into_iter().map(|name| {
            before.push(written.borrow().len());
            Input {
                path: name.into(),
                crash: Crash::default(),
                notes: Vec::new(),
                bytes: Vec::new(),
            }
        });
        write_all(inputs, &RefCell::default(), &mut Shared(&written)).unwrap();
        let all: Json = serde_json::from_slice(&written.borrow()).unwrap();
        assert_eq!(all["crashes"][1]["file"], "two");
        assert!(before[1] > before[0] + 100, "{before:?}");
    }
}
