//! The methods that have probes: maps the numbers in the probes to names.
//!
//! Programs that make classes as long as they run (scripts, templates, rules) must not make this
//! table grow with them: the classes of a loader are removed some time after the loader has been
//! collected.
//!
//! - [`class`] is what is known of one class.

mod class;
#[cfg(test)]
mod tests;

pub(crate) use class::{Class, made};

use crate::captured::Captured;
use crate::loaders::Loader;
use crate::marks::Marks;
use hindsight_instrument::{self as instrument, Capture, Captures, SkipReason, SkippedMethods};
use hindsight_tracelog::crash::StackElement;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, RwLock};

/// The reason for a frame whose method has probes that did not run, such as a constructor while it
/// waits for `super(...)`.
pub(crate) const NOT_CAPTURED: &str = "not captured";

const NO_FAILURE_BEFORE: &str = "second-chance had seen no failure in it before";
const NOT_YET: &str = "second-chance had not given it its probes yet";

/// The state of a method that gets its probes only after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chance {
    /// It never gets any.
    None,
    /// No failure has passed through it.
    Unseen,
    /// It is to have them.
    Known,
}

/// Returns this state by the method's class and name.
pub(crate) type Late = Box<dyn Fn(&str, &str) -> Chance + Send + Sync>;

/// The number of classes from which on it is checked which of them are still loaded.
const MANY: usize = 1024;

/// The number of classes of one name among which an earlier version is looked for.
const LAST: usize = 16;

/// All methods with probes whose classes have not been unloaded.
pub(crate) struct Methods {
    /// What is annotated as secret in classes.
    pub(crate) marks: Marks,
    /// The secret values that lambda expressions capture.
    pub(crate) captured: Captured,
    table: RwLock<Table>,
    /// The state of methods that get their probes only after a failure, if there are such.
    late: Option<Late>,
}

#[derive(Default)]
struct Table {
    next_id: u32,
    /// The number of classes at which it is next checked which are still loaded.
    many: usize,
    classes: Vec<Arc<Class>>,
    by_name: HashMap<String, Named>,
    /// The names of classes that came with the probes of another run.
    foreign: HashSet<String>,
    /// The names of classes that the JVM refused to retransform, and why.
    refused: HashMap<String, String>,
}

/// The classes of one name.
struct Named {
    latest: Arc<Class>,
    /// The classes that came before it, in that order.
    earlier: Vec<Arc<Class>>,
}

impl Named {
    fn all(&self) -> impl Iterator<Item = &Arc<Class>> {
        self.earlier.iter().chain([&self.latest])
    }

    /// Makes the class of this version the latest, if it is one of the last that there were. A
    /// program may define its scripts without end under one name.
    fn again(&mut self, version: &[u8; 32]) -> Option<&Class> {
        if self.latest.version != *version {
            let mut last = self.earlier.iter().enumerate().rev().take(LAST);
            let (at, _) = last.find(|(_, class)| class.version == *version)?;
            let class = self.earlier.remove(at);
            let before = std::mem::replace(&mut self.latest, class);
            self.earlier.push(before);
        }
        Some(&self.latest)
    }

    /// The latest of them that this loader has defined.
    fn of_loader(&self, loader: Option<&Arc<Loader>>) -> Option<&Class> {
        let all = [&self.latest].into_iter().chain(self.earlier.iter().rev());
        all.map(|class| &**class).find(|class| class.is_of(loader))
    }

    /// Those of them that are still loaded.
    fn of(all: impl Iterator<Item = Arc<Class>>) -> Option<Named> {
        let mut earlier: Vec<Arc<Class>> = all.collect();
        let latest = earlier.pop()?;
        earlier.shrink_to_fit();
        Some(Named { latest, earlier })
    }
}

impl Table {
    /// The latest class of a name.
    fn latest(&self, name: &str) -> Option<&Arc<Class>> {
        self.by_name.get(name).map(|named| &named.latest)
    }

    /// Returns the unused ones of the latest numbers.
    fn give_back(&mut self, ids: &Range<u32>, used: usize) {
        // What was reserved is an estimate on the safe side, and programs may make classes without
        // end.
        if self.next_id == ids.end {
            self.next_id = ids.start + used as u32;
        }
    }
}

/// Numbers reserved for the methods of a class. They are returned when this is dropped, if none
/// have been reserved since.
pub(crate) struct Reserved<'m> {
    table: &'m RwLock<Table>,
    ids: Range<u32>,
}

impl Reserved<'_> {
    pub(crate) fn first(&self) -> u32 {
        self.ids.start
    }

    /// Keeps this many of them, because they are in code that may run.
    pub(crate) fn keep(mut self, used: usize) {
        self.end(used);
    }

    fn take(&mut self) -> Range<u32> {
        std::mem::take(&mut self.ids)
    }

    fn end(&mut self, used: usize) {
        let ids = self.take();
        if !ids.is_empty()
            && let Ok(mut table) = self.table.write()
        {
            table.give_back(&ids, used);
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.end(0);
    }
}

impl Methods {
    /// An empty table. `late` is given if most methods will never have probes.
    pub(crate) fn new(late: Option<Late>) -> Methods {
        Methods {
            marks: Marks::default(),
            captured: Captured::default(),
            table: RwLock::new(Table {
                many: MANY,
                ..Table::default()
            }),
            late,
        }
    }

    /// Reserves as many numbers as a class can have methods.
    pub(crate) fn reserve(&self, count: u32) -> Option<Reserved<'_>> {
        let mut table = self.table.write().ok()?;
        let first = table.next_id;
        // In Java the number is an int.
        table.next_id = first
            .checked_add(count)
            .filter(|next| *next < i32::MAX as u32)?;
        Some(Reserved {
            table: &self.table,
            ids: first..table.next_id,
        })
    }

    /// The first number of the class of this name and version, which is the latest of its name from
    /// now on. The probes and their numbers are the same, whether it is another loader's copy, the
    /// same class again or one that has been redefined to what it was before.
    pub(crate) fn known(
        &self,
        name: &str,
        version: &[u8; 32],
        loader: Option<&Arc<Loader>>,
    ) -> Option<u32> {
        if let Ok(table) = self.table.read() {
            let named = table.by_name.get(name)?;
            let was_refused = table.refused.contains_key(name);
            if named.latest.version == *version && !was_refused {
                // This happens while the table is locked, so that it is not removed in between.
                named.latest.comes_from(loader);
                return Some(named.latest.first_id);
            }
            if named.earlier.is_empty() && !was_refused {
                return None;
            }
        }
        let mut table = self.table.write().ok()?;
        table.refused.remove(name);
        let class = table.by_name.get_mut(name)?.again(version)?;
        class.comes_from(loader);
        Some(class.first_id)
    }

    /// Whether these are the methods of the class with this first number.
    pub(crate) fn has(&self, first_id: u32, methods: &instrument::Methods) -> bool {
        let Ok(table) = self.table.read() else {
            return false;
        };
        let at = (table.classes).binary_search_by_key(&first_id, |class| class.first_id);
        let Some(class) = at.ok().and_then(|at| table.classes.get(at)) else {
            return false;
        };
        let known = class.methods.iter();
        class.methods.len() == methods.len()
            && known.zip(methods.iter()).all(|(one, other)| {
                (one.name, one.descriptor) == (other.name, other.descriptor)
                    && one.captures.len() == other.captures.len()
            })
    }

    /// Whether a class of this name has numbers.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        self.table
            .read()
            .is_ok_and(|table| table.by_name.contains_key(name))
    }

    /// Whether the latest class of this name is known to have no probes.
    pub(crate) fn is_without_probes(&self, name: &str) -> bool {
        let table = self.table.read();
        table.is_ok_and(|table| table.latest(name).is_some_and(|class| !class.has_probes()))
    }

    /// The earlier rewritings of a class of this name and origin, if methods get their probes one
    /// by one.
    pub(crate) fn earlier(&self, name: &str, origin: &[u8; 32]) -> Vec<Arc<Class>> {
        let Ok(table) = self.table.read() else {
            return Vec::new();
        };
        let named = table.by_name.get(name).filter(|_| self.late.is_some());
        let earlier = named.into_iter().flat_map(Named::all);
        (earlier.filter(|class| class.origin == *origin))
            .map(Arc::clone)
            .collect()
    }

    /// Adds a class. Returns whether there are so many by now that it is time for
    /// [`Methods::sweep`].
    pub(crate) fn add(
        &self,
        (name, loader): (String, Option<Arc<Loader>>),
        sha256: Option<[u8; 32]>,
        [origin, version]: [[u8; 32]; 2],
        mut reserved: Reserved<'_>,
        (methods, aside): (instrument::Methods, Vec<usize>),
        skipped: SkippedMethods,
    ) -> bool {
        let first_id = reserved.first();
        // There is at least one, because a class is found by its first number.
        let used = methods.len().max(1);
        let class = Arc::new(Class {
            name: name.clone(),
            // What is retransformed was loaded from the same class file.
            sha256: sha256.or_else(|| self.sha256_of(&name, loader.as_ref())),
            origin,
            version,
            first_id,
            methods,
            aside,
            skipped,
            loaders: Mutex::new(loader.map(|loader| vec![loader])),
        });
        let Ok(mut table) = self.table.write() else {
            return false;
        };
        table.give_back(&reserved.take(), used);
        // Numbers are reserved before instrumenting, and classes are added when they are done, by
        // many threads: this keeps them in order for the search. The place is at the end, or a few
        // places before.
        table.refused.remove(&name);
        let mut later = table.classes.iter().rev();
        let later = later.position(|known| known.first_id < first_id);
        let at = later.map_or(0, |later| table.classes.len() - later);
        table.classes.insert(at, Arc::clone(&class));
        match table.by_name.entry(name) {
            Entry::Occupied(mut named) => {
                let named = named.get_mut();
                (named.earlier).push(std::mem::replace(&mut named.latest, class));
            }
            Entry::Vacant(first) => {
                first.insert(Named {
                    latest: class,
                    earlier: Vec::new(),
                });
            }
        }
        table.classes.len() >= table.many
    }

    /// Removes the classes whose loaders have been collected, and returns their number. They have
    /// no frames any more: a running method keeps its class alive, and so does an exception with
    /// those of its stack.
    pub(crate) fn sweep(&self) -> usize {
        let Ok(mut table) = self.table.write() else {
            return 0;
        };
        let gone: Vec<_> = table
            .classes
            .extract_if(.., |class| class.is_gone())
            .collect();
        // Its cost is proportional to their number, so it waits until they have doubled.
        table.many = MANY.max(2 * table.classes.len());
        let names: HashSet<&str> = gone.iter().map(|class| class.name.as_str()).collect();
        let firsts: HashSet<u32> = gone.iter().map(|class| class.first_id).collect();
        for name in names {
            let named = table.by_name.remove(name);
            let all = named.iter().flat_map(Named::all);
            let left = all.filter(|class| !firsts.contains(&class.first_id));
            if let Some(left) = Named::of(left.map(Arc::clone)) {
                table.by_name.insert(name.to_owned(), left);
            }
        }
        // A throwing thread waits for the table, and freeing so much takes time.
        drop(table);
        gone.len()
    }

    /// The method with this number, as its class and its index there.
    pub(crate) fn find(&self, id: u32) -> Option<(Arc<Class>, usize)> {
        let table = self.table.read().ok()?;
        let at = table
            .classes
            .partition_point(|class| class.first_id <= id)
            .checked_sub(1)?;
        let class = &table.classes[at];
        let index = (id - class.first_id) as usize;
        (index < class.methods.len()).then(|| (Arc::clone(class), index))
    }

    /// The method of this class, name and descriptor, as its class and its index there. `None` if
    /// several different classes have the name, because it is not known which is meant.
    pub(crate) fn named(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
    ) -> Option<(Arc<Class>, usize)> {
        let table = self.table.read().ok()?;
        let Named { latest, earlier } = table.by_name.get(class)?;
        if earlier.iter().any(|other| other.origin != latest.origin) {
            return None;
        }
        let index = latest
            .methods
            .iter()
            .position(|known| known.name == method && known.descriptor == descriptor)
            .filter(|index| !latest.aside.contains(index))?;
        Some((Arc::clone(latest), index))
    }

    /// Whether a method of this name has probes.
    pub(crate) fn has_probes(&self, class: &str, method: &str) -> bool {
        let table = self.table.read();
        table.is_ok_and(|table| {
            !table.refused.contains_key(class)
                && (table.latest(class)).is_some_and(|class| class.captures(method))
        })
    }

    /// Whether a class of this name was loaded from a class file with this SHA-256.
    pub(crate) fn is_original(&self, class: &str, sha256: &[u8; 32]) -> bool {
        let table = self.table.read();
        table.is_ok_and(|table| {
            (table.latest(class)).is_some_and(|class| class.sha256.as_ref() == Some(sha256))
        })
    }

    /// The SHA-256 of the latest class file that this loader has given for this name.
    fn sha256_of(&self, class: &str, loader: Option<&Arc<Loader>>) -> Option<[u8; 32]> {
        let table = self.table.read().ok()?;
        table.by_name.get(class)?.of_loader(loader)?.sha256
    }

    /// The SHA-256 of the latest class file of this name.
    pub(crate) fn sha256(&self, class: &str) -> Option<String> {
        let table = self.table.read().ok()?;
        table.latest(class)?.sha256()
    }

    /// Whether methods of the latest class of this name may have been running when they got their
    /// probes: it was loaded before the agent, or they get them late.
    pub(crate) fn may_have_run(&self, class: &str) -> bool {
        if self.late.is_some() {
            return true;
        }
        let table = self.table.read();
        table.is_ok_and(|table| (table.latest(class)).is_some_and(|class| class.sha256.is_none()))
    }

    /// Notes that a class of this name has no probes, because the JVM refused to retransform it. A
    /// class that gets them after a failure may have those that it got before.
    pub(crate) fn refused(&self, class: &str, why: &str) {
        if self.late.is_none()
            && let Ok(mut table) = self.table.write()
        {
            table.refused.insert(class.to_owned(), why.to_owned());
        }
    }

    /// Notes that a class of this name came with the probes of another run.
    pub(crate) fn add_foreign(&self, class: &str) {
        if let Ok(mut table) = self.table.write() {
            table.foreign.insert(class.to_owned());
        }
    }

    /// The reason why a method on the stack was not captured.
    pub(crate) fn absence(&self, element: &StackElement) -> String {
        let (class, method) = (element.class.as_str(), element.method.as_str());
        let no = (None, false, None);
        let (known, is_foreign, refused) = self.table.read().map_or(no, |table| {
            let known = table.latest(class).map(Arc::clone);
            let refused = table.refused.get(class).cloned();
            (known, table.foreign.contains(class), refused)
        });
        let late = self.late.as_ref();
        let chance = late.map_or(Chance::None, |late| late(class, method));
        let waits = match chance {
            Chance::None => None,
            Chance::Unseen => Some(NO_FAILURE_BEFORE),
            Chance::Known => Some(NOT_YET),
        };
        let not = |why: &dyn fmt::Display| format!("not instrumented: {why}");
        if let Some(why) = refused {
            return not(&format!("the JVM refused to retransform its class ({why})"));
        }
        match known {
            None if class.contains('/') => not(&"a hidden class"),
            None if is_foreign => not(&"it came with the probes of another run"),
            None => not(&waits.unwrap_or("class of the JDK, or outside include/exclude")),
            Some(class) => match (class.skip_reason(method), waits) {
                (Some(SkipReason::CatchesNothing), Some(why)) => not(&why),
                // Yet an exception has left it.
                (Some(SkipReason::CannotThrow), _) => not(
                    &"throws nothing itself: the stack ended in it, or another agent has rewritten it",
                ),
                (Some(reason), _) => not(&reason),
                (None, _) if element.is_native() => not(&"a native method has no bytecode"),
                (None, _) if chance == Chance::Unseen => format!(
                    "{NOT_CAPTURED}: it was running when it got its probes, or {NO_FAILURE_BEFORE}"
                ),
                (None, _) => NOT_CAPTURED.to_owned(),
            },
        }
    }
}

/// The number of references and of words in a method's frame.
pub(crate) fn shape(captures: Captures<'_>) -> (usize, usize) {
    let references = captures
        .filter(|capture| is_reference(descriptor(capture)))
        .count();
    (references, captures.len() - references)
}

/// The type of a captured value.
pub(crate) fn descriptor<'r>(capture: &Capture<'r>) -> &'r str {
    match capture {
        Capture::Parameter { descriptor, .. } | Capture::Field { descriptor, .. } => descriptor,
        Capture::Position => "J",
    }
}

/// Whether values of this type are references.
pub(crate) fn is_reference(descriptor: &str) -> bool {
    descriptor.starts_with(['L', '['])
}
