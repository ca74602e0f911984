package dev.hindsight.replay;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Static fields that have the values they had at the failure, until {@link #close} puts back what was
 * there.
 *
 * <pre>{@code
 * Frame frame = Crash.of(ParserTest.class, "crash-0001.hsc").withStatics().frame(0);
 * try (Statics statics = frame.setStatics()) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Final fields are set too, which works as long as the code that reads them is not compiled with
 * their values in it; tests run few rounds.
 */
public final class Statics implements AutoCloseable {
    private final List<Place> places = new ArrayList<>();

    Statics() {}

    /** A static field of the running JVM. */
    private static final class Place {
        final Object base;
        final long offset;
        final Class<?> type;
        final Object before;

        Place(Field field) {
            base = Trusted.staticBase(field);
            offset = Trusted.staticOffset(field);
            type = field.getType();
            before = Trusted.get(base, offset, type);
        }

        void put(Object value) {
            Trusted.put(base, offset, type, value);
        }
    }

    /** Sets a field of an initialised class. */
    void set(Field field, Object value) {
        Place place = new Place(field);
        places.add(place);
        place.put(value);
    }

    /** Gives all fields the values that they had before. */
    @Override
    public void close() {
        for (int i = places.size() - 1; i >= 0; i--) {
            Place place = places.get(i);
            place.put(place.before);
        }
        places.clear();
    }
}
