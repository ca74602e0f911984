//! Tests of the calls of a thread that has lost events, alone and as readers show them.

use super::{Calls, MOST};
use crate::temporary::Directory;
use crate::trace::export::Export;
use crate::trace::names::Names;
use crate::trace::steps::{Gap, Step, What};
use crate::trace::{DICTIONARY, Trace};
use hindsight_tracelog::trace::dictionary::{self, Method, Record, TracedClass};
use hindsight_tracelog::trace::{Datum, ObjectId};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::fs::{self, File};

const MAIN: u32 = 1;
const WORK: u32 = 2;
const DEEP: u32 = 4;

fn calls(methods: &[u32]) -> Calls<()> {
    let mut calls = Calls::default();
    for &method in methods {
        calls.begin(method, ());
    }
    calls
}

fn deeper(calls: &mut Calls<()>, method: u32) -> Vec<(u32, bool)> {
    let pop = || calls.pop_deeper(method).map(|(of, (), lost)| (of, lost));
    std::iter::from_fn(pop).collect()
}

#[test]
fn what_was_going_on_at_a_loss_is_doubtful_until_one_tells_something() {
    let mut calls = calls(&[MAIN, WORK, DEEP]);
    calls.lose(7);
    let begun = [DEEP, DEEP + 1].map(|method| calls.begin(method, ()));
    assert_eq!(begun, [None; 2]);
    // A call that has begun since then was not lost.
    assert_eq!(deeper(&mut calls, DEEP), [(DEEP + 1, false)]);
    assert_eq!(calls.pop(), Some((DEEP, ())));
    assert_eq!(deeper(&mut calls, WORK), [(DEEP, true)]);
    // As work is still active, so is main.
    assert_eq!(deeper(&mut calls, MAIN), [(WORK, false)]);
    assert_eq!(calls.depth(), 1);
}

#[test]
fn the_outermost_calls_of_too_many_are_not_kept() {
    let mut calls = calls(&[MAIN, WORK]);
    calls.lose(1);
    for at in 2..MOST {
        assert_eq!(calls.begin(DEEP, ()), None, "{at}");
    }
    assert_eq!(calls.begin(DEEP, ()), Some((MAIN, ())));
    assert_eq!(calls.depth(), MOST + 1);
    assert!(!calls.has(MAIN) && calls.has(WORK));
    for _ in 2..MOST + 1 {
        assert_eq!(calls.pop(), Some((DEEP, ())));
    }
    assert_eq!(calls.depth(), 2);
    assert_eq!(deeper(&mut calls, MAIN), [(WORK, true)]);
    assert_eq!((calls.depth(), calls.is_empty()), (1, false));
    assert!(calls.was_around() && !calls.was_around() && calls.is_empty());
}

#[test]
fn no_more_calls_were_unseen_than_events_were_lost() {
    let mut calls = calls(&[MAIN]);
    assert!(!calls.was_unseen());
    calls.lose(2);
    assert!(calls.was_unseen() && calls.was_unseen() && !calls.was_unseen());
    // A block is missing.
    calls.lose(0);
    calls.lose(1);
    assert!((0..9).all(|_| calls.was_unseen()));
}

const METHODS: [&str; 6] = ["main", "work", "parse", "deep", "after", "lost"];
const PARSE: u32 = 3;
const AFTER: u32 = 5;
const LOST: u32 = 6;

fn enter(method: u32) -> What {
    What::Enter {
        method,
        arguments: Vec::new(),
    }
}

fn exit(method: u32, value: i32) -> What {
    let value = Some(Datum::Int(value));
    What::Exit { method, value }
}

fn caught(method: u32) -> What {
    What::Caught {
        method,
        exception: Some(ObjectId(1)),
    }
}

/// A trace without events, whose dictionary has [`METHODS`], numbered from 1.
fn trace() -> (Directory, Trace) {
    let methods = (1..).zip(METHODS).map(|(id, name)| Method {
        id,
        name: name.to_owned(),
        descriptor: "()I".to_owned(),
        ..Method::default()
    });
    let class = TracedClass {
        name: "S".to_owned(),
        methods: methods.collect(),
        ..TracedClass::default()
    };
    let mut file = dictionary::file_header().to_vec();
    file.extend(dictionary::pack(&Record::Traced(class)).expect("memory"));
    let directory = crate::temporary::directory().expect("a directory");
    fs::write(directory.path().join(DICTIONARY), file).expect("it is written");
    let trace = Trace::open(directory.path()).expect("a trace");
    (directory, trace)
}

fn steps(whats: impl IntoIterator<Item = What>) -> Vec<Step> {
    let step = |what| Step {
        thread: 1,
        is_virtual: false,
        stamp: 1,
        what,
    };
    whats.into_iter().map(step).collect()
}

/// The rows of calls in the order of their ends: number, parent, depth, method, how it ended and
/// with what. Also the numbers of calls that have no row because they began before the recording,
/// or unseen.
fn exported(whats: impl IntoIterator<Item = What>) -> (Vec<String>, [u64; 2]) {
    let (directory, trace) = trace();
    let out = directory.path().join("tables");
    let mut export = Export::create(&out, &trace).expect("tables");
    for step in steps(whats) {
        export.add(&step).expect("a row");
    }
    let counts = [export.unbegun, export.unseen_begun];
    export.finish().expect("tables");
    let file = File::open(out.join("calls.parquet")).expect("a table");
    let reader = SerializedFileReader::new(file).expect("it is Parquet");
    let rows = reader.get_row_iter(None).expect("rows").map(|row| {
        let row = row.expect("a row");
        let number = |column| {
            row.get_long(column)
                .map_or("-".to_owned(), |it| it.to_string())
        };
        format!(
            "{} in {} at {}: {} {} {}",
            number(0),
            number(1),
            row.get_int(2).expect("a depth"),
            row.get_string(9).expect("a name"),
            row.get_string(13).expect("how it ended"),
            number(16),
        )
    });
    (rows.collect(), counts)
}

/// The depths at which steps are shown.
fn depths(whats: impl IntoIterator<Item = What>) -> Vec<usize> {
    let (_directory, trace) = trace();
    let mut names = Names::new(&trace.log.dictionary);
    let steps = steps(whats);
    steps.iter().map(|step| names.follow(step)).collect()
}

/// The stack overflows, which costs some events, and the program goes on.
fn stack_ends() -> [What; 16] {
    [
        enter(MAIN),
        enter(WORK),
        enter(PARSE),
        enter(DEEP),
        enter(DEEP),
        What::Lost(Gap::Told(9)),
        What::Unwind {
            method: DEEP,
            exception: None,
        },
        What::Lost(Gap::Told(1)),
        caught(PARSE),
        exit(PARSE, 0),
        enter(AFTER),
        exit(AFTER, 2),
        exit(WORK, 3),
        enter(AFTER),
        exit(AFTER, 4),
        exit(MAIN, 5),
    ]
}

#[test]
fn calls_around_a_loss_have_their_ends() {
    let (rows, without) = exported(stack_ends());
    assert_eq!(
        rows,
        [
            "5 in 4 at 4: deep throw -",
            "4 in 3 at 3: deep open -",
            "3 in 2 at 2: parse return 0",
            "6 in 2 at 2: after return 2",
            "2 in 1 at 1: work return 3",
            "7 in 1 at 1: after return 4",
            "1 in - at 0: main return 5",
        ]
    );
    assert_eq!(without, [0, 0]);
    assert_eq!(
        depths(stack_ends()),
        [0, 1, 2, 3, 4, 5, 4, 4, 3, 2, 2, 2, 1, 1, 1, 0]
    );
}

/// With `overflow=drop`: in the gap, parse and work have ended, and another call has begun.
#[test]
fn what_began_in_a_gap_is_told_apart() {
    let events = || {
        let before = [exit(WORK, 0), enter(MAIN), enter(WORK), enter(PARSE)];
        let gap = [
            What::Lost(Gap::Told(3)),
            enter(AFTER),
            exit(AFTER, 1),
            exit(LOST, 2),
        ];
        before.into_iter().chain(gap).chain([exit(MAIN, 3)])
    };
    let (rows, without) = exported(events());
    assert_eq!(
        rows,
        [
            "4 in 3 at 3: after return 1",
            "3 in 2 at 2: parse open -",
            "2 in 1 at 1: work open -",
            "1 in - at 0: main return 3",
        ]
    );
    assert_eq!(without, [1, 1]);
    assert_eq!(depths(events()), [0, 0, 1, 2, 3, 3, 3, 3, 0]);
}

/// A bound object is that of the constructor that records it, although calls in that constructor
/// have ended unseen.
#[test]
fn a_constructor_that_is_bound_is_running() {
    let bind = What::Bind {
        method: WORK,
        this: Some(ObjectId(1)),
    };
    let events = [
        enter(MAIN),
        enter(WORK),
        enter(DEEP),
        What::Lost(Gap::Blocks),
        bind,
    ];
    assert_eq!(depths(events.clone()), [0, 1, 2, 3, 2]);
    let (rows, _) = exported(events);
    assert_eq!(
        rows.first().map(String::as_str),
        Some("3 in 2 at 2: deep open -")
    );
}

/// A hostile trace has millions of such ends.
#[test]
fn ends_of_calls_that_are_not_going_on_take_no_time() {
    let mut calls = Calls::default();
    for _ in 0..1 << 20 {
        calls.begin(MAIN, ());
    }
    assert!((0..1 << 20).all(|_| !calls.has(WORK)));
    while calls.pop().is_some() {}
    assert!(!calls.has(MAIN));
}
