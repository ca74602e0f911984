//! Tests of what a run becomes.

use super::*;
use crate::classpath::ClassPath;
use crate::generate::platform::Platform;
use crate::jdk::Jdk;
use crate::model::values::Literal;
use crate::trace::steps::Argument;
use hindsight_tracelog::trace::ObjectId;
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
        elements: None,
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

/// The record of the steps of a run, each with its thread, in which objects of one class are
/// called: methods with these names and descriptors, numbered from 1. At most `texts` texts are
/// remembered. Classes of objects have numbers: 1 is the class, 2 is `String`, 3 to 5 are arrays.
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
    let classes = [
        (1, class),
        (2, "java.lang.String"),
        (3, "[I"),
        (4, "[Ljava.lang.Object;"),
        (5, "[Z"),
    ];
    let classes = classes.map(|(id, name)| {
        let name = name.to_owned();
        Record::Class(ObjectClass {
            id,
            name,
            code: None,
        })
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
    // There is neither the class nor a JDK to decide what a test may call.
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

/// What the program writes to `System.out`, which nothing recorded has made, is not in any life,
/// nor is a call whose argument it is. What is done to a stream that the program has made is.
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

/// If there are more texts than are remembered, the last ones are known like the first.
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

/// Elements that the JDK has written are known like those that the program has written.
#[test]
fn arrays_that_come_filled_are_known() {
    let methods = [("<init>", "()V"), ("take", "([Z)V")];
    let array = object(5, 9);
    let mut filled = new(array, None);
    if let What::New {
        length, elements, ..
    } = &mut filled
    {
        *length = 2;
        *elements = Some(vec![Datum::Int(1), Datum::Int(0)]);
    }
    let write = What::Write {
        place: Place::Element {
            array: Some(array),
            index: 1,
        },
        value: Some(Datum::Int(1)),
    };
    let mut steps = Vec::from(made(8));
    let take = [enter(2, &[object(1, 8), array]), exit(2)];
    steps.push(filled);
    steps.extend(take.clone());
    steps.push(write);
    steps.extend(take);
    let recorded = recorded("a.B", &methods, 8, steps.into_iter().map(|what| (1, what)));
    let args = recorded.histories[&8].iter().map(|seen| seen.args.clone());
    let args: Vec<_> = args.collect();
    let of = |elements: [i64; 2]| {
        let elements = elements.map(|element| Value::Literal(Literal::Int(element)));
        vec![Value::Array(9, "Z".to_owned(), elements.to_vec())]
    };
    assert_eq!(args, [vec![], of([1, 0]), of([1, 1])]);
}

/// Two elements of an array are written.
fn fill(array: ObjectId, values: [Datum; 2]) -> [What; 3] {
    let [first, second] = [0, 1].map(|index| What::Write {
        place: Place::Element {
            array: Some(array),
            index: index as i32,
        },
        value: Some(values[index]),
    });
    let made = What::New {
        object: array,
        length: 2,
        hash: None,
        text: None,
        units: None,
        secret: false,
        again: false,
        elements: None,
    };
    [made, first, second]
}

/// The elements of a nested array may change while it is there, and long chains of arrays take no
/// more room than what is recorded of them. One that contains itself cannot be expressed.
#[test]
fn arrays_in_arrays_are_as_they_are_when_they_are_passed() {
    let methods = [("<init>", "()V"), ("eat", "([Ljava/lang/Object;)V")];
    let reference = |id| Datum::Reference(Some(id));
    let [row, grid, ring] = [object(3, 10), object(4, 11), object(4, 12)];
    let eat = |array| [enter(2, &[object(1, 1), array]), exit(2)];
    let mut steps = made(1).to_vec();
    steps.extend(fill(row, [Datum::Int(1), Datum::Int(2)]));
    steps.extend(fill(grid, [reference(row), Datum::Reference(None)]));
    steps.push(fill(row, [Datum::Int(7), Datum::Int(8)])[2].clone());
    steps.extend(eat(grid));
    steps.extend(fill(ring, [reference(ring), reference(row)]));
    steps.extend(eat(ring));
    let mut last = row;
    for serial in 100..20_100 {
        let next = object(4, serial);
        steps.extend(fill(next, [reference(last); 2]));
        last = next;
    }
    steps.extend(eat(last));
    let steps = steps.into_iter().map(|what| (1, what));
    let recorded = recorded("acme.Sink", &methods, MAX_TEXTS, steps);
    let eaten = recorded.histories[&1].iter().skip(1);
    let eaten: Vec<&Value> = eaten.flat_map(|seen| &seen.args).collect();
    let number = |number| Value::Literal(Literal::Int(number));
    let objects = |id: ObjectId, elements: [Value; 2]| {
        Value::Array(
            id.serial(),
            "Ljava/lang/Object;".to_owned(),
            elements.into(),
        )
    };
    let inner = || Value::Array(row.serial(), "I".to_owned(), vec![number(1), number(8)]);
    assert_eq!(
        *eaten[0],
        objects(grid, [inner(), Value::Literal(Literal::Null)])
    );
    assert_eq!(*eaten[1], objects(ring, [Value::Unknown, inner()]));
    fn told(value: &Value) -> usize {
        match value {
            Value::Array(_, _, elements) => elements.iter().map(told).sum(),
            _ => 1,
        }
    }
    assert_eq!(told(eaten[2]), 1 << 8);
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
