//! Goes back through the writes.

use crate::agent::Base;
use crate::copies::Copies;
use crate::jni::Obj;
use crate::jvmti::Jvmti;
use crate::snapshot::collections::is_of_collections;
use crate::snapshot::graph::Graph;
use crate::undo::log::{Entry, LOG, Log, Logs, Place};
use hindsight_instrument::MemberName;
use hindsight_tracelog::crash::{Argument, Body, Patch, Value};
use hindsight_tracelog::writer::MAX_OBJECT;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The bytes that a place in a patch counts against `max-bytes`, and in the record of the failure.
const BYTES_OF_PLACE: usize = 64;

/// The earlier values of places, by object and slot.
type State = HashMap<u32, BTreeMap<u32, Value>>;

/// What a write has overwritten: the object, and its slots.
type Old = (u32, Vec<(u32, Value)>);

/// The writes since the entry of the oldest frame, and what they have overwritten.
pub(crate) struct Undo<'a> {
    base: &'a Base,
    tags: Targets,
    own: Log,
    others: Vec<Log>,
    /// The time before which entries of other threads concern no frame.
    since: i64,
    lost: i64,
    complete: i64,
    /// For each object that was written to, its writes: the log (0 is the failing thread's own),
    /// and the entry there.
    writes: Vec<Vec<(usize, usize)>>,
    /// What the writes have overwritten, by log and entry, as far as it matters: the object, and
    /// its slots.
    old: HashMap<(usize, usize), Old>,
    /// The writes whose old values were too large to be logged: the array.
    unknown: HashMap<(usize, usize), u32>,
    fields: HashMap<u32, Option<MemberName>>,
    /// Whether some old values did not fit into the recording any more.
    beyond: bool,
    /// Whether the writes of other threads during the walk led to more and more objects.
    unsettled: bool,
    /// The number of places of patches that still fit.
    places: usize,
}

/// Finds the objects that were written to: an environment in which their tag is their index among
/// all of them, plus one.
#[derive(Clone, Copy)]
pub(crate) struct Targets(Jvmti);

impl Targets {
    /// The index of this object among those written to, if it is one.
    pub(crate) fn find(self, object: Obj) -> Option<usize> {
        usize::try_from(self.0.tag(object)).ok()?.checked_sub(1)
    }
}

/// A frame to be restored.
pub(crate) struct Entered<'f> {
    /// The position that it has kept.
    pub(crate) position: i64,
    pub(crate) arguments: &'f [Argument],
    /// The fields that it has copied at its entry itself, with their present values.
    pub(crate) fields: &'f [(Value, Patch)],
}

/// A frame's state at its entry.
pub(crate) struct Restored {
    /// The patch; `None` if the state is not available.
    pub(crate) patch: Option<Vec<Patch>>,
    /// What is missing; empty if nothing is.
    pub(crate) reason: String,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        self.tags.0.dispose();
    }
}

impl<'a> Undo<'a> {
    /// Takes over the writes since a position of the current thread's log. `tags` is disposed of
    /// with it.
    pub(crate) fn new(base: &'a Base, tags: Jvmti, logs: Logs, oldest: i64) -> Undo<'a> {
        let since = logs.own.since(oldest);
        let mut undo = Undo {
            base,
            tags: Targets(tags),
            own: logs.own,
            others: logs.others,
            since,
            lost: logs.lost,
            complete: logs.complete,
            writes: Vec::new(),
            old: HashMap::new(),
            unknown: HashMap::new(),
            fields: HashMap::new(),
            beyond: false,
            unsettled: false,
            places: base.options.max_bytes.min(MAX_OBJECT) / BYTES_OF_PLACE,
        };
        undo.own.entries.retain(|entry| entry.position >= oldest);
        for log in &mut undo.others {
            log.entries.retain(|entry| entry.time > since);
        }
        for log in 0..=undo.others.len() {
            undo.note(log, 0);
        }
        undo
    }

    /// Notes the entries of a log from one on, by the objects that they concern.
    fn note(&mut self, log: usize, first: usize) {
        for entry in first..self.log(log).entries.len() {
            let object = self.log(log).entries[entry].object;
            let target = self.tags.find(object).unwrap_or_else(|| {
                self.writes.push(Vec::new());
                self.tags.0.set_tag(object, self.writes.len() as i64);
                self.writes.len() - 1
            });
            if let Some(writes) = self.writes.get_mut(target) {
                writes.push((log, entry));
            }
        }
    }

    /// The ends of the other threads' logs, as far as they have been read, by number.
    pub(crate) fn ends(&self) -> HashMap<i64, i64> {
        self.others
            .iter()
            .map(|log| (log.number(), log.end))
            .collect()
    }

    /// Adds what other threads have written while the graph was walked: what was read of an object
    /// since may be what they wrote. Returns the objects that they wrote to. Nothing of older
    /// frames is lost by that, because an entry is made before its write.
    ///
    /// `lost` is the time up to which logs may be missing by now. If it has been so for good from
    /// the beginning, nothing is added.
    pub(crate) fn catch_up(&mut self, (newer, lost): (Vec<Log>, i64)) -> Vec<Obj> {
        let mut objects = Vec::new();
        if self.lost == i64::MAX {
            return objects;
        }
        self.lost = self.lost.max(lost);
        for mut log in newer {
            let known = (self.others.iter()).position(|known| known.number() == log.number());
            let (at, first) = match known {
                Some(at) => (at, self.others[at].append(log, self.since)),
                None => {
                    log.entries.retain(|entry| entry.time > self.since);
                    self.others.push(log);
                    (self.others.len() - 1, 0)
                }
            };
            objects.extend(
                self.others[at].entries[first..]
                    .iter()
                    .map(|entry| entry.object),
            );
            self.note(at + 1, first);
        }
        objects
    }

    /// Notes that this does not come to an end.
    pub(crate) fn give_up(&mut self) {
        self.unsettled = true;
    }

    fn log(&self, log: usize) -> &Log {
        match log.checked_sub(1) {
            None => &self.own,
            Some(other) => &self.others[other],
        }
    }

    pub(crate) fn targets(&self) -> Targets {
        self.tags
    }

    /// Puts the earlier values of an object of the graph into the graph.
    pub(crate) fn number(&mut self, target: usize, object: u32, graph: &mut Graph<'_>) {
        let writes = std::mem::take(&mut self.writes[target]);
        for &(log, entry) in &writes {
            let Entry {
                place, old, word, ..
            } = self.log(log).entries[entry];
            let slot = match place {
                Place::Field(id) => self
                    .field(id)
                    .and_then(|field| graph.field_slot(object, &field)),
                Place::Element(index) => Some(index),
                Place::Range(start) => {
                    match old.map(|old| graph.old_range(object, start, old)) {
                        None => {
                            self.unknown.insert((log, entry), object);
                        }
                        Some(Some(slots)) => {
                            self.old.insert((log, entry), (object, slots));
                        }
                        Some(None) => self.beyond = true,
                    }
                    None
                }
            };
            if let Some(slot) = slot
                && let Some(value) = graph.old_value(object, slot, old, word)
            {
                self.old.insert((log, entry), (object, vec![(slot, value)]));
            }
        }
    }

    fn field(&mut self, id: u32) -> Option<MemberName> {
        let base = self.base;
        self.fields
            .entry(id)
            .or_insert_with(|| {
                let mut field = base.fields.get(id)?;
                field.owner = field.owner.replace('/', ".");
                Some(field)
            })
            .clone()
    }

    /// Restores frames, which are given in any order.
    pub(crate) fn restore(
        &mut self,
        graph: &Graph<'_>,
        copies: Copies,
        frames: &[Entered<'_>],
    ) -> Vec<Restored> {
        let mut order: Vec<usize> = (0..frames.len()).collect();
        order.sort_by_key(|&frame| Reverse(frames[frame].position));
        // They are ordered newest first; those of different threads by time.
        let mut others: Vec<(i64, usize, usize)> = (0..)
            .zip(&self.others)
            .flat_map(|(log, of)| {
                (0..)
                    .zip(&of.entries)
                    .map(move |(at, entry)| (entry.time, log + 1, at))
            })
            .collect();
        others.sort_unstable();
        let mut own = self.own.entries.len();
        let mut state = State::new();
        let mut unknown = HashSet::new();
        let mut restored: Vec<Restored> = Vec::new();
        restored.resize_with(frames.len(), || Restored {
            patch: None,
            reason: String::new(),
        });
        let mut reach = Reach::default();
        for frame in order {
            let entered = &frames[frame];
            if let Some(reason) = self.too_old(entered.position) {
                restored[frame].reason = reason;
                continue;
            }
            let time = self.own.time(entered.position);
            if self.came_before_probes(entered.position) {
                restored[frame].reason =
                    "classes that were loaded before the agent came did not have all their \
                                          probes yet at its entry"
                        .to_owned();
                continue;
            }
            loop {
                let mine = own
                    .checked_sub(1)
                    .filter(|&at| self.own.entries[at].position >= entered.position);
                let theirs = others.last().filter(|(at, _, _)| *at > time);
                let key = match (mine, theirs) {
                    (None, None) => break,
                    (Some(at), theirs)
                        if theirs.is_none_or(|(time, _, _)| self.own.entries[at].time > *time) =>
                    {
                        own = at;
                        (0, at)
                    }
                    _ => match others.pop() {
                        Some((_, log, at)) => (log, at),
                        None => break,
                    },
                };
                if let Some((object, slots)) = self.old.get(&key) {
                    state
                        .entry(*object)
                        .or_default()
                        .extend(slots.iter().copied());
                }
                unknown.extend(self.unknown.get(&key));
            }
            let patch = reach.patch(graph, &state, copies, entered.arguments, self.places);
            match patch {
                Some(mut patch) => {
                    self.places -= patch.len();
                    self.trust_copies(entered, &mut patch);
                    restored[frame].patch = Some(patch);
                    restored[frame].reason = match self.missing(time) {
                        reason if reason.is_empty() => reach.unseen(graph, &unknown),
                        reason => reason,
                    };
                }
                None => restored[frame].reason = "what has changed is beyond max-bytes".to_owned(),
            }
        }
        restored
    }

    /// Whether a position of the failing thread's log is known to be of a time when some classes
    /// had no probes yet. For one that is too old this is not known, and will not be known the next
    /// time either.
    pub(crate) fn came_before_probes(&self, position: i64) -> bool {
        self.too_old(position).is_none() && self.own.time(position) < self.complete
    }

    /// The reason why a position is of no use, if it is not.
    fn too_old(&self, position: i64) -> Option<String> {
        let forgotten = self.own.has_forgotten();
        too_old(position, self.own.from, self.own.end, forgotten)
    }

    /// What is missing of other threads since a time.
    fn missing(&self, time: i64) -> String {
        let missing = |log: &&Log| log.missing_until().is_some_and(|until| until > time);
        let overrun = self.others.iter().filter(missing).count();
        let forgotten = self.others.iter().filter(missing);
        let forgotten = forgotten.filter(|log| log.has_forgotten()).count();
        if self.beyond {
            "some of what was written over is beyond max-bytes".to_owned()
        } else if self.unsettled {
            "exact as far as its own thread goes; others went on writing to the same objects while they were recorded".to_owned()
        } else if forgotten > 0 {
            format!(
                "exact as far as its own thread goes; writes of {forgotten} others could not be kept (a variable handle that leads to another, or no memory or stack)"
            )
        } else if overrun > 0 {
            format!(
                "exact as far as its own thread goes; {overrun} others have written more than is known (max-writes)"
            )
        } else if self.lost > time {
            "exact as far as its own thread goes; what threads have written that have ended, or that there were too many of, is not known".to_owned()
        } else {
            String::new()
        }
    }

    /// Prefers what a method has copied itself, which is right in any case; if the log disagrees,
    /// it has missed a write.
    fn trust_copies(&self, entered: &Entered<'_>, patch: &mut Vec<Patch>) {
        for (now, copied) in entered.fields {
            let at = patch.iter().position(|place| {
                place.object == copied.object
                    && place.field == copied.field
                    && place.owner == copied.owner
            });
            let logged = at.map_or(*now, |at| patch[at].value);
            if same(logged, copied.value) {
                continue;
            }
            self.base.counters.add("writes_not_logged", 1);
            match at {
                Some(at) => patch[at].value = copied.value,
                None => patch.push(copied.clone()),
            }
        }
    }
}

/// The reason why a position is of no use to a log with these bounds, if it is not.
fn too_old(position: i64, from: i64, end: i64, forgotten: bool) -> Option<String> {
    const LET_GO: &str = "the log of writes of its entry was let go when memory was short";
    if position < 0 {
        return Some("its thread had no log of writes".to_owned());
    }
    // A dropped log has no end; the thread's next one begins far off, see `HindsightLog.enter`.
    if position > end || position >> LOG != end >> LOG {
        return Some(LET_GO.to_owned());
    }
    // Nor can it be read if it stops in between.
    let forgotten = forgotten || from == i64::MAX;
    (position < from).then(|| match forgotten {
        true => "a write since its entry could not be kept (a variable handle that leads to another, or no memory or stack)".to_owned(),
        false => format!(
            "{} writes since its entry, of which the last {} are known (max-writes)",
            end - position,
            end - from
        ),
    })
}

/// Equality of bits: NaN equals itself, and the two zeros differ.
pub(crate) fn same(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Whether one object is a part of the other, which is a collection or such a part: half of a
/// collection is not a collection, so there is no step between them.
fn is_inside(graph: &Graph<'_>, object: u32, part: u32) -> bool {
    let class_of = |object: u32| {
        let object = graph.objects.get(object as usize)?;
        graph.classes.get(object.class as usize)
    };
    let (Some(class), Some(part)) = (class_of(object), class_of(part)) else {
        return false;
    };
    let holds = match class.info.name.strip_prefix('[') {
        // These are entries; arrays of others have the elements.
        Some(element) => {
            let element = element.trim_start_matches('[').trim_start_matches('L');
            is_of_collections(element) && element.contains('$')
        }
        None => class.contains,
    };
    holds && part.contains
}

/// Finds what arguments lead to; this is the memory for that.
#[derive(Default)]
struct Reach {
    /// The most further steps within which an object is restored, plus one; 0 if it was not
    /// reached.
    left: Vec<u32>,
    reached: Vec<u32>,
    pending: Vec<(u32, u32)>,
}

impl Reach {
    /// The differences of a state in the objects that the arguments lead to; `None` if these are
    /// more than `most` places.
    fn patch(
        &mut self,
        graph: &Graph<'_>,
        state: &State,
        copies: Copies,
        arguments: &[Argument],
        most: usize,
    ) -> Option<Vec<Patch>> {
        self.left.clear();
        self.left.resize(graph.objects.len(), 0);
        self.reached.clear();
        for argument in arguments {
            if let Value::Ref(object) = argument.value {
                let depth = copies.of(argument.index).depth();
                self.reach(object, depth);
            }
        }
        while let Some((object, depth)) = self.pending.pop() {
            // It was reached again meanwhile, with more steps left.
            if self.left[object as usize] != depth.saturating_add(1) {
                continue;
            }
            if depth == 0 {
                continue;
            }
            let changed = state.get(&object);
            let mut next = |slot: usize, value: &Value| {
                let value = changed
                    .and_then(|changed| changed.get(&(slot as u32)))
                    .unwrap_or(value);
                if let Value::Ref(to) = value {
                    let stays = depth == u32::MAX || is_inside(graph, object, *to);
                    self.reach(*to, if stays { depth } else { depth - 1 });
                }
            };
            match &graph.objects[object as usize].body {
                Body::Instance(values)
                | Body::Enum { fields: values, .. }
                | Body::References(values) => {
                    values
                        .iter()
                        .enumerate()
                        .for_each(|(slot, value)| next(slot, value));
                }
                Body::Lambda(lambda) => {
                    let captured = lambda.captured.iter().map(|(_, value)| value);
                    captured
                        .enumerate()
                        .for_each(|(slot, value)| next(slot, value));
                }
                _ => {}
            }
        }
        let mut patch = Vec::new();
        for &object in &self.reached {
            // The last step is to an object that is left as it is.
            if self.left[object as usize] < 2 {
                continue;
            }
            for (&slot, &value) in state.get(&object).into_iter().flatten() {
                // Most are as they are now, and there may be millions.
                if graph
                    .stored(object, slot)
                    .is_some_and(|now| !same(now, value))
                    && let Some((_, place)) = graph.place(object, slot)
                {
                    if patch.len() == most {
                        return None;
                    }
                    patch.push(Patch { value, ..place });
                }
            }
        }
        Some(patch)
    }

    /// Which of the objects last reached are not known, because their writes are not logged, or too
    /// much was written at once (to the arrays in `unknown`).
    fn unseen(&self, graph: &Graph<'_>, unknown: &HashSet<u32>) -> String {
        let restored = (self.reached.iter()).filter(|&&object| self.left[object as usize] > 1);
        let class = |&object: &u32| &graph.classes[graph.objects[object as usize].class as usize];
        if let Some(array) = restored.clone().find(|array| unknown.contains(array)) {
            return format!(
                "exact but for an array ({}) of which more was written over at once than is kept (max-writes)",
                class(array).info.name
            );
        }
        let no_room = restored.clone().find(|&&object| {
            let body = &graph.objects[object as usize].body;
            matches!(body, Body::Enum { fields, .. } if fields.len() < class(&object).fields.len())
        });
        if let Some(constant) = no_room {
            let name = &class(constant).info.name;
            return format!("exact but for fields of enum constants of {name} (max-bytes)");
        }
        restored
            .map(class)
            .find(|class| class.unseen)
            .map_or_else(String::new, |class| {
                let name = &class.info.name;
                format!(
                    "exact but for what code that logs no writes has written to {name} and the like"
                )
            })
    }

    fn reach(&mut self, object: u32, depth: u32) {
        let Some(left) = self.left.get_mut(object as usize) else {
            return;
        };
        let fresh = depth.saturating_add(1);
        if *left == 0 {
            self.reached.push(object);
        }
        if fresh > *left {
            *left = fresh;
            self.pending.push((object, depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_of_another_log_is_not_counted_from() {
        let log = |number: i64| number << LOG;
        let said = |position, from, end| too_old(position, from, end, false).unwrap_or_default();
        let let_go = "the log of writes of its entry was let go when memory was short";
        assert_eq!(said(log(3) + 7, log(3), log(3) + 9), "");
        assert_eq!(said(log(3) + 9, log(3), log(3) + 9), "");
        assert_eq!(
            said(log(3) + 2, log(3) + 5, log(3) + 9),
            "7 writes since its entry, of which the last 4 are known (max-writes)"
        );
        // The thread's next log, a later one, and none at all.
        assert_eq!(said(log(3) + 2, log(4), log(4) + 9), let_go);
        assert_eq!(said(log(3) + 2, log(7) + 5, log(7) + 9), let_go);
        assert_eq!(said(log(3) + 2, 0, 0), let_go);
        assert!(said(i64::MIN, 0, 0).contains("had no log"));
        let forgotten = too_old(log(3) + 2, log(3) + 5, log(3) + 9, true);
        assert!(forgotten.is_some_and(|why| why.contains("could not be kept")));
        assert!(said(log(3) + 2, i64::MAX, log(3) + 9).contains("could not be kept"));
    }
}
