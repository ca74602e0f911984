package dev.hindsight.replay;

/**
 * The meta class behind each Groovy object, through which Groovy calls the methods of its class.
 *
 * <p>Recordings leave it out, because it is the same for all objects of a class and leads to all of
 * Groovy. Groovy's own registry has the running one.
 */
final class MetaClasses {
    static final String NAME = "groovy.lang.MetaClass";

    private MetaClasses() {}

    /**
     * Groovy's meta class of a class, from the Groovy runtime beside {@code type}; null if there is
     * none.
     */
    static Object of(Class<?> owner, Class<?> type) {
        try {
            return Class.forName("org.codehaus.groovy.runtime.InvokerHelper", true, type.getClassLoader())
                    .getMethod("getMetaClass", Class.class).invoke(null, owner);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            // Most objects without one ask for it themselves.
            return null;
        }
    }
}
