//! Reduces a crash file to what chosen frames need.
//!
//! What is kept is the objects that the chosen frames' arguments lead to, as they were at the entry
//! of these frames, the classes of these objects, and what decides whether a test ends as the
//! program did: the exception with its causes, and the frames that it passed through. All else is
//! removed: what these objects held only at the failure, other frames' arguments, the command line
//! (except the bounds of memory of a crash that ran out of it), static fields and system properties
//! (unless a test sets them), counters, names of threads, the exception's own object.
//!
//! **Invariant:** what is kept means the same. Frames keep their numbers; objects and classes get
//! new ones.

use crate::graph::{Graph, Typed, primitive_size};
use crate::junit::memory;
use crate::junit::origins::Names;
use hindsight_tracelog::crash::{
    Body, ClassInfo, Defaults, Failure, Fidelity, FieldInfo, Frame, Lock, Meta, Object, Value,
};
use hindsight_tracelog::reader::Crash;
use std::collections::{HashMap, HashSet};

/// The reason why a frame has no arguments any more.
pub const LEFT_OUT: &str = "left out by hindsight trim";

/// The state that tests set before they call their methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sets {
    /// The default locale and time zone.
    pub defaults: bool,
    /// System properties.
    pub properties: bool,
    /// The static fields, and those of enum constants.
    pub statics: bool,
}

/// Reduces a complete crash to what the chosen frames need.
pub fn trim(crash: &Crash, frames: &[usize], sets: Sets) -> Crash {
    let seen: Vec<Vec<bool>> = (frames.iter())
        .map(|&index| seen(crash, index, sets.statics))
        .collect();
    let kept = numbers_of(&seen);
    let cut = Cut {
        crash,
        frames,
        sets,
        seen,
        numbers: (kept.iter().copied()).zip(0..).collect(),
    };
    let mut trimmed = Crash {
        meta: cut.meta(),
        failure: cut.failure(),
        unrestored: crash.unrestored.clone(),
        ..Crash::default()
    };
    cut.objects(&kept, &mut trimmed);
    if let Some(classes) = &mut trimmed.unrestored {
        classes.retain(|class| trimmed.classes.iter().any(|info| info.name == *class));
    }
    // These are the names in the rest, including frames and static fields.
    let named = Names::of_all(&trimmed).questions();
    let origins = crash.origins.iter();
    let origins = origins.filter(|origin| named.contains_key(&origin.name));
    trimmed.origins = origins.cloned().collect();
    trimmed
}

/// What is kept of a crash.
struct Cut<'c> {
    crash: &'c Crash,
    frames: &'c [usize],
    sets: Sets,
    /// For each of the frames, the objects that it needs.
    seen: Vec<Vec<bool>>,
    /// The new number of each object that is kept.
    numbers: HashMap<u32, u32>,
}

impl Cut<'_> {
    fn moved(&self, value: Value) -> Value {
        match value {
            // No chosen frame leads there.
            Value::Ref(object) => self.number(object).map_or(Value::Null, Value::Ref),
            other => other,
        }
    }

    fn number(&self, object: u32) -> Option<u32> {
        self.numbers.get(&object).copied()
    }

    fn meta(&self) -> Meta {
        let mut meta = self.crash.meta.clone();
        // The bounds of memory are part of a failure that ran out of it.
        meta.command = memory::bounds(self.crash).join(" ");
        meta.counters.clear();
        // Names of threads can contain requests.
        meta.thread.clear();
        if !self.sets.defaults {
            meta.defaults = Defaults::default();
        }
        if !self.sets.properties {
            meta.properties.clear();
        }
        meta
    }

    /// Adds the objects, in this order, and their classes.
    fn objects(&self, kept: &[u32], trimmed: &mut Crash) {
        let crash = self.crash;
        let stale = stale(crash, self.frames, &self.seen);
        let mut classes: HashMap<u32, u32> = HashMap::new();
        for &number in kept {
            let Some(object) = crash.object(number) else {
                continue;
            };
            let class = *classes.entry(object.class).or_insert_with(|| {
                let id = trimmed.classes.len() as u32;
                let info = crash.class(object.class).cloned().unwrap_or_default();
                trimmed.classes.push(ClassInfo { id, ..info });
                id
            });
            let mut body = object.body.clone();
            for place in stale.get(&number).into_iter().flatten() {
                clear(&mut body, &trimmed.classes[class as usize], place);
            }
            match &mut body {
                Body::Enum { fields, .. } if !self.sets.statics => fields.clear(),
                Body::Instance(values)
                | Body::Enum { fields: values, .. }
                | Body::References(values) => {
                    values
                        .iter_mut()
                        .for_each(|value| *value = self.moved(*value));
                }
                Body::Lambda(lambda) => {
                    for (_, value) in &mut lambda.captured {
                        *value = self.moved(*value);
                    }
                }
                _ => {}
            }
            trimmed.objects.push(Some(Object { class, body }));
        }
    }

    fn failure(&self) -> Failure {
        let mut failure = self.crash.failure.clone();
        if !self.sets.statics {
            failure.statics.clear();
        }
        for field in &mut failure.statics {
            field.value = self.moved(field.value);
        }
        failure.constants.retain_mut(|constant| {
            let object = self.number(constant.object);
            object.is_some_and(|object| {
                constant.object = object;
                true
            })
        });
        for (index, frame) in failure.frames.iter_mut().enumerate() {
            match self.frames.iter().position(|&chosen| chosen == index) {
                Some(at) => self.frame(frame, at),
                None => leave_out(frame),
            }
        }
        let lock = |lock: &mut Lock| {
            lock.object = lock.object.and_then(|object| self.number(object));
        };
        for thread in &mut failure.threads {
            thread.name.clear();
            thread
                .wants
                .iter_mut()
                .chain(&mut thread.owns)
                .for_each(lock);
        }
        let told = told(self.crash, self.frames);
        for (index, info) in (0..).zip(&mut failure.exceptions) {
            info.object = info.object.and_then(|object| self.number(object));
            if !told.contains(&index) {
                info.message = None;
                info.stack.clear();
            }
        }
        failure
    }

    /// Reduces a chosen frame, which is `at` this place among them.
    fn frame(&self, frame: &mut Frame, at: usize) {
        for argument in &mut frame.arguments {
            argument.value = self.moved(argument.value);
        }
        frame.patch.retain(|patch| {
            let constant = matches!(
                self.crash.object(patch.object),
                Some(Object {
                    body: Body::Enum { .. },
                    ..
                })
            );
            is_in(&self.seen[at], patch.object) && (self.sets.statics || !constant)
        });
        for patch in &mut frame.patch {
            patch.object = self.numbers[&patch.object];
            patch.value = self.moved(patch.value);
        }
    }
}

/// Reduces a frame that is not chosen.
fn leave_out(frame: &mut Frame) {
    if frame.fidelity != Fidelity::None {
        frame.reason = LEFT_OUT.to_owned();
    }
    frame.fidelity = Fidelity::None;
    frame.descriptor.clear();
    frame.arguments.clear();
    frame.patch.clear();
}

/// The exceptions whose messages and stacks matter: the thrown one, those in which chosen frames
/// end, and their causes, which have to be the same when a test ends in them.
fn told(crash: &Crash, frames: &[usize]) -> HashSet<u32> {
    let failure = &crash.failure;
    let mut told = HashSet::from([0]);
    for &index in frames {
        let cause = |of: u32| failure.exceptions.get(of as usize)?.cause;
        // Causes may form a cycle.
        let mut seen = HashSet::new();
        let mut next = Some(failure.frames[index].exception);
        while let Some(of) = next.filter(|of| seen.insert(*of)) {
            next = cause(of);
        }
        told.extend(seen);
    }
    told
}

/// A field by its class, name and descriptor, or an element by its index.
type Place<'c> = (&'c str, &'c str, &'c str, Option<u32>);

/// The places of objects where no chosen frame has the value of the failure, because all frames
/// that lead to the object have another value there.
fn stale<'c>(
    crash: &'c Crash,
    frames: &[usize],
    seen: &[Vec<bool>],
) -> HashMap<u32, Vec<Place<'c>>> {
    let mut patched: HashMap<(u32, Place<'c>), usize> = HashMap::new();
    for (&index, seen) in frames.iter().zip(seen) {
        let patches = crash.failure.frames[index].patch.iter();
        let places: HashSet<(u32, Place<'c>)> = patches
            .filter(|patch| is_in(seen, patch.object))
            .map(|patch| {
                let place = (
                    &*patch.owner,
                    &*patch.field,
                    &*patch.descriptor,
                    patch.index,
                );
                (patch.object, place)
            })
            .collect();
        for place in places {
            *patched.entry(place).or_default() += 1;
        }
    }
    let mut stale: HashMap<u32, Vec<Place<'c>>> = HashMap::new();
    for ((object, place), times) in patched {
        if times == seen.iter().filter(|seen| is_in(seen, object)).count() {
            stale.entry(object).or_default().push(place);
        }
    }
    stale
}

/// Sets a place of an object to its default.
fn clear(body: &mut Body, class: &ClassInfo, place: &Place<'_>) {
    let &(owner, name, descriptor, index) = place;
    match (body, index) {
        (Body::Instance(values) | Body::Enum { fields: values, .. }, None) => {
            let is = |field: &FieldInfo| {
                (&*field.owner, &*field.name, &*field.descriptor) == (owner, name, descriptor)
            };
            let field = class.fields.iter().position(is);
            if let Some(value) = field.and_then(|field| values.get_mut(field)) {
                *value = Typed::zero(descriptor).value;
            }
        }
        (Body::References(values), Some(index)) => {
            if let Some(value) = values.get_mut(index as usize) {
                *value = Value::Null;
            }
        }
        (Body::Primitives(bytes), Some(index)) => {
            let kind = class.name.as_bytes().get(1).copied().unwrap_or_default();
            let size = primitive_size(kind).unwrap_or(1);
            if let Some(element) = bytes.chunks_exact_mut(size).nth(index as usize) {
                element.fill(0);
            }
        }
        _ => {}
    }
}

/// Whether an object is one of those seen.
fn is_in(seen: &[bool], object: u32) -> bool {
    seen.get(object as usize).is_some_and(|seen| *seen)
}

/// The objects that any of these have seen, in order.
fn numbers_of(seen: &[Vec<bool>]) -> Vec<u32> {
    let objects = seen.first().map_or(0, Vec::len);
    let numbers = 0..u32::try_from(objects).unwrap_or(u32::MAX);
    numbers
        .filter(|&number| seen.iter().any(|seen| is_in(seen, number)))
        .collect()
}

/// The objects to which the arguments of a frame lead, and also static fields and those of enum
/// constants if they are set.
fn seen(crash: &Crash, frame: usize, statics: bool) -> Vec<bool> {
    let frame = &crash.failure.frames[frame];
    let graph = Graph::at_entry(crash, frame);
    let mut seen = vec![false; crash.objects.len()];
    let arguments = frame.arguments.iter().map(|argument| argument.value);
    let mut waiting: Vec<Value> = arguments.collect();
    if statics {
        waiting.extend(crash.failure.statics.iter().map(|field| field.value));
    }
    while let Some(value) = waiting.pop() {
        let Value::Ref(object) = value else { continue };
        match seen.get_mut(object as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        match graph.body(object) {
            Some(Body::Enum { .. }) if !statics => {}
            Some(Body::Instance(_) | Body::Enum { .. }) => {
                let fields = graph.fields(object);
                waiting.extend(fields.iter().map(|field| field.value.value));
            }
            Some(Body::References(_)) => {
                let elements = graph.elements(object).into_iter().flatten();
                waiting.extend(elements.map(|element| element.value));
            }
            Some(Body::Lambda(lambda)) => {
                waiting.extend(lambda.captured.iter().map(|(_, value)| *value));
            }
            _ => {}
        }
    }
    seen
}

/// The numbers of the constants with mutable fields, of enums and others, to which a frame's
/// arguments or static fields lead.
pub fn constants(crash: &Crash, frame: usize) -> impl Iterator<Item = u32> {
    let held: HashSet<u32> = (crash.failure.constants.iter())
        .map(|constant| constant.object)
        .collect();
    let reached = numbers_of(&[seen(crash, frame, true)]).into_iter();
    reached.filter(move |number| {
        let object = crash.object(*number);
        object.is_some_and(|object| match &object.body {
            Body::Enum { fields, .. } => !fields.is_empty(),
            Body::Instance(fields) => !fields.is_empty() && held.contains(number),
            _ => false,
        })
    })
}

/// The numbers of the objects to which a frame's arguments lead, not counting those reached through
/// constants of enums.
pub fn of_arguments(crash: &Crash, frame: usize) -> Vec<u32> {
    numbers_of(&[seen(crash, frame, false)])
}

#[cfg(test)]
mod tests;
