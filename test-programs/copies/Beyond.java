import java.awt.geom.Path2D;
import java.io.File;
import java.security.MessageDigest;
import java.util.PrimitiveIterator;

/**
 * Objects that change by code which logs no writes: the frames that lead to them say so. Those of a few
 * classes that do log theirs, where others of the same packages do not change, are known.
 */
public class Beyond {
    static class Left {
        int value;

        void set(int to) {
            value = to;
        }
    }

    static void digests(MessageDigest digest, int number) {
        digest.update((byte) number);
        leaves(new Left(), number);
    }

    static void leaves(Left left, int number) {
        left.set(number);
        draws(new Path2D.Double(), number);
    }

    static void draws(Path2D path, int number) {
        path.moveTo(number, number);
        starts(new ProcessBuilder("ls").directory(new File("a")), number);
    }

    static void starts(ProcessBuilder builder, int number) {
        builder.command("rm", "" + number).directory(new File("b"));
        reads("abc".chars().iterator(), number);
    }

    static void reads(PrimitiveIterator.OfInt letters, int number) {
        letters.nextInt();
        knows(new StringBuilder("a"), number);
    }

    static void knows(StringBuilder text, int number) {
        text.setLength(0);
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        digests(MessageDigest.getInstance("SHA-256"), 3);
    }
}
