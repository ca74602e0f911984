//! Tests of what a run becomes.

use super::*;
use crate::classpath::ClassPath;
use crate::generate::platform::Platform;
use crate::jdk::Jdk;
use hindsight_tracelog::trace::dictionary::{
    self, ObjectClass, Record, TracedClass, file_header, pack,
};

#[test]
fn arrays_take_no_more_than_is_known_of_them() {
    let mut array = Array {
        class: 0,
        length: 4,
        elements: Vec::new(),
    };
    array.set(3, None);
    assert_eq!(array.elements.capacity(), 0);
    let one = || Value::Literal(Literal::Int(1));
    array.set(1, Some(one()));
    array.set(4, Some(one()));
    assert_eq!(array.elements.len(), 2);
    let expected = [Value::Unknown, one(), Value::Unknown, Value::Unknown];
    assert_eq!(array.values(), expected);
    array.set(1, None);
    assert_eq!(array.values()[1], Value::Unknown);
}

const CLASS_SHIFT: u32 = 40;

/// What the program writes to `System.out`, which nothing recorded has made, is in no life, nor is that in which
/// it is passed something. What is done to a stream that the program has made is.
#[test]
fn what_is_done_to_what_nothing_has_made_is_no_call() {
    let method = |id, name: &str, descriptor: &str| dictionary::Method {
        id,
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        access: access::PUBLIC,
        ..dictionary::Method::default()
    };
    let name = || "java.io.PrintStream".to_owned();
    let records = [
        Record::Class(ObjectClass {
            id: 1,
            name: name(),
        }),
        Record::Traced(TracedClass {
            name: name(),
            methods: vec![
                method(1, "<init>", "()V"),
                method(2, "println", "(Ljava/lang/Object;)V"),
            ],
            ..TracedClass::default()
        }),
    ];
    let mut bytes = file_header().to_vec();
    records
        .iter()
        .for_each(|one| bytes.extend(pack(one).unwrap()));
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
    // No JDK is there to say what a test may call.
    for (id, of, descriptor) in [
        (1, "<init>", "()V"),
        (2, "println", "(Ljava/lang/Object;)V"),
    ] {
        let method = Method {
            class: name(),
            name: of.to_owned(),
            descriptor: descriptor.to_owned(),
            is_static: false,
            runs: None,
        };
        (recorder.access.methods).insert((name(), id), Some(method));
    }
    let id = |serial: u64| ObjectId((1 << CLASS_SHIFT) | serial);
    let mut take = |what| {
        recorder.take(&Step {
            thread: 1,
            is_virtual: false,
            stamp: 0,
            what,
        });
    };
    let new = |serial| What::New {
        object: id(serial),
        length: 0,
        hash: None,
        text: None,
        units: None,
        secret: false,
        again: false,
    };
    let argument = |index, serial| Argument {
        index,
        value: Datum::Reference(Some(id(serial))),
    };
    for serial in [7, 8] {
        take(new(serial));
    }
    take(What::Enter {
        method: 1,
        arguments: Vec::new(),
    });
    take(What::Bind {
        method: 1,
        this: Some(id(8)),
    });
    take(What::Exit {
        method: 1,
        value: None,
    });
    for (on, passed) in [(7, 8), (8, 7)] {
        take(What::Enter {
            method: 2,
            arguments: vec![argument(0, on), argument(1, passed)],
        });
        take(What::Exit {
            method: 2,
            value: None,
        });
    }
    let recorded = recorder.finish();
    let calls = |serial| -> Vec<&str> {
        let seen = recorded.histories[&serial].iter();
        seen.map(|seen| seen.method.name.as_str()).collect()
    };
    assert_eq!(calls(8), ["<init>", "println"]);
    // It was passed to the other one.
    assert_eq!(calls(7), ["println"]);
    assert_eq!(recorded.histories[&7][0].on, Some(8));
}
