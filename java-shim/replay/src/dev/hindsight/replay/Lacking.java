package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Statics.Setting;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether a static field lacks what was recorded: it is null where something was, its collection has
 * fewer elements, or some object of the program behind it has such a field or element.
 *
 * <p>Of the field itself another value counts, too; of numbers behind it none does, for these may well be
 * what a program counts.
 */
final class Lacking {
    /** Pairs of objects that are compared; what lies behind them is not known. */
    private static final int MAX_PAIRS = 10_000;

    /** What the recorded state of constants sets in them, for they stand for the recorded ones. */
    private final Map<Object, List<Setting>> constants;
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object[]> work = new ArrayDeque<>();
    private boolean found;

    private Lacking(Map<Object, List<Setting>> constants) {
        this.constants = constants;
    }

    /** The static fields, as {@code Class.field}, that lack what would be set. */
    static List<String> of(List<Setting> settings) {
        Map<Object, List<Setting>> constants = new IdentityHashMap<>();
        for (Setting setting : settings) {
            if (setting.field == null) {
                constants.computeIfAbsent(setting.base, key -> new ArrayList<>()).add(setting);
            }
        }
        List<String> lacking = new ArrayList<>();
        for (Setting setting : settings) {
            if (setting.field != null && is(setting.inverse().value, setting.value, constants)) {
                lacking.add(setting.field);
            }
        }
        return lacking;
    }

    private static boolean is(
            Object here, Object recorded, Map<Object, List<Setting>> constants) {
        if (here != null && recorded != null && isAnother(here, recorded)) {
            return true;
        }
        Lacking lacking = new Lacking(constants);
        lacking.push(here, recorded);
        while (!lacking.found && !lacking.work.isEmpty()) {
            Object[] pair = lacking.work.removeLast();
            lacking.parts(pair[0], pair[1]);
        }
        return lacking.found;
    }

    /** Whether a value is another one; not of what holds others, nor of lambdas, which have no names. */
    private static boolean isAnother(Object here, Object recorded) {
        if (size(recorded) >= 0 || recorded.getClass().isSynthetic()) {
            return false;
        }
        return here.getClass() != recorded.getClass() || isAtom(recorded) && !here.equals(recorded);
    }

    private void push(Object here, Object recorded) {
        if (recorded == null || here == recorded && !constants.containsKey(here)) {
            return;
        }
        found |= here == null;
        if (!found && seen.size() < MAX_PAIRS && seen.add(recorded)) {
            work.add(new Object[] {here, recorded});
        }
    }

    private void parts(Object here, Object recorded) {
        if (here == recorded) {
            for (Setting setting : constants.get(here)) {
                if (!setting.type.isPrimitive()) {
                    push(setting.inverse().value, setting.value);
                }
            }
            return;
        }
        int now = size(here);
        int then = size(recorded);
        if (now >= 0 && then >= 0) {
            found = now < then;
            if (!found && here instanceof Object[] && recorded instanceof Object[]) {
                for (int i = 0; i < then; i++) {
                    push(((Object[]) here)[i], ((Object[]) recorded)[i]);
                }
            }
        } else if (here.getClass() == recorded.getClass()) {
            if (recorded instanceof AtomicReference) {
                push(((AtomicReference<?>) here).get(), ((AtomicReference<?>) recorded).get());
            }
            Class<?> type = recorded.getClass();
            while (type != null && !Classes.ofJdk(type)) {
                for (Slot slot : Layout.declared(type)) {
                    if (!slot.type.isPrimitive()) {
                        push(slot.get(here), slot.get(recorded));
                    }
                }
                type = type.getSuperclass();
            }
        }
    }

    /** How much an array of references, or a collection of the JDK, holds; -1 of what is neither. */
    private static int size(Object holder) {
        if (holder instanceof Object[]) {
            return ((Object[]) holder).length;
        } else if (!Classes.ofJdk(holder.getClass())) {
            return -1;
        } else if (holder instanceof Map) {
            return ((Map<?, ?>) holder).size();
        }
        return holder instanceof Collection ? ((Collection<?>) holder).size() : -1;
    }

    /** Whether an object is told by its value alone. */
    private static boolean isAtom(Object value) {
        return value instanceof String || value instanceof Enum || value instanceof Class
                || Primitives.unboxed(value.getClass()) != null;
    }
}
