//! Reads the logs from the Java heap.
//!
//! The failing thread's own log does not change meanwhile. Those of other threads do, but what they
//! have written stays: an entry below the count that was read first is complete. Only if there is
//! no memory for another chunk is one reused. The log's `from` moves before that: if it is
//! unchanged after reading, nothing of the reused chunk was read; else what was read is discarded.
//! read nothing of it, and what was read is thrown away otherwise.

use crate::jni::{Jni, Obj};
use crate::shim::LogIds;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::atomic::{Ordering, fence};

/// A place in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field, by its id.
    Field(u32),
    /// An element of an array.
    Element(u32),
    /// Elements from this one on; the old value is an array of them.
    Range(u32),
}

/// A write: what it has overwritten.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) object: Obj,
    pub(crate) place: Place,
    /// The old reference, or the array with the old values of a range. It is a local reference.
    pub(crate) old: Option<Obj>,
    /// The old primitive value.
    pub(crate) word: i64,
    /// The entry's position in its log.
    pub(crate) position: i64,
    /// The time at which it was made.
    pub(crate) time: i64,
}

/// The log of one thread.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The entries, oldest first.
    pub(crate) entries: Vec<Entry>,
    /// The position from which on it is complete, and the position of its end.
    pub(crate) from: i64,
    pub(crate) end: i64,
    /// The value of `from` that comes from a write that could not be logged.
    pub(crate) forgot: i64,
    /// The changes of the time: the position of each, and the time from there on.
    pub(crate) times: Vec<(i64, i64)>,
}

/// The shift of a log's number in its positions: each log begins at a multiple of this power of
/// two; see `HindsightLog.enter`.
pub(crate) const LOG: u32 = 44;

impl Log {
    /// The time at a position.
    pub(crate) fn time(&self, position: i64) -> i64 {
        let at = self.times.partition_point(|(from, _)| *from < position);
        at.checked_sub(1).map_or(i64::MIN, |at| self.times[at].1)
    }

    /// The number of this log, among all that there have been.
    pub(crate) fn number(&self) -> i64 {
        self.end >> LOG
    }

    /// Whether entries are missing because of a write that could not be logged.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.from == self.forgot
    }

    /// The time from which on frames from this position on need the writes of other threads. For
    /// frames from before the log begins, nothing can be said anyway.
    pub(crate) fn since(&self, oldest: i64) -> i64 {
        // A chunk begins with its time.
        self.time(oldest.max(self.from.saturating_add(1)))
    }

    /// Adds the entries that have come since it was read, if they are later than a time. Returns
    /// the index of the first of them.
    pub(crate) fn append(&mut self, newer: Log, since: i64) -> usize {
        let begin = self.entries.len();
        let end = self.end;
        if newer.from > end {
            // Entries in between were overwritten, or cannot be read: then it is not known until
            // when they were made.
            self.from = newer.from;
            self.forgot = newer.forgot;
            if newer.from == i64::MAX {
                self.times.clear();
            }
        }
        self.end = end.max(newer.end);
        let is_new = |position: i64| position >= end;
        let times = newer.times.into_iter();
        self.times.extend(times.filter(|(at, _)| is_new(*at)));
        let entries = newer.entries.into_iter();
        self.entries
            .extend(entries.filter(|entry| is_new(entry.position) && entry.time > since));
        begin
    }

    /// The time up to which writes may be missing; `None` if it has all of them.
    pub(crate) fn missing_until(&self) -> Option<i64> {
        let is_whole = self.from & ((1 << LOG) - 1) == 0;
        // The time where its valid part begins; for older chunks that were not needed, the next
        // one's.
        let at = self.times.partition_point(|(at, _)| *at <= self.from);
        let time = self.times.get(at.saturating_sub(1));
        (!is_whole).then(|| time.map_or(i64::MAX, |(_, time)| *time))
    }
}

/// The logs of all threads.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    /// The failing thread's log.
    pub(crate) own: Log,
    pub(crate) others: Vec<Log>,
    /// The time up to which logs of dead threads may be missing.
    pub(crate) lost: i64,
    /// The time from which on all classes had their probes.
    pub(crate) complete: i64,
}

/// The approximate number of entries that are read in all of other threads, the latest ones of
/// each. Threads far beyond count as if their log had been lost.
const MAX_OF_OTHERS: usize = 1 << 20;

/// The type of `HindsightLog.table` and `retired`.
const ENTRIES: &CStr = c"[Ljava/lang/HindsightLog$Entry;";

/// How often reading is tried of a log that is being written to.
const TRIES: usize = 8;

/// The upper bits of an entry's first word; the numbers are those in `HindsightLog.java`.
const ELEMENT: i64 = 1 << 62;
const RANGE: i64 = i64::MIN;
const TIME: i64 = i64::MIN | 1 << 62;

impl Logs {
    /// Reads all logs. `thread` is the failing one; of its own log, entries older than `oldest` are
    /// left out, of others those older than the time then.
    pub(crate) fn read(jni: Jni, ids: &LogIds, thread: Option<Obj>, oldest: i64) -> Logs {
        let mut logs = Logs {
            lost: jni.static_long(*ids.class, c"lost").unwrap_or(i64::MAX),
            complete: jni.static_long(*ids.class, c"complete").unwrap_or(0),
            ..Logs::default()
        };
        let all = all(jni, ids, thread);
        if all.let_go {
            logs.lost = i64::MAX;
        }
        if let Some(own) = all.own {
            logs.own = read(jni, ids, own, i64::MIN, || {
                move |chunk: &Chunk| chunk.end() > oldest
            });
        }
        let since = logs.own.since(oldest);
        // A log with more than its share is known down to that only, and frames from before say so.
        let share = MAX_OF_OTHERS / all.others.len().max(1);
        let mut count = 0;
        for log in all.others {
            if count > 2 * MAX_OF_OTHERS {
                logs.lost = i64::MAX;
                break;
            }
            let log = read(jni, ids, log, i64::MIN, || {
                // A later chunk's first time is this one's last.
                let mut later = i64::MAX;
                let mut left = share;
                move |chunk: &Chunk| {
                    let wanted = later > since && left > 0;
                    later = chunk.first_time().unwrap_or(i64::MIN);
                    left = left.saturating_sub(chunk.count);
                    wanted
                }
            });
            count += log.entries.len();
            logs.others.push(log);
        }
        logs
    }

    /// The writes of threads other than the failing one since their logs, which are identified by
    /// their [numbers](Log::number), had these ends; and the time up to which logs may be missing
    /// by now.
    pub(crate) fn newer(
        jni: Jni,
        ids: &LogIds,
        thread: Option<Obj>,
        ends: &HashMap<i64, i64>,
    ) -> (Vec<Log>, i64) {
        let all = all(jni, ids, thread);
        let share = MAX_OF_OTHERS / all.others.len().max(1);
        let mut newer: Vec<Log> = Vec::new();
        let mut count = 0;
        let mut is_cut = false;
        for log in all.others {
            let base = jni.get_integral(log, ids.base, b'J');
            let next = i64::from(jni.get_int(log, ids.next));
            // For a thread that has begun since, all entries count.
            let end = ends.get(&(base >> LOG)).copied().unwrap_or(i64::MIN);
            if base.checked_add(next) == Some(end) {
                continue;
            }
            if count > 2 * MAX_OF_OTHERS {
                is_cut = true;
                break;
            }
            let is_short = Cell::new(false);
            let mut log = read(jni, ids, log, end, || {
                is_short.set(false);
                let mut left = share;
                let is_short = &is_short;
                move |chunk: &Chunk| {
                    let is_newer = chunk.start > end;
                    is_short.set(is_newer && left == 0);
                    let wanted = is_newer && left > 0;
                    left = left.saturating_sub(chunk.count);
                    wanted
                }
            });
            if is_short.get() && log.from != i64::MAX {
                // What was read begins with a time, and anything before is not known.
                log.from = log.times.first().map_or(i64::MAX, |(at, _)| *at);
            }
            count += log.entries.len();
            newer.push(log);
        }
        // This is read after the logs, so it includes what was dropped meanwhile.
        let lost = match all.let_go || is_cut {
            true => i64::MAX,
            false => jni.static_long(*ids.class, c"lost").unwrap_or(i64::MAX),
        };
        (newer, lost)
    }
}

/// The existing logs.
#[derive(Default)]
struct All {
    own: Option<Obj>,
    others: Vec<Obj>,
    /// Whether some were dropped because memory was short.
    let_go: bool,
}

fn all(jni: Jni, ids: &LogIds, thread: Option<Obj>) -> All {
    let mut found = All::default();
    for name in [c"table", c"retired"] {
        let Some(entries) = jni.static_object(*ids.class, name, ENTRIES) else {
            continue;
        };
        for index in 0..jni.array_len(entries) {
            let Some(entry) = jni.array_get(entries, index) else {
                continue;
            };
            let log = jni.get_object(entry, ids.referent);
            jni.delete_local(entry);
            let Some(log) = log else {
                found.let_go = true;
                continue;
            };
            let owner = jni.get_object(log, ids.owner);
            let is_own = thread
                .zip(owner)
                .is_some_and(|(thread, owner)| jni.same(thread, owner));
            if let Some(owner) = owner {
                jni.delete_local(owner);
            }
            match is_own {
                true => found.own = Some(log),
                false => found.others.push(log),
            }
        }
    }
    found
}

/// A chunk whose words have been read.
struct Chunk {
    object: Obj,
    start: i64,
    words: Vec<i64>,
    /// The number of entries in it.
    count: usize,
}

impl Chunk {
    fn read(jni: Jni, ids: &LogIds, object: Obj, start: i64, count: Option<usize>) -> Chunk {
        let words = jni
            .get_object(object, ids.words)
            .map(|words| {
                let most = jni.array_len(words) / 2;
                let count = count.map_or(most, |count| count.min(most));
                jni.longs(words, 2 * count)
            })
            .unwrap_or_default();
        Chunk {
            object,
            start,
            count: words.len() / 2,
            words,
        }
    }

    fn end(&self) -> i64 {
        self.start + self.count as i64
    }

    /// The time of the first entry, with which each chunk begins.
    fn first_time(&self) -> Option<i64> {
        match self.words[..] {
            [TIME, time, ..] => Some(time),
            _ => None,
        }
    }

    /// Adds the entries from a position on.
    fn entries(&self, jni: Jni, ids: &LogIds, first: i64, log: &mut Log, time: &mut i64) {
        let Some(references) = jni.get_object(self.object, ids.references) else {
            return;
        };
        for (at, pair) in self.words.chunks_exact(2).enumerate() {
            let (kind, word) = (pair[0], pair[1]);
            let position = self.start + at as i64;
            if kind == TIME {
                *time = word;
                log.times.push((position, word));
                continue;
            }
            if position < first {
                continue;
            }
            let place = match kind & TIME {
                0 => Place::Field(kind as u32),
                ELEMENT => Place::Element(kind as u32),
                RANGE => Place::Range(kind as u32),
                _ => continue,
            };
            let Some(object) = jni.array_get(references, 2 * at) else {
                continue;
            };
            log.entries.push(Entry {
                object,
                place,
                old: jni.array_get(references, 2 * at + 1),
                word,
                position,
                time: *time,
            });
        }
        jni.delete_local(references);
    }
}

/// Reads a log, its entries from the position `first` on. The result of `wanted`, which is made
/// anew for each try, is asked about its chunks, latest first; those older than one that is not
/// wanted are left out.
fn read<Wanted: FnMut(&Chunk) -> bool>(
    jni: Jni,
    ids: &LogIds,
    log: Obj,
    first: i64,
    wanted: impl Fn() -> Wanted,
) -> Log {
    let read = (0..TRIES).find_map(|_| {
        let latest = Latest::of(jni, ids, log)?;
        let read = latest.read(jni, ids, log, first, wanted());
        fence(Ordering::Acquire);
        // Its thread may have dropped and reused what was read.
        (jni.get_integral(log, ids.from, b'J') == latest.from).then_some(read)
    });
    read.unwrap_or_else(|| Log {
        from: i64::MAX,
        end: jni.get_integral(log, ids.base, b'J'),
        ..Log::default()
    })
}

/// The chunk that is being filled.
struct Latest {
    /// The log's `from`.
    from: i64,
    chunk: Obj,
    start: i64,
    /// The number of complete entries in it.
    next: usize,
}

impl Latest {
    /// The latest chunk; `None` while the log turns to another chunk, or is about to reuse this
    /// one.
    fn of(jni: Jni, ids: &LogIds, log: Obj) -> Option<Latest> {
        let from = jni.get_integral(log, ids.from, b'J');
        fence(Ordering::Acquire);
        let chunk = jni.get_object(log, ids.chunk)?;
        let next = usize::try_from(jni.get_int(log, ids.next)).unwrap_or(0);
        fence(Ordering::Acquire);
        // It moves before `next` does, and that before the chunk.
        let base = jni.get_integral(log, ids.base, b'J');
        let start = jni.get_integral(chunk, ids.start, b'J');
        (from != i64::MAX && start == base).then_some(Latest {
            from,
            chunk,
            start,
            next,
        })
    }

    /// Reads the log up to this chunk.
    fn read(
        &self,
        jni: Jni,
        ids: &LogIds,
        log: Obj,
        first: i64,
        mut wanted: impl FnMut(&Chunk) -> bool,
    ) -> Log {
        let Latest { start, next, .. } = *self;
        let mut chunks = vec![Chunk::read(jni, ids, self.chunk, start, Some(next))];
        let mut from = start;
        if let Some(ring) = jni
            .get_object(log, ids.older)
            .and_then(|older| jni.get_object(older, ids.referent))
        {
            let mut older: HashMap<i64, Obj> = HashMap::new();
            for index in 0..jni.array_len(ring) {
                if let Some(chunk) = jni.array_get(ring, index) {
                    older.insert(jni.get_integral(chunk, ids.start, b'J'), chunk);
                }
            }
            let mut starts: Vec<i64> = older.keys().copied().filter(|at| *at < from).collect();
            starts.sort_unstable();
            while let Some(at) = starts.pop() {
                let last_wanted = chunks.last().is_some_and(&mut wanted);
                let chunk = Chunk::read(jni, ids, older[&at], at, None);
                // An earlier one is missing, or has been replaced meanwhile.
                if chunk.end() != from {
                    break;
                }
                from = at;
                if !last_wanted {
                    break;
                }
                chunks.push(chunk);
            }
        }
        let mut read = Log {
            from: from.max(self.from),
            end: start + next as i64,
            forgot: jni.get_integral(log, ids.forgot, b'J'),
            ..Log::default()
        };
        let mut time = i64::MIN;
        for chunk in chunks.iter().rev() {
            chunk.entries(jni, ids, first, &mut read, &mut time);
        }
        read
    }
}
