//! What inserted code calls: the class `java/lang/HindsightProbe`.
//!
//! A handler opens a frame and appends the method's captures in their order:
//!
//! ```text
//! HindsightProbe.frame(exception, method).a(reference).j(number)...
//! ```
//!
//! Changing anything here changes the Java source of that class too. Traces have
//! a class of their own, see [`trace`].

pub mod stand_ins;
pub mod trace;

/// The class of the probes. It is defined in `java.base`, so that every class
/// loader and every module sees it.
pub const PROBE: &str = "java/lang/HindsightProbe";

/// The class with the methods and fields of all probes, none of which does anything: what classes call that come with
/// the probes of another run (see [`run_of`](crate::run_of)).
pub const SILENT: &str = "java/lang/HindsightSilent";

/// A method of [`PROBE`], or another class of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeMethod {
    /// Its name.
    pub name: &'static str,
    /// Its descriptor.
    pub descriptor: &'static str,
}

/// References that [`frame`] takes at most.
pub const MAX_REFERENCES: usize = 8;
/// Words that [`frame`] takes at most.
pub const MAX_WORDS: usize = 3;

/// Static. Opens the frame of a method in the current thread's buffer with this
/// many references and, behind them, words: `int` and the like widened to
/// `long`. There is one for each pair of counts up to [`MAX_REFERENCES`] and
/// [`MAX_WORDS`].
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

/// All that append, each of one kind of value.
pub const APPENDING: [ProbeMethod; 5] = [
    APPEND_REFERENCE,
    APPEND_INT,
    APPEND_LONG,
    APPEND_FLOAT,
    APPEND_DOUBLE,
];

/// Closes a frame and reports, in methods matched by an escape rule.
pub const ESCAPE: ProbeMethod = ProbeMethod {
    name: "escape",
    descriptor: "()V",
};

/// Static. Tells that a handler has caught an exception.
pub const CAUGHT: ProbeMethod = ProbeMethod {
    name: "caught",
    descriptor: "(Ljava/lang/Throwable;I)V",
};

/// Static. The same, and reports.
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

/// Static. What the program's `dev.hindsight.Hindsight` is filled with: methods
/// of the same names and descriptors.
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

/// The method of `java/lang/Thread` that the JVM calls on a thread which dies of
/// an exception.
pub const DISPATCH_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "dispatchUncaughtException",
    descriptor: "(Ljava/lang/Throwable;)V",
};

/// The method of `java/lang/ThreadGroup` that handles what nobody else does. Libraries which catch all
/// that comes out of the program's code (Swing) call it by themselves, and their threads go on.
pub const GROUP_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "uncaughtException",
    descriptor: "(Ljava/lang/Thread;Ljava/lang/Throwable;)V",
};

/// The class of the JDK that native code calls Java through (JEP 454), and its static method that is
/// given what such a call has thrown, or null, and then ends the JVM.
pub const UPCALLS: &str = "jdk/internal/foreign/abi/SharedUtils";
/// The method.
pub const HANDLE_UNCAUGHT: ProbeMethod = ProbeMethod {
    name: "handleUncaughtException",
    descriptor: "(Ljava/lang/Throwable;)V",
};

/// The class that keeps what is written over, so that writes can be undone.
pub const WRITES: &str = "java/lang/HindsightWrites";

/// The static field of [`WRITES`] that counts probes in handlers that found no
/// stack: name and descriptor.
pub const MISSED: (&str, &str) = ("missed", "I");

/// A method of [`WRITES`]. All are static, and all but `enter` return nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProbe {
    /// Returns the position in the current thread's log, which a method keeps
    /// from its entry on.
    Enter,
    /// Before fields of an object are written: the object, which may be null, and
    /// the ids of so many fields, one to three. Of a method that keeps its position,
    /// that too.
    Put(usize, bool),
    /// Before an element is written: the array, which may be null, and the index,
    /// which may be out of range. There is one for each type of element, by the
    /// place of the instruction after `iastore`.
    Store(u8),
    /// Before `System.arraycopy` and the like: the array, where they write, and how
    /// many elements.
    Copy,
    /// Before characters are copied to an array: their indices from and to, the
    /// array, and where they go.
    Characters,
    /// Before bytes are turned to others: their indices from and to, the array for the
    /// others, and where they go. None gives more than two.
    Coded,
    /// Before any element is written: the array.
    Array,
    /// Before bytes are decoded: a buffer with them, and that for the characters.
    Decoded,
    /// Before characters are encoded: a buffer with them, and that for the bytes.
    Encoded,
    /// Before an element is written, of an array of any type: array and index.
    Element,
    /// Before a write by a variable handle: the handle, and the object; null if the
    /// handle is given none.
    Handle,
    /// The same of one that is given an index too: the handle, the object and the index.
    HandleElement,
    /// Before a write by `Unsafe`: the object, and where in it.
    Memory,
    /// The same, with the number of bytes that are written.
    Bytes,
    /// Before any field of an object is written.
    Object,
    /// Before the text of a builder changes from an index on: the builder, and the
    /// index.
    Text,
    /// Before a character of a builder changes: the builder, and the index.
    Character,
    /// Before something by which other threads may learn what has been written.
    Release,
}

impl WriteProbe {
    /// All of them.
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

    /// Its name and descriptor.
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
                    // Of `boolean` or of `byte`.
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
