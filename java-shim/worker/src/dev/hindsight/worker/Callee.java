package dev.hindsight.worker;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A method, constructor or constant of the program, as tests use it. */
abstract class Callee {
    /** The class of its result, of the object that it makes, or of the constant. */
    final Class<?> type;
    /** Whether it is called on an object. */
    final boolean isOnObject;

    private Callee(Class<?> type, boolean isOnObject) {
        this.type = type;
        this.isOnObject = isOnObject;
    }

    /** Calls it. Its exception is the cause of an {@link InvocationTargetException}. */
    abstract Object call(Object on, Object[] arguments) throws ReflectiveOperationException;

    static Callee of(Field constant) {
        open(constant);
        return new Callee(constant.getType(), false) {
            @Override
            Object call(Object on, Object[] arguments) throws ReflectiveOperationException {
                return constant.get(null);
            }
        };
    }

    static Callee of(Method method) {
        open(method);
        return new Callee(method.getReturnType(), !Modifier.isStatic(method.getModifiers())) {
            @Override
            Object call(Object on, Object[] arguments) throws ReflectiveOperationException {
                return method.invoke(on, arguments);
            }
        };
    }

    static Callee of(Constructor<?> constructor) {
        open(constructor);
        return new Callee(constructor.getDeclaringClass(), false) {
            @Override
            Object call(Object on, Object[] arguments) throws ReflectiveOperationException {
                return constructor.newInstance(arguments);
            }
        };
    }

    private static void open(AccessibleObject member) {
        try {
            member.setAccessible(true);
        } catch (RuntimeException e) {
            // It is the JDK's: what is public may be used all the same.
        }
    }

    /**
     * Finds the member of this name and type by itself, as compiled code does: reflection looks at
     * all members of a class at once, and finds none if the type of one is missing.
     */
    static Callee alone(Class<?> owner, String name, MethodType type, boolean isConstant)
            throws ReflectiveOperationException {
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(owner, MethodHandles.lookup());
        if (isConstant) {
            MethodHandle getter = lookup.findStaticGetter(owner, name, type.returnType());
            return new Handle(getter, type.returnType(), false);
        }
        if (name.equals("<init>")) {
            return new Handle(lookup.findConstructor(owner, type), owner, false);
        }
        try {
            return new Handle(lookup.findVirtual(owner, name, type), type.returnType(), true);
        } catch (IllegalAccessException e) {
            // It is static.
            return new Handle(lookup.findStatic(owner, name, type), type.returnType(), false);
        }
    }

    private static final class Handle extends Callee {
        private final MethodHandle handle;

        Handle(MethodHandle handle, Class<?> type, boolean isOnObject) {
            super(type, isOnObject);
            this.handle = handle.asFixedArity();
        }

        @Override
        Object call(Object on, Object[] arguments) throws InvocationTargetException {
            List<Object> all = new ArrayList<>(Arrays.asList(arguments));
            if (isOnObject) {
                all.add(0, on);
            }
            try {
                return handle.invokeWithArguments(all);
            } catch (Throwable e) {
                throw new InvocationTargetException(e);
            }
        }
    }
}
