package dev.hindsight.replay;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Collects how a frame's state differs from the recorded one, and reports it. */
final class Notes {
    /** The reports about objects that differ in another version of the program, each made once. */
    static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final Set<String> holes = new LinkedHashSet<>();
    /** The differences that come from another version of the program. */
    private final Set<String> changed = new LinkedHashSet<>();
    /**
     * The classes of the program whose objects cannot be restored because the class path differs,
     * each with the place of the first object.
     */
    private final Map<String, String> unrestored = new LinkedHashMap<>();

    void hole(String className, String reason) {
        holes.add(className + ": " + reason);
    }

    /** Notes a difference from another version of the program, of which a test may fail. */
    void changed(String className, String reason) {
        hole(className, reason);
        changed.add(className + ": " + reason);
    }

    /** Notes a class of the program whose object cannot be restored. */
    void unrestored(String className, String where) {
        unrestored.putIfAbsent(className, where);
    }

    List<String> holes() {
        return List.copyOf(holes);
    }

    /** Reports the state of {@code what} to whoever runs the test. */
    void tell(String what, CrashFile file) {
        if (Runner.isRunning()) {
            Runner.report(holes());
            Runner.unrestored(unrestored.keySet());
        } else {
            refuse(what, file);
            tell();
        }
    }

    /**
     * Fails if objects behind the arguments cannot be restored that could when the test was made:
     * without them the test might pass although the bug is there. For tests that were not run at
     * that time it only reports them.
     */
    private void refuse(String what, CrashFile file) {
        for (Map.Entry<String, String> entry : unrestored.entrySet()) {
            String of = entry.getKey() + entry.getValue();
            if (file.unrestored == null) {
                changed.add(of);
            } else if (!file.unrestored.contains(entry.getKey())) {
                throw new ReplayException("the state of " + what + " cannot be restored: " + of);
            }
        }
    }

    /** Prints what objects lack in another version of the program, each thing once. */
    private void tell() {
        for (String what : changed) {
            if (TOLD.add(what)) {
                System.err.println("hindsight: " + what);
            }
        }
    }
}
