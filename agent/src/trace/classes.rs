//! Instrumenting classes for traces.

use super::Tracing;
use super::arena::Marks;
use super::nest::Sign;
use crate::agent::Base;
use crate::methods::descriptor;
use crate::originals;
use crate::snapshot::classes::binary_name;
use crate::sys;
use hindsight_classfile::ClassFile;
use hindsight_instrument::select;
use hindsight_instrument::{Capture, MemberName, TracePlan, Traced, What};
use hindsight_tracelog::trace::dictionary::{Blocks, Defined, Member, Method, Record, TracedClass};
use std::collections::HashMap;
use std::sync::Mutex;

/// Assigns numbers to methods, fields and callees.
#[derive(Default)]
pub(crate) struct Ids(Mutex<Table>);

/// The first numbers of a class.
#[derive(Debug, Clone, Copy)]
struct First {
    method: u32,
    field: u32,
    callee: u32,
    /// The first number of the blocks, if blocks are recorded.
    block: Option<u32>,
}

#[derive(Default)]
struct Table {
    next: Option<First>,
    /// The numbers by the class's name and SHA-256: the same class gets the same numbers again,
    /// even for another loader's copy.
    known: HashMap<(String, [u8; 32]), First>,
    /// The signs of methods by their numbers, if only a part of the run is recorded.
    signs: Vec<Sign>,
}

impl Ids {
    fn reserve(&self, class: &ClassFile<'_>) -> Option<First> {
        let mut table = self.0.lock().ok()?;
        let first = table.next.unwrap_or(First {
            method: 1,
            field: 1,
            callee: 1,
            block: None,
        });
        let methods = u32::try_from(class.methods.len()).ok()?;
        let constants = u32::from(class.pool.count());
        // Java uses the numbers as ints.
        let after = |id: u32, count: u32| id.checked_add(count).filter(|id| *id < 1 << 31);
        table.next = Some(First {
            method: after(first.method, methods)?,
            field: after(first.field, constants)?,
            callee: after(first.callee, constants)?,
            block: None,
        });
        Some(first)
    }

    fn known(&self, name: &str, version: &[u8; 32]) -> Option<First> {
        let table = self.0.lock().ok()?;
        table.known.get(&(name.to_owned(), *version)).copied()
    }

    fn add(&self, name: String, version: [u8; 32], first: First) {
        if let Ok(mut table) = self.0.lock() {
            table.known.insert((name, version), first);
        }
    }

    /// Keeps the signs of the methods of a class.
    fn sign(&self, class: &str, traced: &Traced) {
        let Ok(mut table) = self.0.lock() else { return };
        for method in traced.methods.iter() {
            let at = method.id as usize;
            if at >= table.signs.len() {
                table.signs.resize(at + 1, Sign::default());
            }
            table.signs[at] = Sign::new(class, method.name, method.descriptor);
        }
    }

    /// The signs of the methods with these numbers.
    pub(super) fn signs(&self, methods: &[i32]) -> Option<Vec<Sign>> {
        let table = self.0.lock().ok()?;
        let known = |id: &i32| table.signs.get(*id as usize).copied();
        methods.iter().map(known).collect()
    }
}

impl Tracing {
    /// The instrumented class; `None` to leave it as it is. `before` says whether the class is
    /// defined already.
    pub(crate) fn instrument(
        &self,
        name: &str,
        loader: sys::Ref,
        before: bool,
        bytes: &[u8],
        sha256: Option<[u8; 32]>,
        version: [u8; 32],
    ) -> Option<Vec<u8>> {
        let base = self.base;
        let counters = &base.counters;
        let malformed = |error: &dyn std::fmt::Display| {
            counters.add("classes_left_alone:malformed", 1);
            counters.add_named("class_error", &format!("{name}: {error}"));
        };
        let class = ClassFile::parse(bytes)
            .map_err(|error| malformed(&error))
            .ok()?;
        let class_name = class.name().ok()?.to_string_lossy();
        let dotted = binary_name(&format!("L{class_name};"));
        let known = self.ids.known(&dotted, &version);
        let Some(mut first) = known.or_else(|| self.ids.reserve(&class)) else {
            counters.add("classes_left_alone:out of numbers", 1);
            return None;
        };
        let what = What {
            blocks: false,
            ..base.options.trace.what
        };
        let trace = |what: What, first_block: u32| {
            let plan = TracePlan {
                what: &|_, _| what,
                first_method: first.method,
                first_field: first.field,
                first_callee: first.callee,
                first_block,
                tracer: hindsight_instrument::contract::trace::TRACE,
                is_secret: &|name| base.options.is_secret(name),
            };
            base.workspaces.with(|space| space.trace(bytes, &plan))
        };
        let with_blocks = What {
            blocks: true,
            ..what
        };
        let traced = match (&self.blocks, known.and_then(|known| known.block)) {
            (Some(_), Some(block)) => trace(with_blocks, block),
            (Some(blocks), None) if known.is_none() => {
                let numbered = blocks.number(|block| {
                    first.block = Some(block);
                    let traced = trace(with_blocks, block);
                    let count = traced.as_ref().map_or(0, count_blocks);
                    (traced, count)
                });
                numbered.unwrap_or_else(|_| {
                    first.block = None;
                    counters.add("classes_without_coverage", 1);
                    trace(what, 0)
                })
            }
            _ => trace(what, 0),
        };
        let traced = traced.map_err(|error| malformed(&error)).ok()?;
        if traced.had_probes {
            counters.add("classes_that_came_with_probes", 1);
            return None;
        }
        if known.is_some() {
            counters.add("classes_instrumented_once_more", 1);
            return traced.class;
        }
        for (what, skipped) in [
            ("methods_left_alone", &traced.skipped),
            ("methods_telling_calls_only", &traced.reduced),
        ] {
            let reasons = skipped.iter().map(|skipped| skipped.reason);
            base.counters.skipped(what, reasons);
        }
        counters.add("methods_instrumented", traced.methods.len() as u64);
        if traced.class.is_some() {
            counters.add("classes_instrumented", 1);
        } else {
            counters.add("classes_without_probes", 1);
        }
        // This is done before the class can run.
        self.mark(base, &dotted, &traced);
        let defined = self.defined(base, loader, before);
        let record = describe(&dotted, sha256, &traced, defined);
        self.dictionary.add(&Record::Traced(record));
        self.ids.add(dotted, version, first);
        traced.class
    }
}

impl Tracing {
    /// Instruments the class of the stand-ins to which method references are turned: it records the
    /// calls that they make, and nothing else.
    pub(super) fn stand_ins(&self, base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
        let class = ClassFile::parse(bytes).ok()?;
        let first = self.ids.reserve(&class)?;
        let what = What {
            calls: false,
            reads: false,
            blocks: false,
            ..base.options.trace.what
        };
        let plan = TracePlan {
            what: &|_, _| what,
            first_method: first.method,
            first_field: first.field,
            first_callee: first.callee,
            first_block: 0,
            tracer: hindsight_instrument::contract::trace::TRACE,
            is_secret: &|name| base.options.is_secret(name),
        };
        let traced = base.workspaces.with(|space| space.trace(bytes, &plan));
        let traced = traced.ok()?;
        let mut record = describe(&traced.class_name.replace('/', "."), None, &traced, None);
        record.methods.clear();
        self.dictionary.add(&Record::Traced(record));
        traced.class
    }

    /// Marks the methods that bound the recording.
    fn mark(&self, base: &Base, class: &str, traced: &Traced) {
        let Some(marks) = &self.marks else { return };
        self.ids.sign(class, traced);
        let of = &base.options.trace;
        let top = of.sample.as_ref();
        let is_top = top.is_some_and(|sample| select::names(&sample.classes, class));
        let is_top_method =
            |name: &str| is_top || top.is_some_and(|sample| sample.classes.matches(name));
        for method in traced.methods.iter() {
            let name = format!("{class}.{}", method.name);
            let mut bits = 0;
            for (is, bit, counter) in [
                (of.from.matches(&name), Marks::FROM, "trace_from_methods"),
                (of.until.matches(&name), Marks::UNTIL, "trace_until_methods"),
                (is_top_method(&name), Marks::TOP, "trace_sample_methods"),
            ] {
                if is {
                    bits |= bit;
                    base.counters.add(counter, 1);
                }
            }
            // Its calls are listed.
            let is_listed = top.is_some() || bits & Marks::UNTIL != 0;
            if is_listed && method.name == "<init>" {
                bits |= Marks::CONSTRUCTOR;
            }
            if bits != 0 && !marks.set(method.id, bits) {
                base.counters.add("trace_methods_not_marked", 1);
            }
        }
    }

    /// The definition of a class by the current thread; the thread is unknown if the class was
    /// defined `before`.
    fn defined(&self, base: &Base, loader: sys::Ref, before: bool) -> Option<Defined> {
        let jni = base.vm.jni()?;
        let thread = match before {
            true => None,
            false => self.jvmti.current_thread(),
        };
        let id = thread.zip(self.thread_id);
        let id = id.map_or(0, |(thread, field)| jni.get_integral(thread, field, b'J'));
        if let Some(thread) = thread {
            jni.delete_local(thread);
        }
        let loader = jni.class_of_loader(loader).and_then(|class| {
            let signature = self.jvmti.class_signature(class);
            jni.delete_local(class);
            signature
        });
        Some(Defined {
            stamp: self.shared.next_stamp(),
            thread: id as u64,
            loader: loader.map_or_else(String::new, |signature| binary_name(&signature)),
            before,
        })
    }
}

fn count_blocks(traced: &Traced) -> u32 {
    let counts = traced.blocks.iter().map(|blocks| blocks.starts.len());
    counts.sum::<usize>() as u32
}

fn describe(
    name: &str,
    sha256: Option<[u8; 32]>,
    traced: &Traced,
    defined: Option<Defined>,
) -> TracedClass {
    let blocks_of = |id: u32| {
        let at = traced
            .blocks
            .binary_search_by_key(&id, |blocks| blocks.method);
        let blocks = at.ok().and_then(|at| traced.blocks.get(at))?;
        Some(Blocks {
            first: blocks.first,
            starts: blocks.starts.clone(),
        })
    };
    let methods = traced.methods.iter().map(|method| Method {
        id: method.id,
        name: method.name.to_owned(),
        descriptor: method.descriptor.to_owned(),
        access: method.access,
        lines: method.lines,
        told: method
            .captures
            .filter_map(|capture| match capture {
                Capture::Parameter { index, .. }
                | Capture::Field {
                    parameter: index, ..
                } => Some((index, descriptor(&capture).to_owned())),
                Capture::Position => None,
            })
            .collect(),
        parameter_names: method
            .parameter_names
            .map(|name| name.map(str::to_owned))
            .collect(),
        blocks: blocks_of(method.id),
    });
    let less = (traced.skipped.iter()).chain(traced.reduced.iter());
    TracedClass {
        name: name.to_owned(),
        sha256: sha256.as_ref().map(originals::hex).unwrap_or_default(),
        methods: methods.collect(),
        fields: traced.fields.iter().map(member).collect(),
        callees: traced.callees.iter().map(member).collect(),
        less: less
            .map(|method| {
                (
                    method.name.to_owned(),
                    method.descriptor.to_owned(),
                    method.reason.to_string(),
                )
            })
            .collect(),
        defined,
    }
}

fn member(member: MemberName) -> Member {
    Member {
        id: member.id,
        owner: member.owner.replace('/', "."),
        name: member.name,
        descriptor: member.descriptor,
    }
}
