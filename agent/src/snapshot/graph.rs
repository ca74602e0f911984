//! The breadth-first walk.
//!
//! - [`before`] puts in what objects were before, if writes can be undone.
//! - [`beside`] finds secrets by what stands beside a place, such as the key of an entry.
//! - [`elements`] reads the elements of arrays.
//! - [`hiding`] makes holes of texts in secret places.
//! - [`inside`] finds the secrets in objects that an option forbids to store.
//! - [`scrub`] makes holes at the end, when all secrets are known.

mod before;
mod beside;
mod elements;
mod hiding;
mod inside;
mod scrub;

pub(crate) use self::before::Kept;
use self::beside::Named;
use crate::jni::{Jni, Obj, primitive_size};
use crate::jvmti::Jvmti;
use crate::marks::Marks;
use crate::masks;
use crate::methods::Methods;
use crate::options::Options;
use crate::shim::ThrowableIds;
use crate::snapshot::classes::{self, BLANK, Class, Number, REDACTED, Storage};
use crate::snapshot::secrets::{Secrets, length_class};
use crate::snapshot::standing;
use crate::snapshot::{collections, primitive};
use crate::undo::rollback::{Targets, Undo};
use hindsight_tracelog::crash::{Body, Constant, Object, Text, Value};
use hindsight_tracelog::writer::MAX_OBJECT;
use std::collections::{HashMap, HashSet, VecDeque};

/// The number of an untagged object.
const NO_OBJECT: u32 = u32::MAX;

/// A graph under construction.
pub(crate) struct Graph<'a> {
    pub(crate) jni: Jni,
    /// An environment of this snapshot's own: tags are object and class numbers.
    jvmti: Jvmti,
    options: &'a Options,
    methods: &'a Methods,
    throwable: &'a ThrowableIds,
    /// The number of stack traces that were asked for.
    traces: usize,
    pub(crate) classes: Vec<Class>,
    pub(crate) objects: Vec<Object>,
    queue: VecDeque<(Obj, u32, u32)>,
    /// The writes, if they are to be undone.
    undo: Option<Undo<'a>>,
    targets: Option<Targets>,
    /// The objects with numbers that were written to: the index of each, and its number.
    written: Vec<(usize, u32)>,
    /// The most objects that there may be.
    limit: usize,
    /// The bytes of content so far, counted against `max-bytes`.
    bytes: usize,
    /// Shared holes, one for each class and reason.
    holes: HashMap<(u32, &'static str), u32>,
    /// The thread that has failed.
    thread: Option<Obj>,
    /// Objects of which each JVM has its own, by the expressions that return them.
    pub(crate) standing: Vec<Constant>,
    /// Containers in a place whose name makes their text secret.
    secret: HashSet<u32>,
    /// Other objects in such a place: a text directly in them is secret, and so is an object there
    /// that wraps a text.
    holders: HashSet<u32>,
    /// Texts that were found in such a place.
    redacted: HashSet<u32>,
    /// Texts that are still to be read and were found in such a place.
    hidden: HashSet<u32>,
    /// Texts that are directly in an object in such a place, with these objects.
    in_holders: HashMap<u32, Vec<u32>>,
    /// Boxes and words whose secret places have holes, with the reasons: they may be in other
    /// places as well.
    displaced: HashMap<u32, &'static str>,
    /// By place of an object: what the values beside it, now or before, say about its content, now
    /// or before.
    beside: HashMap<u32, HashMap<usize, Named>>,
    /// Arrays of values, by those with their keys.
    held: HashMap<u32, u32>,
    /// Earlier values of places of objects, which were not known to be secret then.
    old: HashMap<u32, Vec<(usize, u32)>>,
    /// Fields as they were at the entry of frames.
    kept: Vec<Kept>,
    /// The same by the objects that have them, which are not read yet.
    kept_of: HashMap<u32, Vec<usize>>,
    secrets: Secrets,
    /// Arrays in which keys and values alternate.
    pairs: HashSet<u32>,
    /// Those of them that have had a key which names a secret.
    secret_pairs: HashSet<u32>,
    /// Arrays that are the elements of a collection.
    collected: HashSet<u32>,
    /// The number of objects that were searched and are not stored.
    looked_into: usize,
}

/// The most exceptions whose stack traces are filled in, and how deep these may be.
const MAX_TRACES: usize = 32;
const MAX_TRACE_DEPTH: i32 = 200;

/// The reason why objects beyond a limit are holes.
const MAX_OBJECTS: &str = "beyond max-objects";
const MAX_BYTES: &str = "beyond max-bytes";

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        self.jvmti.dispose();
    }
}

impl<'a> Graph<'a> {
    /// Begins a graph. `jvmti` is disposed of with it. `thread` is the one that has failed, if
    /// there is one.
    pub(crate) fn new(
        jni: Jni,
        jvmti: Jvmti,
        options: &'a Options,
        methods: &'a Methods,
        throwable: &'a ThrowableIds,
        thread: Option<Obj>,
    ) -> Graph<'a> {
        Graph {
            jni,
            jvmti,
            options,
            methods,
            throwable,
            traces: 0,
            classes: Vec::new(),
            objects: Vec::new(),
            queue: VecDeque::new(),
            undo: None,
            targets: None,
            written: Vec::new(),
            limit: options.max_objects,
            bytes: 0,
            holes: HashMap::new(),
            thread,
            standing: Vec::new(),
            secret: HashSet::new(),
            holders: HashSet::new(),
            redacted: HashSet::new(),
            hidden: HashSet::new(),
            in_holders: HashMap::new(),
            displaced: HashMap::new(),
            beside: HashMap::new(),
            held: HashMap::new(),
            old: HashMap::new(),
            kept: Vec::new(),
            kept_of: HashMap::new(),
            secrets: Secrets::default(),
            pairs: HashSet::new(),
            secret_pairs: HashSet::new(),
            collected: HashSet::new(),
            looked_into: 0,
        }
    }

    /// The value for a reference: its number is assigned now, its content is read by
    /// [`Graph::walk`]. Takes over the local reference.
    pub(crate) fn reference(&mut self, object: Option<Obj>) -> Value {
        self.number(object, false)
    }

    /// Like [`Graph::reference`], for a place whose name makes its text secret.
    pub(crate) fn secret_reference(&mut self, object: Option<Obj>) -> Value {
        self.number(object, true)
    }

    fn number(&mut self, object: Option<Obj>, secret: bool) -> Value {
        let Some(object) = object else {
            return Value::Null;
        };
        let tag = self.jvmti.tag(object);
        let (known, _) = unpack(tag);
        let secret = secret || known == NO_OBJECT && tag & INSIDE != 0;
        if known != NO_OBJECT && !secret {
            self.jni.delete_local(object);
            return Value::Ref(known);
        }
        let class = self.class_of(object);
        if secret && self.classes[class as usize].number == Number::Box {
            self.jni.delete_local(object);
            return Value::Ref(self.shared_hole(class, REDACTED));
        }
        let secret = secret && !self.is_empty(object, class);
        if secret && self.is_worth_hiding(class) {
            let number = self.redact(object, known, class);
            self.jni.delete_local(object);
            return Value::Ref(number);
        }
        if known != NO_OBJECT {
            self.jni.delete_local(object);
            self.hide(known);
            return Value::Ref(known);
        }
        if self.objects.len() >= self.limit {
            self.look_inside(object, class);
            self.jni.delete_local(object);
            return Value::Ref(self.shared_hole(class, MAX_OBJECTS));
        }
        let number = self.push(class, Body::Hole(String::new()));
        if secret {
            self.hide(number);
        }
        // A class mirror may be tagged already, as the class of some object.
        let (_, as_class) = unpack(self.jvmti.tag(object));
        self.jvmti.set_tag(object, pack(number, as_class));
        if let Some(target) = self.targets.and_then(|targets| targets.find(object)) {
            self.written.push((target, number));
        }
        self.queue.push_back((object, number, class));
        Value::Ref(number)
    }

    fn push(&mut self, class: u32, body: Body) -> u32 {
        self.objects.push(Object { class, body });
        (self.objects.len() - 1) as u32
    }

    fn shared_hole(&mut self, class: u32, reason: &'static str) -> u32 {
        if let Some(&hole) = self.holes.get(&(class, reason)) {
            return hole;
        }
        let hole = self.push(class, Body::Hole(reason.to_owned()));
        self.holes.insert((class, reason), hole);
        hole
    }

    /// The number of an object that is in the graph. The reference stays the caller's.
    pub(crate) fn number_of(&self, object: Obj) -> Option<u32> {
        let (known, _) = unpack(self.jvmti.tag(object));
        (known != NO_OBJECT).then_some(known)
    }

    /// What is annotated as secret in classes.
    pub(crate) fn marks(&self) -> &'a Marks {
        &self.methods.marks
    }

    /// Whether objects of a class are text, or numbers that are treated like text.
    fn is_worth_hiding(&self, class: u32) -> bool {
        self.is_text(class) || self.classes[class as usize].number == Number::Own
    }

    fn is_text(&self, class: u32) -> bool {
        matches!(
            self.classes[class as usize].storage,
            Storage::String | Storage::Primitives(b'C' | b'B')
        )
    }

    /// The number of an object's class.
    fn class_of(&mut self, object: Obj) -> u32 {
        let class = self.jni.class_of(object);
        let (as_object, known) = unpack(self.jvmti.tag(class));
        if known != NO_OBJECT {
            self.jni.delete_local(class);
            return known;
        }
        let id = self.classes.len() as u32;
        let options = self.options;
        let read = self
            .jni
            .with_frame(|jni| classes::read(jni, self.jvmti, self.methods, options, class, id));
        self.classes.push(read.unwrap_or_else(|| Class {
            info: hindsight_tracelog::crash::ClassInfo {
                id,
                name: "?".to_owned(),
                ..Default::default()
            },
            storage: Storage::Hole("its class could not be read"),
            fields: Vec::new(),
            secrets: Vec::new(),
            number: Number::Not,
            entries: Vec::new(),
            parallel: None,
            said: Vec::new(),
            pairs: None,
            contains: false,
            wraps_text: false,
            unseen: false,
            is_throwable: false,
            may_stand: false,
            is_asked_for: false,
        }));
        self.jvmti.set_tag(class, pack(as_object, id));
        self.jni.delete_local(class);
        id
    }

    /// Limits what comes now to this many further objects, if `max-objects` allows as many.
    pub(crate) fn at_most(&mut self, more: usize) {
        self.limit = self.limit.min(self.objects.len().saturating_add(more));
    }

    /// Reads all that is reachable, or was before writes that may be undone, as far as the limits
    /// allow. Returns what it was given to undo writes.
    pub(crate) fn walk(&mut self) -> Option<Undo<'a>> {
        loop {
            while let Some((object, number, class)) = self.queue.pop_front() {
                // It may have been found in a secret place meanwhile.
                let holders = self.in_holders.remove(&number).unwrap_or_default();
                let is_hidden = self.hidden.contains(&number)
                    || !holders.is_empty() && !self.is_word(object, class);
                if is_hidden && !self.is_empty(object, class) {
                    self.redact(object, number, class);
                } else if !self.redacted.contains(&number) {
                    let body = self.read(object, number, class);
                    self.objects[number as usize].body = body;
                    self.place_kept(number);
                    for holder in holders {
                        self.hide_text_in(holder, number);
                    }
                }
                self.jni.delete_local(object);
            }
            // Present values come first, if there is not room for all.
            let mut undo = self.undo.take()?;
            let Some((target, number)) = self.written.pop() else {
                // They are dropped once the result has been used.
                self.targets = None;
                return Some(undo);
            };
            undo.number(target, number, self);
            self.undo = Some(undo);
        }
    }

    /// The bytes left in the budget.
    fn bytes_left(&self) -> usize {
        self.options.max_bytes.saturating_sub(self.bytes)
    }

    /// Takes the `bytes` of an object from the budget. Returns whether they were available, and a
    /// file can have an object of that size.
    fn afford(&mut self, bytes: usize) -> bool {
        let total = self.bytes.saturating_add(bytes);
        if total > self.options.max_bytes || bytes > MAX_OBJECT {
            return false;
        }
        self.bytes = total;
        true
    }

    fn read(&mut self, object: Obj, number: u32, class: u32) -> Body {
        let jni = self.jni;
        if let Some(hole) = self.standing(object, number, class) {
            return hole;
        }
        self.look_inside(object, class);
        match &self.classes[class as usize].storage {
            Storage::Hole(reason) => Body::Hole((*reason).to_owned()),
            Storage::String => {
                let len = jni.string_len(object);
                if !self.afford(len * 2 + 8) {
                    return Body::Hole(MAX_BYTES.to_owned());
                }
                let units = jni.string_units(object, len);
                match self.lets_in(&units) {
                    true => Body::Hole(length_class(len).to_owned()),
                    false => Body::String(Text::from_utf16(&units)),
                }
            }
            Storage::Class => {
                // For a class mirror, the signature is that of the class it stands for.
                let signature = self.jvmti.class_signature(object).unwrap_or_default();
                Body::Class(classes::binary_name(&signature))
            }
            Storage::Enum(field) => match jni.get_object(object, *field) {
                Some(name) => {
                    let text = jni.string(name);
                    jni.delete_local(name);
                    if masks::names_secret(&text, &|name| self.options.is_secret(name)) {
                        self.holders.insert(number);
                    }
                    Body::Enum {
                        name: text,
                        fields: self.fields(object, number, class).unwrap_or_default(),
                    }
                }
                None => Body::Hole("enum constant under construction".to_owned()),
            },
            Storage::Primitives(letter) => {
                let letter = *letter;
                let len = jni.array_len(object);
                let size = len.saturating_mul(primitive_size(letter).unwrap_or(8));
                if !self.afford(size + 8) {
                    return Body::Hole(MAX_BYTES.to_owned());
                }
                let elements = jni.primitives(object, letter, len);
                match self.array_lets_in(letter, &elements) {
                    true => Body::Hole(length_class(len).to_owned()),
                    false => Body::Primitives(elements),
                }
            }
            Storage::References => match self.elements(object, number, class) {
                Some(values) => Body::References(values),
                None => Body::Hole(MAX_BYTES.to_owned()),
            },
            Storage::Instance => match self.fields(object, number, class) {
                Some(values) => Body::Instance(values),
                None => Body::Hole(MAX_BYTES.to_owned()),
            },
            Storage::Lambda(lambda) => {
                let mut lambda = lambda.clone();
                let Some(values) = self.fields(object, number, class) else {
                    return Body::Hole(MAX_BYTES.to_owned());
                };
                let fields = &self.classes[class as usize].info.fields;
                lambda.captured = fields
                    .iter()
                    .zip(values)
                    .map(|(field, value)| (field.descriptor.clone(), value))
                    .collect();
                Body::Lambda(lambda)
            }
        }
    }

    /// The hole for an object of which each JVM has its own.
    fn standing(&mut self, object: Obj, number: u32, class: u32) -> Option<Body> {
        let class = &self.classes[class as usize];
        if !class.may_stand {
            return None;
        }
        let name = &class.info.name;
        let (owner, name) = standing::expression(self.jni, self.jvmti, self.thread, object, name)?;
        let constant = Constant {
            object: number,
            owner: owner.to_owned(),
            name,
        };
        let hole = Body::Hole(constant.code());
        self.standing.push(constant);
        Some(hole)
    }

    /// Makes an exception fill in its stack trace, which is in the JVM's own form until it is asked
    /// for: a program that crashes may have been about to ask. `Throwable`'s own method does that,
    /// whatever a subclass overrides.
    fn trace(&mut self, exception: Obj) {
        let ids = self.throwable;
        let deep = ids
            .depth
            .is_some_and(|depth| self.jni.get_int(exception, depth) > MAX_TRACE_DEPTH);
        if self.traces == MAX_TRACES || deep {
            return;
        }
        self.traces += 1;
        if let Some(trace) = self
            .jni
            .call_exact(exception, *ids.class, ids.get_stack_trace)
        {
            self.jni.delete_local(trace);
        }
    }

    fn fields(&mut self, object: Obj, number: u32, class: u32) -> Option<Vec<Value>> {
        let count = self.classes[class as usize].fields.len();
        if !self.afford(count * size_of::<Value>() + 8) {
            return None;
        }
        let jni = self.jni;
        if self.classes[class as usize].is_throwable {
            self.trace(object);
        }
        let all = self.secret.contains(&number);
        let Class {
            pairs, contains, ..
        } = self.classes[class as usize];
        self.look_at_keys(object, number, class);
        let name = &self.classes[class as usize].info.name;
        let is_list = elements::is_list(name);
        // A map of another library may have keys and values alternating there.
        let collects = contains && collections::is_of_collections(name);
        let mut before = Named::Plain;
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let (field, letter) = self.classes[class as usize].fields[index];
            let secret = self.classes[class as usize].secrets.contains(&index);
            values.push(match letter {
                b'L' | b'[' => {
                    let value = jni.get_object(object, field);
                    let mut next = Named::Plain;
                    let beside = self.beside(number, index);
                    let secret = secret
                        || all
                        || self.is_secret_by(beside, value)
                        || letter == b'L' && self.is_login(class, index, value)
                        || is_list
                            && (self.is_secret_by(before, value)
                                || self.is_secret_argument(&mut next, value, true));
                    let value = self.value_in(number, value, secret);
                    before = next;
                    if collects && let (b'[', Value::Ref(array)) = (letter, value) {
                        self.collected.insert(array);
                    }
                    if let (true, Value::Ref(table)) = (pairs == Some(index), value) {
                        self.pairs.insert(table);
                    }
                    value
                }
                _ if secret => Value::Null,
                BLANK => Value::Null,
                _ => primitive(
                    letter,
                    || jni.get_integral(object, field, letter),
                    || jni.get_float(object, field),
                    || jni.get_double(object, field),
                ),
            });
        }
        self.look_at_array_of_keys(object, class, &values);
        Some(values)
    }
}

/// Elements of primitive type as 64 bits each: signed, or raw bits.
fn words(letter: u8, bytes: &[u8]) -> Vec<i64> {
    let size = primitive_size(letter).unwrap_or(1);
    bytes
        .chunks_exact(size)
        .map(|bytes| word(letter, bytes))
        .collect()
}

/// One element, likewise.
fn word(letter: u8, bytes: &[u8]) -> i64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = i64::from_le_bytes(wide);
    match letter {
        b'B' => i64::from(bits as i8),
        b'S' => i64::from(bits as i16),
        b'I' => i64::from(bits as i32),
        _ => bits,
    }
}

/// A flag of a tag: the object is in one that an option forbids to store, and is a secret wherever
/// else it is met.
const INSIDE: i64 = 1 << 31;

/// Packs both numbers that an object can have: as an object, and as a class mirror. As 0 is JVMTI's
/// "no tag", numbers are stored plus one.
fn pack(object: u32, class: u32) -> i64 {
    ((u64::from(class.wrapping_add(1)) << 32) | u64::from(object.wrapping_add(1))) as i64
}

fn unpack(tag: i64) -> (u32, u32) {
    let tag = (tag & !INSIDE) as u64;
    (
        (tag as u32).wrapping_sub(1),
        ((tag >> 32) as u32).wrapping_sub(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_hold_two_numbers() {
        assert_eq!(unpack(0), (NO_OBJECT, NO_OBJECT));
        for (object, class) in [
            (0, NO_OBJECT),
            (NO_OBJECT, 0),
            (7, 9),
            ((1 << 31) - 2, u32::MAX - 1),
        ] {
            assert_eq!(unpack(pack(object, class)), (object, class));
            assert_eq!(unpack(pack(object, class) | INSIDE), (object, class));
        }
    }
}
