package dev.hindsight.replay;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What of a frame's state is not as it was recorded, and who is told of it. */
final class Notes {
    /** What was said of objects that another version of the program has otherwise. */
    static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final Set<String> holes = new LinkedHashSet<>();
    /** Those of them that are so because the program is another version. */
    private final Set<String> changed = new LinkedHashSet<>();
    /**
     * Classes of the program of which objects cannot be restored because the class path differs, and where the
     * first of each was.
     */
    private final Map<String, String> unrestored = new LinkedHashMap<>();

    void hole(String className, String reason) {
        holes.add(className + ": " + reason);
    }

    /** Notes what another version of the program has otherwise, and a test may fail of. */
    void changed(String className, String reason) {
        hole(className, reason);
        changed.add(className + ": " + reason);
    }

    /** Notes a class of the program of which an object cannot be restored. */
    void unrestored(String className, String where) {
        unrestored.putIfAbsent(className, where);
    }

    List<String> holes() {
        return List.copyOf(holes);
    }

    /** Tells of the state of {@code what} whoever runs the test. */
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
     * Fails if objects behind the arguments cannot be restored that could when the test was made: without them
     * it might pass while the bug is there. Of tests that were not run then it is told instead.
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

    /** Says to whom runs the tests of another version what its objects lack, each thing once. */
    private void tell() {
        for (String what : changed) {
            if (TOLD.add(what)) {
                System.err.println("hindsight: " + what);
            }
        }
    }
}
