//! The ways in which tests make objects of the JDK's classes: an empty list, a reader of a text.
//!
//! A program has no call that makes the JDK objects that its methods need; a person who writes a
//! test takes the obvious class. [`Ways`] has one or more for each such type, none of which reads
//! or changes anything outside of the JVM.

use super::platform::Platform;
use super::sequence::{Method, MethodId, Methods};
use crate::java::descriptor;
use hindsight_classfile::access;
use std::collections::BTreeMap;

/// Constructors and factories, a line each: class, name and descriptor; or those of a constant.
/// After a star, the object is also taken for the class's supertypes. The simplest of each kind
/// come first.
const WAYS: &str = "\
    * java.util.ArrayList <init> ()V
    * java.util.HashMap <init> ()V
    * java.util.HashSet <init> ()V
    - java.util.LinkedList <init> ()V
    - java.util.LinkedHashMap <init> ()V
    - java.util.LinkedHashSet <init> ()V
    * java.util.TreeMap <init> ()V
    * java.util.TreeSet <init> ()V
    * java.util.ArrayDeque <init> ()V
    - java.util.PriorityQueue <init> ()V
    - java.util.Vector <init> ()V
    - java.util.Stack <init> ()V
    - java.util.Hashtable <init> ()V
    - java.util.Properties <init> ()V
    - java.util.IdentityHashMap <init> ()V
    - java.util.WeakHashMap <init> ()V
    * java.util.concurrent.ConcurrentHashMap <init> ()V
    - java.util.concurrent.CopyOnWriteArrayList <init> ()V
    * java.util.concurrent.LinkedBlockingQueue <init> ()V
    - java.util.concurrent.atomic.AtomicInteger <init> (I)V
    - java.util.concurrent.atomic.AtomicLong <init> (J)V
    - java.util.concurrent.atomic.AtomicBoolean <init> (Z)V
    - java.util.concurrent.atomic.AtomicReference <init> ()V
    * java.util.concurrent.locks.ReentrantLock <init> ()V
    - java.util.BitSet <init> ()V
    - java.util.Random <init> (J)V
    - java.util.StringTokenizer <init> (Ljava/lang/String;)V
    - java.util.Date <init> (J)V
    - java.util.UUID <init> (JJ)V
    - java.util.Locale ENGLISH Ljava/util/Locale;
    - java.util.Optional empty ()Ljava/util/Optional;
    - java.util.Optional of (Ljava/lang/Object;)Ljava/util/Optional;
    - java.util.OptionalInt of (I)Ljava/util/OptionalInt;
    - java.util.Map entry (Ljava/lang/Object;Ljava/lang/Object;)Ljava/util/Map$Entry;
    - java.util.concurrent.TimeUnit SECONDS Ljava/util/concurrent/TimeUnit;
    * java.util.Collections emptyIterator ()Ljava/util/Iterator;
    * java.util.Collections emptyEnumeration ()Ljava/util/Enumeration;
    * java.util.Comparator naturalOrder ()Ljava/util/Comparator;
    * java.util.function.Function identity ()Ljava/util/function/Function;
    - java.util.function.UnaryOperator identity ()Ljava/util/function/UnaryOperator;
    - java.util.function.Predicate isEqual (Ljava/lang/Object;)Ljava/util/function/Predicate;
    * java.util.function.BinaryOperator minBy (Ljava/util/Comparator;)Ljava/util/function/BinaryOperator;
    - java.util.stream.Stream empty ()Ljava/util/stream/Stream;
    - java.util.stream.Stream of (Ljava/lang/Object;)Ljava/util/stream/Stream;
    - java.util.stream.IntStream of ([I)Ljava/util/stream/IntStream;
    - java.util.regex.Pattern compile (Ljava/lang/String;)Ljava/util/regex/Pattern;
    - java.lang.StringBuilder <init> ()V
    * java.lang.StringBuilder <init> (Ljava/lang/String;)V
    - java.lang.StringBuffer <init> ()V
    - java.lang.StringBuffer <init> (Ljava/lang/String;)V
    * java.lang.Exception <init> (Ljava/lang/String;)V
    - java.lang.RuntimeException <init> (Ljava/lang/String;)V
    * java.io.StringReader <init> (Ljava/lang/String;)V
    - java.io.BufferedReader <init> (Ljava/io/Reader;)V
    * java.io.StringWriter <init> ()V
    - java.io.PrintWriter <init> (Ljava/io/Writer;)V
    * java.io.ByteArrayInputStream <init> ([B)V
    * java.io.ByteArrayOutputStream <init> ()V
    - java.io.PrintStream <init> (Ljava/io/OutputStream;)V
    - java.io.DataOutputStream <init> (Ljava/io/OutputStream;)V
    * java.math.BigDecimal valueOf (J)Ljava/math/BigDecimal;
    - java.math.BigInteger valueOf (J)Ljava/math/BigInteger;
    * java.nio.charset.StandardCharsets UTF_8 Ljava/nio/charset/Charset;
    * java.nio.ByteBuffer wrap ([B)Ljava/nio/ByteBuffer;
    - java.net.URI create (Ljava/lang/String;)Ljava/net/URI;
    * java.time.LocalDate ofEpochDay (J)Ljava/time/LocalDate;
    - java.time.LocalTime ofSecondOfDay (J)Ljava/time/LocalTime;
    - java.time.LocalDateTime of (IIIII)Ljava/time/LocalDateTime;
    - java.time.Instant ofEpochMilli (J)Ljava/time/Instant;
    - java.time.Duration ofMillis (J)Ljava/time/Duration;
    - java.time.Period ofDays (I)Ljava/time/Period;
    * java.time.ZoneOffset UTC Ljava/time/ZoneOffset;
    - java.time.temporal.ChronoUnit DAYS Ljava/time/temporal/ChronoUnit;
";

/// The methods that put something into an object, in the same format: for those of a type, the
/// first that fits.
const FILLING: &str = "\
    java.util.Properties setProperty (Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;
    java.util.Map put (Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;
    java.util.List add (Ljava/lang/Object;)Z
    java.util.Set add (Ljava/lang/Object;)Z
    java.util.BitSet set (I)V
";

/// Types that say nothing about the purpose of their objects.
const SAY_NOTHING: [&str; 4] = [
    "java.io.Serializable",
    "java.lang.Cloneable",
    "java.lang.Comparable",
    "java.lang.Object",
];

/// A way to make an object.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// The method to call; or a constant.
    pub make: MethodId,
    /// The method that can be called on the object to put something into it.
    pub fill: Option<MethodId>,
}

/// The ways to make objects of the JDK's classes.
pub struct Ways {
    /// The ways by the required type.
    of: BTreeMap<String, Vec<Way>>,
}

impl Ways {
    /// The ways that a JDK supports.
    pub fn new(platform: &Platform, methods: &mut Methods) -> Ways {
        let mut of: BTreeMap<String, Vec<Way>> = BTreeMap::new();
        let mut intern = |class: &str, name: &str, descriptor: &str| {
            let info = platform.info(class)?;
            let info = info.info.as_ref()?;
            let flags = match descriptor.starts_with('(') {
                true => info.method(name, descriptor)?.access,
                false => info.constant(name, descriptor)?.access,
            };
            let method = Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: flags & access::STATIC != 0,
                runs: None,
            };
            Some((methods.intern(method.clone()), method.types().1))
        };
        for line in WAYS.lines() {
            let [mark, class, name, descriptor] = words(line);
            let Some((make, made)) = intern(class, name, descriptor) else {
                continue;
            };
            let made = descriptor::class_name(&made).unwrap_or_default();
            let supers = platform.supers(&made);
            let mut filling = FILLING.lines().map(words::<3>);
            let fill = filling.find(|[of, ..]| supers.contains(*of));
            let fill = fill.and_then(|[class, name, descriptor]| intern(class, name, descriptor));
            let way = Way {
                make,
                fill: fill.map(|(fill, _)| fill),
            };
            for name in supers {
                let says = mark == "*" && !SAY_NOTHING.contains(&name.as_str());
                if name == made || says {
                    of.entry(name).or_default().push(way);
                }
            }
        }
        Ways { of }
    }

    /// The ways to make an object of a type.
    pub fn of(&self, class: &str) -> &[Way] {
        self.of.get(class).map_or(&[], Vec::as_slice)
    }
}

/// The words of a line of a table.
fn words<const N: usize>(line: &str) -> [&str; N] {
    let mut words = line.split_whitespace();
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdk::Jdk;

    /// What the JDK does not have would be left out silently.
    #[test]
    fn all_ways_are_there() {
        let jdk = Jdk::find(None).unwrap();
        let mut methods = Methods::default();
        let ways = Ways::new(&Platform::new(&jdk), &mut methods);
        let lines = WAYS.lines().count() + FILLING.lines().count();
        assert_eq!(methods.all().len(), lines);
        let first = |class: &str| &methods.get(ways.of(class)[0].make).class;
        assert_eq!(first("java.util.Collection"), "java.util.ArrayList");
        assert_eq!(first("java.util.LinkedList"), "java.util.LinkedList");
        assert!(ways.of("java.lang.Object").is_empty());
    }
}
