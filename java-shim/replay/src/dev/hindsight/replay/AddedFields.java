package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Fields that a class has got since it was recorded, as a fix may well bring.
 *
 * <p>Nothing is known of their values but what the class itself does with them in a new object. So one
 * is made by a constructor that takes nothing but what was recorded, in fields of its parameters'
 * types; the added fields are taken over from it, and it is thrown away. With the default in their
 * place, a fixed program would stumble over a null where there can be none.
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

    /** Fills the added fields of a restored object; whether a constructor could be called. */
    boolean fill(Instance instance, Object object) {
        for (Maker maker : makers) {
            Object[] arguments =
                    maker.failures < MAX_FAILURES ? arguments(maker, instance, object) : null;
            if (arguments == null) {
                continue;
            }
            try {
                Object made = (Object) maker.handle.invoke(arguments);
                for (Slot slot : added) {
                    slot.put(object, adopt(slot.get(made), made, object));
                }
                return true;
            } catch (VirtualMachineError e) {
                throw e;
            } catch (Throwable e) {
                // It wants something else than what was recorded.
                maker.failures++;
            }
        }
        return false;
    }

    /** What was recorded for each parameter: by its name where the class file has it, else by type. */
    private static Object[] arguments(Maker maker, Instance instance, Object object) {
        Slot[] slots = instance.type.slots;
        boolean[] used = new boolean[slots.length];
        Object[] arguments = new Object[maker.parameters.length];
        for (int i = 0; i < arguments.length; i++) {
            Parameter parameter = maker.parameters[i];
            int best = -1;
            for (int at = 0; at < slots.length; at++) {
                if (slots[at] == null || used[at] || slots[at].type != parameter.getType()) {
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
            if (best < 0) {
                return null;
            }
            used[best] = true;
            arguments[i] = slots[best].get(object);
        }
        return arguments;
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
