//! What is kept of a crash file, and what is not.

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
