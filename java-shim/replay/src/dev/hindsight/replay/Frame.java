package dev.hindsight.replay;

import java.util.List;
import java.util.Map;

/** A recorded method call: its receiver and arguments as they were at entry. */
public final class Frame {
    private final String what;
    private final Map<Integer, Object> values;
    private final Map<Integer, String> failed;
    private final List<String> holes;
    /**
     * All objects by number. This keeps alive the objects that only weak references lead to, which
     * were alive when they were recorded.
     */
    private final Object[] objects;
    /**
     * The settings of static fields and of fields of enum constants; null unless they were asked
     * for.
     */
    private final List<Statics.Setting> statics;

    Frame(
            String what, Map<Integer, Object> values, Map<Integer, String> failed,
            List<String> holes, Object[] objects, List<Statics.Setting> statics) {
        this.what = what;
        this.values = values;
        this.failed = failed;
        this.holes = holes;
        this.objects = objects;
        this.statics = statics;
    }

    static Frame restore(CrashFile file, int index, ClassLoader loader) {
        return restore(file, index, loader, false);
    }

    static Frame restore(CrashFile file, int index, ClassLoader loader, boolean statics) {
        try {
            return Restorer.frame(file, index, loader, statics);
        } catch (Throwable e) {
            throw ReplayException.of("frame " + index + " of " + file.name, e);
        }
    }

    /**
     * Gives static fields the values that they had at the failure, and fields of enum constants that
     * the arguments lead to those at the entry of this frame. Those that the crash file does not have,
     * or that are not there any more, keep theirs.
     *
     * @return what puts back the values that the fields have now
     * @throws ReplayException if the frame is not one of {@link Crash#withStatics}
     */
    public Statics setStatics() {
        if (statics == null) {
            throw new ReplayException(what + " was restored without static fields: ask "
                    + "Crash.withStatics() for the frame");
        }
        try {
            return new Statics(statics);
        } catch (Throwable e) {
            throw ReplayException.of("static fields of " + what, e);
        }
    }

    /** Compares the static fields of this JVM with the recorded ones. */
    Lacking lacking() {
        return new Lacking(statics);
    }

    /**
     * The object whose method was called.
     *
     * @param <T> its class, or what the caller knows of it
     * @return the receiver, never null
     * @throws ReplayException if the method is static, or the object could not be restored
     */
    public <T> T receiver() {
        T receiver = argument(0);
        if (receiver == null) {
            throw new ReplayException("the receiver of " + what + " could not be restored; holes: "
                    + holes);
        }
        return receiver;
    }

    /**
     * An argument.
     *
     * @param <T> its type; the box of a primitive one
     * @param index its number; parameters count from 1, 0 is the receiver
     * @return its value; null too if it is one of the {@link #holes}
     * @throws ReplayException if it was not recorded, or its class is missing or another one
     */
    public <T> T argument(int index) {
        String reason = failed.get(index);
        if (reason != null) {
            throw new ReplayException(
                    (index == 0 ? "the receiver" : "argument " + index) + " of " + what
                            + " cannot be restored: " + reason);
        }
        if (!values.containsKey(index)) {
            throw new ReplayException(what + " was recorded without "
                    + (index == 0 ? "a receiver" : "an argument " + index));
        }
        @SuppressWarnings("unchecked")
        T value = (T) values.get(index);
        return value;
    }

    /**
     * What could not be restored of the objects that the arguments lead to.
     *
     * @return one line each, class and reason: {@code java.lang.Thread: thread}
     */
    public List<String> holes() {
        return holes;
    }

    /** The object of this number; null if it is a hole or the arguments do not lead to it. */
    Object object(int number) {
        return number >= 0 && number < objects.length ? objects[number] : null;
    }

    /** The number of an object, or -1. */
    int number(Object object) {
        for (int i = 0; i < objects.length; i++) {
            if (object != null && objects[i] == object) {
                return i;
            }
        }
        return -1;
    }
}
