package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The targets to which method references are redirected if their method's writes would not be
 * recorded; see {@code contract::stand_ins} of {@code crates/instrument}. The agent's build script
 * writes the methods here, and the agent instruments them like the program's. They look like this:
 *
 * <pre>
 * public static int addAndGet(java.util.concurrent.atomic.AtomicInteger v0, int v1) {
 *     return v0.addAndGet(v1);
 * }
 * </pre>
 */
@SuppressWarnings({"rawtypes", "unchecked"})
public final class HindsightUnseen {
    private HindsightUnseen() {}

    // @STAND-INS@
}
