package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.FieldInfo;

/**
 * How instances of a JDK class are restored where their fields alone would not do.
 *
 * <p>An object comes to be in three steps, and all objects take one before any takes the next:
 * {@link #create} makes it, {@link #fill} writes what does not depend on the content of others, and
 * {@link #insert} does what does (hashing). A subclass in the program has further fields, which the
 * {@link Restorer} writes; the rule covers {@link #owner} and its superclasses.
 */
abstract class Rule {
    /** The class that the rule is registered for. */
    final String owner;

    Rule(String owner) {
        this.owner = owner;
    }

    /** Whether {@link #create} gives the finished object, from what is stored of it alone. */
    boolean isWhole() {
        return false;
    }

    /** Whether a field that the rule covers is restored like any other. */
    boolean isRaw(FieldInfo field) {
        return false;
    }

    /** Adds the objects that the rule will ask for. */
    void children(Instance instance, Numbers out) {}

    /** Makes the object. */
    abstract Object create(Instance instance) throws Hole;

    /** Writes what needs no complete objects; all exist. */
    void fill(Instance instance, Object object) throws Hole {}

    /** Whether {@link #insert} is to be called. */
    boolean inserts() {
        return false;
    }

    /**
     * Inserts elements into a hash table.
     *
     * @return the keys whose hash codes may still change, or null if there are none
     */
    Object[] insert(Instance instance, Object object) throws Hole {
        return null;
    }
}
