//! The tables of methods and their shapes.

use super::shapes::Shape::{self, *};

/// Native methods and intrinsics: class, methods separated by blanks, shape.
pub(super) const NATIVES: &[(&str, &str, Shape)] = &[
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
    ("java/lang/Class", "newInstance", Anything),
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
    ("java/lang/Class", "cast", Passes),
    ("java/lang/Class", "isInstance isAssignableFrom", Reads),
    (
        "java/util/zip/CRC32",
        "updateBytes updateBytes0 updateByteBuffer updateByteBuffer0",
        Reads,
    ),
    (
        "java/util/zip/Adler32",
        "updateBytes updateByteBuffer",
        Reads,
    ),
];

/// Methods that run code of the program without getting it as an argument; for proofs. An iterator
/// of services makes them only later, but the order does not matter for proofs.
pub(super) const RUNNING: &[(&str, &str, Shape)] = &[
    ("java/lang/Class", "forName getEnumConstants", Anything),
    ("java/lang/Enum", "valueOf", Anything),
    (
        "java/lang/invoke/MethodHandles$Lookup",
        "ensureInitialized",
        Anything,
    ),
    ("java/lang/Thread", "start start0", Anything),
    (
        "java/io/ObjectInputStream",
        "readObject readUnshared",
        Anything,
    ),
    (
        "java/io/ObjectOutputStream",
        "writeObject writeUnshared",
        Anything,
    ),
    (
        "java/util/ServiceLoader",
        "iterator stream findFirst forEach reload",
        Anything,
    ),
    ("java/util/ResourceBundle", "getBundle", Anything),
];

/// Contracts of interfaces, and of methods that are overridden everywhere.
pub(super) const CONTRACTS: &[(&str, &str, Shape)] = &[
    ("java/lang/Object", "equals toString <init> finalize", Reads),
    ("java/lang/Comparable", "compareTo", Reads),
    (
        "java/lang/Enum",
        "compareTo equals getDeclaringClass hashCode name ordinal",
        Reads,
    ),
    ("java/util/Comparator", "compare", Reads),
    ("java/util/Formattable", "formatTo", ChangesSecond),
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
    ("java/util/Iterator", "remove", ChangesBelow),
    // It changes nothing but the position; the calls show what is run on the elements.
    ("java/util/Iterator", "forEachRemaining", Consumes),
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

/// Methods that read and write collections and maps, whichever class they are called on.
pub(super) const COLLECTIONS: &[&str] = &[
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
pub(super) const COLLECTION_READERS: &str = "size isEmpty contains containsAll indexOf lastIndexOf equals hashCode toString \
    comparator search capacity";
pub(super) const COLLECTION_GETTERS: &str = "get getFirst getLast first last peek element peekFirst peekLast ceiling floor \
    higher lower firstElement lastElement elementAt";
pub(super) const COLLECTION_VIEWS: &str =
    "iterator listIterator descendingIterator spliterator stream parallelStream elements";
pub(super) const COLLECTION_BACKED: &str = "subList descendingSet headSet tailSet subSet reversed";
pub(super) const COLLECTION_CHANGERS: &str = "add remove removeAll retainAll clear set push pop poll pollFirst pollLast \
    offer offerFirst offerLast addFirst addLast removeFirst removeLast sort replaceAll removeIf addElement \
    removeElement removeElementAt removeAllElements insertElementAt setElementAt put take setSize \
    removeRange addIfAbsent";

/// Methods that take the elements of another collection.
pub(super) const ABSORBERS: &str = "<init> addAll putAll";

pub(super) const MAPS: &[&str] = &[
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
pub(super) const MAP_READERS: &str = "size isEmpty containsKey containsValue contains equals hashCode toString getProperty comparator \
    forEach";
pub(super) const MAP_GETTERS: &str =
    "get getOrDefault firstKey lastKey ceilingKey floorKey higherKey lowerKey";
pub(super) const MAP_BACKED: &str = "keySet values entrySet headMap tailMap subMap descendingMap navigableKeySet \
    descendingKeySet";
pub(super) const MAP_VIEWS: &str = "keys elements firstEntry lastEntry ceilingEntry floorEntry higherEntry lowerEntry stringPropertyNames";
pub(super) const MAP_CHANGERS: &str = "put remove clear putIfAbsent compute computeIfAbsent computeIfPresent merge replace \
    replaceAll pollFirstEntry pollLastEntry setProperty";

/// Streams are used once and run the functions passed to them, which the calls show.
pub(super) const STREAMS: &[&str] = &[
    "java/util/stream/Stream",
    "java/util/stream/IntStream",
    "java/util/stream/LongStream",
    "java/util/stream/DoubleStream",
    "java/util/stream/BaseStream",
];
pub(super) const STREAM_READERS: &str = "equals hashCode toString isParallel";
pub(super) const STREAM_ENDS: &str =
    "forEach forEachOrdered anyMatch allMatch noneMatch count sum average close";
pub(super) const STREAM_GETTERS: &str = "reduce min max findFirst findAny toArray";
pub(super) const STREAM_VIEWS: &str = "filter map mapToInt mapToLong mapToDouble mapToObj flatMap flatMapToInt distinct sorted peek \
    limit skip takeWhile dropWhile boxed asLongStream asDoubleStream toList iterator spliterator sequential \
    parallel unordered onClose mapMulti";
pub(super) const OPTIONAL: &[&str] = &["java/util/Optional"];
pub(super) const OPTIONAL_READERS: &str =
    "isPresent isEmpty ifPresent ifPresentOrElse equals hashCode toString";
pub(super) const OPTIONAL_GETTERS: &str = "get orElse orElseGet orElseThrow";
pub(super) const OPTIONAL_VIEWS: &str = "filter map flatMap stream or";

/// Numbers and references that threads share.
pub(super) const ATOMICS: &[&str] = &[
    "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicLong",
    "java/util/concurrent/atomic/AtomicBoolean",
    "java/util/concurrent/atomic/AtomicReference",
    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicLongArray",
    "java/util/concurrent/atomic/AtomicReferenceArray",
];
pub(super) const ATOMIC_READERS: &str =
    "length toString intValue longValue floatValue doubleValue byteValue shortValue";
pub(super) const ATOMIC_GETTERS: &str = "get getPlain getAcquire getOpaque";
pub(super) const ATOMIC_CHANGERS: &str = "set lazySet setPlain setOpaque setRelease getAndSet compareAndSet weakCompareAndSet \
    weakCompareAndSetPlain weakCompareAndSetVolatile weakCompareAndSetAcquire weakCompareAndSetRelease compareAndExchange \
    compareAndExchangeAcquire compareAndExchangeRelease getAndIncrement getAndDecrement getAndAdd incrementAndGet \
    decrementAndGet addAndGet getAndUpdate updateAndGet getAndAccumulate accumulateAndGet";
pub(super) const UPDATERS: &[&str] = &[
    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater",
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
];

/// A window of an array or of memory, with a position in it.
pub(super) const BUFFERS: &[&str] = &[
    "java/nio/Buffer",
    "java/nio/ByteBuffer",
    "java/nio/CharBuffer",
    "java/nio/ShortBuffer",
    "java/nio/IntBuffer",
    "java/nio/LongBuffer",
    "java/nio/FloatBuffer",
    "java/nio/DoubleBuffer",
];
pub(super) const BUFFER_READERS: &str = "capacity limit() position() remaining hasRemaining isDirect isReadOnly hasArray \
    arrayOffset order() equals hashCode compareTo toString get(I) getChar(I) getShort(I) getInt(I) getLong(I) \
    getFloat(I) getDouble(I)";
pub(super) const BUFFER_STEPS: &str =
    "get() getChar() getShort() getInt() getLong() getFloat() getDouble()";
pub(super) const BUFFER_MOVES: &str =
    "limit(I) position(I) mark reset clear flip rewind order(Ljava/nio/ByteOrder;)";
pub(super) const BUFFER_PUTS: &str = "put(B) put(IB) put([B) put([BII) put(C) put(IC) put(S) put(IS) put(I) put(II) put(J) put(IJ) \
    put(F) put(IF) put(D) put(ID) putChar putShort putInt putLong putFloat putDouble compact";
pub(super) const BUFFER_VIEWS: &str = "wrap duplicate slice asReadOnlyBuffer asCharBuffer asShortBuffer asIntBuffer asLongBuffer \
    asFloatBuffer asDoubleBuffer";

pub(super) const ENTRIES: &[(&str, &str, Shape)] = &[
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
    ("java/util/Arrays", "stream spliterator", Views),
    ("java/util/EnumSet", "copyOf complementOf", Clones),
    ("java/util/Date", "clone", Copies),
    ("java/util/BitSet", "clone", Copies),
    ("java/util/Calendar", "clone", Copies),
    ("java/util/GregorianCalendar", "clone", Copies),
    ("java/lang/String", "join", Reads),
    (
        "java/util/zip/Checksum",
        "update(I) update([B) update([BII)",
        Consumes,
    ),
    ("java/util/Stack", "push", Pushes),
    ("java/util/concurrent/BlockingQueue", "drainTo", Drains),
    (
        "java/util/concurrent/LinkedBlockingQueue",
        "drainTo",
        Drains,
    ),
    ("java/util/stream/IntStream", "of concat", Views),
    ("java/util/stream/LongStream", "of concat", Views),
    ("java/util/stream/DoubleStream", "of concat", Views),
    (
        "java/util/Spliterator",
        "estimateSize getExactSizeIfKnown characteristics hasCharacteristics getComparator",
        Reads,
    ),
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
    ("java/io/StringWriter", "write append flush close", Outputs),
    (
        "java/io/CharArrayWriter",
        "write append flush close",
        Outputs,
    ),
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
    // A path is a name: what changes is the file.
    (
        "java/nio/file/Files",
        "exists notExists isDirectory isExecutable isHidden isReadable isRegularFile isSameFile isSymbolicLink \
         isWritable size mismatch createDirectories createDirectory createFile createLink createSymbolicLink \
         createTempDirectory createTempFile delete deleteIfExists move readSymbolicLink setAttribute \
         setLastModifiedTime setOwner setPosixFilePermissions write writeString \
         copy(Ljava/nio/file/Path;Ljava/nio/file/Path;[Ljava/nio/file/CopyOption;)",
        Reads,
    ),
    (
        "java/nio/file/Files",
        "find getAttribute getFileAttributeView getFileStore getLastModifiedTime getOwner getPosixFilePermissions \
         lines list newBufferedReader newBufferedWriter newByteChannel newDirectoryStream newInputStream \
         newOutputStream probeContentType readAllBytes readAllLines readAttributes readString walk",
        Copies,
    ),
    (
        "java/nio/file/Files",
        "copy(Ljava/io/InputStream;Ljava/nio/file/Path;[Ljava/nio/file/CopyOption;)",
        Consumes,
    ),
    (
        "java/nio/file/Files",
        "copy(Ljava/nio/file/Path;Ljava/io/OutputStream;)",
        ChangesSecond,
    ),
    ("java/util/regex/Pattern", "matcher", Views),
    ("java/util/function/Function", "identity", Views),
    ("java/util/function/UnaryOperator", "identity", Views),
    (
        "java/util/regex/Pattern",
        "pattern flags split toString asPredicate",
        Reads,
    ),
    (
        "java/util/Collections",
        "shuffle(Ljava/util/List;Ljava/util/Random;) \
         shuffle(Ljava/util/List;Ljava/util/random/RandomGenerator;)",
        ChangesTwo,
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

/// Methods that change something not reachable from a parameter: settings of the whole JVM,
/// threads, files, processes and the network. This is a contract, since native methods and the
/// operating system have no body to analyse.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    (
        "java/lang/System",
        "setProperty clearProperty setProperties setOut setErr setIn setSecurityManager exit load loadLibrary gc \
         runFinalization",
    ),
    (
        "java/lang/Runtime",
        "exit halt exec load loadLibrary gc runFinalization addShutdownHook removeShutdownHook",
    ),
    (
        "java/lang/Thread",
        "start startVirtualThread interrupted setDefaultUncaughtExceptionHandler",
    ),
    ("java/lang/ProcessBuilder", "start startPipeline"),
    ("java/lang/ProcessHandle", "destroy destroyForcibly"),
    (
        "java/io/File",
        "createNewFile createTempFile delete deleteOnExit mkdir mkdirs renameTo setExecutable setLastModified \
         setReadOnly setReadable setWritable",
    ),
    ("java/io/FileOutputStream", "<init>"),
    ("java/io/FileWriter", "<init>"),
    ("java/io/RandomAccessFile", "<init>"),
    ("java/io/PrintStream", OPENING),
    ("java/io/PrintWriter", OPENING),
    ("java/util/Formatter", OPENING),
    (
        "java/nio/file/Files",
        "copy createDirectories createDirectory createFile createLink createSymbolicLink createTempDirectory \
         createTempFile delete deleteIfExists move newBufferedWriter newByteChannel newOutputStream setAttribute \
         setLastModifiedTime setOwner setPosixFilePermissions write writeString",
    ),
    ("java/nio/channels/FileChannel", "open"),
    ("java/net/Socket", "<init> connect bind"),
    ("java/net/ServerSocket", "<init> accept bind"),
    (
        "java/net/DatagramSocket",
        "<init> connect bind send receive",
    ),
    (
        "java/net/URL",
        "getContent openStream setURLStreamHandlerFactory",
    ),
    (
        "java/net/URLConnection",
        "connect getContent getInputStream getOutputStream",
    ),
    ("java/net/http/HttpClient", "send sendAsync"),
    (
        "java/security/Security",
        "addProvider insertProviderAt removeProvider setProperty",
    ),
    ("java/util/Locale", "setDefault"),
    ("java/util/TimeZone", "setDefault"),
    ("java/net/Authenticator", "setDefault"),
    ("java/net/CookieHandler", "setDefault"),
    ("java/net/ProxySelector", "setDefault"),
    ("java/net/ResponseCache", "setDefault"),
    (
        "java/sql/DriverManager",
        "registerDriver deregisterDriver setLogWriter setLoginTimeout getConnection",
    ),
];

/// Methods that call no method of their arguments: they compare no elements and make no text of
/// them.
pub(super) const QUIET: &[(&str, &str)] = &[
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
/// Constructors that open a file by its name.
const OPENING: &str = "<init>(Ljava/lang/String;) <init>(Ljava/lang/String;Ljava/lang/String;) \
    <init>(Ljava/lang/String;Ljava/nio/charset/Charset;) <init>(Ljava/io/File;) \
    <init>(Ljava/io/File;Ljava/lang/String;) <init>(Ljava/io/File;Ljava/nio/charset/Charset;) \
    <init>(Ljava/lang/String;Ljava/lang/String;Ljava/util/Locale;) \
    <init>(Ljava/io/File;Ljava/lang/String;Ljava/util/Locale;)";
pub(super) const BUILDERS: &str =
    "<init> append insert delete deleteCharAt replace reverse setCharAt setLength appendCodePoint";
pub(super) const QUIET_LISTS: &str = "add get set size isEmpty clear addFirst addLast getFirst getLast removeFirst removeLast \
    push pop peek peekFirst peekLast poll pollFirst pollLast offer offerFirst offerLast element firstElement \
    lastElement elementAt addElement setElementAt insertElementAt removeElementAt iterator listIterator";
