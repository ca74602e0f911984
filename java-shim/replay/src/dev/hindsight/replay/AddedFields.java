package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Stack;

/**
 * Fields that a class has got since it was recorded, as a fix may well bring, or whose type has
 * become another that cannot hold what was recorded.
 *
 * <p>Nothing is known of their values but what the class itself does with them in a new object. So one
 * is made by a constructor that takes nothing but what was recorded, in fields of its parameters'
 * types, or else of one that takes one thing more, which is null or zero; the added fields are taken over
 * from it, and it is thrown away. With the default in their place, a fixed program would stumble over a null
 * where there can be none.
 */
final class AddedFields {
    /** Failures after which a constructor is not tried any more. */
    private static final int MAX_FAILURES = 3;

    /** A constructor, and how often it failed. */
    private static final class Maker {
        final MethodHandle handle;
        final Parameter[] parameters;
        int failures;

        Maker(MethodHandle handle, Parameter[] parameters) {
            this.handle = handle;
            this.parameters = parameters;
        }
    }

    private final List<Slot> added;
    private final List<Maker> makers = new ArrayList<>();

    AddedFields(Class<?> running, List<Slot> added) {
        this.added = added;
        if (running.isEnum() || Modifier.isAbstract(running.getModifiers())) {
            return;
        }
        try {
            Constructor<?>[] all = running.getDeclaredConstructors();
            // The one that takes most knows best.
            Arrays.sort(all, Comparator.comparingInt(c -> -c.getParameterCount()));
            for (Constructor<?> constructor : all) {
                makers.add(new Maker(
                        Trusted.LOOKUP.unreflectConstructor(constructor)
                                .asFixedArity().asSpreader(Object[].class, constructor.getParameterCount()),
                        constructor.getParameters()));
            }
        } catch (IllegalAccessException | LinkageError e) {
            // The type of a parameter is not on the class path: its fields keep their defaults.
            makers.clear();
        }
    }

    /**
     * Fills the added fields of a restored object and those at the places {@code unheld}; whether a
     * constructor could be called.
     */
    boolean fill(Instance instance, Object object, BitSet unheld) {
        return fill(instance, object, unheld, 0) || fill(instance, object, unheld, 1);
    }

    /** The same with constructors that take so many arguments that were not recorded. */
    private boolean fill(Instance instance, Object object, BitSet unheld, int unknown) {
        for (Maker maker : makers) {
            Object[] arguments = maker.failures < MAX_FAILURES
                    ? arguments(maker, instance, object, unheld, unknown) : null;
            if (arguments == null) {
                continue;
            }
            try {
                Object made = (Object) maker.handle.invoke(arguments);
                for (Slot slot : added) {
                    slot.put(object, adopt(slot.get(made), made, object));
                }
                for (int i = unheld.nextSetBit(0); i >= 0; i = unheld.nextSetBit(i + 1)) {
                    Slot slot = instance.type.slots[i];
                    slot.put(object, adopt(slot.get(made), made, object));
                }
                return true;
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                // It wants something else than what was recorded.
                maker.failures++;
            }
        }
        return false;
    }

    /**
     * What was recorded for each parameter: by its name where the class file has it, else by type. Null if
     * there is nothing for more or fewer of them than {@code unknown}, which are null or zero.
     */
    private static Object[] arguments(
            Maker maker, Instance instance, Object object, BitSet unheld, int unknown) {
        int left = unknown;
        Slot[] slots = instance.type.slots;
        boolean[] used = new boolean[slots.length];
        Object[] arguments = new Object[maker.parameters.length];
        for (int i = 0; i < arguments.length; i++) {
            Parameter parameter = maker.parameters[i];
            int best = -1;
            for (int at = 0; at < slots.length; at++) {
                if (slots[at] == null || used[at] || unheld.get(at)
                        || slots[at].type != parameter.getType()) {
                    continue;
                }
                if (best < 0) {
                    best = at;
                }
                if (parameter.isNamePresent() && slots[at].name.equals(parameter.getName())) {
                    best = at;
                    break;
                }
            }
            if (best >= 0) {
                used[best] = true;
                arguments[i] = slots[best].get(object);
            } else if (--left < 0) {
                return null;
            } else {
                Class<?> type = parameter.getType();
                arguments[i] = type.isPrimitive() ? Primitives.zero(type) : null;
            }
        }
        return left == 0 ? arguments : null;
    }

    /**
     * Puts the elements of a recorded collection or map into the empty one of another type that a
     * constructor has made in its place; whether there is such a one.
     */
    boolean takeElements(Instance instance, Object object, int index) {
        Slot[] slots = instance.type.slots;
        if (slots[index].type.isPrimitive()
                || !Recorded.isReference(instance.type.info.fields[index].descriptor)) {
            return false;
        }
        Object recorded = instance.restorer.get(Restorer.reference(instance.values[index]));
        Object empty = slots[index].get(object);
        for (int i = 0; i < slots.length; i++) {
            // The constructor may have been given it, so that it is a recorded one.
            if (i != index && slots[i] != null && !slots[i].type.isPrimitive()
                    && slots[i].get(object) == empty) {
                return false;
            }
        }
        try {
            return take(recorded, empty);
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // It cannot be changed, or not take one of the elements.
            instance.restorer.note(instance.type.info.name, "field " + slots[index].name
                    + " is not complete: " + Classes.reason(e));
            return false;
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static boolean take(Object recorded, Object empty) {
        if (recorded instanceof Map && empty instanceof Map && ((Map) empty).isEmpty()) {
            ((Map) empty).putAll((Map) recorded);
            return true;
        }
        if (!(recorded instanceof Collection) || !(empty instanceof Collection)
                || !((Collection) empty).isEmpty()) {
            return false;
        }
        if (recorded instanceof Stack && empty instanceof Deque) {
            // What is pushed last is the last element of the one, and the first of the other.
            for (Object element : (Stack) recorded) {
                ((Deque) empty).push(element);
            }
        } else {
            ((Collection) empty).addAll((Collection) recorded);
        }
        return true;
    }

    /** A value of a new object, as one of the restored object: what refers to its owner, refers on. */
    private Object adopt(Object value, Object made, Object object) {
        if (value == made) {
            return object;
        }
        if (value != null && !value.getClass().isArray() && !Classes.ofJdk(value.getClass())) {
            for (Class<?> type = value.getClass(); type != null; type = type.getSuperclass()) {
                for (Slot slot : Layout.declared(type)) {
                    if (!slot.type.isPrimitive() && slot.get(value) == made) {
                        slot.put(value, object);
                    }
                }
            }
        }
        return value;
    }
}
