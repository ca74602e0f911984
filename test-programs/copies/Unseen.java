import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/** A write that no probe sees: what a method has copied itself is true all the same. */
public class Unseen {
    int used = 1;

    void run() throws Throwable {
        MethodHandle used = MethodHandles.lookup().findSetter(Unseen.class, "used", int.class);
        used.invoke(this, 2);
        throw new IllegalStateException("" + this.used);
    }

    public static void main(String[] args) throws Throwable {
        new Unseen().run();
    }
}
