package dev.hindsight.replay;

import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import java.io.IOException;

/** Calls of methods of all kinds. */
final class CallTests {
    private CallTests() {}

    static final String SUPER = "dev.hindsight.replay.CallTests$Super";
    static final String SUB = "dev.hindsight.replay.CallTests$Sub";

    interface Shape {
        default String area() {
            return "shape";
        }
    }

    static class Super implements Shape {
        String foo() {
            return "super";
        }

        private String secret(int x, long y, String z) {
            return x + y + z;
        }

        private static int twice(int x) {
            return 2 * x;
        }

        protected void nothing() {}

        static void fail(Exception e) throws Exception {
            throw e;
        }

        String many(Object... all) {
            return "many" + all.length;
        }

        float mixed(byte b, short s, char c, boolean z, float f, double d) {
            return b + s + c + (z ? 1 : 0) + f + (float) d;
        }
    }

    static class Sub extends Super {
        final String made;

        Sub() {
            made = "default";
        }

        private Sub(String made) throws IOException {
            if (made == null) {
                throw new IOException("null");
            }
            this.made = made;
        }

        @Override
        String foo() {
            return "sub of " + super.foo();
        }

        @Override
        public String area() {
            return "sub";
        }

        private String secret(int x, long y, String z) {
            return "another";
        }
    }

    static class Broken {
        static final int X = Integer.parseInt("x");

        static void run() {}
    }

    static void virtualAndExact() throws Throwable {
        String desc = "()Ljava/lang/String;";
        equal(Call.method(new Sub(), SUPER, "foo", desc), "sub of super");
        equal(Call.exactMethod(new Sub(), SUPER, "foo", desc), "super");
        equal(Call.method(new Sub(), SUB, "foo", desc), "sub of super");
        equal(Call.method(new Sub(), SUB, "area", desc), "sub");
        equal(Call.method(new Sub(), Shape.class.getName(), "area", desc), "sub");
        equal(Call.exactMethod(new Sub(), Shape.class.getName(), "area", desc), "shape");
        equal(Call.method(new Sub(), SUB, "hashCode", "()I").getClass(), Integer.class);
        equal(Call.method("text", "java.lang.Object", "toString", desc), "text");
    }

    static void privateStaticAndVoid() throws Throwable {
        String desc = "(IJLjava/lang/String;)Ljava/lang/String;";
        equal(Call.method(new Sub(), SUPER, "secret", desc, 1, 2L, "z"), "3z");
        equal(Call.exactMethod(new Sub(), SUPER, "secret", desc, 1, 2L, "z"), "3z");
        equal(Call.method(new Sub(), SUB, "secret", desc, 1, 2L, null), "another");
        equal(Call.staticMethod(SUPER, "twice", "(I)I", 21), 42);
        equal(Call.method(new Super(), SUPER, "nothing", "()V"), null);
        equal(Call.staticMethod("java.util.AbstractList", "subListRangeCheck", "(III)V", 0, 1, 2),
                null);
    }

    static void argumentsAreConverted() throws Throwable {
        equal(Call.method(new Super(), SUPER, "mixed", "(BSCZFD)F",
                (byte) 1, 2, 'c', true, 0.5f, 0.5), 104f);
        equal(Call.method(new Super(), SUPER, "many",
                "([Ljava/lang/Object;)Ljava/lang/String;", (Object) new Object[] {1, 2, 3}), "many3");
        equal(Call.method(new Super(), SUPER, "many",
                "([Ljava/lang/Object;)Ljava/lang/String;", new Object[] {new String[1]}), "many1");
        same(Call.staticMethod("java.util.Objects", "requireNonNullElse",
                "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", null, SUB), SUB);
    }

    static void constructors() throws Throwable {
        equal(((Sub) Call.constructor(SUB, "(Ljava/lang/String;)V", "x")).made, "x");
        equal(((Sub) Call.constructor(SUB, "()V")).made, "default");
        fails(IOException.class, () -> Call.constructor(SUB, "(Ljava/lang/String;)V",
                (Object) null), "null");
        fails(IOException.class,
                () -> Call.constructor(SUB, "(Ljava/lang/String;)V", (Object[]) null), "null");
    }

    static void exceptionsPassUnchanged() {
        for (Exception e : new Exception[] {
            new IOException("io"), new ClassCastException("cast"), new ReplayException("own"),
            new java.lang.reflect.InvocationTargetException(null),
        }) {
            same(fails(e.getClass(), () -> Call.staticMethod(
                    SUPER, "fail", "(Ljava/lang/Exception;)V", e)), e);
        }
    }

    static void theMethodStandsRightAboveTheCall() {
        Throwable e = fails(NumberFormatException.class, () -> Call.staticMethod(
                "java.lang.Integer", "parseInt", "(Ljava/lang/String;)I", "x"));
        StackTraceElement[] stack = e.getStackTrace();
        int i = 0;
        while (!stack[i].getClassName().equals(Call.class.getName())) {
            i++;
        }
        equal(stack[i - 1].getMethodName(), "parseInt");
        while (stack[i].getClassName().equals(Call.class.getName())) {
            i++;
        }
        check(stack[i].getMethodName().contains("theMethodStands"), stack[i]);
    }

    static void staticInitialisersFailAsTheyDo() {
        fails(ExceptionInInitializerError.class,
                () -> Call.staticMethod(Broken.class.getName(), "run", "()V"));
        fails(NoClassDefFoundError.class,
                () -> Call.staticMethod(Broken.class.getName(), "run", "()V"), "Broken");
    }

    static void whatIsNotThereIsNamed() {
        fails(ReplayException.class, () -> Call.staticMethod("no.Such", "m", "()V"),
                "no.Such", "class path differs");
        fails(ReplayException.class, () -> Call.method(new Sub(), SUPER, "gone", "(I)V", 1),
                SUPER + ".gone(I)V", "class path differs");
        fails(ReplayException.class, () -> Call.method(new Sub(), SUPER, "foo", "()V"), "foo()V");
        fails(ReplayException.class, () -> Call.staticMethod(SUPER, "m", "(Lno/Such;)V"),
                "no.Such");
        fails(ReplayException.class, () -> Call.staticMethod(SUPER, "twice", "junk"), "junk");
        fails(ReplayException.class, () -> Call.constructor(SUPER, "(I)V", 1), "<init>(I)V");
        fails(ReplayException.class, () -> Call.method(null, SUPER, "foo", "()V"),
                "without a receiver");
        fails(ReplayException.class, () -> Call.method("x", SUPER, "nothing", "()V"),
                "receiver", "java.lang.String");
        fails(ReplayException.class, () -> Call.staticMethod(SUPER, "twice", "(I)I"),
                "takes 1 arguments, not 0");
        fails(ReplayException.class, () -> Call.staticMethod(SUPER, "twice", "(I)I", "x"),
                "argument 1", "int", "java.lang.String");
        fails(ReplayException.class, () -> Call.staticMethod(SUPER, "twice", "(I)I", 1.5), "int");
        fails(ReplayException.class,
                () -> Call.staticMethod(SUPER, "fail", "(Ljava/lang/Exception;)V", "x"),
                "argument 1", "java.lang.Exception");
    }
}
