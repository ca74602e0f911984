//! Objects of the heap: their tags, and what refers to them.

use super::Jvmti;
use crate::jni::Obj;
use crate::sys;
use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::ptr;

/// A reference in a local variable of some thread.
pub(crate) struct StackLocal {
    pub(crate) info: sys::StackLocalInfo,
    /// The tag of the object; 0 if it has none.
    pub(crate) tag: i64,
}

/// How objects are tagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tags {
    /// Each gets a number of its own.
    Own,
    /// All get the same tag.
    One,
}

impl Jvmti {
    /// The tag of an object, 0 if it has none.
    pub(crate) fn tag(self, object: Obj) -> i64 {
        let mut tag = 0;
        // SAFETY: valid reference, place for a long.
        unsafe { self.0.GetTag(object.raw(), &mut tag) };
        tag
    }

    /// Tags an object. Returns whether the JVM had the memory for it.
    pub(crate) fn set_tag(self, object: Obj, tag: i64) -> bool {
        // SAFETY: valid reference.
        unsafe { self.0.SetTag(object.raw(), tag) == sys::OK }
    }

    /// The objects that have this tag. It takes a single tag, because the JVM compares each tagged
    /// object with each tag that is asked for, and cannot be interrupted meanwhile.
    pub(crate) fn tagged(self, tag: i64) -> Vec<Obj> {
        let (mut count, mut objects) = (0, ptr::null_mut());
        // SAFETY: one tag, as announced, places for results; null for those that are not asked for.
        let error = unsafe {
            (self.0).GetObjectsWithTags(1, &tag, &mut count, &mut objects, ptr::null_mut())
        };
        match error {
            sys::OK => self.take_references(objects, count),
            _ => Vec::new(),
        }
    }

    /// The references in local variables of all threads, at one moment. Objects without a tag get
    /// one if they are `wanted`: the first tag behind those of `threads`, and each its own or all
    /// this one.
    ///
    /// An unmounted virtual thread is included only if it has one of the tags `threads`, and the
    /// caller has a local reference to it: the JVM reports its stack when it reaches the thread on
    /// its way from the roots.
    pub(crate) fn stack_locals(
        self,
        threads: RangeInclusive<i64>,
        wanted: &dyn Fn(&sys::StackLocalInfo) -> bool,
        tags: Tags,
    ) -> Vec<StackLocal> {
        struct Seen<'w> {
            threads: RangeInclusive<i64>,
            wanted: &'w dyn Fn(&sys::StackLocalInfo) -> bool,
            tags: Tags,
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
                    let seen = &mut *seen.cast::<Seen<'_>>();
                    if *tag == 0 && (seen.wanted)(&info) {
                        *tag = seen.next_tag;
                        seen.next_tag += i64::from(seen.tags == Tags::Own);
                    }
                    seen.locals.push(StackLocal { info, tag: *tag });
                }
            } else if kind == sys::REFERENCE_JNI_LOCAL && !tag.is_null() {
                // SAFETY: as above.
                let is_thread = unsafe { (*seen.cast::<Seen<'_>>()).threads.contains(&*tag) };
                if is_thread {
                    return sys::VISIT_OBJECTS;
                }
            }
            // Nothing behind it is needed.
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
            wanted,
            tags,
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

    /// Makes the JVM undo the JIT's optimisations of objects in the frames of all threads: an
    /// object that was scalar-replaced is whole again. The environment must be able to tag objects.
    ///
    /// The JVM does this before it shows its heap to any agent (JDK 16 and up); here the walk ends
    /// with the first reference.
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
}
