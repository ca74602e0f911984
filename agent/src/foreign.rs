//! Classes that come with probes in them.
//!
//! Tools keep classes as agents have made them: a cache of woven ones, across runs; a debugger's redefinition, within
//! one. `hindsight instrument` makes such classes, too. The numbers in their probes are those of the run that made
//! them (`hindsight_instrument::run_of`): of ours they are right, and of another one they are made silent before
//! any of that code runs, for to our tables they would be other methods, and places in objects of other classes.

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

/// Whether the class refers to the probes. May be wrong about a class that only mentions them, which
/// no class of a program does.
pub(crate) fn has_probes(bytes: &[u8]) -> bool {
    PROBE.find(bytes).is_some()
}

/// The class with its probes made silent, if they are of another run.
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

/// Tells of a class whose probes are ours, or do not say whose they are.
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

/// Makes the classes be there that silent probes call, and those that method references were turned to, which do
/// nothing else than what these meant.
fn silent_classes(base: &Base) -> Result<(), String> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Acquire) {
        return Ok(());
    }
    let names = match base.options.tracing {
        // It has them, and they tell of what they call.
        true => &[contract::SILENT][..],
        false => &[contract::SILENT, UNSEEN],
    };
    let jni = base.vm.jni().ok_or("its thread is none of the JVM's")?;
    // No lock is held: to define a class may load others, with probes of another run in them.
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
