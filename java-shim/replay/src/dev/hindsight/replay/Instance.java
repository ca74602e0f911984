package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.Stored;

/**
 * A recorded object as a {@link Rule} sees it: its values at the entry of the frame, by name.
 *
 * <p>Names need no class: if a class hides a field of a superclass, the superclass's field, which
 * is the JDK's, comes first.
 */
final class Instance {
    final Restorer restorer;
    final int number;
    final Stored stored;
    final Type type;
    /** The values, with the frame's patch applied. */
    final Object[] values;

    Instance(Restorer restorer, int number, Stored stored, Type type, Object[] values) {
        this.restorer = restorer;
        this.number = number;
        this.stored = stored;
        this.type = type;
        this.values = values;
    }

    boolean has(String field) {
        return index(field) >= 0;
    }

    /** The untyped value of a field; null if it was not recorded. */
    Object value(String field) {
        int index = index(field);
        return index < 0 || index >= values.length ? null : values[index];
    }

    /** The object number in a field; -1 for null. */
    int reference(String field) {
        return Restorer.reference(value(field));
    }

    /** As {@link #reference}, but for the lowest class that has a field of this name. */
    int lowestReference(String field) {
        int index = type.info.fields.length - 1;
        while (index >= 0 && !type.info.fields[index].name.equals(field)) {
            index--;
        }
        return index < 0 || index >= values.length ? -1 : Restorer.reference(values[index]);
    }

    /** The number in a field, or {@code otherwise}. */
    long number(String field, long otherwise) {
        Object value = value(field);
        return value instanceof Long ? (Long) value : otherwise;
    }

    float real(String field, float otherwise) {
        Object value = value(field);
        return value instanceof Number ? ((Number) value).floatValue() : otherwise;
    }

    boolean flag(String field) {
        return Boolean.TRUE.equals(value(field));
    }

    /** The object in a field, or null if it is not an instance. */
    Instance object(String field) {
        return restorer.instance(reference(field));
    }

    /** The stored form of the object in a field, or null. */
    Stored stored(String field) {
        return restorer.stored(reference(field));
    }

    /** The string in a field, or null. */
    String text(String field) {
        return restorer.text(reference(field));
    }

    /** The string in a field. */
    String needText(String field) throws Hole {
        String text = text(field);
        if (text == null) {
            throw new Hole("its " + field + " was not stored");
        }
        return text;
    }

    /** The class in a field. */
    Class<?> needClass(String field) throws Hole {
        Stored stored = stored(field);
        if (stored == null || stored.kind != Stored.CLASS) {
            throw new Hole("its " + field + " was not stored");
        }
        return restorer.classNamed(stored.text());
    }

    /** The elements of the reference array in a field, empty if there is none. */
    Object[] elements(String field) {
        Stored stored = stored(field);
        return stored != null && stored.kind == Stored.REFERENCES
                ? stored.values() : new Object[0];
    }

    private int index(String field) {
        for (int i = 0; i < type.info.fields.length; i++) {
            if (type.info.fields[i].name.equals(field)) {
                return i;
            }
        }
        return -1;
    }
}
