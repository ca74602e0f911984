//! Sequences cut out of a recorded run.
//!
//! [`Recorder`] goes through the steps once and keeps of each object the outermost
//! calls that it took part in: a call of a public method stands for all that is
//! nested in it. [`Recorded::slice`] then takes the calls of one object, and those
//! that the objects need that are passed, as far back as what makes them.

use super::platform::{Classes, Platform};
use super::sequence::{Arg, Method, Methods, Sequence, Statement};
use super::ways::Ways;
use crate::classinfo::{ClassInfo, Nesting};
use crate::classpath::FoundClass;
use crate::java::descriptor;
use crate::model::infer::literal;
use crate::model::mutable::{MethodName, Mutability};
use crate::model::values::Literal;
use crate::text::{short_type, simple_name};
use crate::trace::steps::{Argument, Place, Step, What};
use hindsight_classfile::access;
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::{Datum, ObjectId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Objects that are followed; later ones are not.
const MAX_OBJECTS: usize = 1 << 20;
/// Texts that are remembered.
const MAX_TEXTS: usize = 1 << 20;
/// Calls of one object that are kept.
const MAX_HISTORY: usize = 40;
/// Elements of arrays that are followed.
const MAX_ARRAY: usize = 64;
/// Calls of static methods that are kept, of each: that return, and that throw one class.
const MAX_STATIC: usize = 3;
/// Calls of one sequence.
const MAX_CALLS: usize = 40;

/// A value that took part in a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// It can be written down.
    Literal(Literal),
    /// An object.
    Object(u64),
    /// An array: the descriptor of its elements, and these as they were.
    Array(u64, String, Vec<Value>),
    /// Nothing that a test can make.
    Unknown,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It returned a value, or nothing.
    Returned(Option<Value>),
    /// It threw an object of this class.
    Threw(String),
}

/// A call that was seen.
#[derive(Debug)]
pub struct Seen {
    method: Method,
    on: Option<u64>,
    args: Vec<Value>,
    /// The object that it made: by constructing it, or by being the first to return it.
    made: Option<u64>,
    /// How it ended.
    pub end: End,
    thread: u64,
    entered: u64,
    left: u64,
}

/// Goes through a run.
pub struct Recorder<'d> {
    dictionary: &'d Dictionary,
    access: Access<'d>,
    objects: FxHashMap<u64, Object>,
    texts: FxHashMap<u64, Literal>,
    arrays: FxHashMap<u64, Array>,
    threads: FxHashMap<u64, Vec<Frame>>,
    statics: BTreeMap<(String, String), Vec<Rc<Seen>>>,
    now: u64,
    /// Whether there were more objects than are followed.
    pub full: bool,
}

struct Object {
    class: u32,
    born: u64,
    history: Vec<Rc<Seen>>,
    /// Of the calls that returned it after it had been made, the first of those that were called from the
    /// fewest others; and these.
    given: Option<(usize, Rc<Seen>)>,
}

struct Array {
    element: String,
    elements: Vec<Option<Value>>,
}

struct Frame {
    method: u32,
    /// What is called, if a test may call it.
    call: Option<Open>,
}

struct Open {
    method: Method,
    on: Option<u64>,
    args: Vec<Value>,
    entered: u64,
    /// Objects, with the length of their history before.
    parts: Vec<(u64, usize)>,
}

/// How much of a run is cut out around the calls of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Of each object that takes part, what happened to it before.
    Needed,
    /// Also what was done with others that came of the same objects, which may share state with it,
    Shared,
    /// and with those that calls have returned: what is done to a part is done to the whole.
    Returned,
}

/// Which methods a test may call.
pub struct Access<'c> {
    known: Classes<'c>,
    classes: HashMap<String, bool>,
    methods: HashMap<(String, u32), Option<Method>>,
}

impl<'c> Access<'c> {
    /// By what classes are.
    pub fn new(known: Classes<'c>) -> Access<'c> {
        Access {
            known,
            classes: HashMap::new(),
            methods: HashMap::new(),
        }
    }

    /// The JDK's classes.
    pub fn platform(&self) -> &'c Platform {
        self.known.platform
    }

    /// Whether a class is one of the program's own.
    pub fn is_own(&self, class: &str) -> bool {
        self.known.own.info(class).is_some()
    }

    /// Whether a class is an enum.
    pub fn is_enum(&self, class: &str) -> bool {
        let found = self.info(class);
        let info = found.as_deref().and_then(of);
        info.is_some_and(|info| info.is(access::ENUM))
    }

    /// Whether any source can name a class.
    pub fn is_accessible(&mut self, class: &str) -> bool {
        if let Some(known) = self.classes.get(class) {
            return *known;
        }
        let accessible = match self.info(class).as_deref().and_then(of) {
            Some(info) => {
                info.is(access::PUBLIC)
                    && !info.is(access::SYNTHETIC)
                    && match info.nesting.clone() {
                        Nesting::TopLevel => true,
                        Nesting::Member { outer, .. } => self.is_accessible(&outer),
                        Nesting::Local => false,
                    }
            }
            None => false,
        };
        self.classes.insert(class.to_owned(), accessible);
        accessible
    }

    /// The class file of a class.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        self.known.info(class)
    }

    /// How a source calls a method on an object of `class`: by a public class or
    /// interface that declares it.
    fn resolve(&mut self, class: &str, method: &Method) -> Option<Method> {
        if self.is_accessible(&method.class) {
            return Some(method.clone());
        }
        // A method of a class that is not public is public in its subclasses.
        let mut below = class.to_owned();
        while below != method.class {
            if self.is_accessible(&below) {
                return Some(Method {
                    class: below,
                    ..method.clone()
                });
            }
            let found = self.info(&below);
            let above = found.as_deref().and_then(of).map(|info| &info.super_class);
            match above {
                Some(Some(above)) => below = above.clone(),
                _ => break,
            }
        }
        let mut pending = vec![class.to_owned()];
        let mut seen = HashSet::new();
        while let Some(class) = pending.pop() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let Some(found) = self.info(&class) else {
                continue;
            };
            let Some(info) = of(&found) else { continue };
            let declares = info
                .method(&method.name, &method.descriptor)
                .is_some_and(|method| method.is(access::PUBLIC));
            if declares && self.is_accessible(&class) {
                return Some(Method {
                    class,
                    ..method.clone()
                });
            }
            pending.extend(info.interfaces.iter().cloned());
            pending.extend(info.super_class.clone());
        }
        None
    }
}

fn of(found: &FoundClass) -> Option<&ClassInfo> {
    found.info.as_ref()
}

impl<'d> Recorder<'d> {
    /// Begins.
    pub fn new(dictionary: &'d Dictionary, classes: Classes<'d>) -> Recorder<'d> {
        Recorder {
            dictionary,
            access: Access::new(classes),
            objects: FxHashMap::default(),
            texts: FxHashMap::default(),
            arrays: FxHashMap::default(),
            threads: FxHashMap::default(),
            statics: BTreeMap::new(),
            now: 0,
            full: false,
        }
    }

    /// Takes a step of the run.
    pub fn take(&mut self, step: &Step) {
        self.now += 1;
        match &step.what {
            What::New {
                object,
                text,
                length,
                ..
            } => self.new_object(*object, text.as_deref(), *length),
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
                let value = value.map(|value| self.value(value, ""));
                if let Some(array) = self.arrays.get_mut(&array.serial())
                    && let Some(place) = usize::try_from(*index)
                        .ok()
                        .and_then(|index| array.elements.get_mut(index))
                {
                    *place = value;
                }
            }
            What::Write {
                place: Place::Static { field },
                value: Some(Datum::Reference(Some(id))),
            } => self.constant_of(step.thread, *field, id.serial()),
            What::Called { callee, values } => self.called(*callee, values),
            What::End | What::Lost(_) | What::Thread { paused: true, .. } => {
                self.threads.remove(&step.thread);
            }
            _ => {}
        }
    }

    /// What a call of the JDK's has written to arrays: a copy is as what it was made of, and what cannot be
    /// told is not known any more.
    fn called(&mut self, callee: u32, values: &[Datum]) {
        let Some(callee) = self.dictionary.callee(callee) else {
            return;
        };
        let reference = |value: &Datum| match value {
            Datum::Reference(Some(id)) => Some(id.serial()),
            _ => None,
        };
        let place = |value: &Datum| match value {
            Datum::Int(at) => usize::try_from(*at).ok(),
            _ => None,
        };
        // From where, to where, and how much.
        let copied = match (callee.owner.as_str(), callee.name.as_str(), values) {
            ("java.lang.System", "arraycopy", [from, at, to, into, length]) => {
                Some((from, place(at), to, place(into), place(length)))
            }
            (_, "clone", [from, to]) | ("java.util.Arrays", "copyOf", [from, _, to]) => {
                Some((from, Some(0), to, Some(0), None))
            }
            ("java.util.Arrays", "copyOfRange", [from, at, _, to]) => {
                Some((from, place(at), to, Some(0), None))
            }
            _ => None,
        };
        if let Some((from, at, to, into, length)) = copied {
            let from = reference(from).and_then(|serial| self.arrays.get(&serial));
            let all: Vec<Option<Value>> = from.map_or_else(Vec::new, |from| from.elements.clone());
            let array = reference(to).and_then(|serial| self.arrays.get_mut(&serial));
            if let (Some(array), Some(at), Some(into)) = (array, at, into) {
                let places = array.elements.iter_mut().enumerate().skip(into);
                let length = length.unwrap_or(usize::MAX);
                for (number, (_, place)) in places.take(length).enumerate() {
                    *place = all.get(at.saturating_add(number)).cloned().flatten();
                }
            }
            return;
        }
        let filled = match (callee.owner.as_str(), callee.name.as_str(), values) {
            ("java.util.Arrays", "fill", [_, value]) => Some(self.value(*value, "")),
            _ => None,
        };
        for serial in values.iter().filter_map(reference) {
            if let Some(array) = self.arrays.get_mut(&serial) {
                array.elements.fill(filled.clone());
            }
        }
    }

    fn new_object(&mut self, id: ObjectId, text: Option<&str>, length: u32) {
        let name = self.dictionary.class(id.class()).unwrap_or_default();
        if let Some(text) = text {
            if self.texts.len() < MAX_TEXTS
                && let Some(literal) = literal(name, text, length)
            {
                let literal = self.constant(literal);
                self.texts.insert(id.serial(), literal);
            }
        } else if let Some(element) = name.strip_prefix('[') {
            if (length as usize) <= MAX_ARRAY && self.arrays.len() < MAX_OBJECTS {
                let array = Array {
                    element: element.replace('.', "/"),
                    elements: vec![None; length as usize],
                };
                self.arrays.insert(id.serial(), array);
            }
        } else if self.objects.len() >= MAX_OBJECTS {
            self.full = true;
        } else if !name.is_empty() && name != "java.lang.String" {
            let object = Object {
                class: id.class(),
                born: self.now,
                history: Vec::new(),
                given: None,
            };
            self.objects.insert(id.serial(), object);
        }
    }

    /// A constant with a body of its own has a class of its own.
    fn constant(&self, literal: Literal) -> Literal {
        if let Literal::Enum(class, name) = &literal
            && let Some(found) = self.access.info(class)
            && let Some(parent) = of(&found).and_then(|info| info.super_class.as_deref())
            && parent != "java.lang.Enum"
        {
            return Literal::Enum(parent.to_owned(), name.clone());
        }
        literal
    }

    /// An object gets into a field; if any source may read it there, and it stays, its life begins with
    /// that.
    fn constant_of(&mut self, thread: u64, field: u32, serial: u64) {
        let Some(member) = self.dictionary.field(field) else {
            return;
        };
        let Some(object) = self.objects.get_mut(&serial) else {
            return;
        };
        let is_public = self.access.is_accessible(&member.owner)
            && (self.access.info(&member.owner).as_deref().and_then(of)).is_some_and(|info| {
                info.constants.iter().any(|(flags, name, descriptor)| {
                    flags & access::PUBLIC != 0
                        && *name == member.name
                        && *descriptor == member.descriptor
                })
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
            },
            on: None,
            args: Vec::new(),
            made: Some(serial),
            end: End::Returned(Some(Value::Object(serial))),
            thread,
            entered: self.now,
            left: self.now,
        };
        object.history = vec![Rc::new(seen)];
    }

    fn value(&self, datum: Datum, ty: &str) -> Value {
        Value::Literal(match datum {
            Datum::Reference(None) => Literal::Null,
            Datum::Reference(Some(id)) => {
                let serial = id.serial();
                if let Some(text) = self.texts.get(&serial) {
                    text.clone()
                } else if let Some(array) = self.arrays.get(&serial) {
                    let elements: Option<Vec<Value>> = array.elements.iter().cloned().collect();
                    return match elements {
                        Some(elements) => Value::Array(serial, array.element.clone(), elements),
                        None => Value::Object(serial),
                    };
                } else if self.objects.contains_key(&serial) {
                    return Value::Object(serial);
                } else {
                    return Value::Unknown;
                }
            }
            Datum::Int(value) if ty == "Z" => Literal::Bool(value != 0),
            Datum::Int(value) => Literal::Int(value.into()),
            Datum::Long(value) => Literal::Int(value),
            Datum::Float(value) => Literal::Float(value.to_bits()),
            Datum::Double(value) => Literal::Double(value.to_bits()),
        })
    }

    fn enter(&mut self, thread: u64, id: u32, arguments: &[Argument]) {
        let call = self.open(id, arguments);
        let frame = Frame { method: id, call };
        self.threads.entry(thread).or_default().push(frame);
    }

    fn open(&mut self, id: u32, arguments: &[Argument]) -> Option<Open> {
        let (class, method) = self.dictionary.method(id)?;
        // A method of a class that no source can name may be called by an interface whose type it does not
        // have: by its bridge.
        let hidden = method.access & access::SYNTHETIC != 0
            && (method.access & access::BRIDGE == 0 || self.access.is_accessible(&class.name));
        if method.access & access::PUBLIC == 0 || hidden || method.name == "<clinit>" {
            return None;
        }
        let is_static = method.access & access::STATIC != 0;
        let called = Method {
            class: class.name.clone(),
            name: method.name.clone(),
            descriptor: method.descriptor.clone(),
            is_static,
        };
        if is_main(&called) {
            return None;
        }
        let (types, _) = called.types();
        let mut on = None;
        let mut args = vec![Value::Unknown; types.len()];
        let mut parts = Vec::new();
        for argument in arguments {
            let index = usize::from(argument.index);
            let ty = index.checked_sub(1).and_then(|at| types.get(at));
            let value = self.value(argument.value, ty.map_or("", String::as_str));
            objects(&value, &mut |serial| parts.push((serial, 0)));
            match (index, value) {
                (0, Value::Object(serial)) => on = Some(serial),
                (0, _) => return None,
                (index, value) => *args.get_mut(index - 1)? = value,
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts.retain_mut(|(serial, length)| match self.objects.get(serial) {
            Some(object) => {
                *length = object.history.len();
                true
            }
            None => false,
        });
        let receiver = match on {
            Some(on) => self
                .dictionary
                .class(self.objects.get(&on)?.class)?
                .to_owned(),
            None => class.name.clone(),
        };
        let key = (receiver, id);
        let method = match self.access.methods.get(&key) {
            Some(known) => known.clone(),
            None => {
                let found = self.access.resolve(&key.0, &called);
                self.access.methods.insert(key, found.clone());
                found
            }
        }?;
        Some(Open {
            method,
            on,
            args,
            entered: self.now,
            parts,
        })
    }

    fn bind(&mut self, thread: u64, method: u32, this: Option<ObjectId>) {
        let frames = self.threads.get_mut(&thread);
        let frame = frames.and_then(|frames| {
            let mut frames = frames.iter_mut().rev();
            frames.find(|frame| frame.method == method)
        });
        let (Some(frame), Some(this)) = (frame, this) else {
            return;
        };
        let class = self.dictionary.class(this.class());
        if let Some(open) = &mut frame.call {
            if class == Some(open.method.class.as_str()) {
                open.on = Some(this.serial());
                open.parts.push((this.serial(), 0));
            } else {
                // Of a superclass.
                frame.call = None;
            }
        }
    }

    fn leave(
        &mut self,
        thread: u64,
        method: u32,
        value: Option<Option<Datum>>,
        exception: Option<ObjectId>,
    ) {
        let Some(frames) = self.threads.get_mut(&thread) else {
            return;
        };
        let Some(at) = frames.iter().rposition(|frame| frame.method == method) else {
            return;
        };
        frames.truncate(at + 1);
        let Some(Open {
            method,
            on,
            args,
            entered,
            mut parts,
        }) = frames.pop().and_then(|frame| frame.call)
        else {
            return;
        };
        let depth = frames.len();
        let (_, result) = method.types();
        let end = match value {
            Some(value) => End::Returned(value.map(|value| self.value(value, &result))),
            None => {
                let class = exception.and_then(|id| self.dictionary.class(id.class()));
                End::Threw(class.unwrap_or_default().to_owned())
            }
        };
        let mut made = on.filter(|_| method.is_constructor());
        // What a constructor has not made is in no life; its call stands for itself.
        let failed = made.filter(|_| matches!(end, End::Threw(_)));
        if let Some(serial) = failed {
            made = None;
            parts.retain(|part| part.0 != serial);
        }
        if let End::Returned(Some(Value::Object(serial))) = end
            && let Some(object) = self.objects.get(&serial)
            // What has made it is within this call, or nothing that a test may call.
            && (object.history.first())
                .is_none_or(|first| first.made != Some(serial) || first.entered > entered)
            && !parts.iter().any(|part| part.0 == serial)
        {
            made = Some(serial);
            parts.push((serial, 0));
        }
        let given = match end {
            End::Returned(Some(Value::Object(serial))) => Some(serial),
            _ => None,
        };
        let given = given.filter(|serial| !parts.iter().any(|part| part.0 == *serial));
        let is_constructor = method.is_constructor();
        let seen = Rc::new(Seen {
            on: on.filter(|_| !is_constructor),
            method,
            args,
            made,
            end,
            thread,
            entered,
            left: self.now,
        });
        if let Some(object) = given.and_then(|serial| self.objects.get_mut(&serial))
            && object
                .given
                .as_ref()
                .is_none_or(|(known, _)| depth < *known)
        {
            object.given = Some((depth, seen.clone()));
        }
        // One that no object of the program took part in is in none's life.
        let own = |serial: &u64| {
            let object = self.objects.get(serial);
            let class = object.and_then(|object| self.dictionary.class(object.class));
            class.is_some_and(|class| self.access.is_own(class))
        };
        if (seen.method.is_static || failed.is_some())
            && !parts.iter().any(|(serial, _)| own(serial))
        {
            let key = (
                seen.method.class.clone(),
                format!("{}{}", seen.method.name, seen.method.descriptor),
            );
            let list = self.statics.entry(key).or_default();
            // Those that throw are not fewer for those that return.
            let alike = list.iter().filter(|known| match (&known.end, &seen.end) {
                (End::Threw(known), End::Threw(class)) => known == class,
                (End::Returned(_), End::Returned(_)) => true,
                _ => false,
            });
            if alike.count() < MAX_STATIC && list.iter().all(|known| known.args != seen.args) {
                list.push(seen.clone());
            }
        }
        for (serial, length) in parts {
            if let Some(object) = self.objects.get_mut(&serial) {
                object.history.truncate(length);
                if object.history.len() < MAX_HISTORY {
                    object.history.push(seen.clone());
                }
            }
        }
    }

    /// What was seen; calls that are still going on are not in it.
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
        let given = self.objects.iter().filter_map(|(serial, object)| {
            let (_, given) = object.given.as_ref()?;
            Some((*serial, given.clone()))
        });
        let given = given.collect();
        let histories = self.objects.into_iter();
        Recorded {
            given,
            objects: objects
                .into_iter()
                .map(|(_, serial, class)| (serial, class))
                .collect(),
            histories: histories
                .map(|(serial, object)| (serial, object.history))
                .collect(),
            derived,
            of_jdk,
            statics: self.statics.into_values().flatten().collect(),
        }
    }
}

/// The program's own beginning is no part of what it offers.
pub fn is_main(method: &Method) -> bool {
    method.is_static && method.name == "main" && method.descriptor == "([Ljava/lang/String;)V"
}

/// Calls `each` for the objects in a value.
fn objects(value: &Value, each: &mut impl FnMut(u64)) {
    match value {
        Value::Object(serial) => each(*serial),
        Value::Array(_, _, elements) => elements.iter().for_each(|one| objects(one, each)),
        Value::Literal(_) | Value::Unknown => {}
    }
}

impl Seen {
    /// Whether it ran within one of these calls, which are by when they began.
    fn is_within(&self, others: &BTreeMap<u64, Rc<Seen>>) -> bool {
        let mut before = others.range(..self.entered).rev();
        let before =
            before.find(|(_, other)| other.thread == self.thread && !other.method.is_constant());
        !self.method.is_constant() && before.is_some_and(|(_, other)| other.left >= self.left)
    }

    /// Whether it may have changed any of these objects.
    fn changes(&self, objects: &HashMap<u64, usize>, mutability: Option<&Mutability>) -> bool {
        let name = MethodName {
            class: &self.method.class,
            name: &self.method.name,
            descriptor: &self.method.descriptor,
            is_static: self.method.is_static,
        };
        let changes = |position: i16| {
            mutability.is_none_or(|mutability| !mutability.is_immutable(&name, position))
        };
        let on = self.on.is_some_and(|on| objects.contains_key(&on));
        let mut args = (1..).zip(&self.args);
        on && changes(0)
            || args.any(|(position, arg)| {
                let mut is_passed = false;
                self::objects(arg, &mut |serial| {
                    is_passed |= objects.contains_key(&serial)
                });
                is_passed && changes(position)
            })
    }

    /// The call, and what of it no test can make, if that is an argument.
    fn lacking(&self, objects: &HashMap<u64, usize>) -> Option<String> {
        let (types, _) = self.method.types();
        let missing = self.args.iter().zip(&types);
        let missing = missing.filter(|(arg, _)| argument(arg, objects).is_none());
        let names = missing.map(|(_, ty)| short_type(&descriptor::type_name(ty)));
        let names: Vec<String> = names.collect();
        let class = simple_name(&self.method.class);
        let call = match self.method.is_constructor() {
            true => format!("new {class}"),
            false => format!("{class}.{}", self.method.name),
        };
        (!names.is_empty()).then(|| format!("{call} ({})", names.join(", ")))
    }

    /// The objects that it needs.
    fn operands(&self, each: &mut impl FnMut(u64)) {
        self.on.iter().for_each(|on| each(*on));
        self.args.iter().for_each(|arg| objects(arg, each));
    }
}

/// What was seen of a run.
pub struct Recorded {
    /// Objects with calls in the order in which they were first seen, with their
    /// classes.
    pub objects: Vec<(u64, String)>,
    histories: FxHashMap<u64, Vec<Rc<Seen>>>,
    /// Calls that returned objects which others had made.
    given: FxHashMap<u64, Rc<Seen>>,
    /// Objects that were made by calls that others took part in.
    derived: FxHashMap<u64, Vec<u64>>,
    /// Classes of objects that are the JDK's.
    of_jdk: FxHashMap<u64, Rc<str>>,
    /// Calls of static methods in which no object of the program took part.
    pub statics: Vec<Rc<Seen>>,
}

/// A sequence that was cut out.
#[derive(Debug, Clone)]
pub struct Carved {
    /// The calls.
    pub sequence: Sequence,
    /// What was seen of each.
    pub seen: Vec<Rc<Seen>>,
    /// Which of them are the object's own.
    pub own: Vec<bool>,
    /// Whether calls of its own are left out, since what was passed cannot be made, or something else is
    /// passed.
    pub lacks: bool,
    /// Where in the sequence something is left out, or another thing passed, that may have changed what is
    /// in it: what follows need not be as it was.
    pub gaps: Vec<usize>,
    /// The object's own calls that it lacks, with the types of what cannot be made.
    pub omitted: Vec<String>,
}

/// What sequences are cut out with.
pub struct Means<'a> {
    /// How objects of the JDK are made.
    pub ways: Ways,
    /// Which methods change nothing, if that is known.
    pub mutability: Option<&'a Mutability>,
}

impl Recorded {
    /// The shape of an object's life: its calls without their arguments, and what they threw.
    pub fn shape(&self, serial: u64) -> Vec<(Method, Option<String>)> {
        let history = self.histories.get(&serial);
        let calls = history.into_iter().flatten();
        let threw = |seen: &Seen| match &seen.end {
            End::Threw(class) => Some(class.clone()),
            End::Returned(_) => None,
        };
        calls
            .map(|seen| (seen.method.clone(), threw(seen)))
            .collect()
    }

    /// The calls of an object and what they need. Where what was passed cannot be made, as a
    /// lambda, the object's life ends, or goes on `without` that call; an object of the JDK then
    /// has another one in its place.
    pub fn slice(
        &self,
        object: u64,
        (reach, without): (Reach, bool),
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        let own: Vec<Rc<Seen>> = self.histories.get(&object)?.clone();
        if own.first()?.made != Some(object) {
            return None;
        }
        self.cut(own, (reach, without), means, methods)
    }

    /// The calls of an object from where another one has returned it: of one whose own beginning is within
    /// what a test cannot take apart.
    pub fn slice_given(
        &self,
        object: u64,
        (reach, without): (Reach, bool),
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        let given = self.given.get(&object)?;
        let later = self.histories.get(&object)?.iter();
        let later = later.filter(|seen| seen.entered > given.left);
        let own = [given].into_iter().chain(later).cloned().collect();
        self.cut(own, (reach, without), means, methods)
    }

    /// A call of a static method; `without` is as for the life of an object.
    pub fn call(
        &self,
        seen: &Rc<Seen>,
        without: bool,
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        self.cut(vec![seen.clone()], (Reach::Needed, without), means, methods)
    }

    fn cut(
        &self,
        own: Vec<Rc<Seen>>,
        (reach, without): (Reach, bool),
        means: &Means<'_>,
        methods: &mut Methods,
    ) -> Option<Carved> {
        let wide = reach != Reach::Needed;
        let last = own.last()?.entered;
        let mut chosen: BTreeMap<u64, Rc<Seen>> = BTreeMap::new();
        let mut followed: BTreeSet<u64> = BTreeSet::new();
        // Those that last longest are looked at first: what runs within them need not be looked at.
        let ranked = |seen: &Rc<Seen>| {
            let key = (Reverse(seen.left - seen.entered), seen.entered);
            (key, seen.clone())
        };
        let mut pending: BTreeMap<(Reverse<u64>, u64), Rc<Seen>> = own.iter().map(ranked).collect();
        while let Some((_, seen)) = pending.pop_first() {
            if chosen.len() > 4 * MAX_CALLS
                || chosen.contains_key(&seen.entered)
                || wide && seen.is_within(&chosen)
            {
                continue;
            }
            chosen.insert(seen.entered, seen.clone());
            let mut follow = Vec::new();
            let until = if wide { last } else { seen.entered };
            seen.operands(&mut |operand| follow.push((operand, until)));
            if wide {
                seen.operands(&mut |operand| {
                    let derived = self.derived.get(&operand).into_iter().flatten();
                    follow.extend(derived.map(|serial| (*serial, last)));
                });
            }
            if reach == Reach::Returned
                && let End::Returned(Some(value)) = &seen.end
            {
                objects(value, &mut |serial| follow.push((serial, last)));
            }
            for (serial, until) in follow {
                let calls = self.histories.get(&serial).into_iter().flatten();
                let calls = calls.filter(|call| call.entered < until);
                if followed.insert(serial) || !wide {
                    pending.extend(calls.map(ranked));
                }
            }
        }
        // What runs within a call that is there runs with it.
        let mut ends: HashMap<u64, u64> = HashMap::new();
        let mut calls = Vec::new();
        for seen in chosen.into_values() {
            let end = ends.entry(seen.thread).or_default();
            if seen.method.is_constant() {
                // It can be read at any time.
                calls.push(seen);
            } else if seen.entered > *end {
                *end = seen.left;
                calls.push(seen);
            }
        }
        self.convert(&calls, &own, (means, without), methods)
    }

    fn convert(
        &self,
        calls: &[Rc<Seen>],
        own: &[Rc<Seen>],
        (means, without): (&Means<'_>, bool),
        methods: &mut Methods,
    ) -> Option<Carved> {
        let is_own = |seen: &Rc<Seen>| own.iter().any(|other| Rc::ptr_eq(seen, other));
        let mut vars: HashMap<u64, usize> = HashMap::new();
        let mut carved = Carved {
            sequence: Vec::new(),
            seen: Vec::new(),
            own: Vec::new(),
            lacks: false,
            gaps: Vec::new(),
            omitted: Vec::new(),
        };
        for seen in calls {
            let mine = is_own(seen);
            if without {
                self.stand_ins(seen, &means.ways, &mut vars, &mut carved, methods);
            }
            let place = carved.sequence.len();
            let on = match seen.on {
                Some(on) => vars.get(&on).copied().map(Some),
                None => Some(None),
            };
            let args: Option<Vec<Arg>> = seen.args.iter().map(|arg| argument(arg, &vars)).collect();
            let (Some(on), Some(args)) = (on, args) else {
                if mine {
                    carved.omitted.extend(seen.lacking(&vars));
                }
                // What others have done can be left out.
                if mine && (!without || !carved.own.contains(&true)) {
                    break;
                }
                if seen.changes(&vars, means.mutability) {
                    carved.lacks |= mine;
                    carved.gaps.push(place);
                }
                continue;
            };
            if place == MAX_CALLS {
                break;
            }
            if let End::Returned(Some(Value::Object(serial) | Value::Array(serial, ..))) = &seen.end
            {
                vars.entry(*serial).or_insert(place);
            }
            if let Some(made) = seen.made {
                vars.entry(made).or_insert(place);
            }
            carved.sequence.push(Statement {
                method: methods.intern(seen.method.clone()),
                on,
                args,
                may_throw: matches!(seen.end, End::Threw(_)),
                shown: false,
            });
            carved.seen.push(seen.clone());
            carved.own.push(mine);
        }
        carved.own.contains(&true).then_some(carved)
    }

    /// Objects of the JDK that a call wants and nothing has made are made anew; what was in them nobody
    /// knows.
    fn stand_ins(
        &self,
        seen: &Seen,
        ways: &Ways,
        vars: &mut HashMap<u64, usize>,
        carved: &mut Carved,
        methods: &mut Methods,
    ) {
        let (types, _) = seen.method.types();
        for (arg, ty) in seen.args.iter().zip(&types) {
            let Value::Object(serial) = arg else { continue };
            let Some(class) = self.of_jdk.get(serial) else {
                continue;
            };
            if vars.contains_key(serial) {
                continue;
            }
            let declared = descriptor::class_name(ty).unwrap_or_default();
            let mut known = ways.of(class).iter().chain(ways.of(&declared));
            let plain = known.find(|way| methods.get(way.make).types().0.is_empty());
            let Some(way) = plain else { continue };
            vars.insert(*serial, carved.sequence.len());
            carved.lacks = true;
            carved.gaps.push(carved.sequence.len());
            carved.sequence.push(Statement {
                method: way.make,
                on: None,
                args: Vec::new(),
                may_throw: false,
                shown: false,
            });
            carved.seen.push(Rc::new(Seen {
                method: methods.get(way.make).clone(),
                on: None,
                args: Vec::new(),
                made: Some(*serial),
                end: End::Returned(Some(Value::Object(*serial))),
                thread: seen.thread,
                entered: seen.entered,
                left: seen.entered,
            }));
            carved.own.push(false);
        }
    }
}

fn argument(value: &Value, vars: &HashMap<u64, usize>) -> Option<Arg> {
    Some(match value {
        Value::Literal(literal) => Arg::Literal(literal.clone()),
        Value::Object(serial) => Arg::Var(*vars.get(serial)?),
        Value::Array(serial, element, elements) => match vars.get(serial) {
            Some(var) => Arg::Var(*var),
            None => {
                let elements: Option<Vec<Arg>> =
                    elements.iter().map(|one| argument(one, vars)).collect();
                Arg::Array(element.clone(), elements?)
            }
        },
        Value::Unknown => return None,
    })
}
