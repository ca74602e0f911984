//! Gives a class the probes that it is to have.

use super::Aside;
use crate::agent::Base;
use crate::chances::Chances;
use crate::counters::INSTRUMENTED;
use crate::foreign;
use crate::loaders::{Loader, find_probes};
use crate::methods::{Class, Reserved, made};
use crate::originals::{self, Original};
use crate::snapshot::classes::binary_name;
use crate::sys;
use crate::trace;
use hindsight_classfile::MemberRef;
use hindsight_instrument::select::MAX_FIELDS;
use hindsight_instrument::{
    self as instrument, CrashPlan, MemberNames, Rewritten, Rules, SkipReason, UndoPlan, Workspace,
};
use std::cell::Cell;
use std::sync::Arc;

/// The most methods of a class (JVMS 4.11).
const MAX_METHODS: usize = 65_535;
/// The fewest bytes that each method takes in a class file (JVMS 4.6).
const MIN_METHOD_BYTES: usize = 8;

/// The instrumented class, which is a wanted one, or `None` to leave it as it is.
pub(super) fn instrument(
    base: &Base,
    name: &str,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
    original: Option<&Original>,
    version: [u8; 32],
) -> Option<Vec<u8>> {
    let defines = base.loaders.of(base, loader);
    if !find_probes(base, defines.as_deref(), loader) {
        return None;
    }
    let sha256 = original.map(|original| original.sha256);
    if let Some(tracing) = trace::tracing() {
        return tracing.instrument(name, loader, redefined, bytes, sha256, version);
    }
    let counters = &base.counters;
    let class = name.replace('/', ".");
    // What methods hand over depends on whether the plan is trusted, which may end while classes
    // are loaded; which methods have probes, and their numbers, depends on which are chosen.
    let effects = base.known.class(Some(name), original, counters);
    let origin = match effects {
        [] => version,
        _ => originals::sha256(&[&version[..], b"by the plan"].concat()),
    };
    let chosen = (base.chances.as_ref()).and_then(|chances| chances.methods(&class));
    let version = match &chosen {
        Some(names) => originals::sha256(&[&origin[..], names.join("\n").as_bytes()].concat()),
        None => origin,
    };
    let known = base.methods.known(&class, &version, defines.as_ref());
    let (mut ids, first_id) = match known {
        Some(first_id) => (None, first_id),
        None => {
            let ids = reserve(base, bytes)?;
            let first_id = ids.first();
            (Some(ids), first_id)
        }
    };
    let report = &base.options.report;
    let is_named = Cell::new(false);
    let rules = |method: &str, _descriptor: &str| {
        if !report.names_methods() {
            return Rules::default();
        }
        let full = format!("{class}.{method}");
        let rules = Rules {
            escape: report.escape.matches(&full),
            caught: report.caught.matches(&full),
        };
        is_named.set(is_named.get() || rules != Rules::default());
        rules
    };
    let meant = |method: &str, descriptor: &str| match &chosen {
        Some(names) => {
            names.iter().any(|name| name == method) || rules(method, descriptor) != Rules::default()
        }
        None => true,
    };
    let rewrite = |first_id| {
        let plan = CrashPlan {
            copy: base.options.copy.at_entry(),
            max_fields: MAX_FIELDS,
            first_id,
            rules: &rules,
            known: effects,
        };
        let undo = UndoPlan {
            crash: Some(&plan),
            catches: true,
            first_id,
            first_field: 0,
            quiet: &|_| None,
        };
        if base.options.copy.need_log() {
            undoable(base, defines.as_deref(), bytes, &undo)
        } else if chosen.is_some() {
            let catches = base.chances.as_deref().is_some_and(Chances::shared);
            let space = |space: &mut Workspace| space.crash_in_some(bytes, &plan, &meant, catches);
            Some(base.workspaces.with(space))
        } else {
            Some(base.workspaces.with(|space| space.crash(bytes, &plan)))
        }
    };
    let mut rewritten = rewrite(first_id)?;
    let mut is_once_more = false;
    // With logs of writes, which methods have probes depends on what is known of other classes by
    // now.
    if let Ok(made) = &rewritten
        && ids.is_none()
        && !base.methods.has(first_id, &made.methods)
    {
        let others = reserve(base, bytes)?;
        rewritten = rewrite(others.first())?;
        ids = Some(others);
        is_once_more = true;
    }
    let rewritten = match rewritten {
        Ok(rewritten) => rewritten,
        Err(error) => {
            counters.add("classes_left_alone:malformed", 1);
            counters.add_named("class_error", &format!("{name}: {error}"));
            return None;
        }
    };
    let dotted = binary_name(&format!("L{};", rewritten.class_name));
    if rewritten.had_probes {
        foreign::came_with_probes(base, &dotted);
        return None;
    }
    let Some(ids) = ids else {
        counters.add("classes_instrumented_once_more", 1);
        return rewritten.class;
    };
    if chosen.is_some() && rewritten.class.is_none() && rewritten.skipped.is_empty() {
        // Some methods may have been asked for in a class that was not meant.
        return None;
    }
    let is_ours = original.is_some() || chosen.is_some();
    if !is_ours && rewritten.class.is_none() && base.methods.is_without_probes(&dotted) {
        // Another agent retransforms it, and it had no probes before either.
        return None;
    }
    if is_once_more {
        counters.add("classes_instrumented_once_more", 1);
    } else {
        let earlier = base.methods.earlier(&dotted, &origin);
        count(base, &rewritten, &earlier);
        if is_named.get() {
            let mut made = made(&rewritten, &earlier);
            (base.named).methods(counters, &dotted, &mut made);
        }
    }
    let methods = rewritten.methods.iter().enumerate();
    let aside = methods.filter(|(_, method)| !meant(method.name, method.descriptor));
    let aside = aside.map(|(at, _)| at).collect();
    let many = base.methods.add(
        (dotted, defines),
        sha256,
        [origin, version],
        ids,
        (rewritten.methods, aside),
        rewritten.skipped,
    );
    if many {
        base.loaders.sweep(base);
        counters.add("classes_unloaded", base.methods.sweep() as u64);
    }
    rewritten.class
}

/// The class with its writes logged and its fields numbered; `None` if there are no more numbers.
fn undoable(
    base: &Base,
    loader: Option<&Loader>,
    bytes: &[u8],
    plan: &UndoPlan<'_>,
) -> Option<Result<Rewritten, instrument::Error>> {
    let quiet = |callee: &MemberRef<'_>| {
        let [owner, name, descriptor] =
            [callee.owner, callee.name, callee.descriptor].map(|text| text.to_string_lossy());
        loader?.accessors.get([&owner, &name, &descriptor])
    };
    let mut accessors = Vec::new();
    let rewritten = base.workspaces.with(|space| {
        base.fields.number(|first_field| {
            let plan = UndoPlan {
                first_field,
                quiet: &quiet,
                ..*plan
            };
            let mut rewritten = space.undoable(bytes, &plan);
            let fields = match &mut rewritten {
                Ok(rewritten) => {
                    accessors = std::mem::take(&mut rewritten.quiet);
                    std::mem::take(&mut rewritten.fields)
                }
                Err(_) => MemberNames::default(),
            };
            (rewritten, fields)
        })
    });
    if let Some(loader) = loader {
        loader.accessors.add(accessors);
    }
    if rewritten.is_none() {
        base.counters
            .add("classes_left_alone:out of field numbers", 1);
    }
    rewritten
}

fn count(base: &Base, rewritten: &Rewritten, earlier: &[Arc<Class>]) {
    let counters = &base.counters;
    let skipped = made(rewritten, earlier).filter_map(|(_, reason)| reason);
    counters.skipped("methods_left_alone", skipped);
    let reduced = rewritten.reduced.iter().map(|reduced| reduced.reason);
    counters.skipped("methods_without_log_of_writes", reduced);
    let methods = made(rewritten, earlier).filter(|(_, reason)| reason.is_none());
    counters.add("methods_instrumented", methods.count() as u64);
    if rewritten.class.is_none() {
        counters.add("classes_without_probes", u64::from(earlier.is_empty()));
    } else if !earlier.iter().any(|class| class.has_probes()) {
        counters.add(INSTRUMENTED, 1);
    }
}

/// Reserves numbers for as many methods as this class file can have.
fn reserve<'b>(base: &'b Base, bytes: &[u8]) -> Option<Reserved<'b>> {
    let most = (bytes.len() / MIN_METHOD_BYTES).min(MAX_METHODS);
    let ids = base.methods.reserve(most as u32);
    if ids.is_none() {
        base.counters
            .add("classes_left_alone:out of method numbers", 1);
    }
    ids
}

/// The class with handlers that report what they catch, or with its writes logged; `None` to leave
/// it.
pub(super) fn instrument_aside(
    base: &Base,
    aside: Aside,
    loader: sys::Ref,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let known = base.loaders.of(base, loader);
    if !find_probes(base, known.as_deref(), loader) {
        return None;
    }
    // No frame ever belongs to one of these methods, so their names are not kept.
    let ids = reserve(base, bytes)?;
    let first_id = ids.first();
    let rewritten = if aside.writes {
        let plan = UndoPlan {
            crash: None,
            catches: aside.catches,
            first_id,
            first_field: 0,
            quiet: &|_| None,
        };
        undoable(base, known.as_deref(), bytes, &plan)?
    } else {
        base.workspaces
            .with(|workspace| workspace.catches(bytes, first_id))
    };
    match rewritten {
        Ok(rewritten) => {
            let unseen = rewritten.skipped.iter().filter(|skipped| {
                !matches!(
                    skipped.reason,
                    SkipReason::CatchesNothing | SkipReason::CannotThrow
                )
            });
            let unseen = unseen.count() + rewritten.reduced.len();
            if aside.writes && unseen > 0 {
                base.counters
                    .add("methods_without_log_of_writes", unseen as u64);
            }
            // Returning its own bytes makes the JVM parse a class that is in its archive: there
            // (JDK 24 and up), calls of a superclass's methods are bound already, to their versions
            // without probes.
            let Some(class) = rewritten.class else {
                return Some(bytes.to_vec());
            };
            ids.keep(rewritten.methods.len());
            let counter = if aside.writes {
                "classes_with_writes_logged"
            } else {
                "classes_catching"
            };
            base.counters.add(counter, 1);
            Some(class)
        }
        Err(_) => {
            base.counters.add("classes_left_alone:malformed", 1);
            None
        }
    }
}
