package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;
import static dev.hindsight.replay.Tests.same;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Tests of lambdas and method references. */
final class LambdaTests {
    private LambdaTests() {}

    interface Words extends Comparator<String> {
        @Override
        int compare(String a, String b);

        default int twice(String a, String b) {
            return 2 * compare(a, b);
        }
    }

    interface Throwing {
        void run() throws IOException;
    }

    static final class Holder {
        Supplier<Object> supplier;
        private final int base = 40;

        Supplier<Object> self() {
            return () -> base + (supplier == null ? 0 : 2);
        }

        private int add(int x) {
            return base + x;
        }
    }

    static void capturedValues() {
        String text = "t";
        long wide = 5;
        int[] array = {1};
        boolean flag = true;
        Supplier<String> lambda = () -> text + wide + array[0] + flag;
        equal(back(lambda, "capturedValues", true).get(), "t51true");
    }

    static void madeByName() {
        String tests = LambdaTests.class.getName();
        Holder holder = new Holder();
        IntFunction<Integer> bound = Call.lambda(
                IntFunction.class, tests + "$Holder", "add", "(I)I", holder);
        equal(bound.apply(2), 42);
        Supplier<Holder> made = Call.lambda(Supplier.class, tests + "$Holder", "<init>", "()V");
        check(made.get() != null, "no holder");
        String[] body = synthetic(LambdaTests.class, "adder");
        ToIntFunction<Integer> adder = Call.lambda(ToIntFunction.class, tests, body[1], body[2], 40);
        equal(adder.applyAsInt(2), 42);
        check(new Same().compare(adder, adder(40)), "another lambda");
        check(!new Same().compare(adder, adder(41)), "the same number");
        fails(ReplayException.class, () -> Call.lambda(Runnable.class, tests, "gone", "()V"), "gone()V");
        fails(ReplayException.class, () -> Call.lambda(
                Runnable.class, tests, "adder", "(I)Ljava/util/function/ToIntFunction;", 1, 2), "less than 2");
        fails(ReplayException.class, () -> Call.lambda(
                Supplier.class, tests, "adder", "(I)Ljava/util/function/ToIntFunction;", "x"), "adder");
    }

    private static ToIntFunction<Integer> adder(int number) {
        return more -> number + more;
    }

    static void nothingCaptured() {
        Function<String, Integer> lambda = x -> x.length();
        Function<String, Integer> back = back(lambda, "nothingCaptured", true);
        equal(back.apply("abc"), 3);
        equal(back.andThen(x -> x + 1).apply("abc"), 4);
        check(!Proxy.isProxyClass(back.getClass()), "a proxy");
        check(!back.equals(lambda) && back.equals(back), "identity");
    }

    static void cycleThroughItself() {
        Holder holder = new Holder();
        holder.supplier = holder.self();
        Snapshot snapshot = new Snapshot();
        snapshot.lambdas.put(holder.supplier, synthetic(Holder.class, "self"));
        Holder back = snapshot.frame(one(snapshot.argument(0, holder)))
                .restore(0).receiver();
        equal(back.supplier.get(), 42);
        back.supplier = null;
        Holder second = snapshot.restore(0).receiver();
        equal(second.supplier.get(), 42);
    }

    static void bridges() {
        Words words = (a, b) -> a.length() - b.length();
        Words back = back(words, "bridges", true);
        equal(back.twice("abc", "a"), 4);
        List<String> list = new ArrayList<>(List.of("ccc", "a", "bb"));
        list.sort(back);
        equal(list, List.of("a", "bb", "ccc"));
        same(back.reversed().getClass().getName().isEmpty(), false);
    }

    static void markers() {
        Comparator<String> comparator =
                (Comparator<String> & java.io.Serializable) (a, b) -> b.compareTo(a);
        Comparator<String> back = back(comparator, "markers", true);
        check(back instanceof java.io.Serializable, "no marker");
        equal(back.compare("a", "b"), 1);
    }

    interface Sizes extends Function<String, Integer> {}

    /** Interfaces may be listed together with those that they extend. */
    static void intersections() throws Exception {
        Recorded.Lambda lambda = new Recorded.Lambda(
                row("java.lang.String", "length", "()I", false, new Object[0]));
        Object made = Lambdas.create(lambda,
                new String[] {"java.util.function.Function", Sizes.class.getName(), "java.io.Serializable"},
                LambdaTests.class.getClassLoader(), new Numbered(Map.of()));
        check(!Proxy.isProxyClass(made.getClass()) && made instanceof java.io.Serializable, made.getClass());
        equal(((Sizes) made).apply("abc"), 3);
    }

    static void serializableOnesCanBeWritten() throws Exception {
        Comparator<String> comparator =
                (Comparator<String> & java.io.Serializable) (a, b) -> b.compareTo(a);
        Comparator<String> back = back(comparator, "serializableOnesCanBeWritten", true);
        Method replaced = back.getClass().getDeclaredMethod("writeReplace");
        replaced.setAccessible(true);
        SerializedLambda told = (SerializedLambda) replaced.invoke(back);
        equal(told.getCapturingClass(), LambdaTests.class.getName().replace('.', '/'));
        check(told.getImplMethodName().startsWith("lambda$serializableOnesCanBeWritten$"), told);
        new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(back);
    }

    static void methodReferences() {
        ToIntFunction<String> length = String::length;
        equal(with(length, "java.lang.String", "length", "()I", "").applyAsInt("abc"), 3);
        Function<String, Integer> parse = Integer::parseInt;
        equal(with(parse, "java.lang.Integer", "parseInt", "(Ljava/lang/String;)I", "static")
                .apply("12"), 12);
        IntBinaryOperator max = Math::max;
        equal(with(max, "java.lang.Math", "max", "(II)I", "static").applyAsInt(3, 4), 4);
        Supplier<List<String>> make = ArrayList::new;
        equal(with(make, "java.util.ArrayList", "<init>", "()V", "").get(), List.of());
        BiFunction<Integer, Integer, Integer> sum = Integer::sum;
        equal(with(sum, "java.lang.Integer", "sum", "(II)I", "static").apply(1, 2), 3);
        IntFunction<String> bound = "abcd"::substring;
        equal(with(bound, "java.lang.String", "substring", "(I)Ljava/lang/String;", "").apply(2),
                "cd");
        Holder holder = new Holder();
        IntFunction<Object> hidden = holder::add;
        equal(with(hidden, Holder.class.getName(), "add", "(I)I", "").apply(2), 42);
    }

    static void exceptionsComeOutAsTheyAre() {
        IOException thrown = new IOException("x");
        Throwing lambda = () -> { throw thrown; };
        Throwing back = back(lambda, "exceptionsComeOutAsTheyAre", true);
        Throwable e = fails(IOException.class, () -> {
            back.run();
            return null;
        }, "x");
        // The captured exception is restored as well, so it is another object.
        check(e != thrown, "the same");
    }

    static void lambdasThatCannotBe() {
        Supplier<String> lambda = () -> "x";
        Snapshot snapshot = new Snapshot();
        snapshot.lambdas.put(lambda, new String[] {"", "", "", ""});
        Frame frame = snapshot.frame(one(snapshot.argument(1, lambda))).restore(0);
        same(frame.argument(1), null);
        check(frame.holes().get(0).contains("could not be named"), frame.holes());

        Snapshot other = new Snapshot();
        other.lambdas.put(lambda, new String[] {
            LambdaTests.class.getName(), "lambda$gone$9", "()V", "static"});
        other.frame(one(other.argument(1, lambda)));
        fails(ReplayException.class, () -> other.restore(0).argument(1), "lambda$gone$9");
    }

    /** If the factory refuses, a mutable proxy takes its place. */
    static void proxiesStandIn() throws Exception {
        Recorded.Lambda lambda = new Recorded.Lambda(row(LambdaTests.class.getName(), "join",
                "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", true,
                one(row("Ljava/lang/String;", null))));
        @SuppressWarnings("unchecked")
        Function<String, String> made = (Function<String, String>) Lambdas.create(lambda,
                new String[] {"java.util.function.Function", "java.util.List"},
                LambdaTests.class.getClassLoader(), new Numbered(Map.of()));
        check(Proxy.isProxyClass(made.getClass()), made.getClass());
        equal(made.apply("b"), "nullb");
        equal(made.andThen(x -> x + "c").apply("b"), "nullbc");
        check(made.equals(made) && made.hashCode() == System.identityHashCode(made), made);
    }

    static String join(String a, String b) {
        return a + b;
    }

    private static <T> T back(T lambda, String test, boolean isStatic) {
        return restored(lambda, synthetic(LambdaTests.class, test));
    }

    private static <T> T with(T lambda, String... method) {
        return restored(lambda, method);
    }

    private static <T> T restored(T lambda, String[] method) {
        Snapshot snapshot = new Snapshot();
        snapshot.lambdas.put(lambda, method);
        Frame frame = snapshot.frame(one(snapshot.argument(1, lambda))).restore(0);
        equal(frame.holes(), List.of());
        check(frame.argument(1) != lambda, "the same");
        return frame.argument(1);
    }

    /** The first lambda of a method, as javac names it. */
    private static String[] synthetic(Class<?> owner, String method) {
        String first = null;
        String[] found = null;
        for (Method candidate : owner.getDeclaredMethods()) {
            String name = candidate.getName();
            if (name.startsWith("lambda$" + method + "$")
                    && (first == null || number(name) < number(first))) {
                first = name;
                found = new String[] {owner.getName(), name, MethodType.methodType(
                        candidate.getReturnType(), candidate.getParameterTypes())
                        .toMethodDescriptorString(),
                    Modifier.isStatic(candidate.getModifiers()) ? "static" : ""};
            }
        }
        check(found != null, "no lambda in " + method);
        return found;
    }

    /** The serializable ones have a hash and a number of their own. */
    private static int number(String name) {
        return Integer.parseInt(name.substring(name.lastIndexOf('$') + 1));
    }
}
