//! Which class loaders find the probes, and which have been collected.
//!
//! Instrumented classes name the probes, for which the JVM asks the class's own loader (JVMS 5.3).
//! Nearly all leave names that begin with `java.` to the boot loader. But a sandbox may have a list
//! of what its classes may use, and the first probe would throw a `NoClassDefFoundError` that the
//! program does not expect.

use crate::agent::Base;
use crate::agents;
use crate::jdk;
use crate::jni::{Jni, Obj, WeakObj};
use crate::snapshot::classes::binary_name;
use crate::sys::{self, JValue};
use crate::undo::accessors::Accessors;
use std::collections::HashMap;
use std::ffi::CStr;
use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of loaders from which on it is checked which of them have been collected.
const MANY: usize = 256;

/// The loaders that have been asked about classes, and have not been collected.
///
/// No lock is held during a call of the JVM, in which a debugger may suspend a thread.
#[derive(Default)]
pub(crate) struct Loaders(Mutex<Living>);

#[derive(Default)]
struct Living {
    /// The loaders, by their identity hash.
    by_hash: HashMap<i32, Vec<Known>>,
    count: usize,
    /// The number of loaders when collected ones were last removed.
    swept: usize,
}

type Known = (Arc<WeakObj>, Arc<Loader>);

// Whether a loader finds the probes.
const UNKNOWN: u8 = 0;
const ASKING: u8 = 1;
const FOUND: u8 = 2;
const NOT_FOUND: u8 = 3;

/// A class loader. Its classes live as long as it does.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    is_gone: AtomicBool,
    /// Whether it finds the probes.
    probes: AtomicU8,
    /// How often it was asked and did not answer.
    asked: AtomicU8,
    /// Whether it is another agent's loader.
    is_of_agent: OnceLock<bool>,
    /// The accessors of its classes.
    pub(crate) accessors: Accessors,
}

impl Loader {
    /// Whether it was found to have been collected.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    #[cfg(test)]
    pub(crate) fn end(&self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

impl Loaders {
    /// The entry of the loader that this refers to; `None` if its end could not be observed or
    /// never comes, as with the boot loader.
    pub(crate) fn of(&self, base: &Base, loader: sys::Ref) -> Option<Arc<Loader>> {
        let hash = base.jvmti.hash_code(loader)?;
        let jni = base.vm.jni()?;
        let alike = self.lock().by_hash.get(&hash).cloned().unwrap_or_default();
        if let Some((_, known)) = alike.iter().find(|(weak, _)| jni.is_weakly(weak, loader)) {
            return Some(Arc::clone(known));
        }
        // If another thread makes an entry for the same loader meanwhile, it has two, which end
        // alike.
        let made = (Arc::new(jni.weak(loader)?), Arc::<Loader>::default());
        let mut living = self.lock();
        living.by_hash.entry(hash).or_default().push(made.clone());
        living.count += 1;
        let many = living.count >= MANY.max(2 * living.swept);
        drop(living);
        if many {
            self.sweep(base);
        }
        Some(made.1)
    }

    /// Whether a loader is another agent's, by the name of its class.
    pub(crate) fn is_of_agent(&self, base: &Base, loader: sys::Ref) -> bool {
        let Some(known) = self.of(base, loader) else {
            return false;
        };
        if let Some(known) = known.is_of_agent.get() {
            return *known;
        }
        // This is not done while the cell is being set: no thread should wait here for a call of
        // the JVM.
        let signature = base.vm.jni().and_then(|jni| signature(base, jni, loader));
        let is = signature.is_some_and(|signature| agents::are_of(&binary_name(&signature)));
        *known.is_of_agent.get_or_init(|| is)
    }

    /// Removes the loaders that have been collected.
    pub(crate) fn sweep(&self, base: &Base) {
        let Some(jni) = base.vm.jni() else { return };
        let all: Vec<Known> = self.lock().by_hash.values().flatten().cloned().collect();
        for (weak, loader) in &all {
            if jni.is_gone(weak) {
                loader.is_gone.store(true, Ordering::Release);
            }
        }
        drop(all);
        let mut gone = Vec::new();
        let mut living = self.lock();
        living.by_hash.retain(|_, alike| {
            gone.extend(alike.extract_if(.., |(_, loader)| loader.is_gone()));
            !alike.is_empty()
        });
        living.count -= gone.len();
        living.swept = living.count;
        drop(living);
        for (weak, _) in gone {
            // If it is just being compared, its JVM reference is not freed.
            if let Ok(weak) = Arc::try_unwrap(weak) {
                jni.forget(weak);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Living> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often a loader is asked at most that does not answer.
const MOST_ASKED: u8 = 8;

/// The exceptions by which a loader says that it does not have a class, or does not give it. Any
/// other (there may be no stack or memory left, or the thread is interrupted) says nothing about
/// the next time.
const ANSWERS: [&str; 3] = [
    "Ljava/lang/ClassNotFoundException;",
    "Ljava/lang/NoClassDefFoundError;",
    "Ljava/lang/SecurityException;",
];

/// Whether a loader finds the probes, which an unknown one does. It is asked until it has answered,
/// as the JVM would; if it does not find them, the class for which it is asked is counted.
///
/// Until it has answered, its classes are left alone: those that it loads to answer, and those of
/// other threads. A thread that waited for the answer could hold what the loader needs for it.
pub(crate) fn find_probes(base: &Base, known: Option<&Loader>, loader: sys::Ref) -> bool {
    let Some(known) = known else { return true };
    let change =
        |from, to| (known.probes).compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    if known.probes.load(Ordering::Acquire) == UNKNOWN
        && let Some(jni) = base.vm.jni()
    {
        if !is_to_be_asked(base, jni, loader) {
            let _ = change(UNKNOWN, FOUND);
        } else if change(UNKNOWN, ASKING).is_ok() {
            let answer = jni.with_frame(|jni| asks(base, jni, loader));
            let mut answer = answer.unwrap_or(UNKNOWN);
            // Asking runs the program's code, for each class that it loads.
            if answer == UNKNOWN && known.asked.fetch_add(1, Ordering::Relaxed) >= MOST_ASKED {
                answer = NOT_FOUND;
            }
            known.probes.store(answer, Ordering::Release);
        }
    }
    let counter = match known.probes.load(Ordering::Acquire) {
        NOT_FOUND => "classes_left_alone:its loader does not find the probes",
        UNKNOWN => "classes_left_alone:its loader could not be asked for the probes",
        ASKING => "classes_left_alone:its loader was being asked for the probes",
        _ => return true,
    };
    base.counters.add(counter, 1);
    false
}

/// Whether it is uncertain that a loader finds the probes.
fn is_to_be_asked(base: &Base, jni: Jni, loader: sys::Ref) -> bool {
    signature(base, jni, loader).is_some_and(|signature| !jdk::is_loader(&signature))
}

/// The signature of a loader's class.
fn signature(base: &Base, jni: Jni, loader: sys::Ref) -> Option<String> {
    let class = jni.class_of_loader(loader)?;
    let signature = base.jvmti.class_signature(class);
    jni.delete_local(class);
    signature
}

/// Asks a loader for the probes.
fn asks(base: &Base, jni: Jni, loader: sys::Ref) -> u8 {
    match ask(base, jni, loader) {
        Some(Ok(Some(_))) => FOUND,
        Some(Err(thrown)) if is_answer(base, jni, thrown) => NOT_FOUND,
        _ => UNKNOWN,
    }
}

/// Asks a loader. `Err` is the exception that it has thrown; `None` if it could not be asked.
fn ask(base: &Base, jni: Jni, loader: sys::Ref) -> Option<Result<Option<Obj>, Obj>> {
    let class = jni.class_of_loader(loader)?;
    // This gets `java.lang.Class` without asking the loader of the running code for it.
    let meta = jni.class_of(class);
    let for_name = jni.static_method(
        meta,
        c"forName",
        c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;",
    )?;
    let name: &CStr = match base.options.tracing {
        true => c"java.lang.HindsightTrace",
        false => c"java.lang.HindsightProbe",
    };
    let arguments = [
        JValue {
            object: jni.new_string(name)?.raw(),
        },
        JValue { int: 0 },
        JValue { object: loader },
    ];
    Some(jni.try_static_object(meta, for_name, &arguments))
}

/// Whether one of [`ANSWERS`] was thrown, or a subclass of it.
fn is_answer(base: &Base, jni: Jni, thrown: Obj) -> bool {
    let classes = iter::successors(Some(jni.class_of(thrown)), |class| jni.superclass(*class));
    let mut signatures = classes.filter_map(|class| base.jvmti.class_signature(class));
    signatures.any(|signature| ANSWERS.contains(&signature.as_str()))
}
