//! Sequences cut out of a recorded run.
//!
//! [`Recorder`] goes through the steps once and keeps for each object the outermost calls in which
//! it took part: a call of a public method represents all calls nested in it. [`Recorded::slice`]
//! then takes the calls of one object, and those that its arguments need, back to what makes them.
//!
//! - [`begun`] and [`ended`] keep calls as they begin and end.
//! - [`callable`] decides which methods a test may call, and by which class or interface.
//! - [`doubt`] finds the objects that need not be as in the run, because calls are left out.
//! - [`lambdas`] finds replacements for lambdas of the run, [`references`] those that a test can
//!   write as they were.
//! - [`omitted`] finds calls that show that others were left out.
//! - [`seen`] holds the calls.
//! - [`slice`] has all of them, and cuts sequences out of them.
//! - [`stand_ins`] replaces objects of the JDK whose making was not recorded.
//! - [`statics`] finds the calls of static methods that belong before another one.
//! - [`values`] is what the recorder knows about texts, arrays and objects.

mod begun;
mod callable;
mod doubt;
mod ended;
mod lambdas;
mod omitted;
mod references;
mod seen;
mod slice;
mod stand_ins;
mod statics;
mod values;

pub use callable::Access;
use callable::of;
use lambdas::{Begun, Lambdas};
pub use seen::{End, Kind, Seen, Value};
use seen::{Static, objects};
pub use slice::{Begins, Carved, Means, Reach, Recorded, Score, Unmade};

use super::platform::Classes;
use super::sequence::Method;
use crate::model::texts::Texts;
use crate::trace::steps::{Place, Step, What};
use hindsight_classfile::access;
use hindsight_tracelog::trace::Datum;
use hindsight_tracelog::trace::dictionary::{Code, Dictionary};
use rustc_hash::{FxHashMap, FxHashSet};
use statics::Statics;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use values::Array;

/// The most objects that are followed; later ones are not.
const MAX_OBJECTS: usize = 1 << 20;
/// The most texts that are remembered: those that were used last.
const MAX_TEXTS: usize = 1 << 20;
/// The most calls of one object that are kept.
const MAX_HISTORY: usize = 200;
/// The number of such calls if very many of all objects are kept; the next constant says how many
/// that is.
const MAX_OF_MANY: usize = 40;
const MANY: usize = 2 << 20;

/// Goes through a run.
pub struct Recorder<'d> {
    dictionary: &'d Dictionary,
    access: Access<'d>,
    objects: FxHashMap<u64, Object>,
    texts: Texts,
    arrays: FxHashMap<u64, Array>,
    threads: FxHashMap<u64, Vec<Frame>>,
    /// By thread, the arrays that its last steps have reported to be filled.
    filled: FxHashMap<u64, Vec<u64>>,
    statics: BTreeMap<(String, String), Static>,
    /// The constants of enums on which something was called, by serial.
    constants: FxHashMap<u64, Rc<Method>>,
    lambdas: Lambdas,
    /// The code behind lambdas, as far as the trace has it.
    codes: FxHashSet<&'d Code>,
    /// What was written to static fields.
    left: Statics,
    /// Whether a called method is the code of a lambda.
    bodies: FxHashMap<u32, bool>,
    /// Whether a method is the JDK's, as far as that was asked.
    of_jdk: FxHashMap<u32, bool>,
    now: u64,
    /// The number of calls in histories, including those that have been dropped.
    kept: usize,
    /// Whether there were more objects or arrays than are followed.
    pub full: bool,
}

struct Object {
    class: u32,
    born: u64,
    history: Vec<Rc<Seen>>,
    /// When the first call began that is not in the history, because there are too many.
    cut: Option<u64>,
    /// Of the calls that returned it after it had been made, the first of those with the fewest
    /// callers around them; and these.
    given: Option<Rc<Seen>>,
}

struct Frame {
    method: u32,
    /// The called method, if a test may call it.
    call: Option<Open>,
    /// A call of a lambda's code.
    body: Option<Begun>,
}

struct Open {
    method: Method,
    on: Option<u64>,
    constant: Option<Rc<Method>>,
    args: Vec<Value>,
    entered: u64,
    /// The calls that have left what it finds in static fields.
    before: Vec<Rc<Seen>>,
    /// The objects, each with the length of its history before.
    parts: Vec<(u64, usize)>,
}

impl<'d> Recorder<'d> {
    /// A recorder at the beginning of a run.
    pub fn new(dictionary: &'d Dictionary, classes: Classes<'d>) -> Recorder<'d> {
        Recorder {
            dictionary,
            access: Access::new(classes),
            objects: FxHashMap::default(),
            texts: Texts::new(MAX_TEXTS),
            arrays: FxHashMap::default(),
            threads: FxHashMap::default(),
            filled: FxHashMap::default(),
            statics: BTreeMap::new(),
            constants: FxHashMap::default(),
            lambdas: Lambdas::default(),
            codes: dictionary.codes().collect(),
            left: Statics::default(),
            bodies: FxHashMap::default(),
            of_jdk: FxHashMap::default(),
            now: 0,
            kept: 0,
            full: false,
        }
    }

    /// Processes a step of the run.
    pub fn take(&mut self, step: &Step) {
        self.now += 1;
        let is_new = matches!(step.what, What::New { .. });
        let filled = match is_new || self.filled.is_empty() {
            true => None,
            false => self.filled.remove(&step.thread),
        };
        match &step.what {
            What::New {
                object,
                text,
                units,
                length,
                elements,
                ..
            } => {
                match units {
                    Some(units) => self.new_text(*object, units, *length),
                    None => self.new_object(*object, text.as_deref(), *length),
                }
                if let Some(elements) = elements {
                    self.fill(object.serial(), elements);
                    self.filled
                        .entry(step.thread)
                        .or_default()
                        .push(object.serial());
                }
            }
            What::Enter { method, arguments } => self.enter(step.thread, *method, arguments),
            What::Bind { method, this } => self.bind(step.thread, *method, *this),
            What::Exit { method, value } => self.leave(step.thread, *method, Some(*value), None),
            What::Unwind { method, exception } => {
                self.leave(step.thread, *method, None, *exception);
            }
            What::Write {
                place:
                    Place::Element {
                        array: Some(array),
                        index,
                    },
                value,
            } => {
                let value = value.map(|value| self.element(value));
                if let Some(array) = self.arrays.get_mut(&array.serial())
                    && let Ok(index) = usize::try_from(*index)
                {
                    array.set(index, value);
                }
            }
            What::Write {
                place: Place::Static { field },
                value,
            } => {
                self.wrote(step.thread, *field, *value);
                if let Some(Datum::Reference(Some(id))) = value {
                    self.constant_of(step.thread, *field, id.serial());
                }
            }
            What::Called { callee, values } => {
                self.called(*callee, values, &filled.unwrap_or_default());
            }
            What::End | What::Lost(_) | What::Thread { paused: true, .. } => {
                self.threads.remove(&step.thread);
            }
            _ => {}
        }
    }

    /// Handles a write to a static field of the program.
    fn wrote(&mut self, thread: u64, field: u32, value: Option<Datum>) {
        let dictionary = self.dictionary;
        let Some(member) = dictionary.field(field) else {
            return;
        };
        if !self.access.is_own(&member.owner) {
            return;
        }
        let frame = self.threads.get(&thread).and_then(|frames| frames.last());
        let method = frame.and_then(|frame| dictionary.method(frame.method));
        let is_first = method.is_some_and(|(_, method)| method.name == "<clinit>");
        (self.left).wrote(&member.owner, field, value, self.now, is_first);
    }

    /// Handles a write of an object to a field: if any source may read it there, and it stays, the
    /// object's life begins with that.
    fn constant_of(&mut self, thread: u64, field: u32, serial: u64) {
        let Some(member) = self.dictionary.field(field) else {
            return;
        };
        let Some(object) = self.objects.get_mut(&serial) else {
            return;
        };
        let is_public = self.access.is_accessible(&member.owner)
            && (self.access.info(&member.owner).as_deref().and_then(of)).is_some_and(|info| {
                let constant = info.constant(&member.name, &member.descriptor);
                constant.is_some_and(|constant| constant.access & access::PUBLIC != 0)
            });
        if !is_public {
            return;
        }
        let seen = Seen {
            method: Method {
                class: member.owner.clone(),
                name: member.name.clone(),
                descriptor: member.descriptor.clone(),
                is_static: true,
                runs: None,
            },
            on: None,
            constant: None,
            args: Vec::new(),
            before: Vec::new(),
            made: Some(serial),
            end: End::Returned(Some(Value::Object(serial))),
            thread,
            depth: 0,
            entered: self.now,
            left: self.now,
        };
        object.history = vec![Rc::new(seen)];
    }

    /// The recorded calls, without those that are still running.
    pub fn finish(self) -> Recorded {
        let mut derived: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for (serial, object) in &self.objects {
            if let Some(first) = object.history.first()
                && first.made == Some(*serial)
            {
                first.operands(&mut |operand| derived.entry(operand).or_default().push(*serial));
            }
        }
        for objects in derived.values_mut() {
            objects.sort_by_key(|serial| self.objects[serial].born);
        }
        let mut objects: Vec<(u64, u64, String)> = (self.objects.iter())
            .filter(|(_, object)| !object.history.is_empty())
            .map(|(serial, object)| {
                let class = self.dictionary.class(object.class).unwrap_or_default();
                (object.born, *serial, class.to_owned())
            })
            .collect();
        objects.sort();
        let mut names: HashMap<&str, Rc<str>> = HashMap::new();
        let of_jdk = objects
            .iter()
            .filter(|(.., class)| self.access.platform().info(class).is_some());
        let of_jdk = of_jdk.map(|(_, serial, class)| {
            let name = names.entry(class).or_insert_with(|| class.as_str().into());
            (*serial, name.clone())
        });
        let of_jdk = of_jdk.collect();
        let given = self
            .objects
            .iter()
            .filter_map(|(serial, object)| Some((*serial, object.given.clone()?)));
        let given = given.collect();
        let cut = self.objects.iter();
        let cut = cut.filter_map(|(serial, object)| Some((*serial, object.cut?)));
        let cut = cut.collect();
        let dictionary = self.dictionary;
        let name = |method| Some(dictionary.method(method)?.1.name.clone());
        let left_out = self.statics.values().filter_map(|one| {
            let first = one.kept.first()?;
            (one.left_out > 0).then(|| (first.method.clone(), one.left_out))
        });
        let left_out = left_out.collect();
        let called = self.bodies.keys().filter_map(|id| dictionary.method(*id));
        let called = called.filter(|(_, method)| method.name != "<clinit>");
        let called = called.map(|(class, _)| class.name.clone()).collect();
        // One call of each method comes before the second of any.
        let mut statics: Vec<(usize, &Rc<Seen>)> = Vec::new();
        for one in self.statics.values() {
            statics.extend(one.by_end().into_iter().enumerate());
        }
        statics.sort_by_key(|(place, _)| *place);
        let statics = statics.into_iter().map(|(_, seen)| seen.clone()).collect();
        let histories = self.objects.into_iter();
        Recorded {
            called,
            given,
            cut,
            objects: objects
                .into_iter()
                .map(|(_, serial, class)| (serial, class))
                .collect(),
            histories: histories
                .map(|(serial, object)| (serial, object.history))
                .collect(),
            derived,
            lambdas: self.lambdas.finish(&name),
            of_jdk,
            statics,
            left_out,
        }
    }
}

/// Whether a method is a `main`, which is not part of what the program offers.
pub fn is_main(method: &Method) -> bool {
    method.name == "main" && matches!(&*method.descriptor, "([Ljava/lang/String;)V" | "()V")
}

/// Whether a call only checks its argument and returns it; javac inserts it for `x.new Inner()`.
pub fn is_check(method: &Method) -> bool {
    only_asks(method) && method.name == "requireNonNull"
}

/// Whether a call only accepts a null: anything it asks an object is a call of that object.
fn only_asks(method: &Method) -> bool {
    method.class == "java.util.Objects"
}

#[cfg(test)]
mod tests;
