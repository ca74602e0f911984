package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Static fields, and fields of enum constants, that have the values they had when the program was
 * recorded, until {@link #close} puts back what was there.
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
    /** Actions that restore the fields' values, in the order in which they were set. */
    private final List<Runnable> before = new ArrayList<>();

    private Statics() {}

    /**
     * Sets nothing. {@link #close} restores the present values of the static fields of some
     * classes, with the objects behind them, so that one test's changes do not reach another.
     *
     * @param test a class whose loader has the others
     * @param classes their binary names; those that do not exist or cannot be initialised are left
     *     out
     * @return the object whose closing restores them
     */
    public static Statics keep(Class<?> test, String... classes) {
        Statics kept = new Statics();
        StaticState state = new StaticState(kept.before);
        for (String name : classes) {
            try {
                Class<?> known = Classes.find(name, test.getClassLoader());
                Classes.initialize(known);
                state.add(known);
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                // The class's own test reports the reason, if it matters.
                continue;
            }
        }
        return kept;
    }

    /**
     * Sets, for good, the order in which {@code Set.of} and {@code Map.of} iterate; releases before
     * 17 draw otherwise.
     */
    static void order(long salt, boolean reverse) {
        try {
            Class<?> owner = Class.forName("java.util.ImmutableCollections");
            Setting[] settings = {
                Setting.of(owner.getDeclaredField("SALT32L")),
                Setting.of(owner.getDeclaredField("REVERSE"))
            };
            settings[0].value = salt;
            settings[1].value = reverse;
            for (Setting setting : settings) {
                setting.apply();
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            // It stays as the JVM has drawn it.
            return;
        }
    }

    /** Sets all fields. */
    Statics(List<Setting> settings) {
        for (Setting setting : settings) {
            before.add(setting.inverse()::apply);
            setting.apply();
        }
    }

    /** A field of the running JVM and a value for it. */
    static final class Setting {
        /** The object with the field. */
        final Object base;
        /** The class of a static field; null if it is one of an object. */
        final Class<?> owner;
        private final long offset;
        final Class<?> type;
        /** The static field, as {@code Class.field}; null if it is one of an object. */
        String field;
        Object value;

        private Setting(Object base, Class<?> owner, long offset, Class<?> type) {
            this.base = base;
            this.owner = owner;
            this.offset = offset;
            this.type = type;
        }

        /** The setting of a static field of an initialised class. */
        static Setting of(Field field) {
            return new Setting(Trusted.staticBase(field), field.getDeclaringClass(),
                    Trusted.staticOffset(field), field.getType());
        }

        /** The setting of an object's field. */
        static Setting of(Object object, Slot slot) {
            return new Setting(object, null, slot.offset, slot.type);
        }

        /** The setting of the field to its present value. */
        Setting inverse() {
            Setting inverse = new Setting(base, owner, offset, type);
            inverse.value = Trusted.get(base, offset, type);
            return inverse;
        }

        void apply() {
            Trusted.put(base, offset, type, value);
        }
    }

    /** Restores the values that all fields had before. */
    @Override
    public void close() {
        for (int i = before.size() - 1; i >= 0; i--) {
            before.get(i).run();
        }
        before.clear();
    }
}
