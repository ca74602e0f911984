//! JVMTI for the rest of the agent, without `unsafe` at the call sites.
//!
//! - [`heap`] has the tags of objects, and what refers to them.
//! - [`threads`] has threads, their stacks and their monitors.

#![expect(unsafe_code, reason = "wraps the JVM TI function table")]

mod heap;
mod threads;

pub(crate) use heap::{StackLocal, Tags};

use crate::jni::{FieldId, Jni, Obj};
use crate::sys::{self, Callbacks, Capabilities, JavaVm, JniEnv, JvmtiEnv};
use hindsight_classfile::Utf8;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// A JVM TI environment.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti(JvmtiEnv);

// SAFETY: JVM TI environments may be used on every thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

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

    /// Disposes of the environment, with its tags and events.
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

    /// Has all threads call this in place of JNI's `ExceptionDescribe`, and keeps what they called
    /// before. Native code and other agents see the new function; the JVM itself does not call it.
    pub(crate) fn replace_describe(
        self,
        ours: sys::ExceptionDescribe,
        theirs: &OnceLock<sys::ExceptionDescribe>,
    ) -> bool {
        let mut table = ptr::null_mut();
        // SAFETY: a place for the copy of the table that the JVM makes, which is given back.
        // `EXCEPTION_DESCRIBE` is the slot of a function of this type, and never null. The original
        // is kept before ours can be called; the JVM copies the table that it is given.
        unsafe {
            if self.0.GetJNIFunctionTable(&mut table) != sys::OK || table.is_null() {
                return false;
            }
            let slot = table.add(sys::EXCEPTION_DESCRIBE);
            let before = std::mem::transmute::<*const c_void, sys::ExceptionDescribe>(*slot);
            let is_set = theirs.set(before).is_ok() && {
                *slot = ours as *const c_void;
                self.0.SetJNIFunctionTable(table) == sys::OK
            };
            self.0.Deallocate(table.cast());
            is_set
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
            let owned = Utf8::new(CStr::from_ptr(text).to_bytes()).to_string_lossy();
            let owned = owned.into_owned();
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

    /// Whether a class's initialiser has completed.
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

    /// The methods that a class declares.
    fn class_methods(self, class: Obj) -> Vec<sys::MethodId> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: valid class, places for results.
        let error = unsafe { (self.0).GetClassMethods(class.raw(), &mut count, &mut methods) };
        if error != sys::OK {
            return Vec::new();
        }
        self.take_array(methods, count)
    }

    /// Whether a class declares a method of this name and descriptor. Asking does not initialise
    /// it.
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

    /// The name, descriptor and access flags of a field.
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
}
