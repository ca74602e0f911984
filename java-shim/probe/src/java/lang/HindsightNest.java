package java.lang;

/** Calls of some methods that are going on in a thread, outermost first. */
final class HindsightNest {
    /** Deeper calls are not told apart, nor are those for which there is no memory. */
    private static final int MOST = 1 << 20;

    private int[] methods = new int[8];
    private int depth;

    /** Whether there may be calls that are deeper than those that are told apart. */
    private boolean deeper;

    /**
     * How many of these, from the outermost on, are constructors whose call of another one has not returned. If an
     * exception leaves that, no probe tells.
     */
    private int unbound;

    boolean isEmpty() {
        return depth == 0;
    }

    /** Whether all may be over, and nothing has told: see {@link #unbound}. */
    boolean areUnbound() {
        return unbound != 0 && unbound == depth;
    }

    int depth() {
        return depth;
    }

    void clear() {
        depth = 0;
        unbound = 0;
        deeper = false;
    }

    void push(int method, boolean isConstructor) {
        if (depth < methods.length || grow()) {
            if (isConstructor && unbound == depth) {
                unbound++;
            }
            methods[depth++] = method;
        } else {
            deeper = true;
        }
    }

    /** Makes room for more calls; where there is none, they are deeper than those that are told apart. */
    private boolean grow() {
        if (depth == MOST || HindsightMemory.isShort()) {
            return false;
        }
        long began = 0;
        try {
            began = HindsightMemory.begin();
            int[] more = new int[2 * depth];
            for (int i = 0; i < depth; i++) {
                more[i] = methods[i];
            }
            methods = more;
            return true;
        } catch (OutOfMemoryError none) {
            HindsightMemory.ranOut(none, began);
            return false;
        }
    }

    /**
     * Ends the innermost call of a method and what is deeper; with {@code caught} only what is deeper. A
     * method that is not here began before all that are, so that they have ended; or it is one of those that
     * are too deep, and nothing has.
     */
    void popTo(int method, boolean caught) {
        int at = depth;
        while (at > 0 && methods[at - 1] != method) {
            at--;
        }
        if (at == 0 && deeper) {
            return;
        }
        depth = caught || at == 0 ? at : at - 1;
        unbound = Math.min(unbound, depth);
        deeper &= depth > 0;
    }

    /** The call of another constructor has returned to this one. */
    void bound(int method) {
        if (unbound == 0) {
            return;
        }
        // The innermost one of that method, which need not be among those of which this is not known.
        int at = depth;
        while (at > 0 && methods[at - 1] != method) {
            at--;
        }
        if (at > 0 && at <= unbound) {
            unbound = at - 1;
        }
    }

    /** Drops calls that are not on the stack, as {@link HindsightCalls#areOver}; false if it is too deep for that. */
    boolean drop(boolean entering) {
        if (depth == 0) {
            return true;
        }
        int running = running(methods, depth, entering);
        if (running >= 0 && running < depth) {
            depth = running;
            unbound = Math.min(unbound, depth);
            deeper = false;
        }
        return running >= 0;
    }

    /**
     * How many of these calls, from the outermost on, are on the stack of the current thread, without that of the
     * method that is about to begin; below 0 if that is not known.
     */
    static native int running(int[] methods, int depth, boolean entering);
}
