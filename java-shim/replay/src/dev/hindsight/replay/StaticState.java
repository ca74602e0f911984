package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * The present static state of some classes: their static fields, and the fields and elements of all
 * objects that these lead to, as actions that restore them.
 *
 * <p>Objects keep their identity. Of the JDK's objects, collections and those that hold single
 * values are restored; threads, locks, loaders, files and the like are left as they are.
 */
final class StaticState {
    /** The most objects that are remembered; what lies behind them is left as it is. */
    private static final int MAX_OBJECTS = 100_000;
    /** Packages of {@code java.util} that hold more than values. */
    private static final List<String> LEFT = List.of(
            "java.util.logging.", "java.util.zip.", "java.util.jar.", "java.util.prefs.",
            "java.util.concurrent.locks.", "java.util.Timer", "java.util.ServiceLoader",
            "java.util.ResourceBundle");

    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> pending = new ArrayDeque<>();
    private final List<Runnable> undo;

    /** Adds to {@code undo} the actions that restore the state. */
    StaticState(List<Runnable> undo) {
        this.undo = undo;
    }

    /** Remembers the state of an initialised class, and of what it leads to. */
    void add(Class<?> owner) {
        for (Field field : Layout.statics(owner)) {
            boolean constant = Modifier.isFinal(field.getModifiers());
            if (constant && field.getType().isPrimitive()) {
                continue;
            }
            Statics.Setting setting = Statics.Setting.of(field).inverse();
            if (!constant) {
                undo.add(setting::apply);
            }
            found(field.getType(), setting.value);
        }
        while (!pending.isEmpty()) {
            enter(pending.removeLast());
        }
    }

    private void found(Class<?> type, Object value) {
        if (value != null && !type.isPrimitive() && seen.size() < MAX_OBJECTS && seen.add(value)) {
            pending.add(value);
        }
    }

    private void enter(Object object) {
        Class<?> type = object.getClass();
        if (type.isArray()) {
            int length = Array.getLength(object);
            Object copy = Array.newInstance(type.getComponentType(), length);
            System.arraycopy(object, 0, copy, 0, length);
            undo.add(() -> System.arraycopy(copy, 0, object, 0, length));
            for (int i = 0; copy instanceof Object[] && i < length; i++) {
                found(type.getComponentType(), ((Object[]) copy)[i]);
            }
        } else if (!isLeft(object)) {
            for (Class<?> part = type; part != null; part = part.getSuperclass()) {
                if (isState(part)) {
                    fields(object, part);
                }
            }
        }
    }

    private void fields(Object object, Class<?> part) {
        for (Slot slot : Layout.declared(part)) {
            Statics.Setting setting = Statics.Setting.of(object, slot).inverse();
            undo.add(setting::apply);
            found(slot.type, setting.value);
        }
    }

    private static boolean isLeft(Object object) {
        return object instanceof Thread || object instanceof ClassLoader || object instanceof Executor
                || object instanceof Throwable || object instanceof Class;
    }

    /** Whether the fields that a class declares are state of the program. */
    private static boolean isState(Class<?> part) {
        if (!Classes.ofJdk(part)) {
            return true;
        }
        String name = part.getName();
        return name.startsWith("java.lang.StringBu") || name.equals("java.lang.AbstractStringBuilder")
                || name.startsWith("java.util.") && LEFT.stream().noneMatch(name::startsWith);
    }
}
