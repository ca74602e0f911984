package dev.hindsight.replay;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Access to everything: members whatever their modifiers, and the memory of objects.
 *
 * <p>Restoring an object means writing fields that nobody may write (final ones, those of records
 * and of the JDK) and making objects without running constructors. All of it goes through one
 * {@link Lookup} with the rights of the JVM itself, which is made in the way of a deserialised
 * object. This works without options from JDK 11 to 25 and, unlike {@code sun.misc.Unsafe}, without
 * a warning.
 */
final class Trusted {
    private Trusted() {}

    /** Finds any member of any class. */
    static final Lookup LOOKUP = lookup();

    private static final Object UNSAFE = unsafe();

    private static final MethodHandle ALLOCATE = bind("allocateInstance", Object.class, Class.class);
    private static final MethodHandle INITIALIZE =
            bind("ensureClassInitialized", void.class, Class.class);
    private static final MethodHandle OFFSET =
            bind("objectFieldOffset", long.class, Field.class);
    private static final MethodHandle ARRAY_BASE = bind("arrayBaseOffset",
            Runtime.version().feature() < 25 ? int.class : long.class, Class.class);
    private static final MethodHandle PUT_REFERENCE = putter("Reference", Object.class);
    private static final MethodHandle PUT_BOOLEAN = putter("Boolean", boolean.class);
    private static final MethodHandle PUT_BYTE = putter("Byte", byte.class);
    private static final MethodHandle PUT_SHORT = putter("Short", short.class);
    private static final MethodHandle PUT_CHAR = putter("Char", char.class);
    private static final MethodHandle PUT_INT = putter("Int", int.class);
    private static final MethodHandle PUT_LONG = putter("Long", long.class);

    // The JVM makes some classes for each shape of handle: handles that few tests need are made on
    // demand.

    /** Handles for static fields. */
    private static final class Statics {
        static final MethodHandle BASE = bind("staticFieldBase", Object.class, Field.class);
        static final MethodHandle OFFSET = bind("staticFieldOffset", long.class, Field.class);
    }

    /** Handles that write floating-point numbers. */
    private static final class Floating {
        static final MethodHandle PUT_FLOAT = putter("Float", float.class);
        static final MethodHandle PUT_DOUBLE = putter("Double", double.class);
    }

    /** Handles that read. */
    private static final class Getters {
        static final MethodHandle REFERENCE = getter("Reference", Object.class);
        static final MethodHandle BOOLEAN = getter("Boolean", boolean.class);
        static final MethodHandle BYTE = getter("Byte", byte.class);
        static final MethodHandle SHORT = getter("Short", short.class);
        static final MethodHandle CHAR = getter("Char", char.class);
        static final MethodHandle INT = getter("Int", int.class);
        static final MethodHandle LONG = getter("Long", long.class);
        static final MethodHandle FLOAT = getter("Float", float.class);
        static final MethodHandle DOUBLE = getter("Double", double.class);
    }

    /** The base for a static field's offset. */
    static Object staticBase(Field field) {
        try {
            return (Object) Statics.BASE.invokeExact(field);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A static field's offset, for {@link #get} and {@link #put}. */
    static long staticOffset(Field field) {
        try {
            return (long) Statics.OFFSET.invokeExact(field);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Initialises a class, and all that the JVM initialises before it.
     *
     * @throws LinkageError if an initialiser has failed
     */
    static void initialize(Class<?> type) {
        try {
            INITIALIZE.invokeExact(type);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Makes an object without running a constructor, after initialising its class. */
    static Object allocate(Class<?> type) throws InstantiationException {
        try {
            return (Object) ALLOCATE.invokeExact(type);
        } catch (InstantiationException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A field's offset in its object. The name alone does not suffice, since class files may have
     * several fields of one name.
     */
    static long offset(Field field) {
        try {
            return (long) OFFSET.invokeExact(field);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * The offset in its object of a field of which only name and type are available, because the
     * JVM lists no fields if the type of one is missing.
     *
     * @throws ReflectiveOperationException if there is no such field, or this JVM does not give its
     *     offset
     */
    static long offset(Class<?> owner, String name, Class<?> type) throws ReflectiveOperationException {
        MethodHandle getter = LOOKUP.findGetter(owner, name, type);
        for (Class<?> kind = getter.getClass(); kind != Object.class; kind = kind.getSuperclass()) {
            try {
                return ((Number) LOOKUP.findGetter(kind, "fieldOffset", int.class).invoke(getter)).longValue();
            } catch (NoSuchFieldException e) {
                // It belongs to a subclass or a superclass.
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
        throw new NoSuchFieldException(name);
    }

    /** The offset of an array's elements, in bytes from the object. */
    static long arrayBase(Class<?> array) {
        try {
            return (long) ARRAY_BASE.invoke(array);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Reads the field of type {@code type} at {@code offset}; primitive values are boxed. */
    static Object get(Object object, long offset, Class<?> type) {
        try {
            if (!type.isPrimitive()) {
                return (Object) Getters.REFERENCE.invokeExact(object, offset);
            } else if (type == int.class) {
                return (int) Getters.INT.invokeExact(object, offset);
            } else if (type == long.class) {
                return (long) Getters.LONG.invokeExact(object, offset);
            } else if (type == boolean.class) {
                return (boolean) Getters.BOOLEAN.invokeExact(object, offset);
            } else if (type == byte.class) {
                return (byte) Getters.BYTE.invokeExact(object, offset);
            } else if (type == char.class) {
                return (char) Getters.CHAR.invokeExact(object, offset);
            } else if (type == short.class) {
                return (short) Getters.SHORT.invokeExact(object, offset);
            } else if (type == float.class) {
                return (float) Getters.FLOAT.invokeExact(object, offset);
            } else {
                return (double) Getters.DOUBLE.invokeExact(object, offset);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Writes the field of type {@code type} at {@code offset}.
     *
     * <p>The value must be of that type (boxed, for a primitive one). This is checked here, since a
     * wrong write would corrupt the heap.
     *
     * @throws ClassCastException if it is not of that type
     */
    static void put(Object object, long offset, Class<?> type, Object value) {
        try {
            if (!type.isPrimitive()) {
                PUT_REFERENCE.invokeExact(object, offset, (Object) type.cast(value));
            } else if (type == int.class) {
                PUT_INT.invokeExact(object, offset, (int) (Integer) value);
            } else if (type == long.class) {
                PUT_LONG.invokeExact(object, offset, (long) (Long) value);
            } else if (type == boolean.class) {
                PUT_BOOLEAN.invokeExact(object, offset, (boolean) (Boolean) value);
            } else if (type == byte.class) {
                PUT_BYTE.invokeExact(object, offset, (byte) (Byte) value);
            } else if (type == char.class) {
                PUT_CHAR.invokeExact(object, offset, (char) (Character) value);
            } else if (type == short.class) {
                PUT_SHORT.invokeExact(object, offset, (short) (Short) value);
            } else if (type == float.class) {
                Floating.PUT_FLOAT.invokeExact(object, offset, (float) (Float) value);
            } else {
                Floating.PUT_DOUBLE.invokeExact(object, offset, (double) (Double) value);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle getter(String kind, Class<?> type) {
        return bind("get" + named(kind), type, Object.class, long.class);
    }

    private static MethodHandle putter(String kind, Class<?> type) {
        return bind("put" + named(kind), void.class, Object.class, long.class, type);
    }

    /**
     * The name of a method in this release: what JDK 12 and later call Reference was Object before.
     */
    private static String named(String kind) {
        return kind.equals("Reference") && Runtime.version().feature() < 12 ? "Object" : kind;
    }

    private static MethodHandle bind(String method, Class<?> result, Class<?>... parameters) {
        try {
            return LOOKUP.bind(UNSAFE, method, MethodType.methodType(result, parameters));
        } catch (ReflectiveOperationException e) {
            throw unsupported(e);
        }
    }

    private static Object unsafe() {
        try {
            Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
            return LOOKUP.findStatic(type, "getUnsafe", MethodType.methodType(type)).invoke();
        } catch (Throwable e) {
            throw unsupported(e);
        }
    }

    private static Lookup lookup() {
        Throwable first;
        try {
            return byDeserialisation();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            first = e;
        }
        try {
            // It is open with --add-opens java.base/java.lang.invoke=ALL-UNNAMED.
            Field field = Lookup.class.getDeclaredField("IMPL_LOOKUP");
            field.setAccessible(true);
            return (Lookup) field.get(null);
        } catch (ReflectiveOperationException | RuntimeException e) {
            first.addSuppressed(e);
        }
        try {
            return byUnsafe();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            first.addSuppressed(e);
        }
        throw unsupported(first);
    }

    /**
     * Makes the lookup; the -1 is {@code Lookup.TRUSTED}. The constructor has two or three
     * parameters.
     */
    private static Lookup byDeserialisation() throws ReflectiveOperationException {
        Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
        Object instance = factory.getMethod("getReflectionFactory").invoke(null);
        Method make = factory.getMethod(
                "newConstructorForSerialization", Class.class, Constructor.class);
        if (Runtime.version().feature() < 14) {
            Constructor<?> made = (Constructor<?>) make.invoke(instance, Lookup.class,
                    Lookup.class.getDeclaredConstructor(Class.class, int.class));
            return (Lookup) made.newInstance(Object.class, -1);
        }
        Constructor<?> made = (Constructor<?>) make.invoke(instance, Lookup.class,
                Lookup.class.getDeclaredConstructor(Class.class, Class.class, int.class));
        return (Lookup) made.newInstance(Object.class, null, -1);
    }

    /** Makes the lookup as the last resort, of which JDK 24 and later print a warning. */
    private static Lookup byUnsafe() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field single = type.getDeclaredField("theUnsafe");
        single.setAccessible(true);
        Object unsafe = single.get(null);
        Field field = Lookup.class.getDeclaredField("IMPL_LOOKUP");
        Object base = type.getMethod("staticFieldBase", Field.class).invoke(unsafe, field);
        Object offset = type.getMethod("staticFieldOffset", Field.class).invoke(unsafe, field);
        return (Lookup) type.getMethod("getObject", Object.class, long.class)
                .invoke(unsafe, base, offset);
    }

    private static ReplayException unsupported(Throwable cause) {
        return new ReplayException("this JVM (" + System.getProperty("java.vm.name") + " "
                + System.getProperty("java.version") + ") does not let Hindsight restore objects; "
                + "try --add-opens java.base/java.lang.invoke=ALL-UNNAMED, or another JDK", cause);
    }
}
