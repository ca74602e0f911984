package dev.hindsight.worker;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The threads that the program wants to run when the JVM ends: whoever adds and removes them is told what the JVM
 * would say. What nobody holds any more nobody can ask for.
 *
 * <p>A test that leaves one would have it run behind all others, in whosever JVM: it is none. But for those that an
 * initialiser of a class adds, which can be any test's that comes first: they run at the end of a suite.
 */
final class Hooks {
    private static final List<WeakReference<Thread>> ALL = new ArrayList<>();
    /** Those that were added since it was last asked for, and are still there. */
    private static final List<Thread> LEFT = new ArrayList<>();
    /** Those of initialisers, where they are to run. */
    private static List<Thread> initial;

    private Hooks() {}

    /** Keeps those that {@link #ofInitialisers} gives. */
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
            // Not by what the program takes for equal.
            LEFT.removeIf(known -> known == hook);
            if (initial != null) {
                initial.removeIf(known -> known == hook);
            }
            return take(hook, true);
        }
    }

    /** Whether any was left since this was asked the last time. */
    static boolean areLeft() {
        synchronized (ALL) {
            boolean areLeft = !LEFT.isEmpty();
            LEFT.clear();
            return areLeft;
        }
    }

    /** Those of initialisers, once. */
    static List<Thread> ofInitialisers() {
        synchronized (ALL) {
            List<Thread> all = initial == null ? List.of() : initial;
            initial = null;
            return all;
        }
    }

    /** Whether a thread is among them, and may be no more. */
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
