//! Classes of the program that are loaded before the agent starts.
//!
//! An ordinary JVM has none, unless the agent is attached while it runs. An AOT cache (JDK 24 and
//! up) has the classes of a training run loaded before the first line of Java, without notifying
//! agents; a Java agent before ours may load some in its `premain`; and
//! `-Djava.system.class.loader` names one. They get their probes by retransformation, all in one
//! stop of the JVM. So do the JDK's collections that are loaded, if writes are logged.

use crate::agent::Base;
use crate::hook::{self, Wanted};
use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use crate::run;
use crate::snapshot::classes::binary_name;
use crate::sys;
use hindsight_instrument::contract;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of classes retransformed at once, which bounds what one stop of the JVM has to hold.
const BATCH: usize = 1000;
/// The number in a JVM at work, which stands still for each batch.
const BATCH_ATTACHED: usize = 100;

/// Counts retransformations that have begun and that have ended.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// How often classes have been retransformed; `None` while that is going on, since it cannot be
/// known then whether frames run the new version of a rewritten class.
pub(crate) fn changes() -> Option<u64> {
    let ended = ENDED.load(Ordering::Acquire);
    (BEGUN.load(Ordering::Acquire) == ended).then_some(ended)
}

/// Whether the JVM is writing an archive of its classes.
///
/// JDK 25's archiver crashes on a class that an agent has defined or
/// retransformed, and an archive with probes in it would be of no use.
pub(crate) fn is_archive_written(jni: Jni) -> bool {
    let ask = || {
        let class = jni.find_class(c"jdk/internal/misc/CDS")?;
        let method = jni.static_method(class, c"isDumpingArchive", c"()Z")?;
        jni.call_static_boolean(class, method, &[])
    };
    ask().unwrap_or(false)
}

/// Notes for the plan which classes are loaded already. Their class files are not known, because
/// the JVM makes their bytes anew from its own structures.
pub(crate) fn tell_plan(base: &Base, jni: Jni) {
    if !base.known.is_given() {
        return;
    }
    for class in base.jvmti.loaded_classes() {
        if let Some(name) = internal_name(base.jvmti, class) {
            base.known.was_there(&name, &base.counters);
        }
        jni.delete_local(class);
    }
}

/// The name with slashes of a class that is not an array.
fn internal_name(jvmti: Jvmti, class: Obj) -> Option<String> {
    let signature = jvmti.class_signature(class)?;
    let name = signature.strip_prefix('L')?.strip_suffix(';')?;
    Some(name.to_owned())
}

/// The outcome for the classes that were loaded before the agent.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// The number of classes given to the JVM to be retransformed.
    pub(crate) classes: usize,
    /// The names of those that the JVM has refused, each with the reason.
    pub(crate) refused: Vec<(String, String)>,
    /// The longest of the JVM's calls. It stands still for a part of it.
    pub(crate) longest: Duration,
}

/// Retransforms what the options ask for, by an environment whose hook is [`hook::again`], until
/// the recording is ended.
pub(crate) fn instrument(base: &Base, retransformer: Jvmti, jni: Jni) -> Changed {
    let attached = base.is_attached();
    let at_once = if attached { BATCH_ATTACHED } else { BATCH };
    let mut changed = Changed::default();
    let mut batch: Vec<Obj> = Vec::new();
    for class in retransformer.loaded_classes() {
        // An attached agent may be told to end meanwhile.
        if run::is_over() {
            return changed;
        }
        if is_ours(base, retransformer, jni, class, attached) {
            batch.push(class);
        } else {
            jni.delete_local(class);
        }
        if batch.len() == at_once {
            changed.retransform(base, retransformer, &batch);
            batch.drain(..).for_each(|class| jni.delete_local(class));
        }
    }
    if !batch.is_empty() {
        changed.retransform(base, retransformer, &batch);
    }
    changed
}

/// Fills the bodies of methods that others call: those by which the program asks for a record, and
/// those by which the JDK reports what native code has called.
pub(crate) fn fill_ours(base: &Base, retransformer: Jvmti, jni: Jni) -> Changed {
    let are_ours = |name: &str, _| {
        [hook::API, contract::UPCALLS]
            .iter()
            .any(|ours| name.split('.').eq(ours.split('/')))
    };
    retransform(base, retransformer, jni, BATCH, &are_ours, &|_| true)
}

/// Retransforms the loaded classes that are chosen by name and loader. `between` is given the
/// duration of each batch and returns whether to go on.
pub(crate) fn retransform(
    base: &Base,
    retransformer: Jvmti,
    jni: Jni,
    at_once: usize,
    chosen: &dyn Fn(&str, sys::Ref) -> bool,
    between: &dyn Fn(Duration) -> bool,
) -> Changed {
    let mut classes: Vec<Obj> = Vec::new();
    for class in retransformer.loaded_classes() {
        let is_chosen = || {
            let name = internal_name(retransformer, class)?;
            let loader = retransformer.loader(class);
            let raw = loader.map_or(ptr::null_mut(), |loader| loader.raw());
            let chosen = chosen(&name.replace('/', "."), raw) && retransformer.is_modifiable(class);
            if let Some(loader) = loader {
                jni.delete_local(loader);
            }
            chosen.then_some(())
        };
        match is_chosen() {
            Some(()) => classes.push(class),
            None => jni.delete_local(class),
        }
    }
    let mut changed = Changed::default();
    let mut took = None;
    for batch in classes.chunks(at_once) {
        if took.is_some_and(|took| !between(took)) {
            break;
        }
        let started = Instant::now();
        changed.retransform(base, retransformer, batch);
        // Most of this is CPU time of the JVM's own thread.
        base.budget.spend(started.elapsed());
        took = Some(started.elapsed());
    }
    changed
}

fn is_ours(base: &Base, jvmti: Jvmti, jni: Jni, class: Obj, attached: bool) -> bool {
    let Some(name) = internal_name(jvmti, class) else {
        return false;
    };
    let loader = jvmti.loader(class);
    let raw = loader.map_or(ptr::null_mut(), |loader| loader.raw());
    if matches!(name.as_str(), hook::API | contract::UPCALLS) {
        return jvmti.is_modifiable(class);
    }
    let name = name.replace('/', ".");
    let wanted = hook::wanted(base, &name, raw);
    let is_marked = wanted == Wanted::Nothing && hook::is_marked(base, &name, raw);
    if let Some(loader) = loader {
        jni.delete_local(loader);
    }
    // Those of the boot loader are left alone below.
    if wanted != Wanted::Frames || loader.is_none() {
        hook::left_out(base, &name);
    }
    match wanted {
        // It is left as it is, but its annotations are read.
        Wanted::Nothing if is_marked => {}
        Wanted::Nothing => return false,
        // Classes of the boot loader were loaded while the JVM was being set up, and the probes may
        // need them. The probes of traces need none that may be instrumented.
        Wanted::Frames if loader.is_none() && !base.options.tracing => {
            base.counters
                .add("classes_left_alone:loaded before the agent", 1);
            return false;
        }
        // The probes do not need these; but at the JVM's start there is nothing to catch yet.
        Wanted::Aside(aside) if loader.is_none() && !attached && !aside.writes => return false,
        Wanted::Frames | Wanted::Aside(_) => {}
    }
    jvmti.is_modifiable(class)
}

/// The meaning of an error of `RetransformClasses`.
fn why(error: c_int) -> String {
    let told = match error {
        60 => "its class file is malformed",
        61 => "it is its own superclass",
        62 => "it fails verification",
        63 | 67 => "its methods would be others",
        64 => "its fields would be others",
        66 => "its superclass or interfaces would be others",
        68 => "its class file is of a newer version",
        69 => "its name would be another",
        70 | 71 => "its modifiers would be others",
        79 => "it may not be changed",
        110 => "there is no memory",
        _ => return format!("JVM TI error {error}"),
    };
    format!("{told}, JVM TI error {error}")
}

impl Changed {
    fn retransform(&mut self, base: &Base, jvmti: Jvmti, classes: &[Obj]) {
        self.classes += classes.len();
        BEGUN.fetch_add(1, Ordering::AcqRel);
        self.retransform_all(base, jvmti, classes);
        ENDED.fetch_add(1, Ordering::AcqRel);
    }

    fn retransform_all(&mut self, base: &Base, jvmti: Jvmti, classes: &[Obj]) {
        let started = Instant::now();
        let done = jvmti.retransform(classes);
        self.longest = self.longest.max(started.elapsed());
        if done.is_ok() {
            return;
        }
        // One of them is the cause, and the JVM has changed none.
        for class in classes {
            match jvmti.retransform(&[*class]) {
                Ok(()) => {}
                Err(error) => {
                    let why = why(error);
                    let name = jvmti.class_signature(*class).unwrap_or_default();
                    let counter = format!("classes_left_alone:retransformation refused ({why})");
                    base.counters.add(&counter, 1);
                    let name = binary_name(&name);
                    base.methods.refused(&name, &why);
                    self.refused.push((name, why));
                }
            }
        }
    }
}
