use super::*;

struct Trace {
    directory: PathBuf,
    segments: Segments,
}

/// The smallest bound, in which a trace may have 16 segments.
const BOUND: u64 = PARTS * SMALLEST;
/// The size of a block of which two fill a segment.
const BLOCK: usize = SMALLEST as usize / 2 - 1024;

impl Trace {
    fn new(name: &str, max_bytes: Option<u64>) -> Trace {
        let name = format!("hindsight-segments-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let segments = Segments::new(directory.clone(), max_bytes, |_, _| {});
        Trace {
            directory,
            segments,
        }
    }

    fn append(&self, blocks: usize) {
        for _ in 0..blocks {
            let header = Header::default();
            let stored = self.segments.append(&header, &[0; BLOCK], None);
            assert_eq!(stored, Block::Stored);
        }
    }

    /// The numbers of the segments that exist.
    fn numbers(&self) -> Vec<u32> {
        let numbers = 1..=self.segments.so_far().last.0;
        numbers
            .filter(|number| self.segments.path(*number).exists())
            .collect()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn a_segment_waits_for_the_block_before_one_that_came_early() {
    let trace = Trace::new("early", Some(BOUND));
    let last = [0, 2, 1, 3, 4].map(|sequence| {
        let header = Header {
            stream: 1,
            sequence,
            ..Header::default()
        };
        let changes = Some(Changes::default());
        trace.segments.append(&header, &[0; BLOCK], changes);
        trace.segments.so_far().last.0
    });
    assert_eq!(last, [1, 1, 1, 2, 2]);
    // One that never comes is not waited for without end.
    let last = [6, 7, 8, 9].map(|sequence| {
        let header = Header {
            stream: 1,
            sequence,
            ..Header::default()
        };
        trace.segments.append(&header, &[0; BLOCK], None);
        trace.segments.so_far().last.0
    });
    assert_eq!(last, [3, 3, 3, 3]);
}

#[test]
fn the_oldest_segments_go_beyond_the_bound() {
    let trace = Trace::new("oldest", Some(BOUND));
    trace.append(32);
    assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
    trace.append(6);
    assert_eq!(trace.numbers(), (4..=19).collect::<Vec<_>>());
    assert_eq!(trace.segments.so_far().deleted, 3);
    assert_eq!(trace.segments.so_far().last, (19, 32));
    let lens = trace.numbers().into_iter().map(|number| {
        let path = trace.segments.path(number);
        fs::metadata(path).unwrap().len()
    });
    assert!(lens.sum::<u64>() <= BOUND);
}

/// Threads that end later still have events.
#[test]
fn what_has_ended_stays_as_it_is() {
    let trace = Trace::new("closed", Some(BOUND));
    trace.append(32);
    let closed = trace.segments.close();
    for _ in 0..6 {
        let late = trace.segments.append(&Header::default(), &[0; BLOCK], None);
        assert_eq!(late, Block::TooLate);
    }
    assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
    assert_eq!(closed, Some(trace.segments.so_far()));
}

#[test]
fn what_was_left_by_a_panic_ends_too() {
    let trace = Trace::new("poisoned", None);
    trace.append(1);
    let panics = || {
        let _state = trace.segments.state.lock().unwrap();
        panic!("within a write");
    };
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
    assert!(panicked.is_err() && trace.segments.state.is_poisoned());
    assert_eq!(trace.segments.close(), None);
    let late = trace.segments.append(&Header::default(), &[0; BLOCK], None);
    assert_eq!(late, Block::TooLate);
}

#[test]
fn nothing_goes_without_a_bound() {
    let trace = Trace::new("unbounded", None);
    trace.append(40);
    assert_eq!(trace.numbers(), [1]);
    assert_eq!(trace.segments.span(), None);
}

/// Each window has several segments: when its beginning is deleted, its rest is deleted, too.
#[test]
fn a_window_goes_whole_where_most_of_the_bound_stays_in_use() {
    let trace = Trace::new("windows", Some(BOUND));
    for _ in 0..4 {
        trace.segments.begin_window();
        trace.append(8);
    }
    assert_eq!(trace.segments.windows(), 4);
    assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
    trace.segments.begin_window();
    trace.append(1);
    assert_eq!(trace.numbers(), (5..=17).collect::<Vec<_>>());
}

#[test]
fn of_a_window_that_is_most_of_the_trace_the_rest_stays() {
    let trace = Trace::new("long", Some(BOUND));
    trace.segments.begin_window();
    trace.append(30);
    trace.segments.begin_window();
    trace.append(4);
    assert_eq!(trace.numbers(), (2..=17).collect::<Vec<_>>());
}

#[test]
fn very_small_windows_share_a_segment() {
    let trace = Trace::new("small", Some(BOUND));
    for _ in 0..10 {
        trace.segments.begin_window();
        let header = Header::default();
        let stored = trace.segments.append(&header, &[0; 1024], None);
        assert_eq!(stored, Block::Stored);
    }
    assert_eq!(trace.numbers(), [1]);
}

/// Threads of the program wait for the one that begins a window.
#[test]
fn a_window_begins_while_files_are_written() {
    let trace = Trace::new("waits", Some(BOUND));
    trace.append(1);
    let writing = trace.segments.state.lock().unwrap();
    trace.segments.begin_window();
    trace.segments.begin_window();
    assert_eq!(trace.segments.windows(), 2);
    drop(writing);
    trace.append(1);
    // The segment is half full.
    assert_eq!(trace.numbers(), [1]);
    trace.segments.begin_window();
    trace.append(1);
    assert_eq!(trace.numbers(), [1, 2]);
}

#[test]
fn what_could_not_be_written_is_not_sound() {
    let trace = Trace::new("missing", None);
    fs::remove_dir_all(&trace.directory).unwrap();
    assert!(trace.segments.so_far().is_sound);
    let lost = trace.segments.append(&Header::default(), &[0; 8], None);
    assert_eq!(lost, Block::Lost);
    assert!(!trace.segments.so_far().is_sound);
    fs::create_dir_all(&trace.directory).unwrap();
    trace.append(1);
    assert_eq!(trace.segments.so_far().last.1, 1);
}

/// A file without a header would not be part of a trace.
#[test]
fn a_disk_that_is_full_when_a_segment_begins_leaves_none_of_it() {
    let mut trace = Trace::new("full", None);
    trace.segments.create = |path| {
        create(path)?;
        OpenOptions::new().append(true).open("/dev/full")
    };
    for _ in 0..2 {
        let lost = trace.segments.append(&Header::default(), &[1; 8], None);
        assert_eq!(lost, Block::Lost);
    }
    assert_eq!(trace.segments.so_far().last, (0, 0));
    assert_eq!(fs::read_dir(&trace.directory).unwrap().count(), 0);
    trace.segments.create = create;
    trace.append(1);
    assert_eq!(trace.segments.so_far().last, (1, 1));
    let written = fs::read(trace.segments.path(1)).unwrap();
    assert_eq!(written.len(), segment_header().len() + BLOCK);
    assert!(written.starts_with(&segment_header()));
}

#[test]
fn a_segment_that_somebody_has_deleted_costs_no_events() {
    let trace = Trace::new("deleted", Some(BOUND));
    trace.append(32);
    fs::remove_file(trace.segments.path(1)).unwrap();
    trace.append(2);
    assert_eq!(trace.numbers(), (2..=17).collect::<Vec<_>>());
    assert!(trace.segments.so_far().is_sound);
}

/// The blocks' events are stored; only the trace is too large.
#[test]
fn a_segment_that_cannot_be_deleted_costs_no_events() {
    static COUNTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut trace = Trace::new("stays", Some(BOUND));
    trace.segments.complain = Box::new(|counter, _| {
        COUNTED.lock().unwrap().push(counter.to_owned());
    });
    trace.append(32);
    let oldest = trace.segments.path(1);
    fs::remove_file(&oldest).unwrap();
    fs::create_dir(&oldest).unwrap();
    trace.append(2);
    assert!(trace.segments.so_far().is_sound);
    assert_eq!(trace.segments.so_far().deleted, 0);
    assert_eq!(*COUNTED.lock().unwrap(), [TOO_LARGE; 2]);
    fs::remove_dir(&oldest).unwrap();
    trace.append(1);
    assert_eq!(trace.segments.so_far().deleted, 2);
    assert_eq!(trace.numbers(), (3..=18).collect::<Vec<_>>());
}
