//! From events to steps: what one event could not hold is put together.

mod carried;
#[cfg(test)]
pub(super) mod tests;
mod values;

use carried::Carried;
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::kind::{Kind, Names};
use hindsight_tracelog::trace::{Damage, Datum, Event, Events, Log, ObjectId, Source};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use values::{Values, has_more};

/// Something that a thread did.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// `Thread.getId`
    pub thread: u64,
    /// Whether that is a virtual thread.
    pub is_virtual: bool,
    /// See [`Event::stamp`].
    pub stamp: u64,
    /// What it did.
    pub what: What,
}

/// What a thread did. Numbers of methods, fields and callees are those of the
/// [`Dictionary`].
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The events that follow are of this thread.
    Thread {
        /// Its name.
        name: String,
        /// There was a pause, in which calls may have begun and ended.
        paused: bool,
    },
    /// A class is defined whose code tells events.
    Class {
        /// Its place in [`Dictionary::traced`].
        class: usize,
    },
    /// The thread ends.
    End,
    /// A method begins.
    Enter {
        /// Which.
        method: u32,
        /// What was told of its arguments, in the order of its parameters.
        arguments: Vec<Argument>,
    },
    /// A method is about to return.
    Exit {
        /// Which.
        method: u32,
        /// What, if that was told.
        value: Option<Datum>,
    },
    /// An exception leaves a method.
    Unwind {
        /// Which.
        method: u32,
        /// Which.
        exception: Option<ObjectId>,
    },
    /// An exception is caught in a method.
    Caught {
        /// Which.
        method: u32,
        /// Which.
        exception: Option<ObjectId>,
    },
    /// A constructor's call of another constructor has returned.
    Bind {
        /// The constructor.
        method: u32,
        /// The object; nothing if the code of the constructor has overwritten it.
        this: Option<ObjectId>,
    },
    /// A place was written.
    Write {
        /// Which.
        place: Place,
        /// With what, if that was told.
        value: Option<Datum>,
    },
    /// A place was read.
    Read {
        /// Which.
        place: Place,
        /// What was there, if that was told.
        value: Option<Datum>,
    },
    /// A method has returned that writes to objects unseen.
    Called {
        /// Which.
        callee: u32,
        /// Receiver, arguments and result, in this order.
        values: Vec<Datum>,
    },
    /// An object is seen for the first time.
    New {
        /// Which.
        object: ObjectId,
        /// Elements of an array, characters of a string.
        length: u32,
        /// `String.hashCode` of the whole text, if only its beginning is stored.
        hash: Option<i32>,
        /// The text of a string (its beginning, if it is long), the name of a class
        /// or enum constant, the value of a box.
        text: Option<String>,
        /// The same in UTF-16 units instead, if it has lone surrogates.
        units: Option<Vec<u16>>,
        /// What is in a small array that code which is not recorded has filled.
        elements: Option<Vec<Datum>>,
        /// The text is not stored, for a field or parameter calls it a secret.
        secret: bool,
        /// It was seen before: what it says is told again, for the trace may have gone since; or what has come to be in
        /// an array that was empty then.
        again: bool,
    },
    /// A method is running where the kept part of the trace begins. The outermost call comes first.
    Going {
        /// Which.
        method: u32,
    },
    /// Events are missing here.
    Lost(Gap),
}

/// Why events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The recorder has lost so many.
    Told(u64),
    /// Of events that it has lost, and tells of elsewhere, some may be this thread's.
    Elsewhere,
    /// Blocks are missing or damaged.
    Blocks,
}

impl Gap {
    /// How many there are, if that is known here; else 0.
    pub fn events(self) -> u64 {
        match self {
            Gap::Told(events) => events,
            Gap::Elsewhere | Gap::Blocks => 0,
        }
    }
}

/// An argument that was told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// 0 is `this`; parameters count from 1.
    pub index: u16,
    /// What it was.
    pub value: Datum,
}

impl What {
    /// The method or callee whose values are told.
    fn id(&self) -> Option<u32> {
        match *self {
            What::Enter { method: id, .. } | What::Called { callee: id, .. } => Some(id),
            _ => None,
        }
    }
}

/// Something that holds a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// An instance field.
    Field {
        /// Of what; nothing while a constructor has not bound it.
        object: Option<ObjectId>,
        /// Which.
        field: u32,
    },
    /// A static field.
    Static {
        /// Which.
        field: u32,
    },
    /// An element.
    Element {
        /// Of what.
        array: Option<ObjectId>,
        /// Which.
        index: i32,
    },
}

/// Steps, one after another. A step that lacks a part waits for it; only other
/// threads' steps come in between.
pub struct Steps<'l, S> {
    events: Events<'l, S>,
    dictionary: &'l Dictionary,
    waiting: FxHashMap<u64, Waiting>,
    ready: VecDeque<Step>,
    classes: Classes,
    carried: Carried,
}

/// The classes that are still to be told of.
///
/// One is told of before the first event that is from its code, or that has its
/// stamp or a later one: stamps are for many events at once.
struct Classes {
    /// By falling stamp.
    left: Vec<(u64, usize)>,
    told: Vec<bool>,
    /// Ids of methods and fields whose classes were told of.
    known: [Vec<bool>; 2],
}

/// Ids beyond are looked up each time.
const MAX_KNOWN: usize = 1 << 22;

impl Classes {
    fn new(dictionary: &Dictionary) -> Self {
        let defined = dictionary.traced.iter().enumerate();
        let defined = defined.filter_map(|(at, class)| Some((class.defined.as_ref()?.stamp, at)));
        let mut left: Vec<_> = defined.collect();
        left.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            left,
            told: vec![false; dictionary.traced.len()],
            known: [Vec::new(), Vec::new()],
        }
    }

    fn before(&mut self, event: &Event, dictionary: &Dictionary, ready: &mut VecDeque<Step>) {
        while self
            .left
            .last()
            .is_some_and(|(stamp, _)| *stamp <= event.stamp)
        {
            if let Some((_, class)) = self.left.pop() {
                self.tell(class, dictionary, ready);
            }
        }
        if self.left.is_empty() {
            return;
        }
        let names = event.layout().names;
        let known = match names {
            Names::Method => self.known.first_mut(),
            Names::Field => self.known.last_mut(),
            Names::Callee | Names::Nothing => None,
        };
        let id = event.id as usize;
        if let Some(known) = known.filter(|_| id < MAX_KNOWN) {
            if known.len() <= id {
                known.resize(id + 1, false);
            }
            if std::mem::replace(&mut known[id], true) {
                return;
            }
        }
        if let Some(class) = dictionary.class_of(names, event.id) {
            self.tell(class, dictionary, ready);
        }
    }

    fn tell(&mut self, class: usize, dictionary: &Dictionary, ready: &mut VecDeque<Step>) {
        let told = self.told.get_mut(class);
        let defined = dictionary
            .traced
            .get(class)
            .and_then(|of| of.defined.as_ref());
        if let (Some(told @ false), Some(defined)) = (told, defined) {
            *told = true;
            ready.push_back(Step {
                thread: defined.thread,
                is_virtual: false,
                stamp: defined.stamp,
                what: What::Class { class },
            });
        }
    }
}

struct Waiting {
    step: Step,
    values: Values,
    /// New objects that came while a call waited: they are told of before it.
    before: Vec<Step>,
}

/// New objects that wait with a call at most: no method has as many arguments.
const MOST_NEW: usize = 1024;

impl<'l, S: Source> Steps<'l, S> {
    /// The steps of some blocks, in the order of their stamps.
    pub fn new(log: &'l Log<S>, places: &[usize]) -> Self {
        Self {
            events: log.events(places),
            dictionary: &log.dictionary,
            waiting: FxHashMap::default(),
            ready: VecDeque::new(),
            classes: Classes::new(&log.dictionary),
            carried: Carried::new(log.gone()),
        }
    }

    /// The next step. After an error, which costs the rest of a block, more may
    /// follow.
    ///
    /// # Errors
    ///
    /// Fails if a block cannot be read.
    pub fn next_step(&mut self) -> Option<Result<Step, Damage>> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                return Some(Ok(step));
            }
            match self.events.next_event() {
                Some(Ok(event)) => {
                    (self.classes).before(event, self.dictionary, &mut self.ready);
                    let torn = self.carried.is_torn(event);
                    let lacks = self.carried.lacks(event);
                    take(
                        event,
                        (lacks, torn),
                        self.dictionary,
                        &mut self.waiting,
                        &mut self.ready,
                    );
                }
                Some(Err(damage)) => return Some(Err(damage)),
                None => {
                    let mut threads: Vec<u64> = self.waiting.keys().copied().collect();
                    threads.sort_unstable();
                    for thread in threads {
                        let waiting = self.waiting.remove(&thread);
                        if let Some(waiting) = waiting {
                            finish(waiting, self.dictionary, &mut self.ready);
                        }
                    }
                    if self.ready.is_empty() {
                        return None;
                    }
                }
            }
        }
    }
}

/// Takes an event, before which others of its thread may be missing, or be gone with the beginning of the
/// trace.
fn take(
    event: &Event,
    (lacks, torn): (Option<Gap>, bool),
    dictionary: &Dictionary,
    waiting: &mut FxHashMap<u64, Waiting>,
    ready: &mut VecDeque<Step>,
) {
    let thread = event.thread;
    let first = event.reference(0);
    if let Some(gap) = lacks {
        if let Some(cut) = waiting.remove(&thread) {
            finish(cut, dictionary, ready);
        }
        ready.push_back(Step {
            thread,
            is_virtual: event.is_virtual,
            stamp: event.stamp,
            what: What::Lost(gap),
        });
    }
    // What adds to a step that waits.
    match event.kind() {
        Kind::Stamp => return,
        Kind::More => {
            if let Some(Waiting { step, values, .. }) = waiting.get_mut(&thread)
                && step.what.id() == Some(event.id)
            {
                values.add(event);
                if !values.lack(&step.what, dictionary)
                    && let Some(waiting) = waiting.remove(&thread)
                {
                    finish(waiting, dictionary, ready);
                }
            }
            return;
        }
        Kind::Text => {
            if let Some(Waiting { step, before, .. }) = waiting.get_mut(&thread)
                && let What::New {
                    object,
                    hash,
                    text,
                    units,
                    elements,
                    secret,
                    ..
                } = &mut before.last_mut().unwrap_or(step).what
                && Some(*object) == first
            {
                (*text, *units, *secret, *hash) = said(event);
                *elements = held(event, dictionary);
                return;
            }
        }
        _ => {}
    }
    let what = match event.kind() {
        Kind::Enter => What::Enter {
            method: event.id,
            arguments: Vec::new(),
        },
        Kind::Called => What::Called {
            callee: event.id,
            values: Vec::new(),
        },
        Kind::Exit => What::Exit {
            method: event.id,
            value: event.value(),
        },
        Kind::Unwind => What::Unwind {
            method: event.id,
            exception: first,
        },
        Kind::Caught => What::Caught {
            method: event.id,
            exception: first,
        },
        Kind::Bind => What::Bind {
            method: event.id,
            this: first,
        },
        Kind::Put | Kind::PutStatic | Kind::PutEarly | Kind::Store => What::Write {
            place: place(event),
            value: event.value(),
        },
        Kind::Get | Kind::GetStatic | Kind::Load => What::Read {
            place: place(event),
            value: event.value(),
        },
        Kind::Object => match first {
            Some(object) => What::New {
                object,
                length: event.ints().first().map_or(0, |&length| length as u32),
                hash: None,
                text: None,
                units: None,
                elements: None,
                secret: false,
                again: false,
            },
            None => return,
        },
        Kind::Text => match first {
            Some(object) => {
                let (text, units, secret, hash) = said(event);
                What::New {
                    object,
                    length: event.ints().first().map_or(0, |&length| length as u32),
                    hash,
                    text,
                    units,
                    elements: held(event, dictionary),
                    secret,
                    again: true,
                }
            }
            None => return,
        },
        Kind::Switch => What::Thread {
            name: event.text(),
            paused: event.is_after_pause() || torn,
        },
        Kind::End => What::End,
        Kind::Going => What::Going { method: event.id },
        Kind::Lost => {
            let count = event.longs().first();
            What::Lost(Gap::Told(count.map_or(0, |&count| count as u64)))
        }
        Kind::More | Kind::Stamp => return,
    };
    let mut step = Step {
        thread,
        is_virtual: event.is_virtual,
        stamp: event.stamp,
        what,
    };
    // Mostly nothing waits.
    if !waiting.is_empty()
        && let Some(before) = waiting.get_mut(&thread)
    {
        let is_new = matches!(step.what, What::New { .. });
        if is_new && is_call(&before.step.what) && before.before.len() < MOST_NEW {
            // Of the call's further objects.
            before.before.push(step);
            return;
        }
        if let Some(before) = waiting.remove(&thread) {
            finish(before, dictionary, ready);
        }
    }
    let is_complete = match step.what {
        What::Enter { .. } | What::Called { .. } => !has_more(event, &step.what, dictionary),
        What::New { again, .. } => again,
        _ => true,
    };
    if is_complete {
        values::of(event).complete(&mut step.what, dictionary);
        ready.push_back(step);
    } else {
        let values = if is_call(&step.what) {
            Values::new(event)
        } else {
            Values::default()
        };
        let waits = Waiting {
            step,
            values,
            before: Vec::new(),
        };
        waiting.insert(thread, waits);
    }
}

/// What a text event says: the text or its units, whether it is a secret, and the hash of the whole.
fn said(event: &Event) -> (Option<String>, Option<Vec<u16>>, bool, Option<i32>) {
    let (units, secret) = (event.lone_surrogates(), event.is_secret());
    let text = (event.is_text() && units.is_none()).then(|| event.text());
    (text, units, secret, event.hash())
}

/// What a text event of an array says that is in it.
fn held(event: &Event, dictionary: &Dictionary) -> Option<Vec<Datum>> {
    let class = dictionary.class(event.reference(0)?.class())?;
    event.elements(class.strip_prefix('[')?)
}

fn is_call(what: &What) -> bool {
    matches!(what, What::Enter { .. } | What::Called { .. })
}

fn place(event: &Event) -> Place {
    let field = event.id;
    let object = event.reference(0);
    match event.kind() {
        Kind::Put | Kind::Get => Place::Field { object, field },
        Kind::PutEarly => Place::Field {
            object: None,
            field,
        },
        Kind::PutStatic | Kind::GetStatic => Place::Static { field },
        _ => Place::Element {
            array: object,
            index: event.ints().first().copied().unwrap_or_default(),
        },
    }
}

fn finish(waiting: Waiting, dictionary: &Dictionary, ready: &mut VecDeque<Step>) {
    let Waiting {
        mut step,
        values,
        before,
    } = waiting;
    values.complete(&mut step.what, dictionary);
    ready.extend(before);
    ready.push_back(step);
}
