// options: include=CauseOutside
// exit: 1

/** Of a cause that a class without probes has caught and thrown on, all frames are kept. */
public class CauseOutside {
    static int parse(String s) {
        return s.length() / (s.length() - 3);
    }

    static void load(String s) {
        parse(s);
    }

    static void byLibrary(String s, boolean helper) {
        Library.run(() -> load(s), helper);
    }

    static void call(String s, boolean helper) {
        try {
            byLibrary(s, helper);
        } catch (RuntimeException e) {
            throw new IllegalStateException("wrapped", e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> call("ink", true), "helper");
        thread.start();
        thread.join();
        call("pen", false);
    }
}

class Library {
    static void run(Runnable task, boolean helper) {
        try {
            task.run();
        } catch (RuntimeException e) {
            if (helper) {
                rethrow(e);
            }
            throw e;
        }
    }

    static void rethrow(RuntimeException e) {
        throw e;
    }
}
/* crashes
java.lang.IllegalStateException <- java.lang.ArithmeticException in thread helper, uncaught
  CauseOutside.call:22 s="ink" helper=true
  CauseOutside.lambda$main$:27
  CauseOutside.parse:7 (cause 1) s="ink"
  CauseOutside.load:11 (cause 1) s="ink"
  CauseOutside.lambda$byLibrary$:15 (cause 1) s="ink"
  CauseOutside.byLibrary:15 (cause 1) s="ink" helper=true
java.lang.IllegalStateException <- java.lang.ArithmeticException in thread main, uncaught
  CauseOutside.call:22 s="pen" helper=false
  CauseOutside.main:30 args=[]
  CauseOutside.parse:7 (cause 1) s="pen"
  CauseOutside.load:11 (cause 1) s="pen"
  CauseOutside.lambda$byLibrary$:15 (cause 1) s="pen"
  CauseOutside.byLibrary:15 (cause 1) s="pen" helper=false
*/
