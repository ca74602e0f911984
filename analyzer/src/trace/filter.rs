//! Which steps are wanted.
//!
//! - `sparse` finds blocks that can be left out.

mod sparse;

use super::steps::{Place, Step, What};
use super::unseen::stands_in;
use hindsight_instrument::glob::Globs;
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::{self, Block, Datum, Log, ObjectId, Source};
use std::collections::BTreeSet;

/// What the user asked for. Empty fields do not restrict the steps.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Ids of threads, or globs of their names.
    pub threads: Vec<String>,
    /// Globs of classes: those of methods, and those by which code names fields.
    pub classes: Vec<String>,
    /// Globs of methods and fields, as `class.name`.
    pub members: Vec<String>,
    /// The number of an object.
    pub object: Option<u64>,
}

/// What the user asked for, by the numbers of a trace.
pub struct Filter {
    threads: Option<BTreeSet<u64>>,
    /// Globs of names of threads that the dictionary does not have, such as virtual ones; `None` if
    /// no thread is asked for by its name.
    virtual_threads: Option<Globs>,
    /// The threads of the dictionary, if there may be others.
    platform_threads: BTreeSet<u64>,
    /// Whether one of the threads has been seen, and whether the object has.
    seen: (bool, bool),
    /// Whether one of the members has been seen, if only method references may call them: nothing
    /// in the dictionary shows whether any does.
    seen_referred: Option<bool>,
    methods: Option<BTreeSet<u32>>,
    fields: BTreeSet<u32>,
    callees: BTreeSet<u32>,
    /// The indices of classes in the dictionary.
    classes: BTreeSet<usize>,
    object: Option<ObjectId>,
}

/// What is not in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Void {
    /// A class, or a method or field.
    Member,
    /// A thread.
    Thread,
    /// An object.
    Object,
}

/// The most names of the trace that are suggested for names given by mistake.
const MAX_SUGGESTED: usize = 3;

impl Wanted {
    /// For threads and objects, what was asked for of each without the rest; empty if there is only
    /// one criterion.
    pub fn alone(&self) -> Vec<Wanted> {
        let members = !(self.classes.is_empty() && self.members.is_empty());
        let criteria = [members, !self.threads.is_empty(), self.object.is_some()];
        if criteria.into_iter().filter(|given| *given).count() < 2 {
            return Vec::new();
        }
        let threads = Wanted {
            threads: self.threads.clone(),
            ..Wanted::default()
        };
        let object = Wanted {
            object: self.object,
            ..Wanted::default()
        };
        let all = [threads, object].into_iter();
        all.filter(|one| !one.threads.is_empty() || one.object.is_some())
            .collect()
    }

    /// Names of classes, methods and fields of the trace that end like those which were asked for.
    pub fn suggestions(&self, dictionary: &Dictionary) -> Vec<String> {
        let ends = |name: &str, wanted: &String| {
            let rest = name.strip_suffix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '$']))
        };
        let mut found = BTreeSet::new();
        for class in &dictionary.traced {
            if self.classes.iter().any(|wanted| ends(&class.name, wanted)) {
                found.insert(class.name.clone());
            }
            let methods = class.methods.iter();
            let methods = methods.map(|method| format!("{}.{}", class.name, method.name));
            let fields = class.fields.iter();
            let fields = fields.map(|field| format!("{}.{}", field.owner, field.name));
            found.extend(
                methods
                    .chain(fields)
                    .filter(|name| self.members.iter().any(|wanted| ends(name, wanted))),
            );
        }
        found.into_iter().take(MAX_SUGGESTED).collect()
    }
}

impl Filter {
    /// Looks up the names in the dictionary.
    pub fn new(wanted: &Wanted, dictionary: &Dictionary) -> Filter {
        let globs = |list: &[String]| Globs::new(list.iter().map(String::as_str));
        let (classes, members) = (globs(&wanted.classes), globs(&wanted.members));
        let names = |class: &str, name: &str| {
            (classes.is_empty() || classes.matches(class))
                && (members.is_empty() || members.matches(&format!("{class}.{name}")))
        };
        let mut filter = Filter {
            threads: None,
            virtual_threads: None,
            platform_threads: BTreeSet::new(),
            seen: (false, false),
            seen_referred: None,
            methods: None,
            fields: BTreeSet::new(),
            callees: BTreeSet::new(),
            classes: BTreeSet::new(),
            object: wanted.object.map(ObjectId),
        };
        if !(classes.is_empty() && members.is_empty()) {
            let mut methods = BTreeSet::new();
            let mut referred = Vec::new();
            for (place, class) in dictionary.traced.iter().enumerate() {
                if members.is_empty() && classes.matches(&class.name) {
                    filter.classes.insert(place);
                }
                let named = class.methods.iter();
                let named = named.filter(|method| names(&class.name, &method.name));
                methods.extend(named.map(|method| method.id));
                let of = |list: &[trace::dictionary::Member]| {
                    let named = list.iter();
                    let named = named.filter(|member| names(&member.owner, &member.name));
                    named.map(|member| member.id).collect::<Vec<_>>()
                };
                let callees = of(&class.callees);
                if stands_in(class) {
                    referred.extend(callees);
                } else {
                    filter.fields.extend(of(&class.fields));
                    filter.callees.extend(callees);
                }
            }
            let none = methods.is_empty()
                && filter.fields.is_empty()
                && filter.callees.is_empty()
                && filter.classes.is_empty();
            filter.seen_referred = (none && !referred.is_empty()).then_some(false);
            filter.callees.extend(referred);
            filter.methods = Some(methods);
        }
        if !wanted.threads.is_empty() {
            let names = Globs::of_names(wanted.threads.iter().map(String::as_str));
            let mut ids: BTreeSet<u64> = wanted
                .threads
                .iter()
                .filter_map(|thread| thread.parse().ok())
                .collect();
            let named = dictionary.threads.iter();
            ids.extend(
                named
                    .filter(|(_, name)| names.matches(name))
                    .map(|(id, _)| *id),
            );
            filter.threads = Some(ids);
            let is_name = |thread: &String| thread.parse::<u64>().is_err();
            filter.virtual_threads = (wanted.threads.iter().any(is_name)).then_some(names);
            filter.platform_threads = dictionary.threads.keys().copied().collect();
        }
        filter
    }

    /// Processes each step, and must do so before [`Self::admits`] is asked about it: threads that
    /// the dictionary does not have become known when they appear.
    pub fn follow(&mut self, step: &Step) {
        if let (What::Thread { name, .. }, Some(names), Some(threads)) =
            (&step.what, &self.virtual_threads, &mut self.threads)
            // A carrier whose first event was that of a virtual thread is not in the dictionary
            // either.
            && (step.is_virtual || !self.platform_threads.contains(&step.thread))
            && names.matches(name)
        {
            threads.insert(step.thread);
        }
        let threads = self.threads.as_ref();
        self.seen.0 |= threads.is_some_and(|threads| threads.contains(&step.thread));
        self.seen.1 |= self
            .object
            .is_some_and(|object| takes_part(&step.what, object));
        if self.seen_referred == Some(false) {
            self.seen_referred = Some(self.admits_member(&step.what));
        }
    }

    /// Why no step can be admitted: there is no such class or member; or, once all steps have been
    /// seen that a thread or an object alone picks, there is no such thread or object.
    pub fn void(&self, seen_all: bool) -> Option<Void> {
        let no_member = self.methods.as_ref().is_some_and(BTreeSet::is_empty)
            && self.fields.is_empty()
            && self.callees.is_empty()
            && self.classes.is_empty();
        let no_thread = self.threads.is_some() && !self.seen.0;
        let no_object = self.object.is_some() && !self.seen.1;
        let criteria = [
            self.methods.is_some(),
            self.threads.is_some(),
            self.object.is_some(),
        ];
        let alone = criteria.into_iter().filter(|given| *given).count() == 1;
        if no_member || seen_all && alone && self.seen_referred == Some(false) {
            Some(Void::Member)
        } else if seen_all && alone && no_thread {
            Some(Void::Thread)
        } else {
            (seen_all && alone && no_object).then_some(Void::Object)
        }
    }

    /// The filter for blocks, which restricts threads only. Blocks without wanted members or
    /// objects are still needed to show what is wanted: the enclosing calls, and the texts of
    /// objects and names of virtual threads, which are recorded once.
    pub fn of_blocks(&self) -> trace::Filter {
        trace::Filter {
            threads: self.threads.clone(),
            threads_besides: (self.virtual_threads.is_some())
                .then(|| self.platform_threads.clone()),
            ..trace::Filter::default()
        }
    }

    /// The blocks to read. They are those of the threads (those of all threads if texts are shown,
    /// which another thread may have recorded first), up to the last one that may have what is
    /// wanted; none if no block has it. If neither texts nor depths are shown, earlier blocks are
    /// also left out unless something shown depends on them.
    pub fn places<S: Source>(&self, log: &Log<S>, shows_texts: bool) -> Vec<usize> {
        let of_blocks = self.of_blocks();
        let others = shows_texts && self.threads.is_some();
        // The index of a block does not have callees.
        let members = self.methods.is_some() && self.callees.is_empty();
        let mut places = if others {
            (0..log.blocks().len()).collect()
        } else {
            log.select(&of_blocks)
        };
        if !members && self.object.is_none() && !others {
            return places;
        }
        let having_it = log.select(&trace::Filter {
            methods: self.methods.clone().filter(|_| members),
            fields: members.then(|| self.fields.clone()),
            object: self.object,
            ..of_blocks
        });
        let blocks = log.blocks();
        let last = having_it.iter().map(|&place| until(blocks, place));
        // No step of a class has an object.
        let stamps: BTreeSet<u64> = (self.classes.iter().filter(|_| self.object.is_none()))
            .filter_map(|&class| Some(log.dictionary.traced.get(class)?.defined.as_ref()?.stamp))
            .collect();
        let classes = stamps.last().map(|&at| first_from(blocks, &places, at));
        let last = last.max().max(classes);
        places.retain(|&place| last.is_some_and(|last| blocks[place].header.stamp <= last));
        if !shows_texts && sparse::is_alone(self, log) {
            sparse::keep(self, log, &mut places, having_it, &stamps);
        }
        places
    }

    /// Whether a step is wanted.
    pub fn admits(&self, step: &Step) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.contains(&step.thread))
            && self.admits_member(&step.what)
            && self
                .object
                .is_none_or(|object| takes_part(&step.what, object))
    }

    fn admits_member(&self, what: &What) -> bool {
        let Some(methods) = &self.methods else {
            return true;
        };
        match what {
            What::Enter { method, .. }
            | What::Exit { method, .. }
            | What::Unwind { method, .. }
            | What::Caught { method, .. }
            | What::Bind { method, .. }
            | What::Going { method } => methods.contains(method),
            What::Write { place, .. } | What::Read { place, .. } => match place {
                Place::Field { field, .. } | Place::Static { field } => self.fields.contains(field),
                Place::Element { .. } => false,
            },
            What::Called { callee, .. } => self.callees.contains(callee),
            What::Class { class } => self.classes.contains(class),
            What::Lost(_) => true,
            What::Thread { .. } | What::End | What::New { .. } => false,
        }
    }
}

/// A stamp that no event of a block exceeds, not even one that goes on in the next block of its
/// stream.
fn until(blocks: &[Block], place: usize) -> u64 {
    let Block { header, live, .. } = &blocks[place];
    if *live {
        // The header was written when the block began.
        return u64::MAX;
    }
    let next = blocks.get(place + 1).map(|next| &next.header);
    let next = next.filter(|next| next.stream == header.stream);
    next.map_or(0, |next| next.stamp)
        .max(header.stamp)
        .max(header.last_stamp)
}

/// The stamp of the first of some blocks that begins at the given stamp or later: by then,
/// everything with that stamp has been recorded. If there is none, the last events of any block may
/// be later.
fn first_from(blocks: &[Block], places: &[usize], stamp: u64) -> u64 {
    let stamps = places.iter().map(|&place| blocks[place].header.stamp);
    let behind = stamps.filter(|&begins| begins >= stamp);
    behind.min().unwrap_or(u64::MAX)
}

/// Whether an object takes part in a step. Only its number counts, since users do not name the
/// class.
fn takes_part(what: &What, wanted: ObjectId) -> bool {
    let is = |id: &Option<ObjectId>| id.is_some_and(|id| id.serial() == wanted.serial());
    let value = |value: &Datum| matches!(value, Datum::Reference(id) if is(id));
    match what {
        What::Enter { arguments, .. } => arguments.iter().any(|argument| value(&argument.value)),
        What::Exit { value: told, .. } => told.as_ref().is_some_and(value),
        What::Unwind { exception: id, .. }
        | What::Caught { exception: id, .. }
        | What::Bind { this: id, .. } => is(id),
        What::Write { place, value: told } | What::Read { place, value: told } => {
            let of = match place {
                Place::Field { object, .. } => is(object),
                Place::Element { array, .. } => is(array),
                Place::Static { .. } => false,
            };
            of || told.as_ref().is_some_and(value)
        }
        What::Called { values, .. } => values.iter().any(value),
        What::New {
            object, elements, ..
        } => is(&Some(*object)) || elements.iter().flatten().any(value),
        What::Thread { .. }
        | What::Class { .. }
        | What::End
        | What::Going { .. }
        | What::Lost(_) => false,
    }
}

#[cfg(test)]
mod tests;
