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
 * Fills the fields that a class has got since it was recorded, as a fix may bring, and fields whose
 * type has become one that cannot hold the recorded value.
 *
 * <p>Their values are known only from what the class itself does with them in a new object. So one
 * is made by a constructor whose arguments were all recorded, in fields of its parameters' types,
 * or else by one with one further argument, which is null or zero. The added fields are taken from
 * the new object, which is then dropped. With defaults in their place, a fixed program would fail
 * because of a null that cannot be there.
 */
final class AddedFields {
    /** The number of failures after which a constructor is not tried any more. */
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
            // The constructor with the most parameters is the best informed.
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
     * Fills the added fields of a restored object and those at the places {@code unheld}. Returns
     * whether a constructor could be called.
     */
    boolean fill(Instance instance, Object object, BitSet unheld) {
        return fill(instance, object, unheld, 0) || fill(instance, object, unheld, 1);
    }

    /** As above, with constructors that have this many arguments that were not recorded. */
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
                // It needs other arguments than the recorded ones.
                maker.failures++;
            }
        }
        return false;
    }

    /**
     * The recorded value of each parameter: by its name if the class file has it, else by type.
     * Null unless exactly {@code unknown} of them are missing, which are null or zero.
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
     * constructor has made in its place. Returns whether there is such a one.
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
            // It may be a recorded one, if the constructor was given it.
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
            // It is immutable, or refuses one of the elements.
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
            // The element pushed last is the last of a {@code Stack} and the first of the other.
            for (Object element : (Stack) recorded) {
                ((Deque) empty).push(element);
            }
        } else {
            ((Collection) empty).addAll((Collection) recorded);
        }
        return true;
    }

    /**
     * Adapts a value of a new object to the restored object: a reference to its owner becomes one
     * to the new owner.
     */
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
