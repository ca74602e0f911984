//! Instruments classes at load time.
//!
//! - [`selection`] decides which probes a class is to have, [`probes`] gives it them, and
//!   [`workspaces`] is the memory for that.
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
//! Hence tools that know classes by a hash of their bytes see them without probes, whatever the
//! order on the command line; an agent that is named before ours there comes before [`first`] as
//! well. A retransformation starts from what [`last`] has made, so probes stay, and are inserted
//! once; [`again`] inserts them if a class was loaded before the agent. A redefinition brings new
//! bytes and passes through all of them.
//!
//! When the recording is over, classes get no probes any more. Those that other runs have given
//! them are silenced still, because they would write where nothing is.
//!
//! **Invariant:** whatever goes wrong, the class is left as it was and the reason is counted.

mod probes;
mod selection;
mod workspaces;

pub(crate) use selection::{
    Aside, Wanted, could_have, is_marked, left_out, may_be_wanted, wanted, wants_frames,
};
pub(crate) use workspaces::Workspaces;

use crate::agent::Base;
use crate::foreign;
use crate::originals::{self, Original};
use crate::run;
use crate::sys;
use hindsight_classfile::ClassFile;
use hindsight_instrument::{contract, entry_hook};
use probes::{instrument, instrument_aside};
use std::borrow::Cow;

/// The hook before other agents have seen the class.
pub(crate) fn first(base: &Base, name: Option<&str>, loader: sys::Ref, bytes: &[u8]) {
    if run::is_over() {
        return;
    }
    base.known.came(name, bytes, &base.counters);
    let Some(name) = own_name(name, bytes) else {
        return;
    };
    mark(base, &name, loader, bytes);
    if wants_frames(base, &name.replace('/', "."), loader) {
        originals::keep(Original::new(&name, bytes));
    }
}

/// Reads the annotations and the names of captured values that make something secret.
fn mark(base: &Base, name: &str, loader: sys::Ref, bytes: &[u8]) {
    let options = &base.options;
    if loader.is_null() {
        return;
    }
    let annotations = options.redact.annotations();
    if !annotations.is_empty() {
        let found = (base.methods.marks).look(&name.replace('/', "."), bytes, annotations);
        (found.into_iter()).for_each(|annotation| options.redact.annotated(annotation));
    }
    if !options.tracing {
        let is_secret = |name: &str, descriptor: &str| options.is_secret_of_type(name, descriptor);
        base.methods.captured.look(name, bytes, &is_secret);
    }
}

/// The name of a class with slashes. Its definer need not give it; then only the class file has it.
fn own_name<'n>(given: Option<&'n str>, bytes: &'n [u8]) -> Option<Cow<'n, str>> {
    if let Some(name) = given {
        return Some(name.into());
    }
    let class = ClassFile::parse(bytes).ok()?;
    Some(class.name().ok()?.to_string_lossy())
}

/// The hook for a class that is loaded or redefined. Returns the instrumented class, or `None` to
/// leave it as it is.
pub(crate) fn last(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let own = own_name(name, bytes);
    let silent = foreign::silenced(base, own.as_deref(), bytes);
    let original = own.as_deref().and_then(originals::take);
    if silent.is_some() || run::is_over() {
        return silent;
    }
    let Some(name) = own.as_deref() else {
        base.counters.add("classes_left_alone:malformed", 1);
        return None;
    };
    if name == API {
        return fill(base, bytes);
    }
    // A class whose bytes were kept is wanted.
    if original.is_none() {
        let dotted = name.replace('/', ".");
        let wanted = wanted(base, &dotted, loader);
        if wanted != Wanted::Frames && !redefined {
            left_out(base, &dotted);
        }
        match wanted {
            Wanted::Frames => {}
            Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
            Wanted::Nothing => return None,
        }
    }
    let original = original.unwrap_or_else(|| Original::new(name, bytes));
    let version = if original.is(bytes) {
        original.sha256
    } else {
        base.counters.add("classes_changed_by_other_agents", 1);
        originals::sha256(bytes)
    };
    if redefined {
        base.counters.add("classes_redefined", 1);
    }
    let original = Some(&original);
    instrument(base, name, loader, redefined, bytes, original, version)
}

/// The hook for a class that is retransformed, by us or by another agent, as the other agents have
/// left it. It still has its probes if it was loaded through [`last`]. With `mode=second-chance` it
/// is also the hook for a class that is loaded.
pub(crate) fn again(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let own = own_name(name, bytes);
    if let Some(silent) = foreign::silenced(base, own.as_deref(), bytes) {
        own.as_deref().and_then(originals::take);
        return Some(silent);
    }
    if run::is_over() {
        return None;
    }
    let name = own.as_deref()?;
    // If it was loaded before the agent, its bytes are only seen here.
    mark(base, name, loader, bytes);
    if name == API {
        return fill(base, bytes);
    }
    let dotted = name.replace('/', ".");
    if base.chances.is_some() {
        return second_chance(base, name, &dotted, loader, redefined, bytes);
    }
    match wanted(base, &dotted, loader) {
        Wanted::Nothing => return None,
        _ if foreign::has_probes(bytes) => return None,
        Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
        Wanted::Frames if loader.is_null() && !base.options.tracing => return None,
        Wanted::Frames => {}
    }
    let counter = if base.methods.is_known(&dotted) {
        "classes_given_their_probes_again"
    } else {
        "classes_loaded_before_the_agent"
    };
    // These bytes are not those of the class file: the JVM has made them from its own structures.
    let version = originals::sha256(bytes);
    let rewritten = instrument(base, name, loader, redefined, bytes, None, version);
    if rewritten.is_some() {
        base.counters.add(counter, 1);
    }
    rewritten
}

/// The hook for a class that is loaded, or retransformed for the probes that it is to have now. The
/// bytes are always without ours.
fn second_chance(
    base: &Base,
    name: &str,
    dotted: &str,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let original = originals::take(name);
    let wanted = wanted(base, dotted, loader);
    if (wanted != Wanted::Frames || loader.is_null()) && !redefined {
        left_out(base, dotted);
    }
    match wanted {
        Wanted::Nothing => return None,
        _ if foreign::has_probes(bytes) => return None,
        Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
        Wanted::Frames if loader.is_null() => return None,
        Wanted::Frames => {}
    }
    let version = originals::sha256(bytes);
    let is_original = || base.methods.is_original(dotted, &version);
    let original = original.or_else(|| is_original().then(|| Original::new(name, bytes)));
    instrument(
        base,
        name,
        loader,
        redefined,
        bytes,
        original.as_ref(),
        version,
    )
}

/// The class that the program calls to ask for a recording.
pub(crate) const API: &str = "dev/hindsight/Hindsight";

/// Gives its methods, which do nothing, a call of the probes.
fn fill(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    if foreign::has_probes(bytes) {
        return None;
    }
    let filled = contract::RECORDS
        .iter()
        .try_fold(bytes.to_vec(), |class, record| {
            let target = (contract::PROBE, record.name, record.descriptor);
            entry_hook(&class, record.name, record.descriptor, target)
        });
    match filled {
        Ok(class) => Some(class),
        Err(error) => {
            base.complain(
                "api_not_filled",
                &format!("Hindsight.record will do nothing, its class is not as expected: {error}"),
            );
            None
        }
    }
}
