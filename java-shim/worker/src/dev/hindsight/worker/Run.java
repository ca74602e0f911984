package dev.hindsight.worker;

import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

/** One execution of a sequence. */
final class Run {
    // Flags of a sequence as a whole.
    private static final int BLOCKED = 1;
    private static final int MEMORY = 2;
    private static final int TIRED = 4;
    private static final int THREADS = 8;
    private static final int STOPPED = 16;
    private static final int HASHED = 32;

    private static final int RESERVE = 2 << 20;

    /** Memory that is released to report that memory has run out. */
    private static byte[] reserve = new byte[RESERVE];

    private final Worker worker;
    private final Pipe pipe;
    private final Loaded loaded;
    private final Statement[] statements;
    private final boolean tellsStates;
    private final Object[] values;
    private final Throwable[] thrown;
    /** The messages of exceptions, if they are asked for, and the code that threw them. */
    private final String[] messages;
    private final byte[] throwers;
    private final String[] failed;
    private final String[] texts;
    /**
     * The kind of each text: 1 is the object's own, 2 that of its elements, 3 the number of its
     * elements.
     */
    private final byte[] saying;
    private final boolean[] isVoid;
    private final long[] digests;
    /** The places of objects that the last call may have made or changed. */
    private Set<Integer> states = Set.of();
    private int done;
    private int flags;
    /** The call in progress, and whether it has returned and its result is being asked. */
    private volatile int place = -1;
    private volatile boolean isShowing;
    private boolean isByChance;

    Run(Worker worker, Statement[] statements, boolean tellsStates) {
        this.worker = worker;
        pipe = worker.pipe;
        loaded = worker.loaded;
        this.statements = statements;
        this.tellsStates = tellsStates;
        values = new Object[statements.length];
        thrown = new Throwable[statements.length];
        messages = new String[statements.length];
        throwers = new byte[statements.length];
        failed = new String[statements.length];
        texts = new String[statements.length];
        saying = new byte[statements.length];
        isVoid = new boolean[statements.length];
        digests = new long[statements.length];
    }

    /** Whether the blocked action may belong to another sequence, which had left it for later. */
    boolean isBlockedByChance() {
        return isByChance && (flags & ~(THREADS | HASHED)) == BLOCKED && !Cover.isStopping();
    }

    void execute() throws IOException {
        int blocked = Guard.count();
        int beside = Guard.beside();
        Hooks.areLeft();
        worker.refusals.forget();
        if (!GuardClocks.isLeft()) {
            Program.stir();
        }
        int threads = 0;
        // A search only looks for candidates.
        boolean isTried = !tellsStates;
        GuardClocks.begin(!isTried);
        if (isTried) {
            worker.beside.begin();
        }
        int hash = Program.COUNTS_HASHES ? Program.nextHash() : 0;
        for (Statement statement : statements) {
            int at = done++;
            isShowing = false;
            place = at;
            if (done == statements.length) {
                threads = Leftovers.active();
            }
            try {
                try {
                    values[at] = call(statement, at);
                } finally {
                    if (isTried) {
                        worker.beside.called();
                    }
                }
                // An object that is known already is named, and asking it may change it: some
                // builders end then. A collection may have other elements by now.
                if (statement.isShown && (known(at) < 0 || Values.isCollectionOfJdk(values[at]))) {
                    isShowing = true;
                    show(at);
                }
            } catch (InvocationTargetException e) {
                thrown[at] = e.getCause();
            } catch (ReflectiveOperationException | RuntimeException e) {
                failed[at] = e.toString();
            } catch (Throwable e) {
                thrown[at] = e;
            }
            if (Cover.isStopping()) {
                break;
            }
            if (thrown[at] instanceof OutOfMemoryError) {
                reserve = null;
                Arrays.fill(values, null);
                flags |= MEMORY;
            }
            if (thrown[at] != null) {
                hear(at);
            }
            if ((flags & MEMORY) != 0) {
                break;
            }
            if (failed[at] != null || thrown[at] != null && !statement.mayThrow) {
                break;
            }
        }
        if (!Cover.isStopping()) {
            place = -1;
        }
        worker.beside.end();
        // A single one has no order.
        if (Program.COUNTS_HASHES && Program.nextHash() - hash > 2) {
            flags |= HASHED;
        }
        states = states();
        Digest digest = states.isEmpty() ? null : new Digest();
        for (int index : states) {
            digests[index] = digest(digest, values[index]);
        }
        // A stopped thread may have been interrupted for that.
        boolean isChanged = worker.shared.putBack(worker.loaded.loader) && !Cover.isStopping();
        if (worker.leftovers.areTooMany() || (flags & MEMORY) != 0 && isShort()) {
            flags |= TIRED;
        }
        if (worker.leftovers.areMore() && Leftovers.active() > threads) {
            flags |= THREADS;
        }
        // A search may go on to a call that removes a hook.
        isChanged |= Hooks.areLeft() && isTried;
        int all = Guard.count() - blocked;
        boolean isRefused = worker.refusals.isAny();
        if (all != 0 || isRefused || isChanged) {
            flags |= BLOCKED;
            isByChance = all == Guard.beside() - beside && !isRefused && !isChanged;
        }
    }

    /**
     * Whether memory is still short: mostly one object was too large, and all is well without it.
     */
    private boolean isShort() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        if (runtime.totalMemory() - runtime.freeMemory() > runtime.maxMemory() / 4) {
            return true;
        }
        reserve = new byte[RESERVE];
        return false;
    }

    private Object call(Statement statement, int at) throws ReflectiveOperationException {
        Callee callee = loaded.callee(statement.method);
        Object[] arguments = new Object[statement.arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = statement.arguments[i].value(values, loaded);
        }
        isVoid[at] = callee.type == void.class;
        Object on = statement.on < 0 ? null : values[statement.on];
        if (on == null && callee.isOnObject) {
            throw new InvocationTargetException(new NullPointerException());
        }
        return callee.call(on, arguments);
    }

    /**
     * Drops the results and states of a sequence that was stopped. To be called when it is not
     * watched any more.
     */
    void stopped() {
        if (Cover.isStopping()) {
            flags |= Cover.goOn() ? STOPPED : STOPPED | TIRED;
            done = 0;
            states = Set.of();
            Cover.leave();
        }
    }

    /** Reports the place of the running call. */
    void tellPlace() throws IOException {
        pipe.out.writeInt(place);
        pipe.out.writeByte(isShowing ? 1 : 0);
    }

    /**
     * Asks the result of a call for its text, else for that of its elements, else for their number.
     */
    private void show(int at) {
        texts[at] = Values.said(values[at]);
        saying[at] = 1;
        if (texts[at] == null) {
            texts[at] = Values.elements(values[at]);
            saying[at] = 2;
        }
        if (texts[at] == null) {
            texts[at] = Values.size(values[at]);
            saying[at] = 3;
        }
    }

    /** The first call that has returned the same object, if it is another call; else -1. */
    private int known(int at) {
        Object value = values[at];
        for (int i = 0; i < at && value != null && !Values.isValueBased(value); i++) {
            if (values[i] == value) {
                return i;
            }
        }
        return -1;
    }

    /** Reports the results. It calls nothing of the program, because nobody watches that. */
    void tell(int id) throws IOException {
        // Classes are declared before they are named.
        for (int i = 0; i < done; i++) {
            if (values[i] != null) {
                pipe.number(values[i].getClass());
            }
            if (thrown[i] != null) {
                pipe.number(thrown[i].getClass());
            }
        }
        pipe.out.writeByte('R');
        pipe.out.writeInt(id);
        pipe.out.writeByte(flags);
        if ((flags & STOPPED) != 0) {
            tellPlace();
        }
        pipe.out.writeInt(worker.watch.used());
        pipe.out.writeInt(worker.watch.lasted());
        pipe.out.writeInt(done);
        for (int i = 0; i < done; i++) {
            result(i);
        }
        pipe.out.writeInt(states.size());
        for (int index : states) {
            pipe.out.writeInt(index);
            pipe.out.writeInt(pipe.number(values[index].getClass()));
            pipe.out.writeLong(digests[index]);
        }
        boolean isWhole = done == statements.length && (flags & (BLOCKED | MEMORY)) == 0;
        for (int i = 0; i < done; i++) {
            isWhole &= thrown[i] == null || !statements[i].isUnwanted;
        }
        if (!isWhole || done > 0 && failed[done - 1] != null) {
            Cover.leave();
        }
        int[] blocks = Cover.take();
        pipe.out.writeInt(blocks.length);
        for (int block : blocks) {
            pipe.out.writeInt(block);
        }
    }

    private static long digest(Digest digest, Object value) {
        try {
            return digest.of(value);
        } catch (Throwable e) {
            return 0;
        }
    }

    /** The objects that the last call may have made or changed. */
    private Set<Integer> states() {
        Set<Integer> states = new LinkedHashSet<>();
        if (tellsStates && done == statements.length && done > 0 && (flags & MEMORY) == 0) {
            int last = done - 1;
            if (thrown[last] == null && failed[last] == null) {
                states.add(last);
                if (statements[last].on >= 0) {
                    states.add(statements[last].on);
                }
                for (int i = 0; i < last; i++) {
                    states.add(i);
                }
            }
        }
        states.removeIf(index -> values[index] == null);
        return states;
    }

    /** Takes the message of an exception, which may be computed by code of the program. */
    private void hear(int at) {
        String message = null;
        try {
            message = thrown[at].getMessage();
        } catch (Throwable e) {
            // The program's own exception may throw.
        }
        // An exception that names our classes does not come from the program.
        boolean ours = message != null && message.contains(Worker.class.getPackageName() + ".");
        boolean isBlocked = ours || thrown[at] instanceof Blocked || isDenied(thrown[at]);
        throwers[at] = (byte) (isBlocked ? 1 : isProgram(thrown[at]) ? 2 : 0);
        messages[at] = message != null && message.length() <= Values.MAX_TEXT ? message : null;
    }

    /**
     * Whether an exception says that the kernel has blocked what no guard has seen, which counts as
     * if a guard had.
     */
    private boolean isDenied(Throwable thrown) {
        try {
            if (Denied.isIn(thrown)) {
                Guard.blocked("what the kernel has refused");
                return true;
            }
        } catch (Throwable e) {
            // The program's own exception may throw.
        }
        return false;
    }

    /**
     * Whether code of the program has made an exception, or the JVM on its behalf, and not code of
     * the JDK.
     */
    private boolean isProgram(Throwable thrown) {
        try {
            StackTraceElement[] stack = thrown.getStackTrace();
            int top = 0;
            // Its message is the one with which the caller has made it.
            while (top < stack.length
                    && stack[top].getClassName().equals("java.util.Objects")
                    && stack[top].getMethodName().equals("requireNonNull")) {
                top++;
            }
            return top < stack.length
                    && stack[top].getModuleName() == null
                    && !stack[top].getClassName().startsWith(Worker.class.getPackageName() + ".");
        } catch (Throwable e) {
            // The program's own exception may throw.
            return false;
        }
    }

    private void result(int at) throws IOException {
        Object value = values[at];
        if (failed[at] != null) {
            pipe.out.writeByte(6);
            pipe.write(failed[at]);
        } else if (thrown[at] != null) {
            String message = messages[at];
            pipe.out.writeByte(5);
            pipe.out.writeInt(pipe.number(thrown[at].getClass()));
            pipe.out.writeByte(message != null ? 1 : 0);
            pipe.write(message != null ? message : "");
            pipe.out.writeByte(throwers[at]);
        } else if (isVoid[at]) {
            pipe.out.writeByte(0);
        } else if (value == null) {
            pipe.out.writeByte(1);
        } else if (Values.isLiteral(value)) {
            pipe.out.writeByte(2);
            pipe.literal(value);
        } else if (value.getClass().isArray() && Values.isFlat(value)) {
            int length = Array.getLength(value);
            Class<?> type = value.getClass().getComponentType();
            pipe.out.writeByte(4);
            pipe.out.writeInt(pipe.number(value.getClass()));
            pipe.out.writeByte(type.isPrimitive() ? 1 : 0);
            pipe.out.writeInt(length);
            for (int i = 0; i < length; i++) {
                Object element = Array.get(value, i);
                pipe.out.writeByte(element == null ? 0 : 1);
                if (element != null) {
                    pipe.literal(element);
                }
            }
        } else {
            int alias = known(at);
            pipe.out.writeByte(3);
            pipe.out.writeInt(pipe.number(value.getClass()));
            pipe.out.writeInt(alias);
            pipe.out.writeByte(texts[at] == null ? 0 : saying[at]);
            pipe.write(texts[at] == null ? "" : texts[at]);
        }
    }
}
