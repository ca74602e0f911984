//! Reads the object graph behind the captured references.
//!
//! - [`graph`] walks it breadth first and stores objects.
//! - [`classes`] decides how the objects of each class are stored.
//! - [`collections`] recognises containers among these, by their names.
//! - [`secrets`] keeps what must not be stored, wherever else it is.
//! - [`arrays`] finds the text in an array.
//! - [`standing`] finds the objects of which each JVM has its own.
//! - [`lambda`] finds the method behind a lambda's hidden class.
//!
//! **Invariant:** no code of the program runs here, because it could change the state that is read
//! (docs/architecture.md): fields are read through JNI, and identity is kept by JVMTI tags, in an
//! environment of its own that is disposed of with the snapshot. Of the JDK's code, only the method
//! that makes an exception fill in its stack trace is called (`Graph::trace`).
//!
//! **Invariant:** nothing else needs the Java heap, so a snapshot works under `OutOfMemoryError`;
//! exceptions have no trace then.

pub(crate) mod arrays;
pub(crate) mod classes;
pub(crate) mod collections;
pub(crate) mod graph;
pub(crate) mod lambda;
pub(crate) mod secrets;
pub(crate) mod standing;

use hindsight_tracelog::crash::Value;

/// The value of a primitive type whose descriptor begins with this letter, from the bits of a word.
pub(crate) fn of_word(letter: u8, word: i64) -> Value {
    primitive(
        letter,
        || word,
        || f32::from_bits(word as u32),
        || f64::from_bits(word as u64),
    )
}

/// The value of a primitive field whose descriptor begins with this letter, read in the way that
/// fits.
pub(crate) fn primitive(
    letter: u8,
    integral: impl FnOnce() -> i64,
    float: impl FnOnce() -> f32,
    double: impl FnOnce() -> f64,
) -> Value {
    match letter {
        b'Z' => Value::Bool(integral() != 0),
        b'F' => Value::Float(float()),
        b'D' => Value::Double(double()),
        _ => Value::Int(integral()),
    }
}
