//! What is known of the JDK without looking: natives and intrinsics, which have
//! no code to look at, and methods whose contract says what their many
//! implementations do.
//!
//! A contract is a promise, not a proof: `Collection.size` of a weak map's keys
//! does clean up, `LinkedHashMap.get` may reorder. So `--sound` uses natives
//! only, and looks at every implementation of all else.

use super::effects::{Cause, Made, Node, Summary, Write, join, reference};
use crate::java::descriptor;
use crate::program::names::{Map, Set};
use crate::program::{MethodId, Program, Sym};
use std::sync::Arc;

/// What a method does, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Changes nothing; what it returns is not of its arguments.
    Reads,
    /// Changes nothing; returns something that the receiver leads to.
    Gets,
    /// Changes nothing; returns a new object, of a class of the JDK's own, that
    /// leads to the receiver.
    Views,
    /// The same of an object that anybody may have made.
    Collects,
    /// Changes the receiver only, and returns something that it leads to.
    Steps,
    /// Changes the receiver, which may keep the arguments; returns something
    /// that it leads to.
    Changes,
    /// Changes the receiver and what it is a view of.
    ChangesBelow,
    /// Changes nothing; what changes the result changes the receiver.
    Backed,
    /// Changes nothing; returns something that the first argument leads to.
    GetsFirst,
    /// A new object that leads to all arguments.
    Makes,
    /// Changes the first argument.
    ChangesFirst,
    /// Changes the second argument, and may return what that leads to.
    ChangesSecond,
    /// Changes the receiver, and what it returns is not of its arguments.
    Consumes,
    /// Changes the receiver; returns a new object of the JDK's that leads to it.
    Pipes,
    /// Stores what the receiver leads to in its argument, or a new object, and
    /// returns that.
    Fills,
    /// Copies elements of the first argument to the third.
    ArrayCopy,
    /// Copies the receiver, not what it leads to.
    Clones,
    /// Changes the receiver, and reads the rest.
    Outputs,
    /// Changes the receiver and what it is a view of; returns the receiver.
    Puts,
    /// Anything may happen to what it gets.
    Anything,
}

use Shape::{
    Anything, ArrayCopy, Backed, Changes, ChangesBelow, ChangesFirst, ChangesSecond, Clones,
    Collects, Consumes, Fills, Gets, GetsFirst, Makes, Outputs, Pipes, Puts, Reads, Steps, Views,
};

/// Natives and intrinsics: class, methods separated by blanks, shape.
const NATIVES: &[(&str, &str, Shape)] = &[
    ("java/lang/System", "arraycopy", ArrayCopy),
    ("java/lang/Object", "clone", Clones),
    (
        "java/lang/Object",
        "getClass hashCode notify notifyAll wait wait0",
        Reads,
    ),
    (
        "java/lang/reflect/Array",
        "set setBoolean setByte setChar setShort setInt setLong setFloat setDouble",
        ChangesFirst,
    ),
    (
        "java/lang/reflect/Field",
        "get getBoolean getByte getChar getShort getInt getLong getFloat getDouble",
        GetsFirst,
    ),
    ("java/lang/reflect/Array", "get", Gets),
    (
        "java/lang/reflect/Field",
        "set setBoolean setByte setChar setShort setInt setLong setFloat setDouble",
        ChangesSecond,
    ),
    ("java/lang/reflect/Method", "invoke", Anything),
    ("java/lang/reflect/Constructor", "newInstance", Anything),
    (
        "java/lang/invoke/MethodHandle",
        "invoke invokeExact invokeWithArguments",
        Anything,
    ),
    (
        "java/lang/invoke/VarHandle",
        "set setVolatile setOpaque setRelease compareAndSet compareAndExchange compareAndExchangeAcquire \
         compareAndExchangeRelease weakCompareAndSet weakCompareAndSetPlain weakCompareAndSetAcquire \
         weakCompareAndSetRelease getAndSet getAndSetAcquire getAndSetRelease getAndAdd getAndAddAcquire \
         getAndAddRelease getAndBitwiseOr getAndBitwiseAnd getAndBitwiseXor",
        ChangesSecond,
    ),
    (
        "java/lang/invoke/VarHandle",
        "get getVolatile getOpaque getAcquire",
        GetsFirst,
    ),
    ("java/lang/Throwable", "fillInStackTrace", Changes),
    (
        "java/lang/Thread",
        "currentThread holdsLock yield sleep onSpinWait",
        Reads,
    ),
    ("java/lang/Thread", "start start0", Changes),
    ("java/lang/System", "identityHashCode", Reads),
];

/// Contracts of interfaces and of methods that everything overrides.
const CONTRACTS: &[(&str, &str, Shape)] = &[
    ("java/lang/Object", "equals toString <init> finalize", Reads),
    ("java/lang/Comparable", "compareTo", Reads),
    (
        "java/lang/Enum",
        "compareTo equals getDeclaringClass hashCode name ordinal",
        Reads,
    ),
    ("java/util/Comparator", "compare", Reads),
    (
        "java/lang/CharSequence",
        "length charAt isEmpty toString chars codePoints",
        Reads,
    ),
    ("java/lang/CharSequence", "subSequence", Views),
    ("java/util/stream/Stream", "collect", Collects),
    ("java/util/stream/IntStream", "collect", Collects),
    ("java/util/stream/LongStream", "collect", Collects),
    ("java/util/stream/DoubleStream", "collect", Collects),
    ("java/lang/Iterable", "iterator spliterator", Views),
    ("java/lang/Iterable", "forEach", Reads),
    ("java/util/Iterator", "hasNext", Reads),
    ("java/util/Iterator", "next", Steps),
    (
        "java/util/Iterator",
        "remove forEachRemaining",
        ChangesBelow,
    ),
    (
        "java/util/ListIterator",
        "hasNext hasPrevious nextIndex previousIndex",
        Reads,
    ),
    ("java/util/ListIterator", "next previous", Steps),
    ("java/util/ListIterator", "remove set add", ChangesBelow),
    ("java/util/Enumeration", "hasMoreElements", Reads),
    ("java/util/Enumeration", "nextElement", Steps),
    ("java/util/Enumeration", "asIterator", Views),
];

/// Readers and writers of collections and maps, whichever class they are called on.
const COLLECTIONS: &[&str] = &[
    "java/util/Collection",
    "java/util/AbstractCollection",
    "java/util/List",
    "java/util/AbstractList",
    "java/util/ArrayList",
    "java/util/LinkedList",
    "java/util/Vector",
    "java/util/Stack",
    "java/util/Set",
    "java/util/AbstractSet",
    "java/util/HashSet",
    "java/util/LinkedHashSet",
    "java/util/TreeSet",
    "java/util/SortedSet",
    "java/util/NavigableSet",
    "java/util/Queue",
    "java/util/Deque",
    "java/util/ArrayDeque",
    "java/util/PriorityQueue",
    "java/util/AbstractSequentialList",
    "java/util/SequencedCollection",
    "java/util/SequencedSet",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/BlockingQueue",
    "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/LinkedBlockingQueue",
];
const COLLECTION_READERS: &str = "size isEmpty contains containsAll indexOf lastIndexOf equals hashCode toString \
    comparator search capacity";
const COLLECTION_GETTERS: &str = "get getFirst getLast first last peek element peekFirst peekLast ceiling floor \
    higher lower firstElement lastElement elementAt clone";
const COLLECTION_VIEWS: &str =
    "iterator listIterator descendingIterator spliterator stream parallelStream elements";
const COLLECTION_BACKED: &str = "subList descendingSet headSet tailSet subSet reversed";
const COLLECTION_CHANGERS: &str = "<init> add addAll remove removeAll retainAll clear set push pop poll pollFirst pollLast \
    offer offerFirst offerLast addFirst addLast removeFirst removeLast sort replaceAll removeIf addElement \
    removeElement removeElementAt removeAllElements insertElementAt setElementAt put take drainTo setSize \
    removeRange addIfAbsent";

const MAPS: &[&str] = &[
    "java/util/Map",
    "java/util/AbstractMap",
    "java/util/HashMap",
    "java/util/LinkedHashMap",
    "java/util/TreeMap",
    "java/util/SortedMap",
    "java/util/NavigableMap",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/IdentityHashMap",
    "java/util/EnumMap",
    "java/util/Dictionary",
    "java/util/SequencedMap",
    "java/util/concurrent/ConcurrentMap",
    "java/util/concurrent/ConcurrentHashMap",
];
const MAP_READERS: &str = "size isEmpty containsKey containsValue contains equals hashCode toString getProperty comparator \
    forEach";
const MAP_GETTERS: &str =
    "get getOrDefault firstKey lastKey ceilingKey floorKey higherKey lowerKey clone";
const MAP_BACKED: &str = "keySet values entrySet headMap tailMap subMap descendingMap navigableKeySet \
    descendingKeySet";
const MAP_VIEWS: &str = "keys elements firstEntry lastEntry ceilingEntry floorEntry higherEntry lowerEntry stringPropertyNames";
const MAP_CHANGERS: &str = "<init> put putAll remove clear putIfAbsent compute computeIfAbsent computeIfPresent merge replace \
    replaceAll pollFirstEntry pollLastEntry setProperty";

/// Streams are used once and run what they are given, which the calls say.
const STREAMS: &[&str] = &[
    "java/util/stream/Stream",
    "java/util/stream/IntStream",
    "java/util/stream/LongStream",
    "java/util/stream/DoubleStream",
    "java/util/stream/BaseStream",
];
const STREAM_READERS: &str = "equals hashCode toString isParallel";
const STREAM_ENDS: &str =
    "forEach forEachOrdered anyMatch allMatch noneMatch count sum average close";
const STREAM_GETTERS: &str = "reduce min max findFirst findAny toArray";
const STREAM_VIEWS: &str = "filter map mapToInt mapToLong mapToDouble mapToObj flatMap flatMapToInt distinct sorted peek \
    limit skip takeWhile dropWhile boxed asLongStream asDoubleStream toList iterator spliterator sequential \
    parallel unordered onClose mapMulti";
const OPTIONAL: &[&str] = &["java/util/Optional"];
const OPTIONAL_READERS: &str =
    "isPresent isEmpty ifPresent ifPresentOrElse equals hashCode toString";
const OPTIONAL_GETTERS: &str = "get orElse orElseGet orElseThrow";
const OPTIONAL_VIEWS: &str = "filter map flatMap stream or";

/// Numbers and references that threads share.
const ATOMICS: &[&str] = &[
    "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicLong",
    "java/util/concurrent/atomic/AtomicBoolean",
    "java/util/concurrent/atomic/AtomicReference",
    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicLongArray",
    "java/util/concurrent/atomic/AtomicReferenceArray",
];
const ATOMIC_READERS: &str =
    "length toString intValue longValue floatValue doubleValue byteValue shortValue";
const ATOMIC_GETTERS: &str = "get getPlain getAcquire getOpaque";
const ATOMIC_CHANGERS: &str = "<init> set lazySet setPlain setOpaque setRelease getAndSet compareAndSet weakCompareAndSet \
    weakCompareAndSetPlain weakCompareAndSetVolatile weakCompareAndSetAcquire weakCompareAndSetRelease compareAndExchange \
    compareAndExchangeAcquire compareAndExchangeRelease getAndIncrement getAndDecrement getAndAdd incrementAndGet \
    decrementAndGet addAndGet getAndUpdate updateAndGet getAndAccumulate accumulateAndGet";
const UPDATERS: &[&str] = &[
    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater",
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
];

/// Classes of values: what their objects store later is a copy of what they can always tell. It is their methods
/// that take nothing but such which are known.
const VALUES: &[&str] = &[
    "java/math/BigDecimal",
    "java/math/BigInteger",
    "java/math/MathContext",
    "java/net/URI",
    "java/nio/charset/Charset",
    "java/nio/file/Path",
    "java/nio/file/Paths",
    "java/time/DayOfWeek",
    "java/time/Duration",
    "java/time/Instant",
    "java/time/LocalDate",
    "java/time/LocalDateTime",
    "java/time/LocalTime",
    "java/time/Month",
    "java/time/MonthDay",
    "java/time/OffsetDateTime",
    "java/time/OffsetTime",
    "java/time/Period",
    "java/time/Year",
    "java/time/YearMonth",
    "java/time/ZoneId",
    "java/time/ZoneOffset",
    "java/time/ZonedDateTime",
    "java/time/chrono/ChronoLocalDate",
    "java/time/chrono/ChronoLocalDateTime",
    "java/time/chrono/ChronoZonedDateTime",
    "java/time/format/DateTimeFormatter",
    "java/time/temporal/ChronoField",
    "java/time/temporal/ChronoUnit",
    "java/time/temporal/Temporal",
    "java/time/temporal/TemporalAccessor",
    "java/time/temporal/TemporalAmount",
    "java/time/temporal/TemporalField",
    "java/time/temporal/TemporalUnit",
    "java/util/Currency",
    "java/util/Locale",
    "java/util/OptionalDouble",
    "java/util/OptionalInt",
    "java/util/OptionalLong",
    "java/util/UUID",
];
/// What such methods also take, and leave alone.
const TAKEN_BY_VALUES: &[&str] = &[
    "java/lang/CharSequence",
    "java/lang/Object",
    "java/lang/String",
    "java/math/RoundingMode",
    "java/time/chrono/Chronology",
    "java/time/format/TextStyle",
    "java/util/Locale$Category",
];

/// A window of an array or of memory, with a place in it.
const BUFFERS: &[&str] = &[
    "java/nio/Buffer",
    "java/nio/ByteBuffer",
    "java/nio/CharBuffer",
    "java/nio/ShortBuffer",
    "java/nio/IntBuffer",
    "java/nio/LongBuffer",
    "java/nio/FloatBuffer",
    "java/nio/DoubleBuffer",
];
const BUFFER_READERS: &str = "capacity limit() position() remaining hasRemaining isDirect isReadOnly hasArray \
    arrayOffset order() equals hashCode compareTo toString get(I) getChar(I) getShort(I) getInt(I) getLong(I) \
    getFloat(I) getDouble(I)";
const BUFFER_STEPS: &str = "get() getChar() getShort() getInt() getLong() getFloat() getDouble()";
const BUFFER_MOVES: &str =
    "limit(I) position(I) mark reset clear flip rewind order(Ljava/nio/ByteOrder;)";
const BUFFER_PUTS: &str = "put(B) put(IB) put([B) put([BII) put(C) put(IC) put(S) put(IS) put(I) put(II) put(J) put(IJ) \
    put(F) put(IF) put(D) put(ID) putChar putShort putInt putLong putFloat putDouble compact";
const BUFFER_VIEWS: &str = "wrap duplicate slice asReadOnlyBuffer asCharBuffer asShortBuffer asIntBuffer asLongBuffer \
    asFloatBuffer asDoubleBuffer";

const ENTRIES: &[(&str, &str, Shape)] = &[
    (
        "java/util/Objects",
        "requireNonNull requireNonNullElse",
        Gets,
    ),
    (
        "java/util/Objects",
        "equals hash hashCode toString isNull nonNull",
        Reads,
    ),
    ("java/util/Optional", "of ofNullable", Views),
    ("java/util/stream/Stream", "of concat", Views),
    ("java/util/Arrays", "asList", Backed),
    (
        "java/util/Collections",
        "synchronizedList synchronizedSet synchronizedMap synchronizedCollection",
        Backed,
    ),
    ("java/util/Arrays", "copyOf copyOfRange", Clones),
    (
        "java/util/Arrays",
        "equals hashCode toString deepEquals deepHashCode deepToString binarySearch",
        Reads,
    ),
    ("java/util/List", "of copyOf", Makes),
    ("java/util/Set", "of copyOf", Makes),
    ("java/util/Map", "of copyOf entry", Makes),
    (
        "java/util/Collections",
        "unmodifiableList unmodifiableSet unmodifiableMap unmodifiableCollection \
         singletonList singleton enumeration list",
        Views,
    ),
    (
        "java/util/Collections",
        "max min frequency disjoint binarySearch",
        Gets,
    ),
    (
        "java/io/PrintStream",
        "print println printf format append flush write",
        Outputs,
    ),
    (
        "java/lang/StringBuilder",
        "toString length charAt indexOf lastIndexOf isEmpty capacity substring compareTo",
        Reads,
    ),
    ("java/lang/StringBuilder", BUILDERS, Outputs),
    ("java/lang/StringBuffer", BUILDERS, Outputs),
    ("java/io/OutputStream", "write flush close", Outputs),
    ("java/io/Writer", "write append flush close", Outputs),
    (
        "java/io/PrintWriter",
        "print println printf format append flush write close",
        Outputs,
    ),
    (
        "java/io/File",
        "getName getPath getParent getParentFile getAbsolutePath getAbsoluteFile isAbsolute exists isFile isDirectory \
         isHidden canRead canWrite canExecute length lastModified list listFiles toPath toURI compareTo equals \
         hashCode toString",
        Reads,
    ),
    (
        "java/util/Date",
        "getTime before after equals compareTo hashCode toString toInstant",
        Reads,
    ),
    ("java/util/regex/Pattern", "matcher", Views),
    (
        "java/util/regex/Pattern",
        "pattern flags split toString asPredicate",
        Reads,
    ),
    (
        "java/util/Collections",
        "sort reverse shuffle swap rotate fill",
        ChangesFirst,
    ),
    ("java/util/Arrays", "sort parallelSort fill", ChangesFirst),
    (
        "java/lang/Throwable",
        "getMessage getLocalizedMessage toString printStackTrace getStackTrace",
        Reads,
    ),
    ("java/lang/Throwable", "getCause getSuppressed", Gets),
    ("java/util/AbstractMap$SimpleEntry", "getKey getValue", Gets),
    ("java/util/Map$Entry", "getKey getValue", Gets),
    ("java/util/Map$Entry", "setValue", Changes),
    ("java/util/Map$Entry", "equals hashCode toString", Reads),
];

/// Methods that call nothing of what they are given: they compare no elements
/// and put none into words.
const QUIET: &[(&str, &str)] = &[
    ("java/util/Iterator", "hasNext next remove"),
    (
        "java/util/ListIterator",
        "hasNext next hasPrevious previous nextIndex previousIndex remove set add",
    ),
    ("java/util/Enumeration", "hasMoreElements nextElement"),
    ("java/util/List", QUIET_LISTS),
    ("java/util/ArrayList", QUIET_LISTS),
    ("java/util/LinkedList", QUIET_LISTS),
    ("java/util/ArrayDeque", QUIET_LISTS),
    ("java/util/Vector", QUIET_LISTS),
    ("java/util/Stack", QUIET_LISTS),
    ("java/util/Deque", QUIET_LISTS),
    ("java/util/Map$Entry", "getKey getValue setValue"),
];
const BUILDERS: &str =
    "<init> append insert delete deleteCharAt replace reverse setCharAt setLength appendCodePoint";
const QUIET_LISTS: &str = "add get set size isEmpty clear addFirst addLast getFirst getLast removeFirst removeLast \
    push pop peek peekFirst peekLast poll pollFirst pollLast offer offerFirst offerLast element firstElement \
    lastElement elementAt addElement setElementAt insertElementAt removeElementAt iterator listIterator";

/// Known effects by method.
pub struct Contracts {
    known: Map<MethodId, Arc<Summary>>,
    quiet: Set<MethodId>,
    /// Whether what overrides a method does as it does.
    promises: bool,
}

impl Contracts {
    /// Finds the methods in a program; with `sound` those of natives only.
    pub fn new(program: &Program, any: Sym, sound: bool) -> Contracts {
        let element = program
            .names
            .intern(super::facts::Facts::ELEMENT.as_bytes());
        let mut contracts = Contracts {
            known: Map::default(),
            quiet: Set::default(),
            promises: !sound,
        };
        for &(class, methods, shape) in NATIVES {
            contracts.add(
                program,
                class,
                methods,
                &Arc::new(summary(shape, any, element)),
            );
        }
        if sound {
            return contracts;
        }
        for &(class, methods, shape) in CONTRACTS.iter().chain(ENTRIES) {
            contracts.add(
                program,
                class,
                methods,
                &Arc::new(summary(shape, any, element)),
            );
        }
        let tables = [
            (
                COLLECTIONS,
                [
                    COLLECTION_READERS,
                    COLLECTION_GETTERS,
                    COLLECTION_VIEWS,
                    COLLECTION_CHANGERS,
                    COLLECTION_BACKED,
                ],
            ),
            (STREAMS, [STREAM_READERS, "", "", "", ""]),
            (
                OPTIONAL,
                [OPTIONAL_READERS, OPTIONAL_GETTERS, OPTIONAL_VIEWS, "", ""],
            ),
            (
                ATOMICS,
                [ATOMIC_READERS, ATOMIC_GETTERS, "", ATOMIC_CHANGERS, ""],
            ),
            (
                MAPS,
                [
                    MAP_READERS,
                    MAP_GETTERS,
                    MAP_VIEWS,
                    MAP_CHANGERS,
                    MAP_BACKED,
                ],
            ),
        ];
        for (classes, methods) in tables {
            for (methods, shape) in methods
                .into_iter()
                .zip([Reads, Gets, Views, Changes, Backed])
            {
                let summary = Arc::new(summary(shape, any, element));
                for class in classes {
                    contracts.add(program, class, methods, &summary);
                }
            }
        }
        let more = [
            (STREAMS, STREAM_ENDS, Consumes),
            (STREAMS, STREAM_GETTERS, Steps),
            (STREAMS, STREAM_VIEWS, Pipes),
            (BUFFERS, BUFFER_READERS, Reads),
            (BUFFERS, BUFFER_STEPS, Consumes),
            (BUFFERS, BUFFER_MOVES, Outputs),
            (BUFFERS, BUFFER_PUTS, Puts),
            (BUFFERS, BUFFER_VIEWS, Views),
            (BUFFERS, "array", Backed),
            (UPDATERS, ATOMIC_GETTERS, GetsFirst),
            (UPDATERS, ATOMIC_CHANGERS, ChangesSecond),
            (COLLECTIONS, "toArray([Ljava/lang/Object;)", Fills),
            (COLLECTIONS, "toArray", Clones),
        ];
        for (classes, methods, shape) in more {
            let summary = Arc::new(summary(shape, any, element));
            for class in classes {
                contracts.add(program, class, methods, &summary);
            }
        }
        let reads = Arc::new(summary(Reads, any, element));
        for class in VALUES {
            for method in of_values(program, class) {
                contracts
                    .known
                    .entry(method)
                    .or_insert_with(|| reads.clone());
            }
        }
        for &(class, methods) in QUIET {
            let found = named(program, class, methods);
            contracts.quiet.extend(found);
        }
        // Exceptions keep a message and a cause.
        let throwable = program
            .names
            .find(b"java/lang/Throwable")
            .and_then(|name| program.find(name));
        let keeps = Arc::new(summary(Changes, any, element));
        for class in throwable
            .map(|class| program.subtypes(class))
            .unwrap_or_default()
        {
            let class = program.class(class);
            for number in class.methods.clone().filter(|_| class.library) {
                let signature = program
                    .names
                    .bytes(program.method(MethodId(number)).signature);
                if signature.starts_with(b"<init>(") {
                    contracts
                        .known
                        .entry(MethodId(number))
                        .or_insert_with(|| keeps.clone());
                }
            }
        }
        // Functions of the JDK's own: what the program gives it is called back.
        let functional = Arc::new(summary(Reads, any, element));
        for class in program.classes.iter().filter(|class| class.library) {
            let name = program.names.bytes(class.name);
            let functions = name.starts_with(b"java/util/function/")
                || matches!(
                    &*name,
                    b"java/lang/Runnable" | b"java/util/concurrent/Callable"
                );
            for number in class.methods.clone().filter(|_| functions) {
                let id = MethodId(number);
                if program.method(id).is(hindsight_classfile::access::ABSTRACT) {
                    contracts
                        .known
                        .entry(id)
                        .or_insert_with(|| functional.clone());
                }
            }
        }
        contracts
    }

    fn add(&mut self, program: &Program, class: &str, methods: &str, summary: &Arc<Summary>) {
        for method in named(program, class, methods) {
            self.known.entry(method).or_insert_with(|| summary.clone());
        }
    }

    /// Whether only what is sure is known.
    pub fn is_proof(&self) -> bool {
        !self.promises
    }

    /// What changes its receiver, and returns something that this leads to.
    pub fn step(any: Sym, element: Sym) -> Summary {
        summary(Steps, any, element)
    }

    /// Whether a method calls nothing of what it is given. Not a proof.
    pub fn is_quiet(&self, method: MethodId) -> bool {
        self.quiet.contains(&method)
    }

    /// The effect of a method of the library, and of what overrides it, if that
    /// is promised.
    pub fn promise(&self, method: MethodId) -> Option<&Arc<Summary>> {
        self.find(method).filter(|_| self.promises)
    }

    /// The effect of a method of the library, if it is known.
    pub fn find(&self, method: MethodId) -> Option<&Arc<Summary>> {
        self.known.get(&method)
    }
}

/// Methods of a class of the library, by names separated by blanks.
fn named<'p>(
    program: &'p Program,
    class: &str,
    methods: &'p str,
) -> impl Iterator<Item = MethodId> + 'p {
    of_class(program, class).filter(move |&method| {
        let signature = program.names.bytes(program.method(method).signature);
        let until = |byte: u8| signature.iter().position(|&other| other == byte);
        let name = &signature[..until(b'(').unwrap_or(signature.len())];
        // With its parameters if it is overloaded.
        let whole = &signature[..until(b')').map_or(signature.len(), |at| at + 1)];
        methods
            .split_ascii_whitespace()
            .any(|wanted| wanted.as_bytes() == name || wanted.as_bytes() == whole)
    })
}

/// The methods of a class of values that take nothing but values.
fn of_values<'p>(program: &'p Program, class: &str) -> impl Iterator<Item = MethodId> + 'p {
    let is_value = |ty: &str| {
        let (_, element) = descriptor::element(ty);
        descriptor::class_name(element).is_none_or(|class| {
            let class = class.replace('.', "/");
            VALUES.contains(&&*class) || TAKEN_BY_VALUES.contains(&&*class)
        }) && (element.len() == ty.len() || ty == "[Ljava/lang/String;")
    };
    of_class(program, class).filter(move |&method| {
        let signature = program.names.bytes(program.method(method).signature);
        let text = String::from_utf8_lossy(&signature);
        let types = text.find('(').and_then(|at| descriptor::split(&text[at..]));
        // Of `Locale` that is static state.
        let sets = text.starts_with("setDefault");
        !text.starts_with('<')
            && !sets
            && types.is_some_and(|(types, _)| types.iter().all(|ty| is_value(ty)))
    })
}

/// The methods of a class of the library.
fn of_class<'p>(program: &'p Program, class: &str) -> impl Iterator<Item = MethodId> + 'p {
    let class = program
        .names
        .find(class.as_bytes())
        .and_then(|name| program.find(name))
        .map(|class| program.class(class))
        .filter(|class| class.library);
    let numbers = class.map_or(0..0, |class| class.methods.clone());
    numbers.map(MethodId)
}

fn summary(shape: Shape, any: Sym, element: Sym) -> Summary {
    const THIS: u32 = 0;
    const DEEP: u32 = 1;
    const OUTSIDE: u32 = 2;
    const MADE: u32 = 3;
    const ARGUMENT: u32 = 4;
    /// More arguments than any method of the tables has.
    const ARGUMENTS: u16 = 4;
    let certain = |node| reference(node, false);
    let write = |node| Write {
        node: certain(node),
        cause: Cause::NoBody,
        only: None,
    };
    let mut summary = Summary {
        nodes: vec![
            Node::Param(0),
            Node::Deep(0),
            Node::Outside,
            Node::New(0, Made::Some),
        ],
        returned: vec![certain(OUTSIDE)],
        ..Summary::default()
    };
    for argument in 1..=ARGUMENTS {
        summary.nodes.push(Node::Param(argument));
    }
    let arguments: Vec<u32> = (0..u32::from(ARGUMENTS))
        .map(|n| certain(ARGUMENT + n))
        .collect();
    match shape {
        Reads => {}
        // The receiver too: some of these are static and return what they get.
        Gets => summary.returned = vec![certain(THIS), certain(DEEP), certain(OUTSIDE)],
        Views | Collects => {
            if shape == Views {
                summary.nodes[MADE as usize] = Node::New(0, Made::Library);
            }
            summary.returned = vec![certain(MADE)];
            summary
                .heap
                .push((MADE, any, vec![certain(THIS), certain(DEEP)]));
        }
        Steps => {
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(DEEP), certain(OUTSIDE)];
        }
        Changes => {
            summary.writes.push(write(THIS));
            summary.heap.push((THIS, any, arguments));
            summary.returned = vec![certain(DEEP), certain(OUTSIDE)];
        }
        ChangesBelow => {
            summary.writes.extend([write(THIS), write(DEEP)]);
            summary.heap.push((THIS, any, arguments));
        }
        Backed => summary.returned = vec![certain(THIS), certain(DEEP)],
        GetsFirst => {
            let below = summary.nodes.len() as u32;
            summary.nodes.push(Node::Deep(1));
            summary.returned = vec![certain(OUTSIDE), certain(below)];
        }
        Puts => {
            summary.writes.extend([write(THIS), write(DEEP)]);
            summary.returned = vec![certain(THIS)];
        }
        Makes => {
            summary.returned = vec![certain(MADE)];
            let mut all = vec![certain(THIS), certain(DEEP)];
            join(&mut all, &arguments, false);
            summary.heap.push((MADE, any, all));
        }
        Outputs => {
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(THIS), certain(OUTSIDE)];
        }
        ChangesFirst => {
            summary.writes.push(write(THIS));
            summary.heap.push((THIS, any, arguments));
        }
        ChangesSecond => {
            let below = summary.nodes.len() as u32;
            summary.nodes.push(Node::Deep(1));
            summary.writes.push(write(ARGUMENT));
            summary.heap.push((ARGUMENT, any, arguments[1..].to_vec()));
            summary.returned.push(certain(below));
        }
        Consumes => summary.writes.push(write(THIS)),
        Pipes => {
            summary.nodes[MADE as usize] = Node::New(0, Made::Library);
            summary.writes.push(write(THIS));
            summary.returned = vec![certain(MADE)];
            let held = vec![certain(THIS), certain(DEEP)];
            summary.heap.push((MADE, any, held));
        }
        Fills => {
            summary.writes.push(write(ARGUMENT));
            summary.returned = vec![certain(MADE), certain(ARGUMENT)];
            for array in [MADE, ARGUMENT] {
                summary.heap.push((array, element, vec![certain(DEEP)]));
            }
        }
        ArrayCopy => {
            // The elements of the first: read, then stored.
            let read = summary.nodes.len() as u32;
            summary.nodes.push(Node::Read(THIS, element));
            summary.writes.push(write(ARGUMENT + 1));
            summary
                .heap
                .push((ARGUMENT + 1, element, vec![certain(read)]));
        }
        Clones => {
            summary.returned = vec![certain(MADE)];
            summary.heap.push((MADE, any, vec![certain(DEEP)]));
        }
        Anything => {
            summary.writes_outside = true;
            summary.writes_kept = true;
            for argument in 0..=ARGUMENTS {
                for node in [Node::Param(argument), Node::Deep(argument)] {
                    let number = summary.nodes.len() as u32;
                    summary.nodes.push(node);
                    summary.returned.push(reference(number, true));
                    summary.writes.push(Write {
                        node: reference(number, true),
                        cause: Cause::NoBody,
                        only: None,
                    });
                }
            }
        }
    }
    summary
}
