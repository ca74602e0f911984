//! Decides how the objects of each class are stored.

use crate::changing::changes_unseen;
use crate::jni::{FieldId, Jni, Obj};
use crate::jvmti::Jvmti;
use crate::methods::Methods;
use crate::options::Options;
use crate::snapshot::{collections, lambda, standing};
use crate::statics;
use crate::sys;
use hindsight_classfile::access;
use hindsight_instrument::select;
use hindsight_tracelog::crash::{ClassInfo, ClassKind, FieldInfo, Lambda, is_box};
use std::collections::HashSet;

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

const THROWABLE: &str = "java.lang.Throwable";

const THREAD: &str = "java.lang.Thread";

/// Whether a field belongs to the JVM or the collector, and is left out.
fn is_internal(owner: &str, name: &str) -> bool {
    match owner {
        THREAD => name != "name",
        THROWABLE => matches!(name, "backtrace" | "depth"),
        "java.lang.ref.Reference" => name != "referent",
        _ => false,
    }
}

/// Whether a field leads to much that says nothing about the program, and is stored as null.
fn is_blank(owner: &str, name: &str, descriptor: &str) -> bool {
    if descriptor == "Lgroovy/lang/MetaClass;" {
        // Groovy's runtime behind each object; an object without it asks for it.
        return true;
    }
    if let Some((_, stored)) = POOLS.iter().find(|(pool, _)| *pool == owner) {
        return !stored.contains(&name);
    }
    match owner {
        "java.util.ResourceBundle" => name == "cacheKey",
        // What Netty keeps for a thread, as the JDK does with a `ThreadLocal`.
        "io.netty.util.concurrent.FastThreadLocalThread" => true,
        // A test asks the logging system for the logger of this name.
        "java.util.logging.Logger" => name != "name",
        _ => false,
    }
}

/// Reads the class of an object, for the first time in this snapshot.
pub(crate) fn read(
    jni: Jni,
    jvmti: Jvmti,
    methods: &Methods,
    options: &Options,
    class: Obj,
    id: u32,
) -> Class {
    let signature = jvmti
        .class_signature(class)
        .unwrap_or_else(|| "L?;".to_owned());
    let mut info = ClassInfo {
        id,
        name: binary_name(&signature),
        ..ClassInfo::default()
    };
    let array = |storage| Class {
        info: ClassInfo {
            kind: ClassKind::Array,
            ..info.clone()
        },
        fields: Vec::new(),
        secrets: Vec::new(),
        entries: Vec::new(),
        parallel: None,
        said: Vec::new(),
        pairs: None,
        contains: true,
        wraps_text: false,
        number: match storage {
            Storage::Primitives(b'C' | b'B') | Storage::References => Number::Not,
            _ => Number::Own,
        },
        storage,
        unseen: false,
        is_throwable: false,
        may_stand: false,
        is_asked_for: false,
    };
    match signature.as_bytes() {
        [b'[', letter] => return array(Storage::Primitives(*letter)),
        [b'[', ..] => return array(Storage::References),
        _ => {}
    }
    if let Some(loader) = jvmti.loader(class) {
        info.loader = jvmti
            .class_signature(jni.class_of(loader))
            .map(|s| binary_name(&s))
            .unwrap_or_default();
    }
    info.sha256 = methods.sha256(&info.name);
    let modifiers = jvmti.class_modifiers(class);
    let chain = superclasses(jni, jvmti, class);
    info.supers = chain.iter().map(|(name, _)| name.clone()).collect();
    info.interfaces = jvmti
        .interfaces(class)
        .into_iter()
        .filter_map(|i| jvmti.class_signature(i))
        .map(|s| binary_name(&s))
        .collect();
    let hidden = signature.contains('.');
    info.kind = if hidden {
        ClassKind::Hidden
    } else if modifiers & i32::from(access::INTERFACE) != 0 {
        ClassKind::Interface
    } else if info.supers.iter().any(|name| name == "java.lang.Enum") {
        ClassKind::Enum
    } else if info
        .supers
        .first()
        .is_some_and(|name| name == "java.lang.Record")
    {
        ClassKind::Record
    } else if info
        .supers
        .iter()
        .any(|name| name == "java.lang.reflect.Proxy")
    {
        ClassKind::Proxy
    } else {
        ClassKind::Class
    };

    let mut storage = Storage::Instance;
    match info.name.as_str() {
        "java.lang.String" => storage = Storage::String,
        "java.lang.Class" => storage = Storage::Class,
        name => {
            let is_pool = POOLS.iter().any(|(pool, _)| *pool == name);
            let is_kept = is_pool || is_own_thread(jni, jvmti, class, &chain);
            if let Some((_, reason)) = HOLES
                .iter()
                .find(|(hole, _)| *hole == name || info.supers.iter().any(|s| s == hole))
                .filter(|_| !is_kept)
            {
                storage = Storage::Hole(reason);
            } else if name.starts_with("jdk.internal.")
                && !DATA.iter().any(|data| name.starts_with(data))
                || name.starts_with("sun.nio.ch.")
            {
                storage = Storage::Hole("JVM internals");
            } else if info.kind == ClassKind::Enum {
                let holder = chain.iter().find(|(name, _)| name == "java.lang.Enum");
                storage =
                    match holder.and_then(|(_, e)| jni.field(*e, c"name", c"Ljava/lang/String;")) {
                        Some(field) => Storage::Enum(field),
                        None => Storage::Hole("enum"),
                    };
            }
        }
    }

    let interfaces = all_interfaces(jni, jvmti, class, &chain);
    let is_any = |secret: &dyn Fn(&str) -> bool| {
        let all = std::iter::once(&info.name).chain(&info.supers);
        // Each is asked, because the match is noted for it.
        let found = all.chain(&interfaces).filter(|name| secret(name));
        storage != Storage::Class && found.count() > 0
    };
    let is_asked_for = is_any(&|name| options.is_secret_class(name) || methods.marks.class(name));
    if is_asked_for || is_any(&|name| KEYS.contains(&name)) {
        storage = Storage::Hole(REDACTED);
    }

    let mut fields = Vec::new();
    let mut secrets = Vec::new();
    let mut unseen = false;
    let constant = matches!(storage, Storage::Enum(_));
    let mut changes = false;
    // Constants of the JDK's enums never change.
    if is_asked_for || storage == Storage::Instance || constant && !is_of_jdk(jni, jvmti, class) {
        // The topmost class comes first, so that a subclass only appends.
        let own = std::iter::once((info.name.clone(), class));
        let all: Vec<_> = own.chain(chain.iter().cloned()).collect();
        for (owner, declaring) in all.iter().rev() {
            if owner == "java.lang.Enum" {
                continue;
            }
            let logs_none = select::names(&options.exclude, owner)
                || is_of_jdk(jni, jvmti, *declaring) && changes_unseen(owner);
            for field in jvmti.class_fields(*declaring) {
                let Some((name, descriptor, access)) = jvmti.field(*declaring, field) else {
                    continue;
                };
                if access & access::STATIC != 0 || is_internal(owner, &name) {
                    continue;
                }
                changes |= statics::may_change(&descriptor, access);
                let letter = match descriptor.as_bytes().first() {
                    Some(letter) if !is_blank(owner, &name, &descriptor) => *letter,
                    _ => BLANK,
                };
                if logs_none && access & access::FINAL == 0 && !is_asked_for {
                    unseen = true;
                }
                if options.is_secret_of_type(&name, &descriptor)
                    || methods.marks.field(owner, &name)
                {
                    secrets.push(fields.len());
                }
                fields.push((field, letter));
                info.fields.push(FieldInfo {
                    owner: owner.clone(),
                    name,
                    descriptor,
                    access,
                });
            }
        }
        if constant && !changes {
            fields.clear();
            secrets.clear();
            info.fields.clear();
        }
        if hidden && !is_asked_for {
            storage = match lambda::implementation(jvmti, class, &info.name) {
                Some(lambda) => {
                    let captured = methods.captured.secrets_of(&lambda).into_iter();
                    secrets.extend(captured.filter(|place| *place < fields.len()));
                    Storage::Lambda(lambda)
                }
                None => Storage::Hole("hidden class: has no name in another run"),
            };
        }
    }
    if storage == Storage::Instance
        && (info.fields.iter()).any(|field| is_address(&field.name, &field.descriptor))
        && (chain.iter().map(|(_, class)| *class).chain([class])).any(|c| jvmti.declares_native(c))
    {
        storage = Storage::Hole(OUTSIDE);
        fields.clear();
        secrets.clear();
        info.fields.clear();
    }
    let entries = collections::entries(&info.fields);
    // This holds whatever its name, which the program chooses. In a header it is a secret as well.
    for (_, value) in &entries {
        let mut names = info.fields[*value].owner.split(['.', '$']);
        if names.any(|name| name.ends_with("Cookie")) && !secrets.contains(value) {
            secrets.push(*value);
        }
    }
    let wraps_text = collections::wraps_text(&info.name, &info.fields);
    let is_text = collections::has_only_texts(&info.name, &info.fields)
        || interfaces.contains("java.lang.CharSequence");
    let texts = (info.fields.iter().zip(&fields))
        .filter(|(field, _)| is_text && collections::is_of_text(field));
    Class {
        entries,
        parallel: collections::parallel(&info.fields),
        said: texts.map(|(_, (id, _))| *id).collect(),
        pairs: collections::pairs(&info.name, &info.fields),
        contains: collections::contains(&info.name, &interfaces),
        wraps_text,
        number: Number::of(&info.name),
        unseen,
        is_throwable: info.name == THROWABLE || info.supers.iter().any(|name| name == THROWABLE),
        may_stand: storage != Storage::Hole(REDACTED)
            && standing::may_be(&info.name, &info.supers, || jvmti.loader(class).is_none()),
        is_asked_for,
        info,
        storage,
        fields,
        secrets,
    }
}

/// Whether objects of a class are threads to which only the program's own classes have added
/// something: that is state like any other, and in a test the thread itself is one that has not
/// been started.
fn is_own_thread(jni: Jni, jvmti: Jvmti, class: Obj, chain: &[(String, Obj)]) -> bool {
    let thread = chain.iter().position(|(name, _)| name == THREAD);
    thread.is_some_and(|at| {
        let below = chain[..at].iter().map(|(_, above)| *above);
        below.chain([class]).all(|c| !is_of_jdk(jni, jvmti, c))
    })
}

/// Whether one of the JDK's own loaders has defined a class.
fn is_of_jdk(jni: Jni, jvmti: Jvmti, class: Obj) -> bool {
    const PLATFORM: &str = "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;";
    jvmti.loader(class).is_none_or(|loader| {
        let of_loader = jvmti.class_signature(jni.class_of(loader));
        of_loader.is_some_and(|name| name == PLATFORM)
    })
}

/// The names and classes above this one, nearest first, without `java.lang.Object`.
fn superclasses(jni: Jni, jvmti: Jvmti, class: Obj) -> Vec<(String, Obj)> {
    let mut chain = Vec::new();
    let mut above = jni.superclass(class);
    while let Some(class) = above {
        let name = jvmti
            .class_signature(class)
            .map(|s| binary_name(&s))
            .unwrap_or_default();
        if name == "java.lang.Object" {
            break;
        }
        chain.push((name, class));
        above = jni.superclass(class);
    }
    chain
}

/// The names of all interfaces that instances of a class implement, including those of its
/// superclasses, `chain`, and of interfaces themselves.
fn all_interfaces(jni: Jni, jvmti: Jvmti, class: Obj, chain: &[(String, Obj)]) -> HashSet<String> {
    let mut found = HashSet::new();
    let classes = std::iter::once(class).chain(chain.iter().map(|(_, above)| *above));
    let mut pending: Vec<Obj> = classes.flat_map(|class| jvmti.interfaces(class)).collect();
    while let Some(interface) = pending.pop() {
        let name = jvmti.class_signature(interface);
        if name.is_some_and(|name| found.insert(binary_name(&name))) {
            pending.extend(jvmti.interfaces(interface));
        }
        jni.delete_local(interface);
    }
    found
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
