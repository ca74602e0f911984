package dev.hindsight.replay;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/**
 * The instance fields that a running class declares, including those that reflection hides.
 *
 * <p>Names alone do not say where to write: a field that was recorded as an int and has become a
 * reference must not be written as an int. So a {@link Slot} is found by its type as well, or its
 * value is converted.
 */
final class Layout {
    /** A field of the running JVM. */
    static final class Slot {
        final String name;
        final Class<?> type;
        final long offset;

        Slot(String name, Class<?> type, long offset) {
            this.name = name;
            this.type = type;
            this.offset = offset;
        }

        Object get(Object object) {
            return Trusted.get(object, offset, type);
        }

        /**
         * Writes a value of the slot's type; throws {@link ClassCastException} if it is of another.
         */
        void put(Object object, Object value) {
            Trusted.put(object, offset, type, value);
        }
    }

    private static final MethodHandle DECLARED_FIELDS = declaredFields();

    private static final ClassValue<Layout> LAYOUTS = new ClassValue<>() {
        @Override
        protected Layout computeValue(Class<?> type) {
            return new Layout(type);
        }
    };

    /**
     * The static fields of each class, cached because one of Clojure's classes has thousands of
     * them, and hundreds that a recording names.
     */
    private static final ClassValue<List<Field>> STATICS = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
            return declaredStatics(type);
        }
    };

    private final Class<?> owner;
    /**
     * The fields; null if the type of one is not on the class path, because the JVM then lists
     * none.
     */
    private final List<Slot> slots;

    private Layout(Class<?> owner) {
        this.owner = owner;
        List<Slot> found = new ArrayList<>();
        try {
            for (Field field : (Field[]) DECLARED_FIELDS.invokeExact(owner, false)) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    found.add(new Slot(field.getName(), field.getType(), Trusted.offset(field)));
                }
            }
        } catch (LinkageError e) {
            found = null;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        slots = found;
    }

    /** The field of this name and type that {@code owner} declares, or null. */
    static Slot find(Class<?> owner, String name, String descriptor) {
        return LAYOUTS.get(owner).find(name, descriptor);
    }

    /** The only field of this name that {@code owner} declares, whatever its type, or null. */
    static Slot named(Class<?> owner, String name) {
        Slot found = null;
        for (Slot slot : declared(owner)) {
            if (slot.name.equals(name)) {
                if (found != null) {
                    return null;
                }
                found = slot;
            }
        }
        return found;
    }

    /**
     * The static field of this name that {@code owner} declares, or null; in a class of the JDK,
     * only with this type. Class files may have several fields of one name.
     */
    static Field findStatic(Class<?> owner, String name, String descriptor) {
        Field named = null;
        for (Field field : statics(owner)) {
            if (field.getName().equals(name)) {
                if (descriptor(field.getType()).equals(descriptor)) {
                    return field;
                }
                named = field;
            }
        }
        return Classes.ofJdk(owner) ? null : named;
    }

    /** The static fields of {@code owner}; none if their types cannot be loaded. */
    static List<Field> statics(Class<?> owner) {
        return STATICS.get(owner);
    }

    private static List<Field> declaredStatics(Class<?> owner) {
        List<Field> found = new ArrayList<>();
        try {
            for (Field field : (Field[]) DECLARED_FIELDS.invokeExact(owner, false)) {
                if (Modifier.isStatic(field.getModifiers())) {
                    found.add(field);
                }
            }
            return found;
        } catch (LinkageError e) {
            return List.of();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A field that must exist, whatever its type. */
    static Slot need(Class<?> owner, String name) throws Hole {
        Slot slot = named(owner, name);
        if (slot == null) {
            throw new Hole("this JDK's " + owner.getName() + " has no field " + name);
        }
        return slot;
    }

    /** The fields that {@code owner} itself declares. */
    static List<Slot> declared(Class<?> owner) {
        List<Slot> slots = LAYOUTS.get(owner).slots;
        return slots == null ? List.of() : slots;
    }

    /** Copies all fields that {@code owner} and its superclasses declare. */
    static void copy(Object from, Object to, Class<?> owner) {
        // Reading fields that an object does not have would yield garbage.
        owner.cast(from);
        owner.cast(to);
        for (Class<?> type = owner; type != null; type = type.getSuperclass()) {
            for (Slot slot : declared(type)) {
                slot.put(to, slot.get(from));
            }
        }
    }

    private Slot find(String name, String descriptor) {
        if (slots == null) {
            return resolve(name, descriptor);
        }
        for (Slot slot : slots) {
            if (slot.name.equals(name) && descriptor(slot.type).equals(descriptor)) {
                return slot;
            }
        }
        return null;
    }

    /** Looks for a single field, so that the missing type of another one does no harm. */
    private Slot resolve(String name, String descriptor) {
        try {
            Class<?> type = MethodType.fromMethodDescriptorString(
                    "()" + descriptor, owner.getClassLoader()).returnType();
            return new Slot(name, type, Trusted.offset(owner, name, type));
        } catch (ReflectiveOperationException | TypeNotPresentException | LinkageError e) {
            return null;
        }
    }

    static String descriptor(Class<?> type) {
        return MethodType.methodType(type).toMethodDescriptorString().substring(2);
    }

    private static MethodHandle declaredFields() {
        try {
            return Trusted.LOOKUP.findVirtual(Class.class, "getDeclaredFields0",
                    MethodType.methodType(Field[].class, boolean.class));
        } catch (ReflectiveOperationException e) {
            throw new ReplayException("this JVM does not list the fields of a class", e);
        }
    }
}
