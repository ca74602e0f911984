//! A whole trace: its files, blocks and events.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::fmt;
use std::io;

use super::block::{
    BLOCK_HEADER, BLOCK_MAGIC, Header, Index, SEGMENT_HEADER, SEGMENT_MAGIC, check_header,
};
use super::chunk::{self, Chunk};
use super::dictionary::Dictionary;
use super::error::{Error, ErrorKind};
use super::pack::Packer;
use super::unpack::{Event, ObjectId, Unpacker};

/// The bytes of a file.
pub trait Source {
    /// How many there are.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be found out.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are none.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be found out.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` with those from `offset` on.
    ///
    /// # Errors
    ///
    /// Fails if there are not as many.
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
    /// The place of its file: segments first, then live files.
    pub file: usize,
    /// Where it begins there.
    pub offset: u64,
    /// What it is about.
    pub header: Header,
    /// Whether it was still being written: a chunk of a live file.
    pub live: bool,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The place of the file, as in [`Block::file`].
    pub file: usize,
    /// What and where.
    pub error: Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file {}: {}", self.file, self.error)
    }
}

impl std::error::Error for Damage {}

/// Blocks that should be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Of this stream
    pub stream: u64,
    /// from this number on
    pub first: u64,
    /// as many.
    pub count: u64,
    /// Whether it is told what was going on behind them.
    pub is_told: bool,
}

/// A trace.
pub struct Log<S> {
    files: Vec<S>,
    blocks: Vec<Block>,
    /// The events of the chunks of live files, by file and offset, as they were when these were read: a process
    /// that still runs writes others there.
    live: HashMap<(usize, u64), Vec<u8>>,
    /// What the numbers mean.
    pub dictionary: Dictionary,
    /// What is wrong with the files.
    pub damage: Vec<Damage>,
}

/// Which blocks are wanted. What is not said is not asked.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// With events of one of these threads,
    pub threads: Option<BTreeSet<u64>>,
    /// or of one that is not among these,
    pub threads_besides: Option<BTreeSet<u64>>,
    /// With events of one of these methods,
    pub methods: Option<BTreeSet<u32>>,
    /// or of these fields.
    pub fields: Option<BTreeSet<u32>>,
    /// With this object.
    pub object: Option<ObjectId>,
}

impl Filter {
    /// Whether any block will do.
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

/// How often a chunk is read that gets another owner meanwhile.
const MAX_READ: usize = 8;
/// How far a search for the next block looks at once.
const WINDOW: usize = 64 << 10;

impl<S: Source> Log<S> {
    /// Reads all but the events: a few hundred bytes for each block.
    ///
    /// What is damaged is passed over and noted in [`Self::damage`]. A block that
    /// is in a segment and in a live file is taken once; one that a process was
    /// writing into a segment when it was killed is in its live file still, and
    /// the cut end of that segment is no damage.
    ///
    /// Live files are read first, as a whole: a process that still runs may only bring what is in them to the
    /// segments that are read then.
    ///
    /// # Errors
    ///
    /// Fails if a segment is none at all, or of a later version.
    pub fn open(
        dictionary: Dictionary,
        segments: Vec<S>,
        live: Vec<S>,
    ) -> Result<Self, (usize, Error)> {
        let mut blocks = Vec::new();
        let mut damage = Vec::new();
        let mut ends = Vec::new();
        let first_live = segments.len();
        let mut chunks = HashMap::new();
        for (file, source) in live.iter().enumerate() {
            let file = first_live + file;
            scan_live(file, source, &mut blocks, &mut chunks, &mut damage);
        }
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

    /// All blocks: stream by stream, in the order of each. A stream whose first ones are
    /// gone begins with a recap, if there is one.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks that are not there but ones after them.
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

    /// The stamp up to which the beginnings of streams are gone; 0 if all begin as they did.
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

    /// The places of the blocks that a filter admits, by their indexes.
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
            // One that cannot be read says so when its events are wanted.
            self.index(block, &mut buffer)
                .map_or(true, |index| filter.admits(&index))
        })
        .collect()
    }

    /// Whether the block before one is not there, but others of its stream before that.
    fn is_after_gap(&self, place: usize) -> bool {
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

    /// Which file it is that has a block that cannot be read.
    pub fn damaged(&self, place: usize, error: Error) -> Damage {
        let file = self
            .blocks
            .get(place)
            .map_or(usize::MAX, |block| block.file);
        Damage { file, error }
    }

    /// The events of some blocks, in the order of their stamps. On each thread
    /// they are as they were.
    pub fn events(&self, places: &[usize]) -> Events<'_, S> {
        Events::new(self, places)
    }
}

/// Puts before the first block of each stream what tells of those that are gone, and of streams
/// that have no block any more.
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
    // The latest, if it is there several times: the one of the first file.
    let latest = |of: &Block| (of.header.stream, Reverse(of.header.sequence), of.file);
    recaps.sort_by_key(latest);
    recaps.dedup_by_key(|recap| recap.header.stream);
    recaps.extend(blocks);
    // Stable, and the blocks are sorted.
    recaps.sort_by_key(|block| (block.header.stream, block.header.sequence));
    recaps
}

/// Stream and sequence of a block.
type BlockId = (u64, u64);

/// Finds a segment's blocks. `ends` gets the place among `damage` of a block that the end of the file
/// has cut, and which block it is, if that much of it is there.
fn scan_segment<S: Source>(
    file: usize,
    source: &S,
    blocks: &mut Vec<Block>,
    damage: &mut Vec<Damage>,
    ends: &mut Vec<(usize, Option<BlockId>)>,
) -> Result<(), Error> {
    let io = |offset| move |error| Error::io(&error, offset);
    let len = source.len().map_err(io(0))?;
    let mut at = SEGMENT_HEADER as u64;
    let mut header = [0; SEGMENT_HEADER];
    if len < at {
        // A process that ended here has written nothing yet.
        if len > 0 {
            let error = Error::at(ErrorKind::Cut, 0);
            damage.push(Damage { file, error });
        }
        return Ok(());
    }
    source.read_at(0, &mut header).map_err(io(0))?;
    check_header(&header, SEGMENT_MAGIC)?;
    let mut index = Vec::new();
    let mut len = len;
    while at < len {
        let mut found = read_header(source, at, len, &mut index);
        // A process that still runs may just be writing it.
        for _ in 0..MAX_READ {
            let is_cut = matches!(&found, Err(error) if error.kind() == ErrorKind::Cut);
            let grown = source.len().unwrap_or(len);
            if !is_cut || grown <= len {
                break;
            }
            len = grown;
            found = read_header(source, at, len, &mut index);
        }
        match found {
            Ok(header) => {
                let total = header.total_len();
                blocks.push(Block {
                    file,
                    offset: at,
                    header,
                    live: false,
                });
                at += total;
            }
            Err(error) => {
                let is_cut = error.kind() == ErrorKind::Cut;
                damage.push(Damage { file, error });
                match find_block(source, at + 1, len, &mut index) {
                    Some(next) => at = next,
                    None if is_cut => {
                        ends.push((damage.len() - 1, block_at(source, at, len)));
                        break;
                    }
                    None => break,
                }
            }
        }
    }
    Ok(())
}

/// Which block begins at `at`, if the file goes on so far.
fn block_at<S: Source>(source: &S, at: u64, len: u64) -> Option<BlockId> {
    let mut bytes = [0; BLOCK_HEADER];
    let known = bytes.get_mut(..Header::ID_END)?;
    if known.len() as u64 > len - at {
        return None;
    }
    source.read_at(at, known).ok()?;
    Some(Header::id(&bytes))
}

/// Reads the header of the block at `at` and its index.
fn read_header<S: Source>(
    source: &S,
    at: u64,
    len: u64,
    index: &mut Vec<u8>,
) -> Result<Header, Error> {
    let cut = || Error::at(ErrorKind::Cut, usize::try_from(at).unwrap_or(usize::MAX));
    let io = |error| Error::io(&error, at);
    if at + BLOCK_HEADER as u64 > len {
        return Err(cut());
    }
    let mut bytes = [0; BLOCK_HEADER];
    source.read_at(at, &mut bytes).map_err(io)?;
    let header = Header::read(&bytes).map_err(|error| error.after(at))?;
    if header.total_len() > len - at {
        return Err(cut());
    }
    index.clear();
    index.resize(header.index_len as usize, 0);
    source
        .read_at(at + BLOCK_HEADER as u64, index)
        .map_err(io)?;
    Header::check(&bytes, index).map_err(|error| error.after(at))?;
    Ok(header)
}

/// Finds the next block whose header is sound.
fn find_block<S: Source>(source: &S, from: u64, len: u64, index: &mut Vec<u8>) -> Option<u64> {
    let mut window = vec![0; WINDOW];
    let mut at = from;
    while at < len {
        let size = usize::try_from(len - at).map_or(WINDOW, |left| left.min(WINDOW));
        let part = window.get_mut(..size)?;
        source.read_at(at, part).ok()?;
        let mut start = 0;
        while let Some(found) = part
            .get(start..)?
            .windows(BLOCK_MAGIC.len())
            .position(|bytes| bytes == BLOCK_MAGIC)
        {
            let place = at + (start + found) as u64;
            if read_header(source, place, len, index).is_ok() {
                return Some(place);
            }
            start += found + 1;
        }
        // A magic may lie across the border.
        at += (size.saturating_sub(BLOCK_MAGIC.len() - 1)).max(1) as u64;
    }
    None
}

/// Finds the chunks of a live file, and reads their events.
fn scan_live<S: Source>(
    file: usize,
    source: &S,
    blocks: &mut Vec<Block>,
    chunks: &mut HashMap<(usize, u64), Vec<u8>>,
    damage: &mut Vec<Damage>,
) {
    let mut scan = || -> Result<(), Error> {
        let len = source.len().map_err(|error| Error::io(&error, 0))?;
        let mut at = 0;
        let mut header = [0; chunk::HEADER];
        let smallest = chunk::SIZES[0] as u64;
        while len - at >= chunk::HEADER as u64 {
            let mut found = None;
            for _ in 0..MAX_READ {
                source
                    .read_at(at, &mut header)
                    .map_err(|error| Error::io(&error, at))?;
                found = Chunk::read(&header);
                let Some(chunk) = found.filter(|chunk| chunk.in_use && chunk.len > 0) else {
                    break;
                };
                let mut events = vec![0; chunk.len];
                source
                    .read_at(at + chunk::HEADER as u64, &mut events)
                    .map_err(|error| Error::io(&error, at))?;
                source
                    .read_at(at, &mut header)
                    .map_err(|error| Error::io(&error, at))?;
                // Another thread may have got the chunk meanwhile.
                let after = Chunk::read(&header).filter(|after| after.in_use);
                if after.is_some_and(|after| after.header == chunk.header) {
                    let mut header = chunk.header;
                    header.raw_len = chunk.len as u32;
                    chunks.insert((file, at), events);
                    blocks.push(Block {
                        file,
                        offset: at,
                        header,
                        live: true,
                    });
                    break;
                }
            }
            // Those that were never used have no header.
            at += found
                .map_or(smallest, |chunk| chunk.size as u64)
                .max(smallest);
            if at > len {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = scan() {
        damage.push(Damage { file, error });
    }
}

/// Memory for reading one block after another.
#[derive(Default)]
pub struct Reader {
    stored: Vec<u8>,
    packer: Option<Packer>,
    packed: Vec<u8>,
    unpacker: Unpacker,
}

impl Reader {
    /// Begins with the events of a block.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read or is damaged.
    pub fn open<S: Source>(&mut self, log: &Log<S>, place: usize) -> Result<&mut Unpacker, Error> {
        let block = log.blocks.get(place);
        let block = block.ok_or(Error::at(ErrorKind::Cut, place))?;
        let mut header = block.header;
        if block.live {
            let at = block.offset + chunk::HEADER as u64;
            let events = log.live.get(&(block.file, block.offset));
            let events = events.ok_or(Error::at(ErrorKind::Cut, 0).after(at))?;
            let packer = match &mut self.packer {
                Some(packer) => packer,
                none => {
                    none.insert(Packer::new().map_err(|_| Error::at(ErrorKind::Compression, 0))?)
                }
            };
            self.packed.clear();
            packer
                .pack(&mut header, events, &mut self.packed)
                .map_err(|error| error.after(at))?;
            let payload = BLOCK_HEADER + header.index_len as usize;
            let payload = self.packed.get(payload..).unwrap_or_default();
            self.unpacker.start(&header, payload)?;
        } else {
            let at = block.offset + BLOCK_HEADER as u64 + u64::from(header.index_len);
            log.bytes(block, at, header.stored_len as usize, &mut self.stored)?;
            if crc32fast::hash(&self.stored) != header.payload_sum {
                return Err(Error::at(ErrorKind::PayloadSum, 0).after(at));
            }
            (self.unpacker)
                .start(&header, &self.stored)
                .map_err(|error| error.after(at))?;
        }
        Ok(&mut self.unpacker)
    }
}

/// The events of many blocks, merged. Memory follows the number of streams that
/// overlap, not the length of the trace.
pub struct Events<'l, S> {
    log: &'l Log<S>,
    streams: Vec<Stream>,
    /// The stamp at which a stream goes on, and its place.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    current: Option<usize>,
    spare: Vec<Reader>,
}

struct Stream {
    blocks: Vec<usize>,
    next: usize,
    reader: Option<Reader>,
    /// The reader stands at an event that was not handed out yet.
    pending: bool,
    /// The last block could not be read to its end.
    broken: bool,
}

impl<'l, S: Source> Events<'l, S> {
    fn new(log: &'l Log<S>, places: &[usize]) -> Self {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        let mut streams: Vec<Stream> = Vec::new();
        let mut waiting = BinaryHeap::new();
        let mut last = None;
        for place in places {
            let Some(block) = log.blocks.get(place) else {
                continue;
            };
            if last.replace(block.header.stream) != Some(block.header.stream) {
                waiting.push(Reverse((block.header.stamp, streams.len())));
                streams.push(Stream {
                    blocks: Vec::new(),
                    next: 0,
                    reader: None,
                    pending: false,
                    broken: false,
                });
            }
            if let Some(stream) = streams.last_mut() {
                stream.blocks.push(place);
            }
        }
        Self {
            log,
            streams,
            waiting,
            current: None,
            spare: Vec::new(),
        }
    }

    /// The next event. After an error the next block follows.
    ///
    /// # Errors
    ///
    /// Fails if a block cannot be read.
    pub fn next_event(&mut self) -> Option<Result<&Event, Damage>> {
        match self.advance() {
            Ok(None) => None,
            Ok(Some(place)) => {
                let reader = self.streams.get(place)?.reader.as_ref()?;
                Some(Ok(reader.unpacker.event()))
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Goes to the next event: the place of its stream.
    fn advance(&mut self) -> Result<Option<usize>, Damage> {
        loop {
            let place = match self.current {
                Some(place) => place,
                None => {
                    let Some(Reverse((_, place))) = self.waiting.pop() else {
                        return Ok(None);
                    };
                    self.current = Some(place);
                    place
                }
            };
            let Some(stream) = self.streams.get_mut(place) else {
                return Ok(None);
            };
            if std::mem::take(&mut stream.pending) {
                return Ok(Some(place));
            }
            let next_stamp = self.waiting.peek().map(|Reverse((stamp, _))| *stamp);
            let late = |stamp: u64| next_stamp.is_some_and(|next| stamp > next);
            if let Some(reader) = &mut stream.reader {
                let event = reader.unpacker.next_event();
                match event {
                    Err(error) => {
                        stream.broken = true;
                        let block = stream.next.checked_sub(1);
                        let block = block.and_then(|last| stream.blocks.get(last));
                        let block = block.copied().unwrap_or(usize::MAX);
                        return Err(self.log.damaged(block, error));
                    }
                    Ok(Some(event)) if late(event.stamp) => {
                        self.waiting.push(Reverse((event.stamp, place)));
                        stream.pending = true;
                        self.current = None;
                    }
                    Ok(Some(_)) => return Ok(Some(place)),
                    Ok(None) => self.spare.extend(stream.reader.take()),
                }
                continue;
            }
            let Some(&block) = stream.blocks.get(stream.next) else {
                self.current = None;
                continue;
            };
            let stamp = self.log.blocks.get(block).map(|block| block.header.stamp);
            if let Some(stamp) = stamp.filter(|&stamp| late(stamp)) {
                self.waiting.push(Reverse((stamp, place)));
                self.current = None;
                continue;
            }
            stream.next += 1;
            // If it cannot be opened, this is true of the next one too.
            let after_gap = std::mem::replace(&mut stream.broken, true);
            let mut reader = self.spare.pop().unwrap_or_default();
            let damaged = |error| self.log.damaged(block, error);
            let unpacker = reader.open(self.log, block).map_err(damaged)?;
            if after_gap || self.log.is_after_gap(block) {
                unpacker.comes_after_gap();
            }
            stream.broken = false;
            stream.reader = Some(reader);
        }
    }
}
