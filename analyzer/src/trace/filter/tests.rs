//! Tests of which blocks are read for what is wanted, and what is reported as missing.

use super::*;
use hindsight_tracelog::trace::block::{Header, segment_header};
use hindsight_tracelog::trace::dictionary::{Defined, TracedClass};
use hindsight_tracelog::trace::{Live, Packer};

#[test]
fn blocks_are_read_to_where_an_event_can_end() {
    let block = |stream, stamp, last_stamp| Block {
        file: 0,
        offset: 0,
        header: Header {
            stream,
            stamp,
            last_stamp,
            ..Header::default()
        },
        live: false,
    };
    let mut blocks = [block(1, 3, 5), block(1, 9, 12), block(2, 4, 20)];
    // The event that goes on in the next block ends there.
    assert_eq!([0, 1, 2].map(|place| until(&blocks, place)), [9, 12, 20]);
    blocks[2].live = true;
    assert_eq!(until(&blocks, 2), u64::MAX);
}

#[test]
fn blocks_without_the_members_and_the_object_are_read_for_what_they_say_of_the_others() {
    let wanted = Wanted {
        members: vec!["Virt.target".to_owned()],
        object: Some(17),
        ..Wanted::default()
    };
    let of_blocks = |wanted: &Wanted| Filter::new(wanted, &Dictionary::default()).of_blocks();
    assert!(of_blocks(&wanted).is_empty());
    let wanted = Wanted {
        threads: vec!["7".to_owned()],
        ..wanted
    };
    assert_eq!(of_blocks(&wanted).threads, Some(BTreeSet::from([7])));
}

/// A trace with an interface, which is defined at stamp 5. Blocks are given as thread, sequence and
/// stamp.
fn log(blocks: &[(u64, u64, u64)]) -> Log<Vec<u8>> {
    let mut packer = Packer::new().expect("memory");
    let mut segment = segment_header().to_vec();
    for &(thread, sequence, stamp) in blocks {
        let mut header = Header {
            stream: thread,
            thread,
            sequence,
            stamp,
            ..Header::default()
        };
        let packed = packer.pack(&mut header, &[], &mut segment);
        packed.expect("a block");
    }
    let class = TracedClass {
        name: "a.Face".to_owned(),
        defined: Some(Defined {
            stamp: 5,
            ..Defined::default()
        }),
        ..TracedClass::default()
    };
    let mut dictionary = Dictionary::default();
    dictionary.traced.push(class);
    let log = Log::open(dictionary, vec![segment], Live::read(vec![]));
    log.map_err(|(_, error)| error).expect("a log")
}

#[test]
fn a_class_without_members_is_there_and_read_up_to() {
    let wanted = Wanted {
        classes: vec!["a.*".to_owned()],
        ..Wanted::default()
    };
    let log = log(&[(1, 0, 1), (1, 1, 4), (1, 2, 6), (1, 3, 8)]);
    let filter = Filter::new(&wanted, &log.dictionary);
    assert_eq!((filter.void(false), filter.void(true)), (None, None));
    assert_eq!(filter.places(&log, false), [0, 1, 2]);
    let other = Wanted {
        classes: vec!["b.*".to_owned()],
        ..Wanted::default()
    };
    let filter = Filter::new(&other, &log.dictionary);
    assert_eq!(filter.void(false), Some(Void::Member));
}

#[test]
fn a_class_that_is_defined_behind_the_last_block_begins_is_looked_for_in_all() {
    let wanted = Wanted {
        classes: vec!["a.Face".to_owned()],
        ..Wanted::default()
    };
    let log = log(&[(1, 0, 1), (2, 0, 2)]);
    let filter = Filter::new(&wanted, &log.dictionary);
    assert_eq!(filter.places(&log, true), [0, 1]);
}

#[test]
fn texts_are_looked_for_in_what_other_threads_have_told_before() {
    let wanted = Wanted {
        threads: vec!["2".to_owned()],
        ..Wanted::default()
    };
    let log = log(&[(1, 0, 1), (1, 1, 4), (1, 2, 6), (2, 0, 3), (2, 1, 5)]);
    let filter = Filter::new(&wanted, &log.dictionary);
    assert_eq!(filter.places(&log, false), [3, 4]);
    assert_eq!(filter.places(&log, true), [0, 1, 3, 4]);
}

/// The carrier's name is not in the dictionary, since its first event was that of a virtual thread.
#[test]
fn a_carrier_is_found_by_its_name() {
    let wanted = Wanted {
        threads: vec!["Carrier-*".to_owned()],
        ..Wanted::default()
    };
    let mut filter = Filter::new(&wanted, &Dictionary::default());
    let step = |thread, what| Step {
        thread,
        is_virtual: false,
        stamp: 1,
        what,
    };
    let name = "Carrier-1".to_owned();
    let paused = false;
    filter.follow(&step(7, What::Thread { name, paused }));
    assert!(filter.admits(&step(7, What::End)));
    assert!(!filter.admits(&step(8, What::End)));
}
