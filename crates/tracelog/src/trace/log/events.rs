//! Reading the events of a trace's blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Damage, Log, Source};
use crate::trace::block::BLOCK_HEADER;
use crate::trace::chunk;
use crate::trace::error::{Error, ErrorKind};
use crate::trace::pack::Packer;
use crate::trace::unpack::{Event, Unpacker};

/// The bytes of memory that the readers of waiting streams may take. A recorder's blocks are an
/// eighth of the size that a block may claim, so thousands of threads have room.
const MOST_HELD: usize = 1 << 30;

/// The bytes of memory that a reader takes besides the block, approximately.
const READER: usize = 256 << 10;

/// The most readers that are kept for later blocks.
const MOST_SPARE: usize = 64;

/// A reader of blocks, whose memory is used for one block after another.
#[derive(Default)]
pub struct Reader {
    stored: Vec<u8>,
    unpacker: Unpacker,
}

impl Reader {
    /// Begins with the events of a block.
    ///
    /// # Errors
    ///
    /// Fails if the block cannot be read or is damaged.
    pub fn open<S: Source>(&mut self, log: &Log<S>, place: usize) -> Result<&mut Unpacker, Error> {
        let block = log.blocks.get(place);
        let block = block.ok_or(Error::at(ErrorKind::Cut, place))?;
        let mut header = block.header;
        if block.live {
            let at = block.offset + chunk::HEADER as u64;
            let events = log.live.get(&(block.file, block.offset));
            let events = events.ok_or(Error::at(ErrorKind::Cut, 0).after(at))?;
            // A packer takes megabytes, which not every reader should keep.
            let mut packer = Packer::new().map_err(|_| Error::at(ErrorKind::Compression, 0))?;
            let mut packed = Vec::new();
            packer
                .pack(&mut header, events, &mut packed)
                .map_err(|error| error.after(at))?;
            let payload = BLOCK_HEADER + header.index_len as usize;
            let payload = packed.get(payload..).unwrap_or_default();
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

    /// The number of bytes that it takes.
    fn size(&self) -> usize {
        READER + self.stored.capacity() + self.unpacker.capacity()
    }
}

/// The events of many blocks, merged. Up to a bound, memory follows the number of streams that
/// overlap, not the length of the trace; beyond that bound, blocks are read several times.
pub struct Events<'l, S> {
    log: &'l Log<S>,
    streams: Vec<Stream>,
    /// For each waiting stream, the stamp at which it goes on and its index.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    current: Option<usize>,
    spare: Vec<Reader>,
    /// The number of bytes that the readers of waiting streams take; the next field is the most
    /// that they may take.
    held: usize,
    most_held: usize,
}

#[derive(Default)]
struct Stream {
    blocks: Vec<usize>,
    /// The index in `blocks` of the block after the one that is being read.
    next: usize,
    /// The reader of the block; `None` between blocks, and where other streams have needed its
    /// memory.
    reader: Option<Reader>,
    /// The number of events of the block that were read.
    read: usize,
    /// Whether blocks before this one are missing.
    after_gap: bool,
    /// Whether the last event that was read has not been returned yet.
    pending: bool,
    /// Whether the last block could not be read to its end.
    broken: bool,
}

impl Stream {
    /// The block that is being read.
    fn block(&self) -> usize {
        let last = self.next.checked_sub(1);
        let block = last.and_then(|last| self.blocks.get(last));
        block.copied().unwrap_or(usize::MAX)
    }

    /// Opens the block and goes to where it has been read to.
    fn open<S: Source>(&mut self, log: &Log<S>, mut reader: Reader) -> Result<(), Damage> {
        let block = self.block();
        let damaged = |error| log.damaged(block, error);
        let unpacker = reader.open(log, block).map_err(damaged)?;
        if self.after_gap {
            unpacker.comes_after_gap();
        }
        for _ in 0..self.read {
            unpacker.next_event().map_err(damaged)?;
        }
        self.reader = Some(reader);
        Ok(())
    }
}

impl<'l, S: Source> Events<'l, S> {
    pub(super) fn new(log: &'l Log<S>, places: &[usize]) -> Self {
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
                streams.push(Stream::default());
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
            held: 0,
            most_held: MOST_HELD,
        }
    }

    /// The next event. After an error, the events of the next block follow.
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

    /// Goes to the next event; returns the index of its stream.
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
                match &stream.reader {
                    Some(reader) => self.held = self.held.saturating_sub(reader.size()),
                    None => {
                        let reader = self.spare.pop().unwrap_or_default();
                        let opened = stream.open(self.log, reader);
                        opened.inspect_err(|_| stream.broken = true)?;
                    }
                }
                return Ok(Some(place));
            }
            let next_stamp = self.waiting.peek().map(|Reverse((stamp, _))| *stamp);
            let late = |stamp: u64| next_stamp.is_some_and(|next| stamp > next);
            if let Some(reader) = &mut stream.reader {
                let event = reader.unpacker.next_event();
                match event {
                    Err(error) => {
                        stream.broken = true;
                        return Err(self.log.damaged(stream.block(), error));
                    }
                    Ok(Some(event)) => {
                        stream.read += 1;
                        if !late(event.stamp) {
                            return Ok(Some(place));
                        }
                        self.waiting.push(Reverse((event.stamp, place)));
                        stream.pending = true;
                        self.current = None;
                        self.held += reader.size();
                        self.keep_to_bound();
                    }
                    Ok(None) => {
                        let done = stream.reader.take();
                        if self.spare.len() < MOST_SPARE {
                            self.spare.extend(done);
                        }
                    }
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
            stream.read = 0;
            // If the block cannot be opened, the next one comes after a gap, too.
            let after_gap = std::mem::replace(&mut stream.broken, true);
            stream.after_gap = after_gap || self.log.is_after_gap(block);
            let reader = self.spare.pop().unwrap_or_default();
            stream.open(self.log, reader)?;
            stream.broken = false;
        }
    }

    /// Gives up the readers that are needed last while all of them together take too much memory.
    fn keep_to_bound(&mut self) {
        while self.held > self.most_held {
            let has_reader = |&(_, place): &(u64, usize)| {
                let stream = self.streams.get(place);
                stream.is_some_and(|stream| stream.reader.is_some())
            };
            let waiting = self.waiting.iter().map(|Reverse(waiting)| *waiting);
            let last = waiting.filter(has_reader).max();
            let last = last.and_then(|(_, place)| self.streams.get_mut(place)?.reader.take());
            let Some(reader) = last else {
                return;
            };
            self.held = self.held.saturating_sub(reader.size());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Live;
    use crate::trace::block::{Header, segment_header};
    use crate::trace::dictionary::Dictionary;
    use crate::trace::kind::tag;

    #[test]
    fn events_are_the_same_where_no_reader_can_wait() {
        let mut packer = Packer::new().expect("memory");
        let mut segment = segment_header().to_vec();
        // The second block of each of three streams is missing.
        for (stream, sequence) in [(0, 0), (1, 0), (2, 0), (0, 2), (1, 2), (2, 2)] {
            let mut header = Header {
                stream,
                sequence,
                stamp: 1000 * sequence,
                ..Header::default()
            };
            let stamps = (1..100).map(|at| 1000 * sequence + 10 * at + stream);
            let events: Vec<u8> = stamps
                .flat_map(|stamp| [&[tag::STAMP][..], &stamp.to_le_bytes()].concat())
                .collect();
            let packed = packer.pack(&mut header, &events, &mut segment);
            packed.expect("sound events");
        }
        let log = Log::open(Dictionary::default(), vec![segment], Live::read(vec![]));
        let log = log.map_err(|(_, error)| error).expect("a log");
        let read = |most_held: usize| {
            let mut events = log.events(&[0, 1, 2, 3, 4, 5]);
            events.most_held = most_held;
            let mut read = Vec::new();
            while let Some(event) = events.next_event() {
                let event = event.expect("sound blocks");
                read.push((event.stamp, event.stream, event.is_after_gap));
            }
            read
        };
        let all = read(MOST_HELD);
        assert_eq!(all.len(), 6 * 99);
        assert!(all.is_sorted());
        assert_eq!(all.iter().filter(|(_, _, gap)| *gap).count(), 3);
        assert_eq!(read(2 * READER), all);
        assert_eq!(read(0), all);
    }
}
