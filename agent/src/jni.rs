//! JNI for the rest of the agent, without `unsafe` at the call sites.
//!
//! - [`contents`] reads and writes what objects and classes hold.
//!
//! **Invariant:** an [`Obj`] is a reference that the JVM has handed out and that has not been
//! deleted. Only this module and the callbacks make them. Local ones never leave the native call
//! that they belong to; a reference for other threads is a [`Global`].
//!
//! **Invariant:** a [`FieldId`] or [`MethodId`] is used on objects of the class in which it was
//! looked up; the snapshot keeps them per class for that reason.

#![expect(unsafe_code, reason = "wraps the JNI function table")]

mod contents;

use crate::sys::{self, JValue, JniEnv};
use std::ffi::CStr;
use std::ops::Deref;
use std::ptr;

/// A reference to a Java object, never null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Obj(sys::Ref);

impl Obj {
    /// # Safety
    ///
    /// `reference` must be null or a valid JNI reference for as long as it is used.
    pub(crate) unsafe fn from_raw(reference: sys::Ref) -> Option<Obj> {
        if reference.is_null() {
            None
        } else {
            Some(Obj(reference))
        }
    }

    pub(crate) fn raw(self) -> sys::Ref {
        self.0
    }
}

/// A reference that all threads may use. It is never deleted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Global(Obj);

impl Deref for Global {
    type Target = Obj;

    fn deref(&self) -> &Obj {
        &self.0
    }
}

// SAFETY: global references are valid on every thread; [`Jni::global`] alone makes them.
unsafe impl Send for Global {}
// SAFETY: as above.
unsafe impl Sync for Global {}

/// A reference that does not keep its object from being collected.
#[derive(Debug)]
pub(crate) struct WeakObj(sys::Ref);

// SAFETY: weak global references are valid on every thread.
unsafe impl Send for WeakObj {}
// SAFETY: as above.
unsafe impl Sync for WeakObj {}

/// A field of some class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldId(pub(crate) sys::FieldId);

/// A method of some class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MethodId(sys::MethodId);

// SAFETY: IDs are opaque numbers for the JVM, valid on every thread as long as
// the class is loaded; the stored ones belong to boot classes.
unsafe impl Send for FieldId {}
// SAFETY: as above.
unsafe impl Sync for FieldId {}
// SAFETY: as above.
unsafe impl Send for MethodId {}
// SAFETY: as above.
unsafe impl Sync for MethodId {}

/// The JNI environment of the current thread.
#[derive(Clone, Copy)]
pub(crate) struct Jni(JniEnv);

/// The number of local references announced for a frame. HotSpot reserves nothing for it;
/// `-Xcheck:jni` compares with it, and it is the most that may be announced.
const CAPACITY: i32 = 65_536;

/// The size in bytes of an element of an array of a primitive type, by its descriptor's letter.
pub(crate) fn primitive_size(letter: u8) -> Option<usize> {
    match letter {
        b'Z' | b'B' => Some(1),
        b'C' | b'S' => Some(2),
        b'I' | b'F' => Some(4),
        b'J' | b'D' => Some(8),
        _ => None,
    }
}

impl Jni {
    /// # Safety
    ///
    /// `env` must be the current thread's environment, and the value must not leave this thread.
    pub(crate) unsafe fn new(env: JniEnv) -> Jni {
        Jni(env)
    }

    fn obj(reference: sys::Ref) -> Option<Obj> {
        // SAFETY: called with what a JNI function has just returned.
        unsafe { Obj::from_raw(reference) }
    }

    /// Defines a class in the boot loader.
    pub(crate) fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Option<Obj> {
        // SAFETY: name and bytes live through the call.
        let class = unsafe {
            self.0.DefineClass(
                name.as_ptr(),
                ptr::null_mut(),
                bytes.as_ptr(),
                bytes.len() as i32,
            )
        };
        self.checked(Self::obj(class))
    }

    pub(crate) fn find_class(self, name: &CStr) -> Option<Obj> {
        // SAFETY: the name lives through the call.
        let class = unsafe { self.0.FindClass(name.as_ptr()) };
        self.checked(Self::obj(class))
    }

    /// A class that must exist, initialised, by a reference for all threads. `Err` says that it is
    /// missing, or that there is no memory left for it.
    pub(crate) fn required_class(self, name: &CStr) -> Result<Global, String> {
        // SAFETY: the name lives through the call.
        let class = unsafe { Self::obj(self.0.FindClass(name.as_ptr())) };
        let thrown = self.thrown();
        let class = class.filter(|_| thrown.is_none());
        let class = class.and_then(|class| self.global(class));
        class.ok_or_else(|| {
            let no_memory = self.find_class(c"java/lang/OutOfMemoryError");
            let is_full = thrown
                .zip(no_memory)
                .is_some_and(|(thrown, no_memory)| self.is_instance(thrown, no_memory));
            let name = name.to_string_lossy();
            match is_full {
                true => format!("the JVM is out of memory: class {name} cannot be initialised"),
                false => format!("class {name} is missing"),
            }
        })
    }

    /// Clears a pending exception, for which it returns `None`.
    fn checked<T>(self, value: Option<T>) -> Option<T> {
        // SAFETY: both may be called at any time.
        unsafe {
            if self.0.ExceptionCheck() != 0 {
                self.0.ExceptionClear();
                return None;
            }
        }
        value
    }

    /// Clears and returns the pending exception, if there is one.
    pub(crate) fn thrown(self) -> Option<Obj> {
        // SAFETY: may be called at any time.
        let thrown = unsafe { Self::obj(self.0.ExceptionOccurred()) };
        self.checked(Some(()));
        thrown
    }

    /// Runs `body` in a local frame, so that all references that it makes are freed afterwards.
    pub(crate) fn with_frame<T>(self, body: impl FnOnce(Jni) -> T) -> Option<T> {
        struct Pop(JniEnv);
        impl Drop for Pop {
            fn drop(&mut self) {
                // SAFETY: pops the frame pushed below, on unwinding too.
                unsafe { self.0.PopLocalFrame(ptr::null_mut()) };
            }
        }
        // SAFETY: popped by the guard.
        if unsafe { self.0.PushLocalFrame(CAPACITY) } != sys::OK {
            return self.checked(None);
        }
        let _pop = Pop(self.0);
        Some(body(self))
    }

    pub(crate) fn superclass(self, class: Obj) -> Option<Obj> {
        // SAFETY: `class` is a class by the callers' construction.
        Self::obj(unsafe { self.0.GetSuperclass(class.0) })
    }

    pub(crate) fn global(self, object: Obj) -> Option<Global> {
        // SAFETY: valid reference.
        Self::obj(unsafe { self.0.NewGlobalRef(object.0) }).map(Global)
    }

    /// A weak reference to an object that the JVM gave, by which its collection can be seen.
    pub(crate) fn weak(self, object: sys::Ref) -> Option<WeakObj> {
        // SAFETY: a reference as the JVM gave it, or null, which gives null.
        let weak = unsafe { self.0.NewWeakGlobalRef(object) };
        self.checked((!weak.is_null()).then_some(WeakObj(weak)))
    }

    /// Whether it refers to this object.
    pub(crate) fn is_weakly(self, weak: &WeakObj, object: sys::Ref) -> bool {
        // SAFETY: both are valid; the weak one is deleted by [`Jni::forget`] alone.
        unsafe { self.0.IsSameObject(weak.0, object) != 0 }
    }

    /// Whether what it referred to has been collected.
    pub(crate) fn is_gone(self, weak: &WeakObj) -> bool {
        self.is_weakly(weak, ptr::null_mut())
    }

    pub(crate) fn forget(self, weak: WeakObj) {
        // SAFETY: handed over, and used no more.
        unsafe { self.0.DeleteWeakGlobalRef(weak.0) }
    }

    /// Another reference to the same object.
    pub(crate) fn local(self, object: Obj) -> Option<Obj> {
        // SAFETY: valid reference.
        Self::obj(unsafe { self.0.NewLocalRef(object.0) })
    }

    pub(crate) fn is_instance(self, object: Obj, class: Obj) -> bool {
        // SAFETY: valid references, the second one to a class by the callers' construction.
        unsafe { self.0.IsInstanceOf(object.0, class.0) != 0 }
    }

    pub(crate) fn delete_local(self, object: Obj) {
        // SAFETY: callers hand over a local reference and forget it.
        unsafe { self.0.DeleteLocalRef(object.0) }
    }

    pub(crate) fn same(self, a: Obj, b: Obj) -> bool {
        // SAFETY: valid references.
        unsafe { self.0.IsSameObject(a.0, b.0) != 0 }
    }

    pub(crate) fn class_of(self, object: Obj) -> Obj {
        // SAFETY: valid, non-null reference; every object has a class.
        Obj(unsafe { self.0.GetObjectClass(object.0) })
    }

    /// The class of a loader as a load hook gets it; `None` for the boot loader, whose reference is
    /// null.
    pub(crate) fn class_of_loader(self, loader: sys::Ref) -> Option<Obj> {
        if loader.is_null() {
            return None;
        }
        // SAFETY: the JVM lends the hook a reference, which is not null.
        Self::obj(unsafe { self.0.GetObjectClass(loader) })
    }

    pub(crate) fn method(self, class: Obj, name: &CStr, signature: &CStr) -> Option<MethodId> {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetMethodID(class.0, name.as_ptr(), signature.as_ptr())
        };
        self.checked((!id.is_null()).then_some(MethodId(id)))
    }

    pub(crate) fn static_method(
        self,
        class: Obj,
        name: &CStr,
        signature: &CStr,
    ) -> Option<MethodId> {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetStaticMethodID(class.0, name.as_ptr(), signature.as_ptr())
        };
        self.checked((!id.is_null()).then_some(MethodId(id)))
    }

    pub(crate) fn field(self, class: Obj, name: &CStr, signature: &CStr) -> Option<FieldId> {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetFieldID(class.0, name.as_ptr(), signature.as_ptr())
        };
        self.checked((!id.is_null()).then_some(FieldId(id)))
    }

    /// Calls a method of `class` without virtual dispatch, so that an override in the program is
    /// not run. `method` must take no arguments and return an object.
    pub(crate) fn call_exact(self, object: Obj, class: Obj, method: MethodId) -> Option<Obj> {
        // SAFETY: `method` was looked up in `class`, of which `object` is an instance.
        let result = unsafe {
            self.0
                .CallNonvirtualObjectMethodA(object.0, class.0, method.0, ptr::null())
        };
        self.checked(Self::obj(result))
    }

    /// Makes an exception pending.
    pub(crate) fn throw(self, exception: Obj) {
        // SAFETY: `exception` is a throwable: callers pass what was pending before.
        unsafe { self.0.Throw(exception.0) };
    }

    pub(crate) fn call_static_void(self, class: Obj, method: MethodId, args: &[JValue]) {
        // SAFETY: `method` is a static method of `class`; callers pass its arguments.
        unsafe {
            self.0
                .CallStaticVoidMethodA(class.0, method.0, args.as_ptr())
        };
        self.checked(Some(()));
    }

    /// Calls a static method that returns a boolean.
    pub(crate) fn call_static_boolean(
        self,
        class: Obj,
        method: MethodId,
        args: &[JValue],
    ) -> Option<bool> {
        // SAFETY: `method` is a static method of `class`; callers pass its arguments.
        let result = unsafe {
            self.0
                .CallStaticBooleanMethodA(class.0, method.0, args.as_ptr())
        };
        self.checked(Some(result != 0))
    }

    /// Calls a static method that returns an int.
    pub(crate) fn call_static_int(
        self,
        class: Obj,
        method: MethodId,
        args: &[JValue],
    ) -> Option<i32> {
        // SAFETY: `method` is a static method of `class`; callers pass its arguments.
        let result = unsafe {
            self.0
                .CallStaticIntMethodA(class.0, method.0, args.as_ptr())
        };
        self.checked(Some(result))
    }

    /// Calls a method without parameters that returns a long.
    pub(crate) fn call_long(self, object: Obj, method: MethodId) -> Option<i64> {
        // SAFETY: `method` is one of the object's class, and has no parameters.
        let result = unsafe { self.0.CallLongMethodA(object.0, method.0, ptr::null()) };
        self.checked(Some(result))
    }

    /// Calls a static method that returns an object.
    pub(crate) fn call_static_object(
        self,
        class: Obj,
        method: MethodId,
        args: &[JValue],
    ) -> Option<Obj> {
        self.try_static_object(class, method, args).ok().flatten()
    }

    /// Calls a static method that returns an object. `Err` is the exception that it has thrown.
    pub(crate) fn try_static_object(
        self,
        class: Obj,
        method: MethodId,
        args: &[JValue],
    ) -> Result<Option<Obj>, Obj> {
        // SAFETY: `method` is a static method of `class`; callers pass its arguments.
        let result = unsafe {
            self.0
                .CallStaticObjectMethodA(class.0, method.0, args.as_ptr())
        };
        self.thrown().map_or(Ok(Self::obj(result)), Err)
    }

    /// Makes an object.
    pub(crate) fn new_object(
        self,
        class: Obj,
        constructor: MethodId,
        args: &[JValue],
    ) -> Option<Obj> {
        // SAFETY: the constructor was looked up in `class`; callers pass its arguments.
        let made = unsafe { self.0.NewObjectA(class.0, constructor.0, args.as_ptr()) };
        self.checked(Self::obj(made))
    }

    pub(crate) fn new_string(self, text: &CStr) -> Option<Obj> {
        // SAFETY: the text lives through the call.
        let made = unsafe { self.0.NewStringUTF(text.as_ptr()) };
        self.checked(Self::obj(made))
    }
}
