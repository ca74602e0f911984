//! Instrumenting classes for traces.

use super::Tracing;
use crate::agent::Base;
use crate::hook;
use crate::methods::descriptor;
use crate::originals;
use crate::snapshot::classes::binary_name;
use crate::sys;
use hindsight_classfile::ClassFile;
use hindsight_instrument::{Capture, MemberName, TracePlan, Traced, What};
use hindsight_tracelog::trace::dictionary::{Member, Method, Record, TracedClass};
use std::collections::HashMap;
use std::sync::Mutex;

/// Numbers for methods, fields and callees.
#[derive(Default)]
pub(crate) struct Ids(Mutex<Table>);

/// The first numbers of a class.
#[derive(Debug, Clone, Copy)]
struct First {
    method: u32,
    field: u32,
    callee: u32,
}

#[derive(Default)]
struct Table {
    next: Option<First>,
    /// By name and SHA-256: the same class again, be it another loader's copy,
    /// has the same numbers.
    known: HashMap<(String, [u8; 32]), First>,
}

impl Ids {
    fn reserve(&self, class: &ClassFile<'_>) -> Option<First> {
        let mut table = self.0.lock().ok()?;
        let first = table.next.unwrap_or(First {
            method: 1,
            field: 1,
            callee: 1,
        });
        let methods = u32::try_from(class.methods.len()).ok()?;
        let constants = u32::from(class.pool.count());
        // Java sees the numbers as ints.
        let after = |id: u32, count: u32| id.checked_add(count).filter(|id| *id < 1 << 31);
        table.next = Some(First {
            method: after(first.method, methods)?,
            field: after(first.field, constants)?,
            callee: after(first.callee, constants)?,
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
}

impl Tracing {
    /// The instrumented class, or `None` to leave it as it is.
    pub(crate) fn instrument(
        &self,
        base: &Base,
        name: Option<&str>,
        loader: sys::Ref,
        bytes: &[u8],
        sha256: Option<[u8; 32]>,
        version: [u8; 32],
    ) -> Option<Vec<u8>> {
        let counters = &base.counters;
        let malformed = |error: &dyn std::fmt::Display| {
            counters.add("classes_left_alone:malformed", 1);
            counters.add(&format!("class_error:{}: {error}", name.unwrap_or("?")), 1);
        };
        let class = ClassFile::parse(bytes)
            .map_err(|error| malformed(&error))
            .ok()?;
        let class_name = class.name().ok()?.to_string_lossy();
        let dotted = binary_name(&format!("L{class_name};"));
        if name.is_none() && !hook::wants_frames(base, &dotted, loader) {
            return None;
        }
        let known = self.ids.known(&dotted, &version);
        let Some(first) = known.or_else(|| self.ids.reserve(&class)) else {
            counters.add("classes_left_alone:out of numbers", 1);
            return None;
        };
        let asked = base.options.trace.what;
        let what = What {
            calls: asked.calls,
            writes: asked.writes,
            reads: asked.reads,
            references: asked.values,
            values: asked.values,
        };
        let plan = TracePlan {
            what: &|_, _| what,
            first_method: first.method,
            first_field: first.field,
            first_callee: first.callee,
        };
        let traced = base
            .workspaces
            .with(|space| space.trace(bytes, &plan))
            .map_err(|error| malformed(&error))
            .ok()?;
        if traced.had_probes {
            counters.add("classes_that_came_with_probes", 1);
            return None;
        }
        if known.is_some() {
            counters.add("classes_instrumented_once_more", 1);
            return traced.class;
        }
        hook::count_skipped(base, "methods_left_alone", &traced.skipped);
        hook::count_skipped(base, "methods_telling_calls_only", &traced.reduced);
        counters.add("methods_instrumented", traced.methods.len() as u64);
        if traced.class.is_some() {
            counters.add("classes_instrumented", 1);
        } else {
            counters.add("classes_without_probes", 1);
        }
        // Before the class can run.
        let record = describe(&dotted, sha256, &traced);
        self.dictionary.add(&Record::Traced(record));
        self.ids.add(dotted, version, first);
        traced.class
    }
}

fn describe(name: &str, sha256: Option<[u8; 32]>, traced: &Traced) -> TracedClass {
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
    }
}

fn member(member: &MemberName) -> Member {
    Member {
        id: member.id,
        owner: member.owner.replace('/', "."),
        name: member.name.clone(),
        descriptor: member.descriptor.clone(),
    }
}
