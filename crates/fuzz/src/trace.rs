//! The target that reads traces.
//!
//! Checksums and compression would keep a fuzzer out, so an input is read in five ways: as a
//! segment, a live file and a dictionary; as the events of a chunk, which are packed and unpacked;
//! as the columns of a block; as the index and header of one; and as a record of a dictionary.

use std::fs;
use std::path::Path;

use hindsight_tracelog::trace::block::{BLOCK_HEADER, BLOCK_MAGIC, Header, segment_header};
use hindsight_tracelog::trace::dictionary::{
    self, Dictionary, Method, RECORD_HEADER, Record, TracedClass,
};
use hindsight_tracelog::trace::{Filter, Live, Log, ObjectId, Packer, chunk};

use crate::limits::{Limits, within};

/// The limits. A block of a few bytes may claim two megabytes, and the model is as large as the
/// block claims.
const LIMITS: Limits = Limits {
    bytes_per_byte: 1 << 10,
    bytes: 300 << 20,
    nanos_per_byte: 100_000,
    nanos: 2_000_000_000,
};

/// Reads everything in a trace.
fn read(segments: Vec<Vec<u8>>, live: Vec<Vec<u8>>) -> Result<usize, ()> {
    let log = Log::open(Dictionary::default(), segments, Live::read(live)).map_err(|_| ())?;
    let filter = Filter {
        object: Some(ObjectId(7)),
        threads: Some([1].into()),
        ..Filter::default()
    };
    let _ = log.select(&filter);
    let _ = log.missing();
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let mut events = log.events(&all);
    let (mut count, mut errors) = (0, 0);
    while let Some(event) = events.next_event() {
        match event {
            Ok(event) => {
                let _ = (event.text(), event.value(), event.references().count());
                count += 1;
            }
            Err(_) => {
                errors += 1;
                assert!(errors <= all.len(), "an error costs a block");
            }
        }
    }
    Ok(count)
}

/// A segment with one block, whose checksums are right.
fn segment(index: &[u8], plain: &[u8], events: u32) -> Vec<u8> {
    let payload = zstd::bulk::compress(plain, 1).expect("memory");
    let mut block = vec![0; BLOCK_HEADER];
    block[..4].copy_from_slice(BLOCK_MAGIC);
    let ints = [
        events,
        plain.len() as u32,
        plain.len() as u32,
        payload.len() as u32,
        crc32fast::hash(&payload),
        index.len() as u32,
    ];
    for (place, int) in block[56..80].chunks_exact_mut(4).zip(ints) {
        place.copy_from_slice(&int.to_le_bytes());
    }
    block.extend(index);
    let sum = crc32fast::hash(&block[8..]);
    block[4..8].copy_from_slice(&sum.to_le_bytes());
    let mut segment = segment_header().to_vec();
    segment.extend(block);
    segment.extend(payload);
    segment
}

/// A live file with one chunk of these events.
fn live(events: &[u8]) -> Vec<u8> {
    let mut file = chunk::header(&Header::default(), 0, chunk::SIZES[0]).to_vec();
    let room = chunk::SIZES[0] - file.len();
    file.extend(&events[..events.len().min(room)]);
    let end = file.len() as u64;
    file[chunk::END..chunk::END + 8].copy_from_slice(&end.to_le_bytes());
    file[chunk::STATE] = 1;
    file
}

/// A dictionary with one record, whose checksums are right.
fn dictionary(record: &[u8]) -> Vec<u8> {
    let payload = zstd::bulk::compress(record, 1).expect("memory");
    let mut header = Vec::new();
    for int in [record.len(), payload.len()] {
        header.extend((int as u32).to_le_bytes());
    }
    header.extend(crc32fast::hash(&payload).to_le_bytes());
    header.extend(crc32fast::hash(&header).to_le_bytes());
    [&dictionary::file_header()[..], &header, &payload].concat()
}

/// Reads the input in all ways.
pub fn all(bytes: &[u8]) {
    within(&LIMITS, bytes.len(), || {
        let _ = read(vec![bytes.to_vec()], vec![bytes.to_vec()]);
        let _ = read(vec![], vec![live(bytes)]);
        let _ = read(vec![segment(&[], bytes, 1 << 20)], vec![]);
        let half = bytes.len() / 2;
        let _ = read(vec![segment(&bytes[..half], &bytes[half..], 100)], vec![]);
        for file in [bytes, &dictionary(bytes)] {
            if let Ok((dictionary, _)) = Dictionary::read(file) {
                let _ = (dictionary.method(1), dictionary.class(1));
            }
        }
        let mut packed = segment_header().to_vec();
        let mut header = Header::default();
        let mut packer = Packer::new().expect("memory");
        if packer.pack(&mut header, bytes, &mut packed).is_ok() {
            assert_eq!(read(vec![packed], vec![]), Ok(header.events as usize));
        }
    });
}

/// Writes events as a seed, in the form of a chunk.
pub fn write_seed(dir: &str) {
    let mut events = Vec::new();
    // Calls with one object, their returns, a write, a text.
    for id in [1_u32, 2, 1, 1] {
        events.push(11);
        events.extend(id.to_le_bytes());
        events.extend(((1_u64 << 40) | u64::from(id)).to_le_bytes());
        events.push(181);
        events.extend(id.to_le_bytes());
    }
    fs::write(Path::new(dir).join("events"), &events).expect("a seed can be written");
    let mut packed = segment_header().to_vec();
    let mut packer = Packer::new().expect("memory");
    let done = packer.pack(&mut Header::default(), &events, &mut packed);
    done.expect("sound events");
    fs::write(Path::new(dir).join("segment"), packed).expect("a seed can be written");
    let class = TracedClass {
        name: "a.B".to_owned(),
        methods: vec![Method {
            id: 1,
            parameter_names: vec![None],
            ..Method::default()
        }],
        ..TracedClass::default()
    };
    let packed = dictionary::pack(&Record::Traced(class)).expect("memory");
    let record = zstd::stream::decode_all(&packed[RECORD_HEADER..]).expect("it was just packed");
    fs::write(Path::new(dir).join("record"), record).expect("a seed can be written");
}
