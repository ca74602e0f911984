//! Classes of the program that are loaded when the agent starts.
//!
//! There are none in an ordinary JVM. An AOT cache (JDK 24 and up) has the
//! classes of a training run loaded before the first line of Java, without a
//! word to agents; a Java agent in front of ours may load some in its
//! `premain`; and `-Djava.system.class.loader` names one. They get their
//! probes by retransformation, all in one stop of the JVM.

use crate::agent::Base;
use crate::hook;
use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use std::ptr;

/// Classes retransformed at once: bounds what one stop of the JVM has to hold.
const BATCH: usize = 1000;

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

/// Retransforms, by an environment whose hook is [`hook::again`], what the
/// options ask for.
pub(crate) fn instrument(base: &Base, retransformer: Jvmti, jni: Jni) {
    let mut batch: Vec<Obj> = Vec::new();
    for class in retransformer.loaded_classes() {
        if is_ours(base, retransformer, jni, class) {
            batch.push(class);
        } else {
            jni.delete_local(class);
        }
        if batch.len() == BATCH {
            retransform(base, retransformer, &batch);
            batch.drain(..).for_each(|class| jni.delete_local(class));
        }
    }
    if !batch.is_empty() {
        retransform(base, retransformer, &batch);
    }
}

fn is_ours(base: &Base, jvmti: Jvmti, jni: Jni, class: Obj) -> bool {
    let Some(signature) = jvmti.class_signature(class) else {
        return false;
    };
    let Some(name) = signature
        .strip_prefix('L')
        .and_then(|rest| rest.strip_suffix(';'))
    else {
        return false;
    };
    let loader = jvmti.loader(class);
    let raw = loader.map_or(ptr::null_mut(), |loader| loader.raw());
    let wanted = hook::wants_frames(base, &name.replace('/', "."), raw);
    if let Some(loader) = loader {
        jni.delete_local(loader);
    }
    if !wanted {
        return false;
    }
    // The boot loader's were loaded while the JVM was being set up: the probes may need them. Those of
    // traces need none that may be instrumented.
    if loader.is_none() && !base.options.tracing {
        base.counters
            .add("classes_left_alone:loaded before the agent", 1);
        return false;
    }
    jvmti.is_modifiable(class)
}

fn retransform(base: &Base, jvmti: Jvmti, classes: &[Obj]) {
    if jvmti.retransform(classes).is_ok() {
        return;
    }
    // One of them is at fault, and the JVM has changed none.
    for class in classes {
        match jvmti.retransform(&[*class]) {
            Ok(()) => {}
            Err(error) => base.counters.add(
                &format!("classes_left_alone:retransformation refused (JVM TI error {error})"),
                1,
            ),
        }
    }
}
