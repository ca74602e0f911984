import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;
import net.sf.cglib.proxy.Enhancer;
import net.sf.cglib.proxy.MethodInterceptor;

/**
 * Has classes made at run time, and all of them written to files: subclasses and woven classes of
 * Byte Buddy, subclasses of cglib, the JDK's proxies, lambdas and method handles. The JDK writes its
 * own where its options say; see {@code survive.py}. Arguments: a jar of classes to start from, and
 * the directory for Byte Buddy.
 */
final class Generate {
    /** What is woven into methods. */
    static final class Around {
        @Advice.OnMethodEnter
        static long enter(@Advice.Origin String method) {
            return method.length();
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter long entered, @Advice.Thrown Throwable thrown) {
            if (thrown != null && entered == 0) {
                System.out.println(thrown);
            }
        }
    }

    /** What calls are delegated to. */
    public static final class Delegate {
        @net.bytebuddy.implementation.bind.annotation.RuntimeType
        public static Object intercept(
                @net.bytebuddy.implementation.bind.annotation.SuperCall java.util.concurrent.Callable<?> original,
                @net.bytebuddy.implementation.bind.annotation.AllArguments Object[] arguments) throws Exception {
            return arguments.length > 9 ? null : original.call();
        }
    }

    public static void main(String[] args) throws Exception {
        Path out = Path.of(args[1]);
        List<String> names = new ArrayList<>();
        try (ZipFile jar = new ZipFile(args[0])) {
            for (ZipEntry entry : (Iterable<ZipEntry>) jar.stream().map(ZipEntry.class::cast)::iterator) {
                if (entry.getName().endsWith(".class") && !entry.getName().startsWith("META-INF/")) {
                    names.add(entry.getName().replace('/', '.').substring(0, entry.getName().length() - 6));
                }
            }
            int woven = weave(new java.io.File(args[0]), names, out);
            int[] made = new int[3];
            for (String name : names) {
                subclass(name, out, made);
            }
            System.out.println(woven + " woven, " + made[0] + " subclasses by Byte Buddy, " + made[1]
                + " by cglib, " + made[2] + " proxies");
        }
    }

    private static int weave(java.io.File jar, List<String> names, Path out) throws IOException {
        int made = 0;
        try (ClassFileLocator locator = ClassFileLocator.ForJarFile.of(jar)) {
            TypePool pool = TypePool.Default.of(new ClassFileLocator.Compound(
                locator, ClassFileLocator.ForClassLoader.ofSystemLoader()));
            for (String name : names) {
                try {
                    new ByteBuddy().redefine(pool.describe(name).resolve(), locator)
                        .visit(Advice.to(Around.class).on(ElementMatchers.isMethod()))
                        .make().saveIn(out.resolve("woven").toFile());
                    made++;
                } catch (RuntimeException | LinkageError e) {
                    // Not every class can be woven; the count tells.
                }
            }
        }
        return made;
    }

    private static void subclass(String name, Path out, int[] made) {
        try {
            Class<?> type = Class.forName(name, false, Generate.class.getClassLoader());
            if (!Modifier.isPublic(type.getModifiers()) || Modifier.isFinal(type.getModifiers())) {
                return;
            }
            if (type.isInterface()) {
                InvocationHandler handler = (proxy, method, arguments) -> null;
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type, Runnable.class}, handler);
                made[2]++;
            }
            try (DynamicType.Unloaded<?> unloaded = new ByteBuddy().subclass(type)
                    .method(ElementMatchers.not(ElementMatchers.isFinalizer()))
                    .intercept(MethodDelegation.to(Delegate.class)).make()) {
                unloaded.saveIn(out.resolve("subclasses").toFile());
                made[0]++;
            }
            Enhancer enhancer = new Enhancer();
            if (type.isInterface()) {
                enhancer.setInterfaces(new Class<?>[] {type});
            } else {
                enhancer.setSuperclass(type);
            }
            enhancer.setCallbackType(MethodInterceptor.class);
            enhancer.createClass();
            made[1]++;
        } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
            // Some cannot be extended; the counts tell.
        }
    }
}
