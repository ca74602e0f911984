//! Which class loaders find the probes.
//!
//! Instrumented classes name the probes, and the JVM asks the class's own loader for them (JVMS 5.3). Nearly
//! all leave what begins with `java.` to the boot loader; but a sandbox may have a list of what its classes may
//! use, and the first probe would throw a `NoClassDefFoundError` where the program expects none.

use crate::agent::Base;
use crate::jni::{Jni, Obj};
use crate::sys::{self, JValue};
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// The JDK's own loaders: of the class path, of modules, of accessors made for reflection.
const OF_JDK: [&str; 2] = ["Ljdk/internal/", "Lsun/"];

/// What is known of loaders.
#[derive(Default)]
pub(crate) struct Loaders {
    /// Whether they find the probes, by their identity hash. Two loaders with one hash would have to differ in
    /// this for it to be wrong.
    known: Mutex<HashMap<i32, bool>>,
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
