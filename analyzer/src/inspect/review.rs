//! All that a crash file would disclose to whoever gets it: every text, name and value in it,
//! grouped, with the places in which it occurs.
//!
//! - `items` holds the groups.
//!
//! **Invariant:** what is stored is here, whether or not a frame leads to it. Only object and class
//! numbers, which the file itself assigns, are not.

mod items;

use crate::graph::{Graph, Typed};
use crate::input::Input;
use crate::inspect::Each;
use crate::text::{one_line, primitive, short_type, utc};
use hindsight_tracelog::crash::{Body, ClassInfo, ClassKind, Fidelity, Patch, Value};
use hindsight_tracelog::reader::Crash;
use items::{Collection, Group};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Write};

/// A file as `hindsight.review/1`.
#[derive(Debug, Serialize)]
pub struct Review {
    schema: &'static str,
    file: String,
    bytes: u64,
    notes: Vec<String>,
    groups: Vec<Group>,
}

impl Review {
    /// Reviews a file of this many bytes.
    pub fn new(input: &Input, bytes: u64) -> Review {
        let mut all = Collection::default();
        circumstances(&input.crash, &mut all);
        failure(&input.crash, &mut all);
        classes(&input.crash, &mut all);
        objects(&input.crash, &mut all);
        of_tests(&input.crash, &mut all);
        Review {
            schema: "hindsight.review/1",
            file: input.path.display().to_string(),
            bytes,
            notes: input.notes.clone(),
            groups: all.finish(),
        }
    }

    /// Writes the review for people.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {} bytes",
            one_line(&self.file, usize::MAX),
            self.bytes
        )?;
        for note in &self.notes {
            writeln!(out, "! {note}")?;
        }
        for group in &self.groups {
            let items = group.items.len();
            writeln!(out, "\n{} ({items}): {}", group.group, group.what)?;
            for item in &group.items {
                item.write(group.group, out)?;
            }
        }
        Ok(())
    }
}

/// Writes reviews as JSON: a single one as a document of its own. Each is taken when those before
/// it are written; the errors of others are known when all are.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write_json(
    mut reviews: impl Iterator<Item = Review>,
    single: bool,
    errors: &RefCell<Vec<String>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Reviews<'a, F> {
        schema: &'static str,
        files: F,
        errors: &'a RefCell<Vec<String>>,
    }
    if !single {
        let reviews = Reviews {
            schema: "hindsight.review_list/1",
            files: Each(reviews.into()),
            errors,
        };
        serde_json::to_writer_pretty(&mut *out, &reviews)?;
    } else if let Some(review) = reviews.next() {
        serde_json::to_writer_pretty(&mut *out, &review)?;
    } else {
        return Ok(());
    }
    writeln!(out)
}

fn circumstances(crash: &Crash, all: &mut Collection) {
    let meta = &crash.meta;
    let mut say = |what: &str, text: &str| {
        if !text.is_empty() {
            all.add("circumstances", format!("{what}: {text}"), "");
        }
    };
    say("command line", &meta.command);
    say("program version", &meta.program_version);
    say("JVM", &meta.jvm_name);
    say("JVM version", &meta.jvm_version);
    say("Java version", &meta.java_version);
    say("system", &meta.os);
    say("process id", &meta.pid.to_string());
    say("JVM started", &utc(meta.started_ms));
    say("failed", &utc(meta.time_ms));
    say("thread", &meta.thread);
    say("virtual thread", &meta.thread_virtual.to_string());
    say("reported by the rule", &meta.reason);
    say("copy strategy", &meta.copy);
    say("recorded by agent", &meta.agent);
    if let Some((salt, reverse)) = meta.order {
        let way = if reverse { "up" } else { "down" };
        say("order of Set.of and Map.of", &format!("{salt}, {way}"));
    }
    say("default locale", &meta.defaults.locale);
    say("locale for numbers and dates", &meta.defaults.format);
    say("default time zone", &meta.defaults.zone);
    for (name, number) in &meta.counters {
        say(&format!("counter {name}"), &number.to_string());
    }
    for (name, value) in &meta.properties {
        all.add("properties", format!("{name} = {value}"), "");
    }
}

fn failure(crash: &Crash, all: &mut Collection) {
    let graph = Graph::at_failure(crash);
    for thread in &crash.failure.threads {
        let mut what = vec![thread.state.clone()];
        what.extend(thread.daemon.then(|| "daemon".to_owned()));
        what.extend(thread.is_virtual.then(|| "virtual".to_owned()));
        what.extend((thread.alike > 0).then(|| format!("{} alike", thread.alike)));
        let described = format!("thread: {} ({})", thread.name, what.join(", "));
        all.add("circumstances", described, "");
        let wants = thread.wants.iter().map(|lock| (lock, "wanted by"));
        let owns = thread.owns.iter().map(|lock| (lock, "held by"));
        for (lock, how) in wants.chain(owns) {
            all.add("classes", &lock.class, format!("{how} {}", thread.name));
        }
    }
    for (index, info) in crash.failure.exceptions.iter().enumerate() {
        let place = format!("exception {index}");
        all.add("classes", &info.class, &place);
        if let Some(message) = &info.message {
            all.add("messages", message, &place);
        }
        for element in &info.stack {
            let place = format!("stack of exception {index}");
            all.add("classes", &element.class, &place);
            all.add("methods", method(&element.class, &element.method), &place);
            if let Some(file) = &element.file {
                all.add("sources", file, &place);
            }
            if element.line >= 0 {
                let line = format!("line {}", element.line);
                all.add("values", format!("{place}, {}: {line}", element.method), "");
            }
        }
    }
    for (index, frame) in crash.failure.frames.iter().enumerate() {
        let place = format!("frame {index}");
        let hash = frame.class_sha256.as_deref();
        all.add("classes", hashed(&frame.class, hash), &place);
        let described = method(&frame.class, &frame.method) + &frame.descriptor;
        all.add("methods", described, &place);
        if let Some(file) = &frame.file {
            all.add("sources", file, &place);
        }
        if let Some(line) = frame.line {
            all.add("values", format!("{place}: line {line}"), "");
        }
        if !frame.reason.is_empty() {
            all.add("left out", &frame.reason, &place);
        }
        if frame.fidelity == Fidelity::None && frame.arguments.is_empty() {
            continue;
        }
        for argument in &frame.arguments {
            let name = match (&argument.name, argument.index) {
                (Some(name), _) => {
                    all.add("parameters", name, &place);
                    name.clone()
                }
                (None, 0) => "this".to_owned(),
                (None, index) => format!("parameter {index}"),
            };
            all.add_type(&argument.descriptor, format!("{place}, {name}"));
            value(
                all,
                &format!("{place}, {name}"),
                argument.value,
                &argument.descriptor,
            );
        }
        for patch in &frame.patch {
            if patch.index.is_none() {
                all.add("fields", field(&patch.owner, &patch.field), &place);
            }
            all.add_type(&patch.descriptor, &place);
            let place = format!("{} at the entry of {place}", patched(&graph, patch));
            value(all, &place, patch.value, &patch.descriptor);
        }
    }
    for info in &crash.failure.statics {
        let place = field(&info.owner, &info.name);
        all.add("classes", &info.owner, "static fields");
        all.add("fields", &place, "static fields");
        all.add_type(&info.descriptor, format!("type of field {}", info.name));
        value(all, &place, info.value, &info.descriptor);
    }
    for constant in &crash.failure.constants {
        let place = format!("object {}", constant.object);
        all.add("classes", &constant.owner, "constants");
        all.add("constants", field(&constant.owner, &constant.name), &place);
    }
}

/// Adds what was added to the file when tests were made.
fn of_tests(crash: &Crash, all: &mut Collection) {
    for origin in &crash.origins {
        let described = format!("{} = {}", origin.name, origin.found);
        all.add("numbered names", described, "");
    }
    for class in crash.unrestored.iter().flatten() {
        let described = format!("{class}: not restored when the tests were made");
        all.add("left out", described, "");
    }
}

fn classes(crash: &Crash, all: &mut Collection) {
    for class in &crash.classes {
        let kind = match class.kind {
            ClassKind::Array => "array",
            ClassKind::Proxy => "proxy",
            ClassKind::Hidden => "hidden class",
            _ => "objects",
        };
        all.add(
            "classes",
            hashed(&class.name, class.sha256.as_deref()),
            kind,
        );
        for (names, place) in [
            (&class.supers, "above"),
            (&class.interfaces, "interface of"),
        ] {
            for name in names {
                all.add("classes", name, format!("{place} {}", class.name));
            }
        }
        if !class.loader.is_empty() {
            all.add(
                "classes",
                &class.loader,
                format!("loader of {}", class.name),
            );
        }
        for info in &class.fields {
            all.add("fields", field(&info.owner, &info.name), &class.name);
            all.add("classes", &info.owner, format!("field {}", info.name));
            all.add_type(&info.descriptor, format!("type of field {}", info.name));
        }
    }
}

fn objects(crash: &Crash, all: &mut Collection) {
    let graph = Graph::at_failure(crash);
    let holders = holders(crash);
    for (number, object) in crash.objects.iter().enumerate() {
        let Some(object) = object else { continue };
        let number = number as u32;
        let class = graph.class_name(number);
        let alone = vec![format!("object {number}")];
        let places = holders.get(&number).unwrap_or(&alone);
        let mut everywhere = |group: &'static str, text: &str| {
            for place in places {
                all.add(group, text, place);
            }
        };
        match &object.body {
            Body::String(text) => {
                for place in places {
                    all.add_string(text, place);
                }
            }
            Body::Class(name) => everywhere("constants", &format!("class {name}")),
            Body::Enum { name, .. } => everywhere("constants", &format!("{class}.{name}")),
            Body::Hole(reason) if graph.standing(number).is_some() => {
                everywhere("constants", reason);
            }
            Body::Hole(reason) => everywhere("left out", &format!("{class}: {reason}")),
            Body::Primitives(bytes) => {
                let (group, text) = array(&graph, number, class, bytes);
                everywhere(group, &text);
            }
            Body::Lambda(lambda) => {
                let described = method(&lambda.class, &lambda.method) + &lambda.descriptor;
                everywhere("methods", &described);
                for (descriptor, captured) in &lambda.captured {
                    let place = format!("captured by {}", method(&lambda.class, &lambda.method));
                    all.add_type(descriptor, &place);
                    value(all, &place, *captured, descriptor);
                }
            }
            Body::Instance(_) | Body::References(_) => {}
        }
        for (value_of, info) in
            (object.body.fields().into_iter().flatten()).zip(fields(crash, object.class))
        {
            let place = field(&info.owner, &info.name);
            value(all, &place, *value_of, &info.descriptor);
        }
    }
}

/// The places that refer to each object.
fn holders(crash: &Crash) -> HashMap<u32, Vec<String>> {
    let graph = Graph::at_failure(crash);
    let mut holders: HashMap<u32, Vec<String>> = HashMap::new();
    let mut hold = |value: Value, place: String| {
        if let Value::Ref(object) = value {
            holders.entry(object).or_default().push(place);
        }
    };
    for (index, frame) in crash.failure.frames.iter().enumerate() {
        for argument in &frame.arguments {
            let name = argument.name.clone().unwrap_or(match argument.index {
                0 => "this".to_owned(),
                number => format!("parameter {number}"),
            });
            hold(argument.value, format!("frame {index}, {name}"));
        }
        for patch in &frame.patch {
            let place = patched(&graph, patch);
            hold(
                patch.value,
                format!("{place} at the entry of frame {index}"),
            );
        }
    }
    for info in &crash.failure.statics {
        hold(info.value, field(&info.owner, &info.name));
    }
    for object in crash.objects.iter().flatten() {
        match &object.body {
            Body::Instance(values) | Body::Enum { fields: values, .. } => {
                for (value, info) in values.iter().zip(fields(crash, object.class)) {
                    hold(*value, field(&info.owner, &info.name));
                }
            }
            Body::References(values) => {
                let class = crash.class(object.class);
                let name = class.map_or("?", |class| class.name.as_str());
                for value in values {
                    hold(*value, format!("elements of {}", short_type(name)));
                }
            }
            Body::Lambda(lambda) => {
                for (_, value) in &lambda.captured {
                    let by = method(&lambda.class, &lambda.method);
                    hold(*value, format!("captured by {by}"));
                }
            }
            _ => {}
        }
    }
    holders
}

fn fields(crash: &Crash, class: u32) -> &[hindsight_tracelog::crash::FieldInfo] {
    let class: Option<&ClassInfo> = crash.class(class);
    class.map_or(&[], |class| class.fields.as_slice())
}

/// Adds a primitive value with its place; references are listed with their objects.
fn value(all: &mut Collection, place: &str, value: Value, descriptor: &str) {
    if descriptor.starts_with(['L', '[']) {
        return;
    }
    let text = primitive(Typed::new(value, descriptor));
    all.add("values", format!("{place} = {text}"), "");
}

/// An array of primitives, as text if it is readable.
fn array(graph: &Graph<'_>, number: u32, class: &str, bytes: &[u8]) -> (&'static str, String) {
    let text = match class {
        "[C" => {
            let units = bytes
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            String::from_utf16(&units.collect::<Vec<_>>()).ok()
        }
        "[B" => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    };
    let readable = |text: &String| {
        let used = text.trim_end_matches('\0');
        !used.is_empty() && used.chars().all(|c| !c.is_control() || c.is_whitespace())
    };
    if let Some(text) = text.filter(readable) {
        // The zeros are the unused rest of a buffer.
        return ("characters", text.trim_end_matches('\0').to_owned());
    }
    let mut text = format!("{} [", short_type(class));
    for (at, element) in graph.each(number).into_iter().flatten().enumerate() {
        if at > 0 {
            text += ", ";
        }
        text += &primitive(element);
    }
    text.push(']');
    ("arrays", text)
}

fn method(class: &str, name: &str) -> String {
    match class {
        "" => name.to_owned(),
        class => format!("{class}.{name}"),
    }
}

/// The field or the element that had another value.
fn patched(graph: &Graph<'_>, patch: &Patch) -> String {
    let Patch { object, index, .. } = patch;
    match index {
        Some(index) => {
            let array = short_type(graph.class_name(*object));
            format!("element {index} of {array} (object {object})")
        }
        None => field(&patch.owner, &patch.field),
    }
}

fn field(owner: &str, name: &str) -> String {
    format!("{owner}.{name}")
}

fn hashed(class: &str, sha256: Option<&str>) -> String {
    match sha256 {
        Some(sha256) => format!("{class} sha256 {sha256}"),
        None => class.to_owned(),
    }
}
