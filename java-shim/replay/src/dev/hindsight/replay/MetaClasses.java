package dev.hindsight.replay;

/**
 * What Groovy keeps behind each of its objects: the methods of its class as Groovy calls them.
 *
 * <p>Recordings leave it out, for it is the same for all objects of a class and leads to all of Groovy.
 * Groovy's own registry has the running one.
 */
final class MetaClasses {
    static final String NAME = "groovy.lang.MetaClass";

    private MetaClasses() {}

    /** Groovy's meta class of a class, as Groovy's runtime beside {@code type} gives it; null if it does not. */
    static Object of(Class<?> owner, Class<?> type) {
        try {
            return Class.forName("org.codehaus.groovy.runtime.InvokerHelper", true, type.getClassLoader())
                    .getMethod("getMetaClass", Class.class).invoke(null, owner);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            // Objects that have none ask for it themselves, most of them.
            return null;
        }
    }
}
