//! JVM TI for the rest of the agent, without `unsafe` at the call sites.

#![expect(unsafe_code, reason = "wraps the JVM TI function table")]

use crate::jni::{FieldId, Jni, Obj};
use crate::sys::{self, Callbacks, Capabilities, JavaVm, JniEnv, JvmtiEnv};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::RangeInclusive;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

/// A JVM TI environment.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti(JvmtiEnv);

// SAFETY: JVM TI environments may be used on every thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// A thread that is suspended.
pub(crate) struct Suspended(Jvmti, Obj);

impl Drop for Suspended {
    fn drop(&mut self) {
        // SAFETY: valid thread, suspended by us.
        unsafe { self.0.0.ResumeThread(self.1.raw()) };
    }
}

/// A reference in a local variable of some thread.
pub(crate) struct StackLocal {
    pub(crate) info: sys::StackLocalInfo,
    /// Of the object.
    pub(crate) tag: i64,
}

/// The JVM that has loaded the agent.
#[derive(Clone, Copy)]
pub(crate) struct Vm(JavaVm);

// SAFETY: the invocation interface may be used on every thread.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

impl Vm {
    /// # Safety
    ///
    /// `vm` must be the JVM's invocation interface.
    pub(crate) unsafe fn new(vm: JavaVm) -> Vm {
        Vm(vm)
    }

    /// Makes a new JVM TI environment with these capabilities.
    pub(crate) fn jvmti(self, capabilities: &[usize]) -> Option<Jvmti> {
        let mut env = ptr::null_mut();
        // SAFETY: `env` is a place for a pointer.
        if unsafe { self.0.GetEnv(&mut env, sys::JVMTI_VERSION_11) } != sys::OK || env.is_null() {
            return None;
        }
        let jvmti = Jvmti(JvmtiEnv(env.cast_const().cast()));
        let mut bits: Capabilities = [0; 16];
        for &bit in capabilities {
            bits[bit / 8] |= 1 << (bit % 8);
        }
        // SAFETY: a whole jvmtiCapabilities.
        if unsafe { jvmti.0.AddCapabilities(&bits) } != sys::OK {
            jvmti.dispose();
            return None;
        }
        Some(jvmti)
    }

    /// The current thread's JNI environment, if it is one of the JVM's threads.
    pub(crate) fn jni(self) -> Option<Jni> {
        let mut env = ptr::null_mut();
        // SAFETY: `env` is a place for a pointer; the result is used on this thread only, for it is
        // neither `Send` nor kept.
        unsafe {
            if self.0.GetEnv(&mut env, sys::JNI_VERSION_10) != sys::OK || env.is_null() {
                return None;
            }
            Some(Jni::new(JniEnv(env.cast_const().cast())))
        }
    }
}

impl Jvmti {
    /// # Safety
    ///
    /// `env` must be a JVM TI environment that has not been disposed of.
    pub(crate) unsafe fn from_raw(env: JvmtiEnv) -> Jvmti {
        Jvmti(env)
    }

    /// Gives the environment back, with its tags and events.
    pub(crate) fn dispose(self) {
        // SAFETY: callers do not use it any more.
        unsafe { self.0.DisposeEnvironment() };
    }

    pub(crate) fn set_callbacks(self, callbacks: &Callbacks) -> bool {
        // SAFETY: the JVM copies the table, as far as the size goes.
        unsafe {
            self.0
                .SetEventCallbacks(callbacks, size_of::<Callbacks>() as c_int)
                == sys::OK
        }
    }

    pub(crate) fn enable(self, event: c_int) -> bool {
        // SAFETY: null means all threads.
        unsafe {
            self.0
                .SetEventNotificationMode(sys::ENABLE, event, ptr::null_mut())
                == sys::OK
        }
    }

    /// A string that JVM TI has allocated, in modified UTF-8.
    fn take_string(self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: JVM TI strings end with a NUL and are ours until deallocated.
        unsafe {
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            self.0.Deallocate(text.cast());
            Some(owned)
        }
    }

    /// Memory that JVM TI has allocated for `count` values of `T`.
    fn take_array<T: Copy>(self, array: *mut T, count: c_int) -> Vec<T> {
        if array.is_null() {
            return Vec::new();
        }
        // SAFETY: JVM TI returns `count` initialised values, ours until deallocated.
        unsafe {
            let owned =
                std::slice::from_raw_parts(array, usize::try_from(count).unwrap_or(0)).to_vec();
            self.0.Deallocate(array.cast());
            owned
        }
    }

    /// The tag of an object, 0 if it has none.
    pub(crate) fn tag(self, object: Obj) -> i64 {
        let mut tag = 0;
        // SAFETY: valid reference, place for a long.
        unsafe { self.0.GetTag(object.raw(), &mut tag) };
        tag
    }

    /// Tags an object; whether the JVM had the memory for it.
    pub(crate) fn set_tag(self, object: Obj, tag: i64) -> bool {
        // SAFETY: valid reference.
        unsafe { self.0.SetTag(object.raw(), tag) == sys::OK }
    }

    /// A class's signature, like `Ljava/lang/String;` or `[I`.
    pub(crate) fn class_signature(self, class: Obj) -> Option<String> {
        let mut signature = ptr::null_mut();
        // SAFETY: valid class, place for a pointer; null for what is not wanted.
        let error = unsafe {
            self.0
                .GetClassSignature(class.raw(), &mut signature, ptr::null_mut())
        };
        if error == sys::OK {
            self.take_string(signature)
        } else {
            None
        }
    }

    pub(crate) fn class_modifiers(self, class: Obj) -> i32 {
        let mut modifiers = 0;
        // SAFETY: valid class, place for an int.
        unsafe { self.0.GetClassModifiers(class.raw(), &mut modifiers) };
        modifiers
    }

    /// Whether a class's initialiser has come to its end.
    pub(crate) fn is_initialized(self, class: Obj) -> bool {
        const INITIALIZED: c_int = 4;
        let mut status = 0;
        // SAFETY: valid class, place for an int.
        let done = unsafe { self.0.GetClassStatus(class.raw(), &mut status) };
        done == sys::OK && status & INITIALIZED != 0
    }

    /// The fields that a class declares, in class-file order.
    pub(crate) fn class_fields(self, class: Obj) -> Vec<FieldId> {
        let (mut count, mut fields) = (0, ptr::null_mut());
        // SAFETY: valid class, places for results.
        if unsafe { self.0.GetClassFields(class.raw(), &mut count, &mut fields) } != sys::OK {
            return Vec::new();
        }
        self.take_array(fields, count)
            .into_iter()
            .map(FieldId)
            .collect()
    }

    /// Methods that a class declares.
    fn class_methods(self, class: Obj) -> Vec<sys::MethodId> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: valid class, places for results.
        let error = unsafe { (self.0).GetClassMethods(class.raw(), &mut count, &mut methods) };
        if error != sys::OK {
            return Vec::new();
        }
        self.take_array(methods, count)
    }

    /// Whether a class declares a method of this name and descriptor; that does not initialise it.
    pub(crate) fn declares(self, class: Obj, name: &CStr, descriptor: &CStr) -> bool {
        self.class_methods(class).into_iter().any(|method| {
            let (mut its_name, mut its_descriptor) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: the method is one that JVM TI has just named, of a class that is referred to;
            // places for results, null for what is not wanted.
            let error = unsafe {
                (self.0).GetMethodName(method, &mut its_name, &mut its_descriptor, ptr::null_mut())
            };
            if error != sys::OK {
                return false;
            }
            let (its_name, its_descriptor) =
                (self.take_string(its_name), self.take_string(its_descriptor));
            its_name.as_deref() == name.to_str().ok()
                && its_descriptor.as_deref() == descriptor.to_str().ok()
        })
    }

    /// Whether a class declares native methods.
    pub(crate) fn declares_native(self, class: Obj) -> bool {
        self.class_methods(class).into_iter().any(|method| {
            let mut is_native = 0;
            // SAFETY: the method is one that JVM TI has just named, of a class that is referred to.
            unsafe { self.0.IsMethodNative(method, &mut is_native) };
            is_native != 0
        })
    }

    /// Whether a frame's method is a version that another has replaced.
    pub(crate) fn is_obsolete(self, method: sys::MethodId) -> bool {
        let mut is_obsolete = 0;
        // SAFETY: the method is one that JVM TI has named in a stack; a place for the result.
        let error = unsafe { self.0.IsMethodObsolete(method, &mut is_obsolete) };
        error == sys::OK && is_obsolete != 0
    }

    /// Name, descriptor and access flags of a field.
    pub(crate) fn field(self, class: Obj, field: FieldId) -> Option<(String, String, u16)> {
        let (mut name, mut descriptor, mut modifiers) = (ptr::null_mut(), ptr::null_mut(), 0);
        // SAFETY: the field belongs to the class; places for results, null for what is not wanted.
        unsafe {
            if self.0.GetFieldName(
                class.raw(),
                field.0,
                &mut name,
                &mut descriptor,
                ptr::null_mut(),
            ) != sys::OK
            {
                return None;
            }
            self.0
                .GetFieldModifiers(class.raw(), field.0, &mut modifiers);
        }
        Some((
            self.take_string(name)?,
            self.take_string(descriptor)?,
            modifiers as u16,
        ))
    }

    /// The interfaces that a class declares.
    pub(crate) fn interfaces(self, class: Obj) -> Vec<Obj> {
        let (mut count, mut interfaces) = (0, ptr::null_mut());
        // SAFETY: valid class, places for results.
        if unsafe {
            self.0
                .GetImplementedInterfaces(class.raw(), &mut count, &mut interfaces)
        } != sys::OK
        {
            return Vec::new();
        }
        self.take_references(interfaces, count)
    }

    /// A class's loader, `None` for the boot loader.
    pub(crate) fn loader(self, class: Obj) -> Option<Obj> {
        let mut loader = ptr::null_mut();
        // SAFETY: valid class, place for a reference; the result is a local reference or null.
        unsafe {
            self.0.GetClassLoader(class.raw(), &mut loader);
            Obj::from_raw(loader)
        }
    }

    /// A class's constant pool as in a class file, from its count on.
    pub(crate) fn constant_pool(self, class: Obj) -> Option<Vec<u8>> {
        let (mut count, mut len, mut bytes) = (0, 0, ptr::null_mut());
        // SAFETY: valid class, places for results.
        let error = unsafe {
            self.0
                .GetConstantPool(class.raw(), &mut count, &mut len, &mut bytes)
        };
        let constants = (error == sys::OK).then(|| self.take_array(bytes, len))?;
        Some([&(count as u16).to_be_bytes()[..], &constants].concat())
    }

    /// Whether a package of this loader belongs to a named module.
    pub(crate) fn in_named_module(self, loader: sys::Ref, package: &str) -> bool {
        let Ok(package) = CString::new(package) else {
            return false;
        };
        let mut module = ptr::null_mut();
        // SAFETY: the loader is as the JVM gave it (null for the boot loader).
        let error = unsafe { self.0.GetNamedModule(loader, package.as_ptr(), &mut module) };
        error == sys::OK && !module.is_null()
    }

    /// The identity hash of a loader; `None` for the boot loader.
    pub(crate) fn hash_code(self, loader: sys::Ref) -> Option<i32> {
        if loader.is_null() {
            return None;
        }
        let mut hash = 0;
        // SAFETY: the loader is as the JVM gave it, and not null.
        let error = unsafe { self.0.GetObjectHashCode(loader, &mut hash) };
        (error == sys::OK).then_some(hash)
    }

    pub(crate) fn system_property(self, name: &CStr) -> Option<String> {
        let mut value = ptr::null_mut();
        // SAFETY: the name lives through the call.
        let error = unsafe { self.0.GetSystemProperty(name.as_ptr(), &mut value) };
        if error == sys::OK {
            self.take_string(value)
        } else {
            None
        }
    }

    /// Name and thread group of the current thread.
    fn thread_info(self) -> Option<(Option<String>, Option<Obj>)> {
        let (name, group, _) = self.info_of(ptr::null_mut())?;
        Some((name, group))
    }

    /// Name of a thread, and whether it is a daemon.
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

    pub(crate) fn retransform(self, classes: &[Obj]) -> Result<(), c_int> {
        let raw: Vec<sys::Ref> = classes.iter().map(|class| class.raw()).collect();
        // SAFETY: as many valid classes as are announced.
        match unsafe { self.0.RetransformClasses(raw.len() as c_int, raw.as_ptr()) } {
            sys::OK => Ok(()),
            error => Err(error),
        }
    }

    /// All classes that are loaded by now, as local references.
    pub(crate) fn loaded_classes(self) -> Vec<Obj> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: places for results.
        if unsafe { self.0.GetLoadedClasses(&mut count, &mut classes) } != sys::OK {
            return Vec::new();
        }
        self.take_references(classes, count)
    }

    /// References that JVM TI has put into an array.
    fn take_references(self, array: *mut sys::Ref, count: c_int) -> Vec<Obj> {
        let raw = self.take_array(array, count);
        // SAFETY: local references that JVM TI has just made.
        raw.into_iter()
            .filter_map(|object| unsafe { Obj::from_raw(object) })
            .collect()
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

    /// Who has an object's monitor, and who waits to enter it or to be notified.
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

    /// The object whose monitor a thread waits to enter, or to be notified by. The environment must be able to tell.
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

    /// The objects whose monitors a thread has. The environment must be able to tell.
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

    /// State and frames of threads, innermost first, all of one moment.
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

    /// State and at most `max` frames of one thread, which may be a virtual one; nothing of one that
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

    /// References in local variables of all threads, at one moment. Objects without a tag get one,
    /// counted from behind those of `threads` on.
    ///
    /// A virtual thread that no other thread runs just then is looked at only if it has one of the tags
    /// `threads`, and the caller has a local reference to it: the JVM tells its stack when it comes by
    /// on its way from the roots.
    pub(crate) fn stack_locals(self, threads: RangeInclusive<i64>) -> Vec<StackLocal> {
        struct Seen {
            threads: RangeInclusive<i64>,
            next_tag: i64,
            locals: Vec<StackLocal>,
        }
        unsafe extern "system" fn reference(
            kind: c_int,
            info: *const c_void,
            _: i64,
            _: i64,
            _: i64,
            tag: *mut i64,
            _: *mut i64,
            _: c_int,
            seen: *mut c_void,
        ) -> c_int {
            if kind == sys::REFERENCE_STACK_LOCAL && !info.is_null() && !tag.is_null() {
                // SAFETY: the JVM passes the structure of this kind, the place of the object's tag,
                // and what it was given below.
                unsafe {
                    let info = *info.cast::<sys::StackLocalInfo>();
                    let seen = &mut *seen.cast::<Seen>();
                    if *tag == 0 {
                        *tag = seen.next_tag;
                        seen.next_tag += 1;
                    }
                    seen.locals.push(StackLocal { info, tag: *tag });
                }
            } else if kind == sys::REFERENCE_JNI_LOCAL && !tag.is_null() {
                // SAFETY: as above.
                let is_thread = unsafe { (*seen.cast::<Seen>()).threads.contains(&*tag) };
                if is_thread {
                    return sys::VISIT_OBJECTS;
                }
            }
            // Nothing behind it is asked for.
            0
        }
        let callbacks = sys::HeapCallbacks {
            iteration: ptr::null(),
            reference: Some(reference),
            rest: [ptr::null(); 14],
        };
        let mut seen = Seen {
            next_tag: threads.end() + 1,
            threads,
            locals: Vec::new(),
        };
        // SAFETY: a whole jvmtiHeapCallbacks; null means all classes, and all roots; `seen` outlives
        // the call.
        unsafe {
            self.0.FollowReferences(
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                &callbacks,
                ptr::from_mut(&mut seen).cast(),
            );
        }
        seen.locals
    }

    /// The objects that have one of these tags.
    pub(crate) fn tagged(self, tags: &[i64]) -> Vec<(i64, Obj)> {
        let (mut count, mut objects, mut found) = (0, ptr::null_mut(), ptr::null_mut());
        // SAFETY: as many tags as are announced, places for results.
        let error = unsafe {
            self.0.GetObjectsWithTags(
                tags.len() as c_int,
                tags.as_ptr(),
                &mut count,
                &mut objects,
                &mut found,
            )
        };
        if error != sys::OK {
            return Vec::new();
        }
        let objects = self.take_references(objects, count);
        self.take_array(found, count)
            .into_iter()
            .zip(objects)
            .collect()
    }

    /// Name, descriptor and class of a method.
    pub(crate) fn method(self, method: sys::MethodId) -> Option<(String, String, Obj)> {
        let (mut name, mut descriptor, mut class) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: a method that JVM TI has told, places for results.
        unsafe {
            let error = self
                .0
                .GetMethodName(method, &mut name, &mut descriptor, ptr::null_mut());
            if error != sys::OK {
                return None;
            }
            let (name, descriptor) = (self.take_string(name)?, self.take_string(descriptor)?);
            if self.0.GetMethodDeclaringClass(method, &mut class) != sys::OK {
                return None;
            }
            Some((name, descriptor, Obj::from_raw(class)?))
        }
    }

    /// The line of a place in a method; -1 if it is not known, -2 in a native one.
    pub(crate) fn line(self, method: sys::MethodId, location: i64) -> i32 {
        if location < 0 {
            return -2;
        }
        let (mut count, mut table) = (0, ptr::null_mut());
        // SAFETY: a method that JVM TI has told, places for results.
        if unsafe { self.0.GetLineNumberTable(method, &mut count, &mut table) } != sys::OK {
            return -1;
        }
        let entries = self.take_array(table, count);
        let before = entries.iter().filter(|entry| entry.start <= location);
        before
            .max_by_key(|entry| entry.start)
            .map_or(-1, |entry| entry.line)
    }

    pub(crate) fn source_file(self, class: Obj) -> Option<String> {
        let mut name = ptr::null_mut();
        // SAFETY: valid class, place for a result.
        match unsafe { self.0.GetSourceFileName(class.raw(), &mut name) } {
            sys::OK => self.take_string(name),
            _ => None,
        }
    }

    /// Suspends a thread for as long as the result lives; `None` if it cannot be.
    pub(crate) fn suspended(self, thread: Obj) -> Option<Suspended> {
        // SAFETY: valid thread.
        (unsafe { self.0.SuspendThread(thread.raw()) } == sys::OK)
            .then_some(Suspended(self, thread))
    }

    /// A local variable of a primitive type, as the probes keep it. The environment must be able to
    /// access local variables, and the thread be suspended.
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

    /// Has the JIT's optimisations of objects in the frames of all threads undone: an object that it
    /// had taken apart is whole again. The environment must be able to tag objects.
    ///
    /// It is what the JVM does before it shows its heap to anyone (JDK 16 and up); here the walk
    /// ends with the first reference.
    pub(crate) fn materialize_objects(self) {
        unsafe extern "system" fn abort(
            _: c_int,
            _: *const c_void,
            _: i64,
            _: i64,
            _: i64,
            _: *mut i64,
            _: *mut i64,
            _: c_int,
            _: *mut c_void,
        ) -> c_int {
            sys::VISIT_ABORT
        }
        let callbacks = sys::HeapCallbacks {
            iteration: ptr::null(),
            reference: Some(abort),
            rest: [ptr::null(); 14],
        };
        // SAFETY: a whole jvmtiHeapCallbacks; null means all classes, and all roots.
        unsafe {
            self.0.FollowReferences(
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                &callbacks,
                ptr::null_mut(),
            );
        }
    }

    /// Whether the JVM would retransform this class.
    pub(crate) fn is_modifiable(self, class: Obj) -> bool {
        let mut modifiable = 0;
        // SAFETY: valid class, place for a boolean.
        unsafe {
            self.0.IsModifiableClass(class.raw(), &mut modifiable) == sys::OK && modifiable != 0
        }
    }

    /// Copies bytes into memory that the JVM will free.
    pub(crate) fn allocate(self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory = ptr::null_mut();
        // SAFETY: place for a pointer; then a copy into fresh memory of that size.
        unsafe {
            if self.0.Allocate(bytes.len() as i64, &mut memory) != sys::OK || memory.is_null() {
                return None;
            }
            ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }

    /// Runs `body` on a daemon thread of the JVM's that the program does not see in its thread
    /// groups' business. `thread` is a fresh `java.lang.Thread`.
    pub(crate) fn run_agent_thread(self, thread: Obj, body: fn(Jni)) -> bool {
        unsafe extern "system" fn start(_: JvmtiEnv, env: JniEnv, arg: *mut c_void) {
            // A panic must not cross into the JVM; the thread just ends.
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
