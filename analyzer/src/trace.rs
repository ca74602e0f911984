//! Traces of whole runs: opening them, and their events with names.
//!
//! - [`Trace::open`] finds the files of a trace; [`Trace::log`] has its blocks and the dictionary
//!   (see [`hindsight_tracelog::trace`]). `absent` says why there is no trace where one was looked
//!   for.
//! - [`steps::Steps`] makes steps of events: a call with all of its arguments, a write with its
//!   place. It runs over any choice of blocks in constant memory.
//! - [`ahead`] reads steps in one thread for others that process them.
//! - [`filter`] says which steps are wanted, and picks blocks by their indexes.
//! - [`names`] shows steps with names.
//! - [`less`] says which methods record less than was asked for.
//! - [`blocks`] says which basic blocks have run.
//! - [`stats`] counts, many blocks at the same time.
//! - [`export`] makes tables of steps; `table` writes one of them as a Parquet file.
//! - [`unseen`] knows which object a call has written that writes unseen.
//! - `calls`, `threads` and `serials` are what readers keep: the active calls of a thread, a value
//!   for each thread, and sets of object numbers.
//!
//! ```no_run
//! # use hindsight_analyzer::trace::{Trace, steps::Steps};
//! let trace = Trace::open("hindsight-out".as_ref())?;
//! let all: Vec<usize> = (0..trace.log.blocks().len()).collect();
//! let mut steps = Steps::new(&trace.log, &all);
//! while let Some(step) = steps.next_step() {
//!     println!("{:?}", step?.what);
//! }
//! # Ok::<(), anyhow::Error>(())
//! ```

mod absent;
pub mod ahead;
pub mod blocks;
mod calls;
pub mod export;
pub mod filter;
pub mod less;
pub mod names;
mod serials;
pub mod stats;
pub mod steps;
mod table;
mod threads;
pub mod unseen;

use crate::classpath::is_jdk;
use crate::text::{count, one_line};
use anyhow::{Context, Result, anyhow, bail};
use hindsight_tracelog::trace::coverage::Coverage;
use hindsight_tracelog::trace::dictionary::{Dictionary, Loss, Stop, TracedClass};
use hindsight_tracelog::trace::{Block, Damage, Live, Log, Missing, Source};
use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The file of a trace that defines what its numbers stand for.
pub const DICTIONARY: &str = "dictionary.hsd";

/// The note on a recording without a recorded class.
const NO_CLASS: &str = "no class was recorded: none was loaded that `include` names, or only those \
                        on which probes run (java.lang, jdk.internal, sun.misc and sun.invoke)";

/// The most segments and live files for which all files are kept open; a process may usually have
/// 1,024 files open.
const MAX_OPEN: usize = 200;

/// The most attempts to read a trace of a process that still runs and meanwhile deletes the oldest
/// files.
const MAX_TRIES: usize = 20;

/// A trace on disk.
pub struct Trace {
    /// The trace's blocks and dictionary.
    pub log: Log<TraceFile>,
    /// The directory of its files.
    pub directory: PathBuf,
    /// The paths of its files: segments come first, then live files.
    paths: Vec<PathBuf>,
    /// Which blocks have run, if that was recorded.
    pub coverage: Option<Coverage>,
    /// Notes for the reader: damage, and how the recording ended.
    pub notes: Vec<String>,
    /// Whether some of the notes are about damage.
    pub is_damaged: bool,
    /// The number of the oldest segments that were deleted to keep to `max-trace`.
    pub deleted: u64,
}

/// Whether a file has vanished that was there a moment before.
fn is_gone(error: &anyhow::Error) -> bool {
    let gone = hindsight_tracelog::trace::ErrorKind::Io {
        kind: io::ErrorKind::NotFound,
    };
    let error = error.downcast_ref::<hindsight_tracelog::trace::Error>();
    error.is_some_and(|error| error.kind() == gone)
}

/// A file of a trace.
#[derive(Debug)]
pub struct TraceFile {
    path: PathBuf,
    file: Option<File>,
}

impl Source for TraceFile {
    fn len(&self) -> io::Result<u64> {
        // A file that is kept open may have been deleted since, to keep to `max-trace`.
        let found = match &self.file {
            Some(file) => file.metadata(),
            None => fs::metadata(&self.path),
        };
        Ok(found?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.file {
            Some(file) => file.read_exact_at(buffer, offset),
            None => File::open(&self.path)?.read_exact_at(buffer, offset),
        }
    }
}

impl Trace {
    /// Opens the trace in a directory, which may be that of a run or that of its trace.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or one of a later version. Damage only gives a note.
    pub fn open(path: &Path) -> Result<Trace> {
        let directory = find(path)?;
        let told = || fs::metadata(directory.join(DICTIONARY)).map_or(0, |file| file.len());
        let before = told();
        let mut tries = 1..MAX_TRIES;
        let trace = loop {
            match Trace::read(directory.clone()) {
                Err(error) if is_gone(&error) && tries.next().is_some() => {}
                read => break read?,
            }
        };
        // What the process wrote at its end may have been missed, if it ended meanwhile.
        match trace.log.dictionary.stop.is_some() && told() != before {
            true => Trace::read(directory),
            false => Ok(trace),
        }
    }

    fn read(directory: PathBuf) -> Result<Trace> {
        let context = || format!("failed to read {}", directory.display());
        let live = files(&directory, "hsl").with_context(context)?;
        let live_paths: Vec<PathBuf> = live.iter().map(|file| file.path.clone()).collect();
        let live = Live::read(live);
        // Listed after the live files, because a process that still runs may begin a segment for
        // what was in these.
        let segments = files(&directory, "hst").with_context(context)?;
        let paths = segments.iter().map(|file| file.path.clone());
        let paths: Vec<PathBuf> = paths.chain(live_paths).collect();
        let name = |file: usize| name_of(&paths, file);
        let mut log = Log::open(Dictionary::default(), segments, live)
            .map_err(|(file, error)| {
                anyhow!(error).context(format!("failed to read {}", name(file)))
            })
            .with_context(context)?;
        // Read after the events, because a process that still runs writes names to the dictionary
        // before events use them.
        let mut notes = Vec::new();
        log.dictionary = dictionary(&directory.join(DICTIONARY), &mut notes)?;
        let sum = log.dictionary.stop.as_ref().and_then(|stop| stop.blocks);
        let coverage = coverage(&directory.join("coverage.hsb"), sum, &mut notes)?;
        // Up to here, all notes are about damage.
        let mut is_damaged = !notes.is_empty() || !log.damage.is_empty();
        for damage in &log.damage {
            notes.push(format!("damaged: {}", tell(&paths, damage)));
        }
        match &log.dictionary.stop {
            None => notes.push(
                "the recording did not end in good order (the process was killed, or still runs): \
                 each thread is there up to its last whole event"
                    .to_owned(),
            ),
            Some(stop) if stop.lost > 0 => {
                notes.push(format!(
                    "{} events were lost while recording, texts of objects included",
                    stop.lost
                ));
                notes.extend(losses(&log, &stop.losses));
            }
            Some(_) => {}
        }
        let stop = log.dictionary.stop.as_ref();
        if let Some(ends) = stop.map(|stop| stop.stack_ends).filter(|ends| *ends > 0) {
            notes.push(format!(
                "{} told of: the event may be missing at which each was thrown",
                match ends {
                    1 => "1 StackOverflowError is".to_owned(),
                    ends => format!("{ends} StackOverflowErrors are"),
                }
            ));
        }
        notes.extend(stop.into_iter().flat_map(without_meaning));
        let numbers = paths.iter().filter_map(|path| segment_number(path));
        let numbers: Vec<u32> = numbers.collect();
        let last = log.dictionary.stop.as_ref().and_then(|stop| stop.last);
        let is_stored = |block: &&Block| !block.live && !block.header.is_recap();
        let there = log.blocks().iter().filter(is_stored).count();
        if let Some((_, blocks)) = last
            && blocks > there as u64
        {
            notes.push(format!("only {there} of {blocks} blocks are there"));
            is_damaged = true;
        }
        let last = last.map(|(number, _)| number);
        if let Some((first, more)) = missing_segments(&numbers, last) {
            let more = match more {
                0 => "is missing".to_owned(),
                more => format!("and {more} more segments are missing"),
            };
            notes.push(format!("segment-{first:06}.hst {more}"));
            is_damaged = true;
        }
        let (told, missing): (Vec<_>, Vec<_>) =
            (log.missing().into_iter()).partition(|of| of.is_told);
        let deleted = match &log.dictionary.stop {
            Some(stop) => stop.segments_deleted,
            None => deleted_before(&numbers),
        };
        if deleted > 0 {
            let blocks = blocks_of(&told);
            notes.push(format!(
                "the oldest {} deleted to keep to max-trace: {} of {} that {} on in what is there, and all that \
                 threads did which had ended by then; what was running is told, objects that were seen there have \
                 no text and length",
                match deleted {
                    1 => "segment is".to_owned(),
                    deleted => format!("{deleted} segments are"),
                },
                count(usize::try_from(blocks).unwrap_or(usize::MAX), "block"),
                count(told.len(), "thread"),
                if told.len() == 1 { "goes" } else { "go" },
            ));
        }
        if !missing.is_empty() {
            let blocks = blocks_of(&missing);
            let is_bounded = numbers.first().is_some_and(|first| *first > 1);
            let why = if is_bounded {
                "lost, or deleted to keep to max-trace"
            } else {
                "lost"
            };
            let mut streams: Vec<u64> = missing.iter().map(|missing| missing.stream).collect();
            streams.dedup();
            // If nothing of a thread comes behind its missing blocks, nothing shows that they are
            // missing.
            notes.push(format!(
                "{} of events, of at least {}, {} missing ({why})",
                count(usize::try_from(blocks).unwrap_or(usize::MAX), "block"),
                count(streams.len(), "thread"),
                if blocks == 1 { "is" } else { "are" },
            ));
        }
        if log.blocks().is_empty() && log.dictionary.traced.iter().all(unseen::stands_in) {
            notes.push(NO_CLASS.to_owned());
        }
        notes.extend(less::notes(&log.dictionary));
        let asked = log.dictionary.start.iter().flat_map(|start| &start.what);
        if coverage.is_none() && asked.into_iter().any(|what| what == "coverage") {
            notes.push("coverage.hsb is not there: which blocks have run is not known".to_owned());
        }
        Ok(Trace {
            log,
            directory,
            paths,
            coverage,
            notes,
            is_damaged,
            deleted,
        })
    }

    /// Says in words what is wrong with which file, and where.
    pub fn tell(&self, damage: &Damage) -> String {
        tell(&self.paths, damage)
    }

    /// Says in words what is wrong with a block whose remaining events are left out.
    pub fn left_out(&self, damage: &Damage) -> String {
        let what = self.tell(damage);
        format!("damaged: {what}; the rest of the block is left out")
    }

    /// The indices of all blocks.
    pub fn all(&self) -> Vec<usize> {
        (0..self.log.blocks().len()).collect()
    }
}

/// The files of a directory that have this extension, in the order of their numbers.
fn files(directory: &Path, extension: &str) -> Result<Vec<TraceFile>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|of| of == extension) {
            paths.push(path);
        }
    }
    // Longer numbers come later.
    paths.sort_by(|a: &PathBuf, b| (a.as_os_str().len(), a).cmp(&(b.as_os_str().len(), b)));
    let is_open = paths.len() <= MAX_OPEN;
    let mut files = Vec::new();
    for path in paths {
        let file = match is_open.then(|| File::open(&path)) {
            None => None,
            Some(Ok(file)) => Some(file),
            // A process that still runs, or has just ended, has removed the file.
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => continue,
            Some(Err(error)) => {
                let of = || format!("failed to read {}", path.display());
                return Err(error).with_context(of);
            }
        };
        files.push(TraceFile { path, file });
    }
    Ok(files)
}

/// The name of a file by its index, as in [`Block::file`].
fn name_of(paths: &[PathBuf], file: usize) -> String {
    let name = paths.get(file).and_then(|path| path.file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

fn tell(paths: &[PathBuf], damage: &Damage) -> String {
    format!("{}: {}", name_of(paths, damage.file), damage.error)
}

/// A message if a run is of another program: none of its classes is on the class path, except those
/// of the JDK.
pub fn none_is_there(
    traced: &[TracedClass],
    mut is_there: impl FnMut(&str) -> bool,
) -> Option<String> {
    let recorded: Vec<&str> = (traced.iter())
        .map(|class| class.name.as_str())
        .filter(|name| !is_jdk(name))
        .collect();
    let none = !recorded.is_empty() && !recorded.iter().any(|name| is_there(name));
    none.then(|| {
        format!(
            "none of the {} classes that were recorded is on the class path",
            recorded.len()
        )
    })
}

/// Notes about objects in events that have no number, and about numbers without a meaning.
fn without_meaning(stop: &Stop) -> Vec<String> {
    let mut notes = Vec::new();
    if stop.unnumbered > 0 {
        notes.push(format!(
            "there were no more numbers for objects: {} times one is told of without \
             (`hindsight events` shows all of these as one)",
            stop.unnumbered
        ));
    }
    if stop.names_lost > 0 {
        let records = usize::try_from(stop.names_lost).unwrap_or(usize::MAX);
        notes.push(format!(
            "the disk had no room for {} of names: what has them is shown as a number",
            count(records, "record")
        ));
    }
    notes
}

/// The most losses that the notes list.
const LOSSES: usize = 8;

/// Notes about the threads whose events were lost, and where.
fn losses<S>(log: &Log<S>, losses: &[Loss]) -> Vec<String>
where
    S: Source,
{
    let mut losses: Vec<&Loss> = losses.iter().collect();
    losses.sort_by_key(|loss| (Reverse(loss.events), loss.stream));
    let told = losses.iter().take(LOSSES).map(|loss| {
        let mut of_stream = log.blocks().iter().map(|block| block.header);
        let last = of_stream.rfind(|header| header.stream == loss.stream);
        let place = match last.map(|last| (last.sequence, last.last_stamp)) {
            None => "all there was".to_owned(),
            Some((last, stamp)) if last < loss.sequence => {
                format!("its end, behind stamp {stamp}")
            }
            Some((last, _)) => format!("from its block {} of {} on", loss.sequence + 1, last + 1),
        };
        let name = log.dictionary.threads.get(&loss.thread);
        let name = name.map_or_else(String::new, |name| format!(" ({})", one_line(name, 40)));
        let (kind, others) = match loss.is_virtual {
            true => ("virtual thread", " and others of its carrier"),
            false => ("thread", ""),
        };
        let events = count(usize::try_from(loss.events).unwrap_or(usize::MAX), "event");
        format!(
            "lost: {events} of {kind} {}{name}{others}: {place}",
            loss.thread
        )
    });
    let mut told: Vec<String> = told.collect();
    let more = losses.len().saturating_sub(LOSSES);
    if more > 0 {
        told.push(format!("lost: events of {}", count(more, "further thread")));
    }
    told
}

/// The number of missing blocks in all, saturating: a file may claim any number.
fn blocks_of(missing: &[Missing]) -> u64 {
    let counts = missing.iter().map(|missing| missing.count);
    counts.fold(0, u64::saturating_add)
}

fn segment_number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let number = name.strip_prefix("segment-")?.strip_suffix(".hst")?;
    number.parse().ok()
}

/// The number of the first segment that is missing, and how many more are. Segments count as
/// missing between those that are there (whose `numbers` are in order), and up to the last one, if
/// that is known. The oldest ones may have been deleted by the recorder.
fn missing_segments(numbers: &[u32], last: Option<u32>) -> Option<(u32, u32)> {
    let newest = numbers.last().copied().max(last)?;
    let oldest = numbers.first().copied().unwrap_or(1);
    let in_place = (numbers.iter().zip(0..))
        .take_while(|&(number, at)| Some(*number) == oldest.checked_add(at));
    let first = oldest.checked_add(u32::try_from(in_place.count()).ok()?)?;
    let there = u32::try_from(numbers.len()).ok()?;
    let missing = newest
        .checked_sub(oldest)?
        .checked_add(1)?
        .checked_sub(there)?;
    Some((first, missing.checked_sub(1)?))
}

/// The number of segments before the oldest of those with these numbers, which count from 1: only a
/// hostile trace has 0.
fn deleted_before(numbers: &[u32]) -> u64 {
    let oldest = numbers.iter().min().copied().unwrap_or(1);
    u64::from(oldest.saturating_sub(1))
}

/// Whether a path is a directory with the files of a trace.
fn has_dictionary(path: &Path) -> Result<bool> {
    match fs::metadata(path.join(DICTIONARY)) {
        Ok(file) => Ok(file.is_file()),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
            io::ErrorKind::PermissionDenied => Err(error).with_context(|| {
                let path = path.display();
                format!("failed to read {path}, which only the user may read that has recorded it")
            }),
            _ => Err(error).with_context(|| format!("failed to read {}", path.display())),
        },
    }
}

/// The directory with the files of a trace: `path` itself, or one in it.
///
/// # Errors
///
/// Fails if there is none, or if there are several.
pub fn find(path: &Path) -> Result<PathBuf> {
    if has_dictionary(path)? {
        return Ok(path.to_owned());
    }
    let context = || format!("failed to read {}", path.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(path).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if has_dictionary(&path)? {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => bail!(
            "no trace in {} (no dictionary.hsd there or in a directory below): {}",
            path.display(),
            absent::why(path)
        ),
        [first, ..] => bail!(
            "{} has {} traces; name one of them, like {}",
            path.display(),
            found.len(),
            first.display()
        ),
    }
}

fn coverage(path: &Path, sum: Option<u32>, notes: &mut Vec<String>) -> Result<Option<Coverage>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("failed to read {}", path.display()));
        }
    };
    match Coverage::read(bytes) {
        Ok(coverage) => {
            if let Some(error) = coverage.damage(sum) {
                notes.push(format!(
                    "damaged: coverage.hsb: {error}; which blocks have run may be wrong"
                ));
            }
            Ok(Some(coverage))
        }
        Err(error) => {
            notes.push(format!("damaged: coverage.hsb: {error}"));
            Ok(None)
        }
    }
}

fn dictionary(path: &Path, notes: &mut Vec<String>) -> Result<Dictionary> {
    let context = || format!("failed to read {}", path.display());
    let bytes = fs::read(path).with_context(context)?;
    let (dictionary, damage) = Dictionary::read(&bytes)
        .map_err(anyhow::Error::from)
        .with_context(context)?;
    if let Some(error) = damage {
        notes.push(format!(
            "damaged: dictionary.hsd: {error}; some names are shown as numbers"
        ));
    }
    Ok(dictionary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporary::directory;

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let directory = directory().unwrap();
        for name in ["segment-1000000.hst", "segment-999999.hst", "live-0000.hsl"] {
            fs::write(directory.path().join(name), []).unwrap();
        }
        let segments = files(directory.path(), "hst").unwrap();
        let names = segments.iter().map(|file| file.path.file_name().unwrap());
        let names: Vec<_> = names.collect();
        assert_eq!(names, ["segment-999999.hst", "segment-1000000.hst"]);
    }

    #[test]
    fn oldest_segments_are_deleted_and_none_before_the_first() {
        for (numbers, deleted) in [(&[][..], 0), (&[1, 2], 0), (&[4, 3], 2), (&[0], 0)] {
            assert_eq!(deleted_before(numbers), deleted, "{numbers:?}");
        }
    }

    #[test]
    fn any_number_of_blocks_may_be_missing() {
        let missing = [u64::MAX - 2, u64::MAX - 2].map(|count| Missing {
            stream: 1,
            first: 0,
            count,
            is_told: false,
        });
        assert_eq!(blocks_of(&missing), u64::MAX);
    }

    #[test]
    fn missing_segments_are_found() {
        for (numbers, last, missing) in [
            (&[][..], None, None),
            (&[], Some(0), None),
            (&[], Some(2), Some((1, 1))),
            (&[1, 2, 3], Some(3), None),
            (&[3, 4], Some(4), None),
            (&[1, 3, 6], None, Some((2, 2))),
            (&[1, 2], Some(3), Some((3, 0))),
            (&[2], Some(u32::MAX), Some((3, u32::MAX - 3))),
            (&[1, u32::MAX], None, Some((2, u32::MAX - 3))),
        ] {
            assert_eq!(missing_segments(numbers, last), missing, "{numbers:?}");
        }
    }
}
