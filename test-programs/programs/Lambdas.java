// exit: 1

import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/** Lambdas as arguments, with and without captured values, and method references. */
public class Lambdas {
    final TreeMap<String, Integer> stock = new TreeMap<>(Comparator.comparing(s -> -s.length()));

    static int apply(IntFunction<String> named, Runnable plain, IntFunction<String> reference,
            UnaryOperator<Integer> boxed) {
        plain.run();
        return named.apply(3).length() / (reference.apply(7).length() - boxed.apply(-4));
    }

    int share(String item) {
        return apply(i -> item + i, () -> {}, Integer::toString, Lambdas::clamp) + stock.get(item);
    }

    public static void main(String[] args) {
        Lambdas lambdas = new Lambdas();
        lambdas.stock.put("apple", 1);
        lambdas.share("pear");
    }

    /** Taken out of its box and put into one by the class of the method reference. */
    static int clamp(int number) {
        return Math.max(number, 1);
    }

    /** A type that a program may be without, as a library that it has no use for. */
    static class Gone {}

    static Gone gone() {
        return null;
    }
}
/* crashes
java.lang.ArithmeticException in thread main, uncaught
  Lambdas.apply:15 named=lambda(Lambdas.lambda$share$ "pear") plain=lambda(Lambdas.lambda$share$ ) reference=lambda(java.lang.Integer.toString ) boxed=lambda(Lambdas.clamp )
  Lambdas.share:19 this=Lambdas{stock=TreeMap} item="pear"
  Lambdas.main:25 args=[]
*/
