//! Steps for people and machines, with names.
//!
//! - `line` makes text of a step, `json` an object.
//! - `texts` remembers the texts of objects.

mod json;
mod line;
#[cfg(test)]
mod tests;
mod texts;

use super::calls::Calls;
use super::steps::{Place, Step, What};
use super::threads::Threads;
use crate::graph::Typed;
use crate::java::descriptor;
use crate::text::{name, primitive, quote_beginning, short_type, simple_name};
use hindsight_tracelog::crash::Value;
use hindsight_tracelog::trace::dictionary::{Dictionary, Member, Method};
use hindsight_tracelog::trace::{Datum, ObjectId};
use std::cell::RefCell;
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
            What::Exit { .. } | What::Unwind { .. } => {
                calls.was_around();
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

    /// Whether this is the step of a class that no thread defines, since it existed before the
    /// recording.
    fn was_before(&self, step: &Step) -> bool {
        let What::Class { class } = step.what else {
            return false;
        };
        let class = self.dictionary.traced.get(class);
        class.is_some_and(|class| class.defined.as_ref().is_some_and(|of| of.before))
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
