package dev.hindsight.replay;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Map;

/**
 * Calls recorded methods, public or not, and makes lambdas of them.
 *
 * <p>Methods are named by class, name and descriptor, as a class file does, so overloads, bridges
 * and names that the Java language does not know are all within reach. What the method throws comes
 * out as it is, and in its stack trace the method stands right above {@code Call}.
 *
 * <p>Names that compilers number ({@code Main$1}, {@code lambda$keep$0}) may come with their origin, as
 * in {@code lambda$keep$0/0/5f3a9c21,77be0012/static}. Then the class or method is found again by its code
 * where another version of the program gives it another number: the origin has the digests of all that
 * were of its kind, and says which of them it was. Where that cannot be told, it is a {@link
 * ReplayException}.
 *
 * <p>If there is no method of this descriptor, the only one of its name, kind and number of
 * parameters that the class declares is called, provided that Java would let it take the arguments:
 * a fix may widen a signature.
 *
 * <p>Arguments are boxed. A number is converted to the parameter's primitive type.
 */
public final class Call {
    private Call() {}

    /**
     * Calls an instance method; which override runs is decided by the receiver's class.
     *
     * @param receiver the receiver
     * @param className binary name of the class that declares or inherits the method
     * @param method its name
     * @param descriptor its descriptor (JVMS 4.3.3)
     * @param arguments its arguments
     * @return its result, boxed; null if it is void
     * @throws Throwable what the method throws, unchanged
     * @throws ReplayException if there is no such method, or it does not take these arguments
     */
    public static Object method(
            Object receiver, String className, String method, String descriptor, Object... arguments)
            throws Throwable {
        return invoke(Kind.VIRTUAL, receiver, className, method, descriptor, arguments);
    }

    /**
     * Calls the instance method of exactly this class, as {@code super.method()} does.
     *
     * <p>For a frame of a method that the receiver's class overrides.
     *
     * @param receiver the receiver
     * @param className binary name of the class that declares the method
     * @param method its name
     * @param descriptor its descriptor (JVMS 4.3.3)
     * @param arguments its arguments
     * @return its result, boxed; null if it is void
     * @throws Throwable what the method throws, unchanged
     * @throws ReplayException if there is no such method, or it does not take these arguments
     */
    public static Object exactMethod(
            Object receiver, String className, String method, String descriptor, Object... arguments)
            throws Throwable {
        return invoke(Kind.EXACT, receiver, className, method, descriptor, arguments);
    }

    /**
     * Calls a static method.
     *
     * @param className binary name of the class that declares the method
     * @param method its name
     * @param descriptor its descriptor (JVMS 4.3.3)
     * @param arguments its arguments
     * @return its result, boxed; null if it is void
     * @throws Throwable what the method throws, unchanged
     * @throws ReplayException if there is no such method, or it does not take these arguments
     */
    public static Object staticMethod(
            String className, String method, String descriptor, Object... arguments)
            throws Throwable {
        return invoke(Kind.STATIC, null, className, method, descriptor, arguments);
    }

    /**
     * Creates an object.
     *
     * @param className binary name of its class
     * @param descriptor the constructor's descriptor (JVMS 4.3.3), which returns {@code V}
     * @param arguments its arguments, with those that the compiler adds (outer instance, captured)
     * @return the new object
     * @throws Throwable what the constructor throws, unchanged
     * @throws ReplayException if there is no such constructor, or it does not take these arguments
     */
    public static Object constructor(String className, String descriptor, Object... arguments)
            throws Throwable {
        return invoke(Kind.CONSTRUCTOR, null, className, "<init>", descriptor, arguments);
    }

    /**
     * Makes a lambda of the program, or a method reference.
     *
     * @param <T> its type
     * @param type the functional interface that it implements, or one below it
     * @param className binary name of the class that declares the method behind it
     * @param method the method's name
     * @param descriptor its descriptor (JVMS 4.3.3)
     * @param captured what it has captured: the first arguments of that method, behind the receiver if
     *     it has one
     * @return the lambda
     * @throws ReplayException if there is no such method, or it does not take these values
     */
    public static <T> T lambda(
            Class<?> type, String className, String method, String descriptor,
            Object... captured) {
        Object[] given = captured == null ? new Object[] {null} : captured;
        Class<?> owner = Classes.ofCall(className, null, callerLoader());
        try {
            @SuppressWarnings("unchecked")
            T made = (T) Lambdas.make(type, owner, method, descriptor, given);
            return made;
        } catch (ReplayException e) {
            throw e;
        } catch (Throwable e) {
            throw new ReplayException("cannot make the lambda of " + Numbered.plain(className) + "."
                    + Numbered.plain(method) + descriptor + ": " + Classes.reason(e), e);
        }
    }

    private enum Kind { VIRTUAL, EXACT, STATIC, CONSTRUCTOR }

    private static Object invoke(
            Kind kind, Object receiver, String className, String method, String descriptor,
            Object[] arguments) throws Throwable {
        String what = Numbered.plain(className) + "." + Numbered.plain(method) + descriptor;
        boolean bound = kind == Kind.VIRTUAL || kind == Kind.EXACT;
        if (bound && receiver == null) {
            throw new ReplayException("cannot call " + what + " without a receiver: it is null; "
                    + "Frame.holes() says why, if it could not be restored");
        }
        Object[] given = arguments == null ? new Object[] {null} : arguments;
        Class<?> owner = Classes.ofCall(className, receiver, callerLoader());
        MethodHandle handle = find(kind, owner, method, descriptor, given, what);
        Class<?>[] types = handle.type().parameterArray();
        Object[] all = new Object[types.length];
        int first = 0;
        if (bound) {
            all[first++] = checked(receiver, types[0], "receiver", what);
        }
        if (given.length != types.length - first) {
            throw new ReplayException(what + " takes " + (types.length - first)
                    + " arguments, not " + given.length);
        }
        for (int i = 0; i < given.length; i++) {
            all[first + i] = checked(given[i], types[first + i], "argument " + (i + 1), what);
        }
        if (!bound) {
            // The class itself is initialised by the call, so that exceptions of its initialiser
            // are as always.
            Classes.initialize(owner.getSuperclass());
        }
        // A handle of exactly this type is called without helper frames, so in the stack trace the
        // method is right above this one.
        MethodHandle spread = handle.asFixedArity()
                .asSpreader(Object[].class, all.length)
                .asType(MethodType.methodType(Object.class, Object[].class));
        return (Object) spread.invokeExact(all);
    }

    private static MethodHandle find(
            Kind kind, Class<?> owner, String text, String descriptor, Object[] given, String what) {
        Numbered.Member member;
        try {
            member = new Numbered(Map.of(), owner.getClassLoader())
                    .method(owner, text, descriptor, kind == Kind.STATIC ? "static" : "instance");
        } catch (Hole hole) {
            throw new ReplayException("cannot call " + what + ": " + hole.getMessage(), hole);
        }
        String method = member == null ? Numbered.plain(text) : member.name;
        MethodType type = Classes.methodType(
                member == null ? descriptor : member.descriptor, owner, what);
        // A method with a number is known by more than its name.
        boolean numbered = member != null || text.indexOf('/') >= 0 || Numbered.isMethod(text);
        try {
            try {
                return handle(kind, owner, method, type);
            } catch (NoSuchMethodException e) {
                String renamed = numbered ? null : Signatures.renamed(owner, method, type);
                if (renamed != null) {
                    return handle(kind, owner, renamed, type);
                }
                MethodType other = numbered ? null
                        : Signatures.fitting(owner, method, kind == Kind.STATIC, type, given);
                if (other == null) {
                    throw e;
                }
                return asRecorded(handle(kind, owner, method, other), type);
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            String there = numbered ? "" : Signatures.told(owner, method);
            throw new ReplayException("cannot call " + what + ": " + Classes.reason(e) + "; "
                    + (there.isEmpty() ? Classes.DIFFERS : "there is " + there
                    + " here; the signature has changed: run hindsight junit again"), e);
        }
    }

    private static MethodHandle handle(
            Kind kind, Class<?> owner, String method, MethodType type)
            throws ReflectiveOperationException {
        switch (kind) {
            case VIRTUAL:
                return Trusted.LOOKUP.findVirtual(owner, method, type);
            case EXACT:
                return Trusted.LOOKUP.findSpecial(owner, method, type, owner);
            case STATIC:
                return Trusted.LOOKUP.findStatic(owner, method, type);
            default:
                return Trusted.LOOKUP.findConstructor(owner, type);
        }
    }

    /** A handle with the recorded method's parameters and the method's own result. */
    private static MethodHandle asRecorded(MethodHandle handle, MethodType recorded) {
        MethodType own = handle.type();
        int first = own.parameterCount() - recorded.parameterCount();
        MethodType type = recorded.insertParameterTypes(0, own.parameterList().subList(0, first));
        return handle.asFixedArity().asType(type.changeReturnType(own.returnType()));
    }

    /** The loader of the class that called this library, which is the test. */
    private static ClassLoader callerLoader() {
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                .walk(frames -> frames
                        .map(StackWalker.StackFrame::getDeclaringClass)
                        .filter(type -> type != Call.class)
                        .findFirst())
                .map(Class::getClassLoader)
                .orElse(null);
    }

    private static Object checked(Object value, Class<?> type, String role, String what) {
        if (type.isPrimitive()) {
            Object converted = Primitives.convert(value, type);
            if (converted == null) {
                throw new ReplayException(role + " of " + what + " must be a " + type.getName()
                        + ", not " + named(value));
            }
            return converted;
        }
        if (value != null && !type.isInstance(value)) {
            throw new ReplayException(role + " of " + what + " must be a " + type.getName()
                    + ", not " + named(value) + "; " + Classes.DIFFERS);
        }
        return value;
    }

    private static String named(Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }
}
