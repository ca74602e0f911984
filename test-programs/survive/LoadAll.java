import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Defines classes and has the JVM link them, which verifies them; nothing is initialised. The JVM
 * must be told to verify everything. What fails is tried as it was: only what failed differently
 * before is a failure. What failed before is tried again without the methods that do.
 *
 * <p>Answers: {@code count PLAN KEY N}, {@code fail PLAN CLASS REASON}, {@code before PLAN CLASS REASON}.
 */
final class LoadAll implements Batches.Harness {
    private static final int MOST_ROUNDS = 200;
    private static final int NEWEST = Runtime.version().feature() + 44;

    private final Index index;
    private final java.io.PrintStream answers = System.out;
    /** Classes of the group at hand that failed. */
    private final Map<String, Before> failed = new HashMap<>();
    /**
     * What was taken for the classes that the group at hand does not have. All of its loaders take the
     * same: what a stub is like depends on what was loaded before, and a rewritten class may have
     * others loaded first than it had as it was.
     */
    private final Map<String, byte[]> outside = new HashMap<>();
    /** How the classes use others, as in the group; those of {@code outside} too. */
    private final Map<String, Integer> uses = new HashMap<>();

    private LoadAll(Index index) {
        this.index = index;
    }

    public static void main(String[] args) throws Exception {
        // Parts of tools extend the JDK's own classes, which are not to be hidden from them here.
        Method export = Module.class.getDeclaredMethod("implAddExportsToAllUnnamed", String.class);
        export.setAccessible(true);
        for (Module module : ModuleLayer.boot().modules()) {
            for (String name : module.getPackages()) {
                export.invoke(module, name);
            }
        }
        Batches.serve(new LoadAll(new Index(Path.of(args[0]))));
    }

    @Override
    public void begin(Batches.Group group) {
        failed.clear();
        outside.clear();
        uses.clear();
        uses.putAll(group.uses);
    }

    @Override
    public void plan(Batches.Group group, String plan, Map<String, byte[]> rewritten) {
        Map<String, Integer> counts = new HashMap<>();
        Loader loader = new Loader(group, rewritten, Map.of());
        for (Batches.Original original : group.classes) {
            byte[] bytes = rewritten.get(original.name);
            if (!original.check || bytes == null) {
                continue;
            }
            String outcome = "verified";
            if (Header.read(bytes).major > NEWEST) {
                outcome = "too new";
            } else if (link(loader, original.name) != null) {
                outcome = alone(group, plan, rewritten, original.name);
            }
            counts.merge(outcome, 1, Integer::sum);
        }
        counts.forEach((key, count) -> answers.println("count\t" + plan + "\t" + key + "\t" + count));
    }

    /** How a class fares as it was. */
    private static final class Before {
        /** Methods that fail, by class. */
        final Map<String, Set<String>> hollow = new HashMap<>();
        /** What is thrown without these; null if nothing. */
        Throwable thrown;
    }

    /**
     * Tries a class that failed once more, as it was and rewritten, in loaders of its own, where no
     * other class that failed is in the way.
     */
    private String alone(
            Batches.Group group, String plan, Map<String, byte[]> rewritten, String name) {
        Before before = failed.computeIfAbsent(name, n -> before(group, n));
        Throwable now = link(new Loader(group, rewritten, before.hollow), name);
        if (before.thrown == null && now == null) {
            return before.hollow.isEmpty() ? "verified" : "verified in part";
        }
        String was = before.thrown == null ? "" : Batches.oneLine(before.thrown.toString());
        if (before.thrown != null && (now == null || same(before.thrown, now))) {
            answers.println("before\t" + plan + "\t" + name + "\t" + was);
            return "before";
        }
        answers.println("fail\t" + plan + "\t" + name + "\t" + Batches.oneLine(now.toString()) + " BEFORE: " + was);
        return "failed";
    }

    private Before before(Batches.Group group, String name) {
        Before before = new Before();
        for (int round = 0; round < MOST_ROUNDS; round++) {
            before.thrown = link(new Loader(group, Map.of(), before.hollow), name);
            if (!(before.thrown instanceof VerifyError error)) {
                break;
            }
            Hollow.Place place = Hollow.place(error);
            if (place == null || !group.byName.containsKey(place.type())
                    || !before.hollow.computeIfAbsent(place.type(), type -> new HashSet<>()).add(place.method())) {
                break;
            }
        }
        return before;
    }

    /** Whether two errors are the same, in the same method; offsets differ. */
    private static boolean same(Throwable before, Throwable now) {
        if (before instanceof VerifyError was && now instanceof VerifyError is && Hollow.place(was) != null) {
            return Hollow.place(was).equals(Hollow.place(is));
        }
        return text(before).equals(text(now));
    }

    /** What an error says, without identity hash codes. */
    private static String text(Throwable error) {
        return error.toString().replaceAll("@[0-9a-f]+", "");
    }

    /** Links a class; returns what was thrown. */
    private static Throwable link(Loader loader, String name) {
        try {
            Class<?> type = Class.forName(name.replace('/', '.'), false, loader);
            // Both link the class first. For interfaces the former does not ask the JVM.
            if (type.isInterface()) {
                type.getDeclaredFields();
            } else {
                type.getDeclaredConstructors();
            }
            return null;
        } catch (Throwable error) {
            return error;
        }
    }

    /** Has the classes of a group; others come from the JDK, the corpus, or are made up. */
    private final class Loader extends ClassLoader {
        private final Batches.Group group;
        private final Map<String, byte[]> rewritten;
        private final Map<String, Set<String>> hollow;

        Loader(Batches.Group group, Map<String, byte[]> rewritten, Map<String, Set<String>> hollow) {
            super(ClassLoader.getPlatformClassLoader());
            this.group = group;
            this.rewritten = rewritten;
            this.hollow = hollow;
        }

        @Override
        protected Class<?> loadClass(String binaryName, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(binaryName)) {
                Class<?> known = findLoadedClass(binaryName);
                if (known != null) {
                    return known;
                }
                String name = binaryName.replace('.', '/');
                Batches.Original own = group.byName.get(name);
                if (own != null) {
                    byte[] bytes = rewritten.getOrDefault(name, own.bytes);
                    Set<String> without = hollow.get(name);
                    return define(binaryName, without == null ? bytes : Hollow.out(bytes, without));
                }
                try {
                    return getParent().loadClass(binaryName);
                } catch (ClassNotFoundException absent) {
                    return elsewhere(binaryName, name);
                }
            }
        }

        private Class<?> elsewhere(String binaryName, String name) {
            byte[] taken = outside.get(name);
            if (taken != null) {
                return define(binaryName, taken);
            }
            byte[] found = index.find(name, group.jar);
            if (found != null) {
                try {
                    Header header = Header.read(found);
                    if (header.major <= NEWEST) {
                        if (header.superName != null) {
                            uses.merge(header.superName, Stubs.SUPERCLASS, (a, b) -> a | b);
                        }
                        for (String name2 : header.interfaces) {
                            uses.merge(name2, Stubs.INTERFACE, (a, b) -> a | b);
                        }
                        Class<?> defined = define(binaryName, found);
                        outside.put(name, found);
                        return defined;
                    }
                } catch (LinkageError | IllegalArgumentException e) {
                    // It cannot be had, which is what stubs are for.
                }
            }
            Class<?> known = findLoadedClass(binaryName);
            if (known != null) {
                return known;
            }
            byte[] stub = Stubs.make(name, Stubs.kind(name, uses.get(name)));
            outside.put(name, stub);
            return define(binaryName, stub);
        }

        private Class<?> define(String binaryName, byte[] bytes) {
            return defineClass(binaryName, bytes, 0, bytes.length);
        }
    }
}
