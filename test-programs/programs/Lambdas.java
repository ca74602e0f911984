// exit: 1

import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** Lambdas as arguments, with and without captured values, and method references. */
public class Lambdas {
    final TreeMap<String, Integer> stock = new TreeMap<>(Comparator.comparing(s -> -s.length()));

    static int apply(IntFunction<String> named, Runnable plain, IntFunction<String> reference) {
        plain.run();
        return named.apply(3).length() / (reference.apply(7).length() - 1);
    }

    int share(String item) {
        return apply(i -> item + i, () -> {}, Integer::toString) + stock.get(item);
    }

    public static void main(String[] args) {
        Lambdas lambdas = new Lambdas();
        lambdas.stock.put("apple", 1);
        lambdas.share("pear");
    }
}
/* crashes
java.lang.ArithmeticException in thread main, uncaught
  Lambdas.apply:13 named=lambda(Lambdas.lambda$share$ "pear") plain=lambda(Lambdas.lambda$share$ ) reference=lambda(java.lang.Integer.toString )
  Lambdas.share:17 this=Lambdas{stock=TreeMap} item="pear"
  Lambdas.main:23 args=[]
*/
