import java.io.IOException;
import java.io.OutputStream;
import java.util.AbstractList;

// What a class of the program's inherits of the JDK calls back what it overrides, whatever class a
// variable is declared to be of.
class Extended {
    int value;

    static class Task extends Thread {
        final Extended kept;
        Task(Extended e) { kept = e; } // expect this: mutable, e: immutable
        @Override public void run() { kept.value = 1; } // expect this: mutable
    }

    static class One extends AbstractList<Extended> {
        final Extended kept;
        One(Extended e) { kept = e; } // expect this: mutable, e: immutable
        @Override public Extended get(int at) { return kept; } // expect this: immutable
        @Override public int size() { return 1; } // expect this: immutable
    }

    static class Counting extends AbstractList<String> {
        final Extended kept;
        Counting(Extended e) { kept = e; } // expect this: mutable, e: immutable
        @Override public String get(int at) { kept.value++; return ""; } // expect this: mutable
        @Override public int size() { return 1; } // expect this: immutable
    }

    static class Out extends OutputStream {
        final Extended kept;
        Out(Extended e) { kept = e; } // expect this: mutable, e: immutable
        @Override public void write(int b) { kept.value++; } // expect this: mutable
    }

    static void start(Extended e) throws Exception { Task t = new Task(e); t.start(); t.join(); } // expect e: mutable
    static void each(Extended e) { new One(e).forEach(x -> x.value = 1); } // expect e: mutable
    static void count(Extended e) { new Counting(e).indexOf("x"); } // expect e: mutable
    static void write(Extended e, byte[] bytes) throws IOException { new Out(e).write(bytes); } // expect e: mutable, bytes: immutable
}
