//! A trace as tables, for users' own queries.
//!
//! [`Export`] processes step by step and keeps only the active calls, so memory follows the depth
//! of calls and the number of threads; each object takes one bit besides.
//!
//! - [`schemas`] lists the tables and their columns.

pub mod schemas;
#[cfg(test)]
mod tests;

use super::Trace;
use super::blocks::{Covered, covered};
use super::calls::Calls;
use super::serials::Serials;
use super::steps::{Argument, Place, Step, What};
use super::table::{Cell, Table};
use super::threads::Threads;
use super::unseen::{copies, written};
use anyhow::{Context, Result};
use hindsight_tracelog::trace::dictionary::{Dictionary, Start};
use hindsight_tracelog::trace::{Datum, ObjectId};
use parquet::data_type::ByteArray;
use schemas::TABLES;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// An export that is being written, whose tables are named in [`TABLES`].
pub struct Export<'d> {
    dictionary: &'d Dictionary,
    calls: Table,
    arguments: Table,
    writes: Table,
    unseen: Table,
    reads: Table,
    objects: Table,
    elements: Table,
    blocks: Table,
    threads: Threads<Thread>,
    next_call: i64,
    next_write: i64,
    /// The number of ends of calls that had begun before the recording; these calls have no row.
    pub unbegun: u64,
    /// The number of ends of calls that have no row because their beginnings were lost.
    pub unseen_begun: u64,
    /// The objects that have a row. In a bounded trace, objects are recorded again.
    told: Serials,
    classes: HashMap<u32, Option<ByteArray>>,
    methods: HashMap<u32, [Option<ByteArray>; 3]>,
    fields: HashMap<u32, [Option<ByteArray>; 3]>,
}

#[derive(Default)]
struct Thread {
    name: Option<ByteArray>,
    calls: Calls<Call>,
    is_platform: bool,
}

impl Thread {
    fn is_idle(&self) -> bool {
        !self.is_platform && self.calls.is_empty()
    }
}

/// A row of [`schemas::READS`], or of [`schemas::WRITES`] without its number.
type Access = [Cell; 14];

/// An active call.
struct Call {
    number: i64,
    parent: Option<i64>,
    depth: usize,
    stamp: i64,
    is_virtual: bool,
    this: Option<ObjectId>,
    /// The exception that has come out of the last call in this one, if nothing was called since.
    passed: Option<ObjectId>,
}

impl<'d> Export<'d> {
    /// Creates the files in a directory, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be made, or are there already.
    pub fn create(directory: &Path, trace: &'d Trace) -> Result<Export<'d>> {
        let dictionary = &trace.log.dictionary;
        fs::create_dir_all(directory)
            .with_context(|| format!("failed to make {}", directory.display()))?;
        let Start {
            started_ms,
            pid,
            what,
            version,
            ..
        } = dictionary.start.clone().unwrap_or_default();
        let metadata = [
            ("schema", "hindsight.export/1".to_owned()),
            ("started_ms", started_ms.to_string()),
            ("pid", pid.to_string()),
            ("what", what.join(";")),
            ("version", version),
        ];
        let table = |(name, schema): (&str, &str)| {
            Table::create(directory.join(format!("{name}.parquet")), schema, &metadata)
        };
        let threads = dictionary.threads.iter().map(|(id, name)| {
            let thread = Thread {
                name: Some(name.as_str().into()),
                calls: Calls::default(),
                is_platform: true,
            };
            (*id, thread)
        });
        let [
            calls,
            arguments,
            writes,
            unseen,
            reads,
            objects,
            elements,
            blocks,
        ] = TABLES.map(table);
        let mut export = Export {
            dictionary,
            told: Serials::default(),
            calls: calls?,
            arguments: arguments?,
            writes: writes?,
            unseen: unseen?,
            reads: reads?,
            objects: objects?,
            elements: elements?,
            blocks: blocks?,
            threads: threads.collect(),
            next_call: 1,
            next_write: 1,
            unbegun: 0,
            unseen_begun: 0,
            classes: HashMap::new(),
            methods: HashMap::new(),
            fields: HashMap::new(),
        };
        for covered in covered(trace) {
            export.add_blocks(&covered)?;
        }
        Ok(export)
    }

    fn add_blocks(&mut self, covered: &Covered<'_>) -> Result<()> {
        let method = covered.method;
        let names = [&covered.class.name, &method.name, &method.descriptor];
        let names = names.map(|name| Some(ByteArray::from(name.as_str())));
        for block in &covered.blocks {
            let [class, name, descriptor] = names.clone();
            self.blocks.add([
                Cell::Int(Some(method.id as i32)),
                Cell::Text(class),
                Cell::Text(name),
                Cell::Text(descriptor),
                Cell::Int(Some(i32::from(block.offset))),
                Cell::Int((block.line > 0).then_some(i32::from(block.line))),
                Cell::Bool(block.has_run),
            ])?;
        }
        Ok(())
    }

    /// Processes the next step. Steps must come in the order of the log.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written.
    pub fn add(&mut self, step: &Step) -> Result<()> {
        match &step.what {
            What::Thread { name, paused } => {
                let thread = self.threads.entry(step.thread, Thread::is_idle);
                thread.name = Some(name.as_str().into());
                if *paused {
                    self.leave(step.thread)?;
                }
            }
            What::End => {
                self.leave(step.thread)?;
                self.threads.remove(step.thread);
            }
            What::Enter { method, arguments } => self.enter(step, *method, arguments)?,
            What::Exit { method, value } => self.end(step, *method, "return", *value)?,
            What::Unwind { method, exception } => {
                let exception = Datum::Reference(*exception);
                self.end(step, *method, "throw", Some(exception))?;
            }
            What::Caught { method, exception } => {
                self.end_inner(step, *method, *exception)?;
            }
            What::Bind { method, this } => {
                // The object belongs to the innermost constructor that has none yet. The
                // constructors that call it get theirs when they are bound themselves.
                if self.end_inner(step, *method, None)?
                    && let Some(call) = self.top(step)
                {
                    call.this = call.this.or(*this);
                }
            }
            What::Write { place, value } => {
                let row = self.place_row(step, place, *value);
                self.write_row(row)?;
            }
            What::Read { place, value } => {
                let row = self.place_row(step, place, *value);
                self.reads.add(row)?;
            }
            What::Called { callee, values } => {
                let names = member(self.dictionary.callee(*callee));
                let callee = self.dictionary.callee(*callee);
                let written = callee.and_then(|callee| match copies(&callee.owner, &callee.name) {
                    true => values.last(),
                    false => values.get(written(&callee.owner, &callee.name, &callee.descriptor)?),
                });
                let object = written.and_then(|value| match value {
                    Datum::Reference(object) => *object,
                    _ => None,
                });
                let write = self.next_write;
                let row = self.row(step, "unseen", names, object, None, None);
                self.write_row(row)?;
                for (index, value) in (0..).zip(values) {
                    let [object, class, integer, real] = self.value(Some(*value));
                    self.unseen.add([
                        Cell::Long(Some(write)),
                        Cell::Int(Some(index)),
                        object,
                        class,
                        integer,
                        real,
                    ])?;
                }
            }
            What::New {
                object,
                length,
                hash,
                text,
                units,
                elements,
                secret,
                ..
            } => {
                for (index, element) in (0..).zip(elements.iter().flatten()) {
                    let [value, class, integer, real] = self.value(Some(*element));
                    self.elements.add([
                        Cell::Long(Some(object.serial() as i64)),
                        Cell::Long(Some(step.stamp as i64)),
                        Cell::Int(Some(index)),
                        value,
                        class,
                        integer,
                        real,
                    ])?;
                }
                if !self.told.insert(object.serial()) {
                    return Ok(());
                }
                // UTF-8 cannot represent lone surrogates.
                let lossy = || units.as_deref().map(String::from_utf16_lossy);
                let text = text.clone().or_else(lossy);
                let known = text.as_deref() == Some("") || !secret && self.is_array(*object);
                let class = self.class(Some(*object));
                self.objects.add([
                    Cell::Long(Some(object.serial() as i64)),
                    Cell::Text(class),
                    Cell::Long(Some(step.thread as i64)),
                    Cell::Long(Some(step.stamp as i64)),
                    Cell::Long((*length > 0 || known).then_some(i64::from(*length))),
                    Cell::Text(text.as_deref().map(ByteArray::from)),
                    Cell::Int(*hash),
                ])?;
            }
            What::Going { method } => self.enter(step, *method, &[])?,
            What::Lost(gap) => {
                let thread = self.threads.entry(step.thread, Thread::is_idle);
                thread.calls.lose(gap.events());
            }
            What::Class { .. } => {}
        }
        Ok(())
    }

    /// Writes the calls that are still active, and the ends of the files. Returns the number of
    /// rows of each table, in the order of [`TABLES`].
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written.
    pub fn finish(mut self) -> Result<[u64; TABLES.len()]> {
        for id in self.threads.ids() {
            self.leave(id)?;
        }
        let mut tables = [
            self.calls,
            self.arguments,
            self.writes,
            self.unseen,
            self.reads,
            self.objects,
            self.elements,
            self.blocks,
        ];
        let mut rows = [0; TABLES.len()];
        for (table, rows) in tables.iter_mut().zip(&mut rows) {
            *rows = table.finish()?;
        }
        // Either all tables are kept, or none: some of them alone are not a run.
        tables.iter_mut().for_each(Table::keep);
        Ok(rows)
    }

    fn top(&mut self, step: &Step) -> Option<&mut Call> {
        self.threads.get_mut(step.thread)?.calls.innermost_mut()
    }

    fn enter(&mut self, step: &Step, method: u32, arguments: &[Argument]) -> Result<()> {
        let number = self.next_call;
        self.next_call += 1;
        let entry = self.dictionary.method(method).map(|(_, method)| method);
        let mut this = None;
        for argument in arguments {
            if argument.index == 0 {
                if let Datum::Reference(object) = argument.value {
                    this = object;
                }
                continue;
            }
            let name = entry.and_then(|entry| {
                let names = &entry.parameter_names;
                names.get(usize::from(argument.index) - 1)?.as_deref()
            });
            let told = entry.and_then(|entry| {
                let mut told = entry.told.iter();
                told.find(|(index, _)| *index == argument.index)
            });
            let value = self.value(Some(argument.value));
            let [object, class, integer, real] = value;
            self.arguments.add([
                Cell::Long(Some(number)),
                Cell::Int(Some(i32::from(argument.index))),
                Cell::Text(name.map(ByteArray::from)),
                Cell::Text(told.map(|(_, ty)| ty.as_str().into())),
                object,
                class,
                integer,
                real,
            ])?;
        }
        let calls = &mut self.threads.entry(step.thread, Thread::is_idle).calls;
        let caller = calls.innermost_mut().map(|caller| {
            caller.passed = None;
            caller.number
        });
        let call = Call {
            number,
            parent: caller,
            depth: calls.depth(),
            stamp: step.stamp as i64,
            is_virtual: step.is_virtual,
            this,
            passed: None,
        };
        if let Some((method, call)) = calls.begin(method, call) {
            self.call_row(step.thread, method, &call, "open", None)?;
        }
        Ok(())
    }

    /// Ends the innermost call of a method, and all deeper ones.
    fn end(&mut self, step: &Step, method: u32, ended: &str, value: Option<Datum>) -> Result<()> {
        let exception = match value {
            Some(Datum::Reference(exception)) if ended == "throw" => exception,
            _ => None,
        };
        if !self.end_inner(step, method, exception)? {
            let thread = self.threads.entry(step.thread, Thread::is_idle);
            if thread.calls.was_around() {
                return Ok(());
            }
            match thread.calls.was_unseen() {
                true => self.unseen_begun += 1,
                false => self.unbegun += 1,
            }
            return Ok(());
        }
        let calls = |thread: &mut Thread| thread.calls.pop();
        if let Some((method, call)) = self.threads.get_mut(step.thread).and_then(calls) {
            self.call_row(step.thread, method, &call, ended, value)?;
        }
        if let Some(caller) = self.top(step) {
            caller.passed = exception;
        }
        Ok(())
    }

    /// Ends all calls deeper than the innermost active call of a method; returns whether there is
    /// one. They end by this exception, if it has come to them. A constructor does not record an
    /// exception that leaves it in its call of another constructor; if that other one recorded the
    /// exception with which it ended, this one ended by the same exception. Where events were lost,
    /// it is not known how the calls ended.
    fn end_inner(&mut self, step: &Step, method: u32, exception: Option<ObjectId>) -> Result<bool> {
        let calls = |thread: &mut Thread| thread.calls.pop_deeper(method);
        let thread = self.threads.get(step.thread);
        if !thread.is_some_and(|thread| thread.calls.has(method)) {
            return Ok(false);
        }
        while let Some((method, call, is_doubtful)) =
            self.threads.get_mut(step.thread).and_then(calls)
        {
            let passed = call
                .passed
                .filter(|_| !is_doubtful && call.passed == exception);
            let ended = if is_doubtful { "open" } else { "throw" };
            let value = passed.map(|passed| Datum::Reference(Some(passed)));
            self.call_row(step.thread, method, &call, ended, value)?;
            if let Some(caller) = self.top(step) {
                caller.passed = passed;
            }
        }
        Ok(true)
    }

    /// Writes the calls that were active when a thread paused, or was last seen: it is not known
    /// how they end.
    fn leave(&mut self, id: u64) -> Result<()> {
        let calls = |thread: &mut Thread| thread.calls.pop();
        while let Some((method, call)) = self.threads.get_mut(id).and_then(calls) {
            self.call_row(id, method, &call, "open", None)?;
        }
        if let Some(thread) = self.threads.get_mut(id) {
            thread.calls = Calls::default();
        }
        Ok(())
    }

    /// Writes the row of a call that has ended.
    fn call_row(
        &mut self,
        id: u64,
        method: u32,
        call: &Call,
        ended: &str,
        value: Option<Datum>,
    ) -> Result<()> {
        let thread = self.threads.get(id);
        let thread_name = thread.and_then(|thread| thread.name.clone());
        let dictionary = self.dictionary;
        let names = self.methods.entry(method).or_insert_with(|| {
            let method = dictionary.method(method);
            method.map_or([None, None, None], |(class, method)| {
                [&class.name, &method.name, &method.descriptor]
                    .map(|name| Some(name.as_str().into()))
            })
        });
        let [class, name, descriptor] = names.clone();
        let this_class = self.class(call.this);
        let [object, object_class, integer, real] = self.value(value);
        self.calls.add([
            Cell::Long(Some(call.number)),
            Cell::Long(call.parent),
            Cell::Int(Some(i32::try_from(call.depth).unwrap_or(i32::MAX))),
            Cell::Long(Some(id as i64)),
            Cell::Bool(call.is_virtual),
            Cell::Text(thread_name),
            Cell::Long(Some(call.stamp)),
            Cell::Int(Some(method as i32)),
            Cell::Text(class),
            Cell::Text(name),
            Cell::Text(descriptor),
            number(call.this),
            Cell::Text(this_class),
            Cell::Text(Some(ended.into())),
            object,
            object_class,
            integer,
            real,
        ])
    }

    /// The columns of a place that was written or read.
    fn place_row(&mut self, step: &Step, place: &Place, value: Option<Datum>) -> Access {
        let (kind, field, object, index) = match *place {
            Place::Field { object, field } => {
                // In a constructor that is not bound yet, the object is not known.
                ("field", Some(field), object, None)
            }
            Place::Static { field } => ("static", Some(field), None, None),
            Place::Element { array, index } => ("element", None, array, Some(index)),
        };
        let names = match field {
            Some(id) => {
                let dictionary = self.dictionary;
                let names = self.fields.entry(id);
                names
                    .or_insert_with(|| member(dictionary.field(id)))
                    .clone()
            }
            None => [None, None, None],
        };
        self.row(step, kind, names, object, index, value)
    }

    fn row(
        &mut self,
        step: &Step,
        kind: &str,
        [class, name, ty]: [Option<ByteArray>; 3],
        object: Option<ObjectId>,
        index: Option<i32>,
        value: Option<Datum>,
    ) -> Access {
        let call = self.top(step).map(|call| call.number);
        let object_class = self.class(object);
        let [value_object, value_class, integer, real] = self.value(value);
        [
            Cell::Long(call),
            Cell::Long(Some(step.thread as i64)),
            Cell::Long(Some(step.stamp as i64)),
            Cell::Text(Some(kind.into())),
            Cell::Text(class),
            Cell::Text(name),
            Cell::Text(ty),
            number(object),
            Cell::Text(object_class),
            Cell::Int(index),
            value_object,
            value_class,
            integer,
            real,
        ]
    }

    fn write_row(&mut self, row: Access) -> Result<()> {
        let number = Cell::Long(Some(self.next_write));
        self.next_write += 1;
        self.writes.add(std::iter::once(number).chain(row))
    }

    /// The columns of a value: object, class, integer and real number.
    fn value(&mut self, value: Option<Datum>) -> [Cell; 4] {
        let (mut object, mut integer, mut real) = (None, None, None);
        match value {
            None => {}
            Some(Datum::Reference(of)) => object = of,
            Some(Datum::Int(value)) => integer = Some(i64::from(value)),
            Some(Datum::Long(value)) => integer = Some(value),
            Some(Datum::Float(value)) => real = Some(f64::from(value)),
            Some(Datum::Double(value)) => real = Some(value),
        }
        let class = self.class(object);
        [
            number(object),
            Cell::Text(class),
            Cell::Long(integer),
            Cell::Double(real),
        ]
    }

    fn is_array(&self, object: ObjectId) -> bool {
        let class = self.dictionary.class(object.class());
        class.is_some_and(|class| class.starts_with('['))
    }

    fn class(&mut self, object: Option<ObjectId>) -> Option<ByteArray> {
        let id = object?.class();
        let dictionary = self.dictionary;
        let name = self.classes.entry(id);
        name.or_insert_with(|| dictionary.class(id).map(ByteArray::from))
            .clone()
    }
}

fn number(object: Option<ObjectId>) -> Cell {
    Cell::Long(object.map(|object| object.serial() as i64))
}

fn member(
    member: Option<&hindsight_tracelog::trace::dictionary::Member>,
) -> [Option<ByteArray>; 3] {
    member.map_or([None, None, None], |member| {
        [&member.owner, &member.name, &member.descriptor].map(|name| Some(name.as_str().into()))
    })
}
