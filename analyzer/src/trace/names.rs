//! Steps for people and machines, with names.
//!
//! - `texts` remembers the texts of objects.

#[cfg(test)]
mod tests;
mod texts;

use super::calls::Calls;
use super::steps::{Gap, Place, Step, What};
use super::threads::Threads;
use crate::graph::Typed;
use crate::inspect::json;
use crate::java::descriptor;
use crate::text::{self, name, one_line, primitive, quote_beginning, short_type, simple_name};
use hindsight_tracelog::crash::Value;
use hindsight_tracelog::trace::dictionary::{Dictionary, Member, Method};
use hindsight_tracelog::trace::{Datum, ObjectId};
use serde_json::{Map, Value as Json, json};
use std::cell::RefCell;
use std::fmt::Write;
use texts::Texts;

/// The most characters of a text that are shown in a line.
const TEXT: usize = 60;
/// The deepest call that is still indented further.
const MAX_INDENT: usize = 40;

/// Gives steps their names. It remembers a bounded number of texts, and the active calls of each
/// thread.
pub struct Names<'d> {
    dictionary: &'d Dictionary,
    texts: RefCell<Texts>,
    threads: Threads<Thread>,
    /// Whether only calls were recorded, so that objects have no numbers.
    is_anonymous: bool,
}

#[derive(Default)]
struct Thread {
    name: String,
    calls: Calls<()>,
    is_platform: bool,
}

impl Thread {
    fn is_idle(&self) -> bool {
        !self.is_platform && self.calls.is_empty()
    }
}

impl<'d> Names<'d> {
    /// Names by a trace's dictionary.
    pub fn new(dictionary: &'d Dictionary) -> Self {
        let threads = dictionary.threads.iter().map(|(id, name)| {
            let thread = Thread {
                name: name.clone(),
                is_platform: true,
                ..Thread::default()
            };
            (*id, thread)
        });
        Self {
            dictionary,
            texts: RefCell::default(),
            threads: threads.collect(),
            is_anonymous: (dictionary.start.as_ref()).is_some_and(|start| {
                let of_objects = ["values", "writes", "reads"];
                !(start.what.iter()).any(|what| of_objects.contains(&what.as_str()))
            }),
        }
    }

    /// Processes each step, shown or not, and must do so before the step is shown. Returns its
    /// depth in calls.
    pub fn follow(&mut self, step: &Step) -> usize {
        match &step.what {
            What::New {
                object,
                length,
                text,
                units,
                ..
            } => {
                if let Some(text) = quoted(text.as_deref(), units.as_deref(), *length) {
                    let class = object.class();
                    let lasts = self.dictionary.class(class).is_some_and(has_lasting_text);
                    let texts = self.texts.get_mut();
                    texts.add(object.serial(), class, lasts, text);
                }
            }
            What::Thread { name, paused } => {
                let thread = self.threads.entry(step.thread, Thread::is_idle);
                thread.name = name.clone();
                if *paused {
                    thread.calls = Calls::default();
                }
            }
            _ => {}
        }
        let calls = &mut self.threads.entry(step.thread, Thread::is_idle).calls;
        match &step.what {
            What::Enter { method, .. } | What::Going { method } => {
                calls.begin(*method, ());
                return calls.depth() - 1;
            }
            What::Exit { method, .. } | What::Unwind { method, .. } if calls.has(*method) => {
                while calls.pop_deeper(*method).is_some() {}
                calls.pop();
            }
            What::Caught { method, .. } | What::Bind { method, .. } if calls.has(*method) => {
                while calls.pop_deeper(*method).is_some() {}
            }
            What::Lost(gap) => calls.lose(gap.events()),
            // Calls whose ends were lost would stay, and the thread would never be idle.
            What::End => return std::mem::take(calls).depth(),
            _ => {}
        }
        calls.depth()
    }

    /// How many objects were shown without their texts, because these had been forgotten.
    pub fn forgotten(&self) -> u64 {
        self.texts.borrow().misses()
    }

    /// A step as a line of text, without a line end.
    pub fn line(&self, step: &Step, depth: usize) -> String {
        let mut line = String::new();
        let thread = match self.threads.get(step.thread) {
            _ if self.was_before(step) => "-".to_owned(),
            Some(thread) if !thread.name.is_empty() => one_line(&thread.name, 20),
            _ => match self.dictionary.threads.get(&step.thread) {
                Some(name) => one_line(name, 20),
                None => format!("#{}", step.thread),
            },
        };
        let _ = write!(line, "{thread:<12} ");
        for _ in 0..depth.min(MAX_INDENT) {
            line.push_str("| ");
        }
        match &step.what {
            What::Thread { paused, .. } => {
                let kind = if step.is_virtual { "virtual " } else { "" };
                let pause = if *paused { ", after a pause" } else { "" };
                let _ = write!(line, "{kind}thread {}{pause}", step.thread);
            }
            What::Class { class } => {
                let class = self.dictionary.traced.get(*class);
                let class = class.map_or("?", |class| simple_name(&class.name));
                let verb = match self.was_before(step) {
                    true => "was there before",
                    false => "is defined",
                };
                let _ = write!(line, "class {} {verb}", name(class));
            }
            What::End => line.push_str("ends"),
            What::Enter { method, arguments } => {
                let _ = write!(line, "{}(", self.method(*method));
                let entry = self.dictionary.method(*method).map(|(_, method)| method);
                for (at, argument) in arguments.iter().enumerate() {
                    let parameter = entry.and_then(|entry| parameter_name(entry, argument.index));
                    let ty = entry.map_or("", |entry| type_of(entry, argument.index));
                    let separator = if at == 0 { "" } else { ", " };
                    let parameter =
                        parameter.map_or_else(|| format!("arg{}", argument.index), name);
                    let _ = write!(
                        line,
                        "{separator}{parameter} = {}",
                        self.datum(argument.value, ty)
                    );
                }
                line.push(')');
            }
            What::Exit { method, value } => {
                let _ = write!(line, "{} returns", self.method(*method));
                if let Some(value) = value {
                    let entry = self.dictionary.method(*method);
                    let ty = entry.and_then(|(_, method)| method.descriptor.rsplit(')').next());
                    let _ = write!(line, " {}", self.datum(*value, ty.unwrap_or("")));
                }
            }
            What::Unwind { method, exception } => {
                let (method, exception) = (self.method(*method), self.object(*exception));
                let _ = write!(line, "{method} throws {exception}");
            }
            What::Caught { method, exception } => {
                let (method, exception) = (self.method(*method), self.object(*exception));
                let _ = write!(line, "{method} catches {exception}");
            }
            What::Bind { method, this } => {
                let method = self.method(*method);
                // If only calls are recorded, objects have no numbers.
                let _ = match this {
                    None if self.is_anonymous => write!(line, "{method} binds its object"),
                    this => write!(line, "{method} binds {}", self.object(*this)),
                };
            }
            What::Write { place, value } => {
                let (place, ty) = self.place(place);
                line.push_str(&place);
                match value {
                    Some(value) => {
                        let _ = write!(line, " = {}", self.datum(*value, &ty));
                    }
                    None => line.push_str(" is written"),
                }
            }
            What::Read { place, value } => {
                let (place, ty) = self.place(place);
                let _ = write!(line, "{place} is read");
                if let Some(value) = value {
                    let _ = write!(line, ": {}", self.datum(*value, &ty));
                }
            }
            What::Called { callee, values } => {
                let _ = write!(line, "after {}: ", self.callee(*callee));
                let types = self.types_of_values(*callee, values.len());
                let values = values.iter().zip(types);
                let values: Vec<_> = values.map(|(value, ty)| self.datum(*value, ty)).collect();
                line.push_str(&values.join(", "));
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
                let word = if *again { "again" } else { "new" };
                let _ = write!(line, "{word} {}#{}", self.class(*object), object.serial());
                if *secret {
                    line.push_str(" (redacted)");
                }
                match quoted(text.as_deref(), units.as_deref(), *length) {
                    Some(text) => {
                        let _ = write!(line, " {text}");
                        if let Some(hash) = hash {
                            let _ = write!(line, ", hash code {hash}");
                        }
                    }
                    None if *length > 0 || !secret && self.is_array(*object) => {
                        let _ = write!(line, " of length {length}");
                    }
                    None => {}
                }
                if let Some(elements) = elements {
                    let ty = self.element_type(Some(*object));
                    let elements = elements.iter().map(|element| self.datum(*element, &ty));
                    let elements: Vec<_> = elements.collect();
                    let _ = write!(line, ": {}", elements.join(", "));
                }
            }
            What::Going { method } => {
                let _ = write!(line, "{} is running", self.method(*method));
            }
            What::Lost(Gap::Blocks) => line.push_str("events are missing here"),
            What::Lost(Gap::Elsewhere) => {
                line.push_str(
                    "events may be missing here, of those that another thread tells were lost",
                );
            }
            What::Lost(Gap::Told(count)) => {
                let events = usize::try_from(*count).unwrap_or(usize::MAX);
                let were = if *count == 1 { "was" } else { "were" };
                let _ = write!(line, "{} {were} lost here", text::count(events, "event"));
            }
        }
        line
    }

    /// Whether this is the step of a class that no thread defines, since it existed before the
    /// recording.
    fn was_before(&self, step: &Step) -> bool {
        let What::Class { class } = step.what else {
            return false;
        };
        let class = self.dictionary.traced.get(class);
        class.is_some_and(|class| class.defined.as_ref().is_some_and(|of| of.before))
    }

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

    fn json_object(&self, object: Option<ObjectId>) -> Json {
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

    /// A method as `Class.method`.
    pub fn method(&self, id: u32) -> String {
        match self.dictionary.method(id) {
            Some((class, method)) => {
                format!("{}.{}", name(simple_name(&class.name)), name(&method.name))
            }
            None => format!("method {id}"),
        }
    }

    /// The types of the recorded values of a call: the receiver if there is one, the arguments, and
    /// the result.
    fn types_of_values(&self, callee: u32, count: usize) -> Vec<&'d str> {
        let callee = self.dictionary.callee(callee);
        let types = callee.and_then(|callee| descriptor::split(&callee.descriptor));
        let (types, result) = types.unwrap_or_default();
        // If some of the values are not recorded, it is not known which.
        let Some(more) = count.checked_sub(types.len()) else {
            return vec![""; count];
        };
        let result = Some(result).filter(|result| more > 0 && *result != "V");
        let receiver = more - usize::from(result.is_some());
        let mut all = vec![""; receiver];
        all.extend(types);
        all.extend(result);
        all
    }

    fn callee(&self, id: u32) -> String {
        member_name(self.dictionary.callee(id), "callee", id)
    }

    fn place(&self, place: &Place) -> (String, String) {
        let ty = |id: u32| {
            let field = self.dictionary.field(id);
            field.map_or_else(String::new, |field| field.descriptor.clone())
        };
        match *place {
            Place::Field { object, field } => {
                let known = self.dictionary.field(field);
                let name =
                    known.map_or_else(|| format!("field {field}"), |known| name(&known.name));
                let object = match object {
                    Some(object) => self.object(Some(object)),
                    None => "(this)".to_owned(),
                };
                (format!("{object}.{name}"), ty(field))
            }
            Place::Static { field } => {
                let name = member_name(self.dictionary.field(field), "field", field);
                (name, ty(field))
            }
            Place::Element { array, index } => (
                format!("{}[{index}]", self.object(array)),
                self.element_type(array),
            ),
        }
    }

    fn element_type(&self, array: Option<ObjectId>) -> String {
        let class = array.and_then(|array| self.dictionary.class(array.class()));
        let ty = class.and_then(|class| class.strip_prefix('['));
        ty.unwrap_or("").to_owned()
    }

    /// The name of an object's class, without its package; `?` if not known.
    fn class(&self, object: ObjectId) -> String {
        let Some(name) = self.dictionary.class(object.class()) else {
            return "?".to_owned();
        };
        // For a lambda, the method that runs is more informative than the number in the class's
        // name.
        let is_told = self.dictionary.code(object.class()).is_some();
        match name.split_once(LAMBDA).filter(|_| is_told) {
            Some((maker, _)) => short_type(&format!("{maker}{LAMBDA}")),
            None => short_type(name),
        }
    }

    fn is_array(&self, object: ObjectId) -> bool {
        let class = self.dictionary.class(object.class());
        class.is_some_and(|class| class.starts_with('['))
    }

    fn object(&self, object: Option<ObjectId>) -> String {
        let Some(object) = object else {
            return "null".to_owned();
        };
        let name = format!("{}#{}", self.class(object), object.serial());
        if let Some(code) = self.dictionary.code(object.class()) {
            let method = match code.name.as_str() {
                "<init>" => "new",
                method => method,
            };
            return format!("{name} {}::{}", short_type(&code.class), self::name(method));
        }
        let mut texts = self.texts.borrow_mut();
        match texts.get(object.serial(), object.class()) {
            Some(text) => format!("{name} {text}"),
            None => name,
        }
    }

    fn datum(&self, value: Datum, ty: &str) -> String {
        let typed = |value, kind| primitive(Typed { value, kind });
        match value {
            Datum::Reference(object) => self.object(object),
            Datum::Int(value) => {
                let kind = ty.bytes().next().unwrap_or(b'I');
                typed(Value::Int(i64::from(value)), kind)
            }
            Datum::Long(value) => typed(Value::Int(value), b'J'),
            Datum::Float(value) => typed(Value::Float(value), b'F'),
            Datum::Double(value) => typed(Value::Double(value), b'D'),
        }
    }
}

/// The part that names of lambdas' classes contain.
const LAMBDA: &str = "$$Lambda";

/// Whether a class's objects are few and shown all the time: those of classes and enum constants.
/// Other objects with a text are strings, boxes and values of the JDK.
fn has_lasting_text(class: &str) -> bool {
    const PASSING: [&str; 13] = [
        "java.io.File",
        "java.lang.Boolean",
        "java.lang.Byte",
        "java.lang.Character",
        "java.lang.Double",
        "java.lang.Float",
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Short",
        "java.lang.String",
        "java.net.URI",
        "java.util.UUID",
        "java.util.regex.Pattern",
    ];
    const TIME_ENUMS: [&str; 2] = ["java.time.DayOfWeek", "java.time.Month"];
    let is_value = PASSING.contains(&class)
        || class.starts_with("java.math.Big")
        // Dates, and the numbers that belong to them; the packages below have enums and objects
        // made of them.
        || class.strip_prefix("java.time.").is_some_and(|name| !name.contains('.'))
            && !TIME_ENUMS.contains(&class)
        || class.starts_with("sun.nio.fs.");
    !is_value
}

/// The name of a parameter, if it is known; index 0 is `this`.
fn parameter_name(method: &Method, index: u16) -> Option<&str> {
    match index {
        0 => Some("this"),
        index => method
            .parameter_names
            .get(usize::from(index) - 1)?
            .as_deref(),
    }
}

/// The type of a parameter that is recorded; index 0 is `this`.
fn type_of(method: &Method, index: u16) -> &str {
    let told = method.told.iter().find(|(told, _)| *told == index);
    told.map_or("", |(_, ty)| ty.as_str())
}

fn member_name(member: Option<&Member>, what: &str, id: u32) -> String {
    match member {
        Some(member) => format!("{}.{}", short_type(&member.owner), name(&member.name)),
        None => format!("{what} {id}"),
    }
}

/// A text, or its UTF-16 units, as a quoted beginning with the whole length; `None` if neither is
/// known.
fn quoted(text: Option<&str>, units: Option<&[u16]>, length: u32) -> Option<String> {
    let of_text = || text.map(|text| text.encode_utf16().collect());
    let units: Vec<u16> = units.map(<[u16]>::to_vec).or_else(of_text)?;
    let whole = units.len().max(length as usize);
    Some(quote_beginning(&units, TEXT, whole))
}
