//! Makes steps of events: joins what one event could not hold.
//!
//! - `values` are the values of a step, which may come in several events.
//! - `carried` finds virtual threads that lack events which their carriers may have held.

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

/// One action of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The thread, as `Thread.getId` returns it.
    pub thread: u64,
    /// Whether that is a virtual thread.
    pub is_virtual: bool,
    /// The time of the step; see [`Event::stamp`].
    pub stamp: u64,
    /// What the thread did.
    pub what: What,
}

/// The actions of threads. Numbers of methods, fields and callees are those of the [`Dictionary`].
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The events that follow belong to this thread.
    Thread {
        /// The thread's name.
        name: String,
        /// Whether there was a pause, in which calls may have begun and ended.
        paused: bool,
    },
    /// A class is defined whose code records events.
    Class {
        /// The index of the class in [`Dictionary::traced`].
        class: usize,
    },
    /// The thread ends.
    End,
    /// A method begins.
    Enter {
        /// The number of the method.
        method: u32,
        /// The recorded arguments, in the order of the method's parameters.
        arguments: Vec<Argument>,
    },
    /// A method is about to return.
    Exit {
        /// The number of the method.
        method: u32,
        /// The result, if it was recorded.
        value: Option<Datum>,
    },
    /// An exception leaves a method.
    Unwind {
        /// The number of the method.
        method: u32,
        /// The exception.
        exception: Option<ObjectId>,
    },
    /// An exception is caught in a method.
    Caught {
        /// The number of the method.
        method: u32,
        /// The exception.
        exception: Option<ObjectId>,
    },
    /// A constructor's call of another constructor has returned.
    Bind {
        /// The number of the constructor.
        method: u32,
        /// The object; `None` if the code of the constructor has overwritten `this`.
        this: Option<ObjectId>,
    },
    /// A place was written.
    Write {
        /// The place that was written.
        place: Place,
        /// The new value, if it was recorded.
        value: Option<Datum>,
    },
    /// A place was read.
    Read {
        /// The place that was read.
        place: Place,
        /// The value that was read, if it was recorded.
        value: Option<Datum>,
    },
    /// A method that writes to objects unseen has returned.
    Called {
        /// The number of the callee.
        callee: u32,
        /// Receiver, arguments and result, in this order.
        values: Vec<Datum>,
    },
    /// An object is seen for the first time.
    New {
        /// The object.
        object: ObjectId,
        /// The number of elements of an array, or of characters of a string.
        length: u32,
        /// `String.hashCode` of the whole text, if only its beginning is stored.
        hash: Option<i32>,
        /// The text of a string (its beginning, if it is long), the name of a class or enum
        /// constant, or the value of a box.
        text: Option<String>,
        /// The text in UTF-16 units instead, if it has lone surrogates.
        units: Option<Vec<u16>>,
        /// The elements of a small array that unrecorded code has filled.
        elements: Option<Vec<Datum>>,
        /// Whether the text is not stored because a field or parameter marks it as a secret.
        secret: bool,
        /// Whether the object was seen before: its text is recorded again because the earlier part
        /// of the trace may have been deleted since; or an array that was empty then has got its
        /// elements.
        again: bool,
    },
    /// A method is active where the kept part of the trace begins. The outermost call comes first.
    Going {
        /// The number of the method.
        method: u32,
    },
    /// Events are missing here.
    Lost(Gap),
}

/// The reasons why events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The recorder has lost this many events.
    Told(u64),
    /// The recorder has lost events of several threads, some of which may be this thread's; the
    /// loss itself is recorded elsewhere.
    Elsewhere,
    /// Blocks are missing or damaged.
    Blocks,
}

impl Gap {
    /// The number of missing events, if it is known; else 0.
    pub fn events(self) -> u64 {
        match self {
            Gap::Told(events) => events,
            Gap::Elsewhere | Gap::Blocks => 0,
        }
    }
}

/// An argument that was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// The index: 0 is `this`; parameters count from 1.
    pub index: u16,
    /// The value.
    pub value: Datum,
}

impl What {
    /// The method or callee to which the recorded values belong.
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
        /// The object; `None` while a constructor has not bound it.
        object: Option<ObjectId>,
        /// The number of the field.
        field: u32,
    },
    /// A static field.
    Static {
        /// The number of the field.
        field: u32,
    },
    /// An array element.
    Element {
        /// The array.
        array: Option<ObjectId>,
        /// The index of the element.
        index: i32,
    },
}

/// Steps, one after another. A step that is not complete yet is held back; only steps of other
/// threads come before it.
pub struct Steps<'l, S> {
    events: Events<'l, S>,
    dictionary: &'l Dictionary,
    waiting: FxHashMap<u64, Waiting>,
    ready: VecDeque<Step>,
    classes: Classes,
    carried: Carried,
}

/// The classes whose definitions are still to be returned as steps.
///
/// The step of a class comes before the first event that is from its code, or that has its stamp or
/// a later one, since one stamp stands for many events.
struct Classes {
    /// Stamps and indices of classes, by falling stamp.
    left: Vec<(u64, usize)>,
    told: Vec<bool>,
    /// Whether the class of each method's id, and of each field's id, has had its step.
    known: [Vec<bool>; 2],
}

/// Ids beyond this one are looked up each time.
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
    /// Steps of new objects that came while a call was incomplete; they are returned before it.
    before: Vec<Step>,
}

/// The most new objects that are held back with a call: no method has as many arguments.
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

    /// The next step. After an error, which costs the rest of a block, more may follow.
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

/// Processes an event. Earlier events of its thread may be missing, or may be gone with the
/// beginning of the trace.
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
    // These events add to a step that is incomplete.
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
    // Mostly there is no incomplete step.
    if !waiting.is_empty()
        && let Some(before) = waiting.get_mut(&thread)
    {
        let is_new = matches!(step.what, What::New { .. });
        if is_new && is_call(&before.step.what) && before.before.len() < MOST_NEW {
            // This is another object of the incomplete call.
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

/// The content of a text event: the text or its units, whether it is a secret, and the hash of the
/// whole.
fn said(event: &Event) -> (Option<String>, Option<Vec<u16>>, bool, Option<i32>) {
    let (units, secret) = (event.lone_surrogates(), event.is_secret());
    let text = (event.is_text() && units.is_none()).then(|| event.text());
    (text, units, secret, event.hash())
}

/// The elements of an array, from its text event.
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
