package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.Lambda;
import dev.hindsight.replay.Recorded.Stored;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Fills the objects that a {@link Restorer} has made: first fields and elements; then the entries
 * of hash tables, inner ones first; then fields that the recorded classes did not have.
 */
final class Filler {
    private static final BitSet NO_FIELDS = new BitSet();
    /**
     * The most rounds of filling: hash codes that depend on tables in a cycle settle in a round or
     * two, or never.
     */
    private static final int ROUNDS = 4;

    private final Restorer restorer;
    private final Numbers order;
    private final RedactedKeys redactedKeys;
    /**
     * By object, the places of fields whose type has changed and cannot hold the recorded value.
     */
    private final Map<Integer, BitSet> unheld = new HashMap<>();

    Filler(Restorer restorer, RedactedKeys redactedKeys) {
        this.restorer = restorer;
        this.order = restorer.order;
        this.redactedKeys = redactedKeys;
    }

    void fill() {
        fillAll();
        insertAll();
        fillAdded();
    }

    private Object get(int number) {
        return restorer.get(number);
    }

    private void note(int number, String reason) {
        restorer.note(restorer.className(number), reason);
    }

    private void fillAll() {
        for (int i = 0; i < order.size(); i++) {
            int number = order.get(i);
            if (get(number) != null && !restorer.isPreset(number)) {
                try {
                    fill(number, restorer.stored(number), get(number));
                } catch (Hole hole) {
                    note(number, hole.getMessage());
                } catch (OutOfMemoryError e) {
                    throw e;
                } catch (Throwable e) {
                    note(number, "not complete: " + Classes.reason(e));
                }
            }
        }
    }

    /** Fills the added fields, after all else because constructors of the program run here. */
    private void fillAdded() {
        for (int i = 0; i < order.size(); i++) {
            Instance instance = get(order.get(i)) == null ? null : restorer.instance(order.get(i));
            if (instance == null || restorer.isPreset(instance.number)) {
                continue;
            }
            BitSet fields = unheld.getOrDefault(instance.number, NO_FIELDS);
            if (!instance.type.added.isEmpty() || !fields.isEmpty()) {
                instance.type.fillAdded(instance, get(instance.number), fields);
            }
        }
    }

    private void fill(int number, Stored stored, Object object) throws Hole {
        if (stored.kind == Stored.REFERENCES) {
            String className = restorer.className(number);
            RecordedArrays.fill(restorer, stored.values(), (Object[]) object, className);
        } else if (stored.kind == Stored.LAMBDA) {
            Lambdas.fill(restorer, (Lambda) stored.body, object);
        } else if (stored.kind == Stored.INSTANCE) {
            Instance instance = restorer.instance(number);
            if (instance.type.info.kind == ClassInfo.PROXY) {
                Proxies.fill(object, get(instance.reference("h")));
                return;
            }
            for (int i = 0; i < instance.values.length; i++) {
                if (instance.type.isRetyped(i)) {
                    writeConverted(object, instance, i);
                } else if (instance.type.slots[i] != null) {
                    write(object, instance.type.slots[i], instance.values[i], instance.type);
                }
            }
            if (instance.type.rule != null) {
                instance.type.rule.fill(instance, object);
            }
        }
    }

    private void writeConverted(Object object, Instance instance, int index) {
        Slot slot = instance.type.slots[index];
        Object value = restorer.converted(
                instance.values[index], instance.type.info.fields[index].descriptor, slot.type);
        if (value != Restorer.UNHELD) {
            slot.put(object, value);
        } else {
            unheld.computeIfAbsent(instance.number, n -> new BitSet()).set(index);
        }
    }

    private void write(Object object, Slot slot, Object value, Type type) {
        if (slot.type.isPrimitive()) {
            Object primitive = Primitives.convert(value, slot.type);
            if (primitive != null) {
                slot.put(object, primitive);
            } else {
                restorer.note(type.info.name, "field " + slot.name + " was not stored");
            }
            return;
        }
        Object target = get(Restorer.reference(value));
        if (target == null && slot.type.getName().equals(MetaClasses.NAME)) {
            target = MetaClasses.of(object.getClass(), slot.type);
        }
        if (target == null || slot.type.isInstance(target)) {
            slot.put(object, target);
        } else {
            restorer.note(type.info.name, "field " + slot.name + " cannot hold a "
                    + target.getClass().getName());
        }
    }

    private void insertAll() {
        Map<Integer, int[]> hashes = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            if (redactedKeys.unsorted(order.get(i))) {
                sort(order.get(i));
            }
            insert(order.get(i), hashes);
        }
        // In a cycle, a key's hash code may depend on a table that is filled after the key's own
        // table.
        boolean changed = !hashes.isEmpty();
        for (int round = 0; changed && round < ROUNDS; round++) {
            changed = false;
            for (int i = 0; i < order.size(); i++) {
                int[] before = hashes.get(order.get(i));
                if (before != null) {
                    insert(order.get(i), hashes);
                    changed |= !Arrays.equals(before, hashes.get(order.get(i)));
                }
            }
        }
    }

    private void sort(int number) {
        try {
            RedactedKeys.sort(get(number));
        } catch (Hole hole) {
            note(number, hole.getMessage());
        }
    }

    private void insert(int number, Map<Integer, int[]> hashes) {
        Object object = get(number);
        if (object == null || restorer.isPreset(number)
                || restorer.stored(number).kind != Stored.INSTANCE) {
            return;
        }
        Instance instance = restorer.instance(number);
        if (instance.type.rule == null || !instance.type.rule.inserts()) {
            return;
        }
        try {
            Object[] keys = instance.type.rule.insert(instance, object);
            if (keys != null) {
                hashes.put(number, HashTables.hashes(keys));
            }
        } catch (Hole hole) {
            note(number, hole.getMessage());
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            note(number, "not complete: " + Classes.reason(e));
        }
    }
}
