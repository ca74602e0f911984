//! Exceptions that native code prints because no Java code is left to catch them.
//!
//! The `java` command initialises the main class from native code. If that fails, it has JNI's
//! `ExceptionDescribe` print the exception, and goes on without one: the thread does not die of it,
//! and `Thread.dispatchUncaughtException` is never called. Launchers written in C do the same with
//! what `main` throws.

use super::contained;
use crate::agent;
use crate::jni::Jni;
use crate::jvmti::Jvmti;
use crate::sys::{ExceptionDescribe, JniEnv};
use std::sync::OnceLock;

/// What JNI called before.
static DESCRIBE: OnceLock<ExceptionDescribe> = OnceLock::new();

/// Has exceptions that native code prints reported as uncaught; `false` if the JVM refuses.
pub(crate) fn hook_describe(jvmti: Jvmti) -> bool {
    jvmti.replace_describe(describe, &DESCRIBE)
}

/// JNI's `ExceptionDescribe`.
///
/// # Safety
///
/// As the JNI specification demands of its callers.
unsafe extern "system" fn describe(env: JniEnv) {
    // SAFETY: this thread's environment.
    let jni = unsafe { Jni::new(env) };
    if let Some(exception) = jni.thrown() {
        contained(|| {
            if let Some(agent) = agent::agent()
                && has_no_java_frames(agent.base.jvmti, jni)
            {
                agent.shim.unhandled(jni, exception);
            }
        });
        jni.throw(exception);
        jni.delete_local(exception);
    }
    if let Some(describe) = DESCRIBE.get() {
        // SAFETY: the function that this one stands for, with its caller's argument.
        unsafe { describe(env) };
    }
}

/// Whether the current thread runs native code only, so that nothing can catch what it throws.
fn has_no_java_frames(jvmti: Jvmti, jni: Jni) -> bool {
    let Some(thread) = jvmti.current_thread() else {
        return false;
    };
    let stack = jvmti.stack(thread, 1);
    // The caller may stay in its native code for ever, and print many exceptions.
    jni.delete_local(thread);
    stack.is_some_and(|(_, frames)| frames.is_empty())
}
