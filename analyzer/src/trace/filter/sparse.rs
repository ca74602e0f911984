//! Which blocks can be left out where each event is shown by its own content alone.

use super::{Filter, until};
use hindsight_tracelog::trace::{self, Block, Log, Source};
use std::collections::{BTreeSet, HashSet};

/// Whether the content of other blocks changes nothing about the events of one: the index has
/// everything that is wanted, threads have the names of the dictionary, and no thread goes on in
/// the stream of another one.
pub(super) fn is_alone<S: Source>(filter: &Filter, log: &Log<S>) -> bool {
    let dictionary = &log.dictionary;
    // No index finds an event that names a callee, be it wanted itself or the first sign of a class
    // that is.
    let names_callees = |&class: &usize| {
        let class = dictionary.traced.get(class);
        class.is_some_and(|class| !class.callees.is_empty())
    };
    if !filter.callees.is_empty() || filter.classes.iter().any(names_callees) {
        return false;
    }
    // After a pause a thread may have another name.
    let is_whole = (dictionary.start.as_ref()).is_some_and(|start| start.bounds.is_empty());
    is_whole && !has_virtual_threads(log)
}

fn has_virtual_threads<S: Source>(log: &Log<S>) -> bool {
    let is_virtual = |block: &Block| block.header.is_virtual();
    if log.blocks().iter().any(is_virtual) {
        return true;
    }
    // A block with another thread than that of its first events has virtual threads.
    let others = trace::Filter {
        threads: Some(BTreeSet::new()),
        threads_besides: Some(log.dictionary.threads.keys().copied().collect()),
        ..trace::Filter::default()
    };
    let has_index = |place: &usize| {
        let block = &log.blocks()[*place];
        !block.live && !block.header.is_recap()
    };
    log.select(&others).iter().any(has_index)
}

/// Keeps the blocks that may have what is wanted, and those without which it would be shown
/// differently.
pub(super) fn keep<S: Source>(
    filter: &Filter,
    log: &Log<S>,
    places: &mut Vec<usize>,
    having_it: Vec<usize>,
    stamps: &BTreeSet<u64>,
) {
    let blocks = log.blocks();
    let stream = |place: usize| blocks.get(place).map(|block| block.header.stream);
    let mut kept: HashSet<usize> = having_it.into_iter().collect();
    if !stamps.is_empty() {
        // A class is also recorded before the first event of its code, even if that names a field
        // of another class.
        let classes = filter.classes.iter();
        let classes = classes.filter_map(|&class| log.dictionary.traced.get(class));
        let fields = classes.flat_map(|class| &class.fields);
        kept.extend(log.select(&trace::Filter {
            fields: Some(fields.map(|field| field.id).collect()),
            ..filter.of_blocks()
        }));
    }
    for &place in places.iter() {
        let block = &blocks[place];
        // A class is recorded before the first event with its stamp or a later one.
        let ends = until(blocks, place);
        let tells_class = stamps.range(block.header.stamp..=ends).next().is_some();
        if tells_class || block.header.lost > 0 || log.is_after_gap(place) {
            kept.insert(place);
        }
    }
    for stamp in stamps {
        let behind = places
            .iter()
            .filter(|&&place| blocks[place].header.stamp >= *stamp);
        kept.extend(behind.min_by_key(|&&place| blocks[place].header.stamp));
    }
    let mut around = Vec::new();
    for &place in &kept {
        // An event may go on in the next block, and may name the object only there.
        let before = place.checked_sub(1).filter(|_| filter.object.is_some());
        let beside = [before, Some(place + 1)].into_iter().flatten();
        around.extend(beside.filter(|&other| stream(other) == stream(place)));
    }
    kept.extend(around);
    // The first event of a stream has the name of its thread.
    let threads: HashSet<u64> = kept
        .iter()
        .map(|&place| blocks[place].header.thread)
        .collect();
    places.retain(|&place| {
        let is_first = place == 0 || stream(place - 1) != stream(place);
        kept.contains(&place) || is_first && threads.contains(&blocks[place].header.thread)
    });
}

#[cfg(test)]
mod tests;
