package dev.hindsight.replay;

import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;

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

    /** Members with names such as scalac gives to private members that an inner class uses. */
    static class Expanded {
        int dev$hindsight$replay$CallTests$Expanded$$count;
        int plain;

        private int dev$hindsight$replay$CallTests$Expanded$$rate(int x) {
            return x + 1;
        }

        private int tax(int x) {
            return x + 2;
        }

        private int other$$fee(int x) {
            return x + 3;
        }
    }

    private static final String EXPANDED = "dev.hindsight.replay.CallTests$Expanded";

    static void membersThatBecameVisibleToInnerClasses() throws Throwable {
        String prefix = "dev$hindsight$replay$CallTests$Expanded$$";
        Expanded object = new Expanded();
        equal(Call.exactMethod(object, EXPANDED, "rate", "(I)I", 1), 2);
        equal(Call.exactMethod(object, EXPANDED, prefix + "tax", "(I)I", 1), 3);
        fails(ReplayException.class, () -> Call.exactMethod(object, EXPANDED, "fee", "(I)I", 1), "no such method");
        object.dev$hindsight$replay$CallTests$Expanded$$count = 5;
        object.plain = 6;
        Snapshot snapshot = new Snapshot();
        snapshot.fieldNames = name -> name.equals("plain") ? prefix + "plain" : name.replace(prefix, "");
        Frame frame = snapshot.frame(new Object[] {snapshot.argument(1, object)}).restore(0);
        Expanded restored = (Expanded) frame.argument(1);
        equal(restored.dev$hindsight$replay$CallTests$Expanded$$count, 5);
        equal(restored.plain, 6);
        check(frame.holes().isEmpty(), frame.holes());
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

    /** Methods that were recorded with other parameters. */
    static class Widened {
        private final String made;

        private Widened(Number number) {
            made = "made of " + number;
        }

        private String price(Collection<?> all, long number) {
            return all.size() + " for " + number;
        }

        private String price(Collection<?> all) {
            return "another number of parameters";
        }

        private static String price(Set<?> all, long number) {
            return "another kind";
        }

        private static String boxed(Object one, Integer other) {
            return one + " and " + other;
        }

        private static double unboxed(double number) {
            return number;
        }

        private static int all(Object... all) {
            return all.length;
        }

        private static void several(long number) {}

        private static void several(double number) {}

        private static void fail(Object cause) {
            throw new IllegalStateException(cause.toString());
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

    static final String WIDENED = Widened.class.getName();

    static void widenedSignaturesTakeWhatTheyCan() throws Throwable {
        Object widened = Call.constructor(WIDENED, "(Ljava/lang/Integer;)V", 7);
        equal(((Widened) widened).made, "made of 7");
        equal(((Widened) Call.constructor(WIDENED, "(J)V", 7)).made, "made of 7");
        String desc = "(Ljava/util/List;I)I";
        equal(Call.method(widened, WIDENED, "price", desc, List.of("a"), 3), "1 for 3");
        equal(Call.exactMethod(widened, WIDENED, "price", desc, List.of("a"), 3), "1 for 3");
        equal(Call.method(new Sub(), SUPER, "foo", "()V"), "sub of super");
        equal(Call.staticMethod(WIDENED, "boxed", "(SI)V", 1, 2), "1 and 2");
        equal(Call.staticMethod(WIDENED, "boxed", "(Ljava/lang/String;Ljava/lang/Number;)V",
                null, 2), "null and 2");
        equal(Call.staticMethod(WIDENED, "unboxed", "(C)D", 'a'), 97.0);
        equal(Call.staticMethod(WIDENED, "unboxed", "(Ljava/lang/Number;)V", 3), 3.0);
        equal(Call.staticMethod(WIDENED, "all", "(Ljava/lang/Object;)I",
                (Object) new Object[] {1, 2}), 2);
        Throwable e = fails(IllegalStateException.class, () -> Call.staticMethod(
                WIDENED, "fail", "(Ljava/lang/String;)V", "x"), "x");
        equal(e.getStackTrace()[0].getMethodName(), "fail");
        equal(e.getStackTrace()[1].getClassName(), Call.class.getName());
    }

    static void otherSignaturesAreNamed() {
        Widened widened = new Widened(1);
        String again = "here; the signature has changed: run hindsight junit again";
        fails(ReplayException.class,
                () -> Call.method(widened, WIDENED, "price", "(Ljava/lang/String;I)I", "x", 1),
                "cannot call " + WIDENED + ".price(Ljava/lang/String;I)I: no such method; there is "
                        + "price(Collection), price(Collection, long), static price(Set, long) "
                        + again);
        // Narrower, null where none can be, one of two, another number, and kind.
        fails(ReplayException.class, () -> Call.staticMethod(WIDENED, "boxed",
                "(Ljava/lang/Object;Ljava/lang/Long;)V", 1, 2L), "static boxed(Object, Integer)");
        fails(ReplayException.class, () -> Call.staticMethod(WIDENED, "unboxed",
                "(Ljava/lang/Double;)D", (Object) null), "static unboxed(double)", again);
        fails(ReplayException.class, () -> Call.staticMethod(WIDENED, "several", "(I)V", 1),
                "static several(double), static several(long)", again);
        fails(ReplayException.class, () -> Call.staticMethod(WIDENED, "all", "()I"),
                "static all(Object[])", again);
        fails(ReplayException.class, () -> Call.method(widened, WIDENED, "unboxed", "(D)D", 1.0),
                "static unboxed(double)", again);
        fails(ReplayException.class, () -> Call.constructor(WIDENED, "(Ljava/lang/String;)V", "x"),
                "Widened(Number)", again);
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
