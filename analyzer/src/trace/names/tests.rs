//! Tests of names that class files may have, and by which people must not be deceived.

use super::Names;
use crate::trace::steps::{Argument, Place, Step, What};
use hindsight_tracelog::trace::dictionary::{
    self, Dictionary, Member, Method, ObjectClass, Record, TracedClass,
};
use hindsight_tracelog::trace::{Datum, ObjectId};

/// A line break, an escape sequence that clears the terminal, and text from right to left.
const EVIL: &str = "ok\nmain | \u{1b}c\u{202e}red";
const SHOWN: &str = "ok\\nmain | \\u001bc\\u202ered";

fn dictionary() -> Dictionary {
    let member = Member {
        id: 1,
        owner: EVIL.to_owned(),
        name: EVIL.to_owned(),
        descriptor: "(I)I".to_owned(),
    };
    let class = TracedClass {
        name: EVIL.to_owned(),
        methods: vec![Method {
            id: 1,
            name: EVIL.to_owned(),
            descriptor: "(I)V".to_owned(),
            parameter_names: vec![Some(EVIL.to_owned())],
            told: vec![(1, "I".to_owned())],
            ..Method::default()
        }],
        fields: vec![member.clone()],
        callees: vec![member],
        ..TracedClass::default()
    };
    let of_object = ObjectClass {
        id: 1,
        name: EVIL.to_owned(),
        code: None,
    };
    let mut file = dictionary::file_header().to_vec();
    for record in [Record::Traced(class), Record::Class(of_object)] {
        file.extend(dictionary::pack(&record).expect("memory"));
    }
    let (dictionary, damage) = Dictionary::read(&file).expect("a dictionary");
    assert_eq!(damage, None);
    dictionary
}

#[test]
fn lambdas_are_shown_by_what_they_run() {
    let code = |name: &str| {
        Some(dictionary::Code {
            class: "shop.Order".to_owned(),
            name: name.to_owned(),
            descriptor: "()J".to_owned(),
        })
    };
    let lambda = |id: u32, code: Option<dictionary::Code>| {
        let name = format!("shop.Main$$Lambda/0x{id}");
        Record::Class(ObjectClass { id, name, code })
    };
    let mut file = dictionary::file_header().to_vec();
    for record in [
        lambda(1, code("id")),
        lambda(2, code("<init>")),
        lambda(3, None),
    ] {
        file.extend(dictionary::pack(&record).expect("memory"));
    }
    let (dictionary, _) = Dictionary::read(&file).expect("a dictionary");
    let names = Names::new(&dictionary);
    let shown = [1, 2, 3].map(|class| names.object(Some(ObjectId(class << 40 | 7))));
    let expected = [
        "Main$$Lambda#7 Order::id",
        "Main$$Lambda#7 Order::new",
        "Main$$Lambda/0x3#7",
    ];
    assert_eq!(shown, expected);
    let json = names.json_object(Some(ObjectId(1 << 40 | 7)));
    assert_eq!(json["code"]["method"], "id");
}

#[test]
fn names_stay_in_their_line() {
    let dictionary = dictionary();
    let names = Names::new(&dictionary);
    let object = Some(ObjectId(1 << 40 | 7));
    let field = Place::Field { object, field: 1 };
    let argument = Argument {
        index: 1,
        value: Datum::Int(3),
    };
    let (method, callee) = (1, 1);
    let whats = [
        What::Class { class: 0 },
        What::Enter {
            method,
            arguments: vec![argument],
        },
        What::Bind {
            method,
            this: object,
        },
        What::Write {
            place: field,
            value: None,
        },
        What::Read {
            place: Place::Static { field: 1 },
            value: None,
        },
        What::Called {
            callee,
            values: vec![],
        },
        What::Exit {
            method,
            value: None,
        },
    ];
    let told = whats.map(|what| {
        let step = Step {
            thread: 1,
            is_virtual: false,
            stamp: 1,
            what,
        };
        names.line(&step, 0).replace(SHOWN, "N")
    });
    let told = told.map(|line| line.trim_start_matches("#1").trim_start().to_owned());
    assert_eq!(
        told,
        [
            "class N is defined",
            "N.N(N = 3)",
            "N.N binds N#7",
            "N#7.N is written",
            "N.N is read",
            "after N.N: ",
            "N.N returns",
        ]
    );
}

#[test]
fn floats_are_told_by_their_shortest_decimals() {
    let dictionary = dictionary();
    let mut names = Names::new(&dictionary);
    let mut told = |value| {
        let arguments = vec![Argument { index: 1, value }];
        let what = What::Enter {
            method: 1,
            arguments,
        };
        let step = Step {
            thread: 1,
            is_virtual: false,
            stamp: 0,
            what,
        };
        names.json(&step)["arguments"][0]["value"].to_string()
    };
    assert_eq!(told(Datum::Float(0.1)), "0.1");
    assert_eq!(told(Datum::Double(0.1)), "0.1");
    assert_eq!(told(Datum::Float(f32::NAN)), "\"NaN\"");
    assert_eq!(told(Datum::Double(f64::NEG_INFINITY)), "\"-Infinity\"");
}
