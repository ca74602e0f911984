//! Makes a complete crash file from the rest of a damaged one.
//!
//! The replay library refuses a damaged file, because half a state is worse than none. So that the
//! recording can still be replayed, what is lost becomes holes, which the tests report as empty.

use hindsight_tracelog::crash::{Body, ClassInfo, Object, Value};
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::{record, writer};

/// The reason of these holes.
pub const LOST: &str = "lost: the crash file was damaged";
/// The most numbers beyond the last object that can be holes; readers accept no more.
const MAX_LOST: usize = 1 << 20;

/// Makes a hole of each object that is lost, and returns their number. [`Crash::damage`] stays, to
/// record that this happened.
pub fn repair(crash: &mut Crash) -> usize {
    for (id, class) in (0..).zip(&mut crash.classes) {
        class.id = id;
        if class.name.is_empty() {
            class.name = "?".to_owned();
        }
    }
    let unknown = crash.classes.len() as u32;
    let known = |class: u32| {
        let class = crash.classes.get(class as usize);
        class.is_some_and(|class| class.name != "?")
    };
    for object in crash.objects.iter_mut().flatten() {
        if !known(object.class) && !matches!(object.body, Body::Hole(_)) {
            object.body = Body::Hole(LOST.to_owned());
        }
        if object.class > unknown {
            object.class = unknown;
        }
    }
    let end = references(crash)
        .map(|number| number as usize + 1)
        .filter(|&end| end <= crash.objects.len() + MAX_LOST)
        .max();
    if let Some(end) = end.filter(|&end| end > crash.objects.len()) {
        crash.objects.resize(end, None);
    }
    for place in &mut crash.objects {
        place.get_or_insert_with(|| Object {
            class: unknown,
            body: Body::Hole(LOST.to_owned()),
        });
    }
    crash.classes.push(ClassInfo {
        id: unknown,
        name: "?".to_owned(),
        ..ClassInfo::default()
    });
    let lost = |object: &&Object| matches!(&object.body, Body::Hole(reason) if reason == LOST);
    crash.objects.iter().flatten().filter(lost).count()
}

/// The bytes of a crash file; [`Crash::damage`] is not part of it.
pub fn encode(crash: &Crash) -> Vec<u8> {
    let mut file = record::file_header().to_vec();
    let mut records = 0;
    let mut add = |bytes: Vec<u8>| {
        file.extend(bytes);
        records += 1;
    };
    add(writer::meta(&crash.meta));
    add(writer::failure(&crash.failure));
    add(writer::classes(&crash.classes));
    let objects = crash.objects.iter().map(|object| match object {
        Some(object) => object.clone(),
        None => Object {
            class: 0,
            body: Body::Hole(LOST.to_owned()),
        },
    });
    writer::blocks(objects).for_each(&mut add);
    if !crash.origins.is_empty() {
        file.extend(writer::origins(&crash.origins));
        records += 1;
    }
    if let Some(classes) = &crash.unrestored {
        file.extend(writer::unrestored(classes));
        records += 1;
    }
    file.extend(writer::end(records));
    file
}

/// The numbers of all objects that something refers to.
fn references(crash: &Crash) -> impl Iterator<Item = u32> {
    let failure = &crash.failure;
    let thrown = failure.exceptions.iter().filter_map(|info| info.object);
    let patched = failure.frames.iter().flat_map(|frame| {
        let objects = frame.patch.iter().map(|patch| patch.object);
        let values = frame.patch.iter().map(|patch| patch.value);
        let arguments = frame.arguments.iter().map(|argument| argument.value);
        objects.chain(values.chain(arguments).filter_map(reference))
    });
    let statics = failure
        .statics
        .iter()
        .filter_map(|field| reference(field.value));
    let constants = failure.constants.iter().map(|constant| constant.object);
    let threads = failure.threads.iter();
    let locks = threads.flat_map(|thread| thread.wants.iter().chain(&thread.owns));
    let locks = locks.filter_map(|lock| lock.object);
    let stored = crash.objects.iter().flatten().flat_map(|object| {
        let (values, captured) = match &object.body {
            Body::Instance(values)
            | Body::Enum { fields: values, .. }
            | Body::References(values) => (values.as_slice(), [].as_slice()),
            Body::Lambda(lambda) => ([].as_slice(), lambda.captured.as_slice()),
            _ => ([].as_slice(), [].as_slice()),
        };
        let captured = captured.iter().map(|(_, value)| *value);
        values.iter().copied().chain(captured).filter_map(reference)
    });
    let others = statics.chain(constants).chain(locks);
    thrown.chain(patched).chain(others).chain(stored)
}

fn reference(value: Value) -> Option<u32> {
    match value {
        Value::Ref(object) => Some(object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{ExceptionInfo, StaticField};

    #[test]
    fn what_is_lost_becomes_a_hole() {
        let mut crash = Crash {
            damage: vec!["cut".to_owned()],
            ..Crash::default()
        };
        crash.classes = vec![ClassInfo::default(); 2];
        crash.classes[1].id = 1;
        crash.classes[1].name = "A".to_owned();
        let object = |class, body| Some(Object { class, body });
        crash.objects = vec![
            object(
                1,
                Body::References(vec![Value::Ref(4), Value::Ref(u32::MAX)]),
            ),
            None,
            object(0, Body::Class("X".to_owned())),
            object(9, Body::Hole("thread".to_owned())),
        ];
        crash.failure.exceptions.push(ExceptionInfo::default());
        crash.failure.statics.push(StaticField {
            owner: "A".to_owned(),
            name: "held".to_owned(),
            descriptor: "LA;".to_owned(),
            access: 0,
            value: Value::Ref(5),
        });
        assert_eq!(repair(&mut crash), 4);
        let whole = Crash::read(&encode(&crash)).unwrap();
        assert!(whole.is_whole());
        assert_eq!(whole.objects, crash.objects);
        assert_eq!(whole.objects.len(), 6);
        assert_eq!(whole.object(3).unwrap().class, 2);
        assert_eq!(whole.class(2).unwrap().name, "?");
    }
}
