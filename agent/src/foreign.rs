//! Classes that contain probes when they are loaded.
//!
//! Tools keep classes as agents have changed them: a cache of woven classes does so across runs, a
//! debugger's redefinition within one. `hindsight instrument` makes such classes as well. The
//! numbers in their probes are those of the run that made them (`hindsight_instrument::run_of`).
//! Those of the present run are right. Those of another run are silenced before any of that code
//! runs, because in our tables they would mean other methods, and places in objects of other
//! classes.

use crate::agent::Base;
use crate::shim;
use hindsight_classfile::ClassFile;
use hindsight_instrument::contract::stand_ins::UNSEEN;
use hindsight_instrument::{contract, run_of, silenced as without_effect};
use memchr::memmem::Finder;
use std::ffi::CString;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Finds the names of probes.
static PROBE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(shim::BEGIN));

/// Whether the class refers to the probes. This may be wrong for a class that only mentions them,
/// which no class of a program does.
pub(crate) fn has_probes(bytes: &[u8]) -> bool {
    PROBE.find(bytes).is_some()
}

/// The class with its probes silenced, if they are of another run.
pub(crate) fn silenced(base: &Base, name: Option<&str>, bytes: &[u8]) -> Option<Vec<u8>> {
    if !has_probes(bytes) {
        return None;
    }
    let class = ClassFile::parse(bytes).ok()?;
    if run_of(&class).is_none_or(|run| run == base.workspaces.run()) {
        return None;
    }
    let name = name.unwrap_or("without a name").replace('/', ".");
    let silent = silent_classes(base)
        .and_then(|()| without_effect(bytes).map_err(|error| error.to_string()));
    let (told, class) = match silent {
        Ok(class) => ("they are silent".to_owned(), Some(class)),
        Err(error) => (format!("they cannot be made silent: {error}"), None),
    };
    base.methods.add_foreign(&name);
    base.complain(
        "classes_with_probes_of_another_run",
        &format!(
            "class {name} came with the probes of another run in it, which some tool has kept or hindsight instrument \
             has made; {told}, and nothing is recorded of it"
        ),
    );
    class
}

/// Notes a class whose probes are ours, or do not say of which run they are.
pub(crate) fn came_with_probes(base: &Base, name: &str) {
    if base.methods.is_known(name) {
        base.counters.add("classes_that_came_with_probes", 1);
    } else {
        base.complain(
            "classes_with_probes_of_another_run",
            &format!("class {name} came with probes in it that do not say of which run; its frames cannot be told"),
        );
    }
}

/// Defines the classes that silenced probes call, and those to which method references were
/// redirected, which only do what the references meant.
fn silent_classes(base: &Base) -> Result<(), String> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Acquire) {
        return Ok(());
    }
    let names = match base.options.tracing {
        // It has them, and they record what they call.
        true => &[contract::SILENT][..],
        false => &[contract::SILENT, UNSEEN],
    };
    let jni = base.vm.jni().ok_or("its thread is none of the JVM's")?;
    // No lock is held, because defining a class may load others with probes of another run.
    for name in names {
        let defined = jni.with_frame(|jni| {
            shim::define(jni, &[name], |_, bytes| bytes.into()).or_else(|error| {
                let there = CString::new(*name).is_ok_and(|name| jni.find_class(&name).is_some());
                if there { Ok(()) } else { Err(error) }
            })
        });
        defined.ok_or("memory is short")??;
    }
    DONE.store(true, Ordering::Release);
    Ok(())
}
