use super::Export;
use crate::trace::steps::{Step, What};
use crate::trace::{DICTIONARY, Trace};
use hindsight_tracelog::trace::ObjectId;
use hindsight_tracelog::trace::dictionary;
use std::fs;

#[test]
fn objects_have_a_row_each_also_where_they_are_told_of_again_and_nothing_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(DICTIONARY), dictionary::file_header()).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut export = Export::create(&dir.path().join("tables"), &trace).unwrap();
    for (serial, again) in [(1, false), (2, false), (1, true), (3, true), (3, true)] {
        let what = What::New {
            object: ObjectId(serial),
            length: 5,
            hash: None,
            text: Some("order".to_owned()),
            units: None,
            elements: None,
            secret: false,
            again,
        };
        let step = Step {
            thread: 1,
            is_virtual: false,
            stamp: 1,
            what,
        };
        export.add(&step).unwrap();
    }
    assert_eq!(export.finish().unwrap(), [0, 0, 0, 0, 0, 3, 0, 0]);
}
