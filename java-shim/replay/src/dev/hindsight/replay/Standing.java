package dev.hindsight.replay;

import java.nio.file.FileSystems;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;

/**
 * Objects of which each JVM has its own, by the expressions that return them. If the recorded
 * program referred to its own, a test refers to that of the JVM that runs it.
 */
final class Standing {
    private static final String MODULE = "java.lang.ModuleLayer.boot().findModule(\"";
    private static final String END = "\").orElseThrow()";
    private static final Map<String, Supplier<?>> ALL = new HashMap<>();

    static {
        ALL.put("java.lang.System.in", () -> System.in);
        ALL.put("java.lang.System.out", () -> System.out);
        ALL.put("java.lang.System.err", () -> System.err);
        ALL.put("java.lang.Runtime.getRuntime()", Runtime::getRuntime);
        ALL.put("java.lang.Thread.currentThread()", Thread::currentThread);
        ALL.put("java.lang.ClassLoader.getSystemClassLoader()", ClassLoader::getSystemClassLoader);
        ALL.put("java.lang.ClassLoader.getPlatformClassLoader()",
                ClassLoader::getPlatformClassLoader);
        ALL.put("java.nio.file.FileSystems.getDefault()", FileSystems::getDefault);
        ALL.put("java.nio.file.FileSystems.getDefault().provider()",
                () -> FileSystems.getDefault().provider());
        ALL.put("java.util.concurrent.ForkJoinPool.commonPool()", ForkJoinPool::commonPool);
    }

    private Standing() {}

    /** The running JVM's own object, or null if there is none. */
    static Object of(Recorded.Constant recorded) {
        String code = recorded.owner + "." + recorded.name;
        if (code.startsWith(MODULE) && code.endsWith(END)) {
            String name = code.substring(MODULE.length(), code.length() - END.length());
            return ModuleLayer.boot().findModule(name).orElse(null);
        }
        Supplier<?> found = ALL.get(code);
        return found == null ? null : found.get();
    }
}
