package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.ClassInfo;
import java.util.HashMap;
import java.util.Map;

/**
 * The rules by which JDK classes are restored. A class without a rule is restored field by field,
 * which suits most of the JDK: a copied {@code TreeMap} needs no comparator (unless keys were
 * redacted), a copied {@code ArrayDeque} no insertion.
 *
 * <p>The rules and their reasons:
 *
 * <ul>
 *   <li>{@link HashTables}: places in a hash table follow from identity hash codes, which differ.
 *   <li>{@link Wholes}: values that a factory makes from a name or a number and that are often
 *       compared with {@code ==}. Made that way, they do not depend on the JDK's version.
 *   <li>{@link Partials}: all fields, except some that mean nothing in another process or must be
 *       the JDK's own object.
 *   <li>{@link Releases}: fields that differ between releases of the JDK.
 *   <li>{@link Constants}: objects that are compared with {@code ==}.
 *   <li>{@link Pools}: pools of threads, which new ones replace.
 *   <li>Resources of the process: threads, files, sockets. They stay holes.
 * </ul>
 */
final class Rules {
    private Rules() {}

    private static final Map<String, Rule> BY_NAME = new HashMap<>();
    /**
     * Classes whose instances, and those of subclasses, belong to the process in which they were
     * recorded.
     */
    private static final Map<String, String> RESOURCES = new HashMap<>();

    static {
        HashTables.register();
        Wholes.register();
        Partials.register();
        Releases.register();
        Constants.register();
        Pools.register();

        resource("thread group", "java.lang.ThreadGroup");
        resource("class loader", "java.lang.ClassLoader");
        resource("process", "java.lang.Process");
        resource("thread pool", "java.util.concurrent.ThreadPoolExecutor",
                "java.util.concurrent.ForkJoinPool",
                "java.util.concurrent.ThreadPerTaskExecutor");
        resource("file", "java.io.FileDescriptor", "java.io.FileInputStream",
                "java.io.FileOutputStream", "java.io.RandomAccessFile", "java.util.zip.ZipFile");
        resource("socket", "java.net.Socket", "java.net.ServerSocket", "java.net.DatagramSocket",
                "java.net.SocketImpl", "java.net.DatagramSocketImpl");
        resource("channel", "java.nio.channels.spi.AbstractInterruptibleChannel",
                "java.nio.channels.Selector", "java.nio.channels.AsynchronousFileChannel");
        resource("native memory", "java.util.zip.Inflater", "java.util.zip.Deflater",
                "jdk.internal.misc.Unsafe", "sun.misc.Unsafe");
        resource("reference that the collector handles", "java.lang.ref.PhantomReference",
                "java.lang.ref.FinalReference");
        resource("code of this process", "java.lang.invoke.MethodHandle",
                "java.lang.invoke.VarHandle", "java.lang.invoke.CallSite",
                "java.lang.invoke.MethodHandles$Lookup", "java.lang.Package",
                "java.util.concurrent.atomic.AtomicIntegerFieldUpdater",
                "java.util.concurrent.atomic.AtomicLongFieldUpdater",
                "java.util.concurrent.atomic.AtomicReferenceFieldUpdater");
        resource("security context", "java.security.AccessControlContext",
                "java.security.ProtectionDomain");
    }

    static void register(Rule rule) {
        BY_NAME.put(rule.owner, rule);
    }

    /** The rule for a recorded class, or null. */
    static Rule of(ClassInfo info, Class<?> running) {
        if (info.kind == ClassInfo.ENUM) {
            return null;
        }
        Rule rule = of(info, running, info.name, true);
        for (int i = 0; rule == null && i < info.supers.length; i++) {
            rule = of(info, running, info.supers[i], false);
        }
        if (rule == null && info.name.startsWith("sun.nio.ch.")) {
            rule = new Resource(info.name, "channel");
        }
        return rule;
    }

    private static Rule of(ClassInfo info, Class<?> running, String name, boolean exact) {
        Rule rule = BY_NAME.get(name);
        // A subclass in the program has state of which a factory does not know.
        if (rule != null && (exact || !rule.isWhole() || Classes.ofJdk(running))) {
            return rule;
        }
        String resource = RESOURCES.get(name);
        return resource == null ? null : new Resource(info.name, resource);
    }

    /**
     * Whether this rule makes an object impossible to restore, so that at most another one stands
     * for it.
     */
    static boolean isResource(Rule rule) {
        return rule instanceof Resource || rule instanceof Pools.Pool;
    }

    private static void resource(String what, String... names) {
        for (String name : names) {
            RESOURCES.put(name, what);
        }
    }

    /** The rule of what is not restored. */
    private static final class Resource extends Rule {
        private final String what;

        Resource(String owner, String what) {
            super(owner);
            this.what = what;
        }

        @Override
        boolean isWhole() {
            return true;
        }

        @Override
        Object create(Instance instance) throws Hole {
            throw new Hole(what);
        }
    }
}
