//! What objects and classes hold: static fields, fields, elements of arrays, characters of strings.

use super::{FieldId, Jni, Obj, primitive_size};
use std::ffi::{CStr, c_void};

impl Jni {
    pub(crate) fn set_static_boolean(self, class: Obj, name: &CStr, value: bool) -> bool {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetStaticFieldID(class.0, name.as_ptr(), c"Z".as_ptr())
        };
        let Some(id) = self.checked((!id.is_null()).then_some(id)) else {
            return false;
        };
        // SAFETY: a static boolean field of this class.
        unsafe { self.0.SetStaticBooleanField(class.0, id, u8::from(value)) };
        true
    }

    /// The object in a static field of a class that must be initialised: looking the field up would
    /// initialise any other class, which runs its code.
    pub(crate) fn static_object(self, class: Obj, name: &CStr, signature: &CStr) -> Option<Obj> {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetStaticFieldID(class.0, name.as_ptr(), signature.as_ptr())
        };
        let id = self.checked((!id.is_null()).then_some(id))?;
        // SAFETY: a static field of this class, which holds a reference.
        Self::obj(unsafe { self.0.GetStaticObjectField(class.0, id) })
    }

    /// The object in a static field of this class, which is initialised.
    pub(crate) fn static_reference(self, class: Obj, field: FieldId) -> Option<Obj> {
        // SAFETY: the field was looked up in this class, is static and holds a reference.
        Self::obj(unsafe { self.0.GetStaticObjectField(class.0, field.0) })
    }

    /// A static field of type boolean, byte, char, short, int or long, as 64 bits.
    pub(crate) fn static_integral(self, class: Obj, field: FieldId, letter: u8) -> i64 {
        // SAFETY: as above; the letter is the field's descriptor.
        unsafe {
            match letter {
                b'Z' => i64::from(self.0.GetStaticBooleanField(class.0, field.0)),
                b'B' => i64::from(self.0.GetStaticByteField(class.0, field.0)),
                b'C' => i64::from(self.0.GetStaticCharField(class.0, field.0)),
                b'S' => i64::from(self.0.GetStaticShortField(class.0, field.0)),
                b'I' => i64::from(self.0.GetStaticIntField(class.0, field.0)),
                _ => self.0.GetStaticLongField(class.0, field.0),
            }
        }
    }

    pub(crate) fn static_float(self, class: Obj, field: FieldId) -> f32 {
        // SAFETY: as above.
        unsafe { self.0.GetStaticFloatField(class.0, field.0) }
    }

    pub(crate) fn static_double(self, class: Obj, field: FieldId) -> f64 {
        // SAFETY: as above.
        unsafe { self.0.GetStaticDoubleField(class.0, field.0) }
    }

    pub(crate) fn set_static_int(self, class: Obj, name: &CStr, value: i32) -> bool {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetStaticFieldID(class.0, name.as_ptr(), c"I".as_ptr())
        };
        let Some(id) = self.checked((!id.is_null()).then_some(id)) else {
            return false;
        };
        // SAFETY: a static int field of this class.
        unsafe { self.0.SetStaticIntField(class.0, id, value) };
        true
    }

    /// The long in a static field of a class that must be initialised.
    pub(crate) fn static_long(self, class: Obj, name: &CStr) -> Option<i64> {
        // SAFETY: strings live through the call.
        let id = unsafe {
            self.0
                .GetStaticFieldID(class.0, name.as_ptr(), c"J".as_ptr())
        };
        let id = self.checked((!id.is_null()).then_some(id))?;
        // SAFETY: a static field of this class, which holds a long.
        Some(unsafe { self.0.GetStaticLongField(class.0, id) })
    }

    /// The `java.lang.reflect.Field` of an instance field of this class. If there is no memory for
    /// it, the error stays pending, for the Java code that has asked.
    pub(crate) fn reflected(self, class: Obj, field: FieldId) -> Option<Obj> {
        // SAFETY: the field was looked up in this class.
        Self::obj(unsafe { self.0.ToReflectedField(class.0, field.0, 0) })
    }

    pub(crate) fn get_object(self, object: Obj, field: FieldId) -> Option<Obj> {
        // SAFETY: see the module's invariant on field IDs.
        Self::obj(unsafe { self.0.GetObjectField(object.0, field.0) })
    }

    pub(crate) fn get_int(self, object: Obj, field: FieldId) -> i32 {
        // SAFETY: see the module's invariant on field IDs.
        unsafe { self.0.GetIntField(object.0, field.0) }
    }

    /// A field of type boolean, byte, char, short, int or long, as 64 bits.
    pub(crate) fn get_integral(self, object: Obj, field: FieldId, letter: u8) -> i64 {
        // SAFETY: see the module's invariant on field IDs; the letter is the field's descriptor.
        unsafe {
            match letter {
                b'Z' => i64::from(self.0.GetBooleanField(object.0, field.0)),
                b'B' => i64::from(self.0.GetByteField(object.0, field.0)),
                b'C' => i64::from(self.0.GetCharField(object.0, field.0)),
                b'S' => i64::from(self.0.GetShortField(object.0, field.0)),
                b'I' => i64::from(self.0.GetIntField(object.0, field.0)),
                _ => self.0.GetLongField(object.0, field.0),
            }
        }
    }

    pub(crate) fn get_float(self, object: Obj, field: FieldId) -> f32 {
        // SAFETY: see the module's invariant on field IDs.
        unsafe { self.0.GetFloatField(object.0, field.0) }
    }

    pub(crate) fn get_double(self, object: Obj, field: FieldId) -> f64 {
        // SAFETY: see the module's invariant on field IDs.
        unsafe { self.0.GetDoubleField(object.0, field.0) }
    }

    /// The length of an array, in elements.
    pub(crate) fn array_len(self, array: Obj) -> usize {
        // SAFETY: callers know from the class that it is an array.
        usize::try_from(unsafe { self.0.GetArrayLength(array.0) }).unwrap_or(0)
    }

    pub(crate) fn array_get(self, array: Obj, index: usize) -> Option<Obj> {
        // SAFETY: callers stay below `array_len` of an array of references.
        Self::obj(unsafe { self.0.GetObjectArrayElement(array.0, index as i32) })
    }

    /// The first `len` elements of an array of primitives, in the machine's (little-endian) order.
    pub(crate) fn primitives(self, array: Obj, letter: u8, len: usize) -> Vec<u8> {
        let size = primitive_size(letter).unwrap_or(1);
        let mut bytes = vec![0_u8; len * size];
        let buffer = bytes.as_mut_ptr().cast::<c_void>();
        let count = len as i32;
        // SAFETY: the buffer has room for `len` elements, `len` is at most the array's length, and
        // the letter is the array's element type. The JVM copies bytes; alignment does not matter.
        unsafe {
            match letter {
                b'Z' => self.0.GetBooleanArrayRegion(array.0, 0, count, buffer),
                b'B' => self.0.GetByteArrayRegion(array.0, 0, count, buffer),
                b'C' => self.0.GetCharArrayRegion(array.0, 0, count, buffer),
                b'S' => self.0.GetShortArrayRegion(array.0, 0, count, buffer),
                b'I' => self.0.GetIntArrayRegion(array.0, 0, count, buffer),
                b'J' => self.0.GetLongArrayRegion(array.0, 0, count, buffer),
                b'F' => self.0.GetFloatArrayRegion(array.0, 0, count, buffer),
                _ => self.0.GetDoubleArrayRegion(array.0, 0, count, buffer),
            }
        }
        bytes
    }

    /// The first `len` elements of an `int[]`.
    pub(crate) fn ints(self, array: Obj, len: usize) -> Vec<i32> {
        let bytes = self.primitives(array, b'I', len);
        let ints = bytes.as_chunks().0.iter();
        ints.map(|bytes| i32::from_le_bytes(*bytes)).collect()
    }

    /// The first `len` elements of a `long[]`.
    pub(crate) fn longs(self, array: Obj, len: usize) -> Vec<i64> {
        let bytes = self.primitives(array, b'J', len);
        let longs = bytes.as_chunks().0.iter();
        longs.map(|bytes| i64::from_le_bytes(*bytes)).collect()
    }

    /// Writes to the beginning of an `int[]` that is at least as long.
    pub(crate) fn set_ints(self, array: Obj, values: &[u32]) {
        // SAFETY: callers know that it is such an array; the JVM reads `values` as `int`s.
        unsafe {
            let buffer = values.as_ptr().cast::<i32>();
            self.0
                .SetIntArrayRegion(array.0, 0, values.len() as i32, buffer);
        }
    }

    /// The length of a string, in UTF-16 code units.
    pub(crate) fn string_len(self, string: Obj) -> usize {
        // SAFETY: callers know from the class that it is a string.
        usize::try_from(unsafe { self.0.GetStringLength(string.0) }).unwrap_or(0)
    }

    /// The first `len` code units of a string.
    pub(crate) fn string_units(self, string: Obj, len: usize) -> Vec<u16> {
        let mut units = vec![0_u16; len];
        // SAFETY: the buffer has room for `len` units, and `len` is at most the string's length.
        unsafe {
            self.0
                .GetStringRegion(string.0, 0, len as i32, units.as_mut_ptr())
        };
        units
    }

    /// A whole string.
    pub(crate) fn string(self, string: Obj) -> String {
        String::from_utf16_lossy(&self.string_units(string, self.string_len(string)))
    }
}
