package dev.hindsight.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;

/**
 * Executes sequences of calls: {@code Worker MILLISECONDS RESET ENTRY...}, the time that one may take,
 * whether each finds the program's classes as they were before they were initialised, and the class
 * path.
 *
 * <p>Commands come through the standard input, all numbers big-endian, texts as a count and UTF-16
 * units:
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
 *               or for how many it has
 *    argument:  v index:int | n | Z B C S I J F D value | s text | e class:text name:text |
 *               c class:text | a class:text count:int argument* |
 *               k class:text method:text text      what a static method makes of a text; without a
 *                                                  name, the constructor
 * E                                                   ends a batch
 * Q                                                   ends the JVM
 * </pre>
 *
 * <p>Answers go through the standard output:
 *
 * <pre>
 * C  id:int name:text flags:byte count:int text*      a class that answers name, its supertypes
 *    flags 1: a source can name it; 2: it is an interface; 4: it is abstract
 * D  id:int class:int | D id:int -1 reason:text       a method, the class of what it returns
 * R  id:int flags:byte milliseconds:int count:int result* count:int (index:int class:int digest:long)*
 *    count:int block:int*                             basic blocks that have not run in this JVM before
 *    milliseconds of processor time that it took, as far as the limit looks at it
 *    flags 1: something was blocked; 2: memory ran out; 4: no other sequence should follow, since
 *          memory is short or threads go on; 8: its last call has left a thread; 16: it took too long
 *    result: 0 void | 1 null | 2 literal | 3 class:int alias:int kind:byte text | 4 class:int type:byte count:int literal*
 *            5 class:int hasMessage:byte text by:byte | 6 reason:text
 *            kind: 0 no text, 1 its own, 2 that of its elements, 3 how many it has
 *            by: 0 who threw it is code of the JDK, or unknown; 1 the guard; 2 code of the program, or the JVM for it
 * T  id:int                                           it took too long: the JVM ends
 * E                                                   the end of a batch
 * </pre>
 */
public final class Worker {
    // What is told of a sequence as a whole.
    private static final int BLOCKED = 1;
    private static final int MEMORY = 2;
    private static final int TIRED = 4;
    private static final int THREADS = 8;
    private static final int STOPPED = 16;

    private static final int RESERVE = 2 << 20;
    /** Nanoseconds until what is to stop must have done so: code of the JDK's does not. */
    private static final long MAX_STOPPING = 100_000_000;
    /** Nanoseconds after which the analyzer is told that something goes on. */
    private static final long MAX_SILENCE = 1_000_000_000;
    private static final int MAX_TEXT = 2000;
    /** What the analyzer knows a method by that is there and takes or gives something else. */
    private static final String OTHERWISE = "it is ";
    private static final int MAX_ARRAY = 16;
    /** Of a text that an object says of itself. */
    private static final int MAX_SAID = 200;
    /** What {@code Object.toString} gives, or the name of a class that was made at run time. */
    private static final Pattern IDENTITY =
            Pattern.compile("@[0-9a-f]{4,8}|\\$\\$Lambda|\\$Proxy\\d|0x[0-9a-f]{8}");
    /** Of a time as the JDK writes it where hours go to twelve: from release 20 on, with another space. */
    private static final Pattern OF_RELEASE =
            Pattern.compile("\\d[ \\u202f][AP]M\\b|h:mm(:ss)?[ \\u202f]a\\b");

    private final DataInputStream in;
    private final DataOutputStream out;
    private final String[] entries;
    private final boolean reset;
    private final int limit;
    private final Watch watch;
    private final Thread runner = Thread.currentThread();
    /** Numbers of classes; those of loaders that are gone may go, too. */
    private final Map<Class<?>, Integer> classes = new WeakHashMap<>();
    private int numbers;
    private final Map<Integer, String[]> methods = new HashMap<>();
    private Loaded loaded;
    /** Given up to have room to tell that memory has run out. */
    private byte[] reserve = new byte[RESERVE];
    private volatile int current = -1;
    /** Whether what runs may be stopped where it is, and since when it should be. */
    private volatile boolean isStoppable;
    private long stoppedAt;
    private long flushed;
    private Leftovers leftovers;
    private Beside beside;
    private final Refusals refusals = Refusals.open();

    private Worker(String[] arguments) throws IOException {
        in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
        out = new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
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
        worker.leftovers = new Leftovers();
        worker.beside = new Beside(worker.leftovers);
        try {
            worker.serve();
        } catch (EOFException e) {
            // The analyzer is done.
        }
        Runtime.getRuntime().halt(0);
    }

    /** The program's classes, and what is known of them. */
    private static final class Loaded {
        final ClassLoader loader;
        final Map<Integer, Executable> resolved = new HashMap<>();
        final Map<Integer, Field> constants = new HashMap<>();

        Loaded(ClassLoader loader) {
            this.loader = loader;
        }
    }

    private void load() throws IOException {
        use(new Loaded(Program.loader(entries)));
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
                // The program interrupts what it likes, and may have used up all memory.
            }
        }
    }

    /** Stops what takes too long, or ends the JVM. */
    private void look() {
        int watched = current;
        if (watched < 0 || !watch.isLate()) {
            return;
        }
        synchronized (out) {
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
                out.writeByte('T');
                out.writeInt(watched);
                out.flush();
            } catch (IOException e) {
                // Nobody listens any more.
            } finally {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /** What waits comes to no basic block, if it is not interrupted. */
    private void wake() {
        Thread.State state = runner.getState();
        if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING) {
            runner.interrupt();
        }
    }

    private void serve() throws IOException {
        while (true) {
            int command = in.readByte();
            switch (command) {
                case 'M':
                    declare();
                    break;
                case 'S':
                case 'X':
                case 'F':
                case 'L':
                    int id = in.readInt();
                    int quick = in.readInt();
                    isStoppable = quick > 0;
                    watch.limit(isStoppable ? quick : limit);
                    int count = in.readInt();
                    Statement[] statements = new Statement[count];
                    for (int i = 0; i < count; i++) {
                        statements[i] = statement();
                    }
                    watch.start();
                    current = id;
                    Loaded left = loaded;
                    boolean isAnew = command == 'F' || command != 'L' && reset;
                    if (isAnew) {
                        load();
                    }
                    Run run = new Run(statements, command == 'S');
                    run.execute();
                    synchronized (out) {
                        current = -1;
                        run.stopped();
                        run.tell(id);
                        if (System.nanoTime() - flushed > MAX_SILENCE) {
                            flush();
                        }
                    }
                    if (isAnew && !reset) {
                        // Others go on with what is warm by now.
                        use(left);
                    }
                    break;
                case 'E':
                    synchronized (out) {
                        out.writeByte('E');
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
        out.flush();
        flushed = System.nanoTime();
    }

    private void declare() throws IOException {
        int id = in.readInt();
        methods.put(id, new String[] {text(), text(), text()});
        String reason;
        Class<?> type = null;
        try {
            if (isConstant(id)) {
                type = constant(id).getType();
            } else {
                Executable method = method(id);
                type = method instanceof Method
                        ? ((Method) method).getReturnType()
                        : method.getDeclaringClass();
            }
            reason = null;
        } catch (Throwable e) {
            reason = e.toString();
        }
        synchronized (out) {
            if (reason == null) {
                int number = number(type);
                out.writeByte('D');
                out.writeInt(id);
                out.writeInt(number);
            } else {
                out.writeByte('D');
                out.writeInt(id);
                out.writeInt(-1);
                write(reason);
            }
        }
    }

    /** Whether it is a field, whose descriptor has no parameters. */
    private boolean isConstant(int id) {
        return !methods.get(id)[2].startsWith("(");
    }

    private Field constant(int id) throws ReflectiveOperationException {
        Field known = loaded.constants.get(id);
        if (known == null) {
            String[] names = methods.get(id);
            known = Class.forName(names[0], false, loaded.loader).getDeclaredField(names[1]);
            try {
                known.setAccessible(true);
            } catch (RuntimeException e) {
                // Of the JDK: what is public may be read all the same.
            }
            loaded.constants.put(id, known);
        }
        return known;
    }

    private Executable method(int id) throws ReflectiveOperationException {
        Executable known = loaded.resolved.get(id);
        if (known == null) {
            String[] names = methods.get(id);
            Class<?> owner = Class.forName(names[0], false, loaded.loader);
            MethodType type = MethodType.fromMethodDescriptorString(names[2], loaded.loader);
            Class<?>[] parameters = type.parameterArray();
            if (names[1].equals("<init>")) {
                known = owner.getDeclaredConstructor(parameters);
            } else {
                known = find(owner, names[1], parameters, type.returnType());
            }
            try {
                known.setAccessible(true);
            } catch (RuntimeException e) {
                // Of the JDK: what is public may be called all the same.
            }
            loaded.resolved.put(id, known);
        }
        return known;
    }

    private static Method find(Class<?> owner, String name, Class<?>[] parameters, Class<?> result)
            throws NoSuchMethodException {
        // There may be bridges beside it that differ in what they return.
        for (Method method : owner.getDeclaredMethods()) {
            if (method.getName().equals(name)
                    && method.getReturnType() == result
                    && java.util.Arrays.equals(method.getParameterTypes(), parameters)) {
                return method;
            }
        }
        String others = "";
        for (Method method : owner.getMethods()) {
            if (!method.getName().equals(name)) {
                continue;
            } else if (method.getReturnType() == result
                    && java.util.Arrays.equals(method.getParameterTypes(), parameters)) {
                return method;
            } else if (!method.isBridge()) {
                others = method.toString();
            }
        }
        // Compiled code that names a method by what it returned before does not find it either.
        throw new NoSuchMethodException(others.isEmpty() ? name : OTHERWISE + others);
    }

    /** The number of a class, which is told first if it is new. */
    private int number(Class<?> type) throws IOException {
        Integer known = classes.get(type);
        if (known != null) {
            return known;
        }
        int number = numbers++;
        classes.put(type, number);
        Set<String> supers = new LinkedHashSet<>();
        above(type, supers);
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        boolean accessible = element.isPrimitive() || isAccessible(element);
        out.writeByte('C');
        out.writeInt(number);
        write(type.getName());
        out.writeByte((accessible ? 1 : 0)
                | (type.isInterface() ? 2 : 0)
                | (Modifier.isAbstract(type.getModifiers()) ? 4 : 0));
        out.writeInt(supers.size());
        for (String name : supers) {
            write(name);
        }
        return number;
    }

    private static void above(Class<?> type, Set<String> supers) {
        Class<?> parent = type.getSuperclass();
        if (parent != null && supers.add(parent.getName())) {
            above(parent, supers);
        }
        for (Class<?> one : type.getInterfaces()) {
            if (supers.add(one.getName())) {
                above(one, supers);
            }
        }
        supers.add("java.lang.Object");
    }

    private String text() throws IOException {
        int length = in.readInt();
        char[] units = new char[length];
        for (int i = 0; i < length; i++) {
            units[i] = in.readChar();
        }
        return new String(units);
    }

    private void write(String text) throws IOException {
        out.writeInt(text.length());
        for (int i = 0; i < text.length(); i++) {
            out.writeChar(text.charAt(i));
        }
    }

    private static final class Statement {
        int method;
        boolean mayThrow;
        boolean isShown;
        int on;
        Argument[] arguments;
    }

    private Statement statement() throws IOException {
        Statement statement = new Statement();
        statement.method = in.readInt();
        int flags = in.readByte();
        statement.mayThrow = (flags & 1) != 0;
        statement.isShown = (flags & 2) != 0;
        statement.on = in.readInt();
        statement.arguments = new Argument[in.readUnsignedByte()];
        for (int i = 0; i < statement.arguments.length; i++) {
            statement.arguments[i] = argument();
        }
        return statement;
    }

    private interface Argument {
        Object value(Object[] values) throws ReflectiveOperationException;
    }

    private Argument argument() throws IOException {
        int kind = in.readByte();
        switch (kind) {
            case 'v':
                int index = in.readInt();
                return values -> values[index];
            case 'n':
                return values -> null;
            case 's':
                String string = text();
                return values -> string;
            case 'e':
                String type = text();
                String constant = text();
                return values -> Class.forName(type, true, loaded.loader).getField(constant).get(null);
            case 'c':
                String name = text();
                return values -> named(name);
            case 'k':
                String maker = text();
                String method = text();
                String said = text();
                return values -> made(named(maker), method, said);
            case 'a':
                String component = text();
                Argument[] elements = new Argument[in.readInt()];
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = argument();
                }
                return values -> {
                    Object array = Array.newInstance(named(component), elements.length);
                    for (int i = 0; i < elements.length; i++) {
                        Array.set(array, i, elements[i].value(values));
                    }
                    return array;
                };
            default:
                Object primitive = primitive(kind);
                return values -> primitive;
        }
    }

    /** What a class of the JDK makes of a text. If it cannot, that is no exception of the program's. */
    private static Object made(Class<?> maker, String method, String text)
            throws ReflectiveOperationException {
        try {
            if (method.isEmpty()) {
                return maker.getConstructor(String.class).newInstance(text);
            }
            for (Class<?> type : new Class<?>[] {String.class, CharSequence.class}) {
                try {
                    return maker.getMethod(method, type).invoke(null, text);
                } catch (NoSuchMethodException e) {
                    // It takes the other type.
                }
            }
            return maker.getMethod(method, String.class, String[].class)
                    .invoke(null, text, new String[0]);
        } catch (InvocationTargetException e) {
            throw new ReflectiveOperationException("no " + maker.getName() + " of " + text, e);
        }
    }

    private Class<?> named(String name) throws ClassNotFoundException {
        switch (name) {
            case "boolean":
                return boolean.class;
            case "byte":
                return byte.class;
            case "char":
                return char.class;
            case "short":
                return short.class;
            case "int":
                return int.class;
            case "long":
                return long.class;
            case "float":
                return float.class;
            case "double":
                return double.class;
            case "void":
                return void.class;
            default:
                return Class.forName(name, false, loaded.loader);
        }
    }

    private Object primitive(int kind) throws IOException {
        long bits = in.readLong();
        switch (kind) {
            case 'Z':
                return bits != 0;
            case 'B':
                return (byte) bits;
            case 'C':
                return (char) bits;
            case 'S':
                return (short) bits;
            case 'I':
                return (int) bits;
            case 'J':
                return bits;
            case 'F':
                return Float.intBitsToFloat((int) bits);
            case 'D':
                return Double.longBitsToDouble(bits);
            default:
                throw new IOException("no argument " + kind);
        }
    }

    /** One execution of a sequence. */
    private final class Run {
        private final Statement[] statements;
        private final boolean tellsStates;
        private final Object[] values;
        private final Throwable[] thrown;
        /** What an exception says, if that is told, and who threw it. */
        private final String[] messages;
        private final byte[] throwers;
        private final String[] failed;
        private final String[] texts;
        /** Whose text it is. */
        private final byte[] saying;
        private final boolean[] isVoid;
        private final long[] digests;
        /** What the last call may have made or changed. */
        private Set<Integer> states = Set.of();
        private int done;
        private int flags;

        Run(Statement[] statements, boolean tellsStates) {
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

        void execute() throws IOException {
            int blocked = Guard.count();
            refusals.forget();
            PrintStream before = System.out;
            if (!GuardClocks.isLeft()) {
                Program.stir();
            }
            int threads = 0;
            // A search only looks for what is worth a try.
            boolean isTried = !tellsStates;
            GuardClocks.begin(!isTried);
            if (isTried) {
                beside.begin();
            }
            for (Statement statement : statements) {
                int at = done++;
                if (done == statements.length) {
                    threads = Thread.activeCount();
                }
                try {
                    try {
                        values[at] = call(statement, at);
                    } finally {
                        if (isTried) {
                            beside.called();
                        }
                    }
                    if (statement.isShown) {
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
                    java.util.Arrays.fill(values, null);
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
            beside.end();
            if (System.out != before) {
                Program.silence();
            }
            states = states();
            for (int index : states) {
                digests[index] = digest(values[index]);
            }
            Thread.interrupted();
            if (leftovers.areTooMany() || (flags & MEMORY) != 0 && isShort()) {
                flags |= TIRED;
            }
            if (leftovers.areMore() && Thread.activeCount() > threads) {
                flags |= THREADS;
            }
            if (Guard.count() != blocked || refusals.isAny()) {
                flags |= BLOCKED;
            }
        }

        /** Whether memory is still short: mostly one object was too large, and all is well without it. */
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
            if (isConstant(statement.method)) {
                return constant(statement.method).get(null);
            }
            Executable method = method(statement.method);
            Object[] arguments = new Object[statement.arguments.length];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = statement.arguments[i].value(values);
            }
            if (method instanceof Constructor) {
                return ((Constructor<?>) method).newInstance(arguments);
            }
            isVoid[at] = ((Method) method).getReturnType() == void.class;
            Object on = statement.on < 0 ? null : values[statement.on];
            if (on == null && !Modifier.isStatic(method.getModifiers())) {
                throw new InvocationTargetException(new NullPointerException());
            }
            return ((Method) method).invoke(on, arguments);
        }

        /** What was stopped has neither outcomes nor states; to be called when it is not watched any more. */
        void stopped() {
            if (Cover.isStopping()) {
                flags |= Cover.goOn() ? STOPPED : STOPPED | TIRED;
                done = 0;
                states = Set.of();
                Cover.leave();
            }
        }

        /** Asks what came of a call for what it says of itself, else for that of its elements, else how many it has. */
        private void show(int at) {
            texts[at] = said(values[at]);
            saying[at] = 1;
            if (texts[at] == null) {
                texts[at] = elements(values[at]);
                saying[at] = 2;
            }
            if (texts[at] == null) {
                texts[at] = size(values[at]);
                saying[at] = 3;
            }
        }

        /** Tells what came of it; calls nothing of the program, for nobody watches that. */
        void tell(int id) throws IOException {
            // Classes are told before what names them.
            List<Object> seen = new ArrayList<>();
            for (int i = 0; i < done; i++) {
                if (values[i] != null) {
                    number(values[i].getClass());
                }
                if (thrown[i] != null) {
                    number(thrown[i].getClass());
                }
            }
            out.writeByte('R');
            out.writeInt(id);
            out.writeByte(flags);
            out.writeInt(watch.used());
            out.writeInt(watch.lasted());
            out.writeInt(done);
            for (int i = 0; i < done; i++) {
                result(i);
            }
            out.writeInt(states.size());
            for (int index : states) {
                out.writeInt(index);
                out.writeInt(number(values[index].getClass()));
                out.writeLong(digests[index]);
            }
            boolean isWhole = done == statements.length && (flags & (BLOCKED | MEMORY)) == 0;
            if (!isWhole || done > 0 && failed[done - 1] != null) {
                Cover.leave();
            }
            int[] blocks = Cover.take();
            out.writeInt(blocks.length);
            for (int block : blocks) {
                out.writeInt(block);
            }
        }

        private long digest(Object value) {
            try {
                return Digest.of(value);
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

        /** Takes what an exception says, which may be code of the program's. */
        private void hear(int at) {
            String message = null;
            try {
                message = thrown[at].getMessage();
            } catch (Throwable e) {
                // The program's own exception may do that.
            }
            // Whatever names our classes is not the program's doing.
            boolean ours = message != null && message.contains(Worker.class.getPackageName() + ".");
            boolean isBlocked = ours || thrown[at] instanceof Blocked || isDenied(thrown[at]);
            throwers[at] = (byte) (isBlocked ? 1 : isProgram(thrown[at]) ? 2 : 0);
            messages[at] = message != null && message.length() <= MAX_TEXT ? message : null;
        }

        /** Whether an exception says that the kernel has blocked what no guard has seen, which counts as if one had. */
        private boolean isDenied(Throwable thrown) {
            try {
                if (Denied.isIn(thrown)) {
                    Guard.blocked("what the kernel has refused");
                    return true;
                }
            } catch (Throwable e) {
                // The program's own exception may do that.
            }
            return false;
        }

        /** Whether code of the program has made an exception, or the JVM for it: code of the JDK has not. */
        private boolean isProgram(Throwable thrown) {
            try {
                StackTraceElement[] stack = thrown.getStackTrace();
                return stack.length > 0
                        && stack[0].getModuleName() == null
                        && !stack[0].getClassName().startsWith(Worker.class.getPackageName() + ".");
            } catch (Throwable e) {
                // The program's own exception may do that.
                return false;
            }
        }

        private void result(int at) throws IOException {
            Object value = values[at];
            if (failed[at] != null) {
                out.writeByte(6);
                write(failed[at]);
            } else if (thrown[at] != null) {
                String message = messages[at];
                out.writeByte(5);
                out.writeInt(number(thrown[at].getClass()));
                out.writeByte(message != null ? 1 : 0);
                write(message != null ? message : "");
                out.writeByte(throwers[at]);
            } else if (isVoid[at]) {
                out.writeByte(0);
            } else if (value == null) {
                out.writeByte(1);
            } else if (isLiteral(value)) {
                out.writeByte(2);
                literal(value);
            } else if (value.getClass().isArray() && isFlat(value)) {
                int length = Array.getLength(value);
                Class<?> type = value.getClass().getComponentType();
                out.writeByte(4);
                out.writeInt(number(value.getClass()));
                out.writeByte(type.isPrimitive() ? 1 : 0);
                out.writeInt(length);
                for (int i = 0; i < length; i++) {
                    Object element = Array.get(value, i);
                    out.writeByte(element == null ? 0 : 1);
                    if (element != null) {
                        literal(element);
                    }
                }
            } else {
                int alias = -1;
                for (int i = 0; i < at && alias < 0 && !isValueBased(value); i++) {
                    if (values[i] == value) {
                        alias = i;
                    }
                }
                out.writeByte(3);
                out.writeInt(number(value.getClass()));
                out.writeInt(alias);
                out.writeByte(texts[at] == null ? 0 : saying[at]);
                write(texts[at] == null ? "" : texts[at]);
            }
        }
    }

    /** What an object says of itself, if that is more than its class and a number. */
    private static String said(Object value) {
        try {
            if (value == null
                    || value.getClass().getMethod("toString").getDeclaringClass() == Object.class) {
                return null;
            }
            String text = value.toString();
            boolean isShort = text != null && text.length() <= MAX_SAID;
            return isShort && !IDENTITY.matcher(text).find() && !OF_RELEASE.matcher(text).find()
                    ? text : null;
        } catch (Throwable e) {
            // The test does without.
            return null;
        }
    }

    /** Whether a text is one to be told, and not another one in another release. */
    private static boolean isTold(String text) {
        return text.length() <= MAX_TEXT && !OF_RELEASE.matcher(text).find();
    }

    /** What the elements of an array, or of a collection of arrays, say of themselves. */
    private static String elements(Object value) {
        try {
            Object array = value instanceof Collection ? ((Collection<?>) value).toArray() : value;
            if (array == null || !array.getClass().isArray()) {
                return null;
            }
            // With brackets of its own around it.
            String text = Arrays.deepToString(new Object[] {array});
            text = text.substring(1, text.length() - 1);
            return text.length() <= MAX_SAID && !IDENTITY.matcher(text).find() ? text : null;
        } catch (Throwable e) {
            // The test does without.
            return null;
        }
    }

    /** How many elements an array, collection or map has. */
    private static String size(Object value) {
        try {
            if (value instanceof Collection) {
                return String.valueOf(((Collection<?>) value).size());
            }
            if (value instanceof Map) {
                return String.valueOf(((Map<?, ?>) value).size());
            }
            boolean isArray = value != null && value.getClass().isArray();
            return isArray ? String.valueOf(Array.getLength(value)) : null;
        } catch (Throwable e) {
            // The test does without.
            return null;
        }
    }

    /** Whether only what it says matters, and not which object it is. */
    private static boolean isValueBased(Object value) {
        String name = value.getClass().getName();
        return value.getClass().getClassLoader() == null
                && (name.startsWith("java.time.")
                        || name.startsWith("java.math.Big")
                        || name.startsWith("java.util.Optional")
                        || name.equals("java.util.UUID"));
    }

    private static boolean isLiteral(Object value) {
        return value instanceof String && isTold((String) value)
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof Enum && isNamed(((Enum<?>) value).getDeclaringClass())
                || value instanceof Class
                || value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte
                || value instanceof Float
                || value instanceof Double;
    }

    /** Whether a source can name a class: of the program, one in its package. */
    private static boolean isNamed(Class<?> type) {
        if (type.getModule().getName() != null || type.getCanonicalName() == null) {
            return isAccessible(type);
        }
        boolean named = true;
        for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
            named &= !Modifier.isPrivate(at.getModifiers());
        }
        return named;
    }

    /** Whether a source anywhere can name a class. */
    private static boolean isAccessible(Class<?> type) {
        boolean accessible = !type.isSynthetic() && type.getCanonicalName() != null
                && (type.getModule().getName() == null
                        || type.getModule().isExported(type.getPackageName()));
        for (Class<?> at = type; at != null && accessible; at = at.getEnclosingClass()) {
            accessible = Modifier.isPublic(at.getModifiers());
        }
        return accessible;
    }

    private static boolean isFlat(Object array) {
        Class<?> type = array.getClass().getComponentType();
        if (!type.isPrimitive() && type != String.class || Array.getLength(array) > MAX_ARRAY) {
            return false;
        }
        for (int i = 0; type == String.class && i < Array.getLength(array); i++) {
            Object element = Array.get(array, i);
            if (element != null && !isLiteral(element)) {
                return false;
            }
        }
        return true;
    }

    private void literal(Object value) throws IOException {
        if (value instanceof String) {
            out.writeByte('s');
            write((String) value);
        } else if (value instanceof Enum) {
            out.writeByte('e');
            write(((Enum<?>) value).getDeclaringClass().getName());
            write(((Enum<?>) value).name());
        } else if (value instanceof Class) {
            out.writeByte('c');
            write(((Class<?>) value).getName());
        } else if (value instanceof Boolean) {
            bits('Z', (Boolean) value ? 1 : 0);
        } else if (value instanceof Character) {
            bits('C', (Character) value);
        } else if (value instanceof Float) {
            bits('F', Float.floatToIntBits((Float) value));
        } else if (value instanceof Double) {
            bits('D', Double.doubleToLongBits((Double) value));
        } else {
            char kind = value.getClass().getSimpleName().charAt(0);
            bits(kind == 'L' ? 'J' : kind, ((Number) value).longValue());
        }
    }

    private void bits(int kind, long bits) throws IOException {
        out.writeByte(kind);
        out.writeLong(bits);
    }
}
