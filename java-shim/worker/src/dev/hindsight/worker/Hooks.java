package dev.hindsight.worker;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The threads that the program wants to run when the JVM ends: none does, but whoever adds and removes them is told
 * what the JVM would say. What nobody holds any more nobody can ask for.
 */
final class Hooks {
    private static final List<WeakReference<Thread>> ALL = new ArrayList<>();

    private Hooks() {}

    static void add(Thread hook) {
        synchronized (ALL) {
            if (take(hook, false)) {
                throw new IllegalArgumentException("Hook previously registered");
            }
            if (hook.isAlive()) {
                throw new IllegalArgumentException("Hook already running");
            }
            ALL.add(new WeakReference<>(hook));
        }
    }

    static boolean remove(Thread hook) {
        if (hook == null) {
            throw new NullPointerException();
        }
        synchronized (ALL) {
            return take(hook, true);
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
