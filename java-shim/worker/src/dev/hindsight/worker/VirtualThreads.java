package dev.hindsight.worker;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The program's virtual threads (JDK 21 and up): they are in no group of threads, but the JDK keeps them for dumps. */
final class VirtualThreads {
    /** What has them, or null where there are none, or nobody may ask. */
    private static final Object ROOT;
    private static final Method THREADS;
    private static final Method CHILDREN;
    private static final Method IS_VIRTUAL;

    /** The group that all others are in, and how many it had: virtual threads need some more to carry them. */
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
            // An older JDK.
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

    /** Those that have not ended. */
    static List<Thread> all() {
        if (ROOT == null || SYSTEM.activeCount() <= BEFORE) {
            return List.of();
        }
        List<Thread> all = new ArrayList<>();
        try {
            add(ROOT, all);
        } catch (ReflectiveOperationException e) {
            // What is known is as good as none.
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
