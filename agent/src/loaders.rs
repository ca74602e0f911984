//! Which class loaders find the probes, and which have been collected.
//!
//! Instrumented classes name the probes, and the JVM asks the class's own loader for them (JVMS 5.3). Nearly
//! all leave what begins with `java.` to the boot loader; but a sandbox may have a list of what its classes may
//! use, and the first probe would throw a `NoClassDefFoundError` where the program expects none.

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

/// From so many loaders on it is asked which of them are still there.
const MANY: usize = 256;

/// Those that have been asked about classes, and not been collected.
///
/// No lock is held while the JVM is called: there a debugger may stop a thread.
#[derive(Default)]
pub(crate) struct Loaders(Mutex<Living>);

#[derive(Default)]
struct Living {
    /// By their identity hash.
    by_hash: HashMap<i32, Vec<Known>>,
    count: usize,
    /// How many there were when those that had been collected were last looked for.
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
    /// How often it was asked without an answer.
    asked: AtomicU8,
    /// Whether it is another agent's.
    is_of_agent: OnceLock<bool>,
    /// Of its classes.
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
    /// What is known of the loader that this refers to; nothing where its end could not be seen, or never comes:
    /// of the boot loader.
    pub(crate) fn of(&self, base: &Base, loader: sys::Ref) -> Option<Arc<Loader>> {
        let hash = base.jvmti.hash_code(loader)?;
        let jni = base.vm.jni()?;
        let alike = self.lock().by_hash.get(&hash).cloned().unwrap_or_default();
        if let Some((_, known)) = alike.iter().find(|(weak, _)| jni.is_weakly(weak, loader)) {
            return Some(Arc::clone(known));
        }
        // If another thread makes one for the same loader meanwhile, there are two of it, which end alike.
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
        // Not while this is being set: nobody is to wait here for what calls the JVM.
        let signature = base.vm.jni().and_then(|jni| signature(base, jni, loader));
        let is = signature.is_some_and(|signature| agents::are_of(&binary_name(&signature)));
        *known.is_of_agent.get_or_init(|| is)
    }

    /// Finds out which have been collected.
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
            // Where it is being compared in this very moment, the JVM's word for it is not had back.
            if let Ok(weak) = Arc::try_unwrap(weak) {
                jni.forget(weak);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Living> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often a loader is asked at most that gives no answer.
const MOST_ASKED: u8 = 8;

/// What a loader throws to say that it does not have a class, or does not give it away. Whatever else it throws
/// (there may be no stack or memory left, or somebody interrupts it) says nothing of the next time.
const ANSWERS: [&str; 3] = [
    "Ljava/lang/ClassNotFoundException;",
    "Ljava/lang/NoClassDefFoundError;",
    "Ljava/lang/SecurityException;",
];

/// Whether a loader finds the probes, which those that nothing is known of do. It is asked until it has answered,
/// as the JVM would; if it does not find them, the class that it is asked for is counted.
///
/// Until it has answered, its classes are left alone: those that it loads to answer, and those of other
/// threads. Whoever waited for the answer could hold what the loader needs for it.
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
            // To ask runs the program's code, for each class that it loads.
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

/// Whether it is not for certain that a loader finds the probes.
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

/// `Err` is what the loader has thrown; nothing if it could not be asked.
fn ask(base: &Base, jni: Jni, loader: sys::Ref) -> Option<Result<Option<Obj>, Obj>> {
    let class = jni.class_of_loader(loader)?;
    // `java.lang.Class`, without asking the loader of whoever is running for it.
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
