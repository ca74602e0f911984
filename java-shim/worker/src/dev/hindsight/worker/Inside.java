package dev.hindsight.worker;

import java.lang.invoke.MethodHandles;

/** Is defined once more among the program's classes, and sees what they see. */
public final class Inside {
    private Inside() {}

    /** What code there may look up, with all rights: lambdas are made for that alone. */
    public static MethodHandles.Lookup lookup() {
        return MethodHandles.lookup();
    }
}
