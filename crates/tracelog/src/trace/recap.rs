//! Which calls are active where the kept part of a bounded trace begins.
//!
//! A recap is a block with [`Header::RECAP`] among its flags. It stands for the blocks of its
//! stream up to its sequence number, that one included: it has an event [`Kind::Going`] for each
//! call of the platform thread that is active behind them, the outermost first. If the stream's
//! next events are those of a virtual thread, its [`Kind::Switch`] follows. The calls of virtual
//! threads are not listed, because virtual threads move from stream to stream.
//!
//! The recorder makes recaps while it packs: [`Changes`] is what a block does to the active calls,
//! and [`Recaps`] adds that up.

use std::collections::BTreeMap;

use super::block::Header;
use super::error::{Error, ErrorKind};
use super::kind::{self, Kind, tag};
use super::pack::Packer;

/// The most calls of a thread that are remembered; of deeper stacks, the innermost calls.
const MOST_CALLS: usize = 1 << 16;
/// The most streams that are remembered.
const MOST_STREAMS: usize = 1 << 16;
/// The most blocks that may arrive before one of their stream that was begun earlier.
const MOST_EARLY: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Enter(u32),
    /// The innermost call of this method ends, and so do all deeper ones.
    Leave(u32),
    /// All calls deeper than the innermost call of this method end.
    Catch(u32),
}

/// What an event does to the active calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// There is no such event.
    Unknown,
    Nothing,
    /// It does nothing, and text follows.
    Text,
    Enter,
    Leave,
    Catch,
    Lost,
    End,
    Switch,
}

/// What an event does to the active calls, and the number of its bytes without its text.
struct Effect {
    size: u8,
    of: Of,
}

/// The effects by tag.
static EFFECTS: [Effect; 256] = {
    let layouts = kind::layouts();
    const UNKNOWN: Effect = Effect {
        size: 1,
        of: Of::Unknown,
    };
    let mut all = [UNKNOWN; 256];
    let mut tag = 0;
    while tag < 256 {
        if let Some(layout) = layouts[tag] {
            let of = match layout.kind {
                Kind::Enter => Of::Enter,
                Kind::Exit | Kind::Unwind => Of::Leave,
                Kind::Caught => Of::Catch,
                Kind::Lost => Of::Lost,
                Kind::End => Of::End,
                Kind::Switch => Of::Switch,
                _ if layout.text => Of::Text,
                _ => Of::Nothing,
            };
            let size = layout.size() as u8;
            all[tag] = Effect { size, of };
        }
        tag += 1;
    }
    all
};

/// What the events of a block do to the active calls of the stream's own thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether the calls from before the block are not known any more.
    forgets: bool,
    /// The steps, without those of calls that begin and end in the block.
    steps: Vec<Step>,
    /// The index in `steps` behind the last [`Step::Leave`] or [`Step::Catch`].
    from: usize,
    /// The platform thread, if it has recorded anything.
    thread: Option<u64>,
    /// The switch to the thread of the last events: `None` if that is the platform thread, empty if
    /// it is still the thread of the events before.
    carried: Option<Vec<u8>>,
    has_ended: bool,
}

impl Changes {
    /// Reads the events of a block.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not events.
    pub fn of(header: &Header, raw: &[u8]) -> Result<Self, Error> {
        let mut changes = Self::default();
        let mut is_virtual = header.is_virtual();
        if is_virtual {
            changes.carried = Some(Vec::new());
        } else {
            changes.thread = Some(header.thread);
        }
        let mut at = 0;
        while let Some(&tag) = raw.get(at) {
            let effect = &EFFECTS[usize::from(tag)];
            let start = at;
            at += usize::from(effect.size);
            let event = raw.get(start..at);
            let event = event.ok_or(Error::at(ErrorKind::EventCut, start))?;
            let id = || {
                let bytes = event.get(1..).and_then(<[u8]>::first_chunk);
                bytes.copied().map_or(0, u32::from_le_bytes)
            };
            match effect.of {
                Of::Nothing => {}
                Of::Unknown => return Err(Error::at(ErrorKind::UnknownTag { tag }, start)),
                Of::Text | Of::Switch => {
                    let len = event.last_chunk().copied().map_or(0, u16::from_le_bytes);
                    at += usize::from(len);
                    let event = raw.get(start..at);
                    let event = event.ok_or(Error::at(ErrorKind::EventCut, start))?;
                    if effect.of == Of::Switch {
                        is_virtual = changes.switch(event);
                    }
                }
                Of::End if is_virtual => changes.carried = None,
                _ if is_virtual => {}
                Of::Enter => changes.steps.push(Step::Enter(id())),
                Of::Leave => changes.end(Step::Leave(id())),
                Of::Catch => changes.end(Step::Catch(id())),
                Of::Lost => changes.forget(),
                Of::End => changes.has_ended = true,
            }
        }
        Ok(changes)
    }

    /// The same changes, made by the last block of the stream.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.has_ended = true;
        self
    }

    /// Whether they are those of the last block of the stream, behind which nothing is active.
    pub fn are_last(&self) -> bool {
        self.has_ended
    }

    /// Handles a switch to another thread; returns whether that is a virtual one.
    fn switch(&mut self, event: &[u8]) -> bool {
        let flags = event.get(1).copied().unwrap_or_default();
        let is_virtual = flags & 1 != 0;
        if is_virtual {
            self.carried = Some(event.to_vec());
        } else {
            self.carried = None;
            let id = event.get(5..).and_then(<[u8]>::first_chunk);
            self.thread = id.copied().map(u64::from_le_bytes);
            if flags & 2 != 0 {
                self.forget();
            }
        }
        is_virtual
    }

    fn forget(&mut self) {
        self.forgets = true;
        self.steps.clear();
        self.from = 0;
    }

    fn end(&mut self, step: Step) {
        if !end(&mut self.steps, self.from, step) {
            self.steps.push(step);
            self.from = self.steps.len();
        }
    }
}

/// Ends calls among those from an index on; returns whether the method was among them.
fn end(calls: &mut Vec<Step>, from: usize, step: Step) -> bool {
    let (Step::Leave(method) | Step::Catch(method) | Step::Enter(method)) = step;
    let known = calls.get(from..).unwrap_or_default();
    let Some(at) = known.iter().rposition(|call| *call == Step::Enter(method)) else {
        return false;
    };
    let keeps = usize::from(matches!(step, Step::Catch(_)));
    calls.truncate(from + at + keeps);
    true
}

#[derive(Debug, Default)]
struct Stream {
    /// The sequence number of the block that is to come next.
    next: u64,
    /// Blocks that arrived early, by sequence number; without changes for one that is lost.
    early: BTreeMap<u64, (u64, Option<Changes>)>,
    thread: u64,
    last_stamp: u64,
    /// The active calls; all of them are [`Step::Enter`].
    calls: Vec<Step>,
    /// The switch to the virtual thread of the last events, if it is one.
    carried: Option<Vec<u8>>,
}

impl Stream {
    fn apply(&mut self, last_stamp: u64, changes: Option<Changes>) {
        self.next += 1;
        self.last_stamp = last_stamp;
        let Some(changes) = changes else {
            self.calls.clear();
            return;
        };
        if changes.forgets {
            self.calls.clear();
        }
        for step in changes.steps {
            match step {
                Step::Enter(_) => self.calls.push(step),
                Step::Leave(_) | Step::Catch(_) => {
                    end(&mut self.calls, 0, step);
                }
            }
        }
        if self.calls.len() > MOST_CALLS {
            self.calls.drain(..self.calls.len() - MOST_CALLS);
        }
        self.thread = changes.thread.unwrap_or(self.thread);
        match changes.carried {
            Some(same) if same.is_empty() => {}
            carried => self.carried = carried,
        }
    }

    /// Appends the events of the recap to `out`.
    fn events(&self, out: &mut Vec<u8>) {
        for call in &self.calls {
            if let Step::Enter(method) = call {
                out.push(tag::GOING);
                out.extend(method.to_le_bytes());
            }
        }
        if let Some(carried) = &self.carried {
            let stamp = out.len() + 13;
            out.extend(carried);
            if let Some(place) = out.get_mut(stamp..).and_then(<[u8]>::first_chunk_mut) {
                *place = self.last_stamp.to_le_bytes();
            }
        }
    }
}

/// The active calls of each stream, according to the blocks that were stored.
#[derive(Debug, Default)]
pub struct Recaps {
    streams: BTreeMap<u64, Stream>,
    /// The number of blocks that arrived early, of all streams.
    early: usize,
}

impl Recaps {
    /// Adds a block that was packed, or one that is lost. Blocks of a stream may come out of order.
    pub fn add(&mut self, header: &Header, changes: Option<Changes>) {
        if self.streams.len() >= MOST_STREAMS && !self.streams.contains_key(&header.stream) {
            return;
        }
        let stream = self.streams.entry(header.stream).or_default();
        if header.sequence < stream.next {
            return;
        }
        let block = (header.last_stamp.max(header.stamp), changes);
        self.early -= stream.early.len();
        stream.early.insert(header.sequence, block);
        if stream.early.len() > MOST_EARLY
            && let Some((&first, _)) = stream.early.first_key_value()
        {
            // Blocks before this one no longer come.
            stream.next = first;
            stream.calls.clear();
        }
        while let Some((last_stamp, changes)) = stream.early.remove(&stream.next) {
            if changes.as_ref().is_some_and(|changes| changes.has_ended) {
                self.streams.remove(&header.stream);
                return;
            }
            stream.apply(last_stamp, changes);
        }
        self.early += stream.early.len();
    }

    /// Whether there are blocks that arrived early: others before them are still to come.
    pub fn are_early(&self) -> bool {
        self.early > 0
    }

    /// Appends the recaps of all streams, as far as they fit into `most` bytes; first those of
    /// streams with active calls.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory.
    pub fn write(&self, packer: &mut Packer, most: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let mut events = Vec::new();
        let (calling, others): (Vec<_>, Vec<_>) =
            (self.streams.iter()).partition(|(_, stream)| !stream.calls.is_empty());
        for (&number, stream) in calling.into_iter().chain(others) {
            let Some(sequence) = stream.next.checked_sub(1) else {
                continue;
            };
            events.clear();
            stream.events(&mut events);
            let mut header = Header {
                stream: number,
                sequence,
                thread: stream.thread,
                stamp: stream.last_stamp,
                flags: Header::RECAP,
                ..Header::default()
            };
            let before = out.len();
            packer.pack(&mut header, &events, out)?;
            if out.len() - start > most {
                out.truncate(before);
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::kind::LAYOUTS;
    use super::*;

    const ENTER: u8 = 1;

    fn tag_of(kind: Kind) -> u8 {
        let is = |layout: &Option<super::super::kind::Layout>| {
            layout.is_some_and(|layout| layout.kind == kind)
        };
        LAYOUTS.iter().position(is).expect("a kind") as u8
    }

    /// A positive number below 100 enters the method, a negative number leaves it, and one from 100
    /// on catches in it.
    fn block(stream: u64, sequence: u64, calls: &[i32]) -> (Header, Changes) {
        let mut raw = Vec::new();
        for &call in calls {
            let (tag, references) = match call {
                100.. => (tag_of(Kind::Caught), 1),
                0.. => (ENTER, 0),
                _ => (tag_of(Kind::Unwind), 1),
            };
            raw.push(tag);
            raw.extend((call.unsigned_abs() % 100).to_le_bytes());
            raw.extend([0; 8].repeat(references));
        }
        let header = Header {
            stream,
            sequence,
            thread: 7,
            ..Header::default()
        };
        let changes = Changes::of(&header, &raw).expect("events");
        (header, changes)
    }

    fn going(recaps: &Recaps, stream: u64) -> Vec<u32> {
        let calls = recaps.streams.get(&stream).map(|stream| &stream.calls);
        let method = |step: &Step| match *step {
            Step::Enter(method) => method,
            _ => panic!("{step:?}"),
        };
        calls.map_or(Vec::new(), |calls| calls.iter().map(method).collect())
    }

    #[test]
    fn blocks_in_any_order_say_what_is_going_on() {
        // The end of 3 ends 4, too; that of 9, which never began, ends nothing.
        let all = [1, 2, 3, 4, -3, 5, -9, 6, 102, 3, -2, 7, 8];
        for cut in 0..all.len() {
            let mut recaps = Recaps::default();
            let blocks = [block(1, 0, &all[..cut]), block(1, 1, &all[cut..])];
            for (header, changes) in blocks.into_iter().rev() {
                recaps.add(&header, Some(changes));
            }
            assert_eq!(going(&recaps, 1), [1, 7, 8], "{cut}");
        }
    }

    #[test]
    fn nothing_is_known_behind_a_block_that_is_lost() {
        let mut recaps = Recaps::default();
        let (header, changes) = block(1, 0, &[1, 2]);
        recaps.add(&header, Some(changes));
        recaps.add(&block(1, 1, &[]).0, None);
        let (header, changes) = block(1, 2, &[-2, 5]);
        recaps.add(&header, Some(changes));
        assert_eq!(going(&recaps, 1), [5]);
    }

    #[test]
    fn a_block_that_never_comes_is_not_waited_for_for_ever() {
        let mut recaps = Recaps::default();
        let (header, changes) = block(1, 0, &[1, 2]);
        recaps.add(&header, Some(changes));
        for sequence in 2..2 + MOST_EARLY as u64 {
            recaps.add(&block(1, sequence, &[]).0, None);
        }
        assert_eq!(going(&recaps, 1), [1, 2]);
        let (header, changes) = block(1, 2 + MOST_EARLY as u64, &[7]);
        recaps.add(&header, Some(changes));
        assert_eq!(going(&recaps, 1), [7]);
        let (header, changes) = block(1, 3 + MOST_EARLY as u64, &[8]);
        recaps.add(&header, Some(changes));
        assert_eq!(going(&recaps, 1), [7, 8]);
    }

    #[test]
    fn they_keep_to_their_room() {
        let mut recaps = Recaps::default();
        for stream in 1..100 {
            let (header, changes) = block(stream, 0, &[1, 2, 3]);
            recaps.add(&header, Some(changes));
        }
        let mut packer = Packer::new().expect("memory");
        let mut out = vec![1];
        recaps.write(&mut packer, 1000, &mut out).expect("memory");
        assert!((500..=1001).contains(&out.len()), "{}", out.len());
    }

    #[test]
    fn those_of_threads_with_calls_come_first_and_those_that_have_ended_are_gone() {
        let mut recaps = Recaps::default();
        for (stream, calls) in [(1, &[][..]), (2, &[5]), (3, &[6])] {
            let (header, changes) = block(stream, 0, calls);
            recaps.add(&header, Some(changes));
        }
        let (header, changes) = block(3, 1, &[]);
        recaps.add(&header, Some(changes.last()));
        let mut out = Vec::new();
        let mut packer = Packer::new().expect("memory");
        (recaps.write(&mut packer, 1000, &mut out)).expect("memory");
        let first = Header::read(out.first_chunk().expect("a block")).expect("a header");
        assert_eq!(first.stream, 2);
        assert_eq!(recaps.streams.keys().collect::<Vec<_>>(), [&1, &2]);
    }

    #[test]
    fn blocks_are_early_until_those_before_them_come() {
        let mut recaps = Recaps::default();
        let mut early = |sequence, last: bool| {
            let (header, changes) = block(1, sequence, &[]);
            let changes = if last { changes.last() } else { changes };
            recaps.add(&header, Some(changes));
            recaps.are_early()
        };
        let all = [(0, false), (2, false), (4, true), (1, false), (3, false)];
        let early = all.map(|(sequence, last)| early(sequence, last));
        assert_eq!(early, [false, true, true, true, false]);
    }

    #[test]
    fn a_virtual_thread_that_has_ended_is_not_said_to_be_carried() {
        let mut virtual_thread = Vec::new();
        let stamp = [0; 8];
        virtual_thread.extend([tag_of(Kind::Switch), 1, 0, 0, 0]);
        virtual_thread.extend([9, 0, 0, 0, 0, 0, 0, 0]);
        virtual_thread.extend(stamp);
        virtual_thread.extend([0; 3]);
        let header = Header {
            stream: 1,
            ..Header::default()
        };
        let changes = Changes::of(&header, &virtual_thread).expect("events");
        assert_eq!(changes.carried, Some(virtual_thread.clone()));
        virtual_thread.push(tag_of(Kind::End));
        virtual_thread.extend(stamp);
        let changes = Changes::of(&header, &virtual_thread).expect("events");
        assert_eq!((changes.carried, changes.has_ended), (None, false));
    }
}
