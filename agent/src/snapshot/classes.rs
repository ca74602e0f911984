//! How the objects of each class are stored.
//!
//! - [`read`](mod@read) decides that.

mod read;

pub(crate) use read::read;

use crate::jni::{FieldId, Jni};
use crate::jvmti::Jvmti;
use crate::sys;
use hindsight_tracelog::crash::{ClassInfo, Lambda, is_box};

/// How an object of a class is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Storage {
    /// As its fields.
    Instance,
    /// As an array of primitives; the letter of its elements' descriptor.
    Primitives(u8),
    /// As an array of references.
    References,
    String,
    Class,
    /// As an enum constant, by its name, and by its fields if any may change; the field that holds
    /// the name.
    Enum(FieldId),
    /// Not at all, for this reason.
    Hole(&'static str),
    /// As the method behind it; its captured values are the fields.
    Lambda(Lambda),
}

const THREAD: &str = "java.lang.Thread";

/// The reason why a secret is a hole.
pub(crate) const REDACTED: &str = "redacted";

/// Stands for a descriptor's letter: the field is stored as null.
pub(crate) const BLANK: u8 = 0;

/// A class as the snapshot needs it.
pub(crate) struct Class {
    pub(crate) info: ClassInfo,
    pub(crate) storage: Storage,
    /// One entry for each of `info.fields`, with the letter of its descriptor, or [`BLANK`].
    pub(crate) fields: Vec<(FieldId, u8)>,
    /// The indices of fields whose text must not be stored.
    pub(crate) secrets: Vec<usize>,
    /// In an entry of a map, or the like: the indices of the fields of keys, which may make the
    /// value secret, and of the values.
    pub(crate) entries: Vec<(usize, usize)>,
    /// The indices of the fields with arrays of keys and of their values.
    pub(crate) parallel: Option<(usize, usize)>,
    /// The fields with the text that such an object is, or that is all it has: by this a key may
    /// say that its value is a secret.
    pub(crate) said: Vec<FieldId>,
    /// The index of the field with an array in which keys and values alternate.
    pub(crate) pairs: Option<usize>,
    /// Whether the objects are containers: a secret one has secrets inside.
    pub(crate) contains: bool,
    /// Whether the objects refer to nothing but a text.
    pub(crate) wraps_text: bool,
    /// Whether the objects are numbers: those in a secret place are not stored either.
    pub(crate) number: Number,
    /// Whether the objects have fields that are written by code whose writes are not logged.
    pub(crate) unseen: bool,
    /// Whether instances are exceptions.
    pub(crate) is_throwable: bool,
    /// Whether some objects of the class may be such of which each JVM has its own.
    pub(crate) may_stand: bool,
    /// Whether an option forbids to store the objects: then their texts are secret elsewhere as
    /// well.
    pub(crate) is_asked_for: bool,
}

/// Numbers that are like a text in a secret place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    /// The objects are not numbers.
    Not,
    /// The objects are boxes. One object is the same number in many places.
    Box,
    /// The objects are larger numbers, or mutable ones.
    Own,
}

impl Number {
    fn of(name: &str) -> Number {
        match name {
            _ if is_box(name) => Number::Box,
            "java.math.BigInteger"
            | "java.math.BigDecimal"
            | "java.util.UUID"
            | "java.util.BitSet"
            | "java.util.OptionalInt"
            | "java.util.OptionalLong"
            | "java.util.OptionalDouble"
            | "java.util.concurrent.atomic.AtomicInteger"
            | "java.util.concurrent.atomic.AtomicLong" => Number::Own,
            _ => Number::Not,
        }
    }
}

/// Classes and interfaces whose objects are secrets wherever they are.
const KEYS: &[&str] = &[
    "java.security.PrivateKey",
    "java.security.spec.DSAPrivateKeySpec",
    "java.security.spec.ECPrivateKeySpec",
    "java.security.spec.EdECPrivateKeySpec",
    "java.security.spec.PKCS8EncodedKeySpec",
    "java.security.spec.RSAPrivateKeySpec",
    "java.security.spec.XECPrivateKeySpec",
    "javax.crypto.SecretKey",
    "javax.crypto.spec.DESKeySpec",
    "javax.crypto.spec.DESedeKeySpec",
    "javax.crypto.spec.DHPrivateKeySpec",
    "javax.crypto.spec.PBEKeySpec",
    "sun.security.pkcs.PKCS8Key",
];

/// The reason why an object with a native address is a hole.
const OUTSIDE: &str = "memory outside the heap";

/// Classes, with their subclasses, whose objects mean nothing outside their JVM, or would lead to
/// all of the JVM.
const HOLES: &[(&str, &str)] = &[
    (THREAD, "thread"),
    ("java.lang.ThreadGroup", "thread group"),
    ("java.lang.ClassLoader", "class loader"),
    ("java.lang.Module", "module"),
    ("java.lang.ModuleLayer", "module layer"),
    ("java.lang.Process", "process"),
    ("java.lang.ProcessHandleImpl", "process"),
    ("java.lang.Runtime", "runtime"),
    ("java.lang.invoke.MethodHandle", "method handle"),
    ("java.lang.invoke.VarHandle", "variable handle"),
    ("java.lang.invoke.MemberName", "method handle"),
    ("java.lang.invoke.MethodHandles$Lookup", "lookup"),
    ("java.lang.invoke.CallSite", "call site"),
    ("java.io.FileDescriptor", "open file"),
    ("java.io.FileInputStream", "open file"),
    ("java.io.FileOutputStream", "open file"),
    ("java.io.RandomAccessFile", "open file"),
    ("java.io.Console", "console"),
    ("java.net.Socket", "socket"),
    ("java.net.ServerSocket", "socket"),
    ("java.net.DatagramSocket", "socket"),
    ("java.net.SocketImpl", "socket"),
    ("java.net.URLConnection", "connection"),
    (
        "java.nio.channels.spi.AbstractInterruptibleChannel",
        "channel",
    ),
    ("java.nio.channels.Selector", "selector"),
    ("java.nio.MappedByteBuffer", OUTSIDE),
    ("java.util.zip.Inflater", OUTSIDE),
    ("java.util.zip.Deflater", OUTSIDE),
    ("com.sun.jna.Pointer", OUTSIDE),
    ("sun.java2d.SurfaceData", OUTSIDE),
    ("sun.java2d.loops.GraphicsPrimitive", OUTSIDE),
    ("sun.font.FontScaler", OUTSIDE),
    ("sun.font.FontStrike", OUTSIDE),
    ("org.sqlite.core.NativeDB", OUTSIDE),
    ("com.github.luben.zstd.ZstdInputStreamNoFinalizer", OUTSIDE),
    ("com.github.luben.zstd.ZstdOutputStreamNoFinalizer", OUTSIDE),
    ("org.rocksdb.AbstractNativeReference", OUTSIDE),
    ("com.sun.jna.NativeLibrary", "native library"),
    ("java.util.zip.ZipFile", "open file"),
    ("java.util.concurrent.ThreadPoolExecutor", "thread pool"),
    ("java.util.concurrent.ForkJoinPool", "thread pool"),
    ("java.util.Timer", "thread"),
    ("java.util.logging.LogManager", "logger"),
    ("java.security.Provider", "security provider"),
    (
        "java.security.AccessControlContext",
        "access control context",
    ),
    ("java.security.ProtectionDomain", "protection domain"),
    ("sun.misc.Unsafe", "JVM internals"),
    ("jdk.internal.misc.Unsafe", "JVM internals"),
    ("sun.nio.fs.AbstractFileSystem", "file system"),
    ("java.nio.file.FileSystem", "file system"),
    ("java.nio.file.spi.FileSystemProvider", "file system"),
];

/// Pools of the JDK's own classes, and the fields that are stored of them: a test replaces them by
/// a new one of this size. Their threads and tasks are not stored.
const POOLS: &[(&str, &[&str])] = &[
    (
        "java.util.concurrent.ForkJoinPool",
        &["mode", "parallelism"],
    ),
    ("java.util.concurrent.ScheduledThreadPoolExecutor", &[]),
    ("java.util.concurrent.ThreadPerTaskExecutor", &["factory"]),
    (
        "java.util.concurrent.ThreadPoolExecutor",
        &[
            "allowCoreThreadTimeOut",
            "corePoolSize",
            "ctl",
            "handler",
            "keepAliveTime",
            "maximumPoolSize",
        ],
    ),
];

/// Prefixes of internal classes of the JDK whose objects are plain data that programs hold.
const DATA: [&str; 5] = [
    "jdk.internal.net.http.ImmutableHttpRequest",
    "jdk.internal.net.http.RequestPublishers$ByteArrayPublisher",
    "jdk.internal.net.http.RequestPublishers$EmptyPublisher",
    "jdk.internal.net.http.RequestPublishers$StringPublisher",
    "jdk.internal.random.",
];

/// Whether a field, in a class with native methods, keeps an address for them: it is a `long` with
/// such a name.
fn is_address(name: &str, descriptor: &str) -> bool {
    const WORDS: [&str; 6] = ["addr", "handle", "native", "peer", "pointer", "ptr"];
    let name = name.to_ascii_lowercase();
    descriptor == "J" && WORDS.iter().any(|word| name.contains(word))
}

/// A method: its class's binary name, its own name and its descriptor.
pub(crate) type MethodName = (String, String, String);

/// The name of a method that JVMTI has given.
pub(crate) fn method_name(jvmti: Jvmti, jni: Jni, method: sys::MethodId) -> Option<MethodName> {
    let (name, descriptor, class) = jvmti.method(method)?;
    let signature = jvmti.class_signature(class);
    jni.delete_local(class);
    Some((binary_name(&signature?), name, descriptor))
}

/// Converts `Ljava/lang/String;` to `java.lang.String` and leaves `[I`; converts a hidden class
/// `LFoo.0x1234;` to `Foo/0x1234`, as `Class.getName` does.
pub(crate) fn binary_name(signature: &str) -> String {
    match signature.as_bytes() {
        [b'L', .., b';'] => {
            let inner = &signature[1..signature.len() - 1];
            match inner.split_once('.') {
                Some((name, suffix)) => format!("{}/{suffix}", name.replace('/', ".")),
                None => inner.replace('/', "."),
            }
        }
        [b'[', ..] => signature.replace('/', "."),
        [letter] => primitive_name(*letter).to_owned(),
        _ => signature.to_owned(),
    }
}

fn primitive_name(letter: u8) -> &'static str {
    match letter {
        b'Z' => "boolean",
        b'B' => "byte",
        b'C' => "char",
        b'S' => "short",
        b'I' => "int",
        b'J' => "long",
        b'F' => "float",
        b'D' => "double",
        _ => "void",
    }
}

#[cfg(test)]
mod tests {
    use super::{binary_name, is_address};

    #[test]
    fn addresses_are_told_by_their_names() {
        for name in ["peer", "nativeHandle_", "swigCPtr", "pAddress", "cPointer"] {
            assert!(is_address(name, "J"), "{name}");
            assert!(!is_address(name, "I"), "{name}");
        }
        for name in ["count", "serial", "crc"] {
            assert!(!is_address(name, "J"), "{name}");
        }
    }

    #[test]
    fn names_are_those_of_java() {
        for (signature, name) in [
            ("Ljava/util/Map$Entry;", "java.util.Map$Entry"),
            ("[[I", "[[I"),
            ("[Ljava/lang/String;", "[Ljava.lang.String;"),
            ("I", "int"),
            ("LMain$$Lambda.0x0000000123;", "Main$$Lambda/0x0000000123"),
        ] {
            assert_eq!(binary_name(signature), name);
        }
    }
}
