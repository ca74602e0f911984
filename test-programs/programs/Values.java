// exit: 1

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** All kinds of values, and none of the program's code is run to read them. */
public class Values {
    enum Color {
        RED,
        GREEN {
            @Override
            int code() {
                return 2;
            }
        };

        int code() {
            return 1;
        }
    }

    static class Trap {
        final int n;

        Trap(int n) {
            this.n = n;
        }

        @Override
        public String toString() {
            throw new AssertionError("toString was called");
        }

        @Override
        public int hashCode() {
            System.out.println("hashCode was called");
            return n;
        }

        @Override
        public boolean equals(Object other) {
            throw new AssertionError("equals was called");
        }
    }

    class Inner {
        Values outer() {
            return Values.this;
        }
    }

    static class Cycle {
        Cycle self = this;
        Object[] array = {self, null, "s"};
    }

    static class Everything {
        boolean z = true;
        byte b = -128;
        char c = 'c';
        short s = -32768;
        int i = Integer.MIN_VALUE;
        long j = Long.MAX_VALUE;
        float f = Float.NEGATIVE_INFINITY;
        double d = -0.0;
        String text = "quote\" \u00e9 \ud83d\ude00";
        int[] ints = {1, 2, 3};
        Class<?> type = String[].class;
        Class<?> primitive = int.class;
        Color red = Color.RED;
        Color green = Color.GREEN;
        Integer boxed = 77;
        Object nothing = null;
        Thread thread = Thread.currentThread();
    }

    static void fail(Everything e, Trap trap, Cycle cycle, Inner inner, Supplier<String> lambda, Runnable proxy) {
        throw new IllegalStateException();
    }

    static void collections(List<Object> list, Map<Object, Object> map, EnumMap<Color, Integer> enums) {
        fail(new Everything(), new Trap(5), new Cycle(), new Values().new Inner(), () -> list + "x", proxy());
    }

    static Runnable proxy() {
        return (Runnable)
                Proxy.newProxyInstance(
                        Values.class.getClassLoader(), new Class<?>[] {Runnable.class}, (p, m, a) -> null);
    }

    public static void main(String[] args) {
        List<Object> list = new ArrayList<>(List.of("a", 1));
        collections(list, new HashMap<>(Map.of("k", "v")), new EnumMap<>(Color.class));
    }
}
/* crashes
java.lang.IllegalStateException in thread main, uncaught
  Values.fail:83 e=Values$Everything{z=true,b=-128,c='c',s=-32768,i=-2147483648,j=9223372036854775807,f=-inff,d=-0.0,text="quote\" é 😀",ints=[I(12 bytes),type=class [Ljava.lang.String;,primitive=class int,red=Values$Color.RED,green=Values$Color$1.GREEN,boxed=Integer{value=77},nothing=null,thread=hole(Thread.currentThread())} trap=Values$Trap{n=5} cycle=Values$Cycle{self=Values$Cycle{self=Values$Cycle{..},array=Object;{..}},array=[Values$Cycle{..},null,"s"]} inner=Values$Inner{this$0=Values{}} lambda=lambda(Values.lambda$collections$ ArrayList) proxy=$Proxy0{h=lambda(Values.lambda$proxy$ )}
  Values.collections:87 list=ArrayList map=HashMap enums=EnumMap
  Values.main:98 args=[]
*/
