//! Tests of what a run becomes.

use super::*;
use crate::classpath::ClassPath;
use crate::generate::platform::Platform;
use crate::jdk::Jdk;
use hindsight_tracelog::trace::dictionary::{
    self, ObjectClass, Record, TracedClass, file_header, pack,
};

const CLASS_SHIFT: u32 = 40;

/// An object of a class.
fn object(class: u64, serial: u64) -> ObjectId {
    ObjectId((class << CLASS_SHIFT) | serial)
}

fn new(object: ObjectId, text: Option<&str>) -> What {
    What::New {
        object,
        length: text.map_or(0, |text| text.len() as u32),
        hash: None,
        text: text.map(str::to_owned),
        units: None,
        secret: false,
        again: false,
    }
}

fn enter(method: u32, arguments: &[ObjectId]) -> What {
    let arguments = (0..).zip(arguments).map(|(index, id)| Argument {
        index,
        value: Datum::Reference(Some(*id)),
    });
    What::Enter {
        method,
        arguments: arguments.collect(),
    }
}

fn exit(method: u32) -> What {
    What::Exit {
        method,
        value: None,
    }
}

/// What has come of the steps of a run, each with its thread, in which objects of one class are called: methods
/// with these names and descriptors, numbered from 1. No more texts are remembered than `texts`. Classes of
/// objects have numbers: 1 is the class, 2 is `String`.
fn recorded(
    class: &str,
    methods: &[(&str, &str)],
    texts: usize,
    steps: impl IntoIterator<Item = (u64, What)>,
) -> Recorded {
    let declared = (1..)
        .zip(methods)
        .map(|(id, (name, descriptor))| dictionary::Method {
            id,
            name: (*name).to_owned(),
            descriptor: (*descriptor).to_owned(),
            access: access::PUBLIC,
            ..dictionary::Method::default()
        });
    let classes = [(1, class), (2, "java.lang.String")];
    let classes = classes.map(|(id, name)| {
        let name = name.to_owned();
        Record::Class(ObjectClass { id, name })
    });
    let traced = Record::Traced(TracedClass {
        name: class.to_owned(),
        methods: declared.collect(),
        ..TracedClass::default()
    });
    let mut bytes = file_header().to_vec();
    let records = classes.iter().chain([&traced]);
    records.for_each(|one| bytes.extend(pack(one).unwrap()));
    let (dictionary, _) = Dictionary::read(&bytes).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let own = ClassPath::open(directory.path().to_str().unwrap()).unwrap();
    let platform = Platform::new(&Jdk {
        home: directory.path().to_owned(),
        version: 17,
    });
    let mut recorder = Recorder::new(
        &dictionary,
        Classes {
            own: &own,
            platform: &platform,
        },
    );
    recorder.texts = Texts::new(texts);
    // Neither the class nor a JDK is there to say what a test may call.
    for (id, (name, descriptor)) in (1..).zip(methods) {
        let method = Method {
            class: class.to_owned(),
            name: (*name).to_owned(),
            descriptor: (*descriptor).to_owned(),
            is_static: false,
            runs: None,
        };
        (recorder.access.methods).insert((class.to_owned(), id), Some(method));
    }
    for (thread, what) in steps {
        recorder.take(&Step {
            thread,
            is_virtual: false,
            stamp: 0,
            what,
        });
    }
    recorder.finish()
}

/// The names of the calls in the life of an object.
fn calls(recorded: &Recorded, serial: u64) -> Vec<&str> {
    let seen = recorded.histories[&serial].iter();
    seen.map(|seen| seen.method.name.as_str()).collect()
}

/// The steps in which an object of the class is made, by the first method.
fn made(serial: u64) -> [What; 4] {
    let this = object(1, serial);
    let bind = What::Bind {
        method: 1,
        this: Some(this),
    };
    [new(this, None), enter(1, &[]), bind, exit(1)]
}

/// What the program writes to `System.out`, which nothing recorded has made, is in no life, nor is that in which
/// it is passed something. What is done to a stream that the program has made is.
#[test]
fn what_is_done_to_what_nothing_has_made_is_no_call() {
    let methods = [("<init>", "()V"), ("println", "(Ljava/lang/Object;)V")];
    let [out, own] = [7, 8].map(|serial| object(1, serial));
    let mut steps = vec![new(out, None)];
    steps.extend(made(8));
    for arguments in [[out, own], [own, out]] {
        steps.extend([enter(2, &arguments), exit(2)]);
    }
    let steps = steps.into_iter().map(|what| (1, what));
    let recorded = recorded("java.io.PrintStream", &methods, MAX_TEXTS, steps);
    assert_eq!(calls(&recorded, 8), ["<init>", "println"]);
    // It was passed to the other one.
    assert_eq!(calls(&recorded, 7), ["println"]);
    assert_eq!(recorded.histories[&7][0].on, Some(8));
}

/// Where there are more texts than are remembered, those that are told last are known like the first.
#[test]
fn texts_are_known_in_all_of_a_long_run() {
    let methods = [("<init>", "()V"), ("eat", "(Ljava/lang/String;)V")];
    let mut steps = made(1).to_vec();
    let count = 20;
    for number in 0..count {
        let text = object(2, 100 + number);
        steps.extend([
            new(text, Some(&format!("t{number}"))),
            enter(2, &[object(1, 1), text]),
            exit(2),
        ]);
    }
    let steps = steps.into_iter().map(|what| (1, what));
    let recorded = recorded("acme.Sink", &methods, 6, steps);
    let eaten = recorded.histories[&1].iter().skip(1);
    let eaten: Vec<&Value> = eaten.flat_map(|seen| &seen.args).collect();
    let text = |number| Value::Literal(Literal::Text(format!("t{number}")));
    let all: Vec<Value> = (0..count).map(text).collect();
    assert_eq!(eaten, all.iter().collect::<Vec<_>>());
}

/// A class of which nothing was called has lost none of the tests of an earlier run.
#[test]
fn classes_that_are_only_loaded_are_not_called() {
    let methods = [("<clinit>", "()V"), ("<init>", "()V")];
    let called = |method: u32| {
        let steps = [enter(method, &[]), exit(method)].map(|what| (1, what));
        recorded("acme.Sink", &methods, MAX_TEXTS, steps).called
    };
    assert!(called(1).is_empty());
    assert!(called(2).contains("acme.Sink"));
}
