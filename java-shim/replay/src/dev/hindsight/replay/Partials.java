package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.Stored;
import dev.hindsight.replay.Recorded.Trace;
import java.util.EnumMap;
import java.util.List;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * Rules for classes that are restored field by field, except for some fields.
 *
 * <p>The omitted fields belong to threads or to the JVM, or hold an object that the JDK compares
 * with one of its own.
 */
final class Partials {
    private Partials() {}

    static void register() {
        Rules.register(new Partial("java.lang.Throwable",
                "backtrace", "depth", "suppressedExceptions", "stackTrace") {
            @Override
            void children(Instance instance, Numbers out) {
                out.add(instance.reference("suppressedExceptions"));
                out.add(instance.reference("stackTrace"));
            }

            @Override
            void fill(Instance instance, Object object) throws Hole {
                throwable(instance, object);
            }
        });
        registerLocks();
        Rules.register(new Partial("java.lang.ref.Reference", "queue", "next", "discovered") {
            @Override
            Object template(Instance instance) {
                // It has no queue, whichever object stands for that.
                return new java.lang.ref.WeakReference<>(null);
            }
        });
        Rules.register(new Rule("java.lang.Thread") {
            @Override
            Object create(Instance instance) throws Hole {
                Class<?> type = instance.type.running;
                if (Classes.ofJdk(type)) {
                    throw new Hole("thread");
                }
                // A thread of a class of the program has its own state, and need not run.
                Object object = Restorer.allocate(type);
                String name = instance.text("name");
                Thread fresh = new Thread(null, null, name == null ? "restored" : name);
                Layout.copy(fresh, object, Thread.class);
                instance.restorer.note(instance.type.info.name, "thread, not started");
                return object;
            }
        });
        // Sets keep their elements as keys, with one object of their class as the value.
        Rules.register(new Partial("java.util.TreeSet") {
            @Override
            void children(Instance set, Numbers out) {
                Instance map = set.object("m");
                Instance root = map == null ? null : map.object("root");
                if (root != null) {
                    set.restorer.preset(root.reference("value"),
                            Constants.ofJdk("java.util.TreeSet", "PRESENT"));
                }
            }
        });
        registerImmutable("java.util.ImmutableCollections$List12");
        registerImmutable("java.util.ImmutableCollections$Set12");
        Rules.register(new Partial(
                "java.util.EnumMap", "keyUniverse", "vals", "size", "entrySet", "keySet", "values") {
            @Override
            Object template(Instance instance) throws Hole {
                return enumMap(instance);
            }

            @Override
            void children(Instance instance, Numbers out) {
                for (Object constant : instance.elements("keyUniverse")) {
                    out.add(Restorer.reference(constant));
                }
                for (Object value : instance.elements("vals")) {
                    out.add(Restorer.reference(value));
                }
            }

            @Override
            void fill(Instance instance, Object object) throws Hole {
                fillEnumMap(instance, object);
            }
        });
        Rules.register(new Partial("java.nio.Buffer", "address", "segment") {
            @Override
            Object create(Instance instance) throws Hole {
                String name = instance.type.info.name;
                boolean isHeap = name.startsWith("java.nio.Heap") || viewed(instance) != null;
                if (!isHeap && !name.equals("java.nio.StringCharBuffer")) {
                    throw new Hole("native memory");
                }
                return super.create(instance);
            }

            @Override
            void fill(Instance instance, Object object) throws Hole {
                address(instance, object);
            }
        });
    }

    /**
     * Restores locks as free: one that a thread held would never be released, because that thread
     * does not exist here.
     */
    private static void registerLocks() {
        registerLocks(AbstractQueuedSynchronizer.class, "I");
        registerLocks(AbstractQueuedLongSynchronizer.class, "J");
        Rules.register(new Partial(
                "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
                "firstWaiter", "lastWaiter"));
        Rules.register(new Partial("java.util.concurrent.locks.StampedLock",
                "state", "whead", "wtail", "head", "tail", "readerOverflow") {
            @Override
            Object template(Instance instance) {
                return new java.util.concurrent.locks.StampedLock();
            }
        });
    }

    private static void registerLocks(Class<?> synchronizer, String descriptor) {
        Rules.register(new Partial(
                synchronizer.getName(), "head", "tail", "exclusiveOwnerThread", "state") {
            @Override
            void fill(Instance instance, Object object) {
                // In semaphores and latches the state is a count without an owner.
                boolean isLock = instance.type.info.name.contains("Lock$")
                        || instance.reference("exclusiveOwnerThread") >= 0;
                Slot state = Layout.find(synchronizer, "state", descriptor);
                if (!isLock && state != null) {
                    long count = instance.number("state", 0);
                    state.put(object, Primitives.convert(count, state.type));
                }
            }
        });
    }

    /**
     * Restores immutable collections of one element, whose other field holds a marker since JDK 12,
     * and null before.
     */
    private static void registerImmutable(String owner) {
        String second = "e1";
        Rules.register(new Partial(owner) {
            @Override
            void children(Instance instance, Numbers out) {
                Instance marker = instance.object(second);
                if (marker != null && marker.type.info.name.equals("java.lang.Object")) {
                    instance.restorer.preset(
                            marker.number, Constants.ofJdk("java.util.ImmutableCollections", "EMPTY"));
                }
            }

            @Override
            void fill(Instance instance, Object object) throws Hole {
                Slot slot = Layout.need(instance.type.running, second);
                Object empty = Constants.ofJdk("java.util.ImmutableCollections", "EMPTY");
                if (instance.reference(second) < 0) {
                    slot.put(object, empty);
                    return;
                }
                Order order = instance.restorer.file.order;
                Object value = slot.get(object);
                if (owner.endsWith("Set12") && order != null && value != null && value != empty
                        && order.isSwapped()) {
                    Slot first = Layout.need(instance.type.running, "e0");
                    slot.put(object, first.get(object));
                    first.put(object, value);
                }
            }
        });
    }

    /** An exception with the JDK's value for "none suppressed yet". */
    private static final Throwable UNTOUCHED = new Throwable();

    private static void throwable(Instance instance, Object object) throws Hole {
        Object stack = instance.restorer.get(instance.reference("stackTrace"));
        StackTraceElement[] elements = stack instanceof StackTraceElement[]
                ? (StackTraceElement[]) stack : new StackTraceElement[0];
        // The field is filled only on request; the JVM has given the trace to the agent all the
        // same.
        for (Trace trace : instance.restorer.file.exceptions) {
            if (trace.object == instance.number && trace.stack.length > 0) {
                elements = trace.stack.clone();
            }
        }
        if (stack != null || elements.length > 0) {
            Layout.need(Throwable.class, "stackTrace").put(object, elements);
        }
        // An immutable list is the JDK's mark for "none yet", null for "none ever".
        Object suppressed = instance.restorer.get(instance.reference("suppressedExceptions"));
        Slot slot = Layout.need(Throwable.class, "suppressedExceptions");
        boolean untouched = suppressed != null && !(suppressed instanceof java.util.ArrayList);
        slot.put(object, untouched ? slot.get(UNTOUCHED) : suppressed);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object enumMap(Instance instance) throws Hole {
        Class<?> type = instance.needClass("keyType");
        if (!type.isEnum()) {
            throw new Hole(type.getName() + " is no longer an enum; " + Classes.DIFFERS, true);
        }
        return new EnumMap((Class<? extends Enum>) type);
    }

    /** Fills an enum map by name, because constants may be in another order by now. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void fillEnumMap(Instance instance, Object object) throws Hole {
        EnumMap filled = (EnumMap) enumMap(instance);
        Object[] universe = instance.elements("keyUniverse");
        Object[] values = instance.elements("vals");
        for (int i = 0; i < values.length && i < universe.length; i++) {
            Object key = instance.restorer.get(Restorer.reference(universe[i]));
            if (values[i] == null) {
                continue;
            } else if (!(key instanceof Enum)) {
                instance.restorer.note(instance.type.info.name,
                        "without an entry whose key could not be restored");
                continue;
            }
            // A value of null is stored as an object of this anonymous class.
            Instance value = instance.restorer.instance(Restorer.reference(values[i]));
            boolean isNull = value != null && value.type.info.name.equals("java.util.EnumMap$1");
            filled.put((Enum) key,
                    isNull ? null : instance.restorer.get(Restorer.reference(values[i])));
        }
        for (String field : List.of("keyUniverse", "vals", "size")) {
            Slot slot = Layout.need(EnumMap.class, field);
            slot.put(object, slot.get(filled));
        }
    }

    /**
     * The heap buffer that a view ({@code asIntBuffer}) shows in other units; null for other
     * buffers.
     */
    private static Instance viewed(Instance view) {
        Instance bytes =
                view.type.info.name.startsWith("java.nio.ByteBufferAs") ? view.object("bb") : null;
        return bytes != null && bytes.type.info.name.startsWith("java.nio.Heap") ? bytes : null;
    }

    /** Recomputes an address, because the offset of an array's elements differs between JVMs. */
    private static void address(Instance instance, Object object) throws Hole {
        Instance heap = viewed(instance);
        long skipped = 0;
        if (heap == null) {
            heap = instance;
        } else {
            // Both count from the start of the array, and the buffer's elements are bytes.
            skipped = instance.number("address", 0) - heap.number("address", 0);
        }
        Stored array = heap.stored("hb");
        if (array == null || array.kind != Stored.PRIMITIVES) {
            return;
        }
        Object running = instance.restorer.get(heap.reference("hb"));
        if (running == null) {
            throw new Hole("without its array");
        }
        int scale = RecordedArrays.size(running.getClass().getComponentType());
        long offset = heap.number("offset", 0) * scale + skipped;
        Layout.need(java.nio.Buffer.class, "address")
                .put(object, Trusted.arrayBase(running.getClass()) + offset);
    }
}
