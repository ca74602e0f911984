//! Reading the events of a trace's blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Damage, Log, Source};
use crate::trace::block::BLOCK_HEADER;
use crate::trace::chunk;
use crate::trace::error::{Error, ErrorKind};
use crate::trace::pack::Packer;
use crate::trace::unpack::{Event, Unpacker};

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
