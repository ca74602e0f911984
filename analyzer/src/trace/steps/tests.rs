//! Tests of steps, with events that are made here.

use super::{Gap, Step, Steps, What};
use crate::trace::ahead::read_ahead;
use hindsight_tracelog::trace::block::{Header, segment_header};
use hindsight_tracelog::trace::dictionary::{
    self, Dictionary, Member, Method, Record, TracedClass,
};
use hindsight_tracelog::trace::kind::{Kind, LAYOUTS, Layout, Names};
use hindsight_tracelog::trace::{Datum, Live, Log, Packer};

/// The bytes of an event as in a chunk.
pub(in crate::trace) fn event(
    kind: Kind,
    id: u32,
    references: &[u64],
    ints: &[u32],
    longs: &[u64],
) -> Vec<u8> {
    let fits = |layout: &Layout| {
        layout.kind == kind
            && usize::from(layout.references) == references.len()
            && usize::from(layout.ints) == ints.len()
            && usize::from(layout.longs) == longs.len()
    };
    let tag = LAYOUTS.iter().position(|of| of.as_ref().is_some_and(fits));
    let tag = tag.expect("there is such an event");
    let mut bytes = vec![tag as u8];
    if LAYOUTS[tag].is_some_and(|layout| layout.names != Names::Nothing) {
        bytes.extend(id.to_le_bytes());
    }
    bytes.extend(references.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(ints.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(longs.iter().flat_map(|value| value.to_le_bytes()));
    if LAYOUTS[tag].is_some_and(|layout| layout.text) {
        // The text is empty.
        bytes.extend([0; 3]);
    }
    bytes
}

/// A log of blocks, each given as stream, sequence, stamp and events.
fn log(blocks: &[(u64, u64, u64, &[Vec<u8>])]) -> Log<Vec<u8>> {
    let mut packer = Packer::new().expect("memory");
    let mut segment = segment_header().to_vec();
    for &(stream, sequence, stamp, events) in blocks {
        let mut header = Header {
            stream,
            sequence,
            stamp,
            thread: stream,
            ..Header::default()
        };
        let packed = packer.pack(&mut header, &events.concat(), &mut segment);
        packed.expect("sound events");
    }
    let member = |id, name: &str, descriptor: &str| Member {
        id,
        owner: "Owner".to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    };
    let class = TracedClass {
        methods: vec![Method {
            id: 1,
            name: "m".to_owned(),
            descriptor: "(JJ)V".to_owned(),
            told: vec![(1, "J".to_owned()), (2, "J".to_owned())],
            ..Method::default()
        }],
        fields: vec![member(1, "f", "I")],
        callees: vec![member(1, "addAndGet", "(J)J"), member(2, "lazySet", "(J)V")],
        ..TracedClass::default()
    };
    let mut file = dictionary::file_header().to_vec();
    file.extend(dictionary::pack(&Record::Traced(class)).expect("memory"));
    let (dictionary, damage) = Dictionary::read(&file).expect("a dictionary");
    assert_eq!(damage, None);
    let log = Log::open(dictionary, vec![segment], Live::read(vec![]));
    log.map_err(|(_, error)| error).expect("a log")
}

fn steps(log: &Log<Vec<u8>>) -> Vec<(u64, What)> {
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let mut steps = Steps::new(log, &all);
    let mut told = Vec::new();
    while let Some(step) = steps.next_step() {
        let step = step.expect("sound events");
        told.push((step.thread, step.what));
    }
    told
}

const OBJECT: u64 = 1 << 40 | 7;

/// A complete call is not held back until the next event of its thread, so that writes of several
/// threads to one object stay in their order.
#[test]
fn whole_calls_stay_in_their_order() {
    let first = [
        event(Kind::Called, 1, &[OBJECT], &[], &[5]),
        event(Kind::More, 1, &[], &[], &[6]),
        event(Kind::Stamp, 0, &[], &[], &[4]),
        event(Kind::Called, 2, &[OBJECT], &[], &[9]),
        event(Kind::Stamp, 0, &[], &[], &[8]),
        event(Kind::Enter, 1, &[], &[], &[1]),
        event(Kind::More, 1, &[], &[], &[2]),
        event(Kind::Stamp, 0, &[], &[], &[20]),
        event(Kind::Exit, 1, &[], &[], &[]),
    ];
    let second = [
        event(Kind::Put, 1, &[OBJECT], &[3], &[]),
        event(Kind::Stamp, 0, &[], &[], &[6]),
        event(Kind::Put, 1, &[OBJECT], &[4], &[]),
        event(Kind::Stamp, 0, &[], &[], &[10]),
        event(Kind::Put, 1, &[OBJECT], &[5], &[]),
    ];
    let log = log(&[(1, 0, 1, &first), (2, 0, 2, &second)]);
    let told = steps(&log);
    let threads: Vec<u64> = told.iter().map(|(thread, _)| *thread).collect();
    assert_eq!(threads, [1, 2, 1, 2, 1, 2, 1]);
    let Some((_, What::Called { values, .. })) = told.first() else {
        panic!("{told:?}");
    };
    assert_eq!(values[1..], [Datum::Long(5), Datum::Long(6)]);
    let Some((_, What::Enter { arguments, .. })) = told.get(4) else {
        panic!("{told:?}");
    };
    let values: Vec<_> = arguments.iter().map(|argument| argument.value).collect();
    assert_eq!(values, [Datum::Long(1), Datum::Long(2)]);
}

#[test]
fn a_gap_is_a_step() {
    let before = [event(Kind::Enter, 1, &[], &[], &[1])];
    let after = [
        event(Kind::More, 1, &[], &[], &[2]),
        event(Kind::Exit, 1, &[], &[], &[]),
    ];
    let told = steps(&log(&[(1, 0, 1, &before), (1, 2, 3, &after)]));
    let [
        (_, What::Enter { arguments, .. }),
        (_, What::Lost(Gap::Blocks)),
        (_, What::Exit { .. }),
    ] = told.as_slice()
    else {
        panic!("{told:?}");
    };
    assert_eq!(arguments.len(), 1);
}

/// Two virtual threads share a carrier, of which a block is missing; the second goes on elsewhere.
#[test]
fn a_gap_of_a_carrier_is_told_to_all_that_it_may_have_run() {
    const VIRTUAL: u32 = 1;
    let runs = |thread: u64| event(Kind::Switch, 0, &[], &[VIRTUAL], &[thread, 0]);
    let enter = |argument: u64| event(Kind::Enter, 1, &[], &[], &[argument]);
    let before = [runs(11), enter(1), runs(12), enter(2)];
    let after = [runs(11), event(Kind::Exit, 1, &[], &[], &[])];
    let elsewhere = [runs(12), event(Kind::Exit, 1, &[], &[], &[])];
    let fresh = [runs(13), enter(3)];
    let told = steps(&log(&[
        (1, 0, 1, &before),
        (1, 2, 3, &after),
        (2, 0, 5, &elsewhere),
        (2, 1, 7, &fresh),
    ]));
    let lost = told
        .iter()
        .filter(|(_, what)| matches!(what, What::Lost(_)));
    let lost: Vec<u64> = lost.map(|(thread, _)| *thread).collect();
    assert_eq!(lost, [11, 12], "{told:?}");
}

/// The recorder has reported how many events it lost: that is not damage, and does not concern
/// threads that no carrier runs.
#[test]
fn a_loss_of_a_carrier_may_be_of_any_that_it_may_have_run() {
    let runs = |thread: u64| event(Kind::Switch, 0, &[], &[1], &[thread, 0]);
    let exit = event(Kind::Exit, 1, &[], &[], &[]);
    let lost = |events: u64| event(Kind::Lost, 0, &[], &[], &[events]);
    let before = [runs(11), exit.clone(), runs(12), exit.clone()];
    let told = steps(&log(&[
        (1, 0, 1, &before),
        // A platform thread that carries no virtual ones.
        (2, 0, 3, &[exit.clone(), lost(1)]),
        (3, 0, 5, &[runs(11), exit.clone()]),
        (1, 1, 7, &[lost(2), runs(12), exit.clone()]),
        (3, 1, 9, &[runs(11), runs(12), exit]),
    ]));
    let told = told.into_iter().filter_map(|(thread, what)| match what {
        What::Lost(gap) => Some((thread, gap)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(
        told,
        [
            (2, Gap::Told(1)),
            (1, Gap::Told(2)),
            (12, Gap::Elsewhere),
            (11, Gap::Elsewhere)
        ]
    );
}

/// There are more steps than are handed over at once.
#[test]
fn steps_that_are_read_ahead_are_the_same() {
    let many: Vec<_> = (0..5000)
        .map(|value| event(Kind::Put, 1, &[OBJECT], &[value], &[]))
        .collect();
    let log = log(&[(1, 0, 1, &many)]);
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let (mut first, mut second, mut told) = (Vec::new(), Vec::new(), 0);
    let mut take_first = |step: &Step| first.push((step.thread, step.what.clone()));
    let mut take_second = |step: &Step| second.push((step.thread, step.what.clone()));
    read_ahead(
        &mut Steps::new(&log, &all),
        vec![&mut take_first, &mut take_second],
        |read| told += read.expect("sound events"),
    );
    assert_eq!(first.len(), 5000);
    assert!(first == steps(&log) && second == first);
    assert_eq!(told, 5000);
}
