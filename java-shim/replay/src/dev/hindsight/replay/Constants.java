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
 * <p>Of the program: {@code static final X NONE = new X() {...}}. A recording does not say which objects static fields held. Of an anonymous class it can be told: if
 * a constant of the class around it has that class, and one object of it was recorded, they are the
 * same. A copy would be something else to the program.
 */
final class Constants {
    private Constants() {}

    /** The JDK's own: classes with one object, and values whose empty one is shared. */
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

    /** What the running program has in a static final field, if that is of this class; else null. */
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
            // Another version of the class, or one that cannot be initialised: the object can be made.
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
            // The class around it cannot be initialised or read here; its object can be made.
            return null;
        }
        return found;
    }

    /** The constant of this name in an enum, of which this is the class, or that of one of its constants. */
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

    /** The constants of an enum, whatever its {@code values()} is called. */
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

    /** An object of the JDK's own, which it compares others with. */
    static Object ofJdk(String owner, String field) {
        return ofJdk(owner, field, Object.class);
    }

    /** The same of a field that has another type. */
    static Object ofJdk(String owner, String field, Class<?> type) {
        try {
            return Trusted.LOOKUP.findStaticGetter(Class.forName(owner), field, type).invoke();
        } catch (Throwable e) {
            // Releases that have no such object do not compare either; null means the same.
            return null;
        }
    }
}
