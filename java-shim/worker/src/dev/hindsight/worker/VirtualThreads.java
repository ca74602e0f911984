package dev.hindsight.worker;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The program's virtual threads (JDK 21 and up). They are in no group of threads, but the JDK keeps
 * them for dumps.
 */
final class VirtualThreads {
    /** The JDK's container of them; null if there are none, or it is not accessible. */
    private static final Object ROOT;
    private static final Method THREADS;
    private static final Method CHILDREN;
    private static final Method IS_VIRTUAL;

    /**
     * The group above all others, and the number of its threads: virtual threads need some more as
     * carriers.
     */
    private static final ThreadGroup SYSTEM;
    private static final int BEFORE;

    static {
        Object root = null;
        Method threads = null;
        Method children = null;
        Method isVirtual = null;
        try {
            Class<?> container = Class.forName("jdk.internal.vm.ThreadContainer");
            threads = container.getMethod("threads");
            children = container.getMethod("children");
            isVirtual = Thread.class.getMethod("isVirtual");
            root = Class.forName("jdk.internal.vm.ThreadContainers").getMethod("root").invoke(null);
        } catch (ReflectiveOperationException e) {
            // This JDK is older.
        }
        ROOT = root;
        THREADS = threads;
        CHILDREN = children;
        IS_VIRTUAL = isVirtual;
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        SYSTEM = group;
        BEFORE = SYSTEM.activeCount();
    }

    private VirtualThreads() {}

    /** The virtual threads that have not ended. */
    static List<Thread> all() {
        if (ROOT == null || SYSTEM.activeCount() <= BEFORE) {
            return List.of();
        }
        List<Thread> all = new ArrayList<>();
        try {
            add(ROOT, all);
        } catch (ReflectiveOperationException e) {
            // Nothing can be known of them.
        }
        return all;
    }

    private static void add(Object container, List<Thread> all) throws ReflectiveOperationException {
        for (Object thread : ((Stream<?>) THREADS.invoke(container)).toArray()) {
            if ((Boolean) IS_VIRTUAL.invoke(thread)) {
                all.add((Thread) thread);
            }
        }
        for (Object child : ((Stream<?>) CHILDREN.invoke(container)).toArray()) {
            add(child, all);
        }
    }
}
