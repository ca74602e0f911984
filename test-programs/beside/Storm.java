import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An agent that retransforms everything and redefines one class, over and over, on threads of its own.
 */
public class Storm {
    static final AtomicInteger retransformed = new AtomicInteger();
    static final AtomicInteger redefined = new AtomicInteger();
    static volatile boolean over;
    private static Step retransformQuietly;
    static final List<Thread> threads = new ArrayList<>();

    public static void premain(String arguments, Instrumentation instrumentation) throws Exception {
        byte[] second = Files.readAllBytes(Path.of(arguments));
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> known, ProtectionDomain domain, byte[] bytes) {
                        return known == null ? null : bytes.clone();
                    }
                },
                true);
        retransformQuietly = () -> {
            for (Class<?> known : instrumentation.getAllLoadedClasses()) {
                if (known.getName().startsWith("Flying") && instrumentation.isModifiableClass(known)) {
                    instrumentation.retransformClasses(known);
                }
            }
        };
        start(() -> {
            List<Class<?>> classes = new ArrayList<>();
            for (Class<?> known : instrumentation.getAllLoadedClasses()) {
                if (instrumentation.isModifiableClass(known) && !known.isArray()) {
                    classes.add(known);
                }
            }
            for (int i = 0; i < classes.size() && !over; i += 50) {
                List<Class<?>> some = classes.subList(i, Math.min(i + 50, classes.size()));
                try {
                    instrumentation.retransformClasses(some.toArray(new Class<?>[0]));
                    retransformed.addAndGet(some.size());
                } catch (LinkageError e) {
                    // JDK 25 cannot, while the same class is redefined; no agent is needed for that.
                }
            }
        });
        start(() -> {
            for (Class<?> known : instrumentation.getAllLoadedClasses()) {
                if (known.getName().startsWith("Flying") && instrumentation.isModifiableClass(known) && !over) {
                    try {
                        instrumentation.retransformClasses(known);
                        retransformed.incrementAndGet();
                    } catch (LinkageError e) {
                        // As above.
                    }
                }
            }
        });
        start(() -> {
            Class<?> target = Class.forName("Flying$Target");
            byte[] first;
            try (java.io.InputStream in = ClassLoader.getSystemResourceAsStream("Flying$Target.class")) {
                first = in.readAllBytes();
            }
            byte[] bytes = redefined.get() % 2 == 0 ? second : first;
            instrumentation.redefineClasses(new ClassDefinition(target, bytes));
            redefined.incrementAndGet();
        });
    }

    interface Step {
        void run() throws Exception;
    }

    private static void start(Step step) {
        Thread thread = new Thread(() -> {
            while (!over) {
                try {
                    step.run();
                } catch (Throwable e) {
                    System.out.println("storm: " + e);
                    over = true;
                }
            }
        });
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    static void end() throws Exception {
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        // In quiet, it must work.
        retransformQuietly.run();
    }
}
