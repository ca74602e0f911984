// exit: 1
// jvm: -Djava.util.concurrent.ForkJoinPool.common.parallelism=0

import java.util.concurrent.RecursiveTask;
import java.util.stream.IntStream;

/**
 * What a task throws is caught and, in the same thread, thrown on by another method of the JDK: one
 * trace, several ways up.
 */
public class Joined {
    static int job(int i) {
        if (i == 7) {
            throw new IllegalStateException("bad " + i);
        }
        return i;
    }

    static int parallel(int n) {
        return IntStream.range(0, n).parallel().map(Joined::job).sum();
    }

    static class Sum extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1L;

        final int from;
        final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Integer compute() {
            if (to - from == 1) {
                return job(from);
            }
            int middle = (from + to) / 2;
            return new Sum(from, middle).invoke() + new Sum(middle, to).invoke();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread sums = new Thread(() -> new Sum(4, 8).invoke(), "sums");
        sums.start();
        sums.join();
        parallel(10);
    }
}
/* crashes
java.lang.IllegalStateException in thread main, uncaught
  Joined.job:14 i=7
  Joined.parallel:20 n=10
  Joined.main:48 args=[]
java.lang.IllegalStateException in thread sums, uncaught
  Joined.job:14 i=7
  Joined$Sum.compute:37 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=7,to=8}
  Joined$Sum.compute:23 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=7,to=8}
  Joined$Sum.compute:40 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=6,to=8}
  Joined$Sum.compute:23 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=6,to=8}
  Joined$Sum.compute:40 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=4,to=8}
  Joined$Sum.compute:23 this=Joined$Sum{status=-2147287040,aux=ForkJoinTask$Aux,result=null,from=4,to=8}
  Joined.lambda$main$:45
*/
