import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * An agent that has loaded the program's classes before any other agent is asked, retransforms them
 * when the program runs, and changes a class of the JDK.
 */
public class Early {
    private static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) throws Exception {
        instrumentation = given;
        if (arguments != null) {
            for (String name : arguments.split(";")) {
                Class.forName(name, false, ClassLoader.getSystemClassLoader());
            }
        }
        given.addTransformer(new Message(), true);
        given.retransformClasses(java.util.Optional.class, Thread.class);
        Thread.currentThread().setName("main");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("the agent was there")));
    }

    /** Called by nobody but {@code Again}. */
    public static void retransform(Class<?>... classes) throws Exception {
        instrumentation.retransformClasses(classes);
    }

    /** Turns a message of {@code Optional} into another one; gives everything else back as a copy. */
    static final class Message implements ClassFileTransformer {
        @Override
        public byte[] transform(
                ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] bytes) {
            byte[] copy = bytes.clone();
            if ("java/util/Optional".equals(name)) {
                byte[] old = "No value present".getBytes();
                byte[] other = "Nothing in there".getBytes();
                for (int i = 0; i + old.length <= copy.length; i++) {
                    if (java.util.Arrays.equals(copy, i, i + old.length, old, 0, old.length)) {
                        System.arraycopy(other, 0, copy, i, other.length);
                    }
                }
            }
            return copy;
        }
    }
}
