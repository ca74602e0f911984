package java.lang;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.stream.BaseStream;

/**
 * The virtual threads that there are, which the JVM itself does not tell: the JDK keeps them by what
 * has started them, for its own thread dump (JDK 21 and up).
 *
 * <p>{@code jdk.internal.vm.ThreadContainers} is of {@code java.base}, as this class is, but not in all
 * versions of the JDK, hence reflection.
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
     * int[]}, how many are left out: where there are more than {@code max}, those that are told are spread
     * evenly over all, as neighbours often do the same. Empty where there can be none.
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
