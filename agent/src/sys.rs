//! The function tables of JNI and JVMTI, as far as the agent uses them.
//!
//! Both tables are append-only by specification, so a slot number is an ABI. A test compiles a C
//! program against the headers of the installed JDKs and compares every number here with theirs.

#![expect(unsafe_code, reason = "the border to the JVM's C interfaces")]
#![expect(
    non_snake_case,
    reason = "functions keep the names of the specifications"
)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

/// A JNI reference: local, global, or null.
pub(crate) type Ref = *mut c_void;
pub(crate) type FieldId = *mut c_void;
pub(crate) type MethodId = *mut c_void;

/// `JNI_OK` and `JVMTI_ERROR_NONE`.
pub(crate) const OK: c_int = 0;
pub(crate) const JNI_ERR: c_int = -1;
pub(crate) const JVMTI_VERSION_11: c_int = 0x300b_0000;
pub(crate) const JNI_VERSION_10: c_int = 0x000A_0000;
pub(crate) const EVENT_VM_INIT: c_int = 50;
pub(crate) const EVENT_VM_DEATH: c_int = 51;
pub(crate) const EVENT_CLASS_FILE_LOAD_HOOK: c_int = 54;
pub(crate) const EVENT_DATA_DUMP_REQUEST: c_int = 71;
pub(crate) const ENABLE: c_int = 1;

/// The CPU time of the current thread.
pub(crate) fn thread_cpu() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Whether this process has a handler for a signal.
pub(crate) fn is_caught(signal: c_int) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is set; a place for what is set, read where the call has filled it.
    let handler = unsafe {
        match libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) {
            0 => now.assume_init().sa_sigaction,
            _ => return false,
        }
    };
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// The bytes of the current thread's stack that are left, including its guard pages, and those of
/// all of it.
pub(crate) fn stack_left() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (ptr::null_mut(), 0);
    // SAFETY: places for what is asked; the attributes are initialised where that succeeds, and let go of.
    let known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let got = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            got == 0
        }
    };
    let here = (&raw const attributes).addr();
    known.then(|| (here.saturating_sub(lowest.addr()), size))
}

/// Bits of `jvmtiCapabilities`, by position.
pub(crate) const CAN_TAG_OBJECTS: usize = 0;
pub(crate) const CAN_GET_OWNED_MONITOR_INFO: usize = 5;
pub(crate) const CAN_GET_CURRENT_CONTENDED_MONITOR: usize = 6;
pub(crate) const CAN_GET_MONITOR_INFO: usize = 7;
pub(crate) const CAN_GET_SOURCE_FILE_NAME: usize = 11;
pub(crate) const CAN_GET_LINE_NUMBERS: usize = 12;
pub(crate) const CAN_ACCESS_LOCAL_VARIABLES: usize = 14;
pub(crate) const CAN_SUSPEND: usize = 20;
pub(crate) const CAN_GET_CONSTANT_POOL: usize = 35;
pub(crate) const CAN_RETRANSFORM_CLASSES: usize = 37;

/// `jvmtiCapabilities`: 128 bits.
pub(crate) type Capabilities = [u8; 16];

/// A JNI `jvalue`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union JValue {
    pub(crate) object: Ref,
    pub(crate) int: i32,
    pub(crate) long: i64,
}

/// `jvmtiEventCallbacks`, up to the last one used.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Callbacks {
    pub(crate) vm_init: Option<unsafe extern "system" fn(JvmtiEnv, JniEnv, Ref)>,
    pub(crate) vm_death: Option<unsafe extern "system" fn(JvmtiEnv, JniEnv)>,
    pub(crate) thread_start: Option<unsafe extern "system" fn()>,
    pub(crate) thread_end: Option<unsafe extern "system" fn()>,
    pub(crate) class_file_load_hook: Option<
        unsafe extern "system" fn(
            JvmtiEnv,
            JniEnv,
            Ref,
            Ref,
            *const c_char,
            Ref,
            c_int,
            *const u8,
            *mut c_int,
            *mut *mut u8,
        ),
    >,
    /// The events in between.
    pub(crate) others: [Option<unsafe extern "system" fn()>; 16],
    pub(crate) data_dump_request: Option<unsafe extern "system" fn(JvmtiEnv)>,
}

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FrameInfo {
    pub(crate) method: MethodId,
    pub(crate) location: i64,
}

/// `jvmtiStackInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct StackInfo {
    pub(crate) thread: Ref,
    pub(crate) state: c_int,
    pub(crate) frames: *const FrameInfo,
    pub(crate) count: c_int,
}

/// `jvmtiMonitorUsage`.
#[repr(C)]
pub(crate) struct MonitorUsage {
    pub(crate) owner: Ref,
    pub(crate) entry_count: c_int,
    pub(crate) waiter_count: c_int,
    pub(crate) waiters: *mut Ref,
    pub(crate) notify_waiter_count: c_int,
    pub(crate) notify_waiters: *mut Ref,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LineEntry {
    pub(crate) start: i64,
    pub(crate) line: c_int,
}

/// `jvmtiHeapReferenceInfoStackLocal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct StackLocalInfo {
    pub(crate) thread_tag: i64,
    pub(crate) thread_id: i64,
    pub(crate) depth: c_int,
    pub(crate) method: MethodId,
    pub(crate) location: i64,
    pub(crate) slot: c_int,
}

/// `JVMTI_HEAP_REFERENCE_JNI_LOCAL`.
pub(crate) const REFERENCE_JNI_LOCAL: c_int = 25;

/// `JVMTI_VISIT_OBJECTS`: the walk continues with what the object refers to.
pub(crate) const VISIT_OBJECTS: c_int = 0x100;

/// `JVMTI_HEAP_REFERENCE_STACK_LOCAL`.
pub(crate) const REFERENCE_STACK_LOCAL: c_int = 24;

/// `jvmtiThreadInfo`.
#[repr(C)]
pub(crate) struct ThreadInfo {
    pub(crate) name: *mut c_char,
    pub(crate) priority: c_int,
    pub(crate) is_daemon: u8,
    pub(crate) group: Ref,
    pub(crate) loader: Ref,
}

/// `jvmtiHeapCallbacks`, as far as it is used.
#[repr(C)]
pub(crate) struct HeapCallbacks {
    pub(crate) iteration: *const c_void,
    pub(crate) reference: Option<
        unsafe extern "system" fn(
            c_int,
            *const c_void,
            i64,
            i64,
            i64,
            *mut i64,
            *mut i64,
            c_int,
            *mut c_void,
        ) -> c_int,
    >,
    pub(crate) rest: [*const c_void; 14],
}

/// `JVMTI_VISIT_ABORT`.
pub(crate) const VISIT_ABORT: c_int = 0x8000;

type Slots = *const *const c_void;

/// The slot of `ExceptionDescribe` in JNI's table.
pub(crate) const EXCEPTION_DESCRIBE: usize = 16;

/// JNI's `ExceptionDescribe`: prints the pending exception and clears it.
pub(crate) type ExceptionDescribe = unsafe extern "system" fn(JniEnv);

macro_rules! table {
    ($(#[$doc:meta])* $table:ident { $( $slot:literal $name:ident ( $($arg:ident : $ty:ty),* ) $(-> $ret:ty)? ; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub(crate) struct $table(pub(crate) *const Slots);

        impl $table {
            $(
                /// # Safety
                ///
                /// As the specification of this function demands; the environment must be valid
                /// on this thread.
                pub(crate) unsafe fn $name(self, $($arg: $ty),*) $(-> $ret)? {
                    // SAFETY: the caller vouches for the environment, whose table has the
                    // function of this signature in this slot.
                    unsafe {
                        let function: unsafe extern "system" fn(*const Slots $(, $ty)*) $(-> $ret)? =
                            std::mem::transmute(*(*self.0).add($slot));
                        function(self.0 $(, $arg)*)
                    }
                }
            )*

            /// Names and slots, for the test against the headers.
            #[cfg(test)]
            pub(crate) const SLOTS: &'static [(&'static str, usize)] = &[$((stringify!($name), $slot)),*];
        }
    };
}

table! {
    /// `JavaVM*`.
    JavaVm {
        6 GetEnv(env: *mut *mut c_void, version: c_int) -> c_int;
    }
}

table! {
    /// `JNIEnv*`: valid on one thread.
    JniEnv {
        5 DefineClass(name: *const c_char, loader: Ref, bytes: *const u8, len: c_int) -> Ref;
        6 FindClass(name: *const c_char) -> Ref;
        10 GetSuperclass(class: Ref) -> Ref;
        12 ToReflectedField(class: Ref, field: FieldId, is_static: u8) -> Ref;
        13 Throw(exception: Ref) -> c_int;
        15 ExceptionOccurred() -> Ref;
        17 ExceptionClear();
        19 PushLocalFrame(capacity: c_int) -> c_int;
        20 PopLocalFrame(result: Ref) -> Ref;
        21 NewGlobalRef(object: Ref) -> Ref;
        23 DeleteLocalRef(object: Ref);
        24 IsSameObject(a: Ref, b: Ref) -> u8;
        25 NewLocalRef(object: Ref) -> Ref;
        32 IsInstanceOf(object: Ref, class: Ref) -> u8;
        30 NewObjectA(class: Ref, method: MethodId, args: *const JValue) -> Ref;
        31 GetObjectClass(object: Ref) -> Ref;
        33 GetMethodID(class: Ref, name: *const c_char, signature: *const c_char) -> MethodId;
        54 CallLongMethodA(object: Ref, method: MethodId, args: *const JValue) -> i64;
        66 CallNonvirtualObjectMethodA(object: Ref, class: Ref, method: MethodId, args: *const JValue) -> Ref;
        94 GetFieldID(class: Ref, name: *const c_char, signature: *const c_char) -> FieldId;
        95 GetObjectField(object: Ref, field: FieldId) -> Ref;
        96 GetBooleanField(object: Ref, field: FieldId) -> u8;
        97 GetByteField(object: Ref, field: FieldId) -> i8;
        98 GetCharField(object: Ref, field: FieldId) -> u16;
        99 GetShortField(object: Ref, field: FieldId) -> i16;
        100 GetIntField(object: Ref, field: FieldId) -> i32;
        101 GetLongField(object: Ref, field: FieldId) -> i64;
        102 GetFloatField(object: Ref, field: FieldId) -> f32;
        103 GetDoubleField(object: Ref, field: FieldId) -> f64;
        113 GetStaticMethodID(class: Ref, name: *const c_char, signature: *const c_char) -> MethodId;
        116 CallStaticObjectMethodA(class: Ref, method: MethodId, args: *const JValue) -> Ref;
        119 CallStaticBooleanMethodA(class: Ref, method: MethodId, args: *const JValue) -> u8;
        131 CallStaticIntMethodA(class: Ref, method: MethodId, args: *const JValue) -> c_int;
        143 CallStaticVoidMethodA(class: Ref, method: MethodId, args: *const JValue);
        144 GetStaticFieldID(class: Ref, name: *const c_char, signature: *const c_char) -> FieldId;
        145 GetStaticObjectField(class: Ref, field: FieldId) -> Ref;
        146 GetStaticBooleanField(class: Ref, field: FieldId) -> u8;
        147 GetStaticByteField(class: Ref, field: FieldId) -> i8;
        148 GetStaticCharField(class: Ref, field: FieldId) -> u16;
        149 GetStaticShortField(class: Ref, field: FieldId) -> i16;
        150 GetStaticIntField(class: Ref, field: FieldId) -> i32;
        151 GetStaticLongField(class: Ref, field: FieldId) -> i64;
        152 GetStaticFloatField(class: Ref, field: FieldId) -> f32;
        153 GetStaticDoubleField(class: Ref, field: FieldId) -> f64;
        155 SetStaticBooleanField(class: Ref, field: FieldId, value: u8);
        159 SetStaticIntField(class: Ref, field: FieldId, value: i32);
        164 GetStringLength(string: Ref) -> c_int;
        167 NewStringUTF(text: *const c_char) -> Ref;
        171 GetArrayLength(array: Ref) -> c_int;
        173 GetObjectArrayElement(array: Ref, index: c_int) -> Ref;
        199 GetBooleanArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        200 GetByteArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        201 GetCharArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        202 GetShortArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        203 GetIntArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        204 GetLongArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        205 GetFloatArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        206 GetDoubleArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *mut c_void);
        211 SetIntArrayRegion(array: Ref, start: c_int, len: c_int, buffer: *const i32);
        220 GetStringRegion(string: Ref, start: c_int, len: c_int, buffer: *mut u16);
        226 NewWeakGlobalRef(object: Ref) -> Ref;
        227 DeleteWeakGlobalRef(object: Ref);
        228 ExceptionCheck() -> u8;
    }
}

table! {
    /// `jvmtiEnv*`: valid on every thread.
    JvmtiEnv {
        1 SetEventNotificationMode(mode: c_int, event: c_int, thread: Ref) -> c_int;
        4 SuspendThread(thread: Ref) -> c_int;
        5 ResumeThread(thread: Ref) -> c_int;
        3 GetAllThreads(count: *mut c_int, threads: *mut *mut Ref) -> c_int;
        9 GetOwnedMonitorInfo(thread: Ref, count: *mut c_int, monitors: *mut *mut Ref) -> c_int;
        10 GetCurrentContendedMonitor(thread: Ref, monitor: *mut Ref) -> c_int;
        58 GetObjectMonitorUsage(object: Ref, usage: *mut MonitorUsage) -> c_int;
        21 GetLocalInt(thread: Ref, depth: c_int, slot: c_int, value: *mut i32) -> c_int;
        22 GetLocalLong(thread: Ref, depth: c_int, slot: c_int, value: *mut i64) -> c_int;
        23 GetLocalFloat(thread: Ref, depth: c_int, slot: c_int, value: *mut f32) -> c_int;
        24 GetLocalDouble(thread: Ref, depth: c_int, slot: c_int, value: *mut f64) -> c_int;
        49 GetSourceFileName(class: Ref, name: *mut *mut c_char) -> c_int;
        63 GetMethodName(method: MethodId, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
        64 GetMethodDeclaringClass(method: MethodId, class: *mut Ref) -> c_int;
        75 IsMethodNative(method: MethodId, is_native: *mut u8) -> c_int;
        90 IsMethodObsolete(method: MethodId, is_obsolete: *mut u8) -> c_int;
        69 GetLineNumberTable(method: MethodId, count: *mut c_int, table: *mut *mut LineEntry) -> c_int;
        100 GetThreadListStackTraces(count: c_int, threads: *const Ref, max: c_int, stacks: *mut *mut StackInfo) -> c_int;
        113 GetObjectsWithTags(count: c_int, tags: *const i64, found: *mut c_int, objects: *mut *mut Ref, found_tags: *mut *mut i64) -> c_int;
        8 GetThreadInfo(thread: Ref, info: *mut ThreadInfo) -> c_int;
        16 GetThreadState(thread: Ref, state: *mut c_int) -> c_int;
        17 GetCurrentThread(thread: *mut Ref) -> c_int;
        11 RunAgentThread(thread: Ref, run: unsafe extern "system" fn(JvmtiEnv, JniEnv, *mut c_void), arg: *const c_void, priority: c_int) -> c_int;
        39 GetNamedModule(loader: Ref, package: *const c_char, module: *mut Ref) -> c_int;
        44 IsModifiableClass(class: Ref, modifiable: *mut u8) -> c_int;
        45 Allocate(size: i64, memory: *mut *mut u8) -> c_int;
        46 Deallocate(memory: *mut u8) -> c_int;
        47 GetClassSignature(class: Ref, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
        48 GetClassStatus(class: Ref, status: *mut c_int) -> c_int;
        50 GetClassModifiers(class: Ref, modifiers: *mut c_int) -> c_int;
        51 GetClassMethods(class: Ref, count: *mut c_int, methods: *mut *mut MethodId) -> c_int;
        52 GetClassFields(class: Ref, count: *mut c_int, fields: *mut *mut FieldId) -> c_int;
        53 GetImplementedInterfaces(class: Ref, count: *mut c_int, interfaces: *mut *mut Ref) -> c_int;
        56 GetClassLoader(class: Ref, loader: *mut Ref) -> c_int;
        57 GetObjectHashCode(object: Ref, hash: *mut c_int) -> c_int;
        59 GetFieldName(class: Ref, field: FieldId, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
        61 GetFieldModifiers(class: Ref, field: FieldId, modifiers: *mut c_int) -> c_int;
        77 GetLoadedClasses(count: *mut c_int, classes: *mut *mut Ref) -> c_int;
        103 GetStackTrace(thread: Ref, start: c_int, max: c_int, frames: *mut FrameInfo, count: *mut c_int) -> c_int;
        105 GetTag(object: Ref, tag: *mut i64) -> c_int;
        106 SetTag(object: Ref, tag: i64) -> c_int;
        114 FollowReferences(filter: c_int, class: Ref, from: Ref, callbacks: *const HeapCallbacks, data: *mut c_void) -> c_int;
        119 SetJNIFunctionTable(table: *const *const c_void) -> c_int;
        120 GetJNIFunctionTable(table: *mut *mut *const c_void) -> c_int;
        121 SetEventCallbacks(callbacks: *const Callbacks, size: c_int) -> c_int;
        126 DisposeEnvironment() -> c_int;
        130 GetSystemProperty(name: *const c_char, value: *mut *mut c_char) -> c_int;
        141 AddCapabilities(capabilities: *const Capabilities) -> c_int;
        145 GetConstantPool(class: Ref, count: *mut c_int, len: *mut c_int, bytes: *mut *mut u8) -> c_int;
        151 RetransformClasses(count: c_int, classes: *const Ref) -> c_int;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::{env, fs};

    /// JDKs with headers, of the versions that the agent is for: `JAVA_HOME`, the one of the `java`
    /// on the path, and what Linux distributions install.
    fn jdks() -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME")
            .map(PathBuf::from)
            .into_iter()
            .collect();
        if let Some(paths) = env::var_os("PATH") {
            let java = env::split_paths(&paths)
                .map(|path| path.join("javac"))
                .find_map(|path| path.canonicalize().ok());
            homes.extend(java.and_then(|java| Some(java.parent()?.parent()?.to_path_buf())));
        }
        for entry in fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten() {
            homes.extend(entry.path().canonicalize().ok());
        }
        homes.retain(|home| home.join("include/jvmti.h").exists() && version(home) >= Some(17));
        homes.sort();
        homes.dedup();
        homes
    }

    /// The feature release, such as 17 or 25.
    fn version(home: &Path) -> Option<u32> {
        let release = fs::read_to_string(home.join("release")).ok()?;
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        let feature = version.split(|c: char| !c.is_ascii_digit()).next()?;
        feature.parse().ok()
    }

    fn c_program() -> String {
        let mut text = String::from(
            "#include <jvmti.h>\n#include <stddef.h>\n#include <stdio.h>\n\
             #define J(f) printf(\"%zu\\n\", offsetof(struct JNINativeInterface_, f) / sizeof(void *));\n\
             #define V(f) printf(\"%zu\\n\", offsetof(struct JNIInvokeInterface_, f) / sizeof(void *));\n\
             #define T(f) printf(\"%zu\\n\", offsetof(struct jvmtiInterface_1_, f) / sizeof(void *));\n\
             #define E(f) printf(\"%zu\\n\", offsetof(jvmtiEventCallbacks, f) / sizeof(void *));\n\
             #define C(f) { jvmtiCapabilities c = {0}; c.f = 1; unsigned char *p = (void *) &c; \
             for (int i = 0; i < 128; i++) if (p[i / 8] >> (i % 8) & 1) printf(\"%d\\n\", i); }\n\
             int main() {\n",
        );
        for (tag, slots) in [
            ("J", JniEnv::SLOTS),
            ("V", JavaVm::SLOTS),
            ("T", JvmtiEnv::SLOTS),
        ] {
            for (name, _) in slots {
                let _ = writeln!(text, "{tag}({name})");
            }
        }
        for name in ["VMInit", "VMDeath", "ClassFileLoadHook", "DataDumpRequest"] {
            let _ = writeln!(text, "E({name})");
        }
        for name in [
            "can_tag_objects",
            "can_get_owned_monitor_info",
            "can_get_current_contended_monitor",
            "can_get_monitor_info",
            "can_get_source_file_name",
            "can_get_line_numbers",
            "can_access_local_variables",
            "can_suspend",
            "can_get_constant_pool",
            "can_retransform_classes",
        ] {
            let _ = writeln!(text, "C({name})");
        }
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiCapabilities));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiThreadInfo));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiStackInfo));\n");
        text.push_str("printf(\"%zu\\n\", offsetof(jvmtiStackInfo, frame_count));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiFrameInfo));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiLineNumberEntry));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiMonitorUsage));\n");
        text.push_str("printf(\"%zu\\n\", offsetof(jvmtiMonitorUsage, notify_waiters));\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvmtiHeapReferenceInfoStackLocal));\n");
        text.push_str("printf(\"%zu\\n\", offsetof(jvmtiHeapReferenceInfoStackLocal, slot));\n");
        text.push_str("printf(\"%d\\n%d\\n%d\\n\", JVMTI_HEAP_REFERENCE_STACK_LOCAL, JVMTI_HEAP_REFERENCE_JNI_LOCAL, JVMTI_VISIT_OBJECTS);\n");
        text.push_str("printf(\"%zu\\n\", sizeof(jvalue));\n");
        text.push_str("J(ExceptionDescribe)\n");
        text.push_str("printf(\"%d\\n%d\\n%d\\n%d\\n\", JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_DATA_DUMP_REQUEST);\n");
        text.push_str("return 0;\n}\n");
        text
    }

    /// Every number of this module, against the headers of every JDK found.
    #[test]
    fn numbers_are_those_of_the_headers() {
        let mut ours: Vec<usize> = Vec::new();
        for slots in [JniEnv::SLOTS, JavaVm::SLOTS, JvmtiEnv::SLOTS] {
            ours.extend(slots.iter().map(|(_, slot)| *slot));
        }
        ours.extend([0, 1, 4, 21].map(|slot: usize| slot));
        assert_eq!(size_of::<Callbacks>(), 22 * size_of::<usize>());
        ours.extend([
            CAN_TAG_OBJECTS,
            CAN_GET_OWNED_MONITOR_INFO,
            CAN_GET_CURRENT_CONTENDED_MONITOR,
            CAN_GET_MONITOR_INFO,
            CAN_GET_SOURCE_FILE_NAME,
            CAN_GET_LINE_NUMBERS,
            CAN_ACCESS_LOCAL_VARIABLES,
            CAN_SUSPEND,
            CAN_GET_CONSTANT_POOL,
            CAN_RETRANSFORM_CLASSES,
        ]);
        ours.extend([
            size_of::<Capabilities>(),
            size_of::<ThreadInfo>(),
            size_of::<StackInfo>(),
            std::mem::offset_of!(StackInfo, count),
            size_of::<FrameInfo>(),
            size_of::<LineEntry>(),
            size_of::<MonitorUsage>(),
            std::mem::offset_of!(MonitorUsage, notify_waiters),
            size_of::<StackLocalInfo>(),
            std::mem::offset_of!(StackLocalInfo, slot),
            REFERENCE_STACK_LOCAL as usize,
            REFERENCE_JNI_LOCAL as usize,
            VISIT_OBJECTS as usize,
            size_of::<JValue>(),
            EXCEPTION_DESCRIBE,
        ]);
        ours.extend(
            [
                EVENT_VM_INIT,
                EVENT_VM_DEATH,
                EVENT_CLASS_FILE_LOAD_HOOK,
                EVENT_DATA_DUMP_REQUEST,
            ]
            .map(|event| event as usize),
        );

        let jdks = jdks();
        assert!(
            !jdks.is_empty(),
            "no JDK of version 17 or newer with include/jvmti.h found: set JAVA_HOME"
        );
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/header-test");
        fs::create_dir_all(&directory).unwrap();
        let source = directory.join("numbers.c");
        fs::write(&source, c_program()).unwrap();
        for (at, jdk) in jdks.iter().enumerate() {
            let program = directory.join(format!("numbers-{at}"));
            let include = jdk.join("include");
            let status = Command::new("cc")
                .arg("-I")
                .arg(&include)
                .arg("-I")
                .arg(include.join("linux"))
                .arg("-o")
                .arg(&program)
                .arg(&source)
                .status()
                .expect("a C compiler (cc) is needed for this test");
            assert!(status.success(), "{}", jdk.display());
            let output = Command::new(&program).output().unwrap();
            let theirs: Vec<usize> = String::from_utf8(output.stdout)
                .unwrap()
                .lines()
                .map(|line| line.parse().unwrap())
                .collect();
            assert_eq!(ours, theirs, "{}", jdk.display());
        }
    }
}
