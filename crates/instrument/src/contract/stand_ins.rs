//! Stand-ins for methods that write unseen, when a method reference names them: the class
//! `java/lang/HindsightUnseen`.
//!
//! The JVM itself makes the code behind `counter::incrementAndGet`, and no agent sees it. So the
//! reference is changed to name a static method of this class instead, which takes the receiver
//! first, calls the method that was meant, and records the call as any code does: the class itself
//! is instrumented. It is hidden in stack traces.
//!
//! Two kinds of methods have no stand-in: those that look at their caller (`Field.set`), and those
//! for which javac makes lambda expressions, `clone` and the methods of variable handles.

/// The class of all stand-ins. It is defined in `java.base`, so that every class
/// loader and every module sees it.
pub const UNSEEN: &str = "java/lang/HindsightUnseen";

/// A class, whether its methods are static, and the methods with their descriptors.
type Of = (&'static str, bool, &'static [&'static str]);

const ALL: &[Of] = &[
    (
        "java/lang/System",
        true,
        &["arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V"],
    ),
    (
        "java/lang/reflect/Array",
        true,
        &[
            "set(Ljava/lang/Object;ILjava/lang/Object;)V",
            "setBoolean(Ljava/lang/Object;IZ)V",
            "setByte(Ljava/lang/Object;IB)V",
            "setChar(Ljava/lang/Object;IC)V",
            "setDouble(Ljava/lang/Object;ID)V",
            "setFloat(Ljava/lang/Object;IF)V",
            "setInt(Ljava/lang/Object;II)V",
            "setLong(Ljava/lang/Object;IJ)V",
            "setShort(Ljava/lang/Object;IS)V",
        ],
    ),
    (
        "java/util/Arrays",
        true,
        &[
            "fill([ZZ)V",
            "fill([BB)V",
            "fill([CC)V",
            "fill([DD)V",
            "fill([FF)V",
            "fill([II)V",
            "fill([JJ)V",
            "fill([SS)V",
            "fill([Ljava/lang/Object;Ljava/lang/Object;)V",
            "setAll([Ljava/lang/Object;Ljava/util/function/IntFunction;)V",
            "setAll([DLjava/util/function/IntToDoubleFunction;)V",
            "setAll([ILjava/util/function/IntUnaryOperator;)V",
            "setAll([JLjava/util/function/IntToLongFunction;)V",
            "sort([B)V",
            "sort([C)V",
            "sort([D)V",
            "sort([F)V",
            "sort([I)V",
            "sort([J)V",
            "sort([S)V",
            "sort([Ljava/lang/Object;)V",
            "sort([Ljava/lang/Object;Ljava/util/Comparator;)V",
            "parallelSort([D)V",
            "parallelSort([I)V",
            "parallelSort([J)V",
            "parallelSort([Ljava/lang/Comparable;)V",
            "copyOf([BI)[B",
            "copyOf([CI)[C",
            "copyOf([DI)[D",
            "copyOf([II)[I",
            "copyOf([JI)[J",
            "copyOf([Ljava/lang/Object;I)[Ljava/lang/Object;",
            "copyOfRange([BII)[B",
            "copyOfRange([CII)[C",
            "copyOfRange([III)[I",
            "copyOfRange([Ljava/lang/Object;II)[Ljava/lang/Object;",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicBoolean",
        false,
        &[
            "set(Z)V",
            "lazySet(Z)V",
            "setRelease(Z)V",
            "getAndSet(Z)Z",
            "compareAndSet(ZZ)Z",
            "compareAndExchange(ZZ)Z",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicInteger",
        false,
        &[
            "set(I)V",
            "lazySet(I)V",
            "setRelease(I)V",
            "getAndSet(I)I",
            "compareAndSet(II)Z",
            "compareAndExchange(II)I",
            "getAndIncrement()I",
            "getAndDecrement()I",
            "getAndAdd(I)I",
            "incrementAndGet()I",
            "decrementAndGet()I",
            "addAndGet(I)I",
            "getAndUpdate(Ljava/util/function/IntUnaryOperator;)I",
            "updateAndGet(Ljava/util/function/IntUnaryOperator;)I",
            "getAndAccumulate(ILjava/util/function/IntBinaryOperator;)I",
            "accumulateAndGet(ILjava/util/function/IntBinaryOperator;)I",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicLong",
        false,
        &[
            "set(J)V",
            "lazySet(J)V",
            "setRelease(J)V",
            "getAndSet(J)J",
            "compareAndSet(JJ)Z",
            "compareAndExchange(JJ)J",
            "getAndIncrement()J",
            "getAndDecrement()J",
            "getAndAdd(J)J",
            "incrementAndGet()J",
            "decrementAndGet()J",
            "addAndGet(J)J",
            "getAndUpdate(Ljava/util/function/LongUnaryOperator;)J",
            "updateAndGet(Ljava/util/function/LongUnaryOperator;)J",
            "getAndAccumulate(JLjava/util/function/LongBinaryOperator;)J",
            "accumulateAndGet(JLjava/util/function/LongBinaryOperator;)J",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicReference",
        false,
        &[
            "set(Ljava/lang/Object;)V",
            "lazySet(Ljava/lang/Object;)V",
            "setRelease(Ljava/lang/Object;)V",
            "getAndSet(Ljava/lang/Object;)Ljava/lang/Object;",
            "compareAndSet(Ljava/lang/Object;Ljava/lang/Object;)Z",
            "compareAndExchange(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            "getAndUpdate(Ljava/util/function/UnaryOperator;)Ljava/lang/Object;",
            "updateAndGet(Ljava/util/function/UnaryOperator;)Ljava/lang/Object;",
            "getAndAccumulate(Ljava/lang/Object;Ljava/util/function/BinaryOperator;)Ljava/lang/Object;",
            "accumulateAndGet(Ljava/lang/Object;Ljava/util/function/BinaryOperator;)Ljava/lang/Object;",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicIntegerArray",
        false,
        &[
            "set(II)V",
            "lazySet(II)V",
            "getAndSet(II)I",
            "compareAndSet(III)Z",
            "getAndIncrement(I)I",
            "getAndDecrement(I)I",
            "getAndAdd(II)I",
            "incrementAndGet(I)I",
            "decrementAndGet(I)I",
            "addAndGet(II)I",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicLongArray",
        false,
        &[
            "set(IJ)V",
            "lazySet(IJ)V",
            "getAndSet(IJ)J",
            "compareAndSet(IJJ)Z",
            "getAndIncrement(I)J",
            "getAndDecrement(I)J",
            "getAndAdd(IJ)J",
            "incrementAndGet(I)J",
            "decrementAndGet(I)J",
            "addAndGet(IJ)J",
        ],
    ),
    (
        "java/util/concurrent/atomic/AtomicReferenceArray",
        false,
        &[
            "set(ILjava/lang/Object;)V",
            "lazySet(ILjava/lang/Object;)V",
            "getAndSet(ILjava/lang/Object;)Ljava/lang/Object;",
            "compareAndSet(ILjava/lang/Object;Ljava/lang/Object;)Z",
        ],
    ),
    (
        "java/util/concurrent/atomic/LongAdder",
        false,
        &[
            "add(J)V",
            "increment()V",
            "decrement()V",
            "reset()V",
            "sumThenReset()J",
        ],
    ),
    (
        "java/util/concurrent/atomic/DoubleAdder",
        false,
        &["add(D)V", "reset()V", "sumThenReset()D"],
    ),
    (
        "java/util/concurrent/atomic/LongAccumulator",
        false,
        &["accumulate(J)V", "reset()V", "getThenReset()J"],
    ),
    (
        "java/util/concurrent/atomic/DoubleAccumulator",
        false,
        &["accumulate(D)V", "reset()V", "getThenReset()D"],
    ),
];

/// A method that has a stand-in of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// The class of the method.
    pub owner: &'static str,
    /// Whether the method is static. The stand-in always is.
    pub is_static: bool,
    /// The method's name, which is the stand-in's, too.
    pub name: &'static str,
    /// The method's descriptor.
    pub descriptor: &'static str,
}

impl StandIn {
    /// All methods that have a stand-in.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().flat_map(|&(owner, is_static, methods)| {
            methods.iter().filter_map(move |method| {
                let (name, descriptor) = method.split_at_checked(method.find('(')?)?;
                Some(Self {
                    owner,
                    is_static,
                    name,
                    descriptor,
                })
            })
        })
    }

    /// The descriptor of the stand-in.
    pub fn own_descriptor(&self) -> String {
        let rest = self.descriptor.strip_prefix('(').unwrap_or_default();
        match self.is_static {
            true => format!("({rest}"),
            false => format!("(L{};{rest}", self.owner),
        }
    }
}
