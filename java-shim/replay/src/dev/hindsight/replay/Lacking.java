package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Statics.Setting;
import java.security.CodeSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Determines which static fields lack what was recorded: they are null where a value was recorded,
 * their collection has fewer elements, or some object of the program behind them has such a field
 * or element. Constants of enums are examined likewise.
 *
 * <p>In a field itself, another value counts as well. In numbers behind it another value does not
 * count, because a program may use them as counters.
 *
 * <p>What a call has changed since {@link #note} it fills by itself, even if with less than was
 * recorded (a cache of a longer run). If it does so within an object of a library, the rest of that
 * object is the library's own matter: it may have caches that this call does not need.
 */
final class Lacking {
    /** The most pairs of objects that are compared; what lies behind the others is not known. */
    private static final int MAX_PAIRS = 10_000;

    private final List<Setting> settings;
    /** What the recorded state sets in constants, which stand for the recorded ones. */
    private final Map<Object, List<Setting>> constants = new IdentityHashMap<>();
    /** The values of static fields when they were noted. */
    private final Map<Setting, Object> values = new IdentityHashMap<>();
    /** The contents of objects when they were noted. */
    private final Map<Object, Object[]> held = new IdentityHashMap<>();

    Lacking(List<Setting> settings) {
        this.settings = settings;
        for (Setting setting : settings) {
            if (setting.field == null) {
                constants.computeIfAbsent(setting.base, key -> new ArrayList<>()).add(setting);
            }
        }
    }

    /** Notes the present state: what differs from it at the end was filled since. */
    void note() {
        for (Setting setting : settings) {
            if (setting.field != null) {
                Object here = setting.inverse().value;
                values.put(setting, here);
                new Walk(setting.owner, true).run(here, setting.value);
            }
        }
        for (Object constant : constants.keySet()) {
            new Walk(constant.getClass(), true).run(constant, constant);
        }
    }

    /** The static fields and constants of enums, as {@code Class.field}, that lack what would be set. */
    Set<String> fields() {
        Set<String> lacking = new LinkedHashSet<>();
        for (Setting setting : settings) {
            if (setting.field != null && lacks(setting)) {
                lacking.add(setting.field);
            }
        }
        for (Object constant : constants.keySet()) {
            if (constant instanceof Enum
                    && new Walk(constant.getClass(), false).run(constant, constant)) {
                Enum<?> named = (Enum<?>) constant;
                lacking.add(named.getDeclaringClass().getName() + "." + named.name());
            }
        }
        return lacking;
    }

    private boolean lacks(Setting setting) {
        Object here = setting.inverse().value;
        if (values.containsKey(setting) && !isSame(values.get(setting), here)) {
            return false;
        }
        return here != null && setting.value != null && isAnother(here, setting.value)
                || new Walk(setting.owner, false).run(here, setting.value);
    }

    /** Whether a value differs; containers never do, nor do lambdas, which have no names. */
    private static boolean isAnother(Object here, Object recorded) {
        if (recorded instanceof Object[] || size(recorded) >= 0 || recorded.getClass().isSynthetic()) {
            return false;
        }
        return here.getClass() != recorded.getClass() || isAtom(recorded) && !here.equals(recorded);
    }

    private static boolean isSame(Object before, Object here) {
        return before == here || before != null && isAtom(before) && before.equals(here);
    }

    /** An object of this JVM, and the recorded one that corresponds to it. */
    private static final class Pair {
        final Object here;
        final Object recorded;
        /** Whether it is part of an object of a library. */
        final boolean foreign;

        Pair(Object here, Object recorded, boolean foreign) {
            this.here = here;
            this.recorded = recorded;
            this.foreign = foreign;
        }
    }

    /** A walk through what lies behind a static field or a constant. */
    private final class Walk {
        private final Class<?> owner;
        private final boolean notes;
        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final Deque<Pair> work = new ArrayDeque<>();
        /** Whether something is lacking. */
        private boolean found;
        /** Whether something is lacking within a library's object. */
        private boolean foundForeign;
        /** Whether something has changed within a library's object. */
        private boolean filledForeign;

        Walk(Class<?> owner, boolean notes) {
            this.owner = owner;
            this.notes = notes;
        }

        boolean run(Object here, Object recorded) {
            push(here, recorded, false);
            while (!found && !work.isEmpty()) {
                parts(work.removeLast());
            }
            return found || foundForeign && !filledForeign;
        }

        private void push(Object here, Object recorded, boolean foreign) {
            if (recorded == null || here == recorded && !constants.containsKey(here)) {
                return;
            }
            if (here == null) {
                lacks(foreign);
            } else if (seen.size() < MAX_PAIRS && seen.add(recorded)) {
                work.add(new Pair(here, recorded, foreign));
            }
        }

        private void lacks(boolean foreign) {
            found |= !foreign && !notes;
            foundForeign |= foreign;
        }

        private void parts(Pair pair) {
            boolean constant = pair.here == pair.recorded;
            Object[] now = constant ? ofConstant(pair.here, false) : held(pair.here);
            Object[] then = constant ? ofConstant(pair.here, true) : held(pair.recorded);
            if (notes) {
                held.put(pair.here, now);
            }
            boolean foreign = pair.foreign || isForeign(pair.here.getClass(), owner);
            Object[] before = held.getOrDefault(pair.here, now);
            boolean filled = before.length != now.length;
            for (int i = 0; !filled && i < now.length; i++) {
                filled = !isSame(before[i], now[i]);
            }
            filledForeign |= filled && foreign;
            int size = constant ? -1 : size(pair.here);
            if (size >= 0) {
                if (!filled && size < size(pair.recorded)) {
                    lacks(foreign);
                }
                return;
            }
            if (pair.here instanceof Object[] && pair.recorded instanceof Object[]) {
                // Not place by place, because a hash table may have a seed of its own in each JVM.
                if (!filled && full(now) < full(then)) {
                    lacks(foreign);
                }
                if (!notes && !isAlike(now, then)) {
                    return;
                }
            } else if (pair.here.getClass() != pair.recorded.getClass()) {
                return;
            }
            for (int i = 0; i < now.length && i < then.length; i++) {
                if (i >= before.length || isSame(before[i], now[i])) {
                    push(now[i], then[i], foreign);
                }
            }
        }

        /** The values that a constant's fields have, or had. */
        private Object[] ofConstant(Object constant, boolean recorded) {
            List<Object> parts = new ArrayList<>();
            for (Setting setting : constants.get(constant)) {
                if (!setting.type.isPrimitive()) {
                    parts.add(recorded ? setting.value : setting.inverse().value);
                }
            }
            return parts.toArray();
        }
    }

    /** The elements of an array, the size of a collection, or the references in fields. */
    private static Object[] held(Object of) {
        if (of instanceof Object[]) {
            return ((Object[]) of).clone();
        }
        int size = size(of);
        if (size >= 0) {
            return new Object[] {size};
        }
        List<Object> parts = new ArrayList<>();
        if (of instanceof AtomicReference) {
            parts.add(((AtomicReference<?>) of).get());
        }
        Class<?> type = of.getClass();
        while (type != null && !Classes.ofJdk(type)) {
            for (Slot slot : Layout.declared(type)) {
                if (!slot.type.isPrimitive()) {
                    parts.add(slot.get(of));
                }
            }
            type = type.getSuperclass();
        }
        return parts.toArray();
    }

    /** Whether arrays have objects of the same classes at the same indices. */
    private static boolean isAlike(Object[] here, Object[] recorded) {
        if (here.length != recorded.length) {
            return false;
        }
        for (int i = 0; i < here.length; i++) {
            boolean empty = here[i] == null || recorded[i] == null;
            if (empty ? here[i] != recorded[i] : here[i].getClass() != recorded[i].getClass()) {
                return false;
            }
        }
        return true;
    }

    private static int full(Object[] array) {
        int full = 0;
        for (Object element : array) {
            full += element == null ? 0 : 1;
        }
        return full;
    }

    /**
     * Whether a class belongs to another program or library than the owner: it comes from elsewhere
     * or, within one file, its package name differs from the beginning.
     */
    private static boolean isForeign(Class<?> type, Class<?> owner) {
        Class<?> base = type;
        while (base.isArray()) {
            base = base.getComponentType();
        }
        if (Classes.ofJdk(base)) {
            return false;
        }
        String source = source(base);
        if (source == null || source(owner) == null) {
            return false;
        }
        String[] name = base.getName().split("[.]");
        String[] of = owner.getName().split("[.]");
        return !source.equals(source(owner))
                || name.length > 2 && of.length > 2
                        && !(name[0].equals(of[0]) && name[1].equals(of[1]));
    }

    /** The location from which a class was loaded, or null. */
    private static String source(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? null : String.valueOf(source.getLocation());
    }

    /** The number of elements of a JDK collection; -1 for other objects. */
    private static int size(Object holder) {
        if (!Classes.ofJdk(holder.getClass())) {
            return -1;
        } else if (holder instanceof Map) {
            return ((Map<?, ?>) holder).size();
        }
        return holder instanceof Collection ? ((Collection<?>) holder).size() : -1;
    }

    /** Whether an object is identified by its value alone. */
    private static boolean isAtom(Object value) {
        return value instanceof String || value instanceof Enum || value instanceof Class
                || Primitives.unboxed(value.getClass()) != null;
    }
}
