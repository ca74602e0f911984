//! What inserted code calls: the class `java/lang/HindsightProbe`.
//!
//! A handler opens a frame and appends the method's captures in their order:
//!
//! ```text
//! HindsightProbe.frame(exception, method).a(reference).j(number)...
//! ```
//!
//! - The items of this module are the classes of the probes for crashes and for logged writes.
//! - [`trace`] is what code inserted for traces calls.
//! - [`stand_ins`] are the methods that take the place of methods which write unseen.
//!
//! **Invariant:** names and descriptors here are those of the Java sources of these classes. A
//! change here is a change there, too.

pub mod stand_ins;
pub mod trace;

/// The class of the probes. It is defined in `java.base`, so that every class loader and every
/// module sees it.
pub const PROBE: &str = "java/lang/HindsightProbe";

/// The class with the methods and fields of all probes, none of which does anything. Classes that
/// come with the probes of another run are made to call it (see [`run_of`](crate::run_of)).
pub const SILENT: &str = "java/lang/HindsightSilent";

/// A method of [`PROBE`], or of another class of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeMethod {
    /// The method's name.
    pub name: &'static str,
    /// The method's descriptor.
    pub descriptor: &'static str,
}

/// The most references that [`frame`] takes.
pub const MAX_REFERENCES: usize = 8;
/// The most words that [`frame`] takes.
pub const MAX_WORDS: usize = 3;

/// Static. Opens the frame of a method in the current thread's buffer with this many references
/// and, behind them, words: `int` and the like widened to `long`. There is one method for each pair
/// of counts up to [`MAX_REFERENCES`] and [`MAX_WORDS`].
///
/// # Panics
///
/// Panics if there is none for these counts.
pub fn frame(references: usize, words: usize) -> ProbeMethod {
    ProbeMethod {
        name: "frame",
        descriptor: FRAMES[words][references],
    }
}

macro_rules! frames {
    ($($words:literal)*) => {
        [$([
            concat!("(Ljava/lang/Throwable;I", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
            concat!("(Ljava/lang/Throwable;ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;", $words, ")Ljava/lang/HindsightProbe;"),
        ]),*]
    };
}

const FRAMES: [[&str; MAX_REFERENCES + 1]; MAX_WORDS + 1] = frames!("" "J" "JJ" "JJJ");

/// Appends a reference; returns the buffer, as all appending methods do.
pub const APPEND_REFERENCE: ProbeMethod = ProbeMethod {
    name: "a",
    descriptor: "(Ljava/lang/Object;)Ljava/lang/HindsightProbe;",
};

/// Appends a `boolean`, `byte`, `char`, `short` or `int`.
pub const APPEND_INT: ProbeMethod = ProbeMethod {
    name: "i",
    descriptor: "(I)Ljava/lang/HindsightProbe;",
};

/// Appends a `long`.
pub const APPEND_LONG: ProbeMethod = ProbeMethod {
    name: "j",
    descriptor: "(J)Ljava/lang/HindsightProbe;",
};

/// Appends a `float`.
pub const APPEND_FLOAT: ProbeMethod = ProbeMethod {
    name: "f",
    descriptor: "(F)Ljava/lang/HindsightProbe;",
};

/// Appends a `double`.
pub const APPEND_DOUBLE: ProbeMethod = ProbeMethod {
    name: "d",
    descriptor: "(D)Ljava/lang/HindsightProbe;",
};

/// All methods that append, each for one kind of value.
pub const APPENDING: [ProbeMethod; 5] = [
    APPEND_REFERENCE,
    APPEND_INT,
    APPEND_LONG,
    APPEND_FLOAT,
    APPEND_DOUBLE,
];

/// Closes a frame and reports the exception, in methods matched by an escape rule.
pub const ESCAPE: ProbeMethod = ProbeMethod {
    name: "escape",
    descriptor: "()V",
};

/// Static. Records that a handler has caught an exception.
pub const CAUGHT: ProbeMethod = ProbeMethod {
    name: "caught",
    descriptor: "(Ljava/lang/Throwable;I)V",
};

/// Static. Records that a handler has caught an exception, and reports it.
pub const CAUGHT_REPORT: ProbeMethod = ProbeMethod {
    name: "caughtReport",
    descriptor: "(Ljava/lang/Throwable;I)V",
};

/// Static. Called by the hook at the entry of [`DISPATCH_UNCAUGHT`].
pub const UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "uncaught",
    descriptor: "(Ljava/lang/Thread;Ljava/lang/Throwable;)V",
};

/// Static. Called by the hook at the entry of [`GROUP_UNCAUGHT`].
pub const HANDED_OVER: ProbeMethod = ProbeMethod {
    name: "handedOver",
    descriptor: "(Ljava/lang/ThreadGroup;Ljava/lang/Thread;Ljava/lang/Throwable;)V",
};

/// Static. Called by the hook at the entry of [`HANDLE_UNCAUGHT`].
pub const UNHANDLED: ProbeMethod = ProbeMethod {
    name: "unhandled",
    descriptor: "(Ljava/lang/Throwable;)V",
};

/// Static. The bodies that the agent gives to the methods of the program's
/// `dev.hindsight.Hindsight`, which have the same names and descriptors.
pub const RECORDS: [ProbeMethod; 2] = [
    ProbeMethod {
        name: "record",
        descriptor: "(Ljava/lang/String;)V",
    },
    ProbeMethod {
        name: "record",
        descriptor: "(Ljava/lang/Throwable;)V",
    },
];

/// The method of `java/lang/Thread` that the JVM calls on a thread that an exception ends.
pub const DISPATCH_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "dispatchUncaughtException",
    descriptor: "(Ljava/lang/Throwable;)V",
};

/// The method of `java/lang/ThreadGroup` that handles exceptions that nothing else handles.
/// Libraries that catch everything that comes out of the program's code (Swing) call it themselves,
/// and their threads go on.
pub const GROUP_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "uncaughtException",
    descriptor: "(Ljava/lang/Thread;Ljava/lang/Throwable;)V",
};

/// The class of the JDK through which native code calls Java (JEP 454). It has the static method
/// [`HANDLE_UNCAUGHT`].
pub const UPCALLS: &str = "jdk/internal/foreign/abi/SharedUtils";
/// The static method of [`UPCALLS`] that takes what such a call has thrown, or null, and then ends
/// the JVM.
pub const HANDLE_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "handleUncaughtException",
    descriptor: "(Ljava/lang/Throwable;)V",
};

/// The class that keeps the old values of what is written, so that writes can be undone.
pub const WRITES: &str = "java/lang/HindsightWrites";

/// Name and descriptor of the static field of [`WRITES`] that counts probes in handlers that found
/// the stack exhausted.
pub const MISSED: (&str, &str) = ("missed", "I");

/// A method of [`WRITES`]. All are static, and all but `enter` return nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProbe {
    /// Returns the position in the current thread's log, which a method keeps from its entry on.
    Enter,
    /// Called before fields of an object are written. Takes the object, which may be null, and the
    /// ids of this many fields (one to three); if the flag is set, also the position that the
    /// method keeps.
    Put(usize, bool),
    /// Called before an array element is written. Takes the array, which may be null, and the
    /// index, which may be out of range. There is one method for each element type, numbered by the
    /// place of the instruction counted from `iastore`.
    Store(u8),
    /// Called before `System.arraycopy` and the like. Takes the destination array, the index at
    /// which they write, and the number of elements.
    Copy,
    /// Called before characters are copied to an array. Takes the start and end of the source, the
    /// destination array, and the index there.
    Characters,
    /// Called before bytes are encoded or decoded. Takes the start and end of the source, the
    /// destination array, and the index there. No source byte gives more than two bytes.
    Coded,
    /// Called before any elements are written. Takes the array.
    Array,
    /// Called before bytes are decoded. Takes the buffer with the bytes, and the buffer for the
    /// characters.
    Decoded,
    /// Called before characters are encoded. Takes the buffer with the characters, and the buffer
    /// for the bytes.
    Encoded,
    /// Called before an element of an array of any type is written. Takes the array and the index.
    Element,
    /// Called before a write by a variable handle. Takes the handle, and the object; null if the
    /// handle takes none.
    Handle,
    /// Called before a write by a variable handle that takes an index. Takes the handle, the object
    /// and the index.
    HandleElement,
    /// Called before a write by `Unsafe`. Takes the object and the offset in it.
    Memory,
    /// Called before a write by `Unsafe` of several bytes. Takes the object, the offset in it, and
    /// the number of bytes.
    Bytes,
    /// Called before any field of an object may be written. Takes the object.
    Object,
    /// Called before the text of a string builder changes from an index on. Takes the builder and
    /// the index.
    Text,
    /// Called before a character of a string builder changes. Takes the builder and the index.
    Character,
    /// Called before an action by which other threads may see what has been written.
    Release,
}

impl WriteProbe {
    /// All probes of [`WRITES`].
    pub fn all() -> impl Iterator<Item = Self> {
        let puts = (1..=3).flat_map(|count| [false, true].map(|own| Self::Put(count, own)));
        let others = [
            Self::Enter,
            Self::Copy,
            Self::Characters,
            Self::Coded,
            Self::Array,
            Self::Decoded,
            Self::Encoded,
            Self::Element,
            Self::Handle,
            Self::HandleElement,
            Self::Memory,
            Self::Bytes,
            Self::Object,
            Self::Text,
            Self::Character,
            Self::Release,
        ];
        puts.chain((0..8).map(Self::Store)).chain(others)
    }

    /// The probe's name and descriptor.
    pub fn method(self) -> ProbeMethod {
        let (name, descriptor) = match self {
            Self::Enter => ("enter", "()J"),
            Self::Put(1, false) => ("put", "(Ljava/lang/Object;I)V"),
            Self::Put(1, true) => ("put", "(Ljava/lang/Object;IJ)V"),
            Self::Put(2, false) => ("put", "(Ljava/lang/Object;II)V"),
            Self::Put(2, true) => ("put", "(Ljava/lang/Object;IIJ)V"),
            Self::Put(_, false) => ("put", "(Ljava/lang/Object;III)V"),
            Self::Put(_, true) => ("put", "(Ljava/lang/Object;IIIJ)V"),
            Self::Store(place) => (
                "store",
                match place {
                    0 => "([II)V",
                    1 => "([JI)V",
                    2 => "([FI)V",
                    3 => "([DI)V",
                    4 => "([Ljava/lang/Object;I)V",
                    // An array of `boolean` or of `byte`.
                    5 => "(Ljava/lang/Object;I)V",
                    6 => "([CI)V",
                    _ => "([SI)V",
                },
            ),
            Self::Copy => ("copy", "(Ljava/lang/Object;II)V"),
            Self::Characters => ("characters", "(IILjava/lang/Object;I)V"),
            Self::Coded => ("coded", "(IILjava/lang/Object;I)V"),
            Self::Array => ("array", "(Ljava/lang/Object;)V"),
            Self::Decoded => ("decoded", "(Ljava/nio/ByteBuffer;Ljava/nio/CharBuffer;)V"),
            Self::Encoded => ("encoded", "(Ljava/nio/CharBuffer;Ljava/nio/ByteBuffer;)V"),
            Self::Element => ("element", "(Ljava/lang/Object;I)V"),
            Self::Handle => (
                "handle",
                "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;)V",
            ),
            Self::HandleElement => (
                "handle",
                "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;I)V",
            ),
            Self::Memory => ("memory", "(Ljava/lang/Object;J)V"),
            Self::Bytes => ("bytes", "(Ljava/lang/Object;JJ)V"),
            Self::Object => ("object", "(Ljava/lang/Object;)V"),
            Self::Text => ("text", "(Ljava/lang/AbstractStringBuilder;I)V"),
            Self::Character => ("character", "(Ljava/lang/AbstractStringBuilder;I)V"),
            Self::Release => ("release", "()V"),
        };
        ProbeMethod { name, descriptor }
    }
}
