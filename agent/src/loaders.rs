//! Which class loaders find the probes, and which have been collected.
//!
//! Instrumented classes name the probes, and the JVM asks the class's own loader for them (JVMS 5.3). Nearly
//! all leave what begins with `java.` to the boot loader; but a sandbox may have a list of what its classes may
//! use, and the first probe would throw a `NoClassDefFoundError` where the program expects none.

use crate::agent::Base;
use crate::jni::{Jni, Obj, WeakObj};
use crate::sys::{self, JValue};
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The JDK's own loaders: of the class path, of modules, of accessors made for reflection.
const OF_JDK: [&str; 2] = ["Ljdk/internal/", "Lsun/"];

/// What is known of loaders.
#[derive(Default)]
pub(crate) struct Loaders {
    /// Whether they find the probes, by their identity hash. Two loaders with one hash would have to differ in
    /// this for it to be wrong.
    known: Mutex<HashMap<i32, bool>>,
    /// Those that have classes with probes.
    living: Mutex<Living>,
}

#[derive(Debug, Default)]
struct Living {
    /// By their identity hash.
    by_hash: HashMap<i32, Vec<(WeakObj, Arc<Loader>)>>,
    count: usize,
    /// How many there were when those that had been collected were last looked for.
    swept: usize,
}

/// From so many loaders on it is asked which of them are still there.
const MANY: usize = 256;

/// A class loader. Its classes live as long as it does.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    is_gone: AtomicBool,
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
    /// Whether a loader finds the probes. It is asked once, as the JVM would; if it does not, the class that it
    /// is asked for is counted.
    pub(crate) fn find_probes(&self, base: &Base, loader: sys::Ref) -> bool {
        let Some(hash) = base.jvmti.hash_code(loader) else {
            return true;
        };
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = lock();
        let finds = match known.get(&hash) {
            Some(&finds) => finds,
            None => {
                // It may load classes of its own to answer.
                known.insert(hash, true);
                drop(known);
                let asked = (base.vm.jni()).and_then(|jni| {
                    jni.with_frame(|jni| {
                        let class = jni.class_of_loader(loader)?;
                        asks(base, jni, class, loader)
                    })?
                });
                let finds = asked.unwrap_or(true);
                lock().insert(hash, finds);
                finds
            }
        };
        if !finds {
            let counter = "classes_left_alone:its loader does not find the probes";
            base.counters.add(counter, 1);
        }
        finds
    }

    /// The loader that this refers to; nothing where its end could not be seen, or never comes: of the boot
    /// loader.
    pub(crate) fn of(&self, base: &Base, loader: sys::Ref) -> Option<Arc<Loader>> {
        let hash = base.jvmti.hash_code(loader)?;
        let jni = base.vm.jni()?;
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = living.by_hash.entry(hash).or_default();
        if let Some((_, known)) = (alike.iter()).find(|(weak, _)| jni.is_weakly(weak, loader)) {
            return Some(Arc::clone(known));
        }
        let made = Arc::new(Loader::default());
        alike.push((jni.weak(loader)?, Arc::clone(&made)));
        living.count += 1;
        let many = living.count >= MANY.max(2 * living.swept);
        drop(living);
        if many {
            self.sweep(base);
        }
        Some(made)
    }

    /// Finds out which have been collected.
    pub(crate) fn sweep(&self, base: &Base) {
        let Some(jni) = base.vm.jni() else { return };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        let living = &mut *living;
        living.by_hash.retain(|hash, alike| {
            for (weak, loader) in alike.extract_if(.., |(weak, _)| jni.is_gone(weak)) {
                loader.is_gone.store(true, Ordering::Release);
                jni.forget(weak);
                living.count -= 1;
            }
            if alike.is_empty() {
                known.remove(hash);
            }
            !alike.is_empty()
        });
        living.swept = living.count;
    }
}

/// Asks a loader, of this class, for the probes; nothing if there is no need to.
fn asks(base: &Base, jni: Jni, class: Obj, loader: sys::Ref) -> Option<bool> {
    let signature = base.jvmti.class_signature(class)?;
    if OF_JDK.iter().any(|prefix| signature.starts_with(prefix)) {
        return None;
    }
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
    Some(jni.call_static_object(meta, for_name, &arguments).is_some())
}
