//! The target that reads crash files.
//!
//! Checksums and compression would keep a fuzzer out, so besides whole files there are inputs that
//! are runs of records: a kind, the length of the content in two bytes, the content.

use std::fs;
use std::path::Path;

use hindsight_tracelog::crash::{
    Body, ClassInfo, ExceptionInfo, Failure, FieldInfo, Frame, Meta, Object, Value,
};
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::record::{self, Kind};
use hindsight_tracelog::writer;

use crate::limits::{Limits, within};

/// The limits. Objects may be missing between others, up to a bound, for which the fixed part of
/// the memory is.
const LIMITS: Limits = Limits {
    bytes_per_byte: 1 << 10,
    bytes: 256 << 20,
    nanos_per_byte: 10_000,
    nanos: 1_000_000_000,
};

const KINDS: [Kind; 8] = [
    Kind::Meta,
    Kind::Failure,
    Kind::Classes,
    Kind::Objects,
    Kind::End,
    Kind::Unknown(77),
    Kind::Origins,
    Kind::Unrestored,
];

/// A file with the records that the input describes.
fn file(mut bytes: &[u8]) -> Vec<u8> {
    let mut file = record::file_header().to_vec();
    while let [kind, high, low, rest @ ..] = bytes {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (content, rest) = rest.split_at(len);
        file.extend(record::pack(
            KINDS[usize::from(*kind) % KINDS.len()],
            content,
        ));
        bytes = rest;
    }
    file
}

/// Reads the input as a file, and as records of a file.
pub fn read(bytes: &[u8]) {
    for file in [bytes.to_vec(), file(bytes)] {
        let read = within(&LIMITS, file.len().max(bytes.len()), || Crash::read(&file));
        match read {
            Ok(crash) => {
                for number in 0..4 {
                    let _ = (crash.object(number), crash.class(number));
                }
                for what in &crash.damage {
                    assert!(what.contains("offset"), "{what}");
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
}

/// Writes a small file as records.
pub fn write_seed(dir: &str) {
    let class = ClassInfo {
        name: "a.B".to_owned(),
        fields: vec![FieldInfo {
            name: "x".to_owned(),
            descriptor: "I".to_owned(),
            ..FieldInfo::default()
        }],
        ..ClassInfo::default()
    };
    let failure = Failure {
        exceptions: vec![ExceptionInfo {
            class: "java.lang.Error".to_owned(),
            ..ExceptionInfo::default()
        }],
        frames: vec![Frame {
            class: "a.B".to_owned(),
            method: "c".to_owned(),
            ..Frame::default()
        }],
        ..Failure::default()
    };
    let objects = vec![Object {
        class: 0,
        body: Body::Instance(vec![Value::Int(5)]),
    }];
    let records = [
        (0, writer::meta(&Meta::default())),
        (1, writer::failure(&failure)),
        (2, writer::classes(&[class])),
        (3, writer::objects(0, objects)),
        (4, writer::end(4)),
    ];
    let mut whole = record::file_header().to_vec();
    let mut input = Vec::new();
    for (kind, packed) in records {
        let content = record::find(&packed, 0).and_then(|found| found.unpack());
        let content = content.expect("it was just packed");
        input.push(kind);
        input.extend((content.len() as u16).to_be_bytes());
        input.extend(content);
        whole.extend(packed);
    }
    fs::write(Path::new(dir).join("records"), input).expect("a seed can be written");
    fs::write(Path::new(dir).join("whole"), whole).expect("a seed can be written");
}
