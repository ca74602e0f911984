package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.Patch;
import dev.hindsight.replay.Recorded.Stored;
import java.util.HashMap;
import java.util.Map;

/**
 * The recorded objects as they were at the entry of one frame: as at the failure, with the frame's
 * patch applied.
 */
final class AtEntry {
    private final CrashFile file;
    /** The objects that the patch changes. */
    private final Map<Integer, Stored> patched = new HashMap<>();

    AtEntry(CrashFile file) {
        this.file = file;
    }

    /** The object of this number, or null if it is not in the file. */
    Stored stored(int number) {
        Stored changed = patched.isEmpty() ? null : patched.get(number);
        return changed != null ? changed : file.object(number);
    }

    /** Restores an earlier value; false if there is no such place. */
    boolean apply(Patch patch) {
        Stored before = file.object(patch.object);
        ClassInfo info = before == null ? null : file.type(before.classId);
        if (info == null) {
            return false;
        } else if (before.kind == Stored.PRIMITIVES && patch.index >= 0) {
            byte[] bytes = (byte[]) patched(patch.object, before).body;
            return RecordedArrays.put(bytes, patch.index, patch.descriptor, patch.value);
        }
        int index = patch.index;
        if (before.kind == Stored.INSTANCE || before.kind == Stored.ENUM) {
            index = index >= 0 ? -1 : info.index(patch.owner, patch.field, patch.descriptor);
        } else if (before.kind != Stored.REFERENCES) {
            return false;
        }
        if (index < 0 || index >= before.values().length) {
            return false;
        }
        patched(patch.object, before).values()[index] = patch.value;
        return true;
    }

    private Stored patched(int number, Stored before) {
        return patched.computeIfAbsent(number, n -> before.copy());
    }
}
