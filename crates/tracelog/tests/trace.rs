//! Tests of traces: what was packed is unpacked, and hostile files do no harm.

use hindsight_tracelog::trace::block::{Header, segment_header};
use hindsight_tracelog::trace::chunk;
use hindsight_tracelog::trace::dictionary::{self, Dictionary, Record};
use hindsight_tracelog::trace::kind::{Kind, LAYOUTS, coder, tag};
use hindsight_tracelog::trace::recap::{Changes, Recaps};
use hindsight_tracelog::trace::{Datum, ErrorKind, Filter, Live, Log, ObjectId, Packer, VERSION};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// An event as in a chunk: a tag, an id, values, text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Raw {
    tag: u8,
    id: u32,
    references: Vec<u64>,
    ints: Vec<u32>,
    longs: Vec<u64>,
    text: Vec<u8>,
}

impl Raw {
    fn write(&self, out: &mut Vec<u8>) {
        let layout = LAYOUTS[usize::from(self.tag)].expect("a kind of event");
        out.push(self.tag);
        if layout.names != hindsight_tracelog::trace::kind::Names::Nothing {
            out.extend(self.id.to_le_bytes());
        }
        for reference in &self.references {
            out.extend(reference.to_le_bytes());
        }
        for int in &self.ints {
            out.extend(int.to_le_bytes());
        }
        for long in &self.longs {
            out.extend(long.to_le_bytes());
        }
        if layout.text {
            out.push(0);
            out.extend((self.text.len() as u16).to_le_bytes());
            out.extend(&self.text);
        }
    }
}

prop_compose! {
    /// There are few ids and objects, so that the model can expect some.
    fn raw()(
        tag in 1..tag::LIMIT,
        id in prop_oneof![0..4_u32, any::<u32>()],
        references in prop::collection::vec(prop_oneof![0..4_u64, any::<u64>()], 5),
        ints in prop::collection::vec(prop_oneof![0..4_u32, any::<u32>()], 4),
        longs in prop::collection::vec(prop_oneof![0..4_u64, any::<u64>()], 2),
        text in prop::collection::vec(any::<u8>(), 0..20),
    ) -> Raw {
        let layout = LAYOUTS[usize::from(tag)].expect("a kind of event");
        let has_id = layout.names != hindsight_tracelog::trace::kind::Names::Nothing;
        let few = |len: u8| 0..usize::from(len);
        Raw {
            tag,
            id: if has_id { id } else { 0 },
            references: references[few(layout.references)].to_vec(),
            ints: ints[few(layout.ints)].to_vec(),
            longs: longs[few(layout.longs)].to_vec(),
            text: if layout.text { text } else { Vec::new() },
        }
    }
}

/// The beginning of a call without values, or its end.
fn bare(ends: bool, id: u32) -> Raw {
    let mut tags = (1..).zip(&LAYOUTS[1..]);
    let kind = if ends { Kind::Exit } else { Kind::Enter };
    let first = tags.find(|(_, layout)| layout.is_some_and(|layout| layout.kind == kind));
    Raw {
        tag: first.expect("there are such events").0,
        id,
        references: Vec::new(),
        ints: Vec::new(),
        longs: Vec::new(),
        text: Vec::new(),
    }
}

prop_compose! {
    /// Calls of few methods, mostly without values, and now and then another event.
    fn call()(
        ends in any::<bool>(),
        id in prop_oneof![4 => 0..5_u32, 1 => (7..33_u32, 0..2_u32).prop_map(|(bits, less)| (1 << (bits - 1)) - less)],
        other in prop_oneof![9 => Just(None), 1 => raw().prop_map(Some)],
    ) -> Raw {
        other.unwrap_or_else(|| bare(ends, id))
    }
}

fn bytes(events: &[Raw]) -> Vec<u8> {
    let mut bytes = Vec::new();
    events.iter().for_each(|event| event.write(&mut bytes));
    bytes
}

fn segment(blocks: &[(Header, Vec<Raw>)]) -> Vec<u8> {
    let mut packer = Packer::new().expect("memory");
    let mut segment = segment_header().to_vec();
    for (header, events) in blocks {
        let raw = bytes(events);
        let packed = packer.pack(&mut header.clone(), &raw, &mut segment);
        packed.expect("sound events");
    }
    segment
}

fn read(log: &Log<Vec<u8>>) -> (Vec<Raw>, usize) {
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let (mut read, mut errors) = (Vec::new(), 0);
    let mut events = log.events(&all);
    while let Some(event) = events.next_event() {
        let Ok(event) = event else {
            errors += 1;
            continue;
        };
        read.push(Raw {
            tag: event.tag(),
            id: event.id,
            references: event
                .references()
                .map(|id| id.map_or(0, |id| id.0))
                .collect(),
            ints: event.ints().iter().map(|&int| int as u32).collect(),
            longs: event.longs().iter().map(|&long| long as u64).collect(),
            text: event.text().chars().map(|c| c as u8).collect(),
        });
    }
    (read, errors)
}

fn open(segments: Vec<Vec<u8>>, live: Vec<Vec<u8>>) -> Log<Vec<u8>> {
    let log = Log::open(Dictionary::default(), segments, Live::read(live));
    log.map_err(|(_, error)| error).expect("a log")
}

/// A live file of one chunk.
fn live(header: &Header, events: &[Raw]) -> Vec<u8> {
    let base = 0x7000_0000_0000_u64;
    let mut file = chunk::header(header, base, chunk::SIZES[0]).to_vec();
    file.extend(bytes(events));
    let end = base + file.len() as u64;
    file[chunk::END..chunk::END + 8].copy_from_slice(&end.to_le_bytes());
    file[chunk::STATE] = 1;
    // Bytes behind the end do not count.
    file.resize(chunk::SIZES[0], 0xab);
    file
}

fn header(stream: u64, sequence: u64) -> Header {
    Header {
        stream,
        sequence,
        ..Header::default()
    }
}

proptest! {
    #[test]
    fn what_was_packed_is_unpacked(events in prop::collection::vec(raw(), 0..200)) {
        let log = open(vec![segment(&[(header(1, 0), events.clone())])], vec![]);
        prop_assert_eq!(&log.damage, &vec![]);
        let (read, errors) = read(&log);
        prop_assert_eq!((read, errors), (events, 0));
    }

    #[test]
    fn calls_without_values_are_unpacked(depth in 0..1100_usize, events in prop::collection::vec(call(), 0..1000)) {
        let around = (0..depth).map(|at| bare(false, at as u32 % 5));
        let events: Vec<Raw> = around.chain(events).collect();
        let log = open(vec![segment(&[(header(1, 0), events.clone())])], Vec::new());
        prop_assert_eq!(read(&log), (events, 0));
    }

    #[test]
    fn live_chunks_are_read(events in prop::collection::vec(raw(), 1..100)) {
        let log = open(vec![], vec![live(&header(1, 0), &events)]);
        let (read, errors) = read(&log);
        prop_assert_eq!((read, errors), (events, 0));
    }

    #[test]
    fn damage_is_an_error(
        events in prop::collection::vec(raw(), 1..60),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
        cut in any::<bool>(),
    ) {
        let blocks: Vec<_> = (0..4).map(|at| (header(1, at), events.clone())).collect();
        let mut segment = segment(&blocks);
        let place = 16 + at.index(segment.len() - 16);
        if cut {
            segment.truncate(place);
        } else {
            segment[place] ^= 1_u8 << bit;
        }
        let log = open(vec![segment], vec![]);
        let (read, errors) = read(&log);
        // One block is lost, the others are whole.
        let lost = log.damage.len().max(errors);
        prop_assert!(lost == 1 || cut && read.len() % events.len() == 0);
        prop_assert!(cut || read.len() == 3 * events.len());
    }
}

/// A byte is wrong, before it all is read, and what is no chunk at all is passed over.
#[test]
fn hostile_live_files_do_no_harm() {
    let (mut taken, mut lost) = (0, 0);
    let cases = (
        prop::collection::vec(any::<u8>(), 0..2000),
        prop::collection::vec(raw(), 1..20),
        any::<prop::sample::Index>(),
    );
    let mut runner = proptest::test_runner::TestRunner::default();
    for _ in 0..256 {
        let tree = cases.new_tree(&mut runner).expect("values");
        let (mut file, events, at) = tree.current();
        let mut sound = live(&header(1, 0), &events);
        let place = 128 + at.index(1000);
        sound[place] ^= 0x55;
        file.extend(&sound);
        for file in [file, sound] {
            let (read, errors) = read(&open(vec![], vec![file]));
            taken += read.len();
            // Behind the wrong byte, or before anything.
            lost += usize::from(errors > 0 || read.is_empty());
        }
    }
    println!("{taken} events, {lost} files with less");
    assert!(taken > 500 && lost > 100);
}

fn enter(id: u32, object: u64) -> Raw {
    // The eleventh shape has one reference.
    let raw = Raw {
        tag: 11,
        id,
        references: vec![object],
        ints: vec![],
        longs: vec![],
        text: vec![],
    };
    assert_eq!(LAYOUTS[11].map(|layout| layout.kind), Some(Kind::Enter));
    raw
}

fn stamp(stamp: u64) -> Raw {
    Raw {
        tag: tag::STAMP,
        id: 0,
        references: vec![],
        ints: vec![],
        longs: vec![stamp],
        text: vec![],
    }
}

#[test]
fn streams_are_merged_by_their_stamps() {
    let first = vec![enter(1, 1), stamp(5), enter(2, 1), stamp(9), enter(3, 1)];
    let second = vec![stamp(3), enter(11, 1), stamp(7), enter(12, 1)];
    let log = open(
        vec![segment(&[(header(1, 0), first), (header(2, 0), second)])],
        vec![],
    );
    let (events, errors) = read(&log);
    let ids: Vec<u32> = events
        .iter()
        .map(|event| event.id)
        .filter(|id| *id > 0)
        .collect();
    assert_eq!((ids, errors), (vec![1, 11, 2, 12, 3], 0));
}

#[test]
fn a_block_is_taken_once_and_gaps_are_told() {
    let events = vec![enter(1, 1)];
    let one = segment(&[
        (header(1, 0), events.clone()),
        (header(1, 3), events.clone()),
    ]);
    let log = open(
        vec![one],
        vec![live(&header(1, 3), &events), live(&header(2, 0), &events)],
    );
    assert_eq!(log.blocks().len(), 3);
    let missing = log.missing();
    assert_eq!(missing.len(), 1);
    assert_eq!(
        (missing[0].stream, missing[0].first, missing[0].count),
        (1, 1, 2)
    );
}

/// In a bounded trace, the first blocks of one stream are gone, and all blocks of another one.
#[test]
fn a_stream_whose_beginning_is_gone_begins_with_what_is_running() {
    let mut recaps = Recaps::default();
    let mut packer = Packer::new().expect("memory");
    let call = |id| Raw {
        tag: 1,
        references: vec![],
        ..enter(id, 0)
    };
    let mut old = |sequence, stream, ids: &[u32]| {
        let events: Vec<Raw> = ids.iter().map(|&id| call(id)).collect();
        let of = Header {
            thread: 40 + stream,
            last_stamp: 9,
            ..header(stream, sequence)
        };
        let changes = Changes::of(&of, &bytes(&events)).expect("events");
        recaps.add(&of, Some(changes));
    };
    old(0, 1, &[1, 2]);
    old(1, 1, &[3]);
    old(0, 2, &[8]);
    let mut kept = segment_header().to_vec();
    recaps
        .write(&mut packer, 10_000, &mut kept)
        .expect("memory");
    let leave = |id| Raw {
        tag: (LAYOUTS.iter())
            .position(|of| of.is_some_and(|of| of.kind == Kind::Exit && of.size() == 5))
            .expect("an exit") as u8,
        ..call(id)
    };
    let next = Header {
        stamp: 10,
        ..header(1, 2)
    };
    kept.extend(&segment(&[(next, vec![leave(3)]), (header(3, 0), vec![call(5)])])[16..]);
    let log = open(vec![kept], vec![]);
    let (events, errors) = read(&log);
    assert_eq!(errors, 0);
    let events: Vec<_> = events.iter().map(|event| (event.tag, event.id)).collect();
    let going = |id| (tag::GOING, id);
    let expected = [
        (1, 5),
        going(1),
        going(2),
        going(3),
        going(8),
        (leave(3).tag, 3),
    ];
    assert_eq!(events, expected);
    let missing = log.missing();
    let missing: Vec<_> = missing
        .iter()
        .map(|of| (of.stream, of.first, of.count, of.is_told))
        .collect();
    assert_eq!(missing, [(1, 0, 2, true), (2, 0, 1, true)]);
}

/// A reader that relies on calls and their ends must know that some are missing.
#[test]
fn events_after_a_gap_say_so() {
    let after_gaps = |log: &Log<Vec<u8>>, places: &[usize]| {
        let mut events = log.events(places);
        let mut ids = Vec::new();
        while let Some(event) = events.next_event() {
            ids.extend(
                event
                    .ok()
                    .filter(|event| event.is_after_gap)
                    .map(|event| event.id),
            );
        }
        ids
    };
    let block = |stream, sequence, id| {
        let events = vec![enter(id, 1), enter(id + 1, 1)];
        (header(stream, sequence), events)
    };
    let blocks = [
        block(1, 2, 10),
        block(1, 3, 20),
        block(1, 5, 30),
        block(1, 6, 40),
        block(2, 1, 50),
    ];
    let file = segment(&blocks);
    let log = open(vec![file.clone()], vec![]);
    assert_eq!(after_gaps(&log, &[0, 1, 2, 3, 4]), [30]);
    // Blocks that were not asked for are not missing.
    assert_eq!(after_gaps(&log, &[0, 3]), []);
    let mut damaged = file;
    let payload_end = segment(&blocks[..2]).len() - 1;
    damaged[payload_end] ^= 1;
    let log = open(vec![damaged], vec![]);
    assert_eq!(log.blocks().len(), 5);
    assert_eq!(after_gaps(&log, &[0, 1, 2, 3, 4]), [30]);
    assert_eq!(after_gaps(&log, &[0, 1, 3, 4]), [40]);
}

/// A process that is killed may have written a part of a block, whose events are still in its
/// chunk.
#[test]
fn a_block_that_was_being_written_is_no_damage_if_its_chunk_is_there() {
    let events = vec![enter(1, 1)];
    let first = segment(&[(header(1, 0), events.clone())]);
    let both = segment(&[
        (header(1, 0), events.clone()),
        (header(1, 1), events.clone()),
    ]);
    let other = live(&header(2, 0), &events);
    for len in first.len() + 1..both.len() {
        let cut = both[..len].to_vec();
        let log = open(vec![cut.clone()], vec![live(&header(1, 1), &events)]);
        assert!(log.damage.is_empty() && log.missing().is_empty(), "{len}");
        assert_eq!(log.blocks().len(), 2);
        // Without its chunk it is lost, and the first bytes show which block it is.
        assert_eq!(open(vec![cut.clone()], vec![]).damage.len(), 1, "{len}");
        let told = open(vec![cut], vec![other.clone()]).damage.len();
        assert_eq!(told, usize::from(len >= first.len() + 24), "{len}");
    }
}

/// A disk that was full when the segment began, or a bad sector, costs no more than what it hit.
#[test]
fn a_segment_without_a_sound_header_is_damaged_and_its_blocks_are_there() {
    let events = vec![enter(1, 1)];
    let of = |at| {
        segment(&[
            (header(1, at), events.clone()),
            (header(1, at + 1), events.clone()),
        ])
    };
    let flipped = |at: usize| {
        let mut segment = of(2);
        segment[at] ^= 1;
        segment
    };
    for damaged in [of(2)[16..].to_vec(), flipped(3), flipped(9), flipped(13)] {
        let log = open(vec![of(0), damaged, of(4)], vec![]);
        assert_eq!(log.damage.len(), 1);
        assert_eq!(log.damage[0].file, 1);
        assert_eq!(read(&log), (vec![enter(1, 1); 6], 0));
    }
    let log = open(vec![of(0), vec![7; 100]], vec![]);
    assert_eq!((log.blocks().len(), log.damage.len()), (2, 1));
}

#[test]
fn blocks_are_picked_by_their_indexes() {
    let of_threads: Vec<_> = (0..4)
        .map(|at| {
            let header = Header {
                thread: at,
                ..header(at, 0)
            };
            (header, vec![enter(1, 1)])
        })
        .collect();
    let threads = Filter {
        threads: Some([1].into()),
        ..Filter::default()
    };
    let others = Filter {
        threads_besides: Some([0, 1, 3].into()),
        ..threads.clone()
    };
    let log = open(vec![segment(&of_threads)], vec![]);
    assert_eq!(log.select(&threads), [1]);
    assert_eq!(log.select(&others), [1, 2]);

    let blocks: Vec<_> = (0..50)
        .map(|at| {
            let events = vec![enter(at as u32, (1 << 40) | (at + 1000)); 10];
            (header(1, at), events)
        })
        .collect();
    let log = open(vec![segment(&blocks)], vec![]);
    let methods = Filter {
        methods: Some([7, 9].into()),
        ..Filter::default()
    };
    assert_eq!(log.select(&methods), [7, 9]);
    let object = Filter {
        object: Some(ObjectId(1020)),
        ..Filter::default()
    };
    let picked = log.select(&object);
    assert!(picked.contains(&20) && picked.len() < 5, "{picked:?}");
}

#[test]
fn what_is_in_arrays_is_told_as_their_text() {
    let (ints, names) = ((1 << 40) | 3, (2 << 40) | 1004);
    let of_array = |object: u64, coder: u8, elements: &[u8]| {
        let new = Raw {
            tag: tag::OBJECT,
            id: 0,
            references: vec![object],
            ints: vec![2],
            longs: vec![],
            text: vec![],
        };
        let text = Raw {
            tag: tag::TEXT,
            ints: vec![2, 0],
            text: elements.to_vec(),
            ..new.clone()
        };
        let mut raw = bytes(&[new, text]);
        let at = raw.len() - elements.len() - 3;
        raw[at] = coder;
        raw
    };
    let of_ints = [5_i32, -1].map(i32::to_le_bytes).concat();
    let of_names = [1020_u64, 0].map(u64::to_le_bytes).concat();
    let mut packer = Packer::new().expect("memory");
    let mut segment = segment_header().to_vec();
    let blocks = [
        of_array(ints, coder::PRIMITIVES, &of_ints),
        of_array(names, coder::REFERENCES, &of_names),
    ];
    for (at, raw) in (0..).zip(&blocks) {
        let packed = packer.pack(&mut header(1, at), raw, &mut segment);
        packed.expect("sound events");
    }
    let log = open(vec![segment], vec![]);
    let mut told = Vec::new();
    let mut events = log.events(&[0, 1]);
    while let Some(event) = events.next_event() {
        let event = event.expect("a sound event");
        assert!(!event.is_text() && event.text().is_empty() && event.hash().is_none());
        told.extend(event.elements("I"));
    }
    let name = Datum::Reference(Some(ObjectId(1020)));
    let expected = [
        [Datum::Int(5), Datum::Int(-1)],
        [name, Datum::Reference(None)],
    ];
    assert_eq!(told, expected);
    let object = Filter {
        object: Some(ObjectId(1020)),
        ..Filter::default()
    };
    assert_eq!(log.select(&object), [1]);
}

#[test]
fn later_versions_are_refused_by_name() {
    let later = VERSION + 1;
    let mut segment = segment_header();
    segment[8] = later as u8;
    let sum = crc32fast::hash(&segment[..12]);
    segment[12..].copy_from_slice(&sum.to_le_bytes());
    let log = Log::open(
        Dictionary::default(),
        vec![segment.to_vec()],
        Live::read(vec![]),
    );
    let Err((0, error)) = log else {
        panic!("it is refused");
    };
    assert_eq!(error.kind(), ErrorKind::Version { version: later });
    assert!(error.to_string().contains("use a newer hindsight"));
}

/// What version 1 stored of a class, a method and the run; its enum had the same order.
#[test]
fn the_dictionary_of_version_1_is_read() {
    type Method = (
        u32,
        &'static str,
        &'static str,
        u16,
        Option<(u16, u16)>,
        Vec<(u16, &'static str)>,
        Vec<Option<&'static str>>,
    );
    type Nothing = Vec<(u32, &'static str, &'static str, &'static str)>;
    #[derive(serde::Serialize)]
    enum Old {
        Start(i64, u32, Vec<&'static str>, &'static str),
        Traced(
            &'static str,
            &'static str,
            Vec<Method>,
            Nothing,
            Nothing,
            Nothing,
        ),
        Stop(i64, u64, u64),
    }
    let method = (7, "m", "()V", 1, Some((3, 5)), vec![(0, "LC;")], vec![]);
    let records = [
        Old::Start(5, 6, vec!["calls"], "v"),
        Old::Traced("C", "", vec![method], vec![], vec![], vec![]),
        Old::Stop(9, 0, 1),
    ];
    let mut file = dictionary::file_header();
    file[8] = 1;
    let sum = crc32fast::hash(&file[..12]);
    file[12..].copy_from_slice(&sum.to_le_bytes());
    let mut file = file.to_vec();
    for record in &records {
        let raw = rmp_serde::to_vec(record).expect("memory");
        let payload = zstd::bulk::compress(&raw, 1).expect("memory");
        let mut header = (raw.len() as u32).to_le_bytes().to_vec();
        header.extend((payload.len() as u32).to_le_bytes());
        header.extend(crc32fast::hash(&payload).to_le_bytes());
        header.extend(crc32fast::hash(&header).to_le_bytes());
        file.extend(header);
        file.extend(payload);
    }
    let (dictionary, damage) = Dictionary::read(&file).expect("it is one");
    assert_eq!(damage, None);
    let (class, method) = dictionary.method(7).expect("it is there");
    assert_eq!((class.name.as_str(), method.name.as_str()), ("C", "m"));
    assert!(class.defined.is_none() && method.blocks.is_none());
    assert!(dictionary.start.expect("it").bounds.is_empty());
    assert_eq!(dictionary.stop.expect("it").segments_deleted, 1);
}

#[test]
fn a_cut_dictionary_is_read_as_far_as_it_goes() {
    let class = |id| {
        let name = format!("C{id}");
        let class = Record::Class(dictionary::ObjectClass {
            id,
            name,
            code: None,
        });
        dictionary::pack(&class).expect("memory")
    };
    let mut file = dictionary::file_header().to_vec();
    file.extend(class(1));
    let whole = file.len();
    file.extend(class(2));
    for len in whole..file.len() {
        let (read, damage) = Dictionary::read(&file[..len]).expect("a dictionary");
        assert_eq!((read.class(1), read.class(2)), (Some("C1"), None));
        assert_eq!(damage.is_some(), len > whole);
    }
    // Damage costs no other record.
    for at in 16..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 4;
        let (read, damage) = Dictionary::read(&damaged).expect("a dictionary");
        assert!(damage.is_some());
        let names = [read.class(1), read.class(2)];
        let in_first = at < whole;
        assert_eq!(
            names,
            [(!in_first).then_some("C1"), in_first.then_some("C2")]
        );
    }
}
