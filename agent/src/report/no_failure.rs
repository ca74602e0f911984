//! Exceptions that are no failures, or none yet.

use crate::agent::Agent;
use crate::exceptions;
use crate::jni::{Jni, Obj};
use crate::run;
use crate::sys;
use hindsight_instrument::contract;
use hindsight_instrument::glob::Globs;
use std::sync::LazyLock;

/// The exception of `Thread.stop`, which the JDK's handler of uncaught exceptions ignores while
/// that method exists.
static STOPPED: LazyLock<Globs> = LazyLock::new(|| Globs::new(["java.lang.ThreadDeath"]));
/// The exceptions by which Scala, Kotlin's coroutines and flows, Truffle's languages and JRuby
/// leave what they run. They are not failures, unless a thread dies of one.
static JUMPS: LazyLock<Globs> = LazyLock::new(|| {
    Globs::new([
        "scala.util.control.ControlThrowable",
        // Up to Scala 2.12, that is an interface of these.
        "scala.util.control.BreakControl",
        "scala.runtime.NonLocalReturnControl",
        "scala.util.boundary$Break",
        "kotlinx.coroutines.JobCancellationException",
        "kotlinx.coroutines.flow.internal.AbortFlowException",
        "kotlinx.coroutines.flow.internal.ChildCancelledException",
        "com.oracle.truffle.api.nodes.ControlFlowException",
        "org.jruby.ir.runtime.IRJump",
    ])
});
/// The most frames that handlers of uncaught exceptions may have on the stack of a dying thread.
const MAX_HANDLING: usize = 256;

/// Whether this is how `Thread.stop` ends a thread. From JDK 20 on only the program itself throws
/// it.
pub(super) fn is_stop(agent: &Agent, jni: Jni, exception: Obj) -> bool {
    const LAST: u32 = 19;
    run::feature(&agent.java_version).is_some_and(|feature| feature <= LAST)
        && exceptions::is_of(agent, jni, exception, &STOPPED)
}

/// Whether code only leaves what it runs by this exception.
pub(super) fn is_jump(agent: &Agent, jni: Jni, exception: Obj) -> bool {
    exceptions::is_of(agent, jni, exception, &JUMPS)
}

/// The exception that HotSpot throws when a thread's stack overflows.
const STACK_OVERFLOW: &str = "java.lang.StackOverflowError";
/// The bytes of stack that recording needs: HotSpot calls no Java method from native code if less
/// than its guard pages and some 80 kB are left.
const ROOM: usize = 256 << 10;

/// Whether an exception of a stack overflow would be recorded without its trace, because that is
/// read by Java methods. Methods further out have more room.
pub(super) fn is_without_room(agent: &Agent, jni: Jni, exception: Obj) -> bool {
    // The end of the stack of a program's first thread is read from a file, which is not done for
    // each exception.
    exceptions::class_name(agent, jni, exception) == STACK_OVERFLOW
        && sys::stack_left().is_some_and(|(left, whole)| left < ROOM.min(whole / 2))
}

/// Whether the current thread dies of an exception, which it has reported already.
pub(super) fn is_dying(agent: &Agent, jni: Jni) -> bool {
    let jvmti = agent.jvmti;
    let dispatches = |frame: &sys::FrameInfo| {
        jvmti.method(frame.method).is_some_and(|(name, of, class)| {
            let dispatch = contract::DISPATCH_UNCAUGHT;
            // Programs have methods of that name, too.
            let is_theirs = name == dispatch.name
                && of == dispatch.descriptor
                && jvmti.class_signature(class).as_deref() == Some("Ljava/lang/Thread;");
            jni.delete_local(class);
            is_theirs
        })
    };
    let stack = (jvmti.current_thread()).and_then(|thread| jvmti.stack(thread, MAX_HANDLING));
    stack.is_some_and(|(_, frames)| frames.iter().any(dispatches))
}
