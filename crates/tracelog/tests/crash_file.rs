//! Tests of crash files: what was written is read back, and damage is reported, never believed.

use hindsight_tracelog::crash::*;
use hindsight_tracelog::reader::{Crash, Error};
use hindsight_tracelog::{VERSION, record, writer};
use proptest::prelude::*;

fn sample() -> (Crash, Vec<u8>) {
    let class = |id: u32, name: &str, kind, fields: &[(&str, &str)]| ClassInfo {
        id,
        name: name.to_owned(),
        kind,
        fields: fields
            .iter()
            .map(|(name, descriptor)| FieldInfo {
                owner: "Node".to_owned(),
                name: (*name).to_owned(),
                descriptor: (*descriptor).to_owned(),
                access: 2,
            })
            .collect(),
        ..ClassInfo::default()
    };
    let crash = Crash {
        meta: Meta {
            agent: "0.1.0".to_owned(),
            thread: "main".to_owned(),
            pid: 7,
            ..Meta::default()
        },
        failure: Failure {
            statics: Vec::new(),
            exceptions: vec![ExceptionInfo {
                class: "java.lang.NullPointerException".to_owned(),
                message: None,
                object: Some(0),
                ..ExceptionInfo::default()
            }],
            frames: vec![Frame {
                class: "Node".to_owned(),
                method: "next".to_owned(),
                descriptor: "(JLNode;)V".to_owned(),
                line: Some(12),
                fidelity: Fidelity::Fields,
                arguments: vec![
                    Argument {
                        index: 0,
                        name: None,
                        descriptor: "LNode;".to_owned(),
                        value: Value::Ref(0),
                    },
                    Argument {
                        index: 1,
                        name: Some("n".to_owned()),
                        descriptor: "J".to_owned(),
                        value: Value::Int(i64::MIN),
                    },
                ],
                patch: vec![Patch {
                    object: 0,
                    owner: "Node".to_owned(),
                    field: "next".to_owned(),
                    descriptor: "LNode;".to_owned(),
                    value: Value::Ref(1),
                    index: None,
                }],
                ..Frame::default()
            }],
            threads: vec![ThreadState {
                name: "waiting".to_owned(),
                state: "BLOCKED".to_owned(),
                wants: Some(Lock {
                    object: Some(0),
                    class: "Node".to_owned(),
                    owner: Some(0),
                }),
                ..ThreadState::default()
            }],
            constants: vec![Constant {
                object: 1,
                owner: "Node".to_owned(),
                name: "NAME".to_owned(),
            }],
        },
        classes: vec![
            class(
                0,
                "Node",
                ClassKind::Class,
                &[
                    ("next", "LNode;"),
                    ("weight", "D"),
                    ("flag", "Z"),
                    ("f", "F"),
                ],
            ),
            class(1, "java.lang.String", ClassKind::Class, &[]),
            class(2, "[I", ClassKind::Array, &[]),
        ],
        objects: vec![
            Some(Object {
                class: 0,
                body: Body::Instance(vec![
                    Value::Ref(0),
                    Value::Double(-0.0),
                    Value::Bool(true),
                    Value::Float(f32::INFINITY),
                ]),
            }),
            Some(Object {
                class: 1,
                body: Body::String(Text::from_utf16(&[0x61, 0xd800])),
            }),
            Some(Object {
                class: 1,
                body: Body::String(Text::from_utf16(&[0x61, 0xd83d, 0xde00])),
            }),
            Some(Object {
                class: 2,
                body: Body::Primitives(vec![1, 0, 0, 0, 255, 255, 255, 255]),
            }),
            Some(Object {
                class: 0,
                body: Body::References(vec![Value::Null, Value::Ref(2)]),
            }),
            Some(Object {
                class: 0,
                body: Body::Enum {
                    name: "RED".to_owned(),
                    fields: vec![Value::Ref(3)],
                },
            }),
            Some(Object {
                class: 0,
                body: Body::Hole("thread".to_owned()),
            }),
            Some(Object {
                class: 0,
                body: Body::Lambda(Lambda {
                    class: "A".to_owned(),
                    method: "lambda$0".to_owned(),
                    captured: vec![
                        ("I".to_owned(), Value::Int(3)),
                        ("LNode;".to_owned(), Value::Ref(0)),
                    ],
                    ..Lambda::default()
                }),
            }),
        ],
        origins: vec![],
        unrestored: None,
        damage: vec![],
        unknown: 0,
        trailing: 0,
    };
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    file.extend(writer::classes(&crash.classes));
    file.extend(writer::objects(
        0,
        crash.objects.iter().flatten().cloned().collect(),
    ));
    file.extend(writer::end(4));
    (crash, file)
}

#[test]
fn reads_back_what_was_written() {
    let (crash, file) = sample();
    assert_eq!(Crash::read(&file).unwrap(), crash);
}

#[test]
fn origins_are_added_to_whole_files_and_replaced() {
    let (mut crash, file) = sample();
    let origin = |found: &str| Origin {
        name: "Main$1".to_owned(),
        found: found.to_owned(),
    };
    let with = writer::for_tests(&file, &[origin("Main$1/0/a/b")], None).unwrap();
    crash.origins = vec![origin("Main$1/0/a/b")];
    assert_eq!(Crash::read(&with).unwrap(), crash);
    let with = writer::for_tests(&with, &[origin("Main$2/0/c/b")], None).unwrap();
    crash.origins = vec![origin("Main$2/0/c/b")];
    assert_eq!(Crash::read(&with).unwrap(), crash);
    let classes = ["a.B".to_owned()];
    let with = writer::for_tests(&with, &[], Some(&classes)).unwrap();
    let read = Crash::read(&with).unwrap().unrestored;
    assert_eq!(read.as_deref(), Some(&classes[..]));
    assert_eq!(writer::for_tests(&with, &[], None).unwrap(), file);
    assert_eq!(writer::for_tests(&file[..file.len() - 1], &[], None), None);
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let (_, mut file) = sample();
    file[8..12].copy_from_slice(&(VERSION + 1).to_le_bytes());
    let crc = crc32fast::hash(&file[..12]);
    file[12..16].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(
        Crash::read(&file),
        Err(Error::NewerVersion {
            found: VERSION + 1,
            supported: VERSION
        })
    );
}

#[test]
fn what_a_later_release_has_added_is_told() {
    let (crash, _) = sample();
    let of = |record: Vec<u8>| {
        let found = record::find(&record, 0).unwrap();
        found.unpack().unwrap()
    };
    // An array of at least sixteen members gets one more.
    let mut longer = of(writer::meta(&crash.meta));
    assert_eq!(longer[0], 0xdc);
    longer[2] += 1;
    longer.push(0xc0);
    let mut file = record::file_header().to_vec();
    file.extend(record::pack(record::Kind::Meta, &longer));
    file.extend(writer::failure(&crash.failure));
    file.extend(writer::end(2));
    let error = Crash::read(&file).unwrap_err();
    assert_eq!(error, Error::LaterRecord);
    assert!(
        error
            .to_string()
            .contains("use the hindsight release that recorded it")
    );
    // A record of an unknown kind contains nothing else.
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    file.extend(record::pack(record::Kind::Unknown(99), b"new"));
    file.extend(writer::end(3));
    let read = Crash::read(&file).unwrap();
    assert_eq!((read.is_whole(), read.unknown), (true, 1));
}

/// Arrays of zeros are compressed to a thousandth, and take sixteen bytes for each element.
#[test]
fn what_a_small_file_says_takes_no_gigabytes() {
    let (crash, _) = sample();
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    let nothing = Object {
        class: 0,
        body: Body::References(vec![Value::Null; 8 << 20]),
    };
    let block = writer::objects(0, vec![nothing]);
    for _ in 0..6 {
        file.extend(&block);
    }
    file.extend(writer::end(8));
    let read = Crash::read(&file).unwrap();
    assert_eq!(read.failure, crash.failure);
    let [refused, ..] = &read.damage[..] else {
        panic!("all of it is taken");
    };
    assert!(refused.contains("more memory"), "{refused}");
    assert!(read.damage.len() < 4, "{:?}", read.damage);
}

#[test]
fn another_file_is_not_a_crash_file() {
    assert_eq!(
        Crash::read(b"PK\x03\x04 something else"),
        Err(Error::NotACrashFile)
    );
    assert_eq!(Crash::read(b"HSC?"), Err(Error::NotACrashFile));
    let empty = Crash::read(b"").expect_err("there is nothing").to_string();
    assert!(empty.contains("the file is empty"), "{empty}");
}

#[test]
fn every_truncation_is_noticed_and_keeps_what_is_whole() {
    let (crash, file) = sample();
    for len in 0..file.len() {
        match Crash::read(&file[..len]) {
            Ok(read) => {
                assert!(!read.is_whole(), "a file cut to {len} bytes looks whole");
                assert_eq!(read.failure, crash.failure);
            }
            Err(Error::Damaged { offset, .. }) => assert!(offset <= len),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn the_first_damage_is_what_is_told() {
    let (_, mut file) = sample();
    file[60] ^= 1;
    let error = Crash::read(&file).unwrap_err().to_string();
    assert_eq!(
        error,
        "damaged at offset 0x10: a record's checksum does not fit; the exception and its frames are \
         lost"
    );
}

#[test]
fn bytes_after_the_end_record_are_counted_and_left_aside() {
    let (crash, mut file) = sample();
    file.extend(b"more");
    let read = Crash::read(&file).unwrap();
    assert!(read.is_whole());
    assert_eq!(
        read,
        Crash {
            trailing: 4,
            ..crash
        }
    );
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (_, file) = sample();
    for bit in 0..file.len() * 8 {
        let mut bad = file.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = Crash::read(&bad) {
            assert!(!read.is_whole(), "bit {bit} flipped unnoticed");
        }
    }
}

#[test]
fn a_damaged_block_of_objects_loses_only_itself() {
    let (crash, _) = sample();
    let objects: Vec<Object> = crash.objects.iter().flatten().cloned().collect();
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    file.extend(writer::classes(&crash.classes));
    let damaged = file.len() + record::RECORD_HEADER;
    file.extend(writer::objects(0, objects[..3].to_vec()));
    file.extend(writer::objects(3, objects[3..].to_vec()));
    file.extend(writer::end(5));
    file[damaged] ^= 1;
    let read = Crash::read(&file).unwrap();
    assert_eq!(read.damage.len(), 1, "{:?}", read.damage);
    assert_eq!(read.object(0), None);
    assert_eq!(read.objects[3..], crash.objects[3..]);
}

/// Each block claims a number a little below the limit for one gap: together they would take
/// gigabytes.
#[test]
fn gaps_do_not_add_up() {
    let (crash, _) = sample();
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    for block in 1..100 {
        file.extend(writer::objects(block * 1_000_000, Vec::new()));
    }
    let read = Crash::read(&file).unwrap();
    assert!(read.objects.len() < 2_000_000, "{}", read.objects.len());
    assert!(read.damage.len() > 90 && read.damage[0].contains("out of range"));
}

/// No record is larger than a reader accepts, however large the objects are, up to their limit.
#[test]
fn objects_of_many_bytes_are_in_records_of_their_own() {
    let object = |bytes: usize| Object {
        class: 2,
        body: Body::Primitives(vec![7; bytes]),
    };
    let sizes = [1, 6 << 20, 9 << 20, 9 << 20, 40 << 20, 1, 2];
    let (crash, _) = sample();
    let mut file = record::file_header().to_vec();
    file.extend(writer::meta(&crash.meta));
    file.extend(writer::failure(&crash.failure));
    file.extend(writer::classes(&crash.classes));
    let mut records = 3;
    for record in writer::blocks(sizes.into_iter().map(object)) {
        file.extend(record);
        records += 1;
    }
    file.extend(writer::end(records));
    assert_eq!(records, 3 + 3);
    let crash = Crash::read(&file).unwrap();
    assert!(crash.damage.is_empty(), "{:?}", crash.damage);
    let read = crash
        .objects
        .iter()
        .flatten()
        .map(|object| match &object.body {
            Body::Primitives(bytes) => bytes.len(),
            other => panic!("{other:?}"),
        });
    assert_eq!(read.collect::<Vec<_>>(), sizes);
    let many = (0..writer::OBJECTS_PER_BLOCK + 1).map(|_| object(0));
    assert_eq!(writer::blocks(many).count(), 2);
}

/// Sound records of wrong content: another letter is another crash, another structure is
/// damage, and nothing else suffers.
#[test]
fn wrong_content_of_sound_records_is_told() {
    let (_, file) = sample();
    let header = record::file_header().len();
    let (mut offset, mut whole, mut damaged, mut refused) = (header, 0, 0, 0);
    let mut records = 0;
    while offset < file.len() {
        let found = record::find(&file, offset).unwrap();
        let raw = found.unpack().unwrap();
        for at in 0..raw.len() {
            for bit in 0..8 {
                let mut raw = raw.clone();
                raw[at] ^= 1 << bit;
                let record = record::pack(found.kind, &raw);
                let changed = [&file[..offset], &record, &file[found.next..]].concat();
                match Crash::read(&changed) {
                    Ok(crash) if crash.damage.is_empty() => whole += 1,
                    Ok(_) => damaged += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        offset = found.next;
        records += 1;
    }
    println!("{whole} whole, {damaged} damaged, {refused} refused");
    assert_eq!(records, 5);
    assert!(whole > 500 && damaged > 500 && refused > 100);
}

proptest! {
    /// Whatever the bytes behind a sound header, there is a result and no panic.
    #[test]
    fn hostile_payloads_are_survived(raw in proptest::collection::vec(any::<u8>(), 0..200), kind in 0usize..5) {
        let (crash, _) = sample();
        let kind = [record::Kind::Meta, record::Kind::Failure, record::Kind::Classes, record::Kind::Objects, record::Kind::End][kind];
        let mut file = record::file_header().to_vec();
        file.extend(writer::meta(&crash.meta));
        file.extend(writer::failure(&crash.failure));
        file.extend(record::pack(kind, &raw));
        let _ = Crash::read(&file);
    }

    #[test]
    fn strings_keep_their_code_units(units in proptest::collection::vec(any::<u16>(), 0..50)) {
        prop_assert_eq!(Text::from_utf16(&units).units(), units);
    }
}
