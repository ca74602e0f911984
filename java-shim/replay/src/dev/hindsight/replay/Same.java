package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.reflect.Array;
import java.text.SimpleDateFormat;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.regex.Pattern;

/**
 * Whether two graphs of objects are the same state: the same classes, the same values in all
 * fields, and the same objects in the same places, so that what is shared in one is shared in the
 * other.
 *
 * <p>For lambdas, the method behind them counts and what they have captured, because each place
 * that makes one has a class of its own. For the JDK's collections and values, the content counts
 * and not its storage: neither the capacity of a list nor the table of a map. But keys that have
 * changed since they were put in are not found, which counts. Of the program's code only {@code
 * hashCode} runs; maps that need more to find a key are walked instead.
 */
final class Same {
    /** The most pairs of unordered keys that are tried. */
    private static final int MAX_TRIALS = 4096;

    /** The settings of a JDK collection besides its elements. */
    private static final Set<String> SETTINGS = Set.of(
            "comparator", "accessOrder", "keyType", "elementType", "defaults", "allowNulls",
            "capacity");
    /**
     * The fields of an exception that count. Its stack trace does not, because it says where it was
     * made and is never the same.
     */
    private static final Set<String> OF_EXCEPTIONS = Set.of(
            "detailMessage", "cause", "suppressedExceptions");
    /** Fields of the JDK that only save work. */
    private static final Set<String> CACHES = Set.of(
            "modCount", "hash", "hashIsZero", "hashCode", "stringCache", "toStringCache");
    /** JDK classes whose objects are as {@code equals} says. */
    private static final Set<String> VALUES = Set.of(
            "java.math.BigInteger", "java.math.BigDecimal", "java.util.UUID", "java.util.Locale",
            "java.util.BitSet", "java.util.Currency", "java.util.Date", "java.sql.Date", "java.sql.Time",
            "java.sql.Timestamp", "java.util.OptionalInt", "java.util.OptionalLong",
            "java.util.OptionalDouble", "java.io.File", "java.net.URI", "sun.nio.fs.UnixPath",
            "sun.nio.fs.WindowsPath", "sun.util.calendar.ZoneInfo");

    /**
     * JDK classes whose {@code equals} compares what the objects do, but whose objects keep an
     * identity because they are mutable.
     */
    private static final Set<String> EQUAL = Set.of(
            "java.text.ChoiceFormat", "java.text.DecimalFormat", "java.text.DecimalFormatSymbols",
            "java.text.ParsePosition", "java.text.SimpleDateFormat",
            "java.util.GregorianCalendar");

    private static final Pattern SHORT_YEAR = Pattern.compile("(?<!y)yy?(?!y)|(?<!Y)YY?(?!Y)");

    /**
     * The findings before a pair was tried, on which a trial builds; null if this is not a trial.
     */
    private final Same outer;
    private final Map<Object, Object> there = new IdentityHashMap<>();
    private final Map<Object, Object> back = new IdentityHashMap<>();
    private final Deque<Object[]> work = new ArrayDeque<>();
    private int trials;
    private Object holder;
    private String difference;

    /**
     * The stand-in for a built object within others that know the one that it is to be; null if
     * there is none.
     */
    private final Object known;
    private final Object made;

    Same() {
        this(null, null);
    }

    /** Takes one object on the built side for another one. */
    Same(Object known, Object made) {
        this.outer = null;
        this.known = known;
        this.made = made;
    }

    private Same(Same outer) {
        this.outer = outer;
        this.known = outer.known;
        this.made = outer.made;
    }

    /** The loaded object that was found to correspond to a built one, or null. */
    private Object loadedOf(Object built) {
        Object loaded = null;
        for (Same same = this; same != null && loaded == null; same = same.outer) {
            loaded = same.there.get(built);
        }
        return loaded;
    }

    /** The built object that was found to correspond to a loaded one, or null. */
    private Object builtOf(Object loaded) {
        Object built = null;
        for (Same same = this; same != null && built == null; same = same.outer) {
            built = same.back.get(loaded);
        }
        return built;
    }

    /** Compares one more pair; correspondences that were found before still hold. */
    boolean compare(Object built, Object loaded) {
        work.clear();
        difference = null;
        push(built, loaded, null, "");
        while (difference == null && !work.isEmpty()) {
            Object[] pair = work.removeLast();
            parts(pair[0], pair[1]);
        }
        return difference == null;
    }

    /** The loaded object in which the last comparison found a difference, or null. */
    Object holder() {
        return holder;
    }

    /** The last difference in words; null if there was none. */
    String difference() {
        return difference;
    }

    /** The names of the fields, as {@code owner.name}, in which two objects of one class differ. */
    static Set<String> differingFields(Object built, Object loaded) {
        Set<String> differing = new LinkedHashSet<>();
        if (built.getClass() != loaded.getClass()) {
            return differing;
        }
        for (Class<?> type = built.getClass(); type != null; type = type.getSuperclass()) {
            for (Slot slot : Layout.declared(type)) {
                Same same = new Same();
                same.there.put(built, loaded);
                same.back.put(loaded, built);
                if (!same.compare(slot.get(built), slot.get(loaded))) {
                    differing.add(type.getName() + "." + slot.name);
                }
            }
        }
        return differing;
    }

    private void differ(Object loaded, String what) {
        if (difference == null) {
            difference = what;
            holder = loaded;
        }
    }

    /** Compares two values of one place, and keeps their parts for later. */
    private void push(Object given, Object loaded, Object place, String what) {
        Object built = given != null && given == known ? made : given;
        if (built == loaded || difference != null) {
            return;
        }
        if (built == null || loaded == null
                || built.getClass() != loaded.getClass() && !areLambdas(built, loaded)) {
            differ(place == null ? loaded : place, what + "a " + named(built) + " instead of a "
                    + named(loaded));
            return;
        }
        if (isAtom(built)) {
            if (!equal(built, loaded)) {
                differ(place == null ? loaded : place, what + "another " + named(loaded));
            }
            return;
        }
        Object known = loadedOf(built);
        Object knownBack = builtOf(loaded);
        if (known == loaded && knownBack == built) {
            return;
        }
        if (known != null || knownBack != null) {
            differ(place == null ? loaded : place, what + "a " + named(loaded)
                    + " is shared in another way");
            return;
        }
        there.put(built, loaded);
        back.put(loaded, built);
        work.add(new Object[] {built, loaded});
    }

    /**
     * Whether two values of one class are the same. NaNs may differ in their bits, even if only in
     * the sign: the sign of {@code 0.0 / 0.0} depends on the processor and on the compiler.
     */
    private static boolean equal(Object built, Object loaded) {
        if (built instanceof Double) {
            return bits((Double) built) == bits((Double) loaded);
        }
        if (built instanceof Float) {
            return bits((Float) built) == bits((Float) loaded);
        }
        return built.equals(loaded);
    }

    private static long bits(double value) {
        long bits = Double.doubleToRawLongBits(value);
        return Double.isNaN(value) ? bits & Long.MAX_VALUE : bits;
    }

    private static int bits(float value) {
        int bits = Float.floatToRawIntBits(value);
        return Float.isNaN(value) ? bits & Integer.MAX_VALUE : bits;
    }

    /**
     * Whether an object is identified by its value alone; such objects have no identity that
     * counts.
     */
    private static boolean isAtom(Object value) {
        if (value instanceof String || value instanceof Enum || value instanceof Class) {
            return true;
        }
        Class<?> type = value.getClass();
        if (!Classes.ofJdk(type) || type.isArray()) {
            return false;
        }
        String name = type.getName();
        return (value instanceof Number || value instanceof Boolean || value instanceof Character)
                        && name.startsWith("java.lang.")
                || name.startsWith("java.time.") && !(value instanceof DateTimeFormatter)
                || value instanceof java.nio.charset.Charset
                || VALUES.contains(name);
    }

    private void parts(Object built, Object loaded) {
        Class<?> type = built.getClass();
        if (type.isArray()) {
            array(built, loaded, type);
        } else if (built instanceof CharSequence && Classes.ofJdk(type)) {
            if (!built.toString().equals(loaded.toString())) {
                differ(loaded, "another text");
            }
        } else if (built instanceof java.util.regex.Pattern) {
            java.util.regex.Pattern one = (java.util.regex.Pattern) built;
            java.util.regex.Pattern other = (java.util.regex.Pattern) loaded;
            if (!one.pattern().equals(other.pattern()) || one.flags() != other.flags()) {
                differ(loaded, "another pattern");
            }
        } else if (built instanceof ReentrantReadWriteLock && Classes.ofJdk(type)) {
            if (!state((ReentrantReadWriteLock) built).equals(state((ReentrantReadWriteLock) loaded))) {
                differ(loaded, "a lock that is held in another way");
            }
        } else if (built instanceof DateTimeFormatter) {
            if (!state((DateTimeFormatter) built).equals(state((DateTimeFormatter) loaded))) {
                differ(loaded, "another format");
            }
        } else if (EQUAL.contains(type.getName())) {
            if (!built.equals(loaded) || !centuries(built).equals(centuries(loaded))) {
                differ(loaded, "another " + named(loaded));
            }
        } else if (built instanceof java.net.URL) {
            // Its own equals asks the network.
            if (!built.toString().equals(loaded.toString())) {
                differ(loaded, "another URL");
            }
        } else if (isCollection(type)) {
            settings(built, loaded, type);
            if (built instanceof Map) {
                map((Map<?, ?>) built, (Map<?, ?>) loaded);
            } else {
                collection((Collection<?>) built, (Collection<?>) loaded);
            }
            if (difference == null && StaleKeys.count(built) != StaleKeys.count(loaded)) {
                differ(loaded, "keys that have changed since");
            }
        } else if (type != loaded.getClass()) {
            captured(built, loaded);
        } else {
            fields(built, loaded, type);
        }
    }

    /**
     * The start of the century for two-digit years, if a format has one; its {@code equals} ignores
     * it.
     */
    private static Object centuries(Object format) {
        if (format instanceof SimpleDateFormat
                && SHORT_YEAR.matcher(((SimpleDateFormat) format).toPattern()).find()) {
            return ((SimpleDateFormat) format).get2DigitYearStart();
        }
        return "";
    }

    /** The holders of a lock; its own objects have numbers that differ in each JVM. */
    private static List<Object> state(ReentrantReadWriteLock lock) {
        return List.of(lock.isFair(), lock.isWriteLocked(), lock.isWriteLockedByCurrentThread(),
                lock.getReadLockCount(), lock.getWriteHoldCount());
    }

    /** The behaviour of a format, which has no {@code equals}. */
    private static List<Object> state(DateTimeFormatter format) {
        return Arrays.asList(format.toString(), format.getLocale(), format.getZone(),
                format.getChronology(), format.getDecimalStyle(), format.getResolverStyle(),
                format.getResolverFields());
    }

    /**
     * Whether both are lambdas that call one method: each place that makes one has a class of its
     * own.
     */
    private static boolean areLambdas(Object built, Object loaded) {
        String behind = Behind.of(built.getClass());
        return behind != null && behind.equals(Behind.of(loaded.getClass()));
    }

    /** Compares the captured values of two lambdas. */
    private void captured(Object built, Object loaded) {
        List<Slot> own = Layout.declared(built.getClass());
        List<Slot> others = Layout.declared(loaded.getClass());
        if (own.size() != others.size()) {
            differ(loaded, "a lambda that captures something else");
            return;
        }
        for (int i = 0; i < own.size(); i++) {
            field(own.get(i), built, others.get(i), loaded);
        }
    }

    private void array(Object built, Object loaded, Class<?> type) {
        int length = Array.getLength(loaded);
        if (Array.getLength(built) != length) {
            differ(loaded, Array.getLength(built) + " elements instead of " + length);
            return;
        }
        boolean primitive = type.getComponentType().isPrimitive();
        for (int i = 0; i < length && difference == null; i++) {
            if (!primitive) {
                push(((Object[]) built)[i], ((Object[]) loaded)[i], loaded, "element " + i + ": ");
            } else if (!equal(Array.get(built, i), Array.get(loaded, i))) {
                differ(loaded, "another element " + i);
            }
        }
    }

    private void fields(Object built, Object loaded, Class<?> exact) {
        for (Class<?> type = exact; type != null; type = type.getSuperclass()) {
            boolean ofJdk = Classes.ofJdk(type);
            for (Slot slot : Layout.declared(type)) {
                if (ofJdk && CACHES.contains(slot.name)
                        || type == Throwable.class && !OF_EXCEPTIONS.contains(slot.name)) {
                    continue;
                }
                field(slot, built, slot, loaded);
            }
        }
    }

    private void field(Slot slot, Object built, Slot ofLoaded, Object loaded) {
        Object one = slot.get(built);
        Object other = ofLoaded.get(loaded);
        if (!slot.type.isPrimitive()) {
            push(one, other, loaded, "field " + slot.name + ": ");
        } else if (!equal(one, other)) {
            differ(loaded, "field " + slot.name + ": " + one + " instead of " + other);
        }
    }

    /** Whether it is a JDK collection that is not a view of another one. */
    private static boolean isCollection(Class<?> type) {
        String name = type.getName();
        boolean known = Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
        if (!known || !Classes.ofJdk(type) || !name.startsWith("java.util.")) {
            return false;
        }
        return name.indexOf('$') < 0
                || name.startsWith("java.util.ImmutableCollections$")
                        && !name.endsWith("$SubList")
                || name.equals("java.util.Arrays$ArrayList");
    }

    private void settings(Object built, Object loaded, Class<?> exact) {
        for (Class<?> type = exact; type != null; type = type.getSuperclass()) {
            for (Slot slot : Layout.declared(type)) {
                if (SETTINGS.contains(slot.name)) {
                    field(slot, built, slot, loaded);
                }
            }
        }
        if (built instanceof ArrayBlockingQueue) {
            int one = ((ArrayBlockingQueue<?>) built).remainingCapacity();
            int other = ((ArrayBlockingQueue<?>) loaded).remainingCapacity();
            if (one != other) {
                differ(loaded, "room for " + one + " more instead of " + other);
            }
        } else if (built instanceof SortedSet) {
            // It is in the map that holds the elements.
            push(((SortedSet<?>) built).comparator(), ((SortedSet<?>) loaded).comparator(), loaded,
                    "field comparator: ");
        }
    }

    private void collection(Collection<?> built, Collection<?> loaded) {
        if (built.size() != loaded.size()) {
            differ(loaded, built.size() + " elements instead of " + loaded.size());
        } else if (built instanceof List || built instanceof Queue || built instanceof SortedSet
                || built instanceof LinkedHashSet || built instanceof java.util.EnumSet) {
            Iterator<?> others = loaded.iterator();
            int index = 0;
            for (Object element : built) {
                push(element, others.next(), loaded, "element " + index++ + ": ");
            }
        } else {
            List<Object[]> entries = new ArrayList<>();
            loaded.forEach(element -> entries.add(new Object[] {element, null}));
            List<Object[]> own = new ArrayList<>();
            built.forEach(element -> own.add(new Object[] {element, null}));
            unordered(own, entries, loaded);
        }
    }

    private void map(Map<?, ?> built, Map<?, ?> loaded) {
        List<Object[]> own = entries(built);
        List<Object[]> others = entries(loaded);
        if (own.size() != others.size()) {
            differ(loaded, own.size() + " entries instead of " + others.size());
        } else if (built instanceof SortedMap || built instanceof LinkedHashMap
                || built instanceof java.util.EnumMap) {
            for (int i = 0; i < own.size(); i++) {
                push(own.get(i)[0], others.get(i)[0], loaded, "key " + i + ": ");
                push(own.get(i)[1], others.get(i)[1], loaded, "value " + i + ": ");
            }
        } else {
            unordered(own, others, loaded);
        }
    }

    private static List<Object[]> entries(Map<?, ?> map) {
        List<Object[]> entries = new ArrayList<>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            entries.add(new Object[] {entry.getKey(), entry.getValue()});
        }
        return entries;
    }

    /** Finds for each key or element its counterpart. */
    private void unordered(List<Object[]> own, List<Object[]> others, Object loaded) {
        List<Object[]> left = new ArrayList<>(others);
        for (Object[] entry : own) {
            Object[] match = null;
            for (Object[] other : left) {
                if (alike(entry[0], other[0])) {
                    match = other;
                    break;
                }
            }
            if (match == null) {
                differ(loaded, "other keys or elements");
                return;
            }
            left.remove(match);
            push(entry[0], match[0], loaded, "key: ");
            push(entry[1], match[1], loaded, "value: ");
        }
    }

    private boolean alike(Object built, Object loaded) {
        if (built == loaded) {
            return true;
        }
        if (built == null || loaded == null
                || built.getClass() != loaded.getClass() && !areLambdas(built, loaded)) {
            return false;
        }
        if (isAtom(built)) {
            return equal(built, loaded);
        }
        Object known = loadedOf(built);
        if (known != null || builtOf(loaded) != null) {
            return known == loaded;
        }
        if (++trials > MAX_TRIALS) {
            return false;
        }
        Same same = new Same(this);
        same.trials = trials;
        boolean alike = same.compare(built, loaded);
        trials = same.trials;
        return alike;
    }

    private static String named(Object value) {
        return value == null ? "null" : value.getClass().getName();
    }
}
