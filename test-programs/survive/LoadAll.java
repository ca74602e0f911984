import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
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
    /** Methods of the group at hand that fail as they were, by class. */
    private final Map<String, Set<String>> hollow = new HashMap<>();
    /** What classes of the group still throw without these; null for nothing. */
    private final Map<String, Throwable> before = new HashMap<>();
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
        hollow.clear();
        before.clear();
        outside.clear();
        uses.clear();
        uses.putAll(group.uses);
    }

    @Override
    public void plan(Batches.Group group, String plan, Map<String, byte[]> rewritten) {
        Map<String, Integer> counts = new HashMap<>();
        List<String> failed = new ArrayList<>();
        Loader loader = new Loader(group, rewritten, hollow);
        for (Batches.Original original : group.classes) {
            byte[] bytes = rewritten.get(original.name);
            if (!original.check || bytes == null) {
                continue;
            }
            if (Header.read(bytes).major > NEWEST) {
                counts.merge("too new", 1, Integer::sum);
            } else if (link(loader, original.name) != null) {
                failed.add(original.name);
            } else {
                counts.merge(verified(group, original.name), 1, Integer::sum);
            }
        }
        if (!failed.isEmpty()) {
            asTheyWere(group, failed);
            Loader without = new Loader(group, rewritten, hollow);
            for (String name : failed) {
                counts.merge(again(group, plan, rewritten, name, link(without, name)), 1, Integer::sum);
            }
        }
        counts.forEach((key, count) -> answers.println("count\t" + plan + "\t" + key + "\t" + count));
    }

    /** How much of a class that links is verified. */
    private String verified(Batches.Group group, String name) {
        Batches.Original own = hollow.isEmpty() ? null : group.byName.get(name);
        while (own != null) {
            if (hollow.containsKey(own.name)) {
                return "verified in part";
            }
            own = group.byName.get(Header.read(own.bytes).superName);
        }
        return "verified";
    }

    /** Finds out how classes fare as they were, and which of their methods are to be left out. */
    private void asTheyWere(Batches.Group group, List<String> names) {
        List<String> left = names.stream().filter(name -> !before.containsKey(name)).toList();
        for (int round = 0; round < MOST_ROUNDS && !left.isEmpty(); round++) {
            Loader loader = new Loader(group, Map.of(), hollow);
            Map<String, Set<String>> found = new HashMap<>();
            List<String> next = new ArrayList<>();
            for (String name : left) {
                Throwable thrown = link(loader, name);
                before.put(name, thrown);
                Hollow.Place place = thrown instanceof VerifyError error ? Hollow.place(error) : null;
                if (place != null && group.byName.containsKey(place.type())
                        && !hollow.getOrDefault(place.type(), Set.of()).contains(place.method())) {
                    found.computeIfAbsent(place.type(), type -> new HashSet<>()).add(place.method());
                    next.add(name);
                }
            }
            found.forEach((type, methods) ->
                    hollow.computeIfAbsent(type, t -> new HashSet<>()).addAll(methods));
            left = next;
        }
    }

    /**
     * What becomes of a class that failed, now that what failed before is left out. One that fails
     * otherwise than before is tried once more, in a loader where no other class is in the way.
     */
    private String again(
            Batches.Group group, String plan, Map<String, byte[]> rewritten, String name, Throwable now) {
        Throwable then = before.get(name);
        if (now != null && (then == null || !same(then, now))) {
            then = link(new Loader(group, Map.of(), hollow), name);
            now = link(new Loader(group, rewritten, hollow), name);
        }
        if (now == null) {
            return verified(group, name);
        }
        String was = then == null ? "" : Batches.oneLine(then.toString());
        if (then != null && same(then, now)) {
            answers.println("before\t" + plan + "\t" + name + "\t" + was);
            return "before";
        }
        answers.println("fail\t" + plan + "\t" + name + "\t" + Batches.oneLine(now.toString()) + " BEFORE: " + was);
        return "failed";
    }

    /** Whether two errors are the same, in the same method; offsets differ. */
    private static boolean same(Throwable before, Throwable now) {
        if (before instanceof VerifyError was && now instanceof VerifyError is && Hollow.place(was) != null) {
            return Hollow.place(was).equals(Hollow.place(is));
        }
        return text(before).equals(text(now));
    }

    /** What an error says, without identity hash codes, and of several methods that a class must not override without the one. */
    private static String text(Throwable error) {
        return error.toString().replaceAll("@[0-9a-f]+", "").replaceAll("(overrides final method ).*", "$1");
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
