package dev.hindsight.worker;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The program's shutdown hooks. Whoever adds or removes one gets the answer that the JVM would
 * give; hooks that nobody holds any more cannot be asked about.
 *
 * <p>A test that leaves a hook would have it run after all other tests, in the JVM that runs them,
 * so it is not a test. The exceptions are hooks that an initialiser of a class adds, because any
 * test may come first and cause that: they run at the end of a suite.
 */
final class Hooks {
    private static final List<WeakReference<Thread>> ALL = new ArrayList<>();
    /** Hooks that were added since they were last asked for, and are still registered. */
    private static final List<Thread> LEFT = new ArrayList<>();
    /** The hooks of initialisers, if they are to run. */
    private static List<Thread> initial;

    private Hooks() {}

    /** Keeps the hooks that {@link #ofInitialisers} returns. */
    static void keep() {
        synchronized (ALL) {
            initial = new ArrayList<>();
        }
    }

    static void add(Thread hook) {
        boolean isInitial = StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("<clinit>")));
        synchronized (ALL) {
            if (take(hook, false)) {
                throw new IllegalArgumentException("Hook previously registered");
            }
            if (hook.isAlive()) {
                throw new IllegalArgumentException("Hook already running");
            }
            ALL.add(new WeakReference<>(hook));
            if (!isInitial) {
                LEFT.add(hook);
            } else if (initial != null) {
                initial.add(hook);
            }
        }
    }

    static boolean remove(Thread hook) {
        if (hook == null) {
            throw new NullPointerException();
        }
        synchronized (ALL) {
            // This compares identity, since the program defines equals.
            LEFT.removeIf(known -> known == hook);
            if (initial != null) {
                initial.removeIf(known -> known == hook);
            }
            return take(hook, true);
        }
    }

    /** Whether a hook was left since this was last asked. */
    static boolean areLeft() {
        synchronized (ALL) {
            boolean areLeft = !LEFT.isEmpty();
            LEFT.clear();
            return areLeft;
        }
    }

    /** The hooks of initialisers, which are returned once. */
    static List<Thread> ofInitialisers() {
        synchronized (ALL) {
            List<Thread> all = initial == null ? List.of() : initial;
            initial = null;
            return all;
        }
    }

    /** Whether a thread is among them, and, if {@code isRemoved}, removes it. */
    private static boolean take(Thread hook, boolean isRemoved) {
        for (Iterator<WeakReference<Thread>> all = ALL.iterator(); all.hasNext();) {
            Thread known = all.next().get();
            if (known == null) {
                all.remove();
            } else if (known == hook) {
                if (isRemoved) {
                    all.remove();
                }
                return true;
            }
        }
        return false;
    }
}
