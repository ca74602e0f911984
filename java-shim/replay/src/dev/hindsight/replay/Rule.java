package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.FieldInfo;

/**
 * Restores instances of a JDK class for which their fields alone do not suffice.
 *
 * <p>An object is made in three steps, and all objects take one before any takes the next: {@link
 * #create} makes it, {@link #fill} writes what does not depend on the content of others, and {@link
 * #insert} does what depends on it (hashing). A subclass in the program has further fields, which
 * the {@link Restorer} writes; the rule covers {@link #owner} and its superclasses.
 */
abstract class Rule {
    /** The class for which the rule is registered. */
    final String owner;

    Rule(String owner) {
        this.owner = owner;
    }

    /** Whether {@link #create} returns the finished object, from its stored form alone. */
    boolean isWhole() {
        return false;
    }

    /** Whether a field that the rule covers is restored like any other. */
    boolean isRaw(FieldInfo field) {
        return false;
    }

    /** Adds the objects that the rule will need. */
    void children(Instance instance, Numbers out) {}

    /** Makes the object. */
    abstract Object create(Instance instance) throws Hole;

    /** Writes what does not need complete objects; all objects exist by now. */
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
