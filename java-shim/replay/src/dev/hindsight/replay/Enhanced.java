package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.FieldInfo;
import dev.hindsight.replay.Recorded.Stored;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Stands in for objects of classes that frameworks make at run time as subclasses of the program's:
 * proxies around a bean, or enhanced classes. No other JVM has such a class; but the crash file has
 * the object that it wraps, or its own fields.
 */
final class Enhanced {
    /** The note about objects that nothing can replace. */
    static final String LOST =
            "a framework has made its class at run time, and the object that it goes round was not recorded";
    /** The note about objects that another object replaces. */
    static final String STOOD_FOR = "a framework has made its class at run time; an object of its superclass"
            + " stands for it, so that what the framework does around calls is left out";

    /**
     * Marks of Spring, CGLIB, Hibernate, Byte Buddy and Javassist in names. Mocks are not among
     * them: a mock must not become what it mocks.
     */
    private static final String[] MARKS = {
        "$$SpringCGLIB$$", "$$EnhancerBy", "$HibernateProxy$", "$ByteBuddy$", "_$$_jvst",
    };
    /** Spring's target is four fields away: callback, advised, target source, target. */
    private static final int MAX_DEPTH = 4;
    private static final int MAX_SEEN = 2000;

    private Enhanced() {}

    static boolean isNamed(String className) {
        for (String mark : MARKS) {
            if (className.contains(mark)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The number of the object that an object of such a class wraps, or -1. It is the nearest one,
     * reached through the fields that this class declares, that has the superclass, or a subclass
     * of that and is in a field named {@code target}.
     */
    static int target(Restorer restorer, int number, ClassInfo info) {
        Set<Integer> seen = new HashSet<>(List.of(number));
        Numbers reached = new Numbers();
        reached.add(number);
        for (int depth = 0; depth < MAX_DEPTH; depth++) {
            Numbers next = new Numbers();
            for (int i = 0; i < reached.size(); i++) {
                Stored stored = restorer.stored(reached.get(i));
                ClassInfo holder = restorer.file.type(stored.classId);
                Object[] values = holder == null ? new Object[0] : stored.values();
                for (int at = 0; at < values.length && at < holder.fields.length; at++) {
                    FieldInfo field = holder.fields[at];
                    int found = Recorded.isReference(field.descriptor)
                            ? Restorer.reference(values[at]) : -1;
                    boolean declared = depth > 0 || field.owner.equals(info.name);
                    Stored value = found < 0 || !declared ? null : restorer.stored(found);
                    ClassInfo known = value == null || value.kind != Stored.INSTANCE
                            ? null : restorer.file.type(value.classId);
                    if (known == null || seen.size() >= MAX_SEEN || !seen.add(found)) {
                        continue;
                    } else if (known.name.equals(info.supers[0]) || field.name.equals("target")
                            && Arrays.asList(known.supers).contains(info.supers[0])) {
                        return found;
                    }
                    next.add(found);
                }
            }
            reached = next;
        }
        return -1;
    }

    /**
     * Whether fields that the program declares have values; then the object does not wrap another
     * one.
     */
    static boolean hasState(Stored stored, ClassInfo info) {
        Object[] values = stored.values();
        for (int i = 0; i < values.length && i < info.fields.length; i++) {
            Object value = values[i];
            boolean isDefault = value == null || value.equals(false)
                    || value instanceof Number && ((Number) value).doubleValue() == 0
                            && !Recorded.isReference(info.fields[i].descriptor);
            if (!isDefault && !info.fields[i].owner.equals(info.name)) {
                return true;
            }
        }
        return false;
    }
}
