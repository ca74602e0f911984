//! The native methods of `HindsightTracer` and `HindsightNest`, which the JVM finds by their names.

#![expect(unsafe_code, reason = "entry points from Java")]

use super::arena::Address;
use super::{nest, tracing};
use crate::callbacks::contained;
use crate::jni::{Jni, Obj};
use crate::snapshot::classes::binary_name;
use crate::snapshot::lambda;
use crate::sys::{JniEnv, Ref};
use hindsight_tracelog::trace::block::Header;
use hindsight_tracelog::trace::dictionary::{Code, ObjectClass, Record, Thread};

/// `take`: returns another chunk for a thread; 0 if there is none.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightTracer_take(
    _: JniEnv,
    _class: Ref,
    full: i64,
    stream: i64,
    thread: i64,
    stamp: i64,
    is_virtual: u8,
) -> i64 {
    let mut taken = 0;
    contained(|| {
        let Some(tracing) = tracing().filter(|_| stream != 0) else {
            return;
        };
        // SAFETY: Java gives back what it got from here, or 0.
        let full = unsafe { Address::from_raw(full) };
        let mut header = Header {
            stream: stream as u64,
            thread: thread as u64,
            stamp: stamp as u64,
            flags: u32::from(is_virtual != 0),
            ..Header::default()
        };
        let fresh = (tracing.packer).exchange(&tracing.arena, full, &mut header);
        // While the disk is full, a thread without a chunk asks for one at each of its events.
        if full.is_none() && is_virtual == 0 && fresh.is_some() {
            tracing.dictionary.add(&Record::Thread(Thread {
                id: header.thread,
                name: tracing.jvmti.thread_name().unwrap_or_default(),
            }));
        }
        taken = fresh.map_or(0, Address::raw);
    });
    taken
}

/// `release`: takes the last chunk of a thread.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightTracer_release(
    _: JniEnv,
    _class: Ref,
    chunk: i64,
) {
    contained(|| {
        // SAFETY: Java gives back what it got from `take`.
        if let (Some(tracing), Some(chunk)) = (tracing(), unsafe { Address::from_raw(chunk) }) {
            tracing.packer.submit(chunk);
        }
    });
}

/// `window`: the recording goes on after a pause, if `begins` is true.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightTracer_window(
    _: JniEnv,
    _class: Ref,
    begins: u8,
) {
    contained(|| {
        if let Some(tracing) = tracing().filter(|_| begins != 0) {
            tracing.packer.segments().begin_window();
        }
    });
}

/// `define`: a class of objects has got a number.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightTracer_define(
    _: JniEnv,
    _class: Ref,
    id: i32,
    class: Ref,
) {
    contained(|| {
        // SAFETY: a local reference of this call.
        let (Some(tracing), Some(class)) = (tracing(), unsafe { Obj::from_raw(class) }) else {
            return;
        };
        let signature = tracing.jvmti.class_signature(class).unwrap_or_default();
        let name = binary_name(&signature);
        let code = lambda::implementation(tracing.jvmti, class, &name);
        tracing.dictionary.add(&Record::Class(ObjectClass {
            id: id as u32,
            name,
            code: code.map(|code| Code {
                class: code.class,
                name: code.method,
                descriptor: code.descriptor,
            }),
        }));
    });
}

/// `HindsightNest.running`: returns how many of these calls are on the stack; -1 if that is not
/// known.
///
/// # Safety
///
/// Only the JVM may call this, as the implementation of that method.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_HindsightNest_running(
    env: JniEnv,
    _class: Ref,
    methods: Ref,
    depth: i32,
    entering: u8,
) -> i32 {
    let mut running = -1;
    contained(|| {
        // SAFETY: the environment and a local reference of this call.
        let (jni, methods) = unsafe { (Jni::new(env), Obj::from_raw(methods)) };
        let (Some(tracing), Some(methods)) = (tracing(), methods) else {
            return;
        };
        // The depth is never negative.
        let depth = usize::try_from(depth).unwrap_or(0);
        let known = nest::running(tracing, jni, methods, depth, entering != 0);
        running = known.map_or(-1, |known| known as i32);
    });
    running
}
