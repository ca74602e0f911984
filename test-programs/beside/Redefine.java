import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;

/** An agent that redefines {@code Changing}, and keeps what it looked like to transformers. */
public class Redefine {
    private static Instrumentation instrumentation;
    private static Path second;
    private static volatile byte[] seen;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
        second = Path.of(arguments);
        given.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] bytes) {
                        if ("Changing".equals(name)) {
                            seen = bytes.clone();
                        }
                        return null;
                    }
                },
                true);
    }

    static void toSecondVersion() throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(changing(), Files.readAllBytes(second)));
    }

    /** As tools do that build on what a transformer was given last. */
    static void toWhatTransformersSaw() throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(changing(), seen));
    }

    private static Class<?> changing() throws Exception {
        return Class.forName("Changing");
    }
}
