//! Which classes are instrumented, and how that is done at load time.
//!
//! **Invariant:** whatever goes wrong, the class is left as it was and the
//! reason is counted.

use crate::agent::Base;
use crate::jvmti::Jvmti;
use crate::snapshot::classes::binary_name;
use crate::sys;
use hindsight_instrument::select::{self, MAX_FIELDS};
use hindsight_instrument::{CrashPlan, Rules, SkippedMethods, Workspace};
use sha2::{Digest, Sha256};
use std::sync::Mutex;

/// A class cannot have more methods than this (JVMS 4.11).
const MAX_METHODS: usize = 65_535;
/// And each takes at least this many bytes of its class file (JVMS 4.6).
const MIN_METHOD_BYTES: usize = 8;

/// Packages of the JDK. A class there is the JDK's if it is in a named module
/// or comes from the boot loader; old libraries use some of these names too.
const JDK: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "org.ietf.jgss.",
    "netscape.javascript.",
    "jrockit.",
    "org.jcp.xml.dsig.",
];

/// Packages of the JDK whose code runs the program's and catches all that comes
/// out of it. One exception object may be thrown many times (a constant, or
/// HotSpot's pre-allocated ones): if nobody said that it was caught here, the
/// frames of all its ways up would be taken for one.
const CATCHERS: &[&str] = &["java.util.concurrent.", "java.awt.", "sun.net.httpserver."];

/// What a class gets.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Wanted {
    /// Probes that hand over frames, and those of its handlers.
    Frames,
    /// Its handlers say what they catch.
    Catches,
    Nothing,
}

/// What the user's options ask for this class.
fn wanted(base: &Base, jvmti: Jvmti, name: &str, loader: sys::Ref) -> Wanted {
    if asked_for(base, jvmti, name, loader) {
        return Wanted::Frames;
    }
    let package = name.rfind('.').map_or("", |end| &name[..=end]);
    if loader.is_null() && CATCHERS.contains(&package) && !base.options.exclude.matches(name) {
        return Wanted::Catches;
    }
    Wanted::Nothing
}

/// Memory for instrumenting: as much as there have been threads at it at the same
/// time.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        let mut workspace = spare.unwrap_or_default();
        let done = work(&mut workspace);
        if let Ok(mut spare) = self.0.lock() {
            spare.push(workspace);
        }
        done
    }
}

/// Whether the user's options ask for this class.
fn asked_for(base: &Base, jvmti: Jvmti, name: &str, loader: sys::Ref) -> bool {
    if select::is_below_probes(name) {
        return false;
    }
    let options = &base.options;
    if select::names(&options.exclude, name) {
        return false;
    }
    if !options.include.is_empty() {
        return select::names(&options.include, name);
    }
    if loader.is_null() {
        return false;
    }
    if JDK.iter().any(|prefix| name.starts_with(prefix)) {
        let package = name
            .rsplit_once('.')
            .map_or("", |(package, _)| package)
            .replace('.', "/");
        return !jvmti.in_named_module(loader, &package);
    }
    true
}

/// The instrumented class, or `None` to leave it as it is.
pub(crate) fn instrument(
    base: &Base,
    jvmti: Jvmti,
    name: Option<&str>,
    loader: sys::Ref,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    // Some loaders do not say the name; then only the class file knows it.
    let wanted_by_name = match name {
        Some(name) => wanted(base, jvmti, &name.replace('/', "."), loader),
        None => Wanted::Frames,
    };
    match wanted_by_name {
        Wanted::Frames => {}
        Wanted::Catches => return instrument_catches(base, bytes),
        Wanted::Nothing => return None,
    }
    let counters = &base.counters;
    let first_id = reserve(base, bytes)?;
    let class_in_file = std::cell::OnceCell::new();
    let report = &base.options.report;
    let class_name = name.map(|name| name.replace('/', "."));
    let rules = |method: &str, _descriptor: &str| {
        // A class without a name given is one of a strange loader: no rules for it.
        let Some(class) = class_name
            .as_deref()
            .or(class_in_file.get().map(String::as_str))
        else {
            return Rules {
                escape: false,
                caught: false,
            };
        };
        if report.escape.is_empty() && report.caught.is_empty() {
            return Rules {
                escape: false,
                caught: false,
            };
        }
        let full = format!("{class}.{method}");
        Rules {
            escape: report.escape.matches(&full),
            caught: report.caught.matches(&full),
        }
    };
    let plan = CrashPlan {
        copy: base.options.copy,
        max_fields: MAX_FIELDS,
        first_id,
        rules: &rules,
    };
    let rewritten = match base.workspaces.with(|space| space.crash(bytes, &plan)) {
        Ok(rewritten) => rewritten,
        Err(error) => {
            counters.add("classes_left_alone:malformed", 1);
            counters.add(&format!("class_error:{}: {error}", name.unwrap_or("?")), 1);
            return None;
        }
    };
    let dotted = binary_name(&format!("L{};", rewritten.class_name));
    let _ = class_in_file.set(dotted.clone());
    if name.is_none() && wanted(base, jvmti, &dotted, loader) != Wanted::Frames {
        return None;
    }
    count_skipped(base, &rewritten.skipped);
    counters.add("methods_instrumented", rewritten.methods.len() as u64);
    if rewritten.class.is_some() {
        counters.add("classes_instrumented", 1);
    } else {
        counters.add("classes_without_probes", 1);
    }
    base.methods.add(
        dotted,
        Sha256::digest(bytes).into(),
        first_id,
        rewritten.methods,
        rewritten.skipped,
    );
    rewritten.class
}

/// Numbers for as many methods as this class file can have.
fn reserve(base: &Base, bytes: &[u8]) -> Option<u32> {
    let most = (bytes.len() / MIN_METHOD_BYTES).min(MAX_METHODS);
    let first_id = base.methods.reserve(most as u32);
    if first_id.is_none() {
        base.counters
            .add("classes_left_alone:out of method numbers", 1);
    }
    first_id
}

/// The class with handlers that say what they catch; `None` to leave it.
fn instrument_catches(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    // No frame is ever of one of these methods, so their names are not kept.
    let first_id = reserve(base, bytes)?;
    let rewritten = base
        .workspaces
        .with(|workspace| workspace.catches(bytes, first_id));
    match rewritten {
        Ok(rewritten) => {
            let class = rewritten.class?;
            base.counters.add("classes_catching", 1);
            Some(class)
        }
        Err(_) => {
            base.counters.add("classes_left_alone:malformed", 1);
            None
        }
    }
}

fn count_skipped(base: &Base, skipped: &SkippedMethods) {
    let mut reasons: Vec<(_, u64)> = Vec::new();
    for reason in skipped.iter().map(|skipped| skipped.reason) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    for (reason, count) in reasons {
        let counter = format!("methods_left_alone:{reason}");
        base.counters.add(&counter, count);
    }
}
