package java.lang;

/** The calls of certain methods in progress in a thread, outermost first. */
final class HindsightNest {
    /**
     * The most calls that are distinguished; deeper ones, and those for which there is no memory,
     * are not.
     */
    private static final int MOST = 1 << 20;

    private int[] methods = new int[8];
    private int depth;

    /** Whether there may be calls deeper than those that are distinguished. */
    private boolean deeper;

    /**
     * How many of these calls, from the outermost on, are constructors whose call of another
     * constructor has not returned. No probe sees an exception that leaves such a call.
     */
    private int unbound;

    boolean isEmpty() {
        return depth == 0;
    }

    /** Whether all of them may be over without an event: see {@link #unbound}. */
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

    /** Makes room for more calls; without memory, the further ones are not distinguished. */
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
     * Ends the innermost call of a method and the calls in it; with {@code caught} only the calls
     * in it. A method that is not listed either began before all that are, so that they have ended,
     * or is too deep to be distinguished, and nothing has ended.
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

    /** Notes that this constructor's call of another constructor has returned. */
    void bound(int method) {
        if (unbound == 0) {
            return;
        }
        // The innermost call of that method, which need not be one of the unbound ones.
        int at = depth;
        while (at > 0 && methods[at - 1] != method) {
            at--;
        }
        if (at > 0 && at <= unbound) {
            unbound = at - 1;
        }
    }

    /**
     * Drops calls that are not on the stack, as {@link HindsightCalls#areOver} does; false if the
     * stack is too deep for that.
     */
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
     * How many of these calls, from the outermost on, are on the stack of the current thread, not
     * counting the method that is about to begin; below 0 if that is not known.
     */
    static native int running(int[] methods, int depth, boolean entering);
}
