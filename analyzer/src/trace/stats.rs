//! Counts of a trace, from many blocks at the same time.

use super::Trace;
use hindsight_tracelog::trace::kind::Kind;
use hindsight_tracelog::trace::{Damage, Error, Reader, Source};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The counts of a trace.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// The number of events about the program, by kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// The number of calls of each method.
    pub calls: HashMap<u32, u64>,
    /// The number of new objects of each class.
    pub objects: HashMap<u32, u64>,
    /// The platform threads that have events.
    pub threads: BTreeSet<u64>,
    /// The virtual threads that have events.
    pub virtual_threads: BTreeSet<u64>,
    /// The number of events that were lost, as far as the blocks record it.
    pub lost: u64,
    /// The indices of blocks that could not be read, with the reasons.
    pub unreadable: Vec<(usize, Damage)>,
}

/// Counts by numbers that are usually small.
#[derive(Default)]
struct Tally {
    small: Vec<u64>,
    large: HashMap<u32, u64>,
}

/// Numbers below this one are counted in a list.
const SMALL: usize = 1 << 20;

impl Tally {
    #[inline]
    fn add(&mut self, number: u32) {
        match self.small.get_mut(number as usize) {
            Some(count) => *count += 1,
            None => self.add_new(number),
        }
    }

    #[cold]
    fn add_new(&mut self, number: u32) {
        let at = number as usize;
        if at < SMALL {
            self.small.resize((at + 1).next_power_of_two(), 0);
            self.small[at] += 1;
        } else {
            *self.large.entry(number).or_default() += 1;
        }
    }

    fn counts(self) -> HashMap<u32, u64> {
        let small = (0..).zip(self.small);
        let mut counts: HashMap<u32, u64> = small.filter(|(_, count)| *count > 0).collect();
        counts.extend(self.large);
        counts
    }
}

impl Counts {
    /// Counts some blocks.
    ///
    /// `step` is called for each block that is done, on many threads.
    pub fn of(trace: &Trace, places: &[usize], step: &(dyn Fn() + Sync)) -> Counts {
        let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(16));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut counts = Counts::default();
            let mut reader = Reader::default();
            let [mut calls, mut objects] = [Tally::default(), Tally::default()];
            while let Some(&place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                let added =
                    counts.add_block(&trace.log, place, &mut reader, &mut calls, &mut objects);
                if let Err(error) = added {
                    let damage = trace.log.damaged(place, error);
                    counts.unreadable.push((place, damage));
                }
                step();
            }
            counts.calls = calls.counts();
            counts.objects = objects.counts();
            counts
        };
        let mut all = Counts::default();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..workers.min(places.len()))
                .map(|_| scope.spawn(work))
                .collect();
            for worker in workers {
                match worker.join() {
                    Ok(counts) => all.merge(counts),
                    // Counts that lack a part would be wrong.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        all.unreadable.sort_by_key(|(place, _)| *place);
        all
    }

    fn add_block<S: Source>(
        &mut self,
        log: &hindsight_tracelog::trace::Log<S>,
        place: usize,
        reader: &mut Reader,
        calls: &mut Tally,
        objects: &mut Tally,
    ) -> Result<(), Error> {
        let unpacker = reader.open(log, place)?;
        let mut kinds = [0_u64; 256];
        let mut last = None;
        let counted = loop {
            let event = match unpacker.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            kinds[usize::from(event.tag())] += 1;
            match event.kind() {
                Kind::Enter => calls.add(event.id),
                Kind::Object => {
                    if let Some(object) = event.reference(0) {
                        objects.add(object.class());
                    }
                }
                Kind::Lost => {
                    let count = event.longs().first().map_or(0, |&count| count as u64);
                    self.lost = self.lost.saturating_add(count);
                }
                _ => {}
            }
            if last != Some(event.thread) {
                last = Some(event.thread);
                let threads = if event.is_virtual {
                    &mut self.virtual_threads
                } else {
                    &mut self.threads
                };
                threads.insert(event.thread);
            }
        };
        for (layout, count) in hindsight_tracelog::trace::kind::LAYOUTS.iter().zip(kinds) {
            if let Some(layout) = layout
                && count > 0
            {
                *self.kinds.entry(layout.kind).or_default() += count;
            }
        }
        counted
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: Counts) {
        fn add<K: std::hash::Hash + Eq>(to: &mut HashMap<K, u64>, from: HashMap<K, u64>) {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        add(&mut self.calls, other.calls);
        add(&mut self.objects, other.objects);
        self.threads.extend(other.threads);
        self.virtual_threads.extend(other.virtual_threads);
        self.lost = self.lost.saturating_add(other.lost);
        self.unreadable.extend(other.unreadable);
    }

    /// The number of all events about the program.
    pub fn events(&self) -> u64 {
        let of_program = |kind: &Kind| {
            !matches!(
                kind,
                Kind::Stamp | Kind::Switch | Kind::Text | Kind::Lost | Kind::More | Kind::Going
            )
        };
        let counts = self.kinds.iter().filter(|(kind, _)| of_program(kind));
        counts.map(|(_, count)| count).sum()
    }
}
