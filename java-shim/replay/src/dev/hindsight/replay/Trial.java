package dev.hindsight.replay;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.ref.SoftReference;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tries ways to make objects that a crash file holds, for {@code hindsight junit}: a test that makes
 * its objects by constructors and setters is better to read than one that loads them.
 *
 * <p>{@code Trial recipes PLAN RESULTS} makes one object after the other by a recipe whose arguments
 * are loaded, and compares it with the loaded one. The plan is MessagePack, an array of
 *
 * <pre>
 * [crash file, frame, object, step that gives it, steps, open fields]
 * step  [operation, class, name, descriptor, step it is called on, field it is for or null, arguments]
 * argument  ["o", object] ["s", step] ["n"], or ["I", 5] with the descriptor of a primitive type
 * </pre>
 *
 * Steps for a field (a setter) are taken only if that field differs without them. Open fields may
 * differ in the end: other objects fill them when they are made, as a parent does when it is given
 * a child.
 *
 * <p>{@code Trial values PLAN RESULTS} calls static methods of tests, which return the arguments
 * with which the test calls its method: {@code [class, method, crash file, frame]}. They return an
 * array of argument numbers, each followed by its value, which are compared all together.
 *
 * <p>{@code Trial origins PLAN RESULTS} writes the names that numbered classes and methods have on
 * the class path, with their origins: {@code [class]} or {@code [class, method, descriptor]}, where
 * names may have origins already. Nothing of the program runs.
 *
 * <p>A line of the results is {@code NUMBER yes [STEPS] [OPEN FIELDS] [OBJECTS] [exact]}, {@code
 * NUMBER yes NAME} or {@code NUMBER no OBJECT REASON}, with fields separated by tabs. OBJECTS are
 * the arguments to which the new object has added itself; {@code exact} means that its arguments
 * are left as they were recorded as well. A line is written as soon as it is known.
 */
public final class Trial {
    private static final int NEW = 0;
    private static final int STATIC = 1;
    private static final int VIRTUAL = 2;
    private static final int GET_STATIC = 3;
    private static final int PUT_FIELD = 4;
    private static final int GET_FIELD = 5;

    /** The most wrappers around a collection that are looked through. */
    private static final int MAX_WRAPPERS = 4;
    /** The most elements of a collection that are searched for an object. */
    private static final int MAX_HELD = 1000;
    /**
     * Files with fewer objects are restored anew for each try, because a recipe may change its
     * arguments.
     */
    private static final int SMALL = 3000;

    /** The files. If trials are of many crashes, files are dropped before memory runs out. */
    private static final Map<String, SoftReference<CrashFile>> FILES = new HashMap<>();
    private static final Map<String, Frame> FRAMES = new HashMap<>();

    private static final Numbered NUMBERED = new Numbered(Map.of());

    private Trial() {}

    /**
     * Runs trials.
     *
     * @param arguments what to try, the plan and the file for the results
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: Trial recipes|values|origins PLAN RESULTS");
            Runtime.getRuntime().halt(2);
        }
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nowhere);
        int status = 0;
        try (OutputStream out = Files.newOutputStream(Paths.get(arguments[2]),
                StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            Object[] plan = (Object[]) MessagePack.decode(
                    Files.readAllBytes(Paths.get(arguments[1])));
            for (Object entry : plan) {
                Object[] all = (Object[]) entry;
                Object[] tried = Arrays.copyOfRange(all, 1, all.length);
                String line;
                try {
                    line = tried(arguments[0], tried);
                } catch (Throwable e) {
                    line = no(-1, Classes.reason(e));
                }
                out.write((all[0] + "\t" + line + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException | MessagePack.Malformed e) {
            System.err.println("hindsight: " + e);
            status = 3;
        }
        // Whatever threads the program has left behind are ended.
        Runtime.getRuntime().halt(status);
    }

    private static String tried(String what, Object[] tried) throws Throwable {
        switch (what) {
            case "recipes":
                return recipe(tried);
            case "values":
                return values(tried);
            default:
                return origin(tried);
        }
    }

    private static String no(int object, String reason) {
        String plain = String.valueOf(reason).replaceAll("[\\p{Cntrl}]", " ");
        return "no\t" + object + "\t" + (plain.length() > 300 ? plain.substring(0, 300) : plain);
    }

    // Recipes.

    static String recipe(Object[] tried) throws Throwable {
        Object[] steps = (Object[]) tried[4];
        boolean[] taken = new boolean[steps.length];
        boolean more = false;
        for (int i = 0; i < steps.length; i++) {
            taken[i] = ((Object[]) steps[i])[5] == null;
            more |= !taken[i];
        }
        Made made = made(tried, taken, false);
        if (made.reason != null && more && !made.lost) {
            for (int i = 0; i < steps.length; i++) {
                Object field = ((Object[]) steps[i])[5];
                taken[i] |= field != null
                        && (made.differing == null || made.differing.contains(field));
            }
            made = made(tried, taken, false);
        }
        if (made.reason != null && made.knowing && isSmall((String) tried[0])) {
            made = made(tried, taken, true);
        }
        if (made.reason == null) {
            boolean exact = !made.knowing || exact(tried, taken, false) || exact(tried, taken, true);
            return yes(taken, Set.of(), made) + (exact ? "exact" : "");
        }
        List<Object> open = Arrays.asList((Object[]) tried[5]);
        boolean filled = made.differing != null && !made.differing.isEmpty()
                && open.containsAll(made.differing);
        return filled ? yes(taken, made.differing, made) : no(-1, made.reason);
    }

    /** The result of making an object. */
    private static final class Made {
        /** The difference; null if it is the same. */
        private String reason;
        /** The fields that differ; null if they are not known. */
        private Set<String> differing;
        /** Whether there is nothing with which to compare it. */
        private boolean lost;
        /** Whether an argument already knows the object that is being made. */
        private boolean knowing;
        /** The arguments that know the new object. */
        private final Set<Integer> told = new TreeSet<>();
    }

    /**
     * Makes an object twice, because one that takes its number from a counter may be the same by
     * chance and differ in the JVM of a test.
     *
     * @param forgotten whether its arguments do not know the object, since some can be added only
     *     once
     */
    private static Made made(Object[] tried, boolean[] taken, boolean forgotten) {
        Made made = new Made();
        for (int time = 0; time < 2 && made.reason == null; time++) {
            try {
                Frame frame = frame((String) tried[0], number(tried[1]), false);
                Object loaded = frame.object(number(tried[2]));
                if (loaded == null) {
                    made.lost = true;
                    made.reason = "it could not be loaded";
                    return made;
                }
                Map<Integer, Object> given = given(frame, tried);
                made.knowing = given.values().stream().anyMatch(one -> knows(one, loaded));
                if (forgotten) {
                    given.values().forEach(one -> forget(one, loaded));
                }
                Object result = make(frame, (Object[]) tried[4], taken, number(tried[3]));
                made.reason = difference(new Same(), result, loaded);
                given.forEach((number, one) -> {
                    if (one != result && knows(one, result)) {
                        made.told.add(number);
                    }
                });
                if (made.reason != null && result != null) {
                    made.differing = Same.differingFields(result, loaded);
                }
            } catch (Throwable e) {
                // A builder may insist on values.
                made.reason = Classes.reason(e);
            }
        }
        return made;
    }

    /**
     * Whether steps make the same object without help from the recorded one, whose counterparts are
     * taken from another copy.
     */
    private static boolean exact(Object[] tried, boolean[] taken, boolean forgotten)
            throws IOException {
        if (!isSmall((String) tried[0])) {
            return false;
        }
        try {
            Frame frame = frame((String) tried[0], number(tried[1]), true);
            Object known = frame.object(number(tried[2]));
            if (forgotten) {
                given(frame, tried).values().forEach(one -> forget(one, known));
            }
            Object result = make(frame, (Object[]) tried[4], taken, number(tried[3]));
            Frame other = frame((String) tried[0], number(tried[1]), true);
            Object loaded = other.object(number(tried[2]));
            return difference(new Same(known, result), result, loaded) == null;
        } catch (Throwable e) {
            return false;
        }
    }

    /** The other objects of the program among the arguments of steps, by number. */
    private static Map<Integer, Object> given(Frame frame, Object[] tried) {
        Map<Integer, Object> all = new LinkedHashMap<>();
        for (Object step : (Object[]) tried[4]) {
            for (Object given : (Object[]) ((Object[]) step)[6]) {
                Object[] argument = (Object[]) given;
                Object value = argument[0].equals("o") ? argument(frame, argument, null) : null;
                if (value != null && !Classes.ofJdk(value.getClass())) {
                    all.put(number(argument[1]), value);
                }
            }
        }
        all.remove(number(tried[2]));
        return all;
    }

    /** Whether an object has another one in a field, or in a JDK collection there. */
    private static boolean knows(Object one, Object other) {
        for (Class<?> type = one.getClass(); type != null; type = type.getSuperclass()) {
            for (Layout.Slot slot : Layout.declared(type)) {
                if (!slot.type.isPrimitive() && holds(slot.get(one), other, MAX_WRAPPERS)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean holds(Object value, Object other, int wrappers) {
        if (value == other || value == null || !Classes.ofJdk(value.getClass())) {
            return value == other && other != null;
        }
        if (value.getClass().getName().startsWith("java.util.Collections$")) {
            // A wrapper may be around a collection of the program, whose own code would run.
            Object inner = wrappers == 0 ? null : wrapped(value);
            return inner != null && inner != value && holds(inner, other, wrappers - 1);
        }
        Iterable<?> held = value instanceof Collection ? (Collection<?>) value
                : value instanceof Map ? ((Map<?, ?>) value).values()
                : value instanceof Object[] ? Arrays.asList((Object[]) value) : List.of();
        try {
            int left = MAX_HELD;
            for (Object element : held) {
                if (element == other) {
                    return true;
                }
                if (--left == 0) {
                    break;
                }
            }
        } catch (RuntimeException e) {
            // It is a view of something that has changed.
        }
        return false;
    }

    /**
     * The collection or map inside one of the wrappers of {@code java.util.Collections}; null for
     * other objects.
     */
    private static Object wrapped(Object wrapper) {
        for (Class<?> type = wrapper.getClass(); type != null; type = type.getSuperclass()) {
            for (Layout.Slot slot : Layout.declared(type)) {
                Object inner = slot.type.isPrimitive() ? null : slot.get(wrapper);
                if (inner instanceof Collection || inner instanceof Map) {
                    return inner;
                }
            }
        }
        return null;
    }

    /**
     * Removes an object from the fields of another one, because some objects can be added to one
     * parent only.
     */
    private static void forget(Object one, Object known) {
        for (Class<?> type = one.getClass(); type != null; type = type.getSuperclass()) {
            for (Layout.Slot slot : Layout.declared(type)) {
                if (!slot.type.isPrimitive() && slot.get(one) == known) {
                    slot.put(one, null);
                }
            }
        }
    }

    private static String yes(boolean[] taken, Set<String> open, Made made) {
        StringBuilder steps = new StringBuilder("yes\t");
        for (int i = 0; i < taken.length; i++) {
            steps.append(taken[i] ? (steps.length() == 4 ? "" : ",") + i : "");
        }
        String told = made.told.toString().replaceAll("[\\[\\] ]", "");
        return steps + "\t" + String.join(",", open) + "\t" + told + "\t";
    }

    private static String difference(Same same, Object made, Object loaded) {
        return same.compare(made, loaded) ? null : String.valueOf(same.difference());
    }

    private static Object make(Frame frame, Object[] steps, boolean[] taken, int result)
            throws Throwable {
        Object[] made = new Object[steps.length];
        boolean[] constant = new boolean[steps.length];
        for (int i = 0; i < steps.length; i++) {
            Object[] step = (Object[]) steps[i];
            int receiver = number(step[4]);
            Object on = receiver < 0 ? null : made[receiver];
            if (taken[i] && receiver >= 0 && constant[receiver] && changes(step)) {
                throw new ReplayException("it would change a constant of the program");
            }
            // A step that is left out passes on the object on which it would have been called.
            made[i] = taken[i] ? step(frame, step, on, made) : on;
            boolean isSame = receiver >= 0 && made[i] == on && constant[receiver];
            constant[i] = isSame || taken[i] && number(step[0]) == GET_STATIC;
            if (isSame && taken[i]) {
                throw new ReplayException("it would change a constant of the program");
            }
        }
        return made[result];
    }

    /**
     * Whether a step must change its object; for a step that returns something, only the comparison
     * shows.
     */
    private static boolean changes(Object[] step) {
        int operation = number(step[0]);
        return operation == PUT_FIELD || operation == VIRTUAL && ((String) step[3]).endsWith(")V");
    }

    private static Object step(Frame frame, Object[] step, Object on, Object[] made)
            throws Throwable {
        String owner = (String) step[1];
        String name = (String) step[2];
        String descriptor = (String) step[3];
        Object[] given = (Object[]) step[6];
        Object[] arguments = new Object[given.length];
        for (int i = 0; i < given.length; i++) {
            arguments[i] = argument(frame, (Object[]) given[i], made);
        }
        switch (number(step[0])) {
            case NEW:
                return Call.constructor(owner, descriptor, arguments);
            case STATIC:
                return Call.staticMethod(owner, name, descriptor, arguments);
            case VIRTUAL:
                Object returned = Call.method(on, owner, name, descriptor, arguments);
                return descriptor.endsWith(")V") ? on : returned;
            case GET_STATIC:
                Class<?> holder = Classes.find(owner);
                Classes.initialize(holder);
                return Trusted.LOOKUP.findStaticGetter(holder, name, type(descriptor)).invoke();
            case PUT_FIELD:
                Trusted.LOOKUP.findSetter(Classes.find(owner), name, type(descriptor))
                        .invoke(on, arguments[0]);
                return on;
            case GET_FIELD:
                return Trusted.LOOKUP.findGetter(Classes.find(owner), name, type(descriptor))
                        .invoke(on);
            default:
                throw new ReplayException("unknown operation " + step[0]);
        }
    }

    private static Class<?> type(String descriptor) {
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        return MethodType.fromMethodDescriptorString("()" + descriptor, loader).returnType();
    }

    private static Object argument(Frame frame, Object[] argument, Object[] made) {
        String kind = (String) argument[0];
        switch (kind) {
            case "o":
                return frame.object(number(argument[1]));
            case "s":
                return made[number(argument[1])];
            case "n":
                return null;
            default:
                return Primitives.convert(argument[1], Primitives.type(kind));
        }
    }

    // The values of a test.

    private static String values(Object[] tried) throws Throwable {
        Class<?> test = Class.forName(
                (String) tried[0], true, ClassLoader.getSystemClassLoader());
        Method method = test.getDeclaredMethod((String) tried[1]);
        // Twice, as with recipes.
        for (int time = 0; time < 2; time++) {
            Object[] values = (Object[]) Trusted.LOOKUP.unreflect(method).invoke();
            Frame frame = frame((String) tried[2], number(tried[3]), true);
            Same same = new Same();
            for (int i = 0; i < values.length; i += 2) {
                if (!same.compare(values[i + 1], frame.argument((Integer) values[i]))) {
                    return no(frame.number(same.holder()), same.difference());
                }
            }
        }
        return "yes\t";
    }

    // Origins.

    static String origin(Object[] asked) throws Hole {
        String name = (String) asked[0];
        String origin = asked.length == 1 ? NUMBERED.origin(name)
                : NUMBERED.origin(name, (String) asked[1], (String) asked[2]);
        return origin == null ? no(-1, "no such name, or several") : "yes\t" + origin;
    }

    private static Frame frame(String path, int index, boolean anew) throws IOException {
        CrashFile file = file(path);
        if (anew || isSmall(path)) {
            return Frame.restore(file, index, null);
        }
        String key = index + " " + path;
        Frame known = FRAMES.get(key);
        if (known == null) {
            FRAMES.clear();
            known = Frame.restore(file, index, null);
            FRAMES.put(key, known);
        }
        return known;
    }

    private static CrashFile file(String path) throws IOException {
        SoftReference<CrashFile> kept = FILES.get(path);
        CrashFile file = kept == null ? null : kept.get();
        if (file == null) {
            file = CrashFile.read(Files.readAllBytes(Path.of(path)), path);
            FILES.put(path, new SoftReference<>(file));
        }
        return file;
    }

    private static boolean isSmall(String path) throws IOException {
        return file(path).objectCount() < SMALL;
    }

    private static int number(Object value) {
        return ((Long) value).intValue();
    }
}
