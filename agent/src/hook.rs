//! Which classes are instrumented, and how that is done at load time.
//!
//! Other agents rewrite the same classes. The JVM asks agents in this order:
//!
//! ```text
//! first       ours: what the class was, for its hash
//! others      Java agents whose changes are for good (JaCoCo)
//! last        ours: the probes
//! others      agents that may retransform (OpenTelemetry), and among them, in
//!             the order in which they came, `again`: probes for classes that
//!             have none
//! ```
//!
//! Hence tools that know classes by a hash of their bytes see them without
//! probes, whatever the order on the command line; an agent that stands before
//! ours there comes before [`first`] too. A retransformation starts
//! from what [`last`] has made, so probes stay, and are inserted once; it is
//! [`again`] that puts them back where a class was loaded before the agent. A
//! redefinition brings new bytes and goes through all of them.
//!
//! **Invariant:** whatever goes wrong, the class is left as it was and the
//! reason is counted.

use crate::agent::Base;
use crate::jvmti::Jvmti;
use crate::originals::{self, Original};
use crate::snapshot::classes::binary_name;
use crate::sys;
use crate::trace;
use hindsight_instrument::select::{self, MAX_FIELDS};
use hindsight_instrument::{CrashPlan, Rewritten, Rules, SkippedMethods, Workspace, contract};
use std::cell::OnceCell;
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
    if base.options.tracing {
        return Wanted::Nothing;
    }
    if loader.is_null() && CATCHERS.contains(&package) && !base.options.exclude.matches(name) {
        return Wanted::Catches;
    }
    Wanted::Nothing
}

/// Whether frames of this class are to be handed over.
pub(crate) fn wants_frames(base: &Base, class: &str, loader: sys::Ref) -> bool {
    wanted(base, base.jvmti, class, loader) == Wanted::Frames
}

/// Memory for instrumenting: as much as there have been threads at it at the same
/// time.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        let mut workspace = spare.unwrap_or_default();
        let done = work(&mut workspace);
        if let Ok(mut spare) = self.0.lock() {
            spare.push(workspace);
        }
        done
    }
}

/// Other agents. They are no part of the program; `include` can name them all the same.
const AGENTS: &[&str] = &[
    "org.jacoco.agent.rt.",
    "io.opentelemetry.javaagent.",
    "net.bytebuddy.agent.",
    "datadog.trace.",
    "datadog.instrument.",
    "com.datadog.",
    "com.newrelic.agent.",
    "com.newrelic.bootstrap.",
    "co.elastic.apm.agent.",
    "com.dynatrace.",
    "com.appdynamics.",
    "com.intellij.rt.debugger.",
];

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
    if loader.is_null() || AGENTS.iter().any(|prefix| name.starts_with(prefix)) {
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

/// Before other agents have seen the class.
pub(crate) fn first(base: &Base, name: Option<&str>, loader: sys::Ref, bytes: &[u8]) {
    if let Some(name) = name
        && wants_frames(base, &name.replace('/', "."), loader)
    {
        originals::keep(Original::new(name, bytes));
    }
}

/// A class that is loaded or redefined: the instrumented one, or `None` to leave it as it is.
pub(crate) fn last(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let original = match name {
        Some(name) => {
            let original = originals::take(name);
            // What was kept was wanted.
            if original.is_none() {
                match wanted(base, base.jvmti, &name.replace('/', "."), loader) {
                    Wanted::Frames => {}
                    Wanted::Catches => return instrument_catches(base, bytes),
                    Wanted::Nothing => return None,
                }
            }
            original
        }
        // Some loaders do not say the name; then only the class file knows it.
        None => None,
    };
    let original = original.unwrap_or_else(|| Original::new(name.unwrap_or(""), bytes));
    let version = if original.is(bytes) {
        original.sha256
    } else {
        base.counters.add("classes_changed_by_other_agents", 1);
        originals::sha256(bytes)
    };
    if redefined {
        base.counters.add("classes_redefined", 1);
    }
    instrument(base, name, loader, bytes, Some(original.sha256), version)
}

/// A class that is retransformed, by us or by another agent, as the other agents have left it. It has
/// its probes still if it was loaded through [`last`].
pub(crate) fn again(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let name = name?;
    let dotted = name.replace('/', ".");
    let boot = loader.is_null() && !base.options.tracing;
    if boot || !wants_frames(base, &dotted, loader) || has_probes(bytes) {
        return None;
    }
    let counter = if base.methods.is_known(&dotted) {
        "classes_given_their_probes_again"
    } else {
        "classes_loaded_before_the_agent"
    };
    // These bytes are not the class file's but made by the JVM from its own structures.
    let version = originals::sha256(bytes);
    let rewritten = instrument(base, Some(name), loader, bytes, None, version);
    if rewritten.is_some() {
        base.counters.add(counter, 1);
    }
    rewritten
}

/// Whether the class refers to the probes. May be wrong about a class that only mentions them, which
/// no class of a program does.
pub(crate) fn has_probes(bytes: &[u8]) -> bool {
    let has = |probe: &str| {
        let mut windows = bytes.windows(probe.len());
        windows.any(|window| window == probe.as_bytes())
    };
    has(contract::PROBE) || has(contract::trace::TRACE)
}

/// The instrumented class, or `None` to leave it as it is. A class with a name is a wanted one.
fn instrument(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    bytes: &[u8],
    sha256: Option<[u8; 32]>,
    version: [u8; 32],
) -> Option<Vec<u8>> {
    if let Some(tracing) = trace::tracing() {
        return tracing.instrument(base, name, loader, bytes, sha256, version);
    }
    let counters = &base.counters;
    let class_name = name.map(|name| name.replace('/', "."));
    let known = class_name
        .as_deref()
        .and_then(|name| base.methods.known(name, &version));
    let first_id = known.or_else(|| reserve(base, bytes))?;
    let class_in_file = OnceCell::new();
    let report = &base.options.report;
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
    if name.is_none() && !wants_frames(base, &dotted, loader) {
        return None;
    }
    if rewritten.had_probes {
        came_with_probes(base, &dotted);
        return None;
    }
    if known.is_some() {
        counters.add("classes_instrumented_once_more", 1);
        return rewritten.class;
    }
    count(base, &rewritten);
    base.methods.add(
        dotted,
        sha256,
        version,
        first_id,
        rewritten.methods,
        rewritten.skipped,
    );
    rewritten.class
}

/// A tool has kept what we made of a class, and brings it back. In the same JVM the numbers in it are
/// right; if it comes from another one, they are not ours.
fn came_with_probes(base: &Base, name: &str) {
    if base.methods.is_known(name) {
        base.counters.add("classes_that_came_with_probes", 1);
    } else {
        base.complain(
            "classes_with_probes_of_another_run",
            &format!(
                "class {name} was kept by some tool with the probes of another run in it; its frames cannot be told"
            ),
        );
    }
}

fn count(base: &Base, rewritten: &Rewritten) {
    let counters = &base.counters;
    count_skipped(base, "methods_left_alone", &rewritten.skipped);
    counters.add("methods_instrumented", rewritten.methods.len() as u64);
    if rewritten.class.is_some() {
        counters.add("classes_instrumented", 1);
    } else {
        counters.add("classes_without_probes", 1);
    }
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

/// Counts methods by the reason why they have less than asked for.
pub(crate) fn count_skipped(base: &Base, what: &str, skipped: &SkippedMethods) {
    let mut reasons: Vec<(_, u64)> = Vec::new();
    for reason in skipped.iter().map(|skipped| skipped.reason) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    for (reason, count) in reasons {
        let counter = format!("{what}:{reason}");
        base.counters.add(&counter, count);
    }
}
