package dev.hindsight.worker;

import java.io.EOFException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Executes sequences of calls: {@code Worker MILLISECONDS RESET ENTRY...} has the time that a
 * sequence may take, whether each finds the program's classes as they were before they were
 * initialised, and the class path.
 *
 * <p>Commands come through the standard input. All numbers are big-endian; a text is a count and
 * UTF-16 units:
 *
 * <pre>
 * M  id:int class:text name:text descriptor:text      declares a method, or a constant: a static field
 * S  id:int milliseconds:int count:int statement*     executes a sequence, and tells in which states it leaves
 *                                                     its objects
 * X  id:int milliseconds:int count:int statement*     only executes it
 * F  id:int milliseconds:int count:int statement*     the same with the program's classes as they were before they
 *                                                     were initialised, in any case
 * L  id:int milliseconds:int count:int statement*     the same as others have left them, in any case
 *    If it takes so long, it is stopped where it is, if it can be, and the JVM goes on; with 0, the JVM ends
 *    when the time of all is over.
 *    statement: method:int flags:byte on:int count:byte argument*
 *               flags 1: it may throw, and the sequence goes on; 2: the object that it returns is
 *               asked for its text, or for those of the elements of an array or a collection of arrays,
 *               or for how many it has; 4: if it throws, no basic blocks are told of the sequence
 *    argument:  v index:int | n | Z B C S I J F D value | s text | e class:text name:text |
 *               c class:text | a class:text count:int argument* |
 *               l class:text method:text descriptor:text given
 *               k class:text method:text text      what a static method makes of a text; without a
 *                                                  name, the constructor
 *    given:     what a lambda gives: p index:int | r class:text method:text descriptor:text | argument
 *               r: what a method gives that it refers to
 * E                                                   ends a batch
 * Q                                                   ends the JVM
 * </pre>
 *
 * <p>Answers go through the standard output:
 *
 * <pre>
 * C  id:int name:text flags:byte count:int text*      a class that answers name, its supertypes; of an exception
 *                                                     that no source can name, its superclass comes before it
 *    flags 1: a source can name it; 2: it is an interface; 4: it is abstract
 * D  id:int class:int | D id:int -1 reason:text       a method, the class of what it returns
 * R  id:int flags:byte [at:int shown:byte] milliseconds:int milliseconds:int count:int result*
 *    count:int (index:int class:int digest:long)*
 *    count:int block:int*                             basic blocks that have not run in this JVM before
 *    milliseconds of processor time that it took, as far as the limit looks at it, and those with what it has waited
 *    flags 1: something was blocked, or has been put back since all tests share it; 2: memory ran out;
 *          4: no other sequence should follow, since memory is short or threads go on; 8: its last call has left a thread; 16: it took too long, and where;
 *          32: several objects have got identity hash codes, as far as it is known
 *    result: 0 void | 1 null | 2 literal | 3 class:int alias:int kind:byte text | 4 class:int type:byte count:int literal*
 *            5 class:int hasMessage:byte text by:byte | 6 reason:text
 *            kind: 0 no text, 1 its own, 2 that of its elements, 3 how many it has
 *            by: 0 who threw it is code of the JDK, or unknown; 1 the guard; 2 code of the program, or the JVM for it
 * T  id:int at:int shown:byte                         it took too long: the JVM ends
 *    at: the call that has no end, or -1; shown 1: it has, but not what is asked then
 * E                                                   the end of a batch
 * </pre>
 */
public final class Worker {
    /** The nanoseconds within which a thread must stop; code of the JDK does not. */
    private static final long MAX_STOPPING = 100_000_000;
    /**
     * The nanoseconds after which the analyzer is sent what is done. If a sequence ends the JVM,
     * what was not sent by then is done once more, in another JVM.
     */
    private static final long MAX_SILENCE = 1_000_000;

    /**
     * How often a sequence is repeated that is blocked by chance: what it does itself is blocked
     * each time.
     */
    private static final int MOST_AGAIN = 2;

    final Pipe pipe = new Pipe();
    final Watch watch;
    final Refusals refusals = Refusals.open();
    Shared shared;
    Leftovers leftovers;
    Beside beside;
    Loaded loaded;

    private final String[] entries;
    private final boolean reset;
    private final int limit;
    private final Thread runner = Thread.currentThread();
    private final Map<Integer, String[]> declared = new HashMap<>();
    private volatile int current = -1;
    private volatile Run run;
    /** Whether the running sequence may be stopped in the middle, and since when it should be. */
    private volatile boolean isStoppable;
    private long stoppedAt;
    private long flushed;

    private Worker(String[] arguments) throws IOException {
        limit = Integer.parseInt(arguments[0]);
        watch = new Watch(runner, limit);
        reset = arguments[1].equals("true");
        entries = new String[arguments.length - 2];
        System.arraycopy(arguments, 2, entries, 0, entries.length);
        load();
    }

    /** Runs until the input ends. */
    public static void main(String[] arguments) throws IOException {
        Ends.choose();
        Worker worker = new Worker(arguments);
        Program.silence();
        Thread monitor = new Thread(worker::watch, "hindsight-monitor");
        monitor.setDaemon(true);
        monitor.setPriority(Thread.MAX_PRIORITY);
        monitor.start();
        worker.shared = new Shared();
        worker.leftovers = new Leftovers();
        worker.beside = new Beside(worker.leftovers);
        try {
            worker.serve();
        } catch (EOFException e) {
            // The analyzer is done.
        } finally {
            // In any failure: the analyzer would wait for an answer, and starts another JVM if this
            // one has ended.
            Runtime.getRuntime().halt(0);
        }
    }

    private void load() throws IOException {
        use(new Loaded(Program.loader(entries), declared));
    }

    private void use(Loaded used) {
        loaded = used;
        runner.setContextClassLoader(used.loader);
        Digest.forget();
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(20);
                look();
            } catch (Throwable e) {
                // The program may interrupt any thread, and may have used up all memory.
            }
        }
    }

    /** Stops a sequence that takes too long, or ends the JVM. */
    private void look() {
        int watched = current;
        if (watched < 0 || !watch.isLate()) {
            return;
        }
        synchronized (pipe.out) {
            if (current != watched) {
                return;
            }
            if (isStoppable) {
                if (!Cover.isStopping()) {
                    Cover.stop(runner);
                    stoppedAt = System.nanoTime();
                }
                if (System.nanoTime() - stoppedAt < MAX_STOPPING) {
                    wake();
                    return;
                }
            }
            try {
                pipe.out.writeByte('T');
                pipe.out.writeInt(watched);
                Run late = run;
                if (late != null) {
                    late.tellPlace();
                } else {
                    pipe.out.writeInt(-1);
                    pipe.out.writeByte(0);
                }
                pipe.out.flush();
            } catch (IOException e) {
                // Nobody reads any more.
            } finally {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /** A waiting thread reaches a basic block only if it is interrupted. */
    private void wake() {
        Thread.State state = runner.getState();
        if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING) {
            runner.interrupt();
        }
    }

    private void serve() throws IOException {
        while (true) {
            int command = pipe.in.readByte();
            switch (command) {
                case 'M':
                    declare();
                    break;
                case 'S':
                case 'X':
                case 'F':
                case 'L':
                    int id = pipe.in.readInt();
                    int quick = pipe.in.readInt();
                    isStoppable = quick > 0;
                    watch.limit(isStoppable ? quick : limit);
                    int count = pipe.in.readInt();
                    Statement[] statements = new Statement[count];
                    pipe.references = 0;
                    for (int i = 0; i < count; i++) {
                        statements[i] = new Statement(pipe);
                    }
                    watch.start();
                    run = null;
                    current = id;
                    Loaded before = loaded;
                    boolean isAnew = command == 'F' || command != 'L' && reset;
                    if (isAnew) {
                        load();
                    }
                    run = new Run(this, statements, command == 'S');
                    run.execute();
                    for (int left = MOST_AGAIN; left > 0 && run.isBlockedByChance(); left--) {
                        Cover.leave();
                        watch.start();
                        if (isAnew) {
                            load();
                        }
                        run = new Run(this, statements, command == 'S');
                        run.execute();
                    }
                    synchronized (pipe.out) {
                        current = -1;
                        run.stopped();
                        run.tell(id);
                        if (System.nanoTime() - flushed > MAX_SILENCE) {
                            flush();
                        }
                    }
                    if (isAnew && !reset) {
                        // Other sequences go on with classes that are warmed up by now.
                        use(before);
                    }
                    break;
                case 'E':
                    synchronized (pipe.out) {
                        pipe.out.writeByte('E');
                        flush();
                    }
                    break;
                case 'Q':
                    return;
                default:
                    throw new IOException("no command " + command);
            }
        }
    }

    private void flush() throws IOException {
        pipe.out.flush();
        flushed = System.nanoTime();
    }

    private void declare() throws IOException {
        int id = pipe.in.readInt();
        declared.put(id, new String[] {pipe.text(), pipe.text(), pipe.text()});
        String reason = null;
        Class<?> type = null;
        try {
            type = loaded.callee(id).type;
        } catch (Throwable e) {
            reason = e.toString();
        }
        synchronized (pipe.out) {
            if (reason == null) {
                int number = pipe.number(type);
                pipe.out.writeByte('D');
                pipe.out.writeInt(id);
                pipe.out.writeInt(number);
            } else {
                pipe.out.writeByte('D');
                pipe.out.writeInt(id);
                pipe.out.writeInt(-1);
                pipe.write(reason);
            }
        }
    }
}
