import java.lang.reflect.Field;

/** A write that no probe sees: what a method has copied itself is true all the same. */
public class Unseen {
    int used = 1;

    void run() throws Exception {
        Field field = Unseen.class.getDeclaredField("used");
        field.setInt(this, 2);
        throw new IllegalStateException("" + used);
    }

    public static void main(String[] args) throws Exception {
        new Unseen().run();
    }
}
