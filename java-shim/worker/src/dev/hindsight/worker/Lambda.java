package dev.hindsight.worker;

import java.lang.invoke.LambdaConversionException;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * The behaviour of a test's lambda expression: it returns one of its parameters, or always the same
 * value, or throws an exception. Method references are made here as well.
 */
public final class Lambda {
    private final int parameter;
    private final Object value;

    /** The constructor of the exception that it throws; else null. */
    private final Constructor<?> thrown;

    private Lambda(int parameter, Object value, Constructor<?> thrown) {
        this.parameter = parameter;
        this.value = value;
        this.thrown = thrown;
    }

    /** A lambda that returns this parameter, or the value if it is -1. */
    Lambda(int parameter, Object value) {
        this(parameter, value, null);
    }

    /** A lambda that throws an exception of a class, made from a message or from nothing. */
    static Lambda throwing(Class<?> thrown, String message) throws NoSuchMethodException {
        return new Lambda(
                -1,
                message,
                message == null ? thrown.getConstructor() : thrown.getConstructor(String.class));
    }

    /**
     * Makes objects of an interface from what they return, as the JVM makes those of lambda
     * expressions; for code that may look up the interface.
     */
    static MethodHandle factory(
            MethodHandles.Lookup caller, Class<?> type, String method, MethodType descriptor)
            throws ReflectiveOperationException {
        MethodHandle gives = caller.findVirtual(
                Lambda.class, "gives", MethodType.genericMethodType(descriptor.parameterCount()));
        return made(caller, type, method, descriptor, gives, Lambda.class);
    }

    /** Makes references to a method in the same way; they capture nothing. */
    static MethodHandle reference(
            MethodHandles.Lookup caller,
            Class<?> type,
            String method,
            MethodType descriptor,
            Class<?> owner,
            String name,
            MethodType taken)
            throws ReflectiveOperationException {
        return made(caller, type, method, descriptor, found(caller, owner, name, taken));
    }

    private static MethodHandle found(
            MethodHandles.Lookup caller, Class<?> owner, String name, MethodType taken)
            throws ReflectiveOperationException {
        if (name.equals("<init>")) {
            return caller.findConstructor(owner, taken);
        }
        try {
            return caller.findVirtual(owner, name, taken);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return caller.findStatic(owner, name, taken);
        }
    }

    private static MethodHandle made(
            MethodHandles.Lookup caller,
            Class<?> type,
            String method,
            MethodType descriptor,
            MethodHandle gives,
            Class<?>... captured)
            throws ReflectiveOperationException {
        // Generic code passes arguments of the types that the method takes.
        MethodType exactly = descriptor;
        for (int i = 0; i < descriptor.parameterCount(); i++) {
            Class<?> passed = descriptor.parameterType(i);
            Class<?> taken = MethodType.methodType(gives.type().parameterType(captured.length + i))
                    .wrap().returnType();
            if (!passed.isPrimitive() && passed.isAssignableFrom(taken)) {
                exactly = exactly.changeParameterType(i, taken);
            }
        }
        MethodType made = MethodType.methodType(type, captured);
        try {
            return LambdaMetafactory.metafactory(caller, method, made, descriptor, gives, exactly)
                    .getTarget();
        } catch (LambdaConversionException | LinkageError | InternalError e) {
            // This is never an exception of the program.
            throw new ReflectiveOperationException(e);
        }
    }

    /** Returns or throws; called only by code that the JVM generates. */
    public Object gives() {
        if (thrown != null) {
            throw Lambda.<RuntimeException>unchecked(anew());
        }
        return value;
    }

    /** As above, with one argument. */
    public Object gives(Object a) {
        return parameter < 0 ? gives() : a;
    }

    /** As above, with two arguments. */
    public Object gives(Object a, Object b) {
        return parameter < 0 ? gives() : parameter == 0 ? a : b;
    }

    /** As above, with three arguments. */
    public Object gives(Object a, Object b, Object c) {
        return parameter == 2 ? c : gives(a, b);
    }

    /** As above, with four arguments. */
    public Object gives(Object a, Object b, Object c, Object d) {
        return parameter == 3 ? d : gives(a, b, c);
    }

    /** The exception, as if the caller of the lambda had made it. */
    private Throwable anew() {
        try {
            Object[] taken = value == null ? new Object[0] : new Object[] {value};
            Throwable made = (Throwable) thrown.newInstance(taken);
            StackTraceElement[] stack = made.getStackTrace();
            int ours = 0;
            for (int i = 0; i < stack.length; i++) {
                if (stack[i].getClassName().equals(Lambda.class.getName())) {
                    ours = i + 1;
                }
            }
            made.setStackTrace(Arrays.copyOfRange(stack, ours, stack.length));
            return made;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (ReflectiveOperationException e) {
            return new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
