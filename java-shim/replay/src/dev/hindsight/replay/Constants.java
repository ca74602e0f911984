package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.Stored;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * Objects that programs and the JDK compare by identity.
 *
 * <p>Those of the program are like {@code static final X NONE = new X() {...}}. A recording does
 * not say which objects static fields held. For an anonymous class it can be inferred: if a
 * constant of the enclosing class has that class, and one object of it was recorded, they are the
 * same. To the program a copy would be a different object.
 */
final class Constants {
    private Constants() {}

    /**
     * Registers the JDK's own: classes with one object, and values whose empty object is shared.
     */
    static void register() {
        only("java.util.Collections$EmptyList", Collections.emptyList());
        only("java.util.Collections$EmptySet", Collections.emptySet());
        only("java.util.Collections$EmptyMap", Collections.emptyMap());
        only("java.util.Collections$EmptyIterator", Collections.emptyIterator());
        only("java.util.Collections$EmptyListIterator", Collections.emptyListIterator());
        only("java.util.Collections$EmptyEnumeration", Collections.emptyEnumeration());
        only("java.util.Collections$ReverseComparator", Collections.reverseOrder());
        only("java.lang.String$CaseInsensitiveComparator", String.CASE_INSENSITIVE_ORDER);
        empty("java.util.Optional", Optional.empty(), i -> i.reference("value") < 0);
        empty("java.util.OptionalInt", OptionalInt.empty(), i -> !i.flag("isPresent"));
        empty("java.util.OptionalLong", OptionalLong.empty(), i -> !i.flag("isPresent"));
        empty("java.util.OptionalDouble", OptionalDouble.empty(), i -> !i.flag("isPresent"));
        empty("java.util.ImmutableCollections$ListN", List.of(),
                i -> isEmpty(i, "elements") && !i.flag("allowNulls"));
    }

    private static void only(String owner, Object constant) {
        Wholes.whole(owner, instance -> constant);
    }

    private static void empty(String owner, Object constant, Predicate<Instance> is) {
        Rules.register(new Partial(owner) {
            @Override
            Object create(Instance instance) throws Hole {
                if (!is.test(instance)) {
                    return super.create(instance);
                }
                instance.restorer.preset(instance.number, constant);
                return constant;
            }
        });
    }

    /** Whether the array of references in a field has no elements. */
    static boolean isEmpty(Instance instance, String array) {
        Stored stored = instance.stored(array);
        return stored != null && stored.kind == Stored.REFERENCES && stored.values().length == 0;
    }

    /** The running program's value of a static final field, if it is of this class; else null. */
    static Object of(Recorded.Constant recorded, Class<?> type, ClassLoader loader) {
        try {
            Class<?> owner = Classes.find(recorded.owner, loader);
            Classes.initialize(owner);
            for (Field field : Layout.statics(owner)) {
                if (field.getName().equals(recorded.name)
                        && Modifier.isFinal(field.getModifiers())
                        && !field.getType().isPrimitive()) {
                    Object value = Trusted.LOOKUP.unreflectGetter(field).invoke();
                    return value != null && value.getClass() == type ? value : null;
                }
            }
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // This is another version of the class, or one that cannot be initialised; the object
            // can be made instead.
            return null;
        }
        return null;
    }

    /** The running program's constant of this anonymous class, or null. */
    static Object of(Class<?> type) {
        if (!type.isAnonymousClass() || Classes.ofJdk(type)) {
            return null;
        }
        Object found = null;
        try {
            Classes.initialize(type.getEnclosingClass());
            for (Field field : type.getEnclosingClass().getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())
                        && Modifier.isFinal(field.getModifiers())
                        && field.getType().isAssignableFrom(type)) {
                    Object value = Trusted.LOOKUP.unreflectGetter(field).invoke();
                    if (value != null && value.getClass() == type && value != found) {
                        if (found != null) {
                            return null;
                        }
                        found = value;
                    }
                }
            }
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // The enclosing class cannot be initialised or read here; its object can be made
            // instead.
            return null;
        }
        return found;
    }

    /**
     * The constant of this name in an enum, given the enum's class or the class of one of its
     * constants.
     */
    static Object ofEnum(Class<?> type, String name) throws Hole {
        Class<?> running = type != null && !type.isEnum() ? type.getSuperclass() : type;
        if (running == null || !running.isEnum()) {
            throw new Hole("no longer an enum; " + Classes.DIFFERS, true);
        }
        Classes.initialize(running);
        for (Object constant : constants(running)) {
            if (((Enum<?>) constant).name().equals(name)) {
                return constant;
            }
        }
        throw new Hole("constant " + name + " is missing; " + Classes.DIFFERS, true);
    }

    /** The constants of an enum, whatever the name of its {@code values()}. */
    private static List<?> constants(Class<?> running) {
        Object[] all = running.getEnumConstants();
        if (all != null) {
            return Arrays.asList(all);
        }
        List<Object> constants = new ArrayList<>();
        for (Field field : Layout.statics(running)) {
            if (field.isEnumConstant() && field.getType() == running) {
                Object constant = Trusted.get(
                        Trusted.staticBase(field), Trusted.staticOffset(field), running);
                if (constant != null) {
                    constants.add(constant);
                }
            }
        }
        return constants;
    }

    /** An object of the JDK with which it compares others. */
    static Object ofJdk(String owner, String field) {
        return ofJdk(owner, field, Object.class);
    }

    /** As above, for a field of another type. */
    static Object ofJdk(String owner, String field, Class<?> type) {
        try {
            return Trusted.LOOKUP.findStaticGetter(Class.forName(owner), field, type).invoke();
        } catch (Throwable e) {
            // Releases without such an object do not compare either; null means the same there.
            return null;
        }
    }
}
