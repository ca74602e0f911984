//! Threads: their names, stacks and monitors.

use super::Jvmti;
use crate::jni::{Jni, Obj};
use crate::sys::{self, JniEnv, JvmtiEnv};
use std::ffi::{c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

/// A suspended thread, which is resumed when this is dropped.
pub(crate) struct Suspended(Jvmti, Obj);

impl Drop for Suspended {
    fn drop(&mut self) {
        // SAFETY: valid thread, suspended by us.
        unsafe { self.0.0.ResumeThread(self.1.raw()) };
    }
}

impl Jvmti {
    /// The name and thread group of the current thread.
    fn thread_info(self) -> Option<(Option<String>, Option<Obj>)> {
        let (name, group, _) = self.info_of(ptr::null_mut())?;
        Some((name, group))
    }

    /// The name of a thread, and whether it is a daemon.
    pub(crate) fn thread(self, thread: Obj) -> Option<(String, bool)> {
        let (name, _, daemon) = self.info_of(thread.raw())?;
        Some((name.unwrap_or_default(), daemon))
    }

    fn info_of(self, thread: sys::Ref) -> Option<(Option<String>, Option<Obj>, bool)> {
        let mut info = sys::ThreadInfo {
            name: ptr::null_mut(),
            priority: 0,
            is_daemon: 0,
            group: ptr::null_mut(),
            loader: ptr::null_mut(),
        };
        // SAFETY: a thread, or null for the current one; a place for a whole jvmtiThreadInfo.
        let error = unsafe { self.0.GetThreadInfo(thread, &mut info) };
        if error != sys::OK {
            return None;
        }
        // SAFETY: a local reference that JVM TI has just made, or null.
        let group = unsafe { Obj::from_raw(info.group) };
        Some((self.take_string(info.name), group, info.is_daemon != 0))
    }

    /// The current thread.
    pub(crate) fn current_thread(self) -> Option<Obj> {
        let mut thread = ptr::null_mut();
        // SAFETY: place for a reference; the result is a local reference.
        unsafe {
            if self.0.GetCurrentThread(&mut thread) != sys::OK {
                return None;
            }
            Obj::from_raw(thread)
        }
    }

    pub(crate) fn thread_name(self) -> Option<String> {
        self.thread_info()?.0
    }

    pub(crate) fn thread_group(self) -> Option<Obj> {
        self.thread_info()?.1
    }

    /// All platform threads that are alive.
    pub(crate) fn all_threads(self) -> Vec<Obj> {
        let (mut count, mut threads) = (0, ptr::null_mut());
        // SAFETY: places for results.
        if unsafe { self.0.GetAllThreads(&mut count, &mut threads) } != sys::OK {
            return Vec::new();
        }
        self.take_references(threads, count)
    }

    /// The owner of an object's monitor, and the threads that wait to enter it or to be notified.
    pub(crate) fn monitor(self, object: Obj) -> Option<(Option<Obj>, Vec<Obj>)> {
        let mut usage = sys::MonitorUsage {
            owner: ptr::null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: ptr::null_mut(),
            notify_waiter_count: 0,
            notify_waiters: ptr::null_mut(),
        };
        // SAFETY: valid object, a place for a whole jvmtiMonitorUsage.
        if unsafe { self.0.GetObjectMonitorUsage(object.raw(), &mut usage) } != sys::OK {
            return None;
        }
        let mut waiters = self.take_references(usage.waiters, usage.waiter_count);
        waiters.extend(self.take_references(usage.notify_waiters, usage.notify_waiter_count));
        // SAFETY: a local reference that JVM TI has just made, or null.
        let owner = unsafe { Obj::from_raw(usage.owner) };
        Some((owner, waiters))
    }

    /// The object whose monitor a thread waits to enter, or to be notified by. The environment must
    /// have the capability.
    pub(crate) fn contended_monitor(self, thread: Obj) -> Option<Obj> {
        let mut monitor = ptr::null_mut();
        // SAFETY: valid thread, a place for a reference.
        if unsafe {
            self.0
                .GetCurrentContendedMonitor(thread.raw(), &mut monitor)
        } != sys::OK
        {
            return None;
        }
        // SAFETY: a local reference that JVM TI has just made, or null.
        unsafe { Obj::from_raw(monitor) }
    }

    /// The objects whose monitors a thread owns. The environment must have the capability.
    pub(crate) fn owned_monitors(self, thread: Obj) -> Vec<Obj> {
        let (mut count, mut monitors) = (0, ptr::null_mut());
        // SAFETY: valid thread, places for results.
        let error =
            unsafe { (self.0).GetOwnedMonitorInfo(thread.raw(), &mut count, &mut monitors) };
        if error != sys::OK {
            return Vec::new();
        }
        self.take_references(monitors, count)
    }

    /// The state and frames of threads, innermost first, all of one moment.
    pub(crate) fn stacks(self, threads: &[Obj], max: usize) -> Vec<(c_int, Vec<sys::FrameInfo>)> {
        let raw: Vec<sys::Ref> = threads.iter().map(|thread| thread.raw()).collect();
        let mut stacks = ptr::null_mut();
        // SAFETY: as many valid threads as are announced, place for a result.
        let error = unsafe {
            self.0.GetThreadListStackTraces(
                raw.len() as c_int,
                raw.as_ptr(),
                max as c_int,
                &mut stacks,
            )
        };
        if error != sys::OK || stacks.is_null() {
            return Vec::new();
        }
        // SAFETY: one initialised entry for each thread, each with as many frames as it says; all of
        // it is one piece of memory, ours until deallocated.
        unsafe {
            let all = std::slice::from_raw_parts(stacks, raw.len());
            let read = |info: &sys::StackInfo| {
                let count = usize::try_from(info.count).unwrap_or(0);
                let frames = match info.frames.is_null() {
                    true => Vec::new(),
                    false => std::slice::from_raw_parts(info.frames, count).to_vec(),
                };
                (info.state, frames)
            };
            let read = all.iter().map(read).collect();
            self.0.Deallocate(stacks.cast());
            read
        }
    }

    /// The state and at most `max` frames of one thread, which may be virtual; `None` for one that
    /// has not begun or has ended.
    pub(crate) fn stack(self, thread: Obj, max: usize) -> Option<(c_int, Vec<sys::FrameInfo>)> {
        let nothing = sys::FrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let (mut frames, mut count, mut state) = (vec![nothing; max], 0, 0);
        // SAFETY: a valid thread, and places for the state, and for as many frames as are announced.
        let told = unsafe {
            self.0.GetThreadState(thread.raw(), &mut state) == sys::OK
                && self.0.GetStackTrace(
                    thread.raw(),
                    0,
                    max as c_int,
                    frames.as_mut_ptr(),
                    &mut count,
                ) == sys::OK
        };
        frames.truncate(usize::try_from(count).unwrap_or(0));
        frames.shrink_to_fit();
        told.then_some((state, frames))
    }

    /// Suspends a thread for as long as the result lives; `None` if it cannot be.
    pub(crate) fn suspended(self, thread: Obj) -> Option<Suspended> {
        // SAFETY: valid thread.
        (unsafe { self.0.SuspendThread(thread.raw()) } == sys::OK)
            .then_some(Suspended(self, thread))
    }

    /// A local variable of a primitive type, as the probes keep it. The environment must be able to
    /// access local variables, and the thread must be suspended.
    pub(crate) fn local(self, thread: Obj, depth: usize, slot: u16, letter: u8) -> Option<i64> {
        let (depth, slot) = (depth as c_int, c_int::from(slot));
        let (mut int, mut long, mut float, mut double) = (0, 0, 0.0, 0.0);
        // SAFETY: valid thread, and a place of the type that is asked for.
        unsafe {
            let thread = thread.raw();
            let (error, word) = match letter {
                b'J' => {
                    let error = self.0.GetLocalLong(thread, depth, slot, &mut long);
                    (error, long)
                }
                b'F' => {
                    let error = self.0.GetLocalFloat(thread, depth, slot, &mut float);
                    (error, i64::from(float.to_bits()))
                }
                b'D' => {
                    let error = self.0.GetLocalDouble(thread, depth, slot, &mut double);
                    (error, double.to_bits() as i64)
                }
                _ => {
                    let error = self.0.GetLocalInt(thread, depth, slot, &mut int);
                    (error, i64::from(int))
                }
            };
            (error == sys::OK).then_some(word)
        }
    }

    /// Runs `body` on a daemon thread of the JVM, which is not in the program's thread groups.
    /// `thread` is a fresh `java.lang.Thread`.
    pub(crate) fn run_agent_thread(self, thread: Obj, body: fn(Jni)) -> bool {
        unsafe extern "system" fn start(_: JvmtiEnv, env: JniEnv, arg: *mut c_void) {
            // A panic must not cross into the JVM; the thread then ends.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: `arg` is the function passed below, `env` this thread's environment.
                let (body, jni) = unsafe {
                    (
                        std::mem::transmute::<*mut c_void, fn(Jni)>(arg),
                        Jni::new(env),
                    )
                };
                body(jni);
            }));
        }
        const NORM_PRIORITY: c_int = 5;
        // SAFETY: a fresh thread object and a function that lives as long as the process.
        unsafe {
            self.0
                .RunAgentThread(thread.raw(), start, body as *const c_void, NORM_PRIORITY)
                == sys::OK
        }
    }
}
