//! How tests make objects of the JDK's classes: an empty list, a reader of a text.
//!
//! A program offers no call that makes what its methods want of the JDK; a person who writes a test
//! takes the class that is at hand. [`Ways`] has one or more for each such type, none of which reads
//! or changes anything outside of the JVM.

use super::platform::Platform;
use super::sequence::{Method, MethodId, Methods};
use crate::java::descriptor;
use hindsight_classfile::access;
use std::collections::BTreeMap;

/// Class, method and descriptor of constructors and factories, or name and descriptor of a constant; and
/// whether what it makes is what one takes for the class's supertypes, too. Those come first that say the
/// least of their kind.
const WAYS: [(&str, &str, &str, bool); 53] = [
    ("java.util.ArrayList", "<init>", "()V", true),
    ("java.util.HashMap", "<init>", "()V", true),
    ("java.util.HashSet", "<init>", "()V", true),
    ("java.util.LinkedList", "<init>", "()V", false),
    ("java.util.LinkedHashMap", "<init>", "()V", false),
    ("java.util.LinkedHashSet", "<init>", "()V", false),
    ("java.util.TreeMap", "<init>", "()V", true),
    ("java.util.TreeSet", "<init>", "()V", true),
    ("java.util.ArrayDeque", "<init>", "()V", true),
    ("java.util.PriorityQueue", "<init>", "()V", false),
    ("java.util.Vector", "<init>", "()V", false),
    ("java.util.Stack", "<init>", "()V", false),
    ("java.util.Hashtable", "<init>", "()V", false),
    ("java.util.Properties", "<init>", "()V", true),
    ("java.util.IdentityHashMap", "<init>", "()V", false),
    ("java.util.WeakHashMap", "<init>", "()V", false),
    (
        "java.util.concurrent.ConcurrentHashMap",
        "<init>",
        "()V",
        true,
    ),
    (
        "java.util.concurrent.CopyOnWriteArrayList",
        "<init>",
        "()V",
        false,
    ),
    (
        "java.util.concurrent.LinkedBlockingQueue",
        "<init>",
        "()V",
        true,
    ),
    (
        "java.util.concurrent.atomic.AtomicInteger",
        "<init>",
        "(I)V",
        false,
    ),
    (
        "java.util.concurrent.atomic.AtomicLong",
        "<init>",
        "(J)V",
        false,
    ),
    (
        "java.util.concurrent.atomic.AtomicBoolean",
        "<init>",
        "(Z)V",
        false,
    ),
    (
        "java.util.concurrent.atomic.AtomicReference",
        "<init>",
        "()V",
        false,
    ),
    (
        "java.util.concurrent.locks.ReentrantLock",
        "<init>",
        "()V",
        true,
    ),
    ("java.util.BitSet", "<init>", "()V", false),
    ("java.util.Random", "<init>", "(J)V", false),
    (
        "java.util.StringTokenizer",
        "<init>",
        "(Ljava/lang/String;)V",
        false,
    ),
    ("java.util.Date", "<init>", "(J)V", false),
    ("java.util.UUID", "<init>", "(JJ)V", false),
    ("java.util.Locale", "ENGLISH", "Ljava/util/Locale;", false),
    (
        "java.util.Optional",
        "empty",
        "()Ljava/util/Optional;",
        false,
    ),
    (
        "java.util.Collections",
        "emptyIterator",
        "()Ljava/util/Iterator;",
        true,
    ),
    (
        "java.util.Collections",
        "emptyEnumeration",
        "()Ljava/util/Enumeration;",
        true,
    ),
    (
        "java.util.Comparator",
        "naturalOrder",
        "()Ljava/util/Comparator;",
        true,
    ),
    (
        "java.util.function.Function",
        "identity",
        "()Ljava/util/function/Function;",
        true,
    ),
    (
        "java.util.regex.Pattern",
        "compile",
        "(Ljava/lang/String;)Ljava/util/regex/Pattern;",
        false,
    ),
    (
        "java.lang.StringBuilder",
        "<init>",
        "(Ljava/lang/String;)V",
        true,
    ),
    (
        "java.lang.StringBuffer",
        "<init>",
        "(Ljava/lang/String;)V",
        false,
    ),
    (
        "java.lang.Exception",
        "<init>",
        "(Ljava/lang/String;)V",
        true,
    ),
    (
        "java.lang.RuntimeException",
        "<init>",
        "(Ljava/lang/String;)V",
        false,
    ),
    (
        "java.io.StringReader",
        "<init>",
        "(Ljava/lang/String;)V",
        true,
    ),
    (
        "java.io.BufferedReader",
        "<init>",
        "(Ljava/io/Reader;)V",
        false,
    ),
    ("java.io.StringWriter", "<init>", "()V", true),
    (
        "java.io.PrintWriter",
        "<init>",
        "(Ljava/io/Writer;)V",
        false,
    ),
    ("java.io.ByteArrayInputStream", "<init>", "([B)V", true),
    ("java.io.ByteArrayOutputStream", "<init>", "()V", true),
    (
        "java.io.PrintStream",
        "<init>",
        "(Ljava/io/OutputStream;)V",
        false,
    ),
    (
        "java.io.DataOutputStream",
        "<init>",
        "(Ljava/io/OutputStream;)V",
        false,
    ),
    (
        "java.math.BigDecimal",
        "valueOf",
        "(J)Ljava/math/BigDecimal;",
        true,
    ),
    (
        "java.math.BigInteger",
        "valueOf",
        "(J)Ljava/math/BigInteger;",
        false,
    ),
    (
        "java.nio.charset.StandardCharsets",
        "UTF_8",
        "Ljava/nio/charset/Charset;",
        true,
    ),
    (
        "java.nio.ByteBuffer",
        "wrap",
        "([B)Ljava/nio/ByteBuffer;",
        true,
    ),
    (
        "java.time.LocalDate",
        "ofEpochDay",
        "(J)Ljava/time/LocalDate;",
        true,
    ),
];

/// What puts something into an object: for those of a type, the first that fits.
const FILLING: [(&str, &str, &str); 5] = [
    (
        "java.util.Properties",
        "setProperty",
        "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;",
    ),
    (
        "java.util.Map",
        "put",
        "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    ("java.util.List", "add", "(Ljava/lang/Object;)Z"),
    ("java.util.Set", "add", "(Ljava/lang/Object;)Z"),
    ("java.util.BitSet", "set", "(I)V"),
];

/// Of these, anything is one: that an object is of them says nothing of what it is for.
const SAY_NOTHING: [&str; 4] = [
    "java.io.Serializable",
    "java.lang.Cloneable",
    "java.lang.Comparable",
    "java.lang.Object",
];

/// A way to make an object.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// What is called; or a constant.
    pub make: MethodId,
    /// What can be called on the object to put something into it.
    pub fill: Option<MethodId>,
}

/// The ways to make objects of the JDK's classes.
pub struct Ways {
    /// By the type that is wanted.
    of: BTreeMap<String, Vec<Way>>,
}

impl Ways {
    /// Those that a JDK has.
    pub fn new(platform: &Platform, methods: &mut Methods) -> Ways {
        let mut of: BTreeMap<String, Vec<Way>> = BTreeMap::new();
        let mut intern = |class: &str, name: &str, descriptor: &str| {
            let info = platform.info(class)?;
            let info = info.info.as_ref()?;
            let flags = match descriptor.starts_with('(') {
                true => info.method(name, descriptor)?.access,
                false => {
                    let is = |one: &&(u16, String, String)| one.1 == name && one.2 == descriptor;
                    info.constants.iter().find(is)?.0
                }
            };
            let method = Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: flags & access::STATIC != 0,
            };
            Some((methods.intern(method.clone()), method.types().1))
        };
        for (class, name, descriptor, general) in WAYS {
            let Some((make, made)) = intern(class, name, descriptor) else {
                continue;
            };
            let made = descriptor::class_name(&made).unwrap_or_default();
            let supers = platform.supers(&made);
            let fill = FILLING
                .iter()
                .find(|(of, ..)| supers.iter().any(|one| one == of));
            let fill = fill.and_then(|(class, name, descriptor)| intern(class, name, descriptor));
            let way = Way {
                make,
                fill: fill.map(|(fill, _)| fill),
            };
            for name in supers {
                let says = general && !SAY_NOTHING.contains(&name.as_str());
                if name == made || says {
                    of.entry(name).or_default().push(way);
                }
            }
        }
        Ways { of }
    }

    /// Those that make an object of a type.
    pub fn of(&self, class: &str) -> &[Way] {
        self.of.get(class).map_or(&[], Vec::as_slice)
    }
}
