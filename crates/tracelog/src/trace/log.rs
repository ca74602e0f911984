//! A whole trace: its files, blocks and events.
//!
//! - `scan` finds the blocks in the files.
//! - `events` reads and merges the events of blocks.

mod events;
mod scan;

pub use events::{Events, Reader};

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;

use super::block::{BLOCK_HEADER, Header, Index};
use super::dictionary::Dictionary;
use super::error::Error;
use super::unpack::ObjectId;
use scan::{scan_live, scan_segment};

/// The bytes of a file.
pub trait Source {
    /// The number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be found out.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are no bytes.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be found out.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// Fails if the file ends before the buffer is full.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Source for Vec<u8> {
    fn len(&self) -> io::Result<u64> {
        Ok(Vec::len(self) as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..)?.get(..buffer.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from);
        Ok(())
    }
}

/// A block, without its events.
#[derive(Debug, Clone)]
pub struct Block {
    /// The index of its file: segments come first, then live files.
    pub file: usize,
    /// The offset of the block in its file.
    pub offset: u64,
    /// The block's header.
    pub header: Header,
    /// Whether it was still being written: it is a chunk of a live file.
    pub live: bool,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The index of the file, as in [`Block::file`].
    pub file: usize,
    /// What is wrong, and where.
    pub error: Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file {}: {}", self.file, self.error)
    }
}

impl std::error::Error for Damage {}

/// Consecutive blocks of a stream that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The stream.
    pub stream: u64,
    /// The sequence number of the first missing block.
    pub first: u64,
    /// The number of missing blocks.
    pub count: u64,
    /// Whether a recap lists the calls that were active behind them.
    pub is_told: bool,
}

/// A trace that has been opened.
pub struct Log<S> {
    files: Vec<S>,
    blocks: Vec<Block>,
    /// The events in the chunks of live files, by file and offset, as they were when the files were
    /// read: a process that still runs writes other events there.
    live: HashMap<(usize, u64), Vec<u8>>,
    /// The meanings of the numbers in events.
    pub dictionary: Dictionary,
    /// What is wrong with the files.
    pub damage: Vec<Damage>,
}

/// Which blocks are wanted. A field that is `None` does not restrict them.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Blocks with events of one of these threads, or of one outside [`Filter::threads_besides`].
    pub threads: Option<BTreeSet<u64>>,
    /// If [`Filter::threads`] is given: also blocks with events of a thread that is not among
    /// these.
    pub threads_besides: Option<BTreeSet<u64>>,
    /// Blocks with events of one of these methods, or of one of [`Filter::fields`].
    pub methods: Option<BTreeSet<u32>>,
    /// Blocks with events of one of these fields, besides those of [`Filter::methods`].
    pub fields: Option<BTreeSet<u32>>,
    /// Blocks in which this object may occur.
    pub object: Option<ObjectId>,
}

impl Filter {
    /// Whether all blocks are wanted.
    pub fn is_empty(&self) -> bool {
        self.threads.is_none()
            && self.methods.is_none()
            && self.fields.is_none()
            && self.object.is_none()
    }

    fn admits(&self, index: &Index) -> bool {
        let has_thread = |wanted: &BTreeSet<u64>| {
            let besides = self.threads_besides.as_ref();
            let is_wanted = |id: &u64| {
                wanted.contains(id) || besides.is_some_and(|besides| !besides.contains(id))
            };
            index.threads.iter().any(is_wanted)
        };
        let has = |list: &[u32], wanted: &Option<BTreeSet<u32>>| {
            wanted
                .as_ref()
                .is_some_and(|wanted| list.iter().any(|id| wanted.contains(id)))
        };
        let members = self.methods.is_none() && self.fields.is_none()
            || has(&index.methods, &self.methods)
            || has(&index.fields, &self.fields);
        members
            && self.threads.as_ref().is_none_or(has_thread)
            && self.object.is_none_or(|object| index.may_have(object))
    }
}

/// The content of live files.
pub struct Live<S> {
    files: Vec<S>,
    /// The blocks; their file indices count within these files.
    blocks: Vec<Block>,
    chunks: HashMap<(usize, u64), Vec<u8>>,
    damage: Vec<Damage>,
}

impl<S: Source> Live<S> {
    /// Reads live files as a whole.
    pub fn read(files: Vec<S>) -> Self {
        let (mut blocks, mut damage) = (Vec::new(), Vec::new());
        let mut chunks = HashMap::new();
        for (file, source) in files.iter().enumerate() {
            scan_live(file, source, &mut blocks, &mut chunks, &mut damage);
        }
        Self {
            files,
            blocks,
            chunks,
            damage,
        }
    }

    /// Shifts the file indices behind those of this many segments.
    fn behind(mut self, segments: usize) -> Self {
        for block in &mut self.blocks {
            block.file += segments;
        }
        for damage in &mut self.damage {
            damage.file += segments;
        }
        let chunks = self.chunks.into_iter();
        self.chunks = chunks
            .map(|((file, at), events)| ((file + segments, at), events))
            .collect();
        self
    }
}

impl<S: Source> Log<S> {
    /// Reads everything except the events: a few hundred bytes for each block.
    ///
    /// Damaged pieces are skipped and noted in [`Self::damage`]. A block that is both in a segment
    /// and in a live file is taken once. A block that a process was writing into a segment when it
    /// was killed is still in its live file, and the cut end of that segment is not damage.
    ///
    /// For a process that still runs, `live` must be read before the segments are listed: what is
    /// in chunks may move to segments, and to new ones, at any time.
    ///
    /// # Errors
    ///
    /// Fails if a segment cannot be read, or is of a later version.
    pub fn open(
        dictionary: Dictionary,
        segments: Vec<S>,
        live: Live<S>,
    ) -> Result<Self, (usize, Error)> {
        let mut ends = Vec::new();
        let Live {
            files: live,
            mut blocks,
            mut chunks,
            mut damage,
        } = live.behind(segments.len());
        for (file, source) in segments.iter().enumerate() {
            scan_segment(file, source, &mut blocks, &mut damage, &mut ends)
                .map_err(|error| (file, error))?;
        }
        let recaps = blocks.extract_if(.., |block| block.header.is_recap());
        let recaps = recaps.collect();
        for (place, block) in ends.into_iter().rev() {
            let mut live = blocks.iter().filter(|block| block.live);
            let is_live = match block {
                Some(id) => live.any(|block| id == (block.header.stream, block.header.sequence)),
                None => live.next().is_some(),
            };
            if is_live {
                damage.remove(place);
            }
        }
        // The copy in a segment comes first, and stays.
        blocks.sort_by_key(|block| (block.header.stream, block.header.sequence, block.live));
        blocks.dedup_by_key(|block| (block.header.stream, block.header.sequence));
        let live_blocks = blocks.iter().filter(|block| block.live);
        let needed: BTreeSet<_> = live_blocks
            .map(|block| (block.file, block.offset))
            .collect();
        chunks.retain(|at, _| needed.contains(at));
        let blocks = with_recaps(blocks, recaps);
        let mut files = segments;
        files.extend(live);
        Ok(Self {
            files,
            blocks,
            live: chunks,
            dictionary,
            damage,
        })
    }

    /// All blocks, stream by stream, in each stream's order. A stream whose first blocks are gone
    /// begins with a recap, if there is one.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks that are missing although later ones of their stream are there.
    pub fn missing(&self) -> Vec<Missing> {
        let mut missing = Vec::new();
        let mut expected = (0, 0);
        for block in &self.blocks {
            let Header {
                stream, sequence, ..
            } = block.header;
            if expected.0 != stream {
                expected = (stream, 0);
            }
            let behind = sequence.saturating_add(1);
            let is_told = block.header.is_recap();
            let next = if is_told { behind } else { sequence };
            if next > expected.1 {
                missing.push(Missing {
                    stream,
                    first: expected.1,
                    count: next - expected.1,
                    is_told,
                });
            }
            expected.1 = behind;
        }
        missing
    }

    /// The stamp up to which the beginnings of streams are gone; 0 if no beginning is.
    pub fn gone(&self) -> u64 {
        let mut gone = 0;
        let mut last = None;
        for block in &self.blocks {
            let header = &block.header;
            if last != Some(header.stream) && (header.is_recap() || header.sequence > 0) {
                gone = gone.max(header.stamp);
            }
            last = Some(header.stream);
        }
        gone
    }

    /// The indices of the blocks that a filter admits, judged by their indexes.
    pub fn select(&self, filter: &Filter) -> Vec<usize> {
        let all = 0..self.blocks.len();
        if filter.is_empty() {
            return all.collect();
        }
        let mut buffer = Vec::new();
        all.filter(|&place| {
            let has_index = |block: &&Block| !block.live && !block.header.is_recap();
            let Some(block) = self.blocks.get(place).filter(has_index) else {
                return true;
            };
            // A block whose index cannot be read is kept; its error is reported when its events are
            // read.
            self.index(block, &mut buffer)
                .map_or(true, |index| filter.admits(&index))
        })
        .collect()
    }

    /// Whether the block before a block is missing, while earlier ones of its stream are there.
    pub fn is_after_gap(&self, place: usize) -> bool {
        let id = |place: usize| {
            let block = self.blocks.get(place)?;
            Some((block.header.stream, block.header.sequence))
        };
        let before = place.checked_sub(1).and_then(id);
        before.zip(id(place)).is_some_and(|(before, this)| {
            before.0 == this.0 && before.1.saturating_add(1) != this.1
        })
    }

    fn index(&self, block: &Block, buffer: &mut Vec<u8>) -> Result<Index, Error> {
        let at = block.offset + BLOCK_HEADER as u64;
        self.bytes(block, at, block.header.index_len as usize, buffer)?;
        Index::read(buffer)
    }

    fn bytes(&self, block: &Block, at: u64, len: usize, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.clear();
        buffer.resize(len, 0);
        let file = self.files.get(block.file);
        file.map_or(Err(io::ErrorKind::NotFound.into()), |file| {
            file.read_at(at, buffer)
        })
        .map_err(|error| Error::io(&error, at))
    }

    /// The damage of the file that holds a block which cannot be read.
    pub fn damaged(&self, place: usize, error: Error) -> Damage {
        let file = self
            .blocks
            .get(place)
            .map_or(usize::MAX, |block| block.file);
        Damage { file, error }
    }

    /// The events of some blocks, in the order of their stamps. Events of one thread keep their
    /// order.
    pub fn events(&self, places: &[usize]) -> Events<'_, S> {
        Events::new(self, places)
    }
}

/// Puts recaps before the first block of each stream whose earlier blocks are gone, and adds those
/// of streams that have no block any more.
fn with_recaps(blocks: Vec<Block>, mut recaps: Vec<Block>) -> Vec<Block> {
    if recaps.is_empty() {
        return blocks;
    }
    let mut first = HashMap::new();
    for Header {
        stream, sequence, ..
    } in blocks.iter().map(|block| block.header)
    {
        first.entry(stream).or_insert(sequence);
    }
    recaps.retain(|Block { header, .. }| {
        let first = first.get(&header.stream);
        first.is_none_or(|first| header.sequence < *first)
    });
    // The latest recap; if it is there several times, the one in the first file.
    let latest = |of: &Block| (of.header.stream, Reverse(of.header.sequence), of.file);
    recaps.sort_by_key(latest);
    recaps.dedup_by_key(|recap| recap.header.stream);
    recaps.extend(blocks);
    // The sort is stable, and the blocks are sorted.
    recaps.sort_by_key(|block| (block.header.stream, block.header.sequence));
    recaps
}
