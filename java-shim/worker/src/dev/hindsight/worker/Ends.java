package dev.hindsight.worker;

import java.lang.reflect.Field;
import java.util.Set;

/**
 * The end from which immutable sets and maps list their elements. Each JVM draws it at random, so
 * two of them may agree by chance on what is asserted, while a third does not.
 */
final class Ends {
    private Ends() {}

    /**
     * Makes them begin at the end that the property {@code hindsight.backwards} gives, if the JDK
     * allows it. It must be called before any code of theirs is compiled.
     */
    static void choose() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            Object it = instance.get(null);
            // Their initialisation makes the JVM draw.
            Field drawn = Set.of(1, 2).getClass().getEnclosingClass().getDeclaredField("REVERSE");
            Object base = unsafe.getMethod("staticFieldBase", Field.class).invoke(it, drawn);
            Object offset = unsafe.getMethod("staticFieldOffset", Field.class).invoke(it, drawn);
            unsafe.getMethod("putBoolean", Object.class, long.class, boolean.class)
                    .invoke(it, base, offset, Boolean.getBoolean("hindsight.backwards"));
        } catch (ReflectiveOperationException | RuntimeException e) {
            // It stays as drawn.
        }
    }
}
