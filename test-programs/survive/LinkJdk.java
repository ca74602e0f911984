import java.io.IOException;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Links the JDK's own classes, in a JVM that was started with {@code --patch-module} for the
 * rewritten ones and verifies everything: all loaders are as in life, the boot loader among them.
 *
 * <p>The argument is the jar of {@link ListJdk}. Answers as {@link LoadAll}'s.
 */
final class LinkJdk {
    public static void main(String[] args) throws IOException {
        Map<String, Integer> counts = new HashMap<>();
        try (ZipFile jar = new ZipFile(args[0])) {
            for (Enumeration<? extends ZipEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
                String[] entry = entries.nextElement().getName().split("/", 2);
                String name = entry[1].substring(0, entry[1].length() - ".class".length());
                if (name.equals("module-info") || name.endsWith("package-info")) {
                    continue;
                }
                counts.merge(outcome(entry[0], name), 1, Integer::sum);
            }
        }
        counts.forEach((key, count) -> System.out.println("count\t" + key + "\t" + count));
        System.out.println("done");
        // Some classes of the JDK start threads that keep the JVM alive.
        Runtime.getRuntime().halt(0);
    }

    private static String outcome(String moduleName, String name) {
        var module = ModuleLayer.boot().findModule(moduleName);
        if (module.isEmpty()) {
            return "no such module";
        }
        try {
            ClassLoader loader = module.get().getClassLoader();
            Class<?> type = Class.forName(name.replace('/', '.'), false, loader);
            if (type.isInterface()) {
                type.getDeclaredFields();
            } else {
                type.getDeclaredConstructors();
            }
            return "verified";
        } catch (Throwable error) {
            String reason = String.valueOf(error).strip().replaceAll("\\s+", " ");
            System.out.println("fail\t" + name + "\t" + reason.substring(0, Math.min(600, reason.length())));
            return "failed";
        }
    }
}
