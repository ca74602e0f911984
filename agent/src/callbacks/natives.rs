//! The native methods of the probes of crashes, which the JVM finds by their names.

use super::contained;
use crate::agent;
use crate::hang;
use crate::jni::{Jni, Obj};
use crate::report::{self, Call, Trigger};
use crate::shim;
use crate::sys::{JniEnv, Ref};
use crate::undo::fields;
use std::ptr;
use std::sync::atomic::Ordering;

/// `HindsightSignal.record`.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightSignal_record(env: JniEnv, _class: Ref) {
    contained(|| {
        if let Some(agent) = agent::agent() {
            // SAFETY: this thread's environment.
            let _ = hang::record(agent, unsafe { Jni::new(env) });
        }
    });
}

/// `HindsightLock.pause`, of the probes of crashes and of traces.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightLock_pause(_: JniEnv, _class: Ref) {
    std::thread::yield_now();
}

/// `HindsightThread.report`, found by its name: the JVM looks for native methods
/// of boot classes in agent libraries too, whereas `RegisterNatives` on a class
/// of `java.base` makes it print a warning.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightThread_report(
    env: JniEnv,
    _class: Ref,
    trigger: i32,
    method: i32,
    exception: Ref,
    way: Ref,
    kept: Ref,
) -> i32 {
    let mut answer = report::Answer::NoFailure;
    contained(|| {
        let Some(agent) = agent::agent() else {
            shim::LINKED.store(true, Ordering::Release);
            return;
        };
        // SAFETY: the arguments of a native method: this thread's environment and local references.
        let (jni, exception, way, kept) = unsafe {
            (
                Jni::new(env),
                Obj::from_raw(exception),
                Obj::from_raw(way),
                Obj::from_raw(kept),
            )
        };
        if let (Some(trigger), Some(exception)) = (Trigger::from_code(trigger), exception) {
            answer = report::report(
                agent,
                jni,
                &Call {
                    trigger,
                    method,
                    exception,
                    way,
                    kept,
                },
            );
        }
    });
    answer as i32
}

/// `HindsightWrites.field`: the `java.lang.reflect.Field` of this id, in an object's class or a
/// superclass. Null if there is none; an error is pending if there is no memory for it.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightWrites_field(
    env: JniEnv,
    _class: Ref,
    object: Ref,
    field: i32,
) -> Ref {
    let mut found = ptr::null_mut();
    contained(|| {
        let Some(base) = agent::base() else { return };
        // SAFETY: the arguments of a native method: this thread's environment and a local reference.
        let (jni, object) = unsafe { (Jni::new(env), Obj::from_raw(object)) };
        let field = u32::try_from(field).ok().and_then(|id| base.fields.get(id));
        if let (Some(object), Some(field)) = (object, field) {
            found = fields::reflected(jni, base.jvmti, object, &field)
                .map_or(ptr::null_mut(), Obj::raw);
        }
        if found.is_null() {
            base.counters.add("fields_not_found", 1);
        }
    });
    found
}

/// `HindsightWrites.fields`: puts the ids of an object's fields into an array. Returns their
/// number, or -1 if it is not available.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightWrites_fields(
    env: JniEnv,
    _class: Ref,
    object: Ref,
    into: Ref,
) -> i32 {
    let mut count = -1;
    contained(|| {
        let Some(base) = agent::base() else { return };
        // SAFETY: the arguments of a native method: this thread's environment and local references.
        let (jni, object, into) =
            unsafe { (Jni::new(env), Obj::from_raw(object), Obj::from_raw(into)) };
        let (Some(object), Some(into)) = (object, into) else {
            return;
        };
        match base.fields.of(jni, base.jvmti, object) {
            Some(ids) => {
                jni.set_ints(into, &ids[..ids.len().min(jni.array_len(into))]);
                count = i32::try_from(ids.len()).unwrap_or(-1);
            }
            None => base.counters.add("fields_not_found", 1),
        }
    });
    count
}

/// `HindsightWork.work`.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightWork_work(env: JniEnv, _class: Ref) -> i64 {
    let mut wait = None;
    contained(|| {
        // SAFETY: this thread's environment.
        let jni = unsafe { Jni::new(env) };
        if let Some(agent) = agent::agent()
            && let Some(chances) = &agent.base.chances
        {
            wait = chances.work(agent, jni);
        }
    });
    wait.map_or(-1, |wait| {
        i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
    })
}
