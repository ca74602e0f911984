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
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Tries ways to make objects that a crash file holds, for {@code hindsight junit}: a test that makes
 * its objects by constructors and setters is better to read than one that loads them.
 *
 * <p>{@code Trial recipes PLAN RESULTS} makes one object after the other by a recipe whose arguments
 * are loaded, and compares it with the loaded one. The plan is MessagePack, an array of
 *
 * <pre>
 * [crash file, frame, object, step that gives it, steps]
 * step  [operation, class, name, descriptor, step it is called on, field it is for or null, arguments]
 * argument  ["o", object] ["s", step] ["n"], or ["I", 5] with the descriptor of a primitive type
 * </pre>
 *
 * Steps that are for a field (a setter) are taken only where that field differs without them.
 *
 * <p>{@code Trial values PLAN RESULTS} calls static methods of tests, which give what the test calls
 * its method with: {@code [class, method, crash file, frame]}. They return an array of argument
 * numbers, each followed by its value, which are compared all together.
 *
 * <p>{@code Trial origins PLAN RESULTS} tells the names that numbered classes and methods have on the
 * class path, with their origins: {@code [class]} or {@code [class, method, descriptor]}, names with
 * their origins if they have some. Nothing of the program runs.
 *
 * <p>A line of the results is {@code NUMBER yes [STEPS]}, {@code NUMBER yes NAME} or {@code NUMBER no
 * OBJECT REASON}, fields separated by tabs. It is written as soon as it is known.
 */
public final class Trial {
    private static final int NEW = 0;
    private static final int STATIC = 1;
    private static final int VIRTUAL = 2;
    private static final int GET_STATIC = 3;
    private static final int PUT_FIELD = 4;
    private static final int GET_FIELD = 5;
    /** Files with fewer objects are restored anew for each try: a recipe may change its arguments. */
    private static final int SMALL = 3000;

    /** Where trials are of many crashes, their files go before memory ends. */
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
        // Whatever threads the program has left behind.
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
        Made made = made(tried, taken);
        if (made.reason != null && more && !made.lost) {
            for (int i = 0; i < steps.length; i++) {
                Object field = ((Object[]) steps[i])[5];
                taken[i] |= field != null
                        && (made.differing == null || made.differing.contains(field));
            }
            made = made(tried, taken);
        }
        return made.reason == null ? yes(taken) : no(-1, made.reason);
    }

    /** What came of making an object. */
    private static final class Made {
        /** How it differs; null if it is the same. */
        private String reason;
        /** The fields that differ; null if they are not known. */
        private Set<String> differing;
        /** Whether there is nothing to compare it with. */
        private boolean lost;
    }

    /**
     * Makes an object twice. One that takes its number from a counter may be the same by luck, and is
     * another one in the JVM of a test.
     */
    private static Made made(Object[] tried, boolean[] taken) {
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
                Object result = make(frame, (Object[]) tried[4], taken, number(tried[3]));
                made.reason = difference(result, loaded);
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

    private static String yes(boolean[] taken) {
        StringBuilder steps = new StringBuilder("yes\t");
        for (int i = 0; i < taken.length; i++) {
            steps.append(taken[i] ? (steps.length() == 4 ? "" : ",") + i : "");
        }
        return steps.toString();
    }

    private static String difference(Object made, Object loaded) {
        Same same = new Same();
        return same.compare(made, loaded) ? null : String.valueOf(same.difference());
    }

    private static Object make(Frame frame, Object[] steps, boolean[] taken, int result)
            throws Throwable {
        Object[] made = new Object[steps.length];
        for (int i = 0; i < steps.length; i++) {
            Object[] step = (Object[]) steps[i];
            Object on = number(step[4]) < 0 ? null : made[number(step[4])];
            // What is left out hands on what it would have been called on.
            made[i] = taken[i] ? step(frame, step, on, made) : on;
        }
        return made[result];
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

    // Values of a test.

    private static String values(Object[] tried) throws Throwable {
        Class<?> test = Class.forName(
                (String) tried[0], true, ClassLoader.getSystemClassLoader());
        Method method = test.getDeclaredMethod((String) tried[1]);
        // Twice, as for recipes.
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
        SoftReference<CrashFile> kept = FILES.get(path);
        CrashFile file = kept == null ? null : kept.get();
        if (file == null) {
            file = CrashFile.read(Files.readAllBytes(Path.of(path)), path);
            FILES.put(path, new SoftReference<>(file));
        }
        if (anew || file.objectCount() < SMALL) {
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

    private static int number(Object value) {
        return ((Long) value).intValue();
    }
}
