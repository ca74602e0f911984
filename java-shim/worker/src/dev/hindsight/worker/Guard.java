package dev.hindsight.worker;

import java.io.File;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Replaces methods that the program must not call freely.
 *
 * <p>Each method has the name of the one that it replaces, and its receiver as the first parameter.
 * By that the analyzer finds them, here and in the classes whose names begin like this one's. If
 * methods differ only in their result, the simple name of the class follows theirs; if a class
 * calls a method of its superclass, {@code super_} precedes it. Allowed actions are done, within
 * the directory for temporary files. All others throw {@link Blocked} and are counted, since the
 * program may catch it.
 */
public final class Guard {
    private static final AtomicInteger COUNT = new AtomicInteger();
    /** The number of blocked actions, except those of the thread that runs a test. */
    private static final AtomicInteger BESIDE = new AtomicInteger();
    private static volatile Thread runner = Thread.currentThread();

    private Guard() {}

    /** The number of blocked actions since the start. */
    static int count() {
        return COUNT.get();
    }

    /** The number of blocked actions on threads other than the one that runs a test. */
    static int beside() {
        return BESIDE.get();
    }

    /** Sets the thread that runs the next test. */
    static void runOn(Thread thread) {
        runner = thread;
    }

    /** Counts what the program attempted, and returns the exception for it. */
    static Blocked blocked(String what) {
        if (Thread.currentThread() != runner) {
            BESIDE.incrementAndGet();
        }
        COUNT.incrementAndGet();
        return new Blocked(what);
    }

    // The JVM.

    public static void exit(int status) {
        throw blocked("System.exit(" + status + ")");
    }

    public static void exit(Runtime runtime, int status) {
        throw blocked("Runtime.exit(" + status + ")");
    }

    public static void halt(Runtime runtime, int status) {
        throw blocked("Runtime.halt(" + status + ")");
    }

    public static void addShutdownHook(Runtime runtime, Thread hook) {
        Hooks.add(hook);
    }

    public static boolean removeShutdownHook(Runtime runtime, Thread hook) {
        return Hooks.remove(hook);
    }

    public static Process exec(Runtime runtime, String command) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String command, String[] environment) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String command, String[] environment, File dir) {
        throw blocked("starting " + command);
    }

    public static Process exec(Runtime runtime, String[] command) {
        throw blocked("starting a process");
    }

    public static Process exec(Runtime runtime, String[] command, String[] environment) {
        throw blocked("starting a process");
    }

    public static Process exec(Runtime runtime, String[] command, String[] environment, File dir) {
        throw blocked("starting a process");
    }

    public static Process start(ProcessBuilder builder) {
        throw blocked("starting " + builder.command());
    }

    public static List<Process> startPipeline(List<ProcessBuilder> builders) {
        throw blocked("starting processes");
    }

    public static boolean destroy(ProcessHandle process) {
        throw blocked("ending a process");
    }

    public static boolean destroyForcibly(ProcessHandle process) {
        throw blocked("ending a process");
    }

    public static void raise(sun.misc.Signal signal) {
        throw blocked("raising " + signal);
    }

    // Threads, because our own are among them.

    public static void stop(Thread thread) {
        throw blocked("stopping " + thread);
    }

    public static void suspend(Thread thread) {
        throw blocked("suspending " + thread);
    }

    public static void stop(ThreadGroup group) {
        throw blocked("stopping threads");
    }

    public static void suspend(ThreadGroup group) {
        throw blocked("suspending threads");
    }

    // Classes that were not rewritten.

    public static Class<?> defineClass(MethodHandles.Lookup lookup, byte[] bytes) {
        throw blocked("defining a class");
    }

    /** For options whose class does not exist in the oldest release. */
    public static MethodHandles.Lookup defineHiddenClass(
            MethodHandles.Lookup lookup, byte[] bytes, boolean initialize, Object[] options) {
        throw blocked("defining a class");
    }

    public static MethodHandles.Lookup defineHiddenClassWithClassData(
            MethodHandles.Lookup lookup, byte[] bytes, Object data, boolean initialize, Object[] options) {
        throw blocked("defining a class");
    }

    public static Class<?> defineClass(ClassLoader loader, byte[] bytes, int from, int length) {
        throw blocked("defining a class");
    }

    public static Class<?> defineClass(
            ClassLoader loader, String name, byte[] bytes, int from, int length) {
        throw blocked("defining " + name);
    }

    public static Class<?> defineClass(
            ClassLoader loader,
            String name,
            byte[] bytes,
            int from,
            int length,
            ProtectionDomain domain) {
        throw blocked("defining " + name);
    }

    public static Class<?> defineClass(
            ClassLoader loader, String name, ByteBuffer bytes, ProtectionDomain domain) {
        throw blocked("defining " + name);
    }

    public static Class<?> defineClass(
            ClassLoader loader, String name, byte[] bytes, int from, int length, CodeSource source) {
        throw blocked("defining " + name);
    }

    public static Class<?> defineClass(
            ClassLoader loader, String name, ByteBuffer bytes, CodeSource source) {
        throw blocked("defining " + name);
    }

    // The same, called as the superclass's method.

    public static Class<?> super_defineClass(ClassLoader loader, byte[] bytes, int from, int length) {
        throw blocked("defining a class");
    }

    public static Class<?> super_defineClass(
            ClassLoader loader, String name, byte[] bytes, int from, int length) {
        throw blocked("defining " + name);
    }

    public static Class<?> super_defineClass(
            ClassLoader loader,
            String name,
            byte[] bytes,
            int from,
            int length,
            ProtectionDomain domain) {
        throw blocked("defining " + name);
    }

    public static Class<?> super_defineClass(
            ClassLoader loader, String name, ByteBuffer bytes, ProtectionDomain domain) {
        throw blocked("defining " + name);
    }

    public static Class<?> super_defineClass(
            ClassLoader loader, String name, byte[] bytes, int from, int length, CodeSource source) {
        throw blocked("defining " + name);
    }

    public static Class<?> super_defineClass(
            ClassLoader loader, String name, ByteBuffer bytes, CodeSource source) {
        throw blocked("defining " + name);
    }

    public static URLClassLoader newInstance(URL[] urls) {
        return new Guarded.URLClassLoader(urls);
    }

    public static URLClassLoader newInstance(URL[] urls, ClassLoader parent) {
        return new Guarded.URLClassLoader(urls, parent);
    }

    // Reflection reaches what calls cannot.

    public static Object invoke(Method method, Object on, Object[] arguments)
            throws IllegalAccessException, InvocationTargetException {
        Class<?>[] types = method.getParameterTypes();
        boolean isStatic = Modifier.isStatic(method.getModifiers());
        Class<?>[] all = new Class<?>[types.length + (isStatic ? 0 : 1)];
        Object[] values = new Object[all.length];
        int at = 0;
        if (!isStatic) {
            all[0] = method.getDeclaringClass();
            values[0] = on;
            at = 1;
        }
        System.arraycopy(types, 0, all, at, types.length);
        Method guard = find(
                method.getDeclaringClass(), method.getName(), isStatic, method.getReturnType(), all);
        if (guard != null
                && (arguments == null ? types.length == 0 : arguments.length == types.length)) {
            if (arguments != null) {
                System.arraycopy(arguments, 0, values, at, arguments.length);
            }
            return guard.invoke(null, values);
        }
        try {
            return method.invoke(on, arguments);
        } catch (IllegalAccessException e) {
            check(e, method, isStatic || on == null ? null : on.getClass());
            return opened(method, method.getDeclaringClass().getDeclaredMethods()).invoke(on, arguments);
        }
    }

    /**
     * Throws what the program would have got in our place, unless it may call what we may not:
     * reflection checks its caller, which here is this class.
     */
    private static void check(IllegalAccessException refused, Executable called, Class<?> on)
            throws IllegalAccessException {
        Class<?> caller =
                StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                        .walk(frames -> frames.<Class<?>>map(StackWalker.StackFrame::getDeclaringClass)
                                .filter(Guard::isProgram)
                                .findFirst())
                        .orElseThrow(() -> blocked("calling " + called));
        if (!mayCall(caller, called, on)) {
            String message = refused.getMessage();
            throw new IllegalAccessException(
                    message == null ? null : message.replace(Guard.class.toString(), caller.toString()));
        }
    }

    /** Whether a class is neither the JDK's nor ours. */
    private static boolean isProgram(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader != null
                && loader != Guard.class.getClassLoader()
                && loader != ClassLoader.getPlatformClassLoader();
    }

    /** Whether a class may call a member, on an object of a class unless that does not matter. */
    private static boolean mayCall(Class<?> caller, Executable called, Class<?> on) {
        Class<?> owner = called.getDeclaringClass();
        if (caller == owner) {
            return true;
        }
        boolean isNear =
                caller.getClassLoader() == owner.getClassLoader()
                        && caller.getPackageName().equals(owner.getPackageName());
        // To the JVM, nested classes that are protected are public.
        boolean isOpen =
                (owner.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
                        && owner.getModule().isExported(owner.getPackageName(), caller.getModule());
        int modifiers = called.getModifiers();
        if (!isNear && !isOpen || Modifier.isPrivate(modifiers)) {
            return (isNear || isOpen) && caller.isNestmateOf(owner);
        }
        return isNear
                || Modifier.isPublic(modifiers)
                || Modifier.isProtected(modifiers)
                        && owner.isAssignableFrom(caller)
                        && (on == null || caller.isAssignableFrom(on));
    }

    /**
     * The same member among these, made accessible; the program's own copy of it stays as it is.
     */
    private static <T extends Executable> T opened(T called, T[] declared) {
        for (T same : declared) {
            if (same.equals(called)) {
                try {
                    same.setAccessible(true);
                    return same;
                } catch (InaccessibleObjectException e) {
                    break; // as the JDK lets its heirs alone
                }
            }
        }
        throw blocked("calling " + called);
    }

    /** The replacing methods, by name, which only reflection needs. */
    private static final class Table {
        static final Map<String, List<Method>> ALL = new HashMap<>();

        static {
            Class<?>[] all = {
                Guard.class,
                GuardFiles.class,
                GuardPaths.class,
                GuardFormatters.class,
                GuardNetwork.class,
                GuardClocks.class,
                GuardLibrary.class,
                GuardTools.class,
            };
            for (Class<?> guards : all) {
                try {
                    for (Method method : guards.getMethods()) {
                        if (Modifier.isStatic(method.getModifiers())) {
                            ALL.computeIfAbsent(method.getName(), name -> new ArrayList<>()).add(method);
                        }
                    }
                } catch (LinkageError e) {
                    // This JVM was linked without all modules.
                }
            }
        }
    }

    /** The replacement of a JDK method; null if there is none. */
    private static Method find(
            Class<?> owner, String name, boolean isStatic, Class<?> result, Class<?>[] all) {
        if (!owner.getModule().isNamed()) {
            return null;
        }
        for (Method guard : Table.ALL.getOrDefault(name, List.of())) {
            Class<?>[] types = guard.getParameterTypes();
            // A method inherited from another class will do. Other classes have static methods of
            // the same name.
            if (types.length == all.length
                    && !isStatic
                    && types[0].isAssignableFrom(all[0])) {
                types[0] = all[0];
            }
            if (guard.getReturnType() == result && Arrays.equals(types, all)) {
                return guard;
            }
        }
        return null;
    }

    /** The handle of a method's replacement, if there is one. */
    private static MethodHandle instead(MethodHandles.Lookup lookup, MethodHandle found)
            throws IllegalAccessException {
        MethodHandleInfo info;
        try {
            info = lookup.revealDirect(found);
        } catch (IllegalArgumentException e) {
            return found; // of no method
        }
        MethodType type = info.getMethodType();
        boolean isStatic = info.getReferenceKind() == MethodHandleInfo.REF_invokeStatic;
        if (!isStatic) {
            type = type.insertParameterTypes(0, info.getDeclaringClass());
        }
        Method guard = find(
                info.getDeclaringClass(),
                info.getName(),
                isStatic,
                type.returnType(),
                type.parameterArray());
        if (guard == null) {
            return found;
        }
        return MethodHandles.publicLookup().unreflect(guard).asType(found.type());
    }

    public static MethodHandle findVirtual(
            MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type)
            throws NoSuchMethodException, IllegalAccessException {
        return instead(lookup, lookup.findVirtual(owner, name, type));
    }

    public static MethodHandle findStatic(
            MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type)
            throws NoSuchMethodException, IllegalAccessException {
        return instead(lookup, lookup.findStatic(owner, name, type));
    }

    public static MethodHandle unreflect(MethodHandles.Lookup lookup, Method method)
            throws IllegalAccessException {
        return instead(lookup, lookup.unreflect(method));
    }

    public static MethodHandle bind(
            MethodHandles.Lookup lookup, Object on, String name, MethodType type)
            throws NoSuchMethodException, IllegalAccessException {
        MethodHandle found = lookup.findVirtual(on.getClass(), name, type);
        MethodHandle guard = instead(lookup, found);
        return guard == found ? lookup.bind(on, name, type) : guard.bindTo(on);
    }

    public static MethodHandle findConstructor(
            MethodHandles.Lookup lookup, Class<?> owner, MethodType type)
            throws NoSuchMethodException, IllegalAccessException {
        checkNew(owner, type.parameterArray());
        return lookup.findConstructor(owner, type);
    }

    public static MethodHandle unreflectConstructor(
            MethodHandles.Lookup lookup, Constructor<?> constructor)
            throws IllegalAccessException {
        checkNew(constructor.getDeclaringClass(), constructor.getParameterTypes());
        return lookup.unreflectConstructor(constructor);
    }

    private static void checkNew(Class<?> made, Class<?>[] parameters) {
        if (Guarded.isGuarded(made.getName(), parameters)) {
            throw blocked("new " + made.getName() + " by reflection");
        }
    }

    public static Object newInstance(Constructor<?> constructor, Object[] arguments)
            throws InstantiationException, IllegalAccessException, InvocationTargetException {
        Class<?> made = constructor.getDeclaringClass();
        checkNew(made, constructor.getParameterTypes());
        try {
            return constructor.newInstance(arguments);
        } catch (IllegalAccessException e) {
            check(e, constructor, made);
            return opened(constructor, made.getDeclaredConstructors()).newInstance(arguments);
        }
    }
}
