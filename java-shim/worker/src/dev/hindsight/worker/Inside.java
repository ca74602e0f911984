package dev.hindsight.worker;

import java.lang.invoke.MethodHandles;

/** A class that is defined once more among the program's classes, so that it sees what they see. */
public final class Inside {
    private Inside() {}

    /** The lookup of code there, with all rights; it is only used to make lambdas. */
    public static MethodHandles.Lookup lookup() {
        return MethodHandles.lookup();
    }
}
