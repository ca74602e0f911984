//! Tests that what is shown of some blocks is the same as what is shown of all.

use super::super::Wanted;
use super::*;
use crate::trace::names::Names;
use crate::trace::steps::Steps;
use crate::trace::steps::tests::event;
use hindsight_tracelog::trace::block::{Header, segment_header};
use hindsight_tracelog::trace::dictionary::{
    self, Defined, Dictionary, Member, Method, Record, Start, Thread, TracedClass,
};
use hindsight_tracelog::trace::kind::Kind;
use hindsight_tracelog::trace::{Live, Packer};

const BLOCKS: u64 = 40;
const OFTEN: u32 = 1;
const RARE: u32 = 2;
const OTHER: u32 = 3;
const FIELD: u32 = 1;
const OBJECT: u64 = 1 << 40 | 7;

fn member(id: u32, owner: &str, name: &str, descriptor: &str) -> Member {
    Member {
        id,
        owner: owner.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    }
}

fn class(name: &str, stamp: u64, methods: &[(u32, &str)], fields: Vec<Member>) -> TracedClass {
    let method = |&(id, name): &(u32, &str)| Method {
        id,
        name: name.to_owned(),
        descriptor: "(JJ)V".to_owned(),
        told: vec![(1, "J".to_owned()), (2, "J".to_owned())],
        ..Method::default()
    };
    TracedClass {
        name: name.to_owned(),
        methods: methods.iter().map(method).collect(),
        fields,
        defined: Some(Defined {
            stamp,
            thread: 2,
            ..Defined::default()
        }),
        ..TracedClass::default()
    }
}

/// Two threads of many blocks each, of which few have the rare events.
fn log(bounds: &[(String, String)], is_virtual: bool) -> Log<Vec<u8>> {
    let mut segment = segment_header().to_vec();
    let mut packer = Packer::new().expect("memory");
    let often = [
        event(Kind::Enter, OFTEN, &[], &[], &[1]),
        event(Kind::More, OFTEN, &[], &[], &[2]),
        event(Kind::Exit, OFTEN, &[], &[], &[]),
    ]
    .concat();
    for (stream, number) in (0..BLOCKS).flat_map(|number| [(1, number), (2, number)]) {
        let (before, behind) = match (stream, number) {
            // An event that begins at the end of a block goes on in the next one.
            (1, 17) => (vec![], event(Kind::Enter, RARE, &[], &[], &[3])),
            (1, 18) => (event(Kind::More, RARE, &[], &[], &[4]), vec![]),
            (1, 19) => (vec![], event(Kind::Exit, RARE, &[], &[], &[])),
            (2, 25) => (vec![], event(Kind::Object, 0, &[OBJECT], &[0], &[])),
            (2, 26) => (event(Kind::Put, FIELD, &[OBJECT], &[5], &[]), vec![]),
            (2, 5) => (vec![], event(Kind::Lost, 0, &[], &[], &[9])),
            // A block is missing.
            (2, 9) => continue,
            (2, 36) => (event(Kind::Enter, OTHER, &[], &[], &[0]), vec![]),
            _ => (vec![], vec![]),
        };
        let mut header = Header {
            stream,
            sequence: number,
            stamp: 2 * number + stream,
            thread: stream,
            flags: u32::from(is_virtual && number == 2),
            ..Header::default()
        };
        let events = [before, often.clone(), behind].concat();
        let packed = packer.pack(&mut header, &events, &mut segment);
        packed.expect("sound events");
    }
    let thread = |id, name: &str| {
        let name = name.to_owned();
        Record::Thread(Thread { id, name })
    };
    let fields = vec![member(FIELD, "a.Held", "f", "I")];
    let records = [
        Record::Start(Start {
            bounds: bounds.to_vec(),
            ..Start::default()
        }),
        Record::Traced(class("a.Often", 1, &[(OFTEN, "m"), (RARE, "rare")], fields)),
        Record::Traced(class("a.Other", 62, &[(OTHER, "n")], vec![])),
        Record::Traced(class("a.Face", 51, &[], vec![])),
        thread(1, "main"),
        thread(2, "other"),
    ];
    let mut file = dictionary::file_header().to_vec();
    for record in &records {
        file.extend(dictionary::pack(record).expect("memory"));
    }
    let (dictionary, damage) = Dictionary::read(&file).expect("a dictionary");
    assert_eq!(damage, None);
    let log = Log::open(dictionary, vec![segment], Live::read(vec![]));
    log.map_err(|(_, error)| error).expect("a log")
}

/// The lines of some blocks that a filter admits.
fn lines(log: &Log<Vec<u8>>, wanted: &Wanted, places: &[usize]) -> Vec<String> {
    let mut filter = Filter::new(wanted, &log.dictionary);
    let mut names = Names::new(&log.dictionary);
    let mut steps = Steps::new(log, places);
    let mut lines = Vec::new();
    while let Some(step) = steps.next_step() {
        let step = step.expect("sound events");
        names.follow(&step);
        filter.follow(&step);
        if filter.admits(&step) {
            lines.push(names.json(&step).to_string());
        }
    }
    lines
}

fn members(list: &[&str]) -> Wanted {
    Wanted {
        members: list.iter().map(|&name| name.to_owned()).collect(),
        ..Wanted::default()
    }
}

fn classes(list: &[&str]) -> Wanted {
    Wanted {
        members: vec![],
        classes: members(list).members,
        ..Wanted::default()
    }
}

#[test]
fn blocks_that_say_nothing_of_it_are_left_out_and_the_lines_are_the_same() {
    let log = log(&[], false);
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let in_main = |wanted| Wanted {
        threads: vec!["ma*".to_owned()],
        ..wanted
    };
    let object = Wanted {
        object: Some(7),
        ..Wanted::default()
    };
    // The expected number of lines; among them are two for losses in the other thread.
    for (wanted, count) in [
        (members(&["a.Often.rare"]), 4),
        (in_main(members(&["a.Often.rare"])), 2),
        (members(&["a.Held.f"]), 3),
        (members(&["a.Other.*"]), 3),
        (classes(&["a.Other"]), 4),
        (classes(&["a.Face"]), 3),
        (classes(&["a.Face", "a.Other"]), 5),
        (object.clone(), 2),
        (
            Wanted {
                object: Some(7),
                ..members(&["a.Held.f"])
            },
            1,
        ),
    ] {
        let filter = Filter::new(&wanted, &log.dictionary);
        let some = filter.places(&log, false);
        assert!(some.len() < 20, "{wanted:?}: {some:?}");
        let found = lines(&log, &wanted, &some);
        assert_eq!(found, lines(&log, &wanted, &all), "{wanted:?}: {some:?}");
        assert_eq!(found.len(), count, "{wanted:?}: {found:#?}");
    }
    // Depths and texts depend on everything before.
    let filter = Filter::new(&object, &log.dictionary);
    assert!(filter.places(&log, true).len() > 50);
}

#[test]
fn where_threads_may_have_other_names_than_the_dictionary_tells_all_is_read() {
    let wanted = members(&["a.Often.rare"]);
    let bounds = [("from".to_owned(), "a.Often.rare".to_owned())];
    for log in [log(&bounds, false), log(&[], true)] {
        let filter = Filter::new(&wanted, &log.dictionary);
        assert!(filter.places(&log, false).len() > 30);
    }
}
