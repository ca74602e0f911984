import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarFile;

/**
 * Loads classes as a large program does when it starts, and initialises none of them.
 *
 * <p>Arguments: how many classes, {@code load} or {@code link}, jars. Each jar has its class loader,
 * and comes again with a new one until there are enough. To link is to verify as well. Prints how
 * many were loaded, how many could not be, and nanoseconds.
 */
public class LoadClasses {
    public static void main(String[] args) throws IOException {
        int wanted = Integer.parseInt(args[0]);
        boolean link = args[1].equals("link");
        int loaded = 0;
        int refused = 0;
        long start = System.nanoTime();
        for (int at = 0; loaded < wanted; at++) {
            String jar = args[2 + at % (args.length - 2)];
            URLClassLoader loader = new URLClassLoader(new URL[] {new File(jar).toURI().toURL()}, null);
            for (String name : names(jar)) {
                if (loaded == wanted) {
                    break;
                }
                try {
                    Class<?> type = Class.forName(name, false, loader);
                    if (link) {
                        type.getDeclaredConstructors();
                    }
                    loaded++;
                } catch (ClassNotFoundException | LinkageError e) {
                    // Of libraries that are not there.
                    refused++;
                }
            }
        }
        System.out.println(loaded + " " + refused + " " + (System.nanoTime() - start));
    }

    private static List<String> names(String jar) throws IOException {
        List<String> names = new ArrayList<>();
        try (JarFile file = new JarFile(jar)) {
            for (var entry : Collections.list(file.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.contains("module-info")) {
                    names.add(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
        return names;
    }
}
