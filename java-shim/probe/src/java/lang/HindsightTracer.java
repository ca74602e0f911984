package java.lang;

import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The object with which a thread writes its events: its {@link HindsightStream}, and the objects
 * that it has lately named.
 *
 * <p>There is one for each platform thread. Virtual threads write with that of their carrier,
 * because there may be hundreds of thousands of them. {@link #current} is the thread whose events
 * come now, and a change of it is an event. A virtual thread can leave its carrier only where it
 * parks or blocks on a monitor, and no probe does either.
 *
 * <p><b>Invariant:</b> calls nothing of the program, and nothing outside {@code java.lang} and
 * {@code jdk.internal}, which are never instrumented; {@link HindsightTexts} has its own rule.
 */
final class HindsightTracer extends HindsightStream {
    /** The most bytes of a string that are stored. */
    private static final int MAX_TEXT = 512;

    /**
     * The number of objects that a thread finds at once: the initial one here, then the largest.
     */
    private static final int KNOWN = 256;

    private static final int MOST_KNOWN = 16_384;

    private static final int KNOWN_CLASSES = 64;

    /** The number of object numbers that a thread reserves at a time. */
    private static final int NUMBERS_AT_ONCE = 256;

    /** The most elements of an array that are hidden with it. */
    private static final int MOST_HIDDEN = 256;

    /**
     * Stands for an object without a number, because there was no memory for one or there are no
     * more.
     */
    private static final long UNKNOWN = 1;

    private static final int NO_CLASS = -1;

    private static final byte[] NOTHING = {};

    /** The address of the blocks' bytes. */
    static long blocks;

    // For HindsightWindow, before it is initialised.
    /** The address of the methods' bytes; 0 if the whole run is recorded. */
    static long marks;

    static int every;
    static boolean byMethod;

    /** The number of times the recording has resumed after a pause. */
    static int pauses;

    /** Whether texts are stored. */
    private static boolean texts;

    /** Marks the virtual threads that have written; several share one mark. */
    private static final byte[] VIRTUAL = new byte[1 << 18];

    private static final HindsightIdentities[] CLASS_IDS = HindsightIdentities.parts();

    /**
     * The virtual threads that write, each with its stream in one word. When one has moved to
     * another carrier and comes back, its switch is recorded although this carrier has written
     * nothing else. If two threads share a place, a switch is recorded too often.
     */
    private static final long[] MOUNTS = new long[1 << 14];

    /**
     * Marks the objects whose text or elements are secret; several share one mark. What was hidden
     * once is not recorded later by any thread under another name.
     */
    private static final byte[] SECRETS = new byte[1 << 18];

    /** Whether only calls are recorded, so that objects need no numbers. */
    private static boolean anonymous;

    /** The thread whose events come now, if it is a platform thread. */
    private Thread self;

    /**
     * The objects named lately. Nothing else holds the array, so each garbage collection empties
     * it, and it keeps nothing alive.
     */
    private WeakReference<Object[]> known = new WeakReference<>(new Object[KNOWN]);

    /** The numbers of these objects, at the same indices. */
    private long[] knownIds = new long[KNOWN];

    /** The classes of such objects, held in the same way. */
    private WeakReference<Class<?>[]> knownClasses = new WeakReference<>(new Class<?>[KNOWN_CLASSES]);

    /** The first unused number when the span of the last chunk began. */
    private long oldest;

    /** How often an object was not found among the known ones. */
    private int unknown;

    /** The next of this thread's reserved numbers, for objects that it sees first. */
    private long nextNumber;

    private int numbersLeft;

    private final int[] knownClassIds = new int[KNOWN_CLASSES];

    /** The calls of the thread whose events come now; null if the whole run is recorded. */
    HindsightCalls calls;

    /** Whether that thread is in a call that is not recorded. */
    boolean skips;

    private HindsightCalls own;

    /** Whether the objects named next are secret. */
    private boolean hides;

    /** Records the elements of arrays; null if they are not recorded. */
    private final HindsightElements elements = HindsightElements.ofThread();

    HindsightTracer(Thread owner) {
        super(owner);
    }

    /**
     * Called by the agent before {@link #start}, if only a part of the run is to be recorded.
     *
     * @param marks memory for a byte for each method
     * @param every one of this many outermost calls is recorded; 0 for all
     * @param byMethod whether only calls of marked methods are outermost ones
     * @param closed whether the recording begins only with a method
     */
    static void narrow(long marks, int every, boolean byMethod, boolean closed) {
        HindsightTracer.marks = marks;
        HindsightTracer.every = every;
        HindsightTracer.byMethod = byMethod;
        if (closed) {
            HindsightTracers.stop();
        }
    }

    /**
     * Called by the agent before {@link #start}, if the beginning of a trace that becomes too large
     * is discarded.
     */
    static void forget(int span) {
        HindsightStream.span = span;
    }

    /** Called by the agent before {@link #start}, if blocks are to be recorded. */
    static void cover(long memory) {
        blocks = memory;
    }

    /**
     * Called by the agent, before any probe.
     *
     * @param memory the words that all threads share
     * @param bits memory for the bits of {@link HindsightNumbers}
     * @param values the kinds of JDK values that {@link HindsightTexts} may ask
     */
    static void start(
            long memory,
            long bits,
            boolean withTexts,
            boolean withElements,
            int values,
            boolean callsOnly) {
        shared = memory;
        texts = withTexts;
        HindsightTexts.start(withTexts ? values : 0);
        HindsightElements.start(withElements);
        anonymous = callsOnly;
        startOrder();
        // All that a probe may need is initialised by now, so that no probe waits for it.
        HindsightTracer first = new HindsightTracer(Thread.currentThread());
        HindsightNumbers.start(bits, memory + SERIAL, memory + NUMBERS);
        // There is no memory for it when it is needed.
        first.classId(OutOfMemoryError.class, false);
        HindsightCarrier.get();
        HindsightTracers.of(first.owner);
        Array.getLength(first.known.get());
        if (HindsightWindow.PARTIAL) {
            HindsightCalls.remove(0);
            HindsightNest.running(new int[0], 0, false);
        }
        // The JVM finds native methods by Java code, which may have probes later.
        toldOverflows = HindsightTrace.overflows;
        take(0, 0, 0, 0, false);
        release(0);
        define(0, null);
        window(false);
        HindsightLock.pause();
    }

    /** The current thread's tracer; null if nothing is to be recorded. */
    @ForceInline
    static HindsightTracer get() {
        HindsightTracer tracer = any();
        return HindsightWindow.PARTIAL && tracer != null && tracer.skips ? null : tracer;
    }

    /** The tracer for a method that begins. */
    @ForceInline
    static HindsightTracer entering(int method) {
        return HindsightWindow.PARTIAL ? HindsightWindow.entering(method) : any();
    }

    /** The tracer for a constructor whose call of another constructor has returned. */
    @ForceInline
    static HindsightTracer binding(int method) {
        return HindsightWindow.PARTIAL ? HindsightWindow.binding(method) : any();
    }

    /** The tracer for a method that ends or catches an exception. */
    @ForceInline
    static HindsightTracer leaving(int method, boolean caught) {
        return HindsightWindow.PARTIAL ? HindsightWindow.leaving(method, caught) : any();
    }

    /**
     * The tracer for a secret, which is recorded before the event that names it. It is given even
     * if this call is not recorded, because the object may be named elsewhere.
     */
    static HindsightTracer hiding(int method) {
        if (HindsightWindow.PARTIAL) {
            HindsightWindow.begin(method);
        }
        return any();
    }

    /** Called after the event of a method's end. */
    @ForceInline
    static void left(HindsightTracer tracer, int method) {
        if (HindsightWindow.PARTIAL) {
            HindsightWindow.left(tracer, method);
        }
    }

    /** The tracer, whether this call is recorded or not. */
    @ForceInline
    static HindsightTracer any() {
        Thread thread = Thread.currentThread();
        HindsightTracer tracer = HindsightTracers.first(thread);
        if (tracer != null && tracer.self == thread) {
            return tracer;
        }
        return slowly(thread);
    }

    /** The number of an object. */
    @ForceInline
    long id(Object object) {
        return id(object, HindsightElements.ALL);
    }

    /** The number of an array of which an element was just written. */
    @ForceInline
    long stored(Object array, int index) {
        return id(array, index);
    }

    /** The number of an argument of a call whose first argument is given. */
    @ForceInline
    long beside(Object object, Object first) {
        return id(object, isCopied(first, object) ? HindsightElements.NONE : HindsightElements.ALL);
    }

    /**
     * Whether a call with both may copy from one into the other; else it may put the one into the
     * other.
     */
    private static boolean isCopied(Object from, Object to) {
        Class<?> type = from == null ? null : from.getClass();
        return type != null && type.isArray() && (type.isInstance(to) || !type.getComponentType().isInstance(to));
    }

    /** Gives a number to an array whose elements are recorded separately. */
    void made(Object array) {
        id(array, HindsightElements.NONE);
    }

    @ForceInline
    private long id(Object object, int toldElement) {
        if (object == null) {
            return 0;
        }
        // If the object is locked, its first word holds something else, which leads to no entry.
        Object[] objects = known.get();
        if (objects != null) {
            int at = (int) (U.getLong(object, 0L) >>> HindsightNumbers.HASH_SHIFT) & objects.length - 1;
            if (objects[at] == object) {
                return knownIds[at];
            }
        }
        return look(object, toldElement);
    }

    /** The number of a new object, if it is needed. */
    @ForceInline
    long bound(Object object) {
        return anonymous ? 0 : id(object);
    }

    @DontInline
    private static HindsightTracer slowly(Thread thread) {
        if (!ready) {
            return null;
        }
        long began = 0;
        try {
            if (HindsightTracers.haveStopped() && HindsightTracers.hasNone(thread)) {
                return null;
            }
            Thread carrier = HindsightCarrier.get();
            HindsightTracer tracer = HindsightTracers.of(carrier);
            if (HindsightTracers.haveStopped()) {
                if (tracer != null && tracer.current == thread) {
                    // It continues with a record of this.
                    tracer.current = null;
                    tracer.self = null;
                }
                return null;
            }
            if (tracer == null) {
                if (HindsightTracers.isEnding(carrier)) {
                    return null;
                }
                began = HindsightMemory.begin();
                tracer = HindsightTracers.add(carrier);
            }
            return tracer.writesFor(thread) || tracer.switchTo(thread) ? tracer : null;
        } catch (Throwable e) {
            // Memory or stack is exhausted.
            HindsightMemory.ranOut(e, began);
            U.getAndAddLong(null, shared + LOST, 1);
            return null;
        }
    }

    /** Whether this thread's events come now and no other thread has written any in between. */
    private boolean writesFor(Thread thread) {
        if (current != thread) {
            return false;
        }
        if (thread == owner) {
            return true;
        }
        long tid = U.getLong(thread, TID);
        return MOUNTS[(int) tid & MOUNTS.length - 1] == (tid << STREAM_BITS ^ stream);
    }

    /** Continues with the events of another thread. */
    private boolean switchTo(Thread thread) {
        self = null;
        current = null;
        String name = thread.getName();
        if (name == null) {
            name = "";
        }
        byte[] text = name.value();
        int length = Math.min(text.length, MAX_TEXT);
        long p = room(length, thread);
        if (p == 0) {
            return false;
        }
        long now = now();
        long tid = U.getLong(thread, TID);
        int flags = thread == owner ? 0 : 1;
        if (HindsightWindow.PARTIAL) {
            // A thread that recorded nothing before a pause has no calls after it.
            calls = callsOf(thread, tid);
            if (calls.goOn(pauses)) {
                flags |= 2;
            }
            skips = HindsightTracer.every != 0 && calls.skips;
        }
        U.putByte(p, (byte) SWITCH_TAG);
        U.putInt(p + 1, flags);
        U.putLong(p + 5, tid);
        U.putLong(p + 13, now);
        done(putText(p + 21, text, length, name.coder()));
        isAt(now);
        current = thread;
        if (thread == owner) {
            self = thread;
        } else {
            MOUNTS[(int) tid & MOUNTS.length - 1] = tid << STREAM_BITS ^ stream;
            VIRTUAL[(int) tid & VIRTUAL.length - 1] = 1;
        }
        return true;
    }

    private HindsightCalls callsOf(Thread thread, long tid) {
        if (thread != owner) {
            return HindsightCalls.of(tid, pauses);
        }
        if (own == null) {
            own = HindsightCalls.begin(tid, pauses);
        }
        return own;
    }

    /** Called when the recording resumes, before any thread finds its tracer again. */
    static void beginWindow() {
        for (int i = 0; i < MOUNTS.length; i++) {
            MOUNTS[i] = 0;
        }
        pauses++;
        window(true);
    }

    /** The number of the next outermost call. */
    static long nextTop() {
        return U.getAndAddLong(null, shared + TOPS, 1);
    }

    /** Gives an object its number without recording its text. */
    void hide(Object object) {
        hides = true;
        try {
            long id = id(object);
            if (object.getClass().isArray()) {
                SECRETS[secret(id)] = 1;
            }
            if (object instanceof Object[]) {
                Object[] all = (Object[]) object;
                for (int i = 0; i < all.length && i < MOST_HIDDEN; i++) {
                    if (all[i] instanceof String) {
                        id(all[i]);
                    }
                }
            }
        } finally {
            hides = false;
        }
    }

    /**
     * The number of an object that is not among the known ones, to which it is added.
     *
     * <p>Most objects have or get their number without memory, so a full heap costs texts but few
     * numbers: an attempt that finds no memory is followed by one that does without.
     */
    @DontInline
    private long look(Object object, int toldElement) {
        long began = 0;
        try {
            if (!HindsightMemory.isShort()) {
                try {
                    began = HindsightMemory.begin();
                    return look(object, toldElement, false, began);
                } catch (OutOfMemoryError none) {
                    HindsightMemory.ranOut(none, began);
                }
            }
            return look(object, toldElement, true, 0);
        } catch (OutOfMemoryError none) {
            // No stack has overflowed.
            U.getAndAddLong(null, shared + LOST, 1);
        } catch (Throwable e) {
            HindsightTrace.overflows++;
        }
        return UNKNOWN;
    }

    /** As {@link #look}; throws if there is no memory that the object's number needs. */
    private long look(Object object, int toldElement, boolean isShort, long began) {
        Object[] objects = known.get();
        if (!isShort && (objects == null || ++unknown > 8 * objects.length)) {
            objects = again(objects);
        }
        Class<?> type = object.getClass();
        int classId = classId(type, isShort);
        boolean mayBeFilled = false;
        long id = classId == NO_CLASS ? HindsightNumbers.NONE : HindsightNumbers.of(object, classId, this);
        if (id == HindsightNumbers.NONE) {
            U.getAndAddLong(null, shared + UNNUMBERED, 1);
            return UNKNOWN;
        } else if (id < 0) {
            id = ~id;
            mayBeFilled = tellOf(object, type, id, toldElement, began);
            objects = known.get();
        } else if (elements != null && type.isArray() && elements.awaits(id)) {
            if (hides || SECRETS[secret(id)] != 0) {
                elements.forget(id);
            } else {
                mayBeFilled = elements.tellLate(object, id, toldElement, this);
                objects = known.get();
            }
        } else if (!isShort && isLaterSpan() && texts && HindsightNumbers.isBefore(id, oldest)) {
            String text = HindsightTexts.of(object, type);
            if (text != null && (hides || SECRETS[secret(id)] == 0)) {
                tellText(text, id);
            }
        }
        // An array that is still empty is examined again.
        if (objects != null && !mayBeFilled) {
            int at = System.identityHashCode(object) & objects.length - 1;
            knownIds[at] = id;
            objects[at] = object;
        }
        return id;
    }

    /**
     * The number of a lately named object with this hash code; {@link #NONE} if it is another
     * object.
     */
    long lately(Object object, int hash) {
        Object[] objects = known.get();
        if (objects == null) {
            return HindsightNumbers.NONE;
        }
        int at = hash & objects.length - 1;
        return objects[at] == object ? knownIds[at] : HindsightNumbers.NONE;
    }

    /** A number that no object has, for {@link #takeNumber}; {@link #NONE} if there are no more. */
    long nextNumber() {
        if (numbersLeft == 0) {
            nextNumber = HindsightNumbers.reserve(NUMBERS_AT_ONCE);
            numbersLeft = nextNumber == HindsightNumbers.NONE ? 0 : NUMBERS_AT_ONCE;
        }
        return nextNumber;
    }

    void takeNumber() {
        nextNumber++;
        numbersLeft--;
    }

    /** Empties the known objects, and makes room for more if that is worthwhile. */
    private Object[] again(Object[] old) {
        int length = knownIds.length;
        if (unknown > 8 * length && length < MOST_KNOWN) {
            length *= 4;
        } else if (old != null) {
            unknown = 0;
            return old;
        }
        unknown = 0;
        Object[] objects = new Object[length];
        if (length != knownIds.length) {
            // In this order, so that no object is found without its number.
            known = new WeakReference<>(null);
            knownIds = new long[length];
        }
        known = new WeakReference<>(objects);
        return objects;
    }

    /**
     * Records an object that is new to the trace, without its text if there is no memory for that.
     * Returns whether its elements may still have to be recorded.
     */
    private boolean tellOf(Object object, Class<?> type, long id, int toldElement, long began) {
        String text = null;
        try {
            text = HindsightTexts.of(object, type);
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            U.getAndAddLong(null, shared + LOST, 1);
            if (hides) {
                SECRETS[secret(id)] = 1;
            }
        }
        int length = 0;
        boolean isFilled = false;
        boolean mayBeFilled = false;
        if (object instanceof String) {
            length = ((String) object).length();
        } else if (type.isArray()) {
            length = Array.getLength(object);
            if (elements != null && !hides) {
                isFilled = elements.find(object, length, toldElement, this);
                mayBeFilled = !isFilled && elements.await(id, length, toldElement);
            }
        }
        long p = room();
        if (p == 0) {
            if (isFilled) {
                elements.letGo(object, length);
            }
            return mayBeFilled;
        }
        U.putByte(p, (byte) OBJECT_TAG);
        boolean hidden = hides && text != null;
        U.putLong(p + 1, id);
        U.putInt(p + 9, hidden ? 0 : length);
        done(p + 13);
        if (text != null && texts) {
            tellText(text, id);
        }
        if (isFilled) {
            elements.tell(object, length, id, this);
        }
        return mayBeFilled;
    }

    /** Records the text of an object; for one that was not named lately, without the object. */
    private void tellText(String text, long id) {
        if (hides) {
            SECRETS[secret(id)] = 1;
            long p = room();
            if (p != 0) {
                U.putByte(p, (byte) TEXT_TAG);
                U.putLong(p + 1, id);
                U.putLong(p + 9, 0);
                done(putText(p + 17, NOTHING, 0, SECRET));
            }
            return;
        }
        byte[] bytes = text.value();
        int stored = Math.min(bytes.length, MAX_TEXT);
        // Only for a truncated text, because the hash code needs the whole string.
        int hash = stored < bytes.length ? text.hashCode() : 0;
        long p = room(stored, current);
        if (p == 0) {
            return;
        }
        U.putByte(p, (byte) TEXT_TAG);
        U.putLong(p + 1, id);
        U.putInt(p + 9, text.length());
        U.putInt(p + 13, hash);
        done(putText(p + 17, bytes, stored, text.coder()));
    }

    private static int secret(long id) {
        return (int) id & SECRETS.length - 1;
    }

    /** Records the field that a handle writes which was made for it. */
    void named(Object handle, Object owner, Object name) {
        if (!texts) {
            return;
        }
        long began = 0;
        try {
            long id = id(handle);
            if (id != UNKNOWN) {
                began = HindsightMemory.begin();
                tellText(HindsightTexts.ofField(owner, name), id);
            }
        } catch (Throwable e) {
            HindsightMemory.ranOut(e, began);
        }
    }

    /** The number of a class of objects; {@link #NO_CLASS} if it can have none. */
    private int classId(Class<?> type, boolean isShort) {
        Class<?>[] classes = knownClasses.get();
        if (classes == null && !isShort) {
            classes = new Class<?>[KNOWN_CLASSES];
            knownClasses = new WeakReference<>(classes);
        }
        int hash = System.identityHashCode(type);
        int at = hash & KNOWN_CLASSES - 1;
        if (classes != null && classes[at] == type) {
            return knownClassIds[at];
        }
        HindsightIdentities part = HindsightIdentities.part(CLASS_IDS, hash);
        HindsightIdentity identity = part.find(type, hash);
        if (identity == null) {
            if (U.getLongVolatile(null, shared + CLASSES) >= HindsightNumbers.CLASSES) {
                return NO_CLASS;
            }
            HindsightMemory.begin();
            int id = (int) U.getAndAddLong(null, shared + CLASSES, 1);
            if (id >= HindsightNumbers.CLASSES) {
                return NO_CLASS;
            }
            // Before any event names the class.
            define(id, type);
            identity = part.add(new HindsightIdentity(type, hash, id), type);
        }
        if (classes != null) {
            classes[at] = type;
            knownClassIds[at] = (int) identity.id;
        }
        return (int) identity.id;
    }

    /** Looks at all objects anew, so that old ones are described again. */
    @Override
    void newSpan() {
        oldest = HindsightNumbers.next();
        Object[] objects = known.get();
        if (objects != null) {
            for (int i = 0; i < objects.length; i++) {
                objects[i] = null;
            }
        }
    }

    /** Called at the entry of {@code Thread.exit}, on the ending thread. */
    public static void ended(Thread thread) {
        try {
            if (thread != Thread.currentThread()) {
                return;
            }
            HindsightTracers.end(thread);
            HindsightTracer tracer = HindsightTracers.certainlyOf(thread);
            if (tracer == null) {
                return;
            }
            tracer.stop();
            if (ready) {
                long p = tracer.current == thread ? tracer.room() : 0;
                if (p != 0) {
                    U.putByte(p, (byte) END_TAG);
                    U.putLong(p + 1, U.getLong(thread, TID));
                    tracer.done(p + 9);
                }
            }
            tracer.leave();
        } catch (Throwable e) {
            // The thread ends as it would have.
        }
    }

    /** Called when a virtual thread has ended, on its last carrier. */
    public static void endedVirtual(Thread thread) {
        try {
            long tid = U.getLong(thread, TID);
            if (HindsightWindow.PARTIAL) {
                stopWith(HindsightCalls.remove(tid));
            }
            if (!ready
                    || HindsightTracers.haveStopped()
                    || VIRTUAL[(int) tid & VIRTUAL.length - 1] == 0) {
                return;
            }
            Thread carrier = HindsightCarrier.get();
            HindsightTracer tracer = HindsightTracers.of(carrier);
            if (tracer == null) {
                tracer = HindsightTracers.add(carrier);
            }
            if (tracer.writesFor(thread) || tracer.switchTo(thread)) {
                long p = tracer.room();
                if (p != 0) {
                    U.putByte(p, (byte) END_TAG);
                    U.putLong(p + 1, tid);
                    tracer.done(p + 9);
                }
            }
            if (HindsightWindow.PARTIAL) {
                HindsightCalls.remove(tid);
            }
            tracer.self = null;
            tracer.current = null;
        } catch (Throwable e) {
            // The thread has ended all the same.
        }
    }

    /**
     * Called when the thread has ended; stops the recording if that was to stop with the end of one
     * of its calls.
     */
    void stop() {
        if (HindsightWindow.PARTIAL) {
            stopWith(own);
        }
    }

    private static void stopWith(HindsightCalls calls) {
        if (calls != null && calls.wereEnding(pauses)) {
            HindsightTracers.stop(calls);
        }
    }

    /** Returns the chunk and removes this tracer from the table. */
    void leave() {
        HindsightTracers.remove(this);
        self = null;
        current = null;
        close();
    }

    /**
     * Takes a chunk in exchange for a full one.
     *
     * @param full the old chunk, or 0
     * @param stream the number of the stream; if it is 0, there is no chunk to be had
     * @return the chunk's address, or 0 if there is none
     */
    static native long take(long full, long stream, long thread, long stamp, boolean virtual);

    /** Returns a thread's last chunk. */
    static native void release(long chunk);

    /** Notes that the recording resumes or pauses. */
    private static native void window(boolean begins);

    /** Records the name of a class. */
    private static native void define(int id, Class<?> type);
}
