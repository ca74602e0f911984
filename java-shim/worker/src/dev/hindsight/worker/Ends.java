package dev.hindsight.worker;

import java.lang.reflect.Field;
import java.util.Set;

/**
 * The end from which sets and maps that cannot change tell their elements. Each JVM draws it, so that two of them may
 * agree by chance on what is asserted, and a third one does not.
 */
final class Ends {
    private Ends() {}

    /**
     * Has them begin at the end that the property {@code hindsight.backwards} says, where the JDK allows it; to be
     * called before anything of them is compiled.
     */
    static void choose() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            Object it = instance.get(null);
            // That they are there makes the JVM draw.
            Field drawn = Set.of(1, 2).getClass().getEnclosingClass().getDeclaredField("REVERSE");
            Object base = unsafe.getMethod("staticFieldBase", Field.class).invoke(it, drawn);
            Object offset = unsafe.getMethod("staticFieldOffset", Field.class).invoke(it, drawn);
            unsafe.getMethod("putBoolean", Object.class, long.class, boolean.class)
                    .invoke(it, base, offset, Boolean.getBoolean("hindsight.backwards"));
        } catch (ReflectiveOperationException | RuntimeException e) {
            // It is as it was drawn.
        }
    }
}
