package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Tests of lambdas and anonymous classes in a program that was edited, so that their numbers
 * differ.
 */
final class NumberedTests {
    private NumberedTests() {}

    /** Compiles a class {@code P} with these members. */
    private static ClassLoader compile(String... members) throws Exception {
        Path dir = Files.createTempDirectory("numbered");
        dir.toFile().deleteOnExit();
        Path source = dir.resolve("P.java");
        Files.writeString(source, "import java.util.function.*;\npublic class P {\n"
                + String.join("\n", members) + "\n}\n");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        equal(compiler.run(null, null, null, "-nowarn", "-d", dir.toString(), source.toString()), 0);
        return new URLClassLoader(new URL[] {dir.toUri().toURL()}, null);
    }

    private static final String INT = "(I)I";

    /** A method {@code m} whose lambdas each take a number and add another to it. */
    private static String method(String name, int... added) {
        StringBuilder text = new StringBuilder("static IntUnaryOperator[] " + name
                + "() { return new IntUnaryOperator[] {");
        for (int one : added) {
            text.append("x -> x + ").append(one * 1000).append(", ");
        }
        return text + "}; }";
    }

    /** The lambdas of a method, in the order of their numbers. */
    private static List<String> lambdas(ClassLoader loader, String of) throws Exception {
        List<String> names = new ArrayList<>();
        for (Method method : loader.loadClass("P").getDeclaredMethods()) {
            if (method.getName().startsWith("lambda$" + of + "$")) {
                names.add(method.getName());
            }
        }
        names.sort((a, b) -> a.length() != b.length() ? a.length() - b.length() : a.compareTo(b));
        return names;
    }

    /** The lambda that adds a number, with its origin. */
    private static String origin(ClassLoader loader, String of, int added) throws Exception {
        for (String name : lambdas(loader, of)) {
            if (run(loader, name) == added * 1000) {
                return new Numbered(Map.of(), loader).origin("P", name, INT);
            }
        }
        throw new AssertionError("none adds " + added);
    }

    /** The result of a lambda for 0. */
    private static int run(ClassLoader loader, String text) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            return (Integer) Call.staticMethod("P", text, INT, 0);
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    static void lambdasThatDidNotChangeAreFoundWhateverTheirNumber() throws Exception {
        ClassLoader before = compile(method("m", 1, 2));
        for (int added : new int[] {1, 2}) {
            String origin = origin(before, "m", added);
            equal(run(before, origin), added * 1000);
            equal(run(compile(method("m", 3, 1, 2)), origin), added * 1000);
            equal(run(compile(method("other", 2, 1), method("m", 2, 1)), origin), added * 1000);
        }
    }

    static void ofOthersThatDidNotChangeTheRestIsLeft() throws Exception {
        ClassLoader before = compile(method("m", 1, 2, 3));
        equal(run(compile(method("m", 1, 7, 3)), origin(before, "m", 2)), 7000);
        equal(run(compile(method("m", 3, 1, 7)), origin(before, "m", 2)), 7000);
        // All have changed, so their order decides.
        equal(run(compile(method("m", 7, 8, 9)), origin(before, "m", 2)), 8000);
        equal(run(compile(method("m", 7)), origin(compile(method("m", 1)), "m", 1)), 7000);
    }

    static void whatCannotBeToldIsAnError() throws Exception {
        String origin = origin(compile(method("m", 1)), "m", 1);
        fails(ReplayException.class, () -> run(compile(method("m", 7, 8)), origin),
                "which lambda the recorded P.lambda$m$0(I)I is cannot be told",
                "there are 2 of its kind, none with its code", Classes.DIFFERS);
        fails(ReplayException.class, () -> run(compile(method("n", 1)), origin),
                "there is none of its kind");
        String second = origin(compile(method("m", 1, 2)), "m", 2);
        // Either the other one has changed, or this one.
        fails(ReplayException.class, () -> run(compile(method("m", 7)), second), "there is 1");
        fails(ReplayException.class, () -> run(compile(method("m", 1)), "lambda$m$0/x"),
                "in a way that this replay library does not know");
    }

    static void ofLargeGroupsSeveralMayChange() throws Exception {
        int[] many = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        String origin = origin(compile(method("m", many)), "m", 5);
        many[0] = 20;
        equal(run(compile(method("m", many)), origin), 5000);
        many[4] = 21;
        many[6] = 22;
        equal(run(compile(method("m", many)), origin), 21000);
    }

    static void ofVeryLargeGroupsOneMayChange() throws Exception {
        int[] many = new int[130];
        for (int i = 0; i < many.length; i++) {
            many[i] = i + 1;
        }
        String origin = origin(compile(method("m", many)), "m", 5);
        check(origin.indexOf(',') < 0, origin);
        many[0] = 200;
        equal(run(compile(method("m", many)), origin), 5000);
        many[0] = 1;
        many[4] = 200;
        equal(run(compile(method("m", many)), origin), 200_000);
        many[6] = 210;
        fails(ReplayException.class, () -> run(compile(method("m", many)), origin), "there are 130");
    }

    static void innerLambdasTellOuterOnesApart() throws Exception {
        String[] nested = {"() -> { IntUnaryOperator o = x -> x + 1000; return o.applyAsInt(0); }",
            "() -> { IntUnaryOperator o = x -> x + 2000; return o.applyAsInt(0); }"};
        String text = "static IntSupplier[] m() { return new IntSupplier[] {%s, %s}; }";
        ClassLoader before = compile(String.format(text, nested[0], nested[1]));
        ClassLoader after = compile(String.format(text, nested[1], nested[0]));
        Class<?> now = after.loadClass("P");
        for (Method method : before.loadClass("P").getDeclaredMethods()) {
            if (method.getName().startsWith("lambda$m$") && method.getParameterCount() == 0) {
                String origin = new Numbered(Map.of(), before).origin("P", method.getName(), "()I");
                Numbered.Member found = new Numbered(Map.of(), after).method(
                        now, origin, "()I", "static");
                Method same = now.getDeclaredMethod(found.name);
                method.setAccessible(true);
                same.setAccessible(true);
                equal(same.invoke(null), method.invoke(null));
            }
        }
    }

    static void withoutAnOriginTheOnlyOneIsTaken() throws Exception {
        ClassLoader loader = compile(method("m", 1), method("n", 2));
        equal(run(loader, "lambda$m$17"), 1000);
        fails(ReplayException.class, () -> run(compile(method("m", 1, 2)), "lambda$m$17"),
                "no such method");
    }

    private static final String RULE = "interface Rule { String ok(); }";

    private static String rule(String name, String said) {
        return "static Rule " + name + "(int n) { return new Rule() { public String ok() { return \""
                + said + "\" + n; } }; }";
    }

    private static Object made(ClassLoader loader, String by) throws Exception {
        Method method = loader.loadClass("P").getDeclaredMethod(by, int.class);
        method.setAccessible(true);
        return method.invoke(null, 5);
    }

    /** Records an object of one version, and restores it with another one. */
    private static Frame restored(
            Object object, String[] lambda, ClassLoader recorded, ClassLoader loader)
            throws Exception {
        Snapshot snapshot = new Snapshot();
        Numbered numbered = new Numbered(Map.of(), recorded);
        if (lambda == null) {
            String name = object.getClass().getName();
            snapshot.origins.add(row(name, numbered.origin(name)));
        } else {
            snapshot.lambdas.put(object, lambda);
            snapshot.origins.add(row(lambda[0] + "." + lambda[1] + lambda[2],
                    numbered.origin(lambda[0], lambda[1], lambda[2])));
        }
        snapshot.frame(one(snapshot.argument(1, object)));
        return Frame.restore(CrashFile.read(snapshot.file(), "test.hsc"), 0, loader);
    }

    private static Object call(Object object) throws Exception {
        Method method = object.getClass().getDeclaredMethod("ok");
        method.setAccessible(true);
        return method.invoke(object);
    }

    static void anonymousClassesAreFoundWhateverTheirNumber() throws Exception {
        ClassLoader before = compile(RULE, rule("a", "a"));
        Object recorded = made(before, "a");
        equal(recorded.getClass().getName(), "P$1");
        String none = "static final Rule NONE = new Rule() { public String ok() { return null; } };";
        for (ClassLoader after : new ClassLoader[] {
            compile(RULE, rule("a", "a")), compile(RULE, none, rule("b", "a"), rule("a", "a")),
        }) {
            Frame frame = restored(recorded, null, before, after);
            equal(call(frame.argument(1)), "a5");
            equal(frame.holes(), List.of());
        }
        // Another body.
        ClassLoader after = compile(RULE, rule("b", "a"), rule("a", "c"));
        Object restored = restored(recorded, null, before, after).argument(1);
        equal(restored.getClass().getName(), "P$2");
        equal(call(restored), "c5");
    }

    static void anonymousClassesThatCannotBeToldAreAnError() throws Exception {
        ClassLoader before = compile(RULE, rule("a", "a"));
        ClassLoader after = compile(RULE, rule("b", "a"));
        Object recorded = made(before, "a");
        fails(ReplayException.class, () -> restored(recorded, null, before, after).argument(1),
                "which class the recorded P$1 is cannot be told", "there is none of its kind");
        // Without an origin, the captured values decide.
        ClassLoader other = compile(RULE,
                "static final Rule NONE = new Rule() { public String ok() { return null; } };");
        Snapshot snapshot = new Snapshot();
        snapshot.frame(one(snapshot.argument(1, recorded)));
        CrashFile file = CrashFile.read(snapshot.file(), "test.hsc");
        fails(ReplayException.class, () -> Frame.restore(file, 0, other).argument(1),
                "it captures no n here", Classes.DIFFERS);
    }

    static void closuresOfGroovyAreFoundWhateverTheirNumber() throws Exception {
        String closure = "static class _m_closure%d { final int n; _m_closure%1$d(int n) { this.n = n; } "
                + "String ok() { return \"%s\" + n; } }";
        String make = "static Object a(int n) { return new _m_closure%d(n); }";
        ClassLoader before = compile(String.format(closure, 1, "a"), String.format(make, 1));
        ClassLoader after = compile(String.format(closure, 1, "b"), String.format(closure, 2, "a"));
        Object recorded = made(before, "a");
        equal(recorded.getClass().getName(), "P$_m_closure1");
        equal(call(restored(recorded, null, before, after).argument(1)), "a5");
        check(!Numbered.isClass("P$m_closure1") && Numbered.isClass("[LP$_closure2;"), "by its name");
        equal(Numbered.strip("P$_m_closure1$_closure23$4"), "P$_m_closure#$_closure#$#");
    }

    static void lambdaObjectsAreFoundWhateverTheirNumber() throws Exception {
        String m = "static Function<String, String> m(int n) { return x -> x + n; }";
        String other = "static Object m(Object o) { Function<String, Integer> f = x -> x.length(); "
                + "IntFunction<Object> g = i -> x(i); return f; } static Object x(int i) { return i; }";
        ClassLoader before = compile(m);
        Object recorded = made(before, "m");
        String[] lambda = {"P", lambdas(before, "m").get(0),
            "(ILjava/lang/String;)Ljava/lang/String;", "static"};
        @SuppressWarnings("unchecked")
        Function<String, String> restored = (Function<String, String>) restored(
                recorded, lambda, before, compile(other, m)).<Object>argument(1);
        equal(restored.apply("x"), "x5");
        fails(ReplayException.class,
                () -> restored(recorded, lambda, before, compile(other)).argument(1),
                "which lambda the recorded P.lambda$m$0");
    }

    static void fieldsOfRenumberedSuperclassesAreFilled() throws Exception {
        String local = "static Object a(int n) { class Base { int b = n; } "
                + "class Sub extends Base { int s = n + 1; } return new Sub(); }";
        String other = "static Object c(int n) { class Base { } class Sub extends Base { } "
                + "return new Sub(); }";
        ClassLoader before = compile(local);
        Object recorded = made(before, "a");
        Snapshot snapshot = new Snapshot();
        Numbered numbered = new Numbered(Map.of(), before);
        for (String name : List.of("P$1Base", "P$1Sub")) {
            snapshot.origins.add(row(name, numbered.origin(name)));
        }
        snapshot.frame(one(snapshot.argument(1, recorded)));
        CrashFile file = CrashFile.read(snapshot.file(), "test.hsc");
        Frame frame = Frame.restore(file, 0, compile(other, local));
        Object restored = frame.argument(1);
        equal(restored.getClass().getName(), "P$2Sub");
        Field field = restored.getClass().getSuperclass().getDeclaredField("b");
        field.setAccessible(true);
        equal(field.get(restored), 5);
        equal(frame.holes(), List.of());
    }

    static void receiversTellTheirClass() throws Exception {
        String color = "public enum Color { %s RED { String ok() { return \"red\"; } }; abstract String ok(); }";
        ClassLoader before = compile(String.format(color, ""));
        ClassLoader after = compile(
                String.format(color, "BLUE { String ok() { return \"blue\"; } },"));
        String origin = new Numbered(Map.of(), before).origin("P$Color$1");
        Object red = after.loadClass("P$Color").getField("RED").get(null);
        try {
            equal(Call.method(red, origin, "ok", "()Ljava/lang/String;"), "red");
            equal(Call.method(red, "P$Color$1", "ok", "()Ljava/lang/String;"), "red");
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
