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
    Body, ClassInfo, Defaults, Fidelity, FieldInfo, Lock, Object, Value,
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
    let stale = stale(crash, frames, &seen);
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    for (number, &object) in (0..).zip(&kept) {
        numbers.insert(object, number);
    }
    let moved = |value: Value| match value {
        // No chosen frame leads there.
        Value::Ref(object) => numbers.get(&object).map_or(Value::Null, |&n| Value::Ref(n)),
        other => other,
    };
    let mut trimmed = Crash {
        meta: crash.meta.clone(),
        failure: crash.failure.clone(),
        unrestored: crash.unrestored.clone(),
        ..Crash::default()
    };
    let meta = &mut trimmed.meta;
    // The bounds of memory are part of a failure that ran out of it.
    meta.command = memory::bounds(crash).join(" ");
    meta.counters.clear();
    // Names of threads can contain requests.
    meta.thread.clear();
    if !sets.defaults {
        meta.defaults = Defaults::default();
    }
    if !sets.properties {
        meta.properties.clear();
    }

    let mut classes: HashMap<u32, u32> = HashMap::new();
    for &number in &kept {
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
            Body::Enum { fields, .. } if !sets.statics => fields.clear(),
            Body::Instance(values)
            | Body::Enum { fields: values, .. }
            | Body::References(values) => {
                values.iter_mut().for_each(|value| *value = moved(*value));
            }
            Body::Lambda(lambda) => {
                for (_, value) in &mut lambda.captured {
                    *value = moved(*value);
                }
            }
            _ => {}
        }
        trimmed.objects.push(Some(Object { class, body }));
    }

    if let Some(classes) = &mut trimmed.unrestored {
        classes.retain(|class| trimmed.classes.iter().any(|info| info.name == *class));
    }
    let failure = &mut trimmed.failure;
    if !sets.statics {
        failure.statics.clear();
    }
    for field in &mut failure.statics {
        field.value = moved(field.value);
    }
    failure.constants.retain_mut(|constant| {
        let object = numbers.get(&constant.object);
        object.is_some_and(|&object| {
            constant.object = object;
            true
        })
    });
    for (index, frame) in failure.frames.iter_mut().enumerate() {
        let Some(at) = frames.iter().position(|&chosen| chosen == index) else {
            if frame.fidelity != Fidelity::None {
                frame.reason = LEFT_OUT.to_owned();
            }
            frame.fidelity = Fidelity::None;
            frame.descriptor.clear();
            frame.arguments.clear();
            frame.patch.clear();
            continue;
        };
        for argument in &mut frame.arguments {
            argument.value = moved(argument.value);
        }
        frame.patch.retain(|patch| {
            let constant = matches!(
                crash.object(patch.object),
                Some(Object {
                    body: Body::Enum { .. },
                    ..
                })
            );
            is_in(&seen[at], patch.object) && (sets.statics || !constant)
        });
        for patch in &mut frame.patch {
            patch.object = numbers[&patch.object];
            patch.value = moved(patch.value);
        }
    }
    let lock = |lock: &mut Lock| {
        lock.object = lock.object.and_then(|object| numbers.get(&object).copied());
    };
    for thread in &mut failure.threads {
        thread.name.clear();
        thread
            .wants
            .iter_mut()
            .chain(&mut thread.owns)
            .for_each(lock);
    }
    let told = told(crash, frames);
    for (index, info) in (0..).zip(&mut failure.exceptions) {
        info.object = info.object.and_then(|object| numbers.get(&object).copied());
        if !told.contains(&index) {
            info.message = None;
            info.stack.clear();
        }
    }
    // These are the names in the rest, including frames and static fields.
    let named = Names::of_all(&trimmed).questions();
    let origins = crash.origins.iter();
    let origins = origins.filter(|origin| named.contains_key(&origin.name));
    trimmed.origins = origins.cloned().collect();
    trimmed
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
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{
        Argument, ExceptionInfo, Frame, Origin, Patch, StackElement, StaticField, Text, ThreadState,
    };

    /// Object 0 is unused, 1 holds 2 at the failure and 3 at the entry of frame 1.
    fn crash() -> Crash {
        let mut crash = Crash::default();
        let field = FieldInfo {
            owner: "A".to_owned(),
            name: "s".to_owned(),
            descriptor: "Ljava/lang/String;".to_owned(),
            access: 0,
        };
        for (id, name) in ["B", "A", "java.lang.String"].into_iter().enumerate() {
            crash.classes.push(ClassInfo {
                id: id as u32,
                name: name.to_owned(),
                fields: if name == "A" {
                    vec![field.clone()]
                } else {
                    Vec::new()
                },
                ..ClassInfo::default()
            });
        }
        let string = |text: &str| Body::String(Text::Utf8(text.to_owned()));
        for (class, body) in [
            (0, Body::Instance(Vec::new())),
            (1, Body::Instance(vec![Value::Ref(2)])),
            (2, string("late")),
            (2, string("early")),
        ] {
            crash.objects.push(Some(Object { class, body }));
        }
        let argument = |object| Argument {
            index: 0,
            name: None,
            descriptor: "LA;".to_owned(),
            value: Value::Ref(object),
        };
        let frame = |object| Frame {
            arguments: vec![argument(object)],
            fidelity: Fidelity::Fields,
            ..Frame::default()
        };
        let patch = Patch {
            object: 1,
            owner: "A".to_owned(),
            field: "s".to_owned(),
            descriptor: "Ljava/lang/String;".to_owned(),
            index: None,
            value: Value::Ref(3),
        };
        crash.failure.frames = vec![frame(0), frame(1), frame(1)];
        crash.failure.frames[1].patch.push(patch);
        crash.failure.exceptions = vec![ExceptionInfo {
            object: Some(0),
            ..ExceptionInfo::default()
        }];
        crash.meta.command = "java Main secret".to_owned();
        crash.meta.thread = "GET /orders?of=secret".to_owned();
        let state = ThreadState {
            name: "of secret".to_owned(),
            wants: Some(Lock {
                object: Some(0),
                ..Lock::default()
            }),
            ..ThreadState::default()
        };
        crash.failure.threads.push(state);
        crash.meta.properties.push(("a".to_owned(), "b".to_owned()));
        crash.meta.defaults.zone = "UTC".to_owned();
        crash.failure.statics.push(StaticField {
            owner: "A".to_owned(),
            name: "last".to_owned(),
            descriptor: "LA;".to_owned(),
            access: 8,
            value: Value::Ref(1),
        });
        crash
    }

    #[test]
    fn only_what_a_frame_saw_is_kept() {
        let trimmed = trim(&crash(), &[1], Sets::default());
        let objects: Vec<&Body> = trimmed.objects.iter().flatten().map(|o| &o.body).collect();
        let early = Body::String(Text::Utf8("early".to_owned()));
        assert_eq!(objects, [&Body::Instance(vec![Value::Null]), &early]);
        assert_eq!(trimmed.classes.len(), 2);
        assert_eq!(trimmed.class(0).unwrap().name, "A");
        let frame = &trimmed.failure.frames[1];
        assert_eq!(frame.arguments[0].value, Value::Ref(0));
        assert_eq!(
            (frame.patch[0].object, frame.patch[0].value),
            (0, Value::Ref(1))
        );
        assert_eq!(trimmed.failure.frames[0].reason, LEFT_OUT);
        assert!(trimmed.failure.frames[2].arguments.is_empty());
        assert_eq!(trimmed.failure.exceptions[0].object, None);
        assert!(trimmed.meta.command.is_empty() && trimmed.meta.properties.is_empty());
        let state = &trimmed.failure.threads[0];
        assert!(trimmed.meta.thread.is_empty() && state.name.is_empty());
        // Object 0 is another one now.
        assert_eq!(state.wants.as_ref().map(|lock| lock.object), Some(None));
        assert_eq!(trimmed.meta.defaults, Defaults::default());
        assert!(trimmed.failure.statics.is_empty());
        let bytes = crate::repair::encode(&trimmed);
        assert_eq!(Crash::read(&bytes).unwrap(), trimmed);
    }

    #[test]
    fn where_memory_ended_is_kept() {
        let mut crash = crash();
        crash.meta.command = "java -Xss300k -Xmx1g Main secret".to_owned();
        crash.failure.exceptions[0].class = "java.lang.StackOverflowError".to_owned();
        let trimmed = trim(&crash, &[1], Sets::default());
        assert_eq!(trimmed.meta.command, "-Xss300k");
    }

    #[test]
    fn frames_together_keep_what_each_saw() {
        let sets = Sets {
            defaults: true,
            properties: true,
            statics: true,
        };
        let trimmed = trim(&crash(), &[1, 2], sets);
        assert_eq!(trimmed.objects.len(), 3);
        assert_eq!(
            trimmed.objects[0].as_ref().unwrap().body,
            Body::Instance(vec![Value::Ref(1)])
        );
        assert_eq!(trimmed.meta.properties.len(), 1);
        assert_eq!(trimmed.meta.defaults.zone, "UTC");
        assert_eq!(trimmed.failure.statics.len(), 1);
    }

    /// The same with an enum constant in place of the object of class `A`.
    fn with_constant() -> Crash {
        let mut crash = crash();
        crash.objects[1].as_mut().unwrap().body = Body::Enum {
            name: "ONE".to_owned(),
            fields: vec![Value::Ref(2)],
        };
        crash
    }

    #[test]
    fn fields_of_constants_are_kept_for_tests_that_set_them() {
        let constant = |sets| {
            let trimmed = trim(&with_constant(), &[1], sets);
            let bytes = crate::repair::encode(&trimmed);
            assert_eq!(Crash::read(&bytes).unwrap(), trimmed);
            let patches = trimmed.failure.frames[1].patch.len();
            let Body::Enum { fields, .. } = &trimmed.objects[0].as_ref().unwrap().body else {
                panic!("{trimmed:?}");
            };
            (fields.clone(), patches, trimmed.objects.len())
        };
        assert_eq!(constant(Sets::default()), (Vec::new(), 0, 1));
        let set = Sets {
            defaults: false,
            properties: false,
            statics: true,
        };
        assert_eq!(constant(set), (vec![Value::Null], 1, 2));
        assert_eq!(constants(&with_constant(), 1).collect::<Vec<_>>(), [1]);
        assert_eq!(constants(&crash(), 1).next(), None);
    }

    #[test]
    fn elements_are_those_at_entry() {
        let mut crash = crash();
        crash.objects[1].as_mut().unwrap().body = Body::References(vec![Value::Ref(2)]);
        let patch = &mut crash.failure.frames[1].patch[0];
        (patch.index, patch.descriptor) = (Some(0), "L".to_owned());
        let trimmed = trim(&crash, &[1], Sets::default());
        let early = Body::String(Text::Utf8("early".to_owned()));
        assert_eq!(trimmed.objects[1].as_ref().unwrap().body, early);
        assert_eq!(trimmed.failure.frames[1].patch[0].value, Value::Ref(1));
    }

    #[test]
    fn what_was_written_after_the_entry_of_all_chosen_frames_is_cleared() {
        let mut crash = crash();
        for (name, body) in [
            ("N", Body::Instance(vec![Value::Int(7), Value::Int(8)])),
            ("[C", Body::Primitives(vec![1, 0, 2, 0])),
        ] {
            let class = crash.classes.len() as u32;
            let fields = ["late", "same"].map(|name| FieldInfo {
                owner: "N".to_owned(),
                name: name.to_owned(),
                descriptor: "I".to_owned(),
                access: 0,
            });
            crash.classes.push(ClassInfo {
                id: class,
                name: name.to_owned(),
                fields: fields.to_vec(),
                ..ClassInfo::default()
            });
            crash.objects.push(Some(Object { class, body }));
        }
        let frame = &mut crash.failure.frames[1];
        for object in [4, 5] {
            let of = frame.arguments[0].clone();
            let value = Value::Ref(object);
            frame.arguments.push(Argument { value, ..of });
        }
        let field = Patch {
            object: 4,
            owner: "N".to_owned(),
            field: "late".to_owned(),
            descriptor: "I".to_owned(),
            index: None,
            value: Value::Int(1),
        };
        let element = Patch {
            object: 5,
            owner: String::new(),
            field: String::new(),
            descriptor: "C".to_owned(),
            index: Some(1),
            value: Value::Int(3),
        };
        frame.patch.extend([field, element]);
        let bodies = |crash: &Crash, frames: &[usize]| -> Vec<Body> {
            let trimmed = trim(crash, frames, Sets::default());
            let objects = trimmed.objects.into_iter().flatten();
            objects
                .map(|object| object.body)
                .filter(|body| !matches!(body, Body::String(_)))
                .collect()
        };
        let cleared = [
            Body::Instance(vec![Value::Null]),
            Body::Instance(vec![Value::Int(0), Value::Int(8)]),
            Body::Primitives(vec![1, 0, 0, 0]),
        ];
        assert_eq!(bodies(&crash, &[1]), cleared);
        // A frame that does not lead there is no reason to keep it, one that does is.
        assert_eq!(bodies(&crash, &[1, 2])[1..], cleared[1..]);
        crash.failure.frames[2].arguments = crash.failure.frames[1].arguments.clone();
        let kept = bodies(&crash, &[1, 2]);
        assert_eq!(
            kept[1..],
            [
                Body::Instance(vec![Value::Int(7), Value::Int(8)]),
                Body::Primitives(vec![1, 0, 2, 0])
            ]
        );
    }

    #[test]
    fn causes_keep_what_a_test_has_to_end_in() {
        let mut crash = crash();
        let info = |cause| ExceptionInfo {
            message: Some("told".to_owned()),
            stack: vec![StackElement::default()],
            cause,
            ..ExceptionInfo::default()
        };
        crash.failure.exceptions = vec![info(Some(1)), info(Some(2)), info(Some(1)), info(None)];
        let told = |crash: &Crash| {
            let trimmed = trim(crash, &[1], Sets::default());
            let told = trimmed.failure.exceptions.iter();
            let told = told.map(|info| info.message.is_some() && !info.stack.is_empty());
            told.collect::<Vec<bool>>()
        };
        assert_eq!(told(&crash), [true, true, true, false]);
        // This is the last of a chain, which verdicts compare.
        crash.failure.exceptions[2].cause = None;
        assert_eq!(told(&crash), [true, true, true, false]);
    }

    #[test]
    fn origins_of_what_is_left_are_kept() {
        let mut crash = crash();
        for (frame, method) in crash.failure.frames.iter_mut().zip(["a", "b", "c"]) {
            frame.class = "A".to_owned();
            frame.method = format!("lambda${method}$0");
            frame.descriptor = "(LA;)V".to_owned();
        }
        crash.failure.statics[0].owner = "A$1".to_owned();
        let names = ["A.lambda$a$0(LA;)V", "A.lambda$b$0(LA;)V", "A$1"];
        crash.origins = names
            .map(|name| Origin {
                name: name.to_owned(),
                found: "found".to_owned(),
            })
            .to_vec();
        crash.unrestored = Some(vec!["A".to_owned(), "B".to_owned()]);
        let names = |trimmed: &Crash| -> Vec<String> {
            let origins = trimmed.origins.iter();
            origins.map(|origin| origin.name.clone()).collect()
        };
        let trimmed = trim(&crash, &[1], Sets::default());
        assert_eq!(names(&trimmed), ["A.lambda$b$0(LA;)V"]);
        assert_eq!(trimmed.unrestored, Some(vec!["A".to_owned()]));
        let statics = Sets {
            statics: true,
            ..Sets::default()
        };
        let trimmed = trim(&crash, &[1], statics);
        assert_eq!(names(&trimmed), ["A.lambda$b$0(LA;)V", "A$1"]);
    }
}
