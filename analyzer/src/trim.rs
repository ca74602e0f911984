//! Cutting a crash file down to what chosen frames need.
//!
//! Kept are the objects that the chosen frames' arguments lead to, as these
//! frames found them, the classes of these objects, and what tells whether a
//! test ends as the program did: the exception, and the frames it passed
//! through. All else goes: other frames' arguments, the command line (but for
//! the bounds of memory of a crash that ran out of it), static fields and system
//! properties (unless a test sets them), counters, the exception's own object.
//!
//! **Invariant:** what is kept means the same. Frames keep their numbers;
//! objects and classes get new ones.

use crate::graph::Graph;
use crate::junit::memory;
use crate::junit::origins::Names;
use hindsight_tracelog::crash::{Body, ClassInfo, Defaults, Fidelity, Object, Value};
use hindsight_tracelog::reader::Crash;
use std::collections::{HashMap, HashSet};

/// Why a frame has no arguments any more.
pub const LEFT_OUT: &str = "left out by hindsight trim";

/// What tests set before they call their methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sets {
    /// The default locale and time zone.
    pub defaults: bool,
    /// System properties.
    pub properties: bool,
    /// Static fields, and those of enum constants.
    pub statics: bool,
}

/// What the chosen frames of a whole crash need.
pub fn trim(crash: &Crash, frames: &[usize], sets: Sets) -> Crash {
    let kept = reached(crash, frames, sets.statics);
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    for (number, &object) in (0..).zip(&kept) {
        numbers.insert(object, number);
    }
    let moved = |value: Value| match value {
        // What no chosen frame leads to is a place that all of them patch.
        Value::Ref(object) => numbers.get(&object).map_or(Value::Null, |&n| Value::Ref(n)),
        other => other,
    };
    let mut trimmed = Crash {
        meta: crash.meta.clone(),
        failure: crash.failure.clone(),
        ..Crash::default()
    };
    let meta = &mut trimmed.meta;
    // Where memory ends is part of a failure at its end.
    meta.command = memory::bounds(crash).join(" ");
    meta.counters.clear();
    meta.pid = 0;
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

    let named = Names::of_objects(&trimmed).questions();
    let origins = crash.origins.iter();
    let origins = origins.filter(|origin| named.contains_key(&origin.name));
    trimmed.origins = origins.cloned().collect();
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
        if !frames.contains(&index) {
            if frame.fidelity != Fidelity::None {
                frame.reason = LEFT_OUT.to_owned();
            }
            frame.fidelity = Fidelity::None;
            frame.descriptor.clear();
            frame.arguments.clear();
            frame.patch.clear();
            continue;
        }
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
            numbers.contains_key(&patch.object) && (sets.statics || !constant)
        });
        for patch in &mut frame.patch {
            patch.object = numbers[&patch.object];
            patch.value = moved(patch.value);
        }
    }
    // Causes and suppressed exceptions say something only to tests that end in them.
    let ends: Vec<u32> = frames
        .iter()
        .map(|&index| failure.frames[index].exception)
        .collect();
    for (index, info) in (0..).zip(&mut failure.exceptions) {
        info.object = info.object.and_then(|object| numbers.get(&object).copied());
        if index != 0 && !ends.contains(&index) {
            info.message = None;
            info.stack.clear();
        }
    }
    trimmed
}

/// The objects that the arguments of these frames lead to, and static fields and those of enum
/// constants if they are set, in order.
fn reached(crash: &Crash, frames: &[usize], statics: bool) -> Vec<u32> {
    let mut kept = vec![false; crash.objects.len()];
    for &index in frames {
        let frame = &crash.failure.frames[index];
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
        for (kept, seen) in kept.iter_mut().zip(seen) {
            *kept |= seen;
        }
    }
    let numbered = (0..).zip(kept).filter(|(_, kept)| *kept);
    numbered.map(|(number, _)| number).collect()
}

/// The constants with fields that may change, of enums and others, which a frame's arguments or static
/// fields lead to: their numbers.
pub fn constants(crash: &Crash, frame: usize) -> impl Iterator<Item = u32> {
    let held: HashSet<u32> = (crash.failure.constants.iter())
        .map(|constant| constant.object)
        .collect();
    let reached = reached(crash, &[frame], true).into_iter();
    reached.filter(move |number| {
        let object = crash.object(*number);
        object.is_some_and(|object| match &object.body {
            Body::Enum { fields, .. } => !fields.is_empty(),
            Body::Instance(fields) => !fields.is_empty() && held.contains(number),
            _ => false,
        })
    })
}

/// The objects that a frame's arguments lead to, but not by way of constants of enums: their numbers.
pub fn of_arguments(crash: &Crash, frame: usize) -> Vec<u32> {
    reached(crash, &[frame], false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{
        Argument, ExceptionInfo, FieldInfo, Frame, Patch, StaticField, Text,
    };

    /// Object 0 has no use, 1 holds 2 at the failure and 3 at the entry of frame 1.
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
}
