package java.lang;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.stream.BaseStream;

/**
 * Lists the living virtual threads, which JVMTI does not: from JDK 21 on the JDK keeps them, by the
 * container that started them, for its own thread dump.
 *
 * <p>{@code jdk.internal.vm.ThreadContainers} belongs to {@code java.base} like this class, but not
 * in all versions of the JDK, hence the reflection.
 */
final class HindsightVirtual {
    private final Method children;
    private final Method threads;
    private final ArrayList<Object> found = new ArrayList<>();

    private HindsightVirtual() throws ReflectiveOperationException {
        Class<?> container = Class.forName("jdk.internal.vm.ThreadContainer");
        this.children = container.getMethod("children");
        this.threads = container.getMethod("threads");
    }

    /**
     * The virtual threads that have been started and have not ended, and behind them, as an {@code
     * int[]}, the number of those left out. If there are more than {@code max}, the selected ones
     * are spread evenly over all, because neighbours often do the same. Empty if there can be none.
     */
    static Object[] threads(int max) {
        try {
            HindsightVirtual all = new HindsightVirtual();
            Object root = Class.forName("jdk.internal.vm.ThreadContainers").getMethod("root").invoke(null);
            all.add(root);
            int found = all.found.size();
            int told = Math.min(found, max);
            Object[] result = new Object[told + 1];
            for (int i = 0; i < told; i++) {
                result[i] = all.found.get((int) ((long) i * found / told));
            }
            result[told] = new int[] {found - told};
            return result;
        } catch (Throwable e) {
            return new Object[0];
        }
    }

    private void add(Object container) throws ReflectiveOperationException {
        for (Iterator<?> all = elements(threads, container); all.hasNext(); ) {
            Object thread = all.next();
            if (thread.getClass().getName().equals("java.lang.VirtualThread")) {
                found.add(thread);
            }
        }
        for (Iterator<?> all = elements(children, container); all.hasNext(); ) {
            add(all.next());
        }
    }

    private static Iterator<?> elements(Method of, Object container) throws ReflectiveOperationException {
        return ((BaseStream<?, ?>) of.invoke(container)).iterator();
    }
}
