import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes bodies out of classes. The verifier of a JVM stops at the first method that fails; where
 * one fails already in the class as it was (a dependency is missing or of another version), the
 * others are verified without it.
 */
final class Hollow {
    /** A method that failed. */
    record Place(String type, String method) {}

    private static final Pattern NEW = Pattern.compile("Location:\\s+(\\S+)\\.([^.(\\s]+\\(\\S*) ");
    private static final Pattern OLD = Pattern.compile("\\(class: (\\S+), method: (\\S+) signature: (\\S+)\\)");

    private Hollow() {}

    /** The method that the verifier complains about; null if it names none. */
    static Place place(VerifyError error) {
        String text = String.valueOf(error.getMessage());
        Matcher found = NEW.matcher(text);
        if (found.find()) {
            return new Place(found.group(1), found.group(2));
        }
        found = OLD.matcher(text);
        return found.find() ? new Place(found.group(1), found.group(2) + found.group(3)) : null;
    }

    /** The class with bodies that just throw in place of those of `methods` (name and descriptor). */
    static byte[] out(byte[] bytes, Set<String> methods) {
        var made = new ByteArrayOutputStream(bytes.length);
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes)); var out = new DataOutputStream(made)) {
            copy(in, out, 8);
            String[] texts = constants(in, out);
            copy(in, out, 6);
            copy(in, out, 2 * half(in, out));
            for (int fields = half(in, out); fields > 0; fields--) {
                member(in, out, texts, Set.of());
            }
            for (int left = half(in, out); left > 0; left--) {
                member(in, out, texts, methods);
            }
            out.write(in.readAllBytes());
        } catch (IOException e) {
            throw new IllegalArgumentException("not a class file", e);
        }
        return made.toByteArray();
    }

    private static void copy(DataInputStream in, DataOutputStream out, int length) throws IOException {
        out.write(in.readNBytes(length));
    }

    private static int half(DataInputStream in, DataOutputStream out) throws IOException {
        int value = in.readUnsignedShort();
        out.writeShort(value);
        return value;
    }

    private static String[] constants(DataInputStream in, DataOutputStream out) throws IOException {
        String[] texts = new String[half(in, out)];
        for (int index = 1; index < texts.length; index++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            switch (tag) {
                case 1 -> {
                    texts[index] = in.readUTF();
                    out.writeUTF(texts[index]);
                }
                case 7, 8, 16, 19, 20 -> copy(in, out, 2);
                case 15 -> copy(in, out, 3);
                case 5, 6 -> {
                    copy(in, out, 8);
                    index++;
                }
                default -> copy(in, out, 4);
            }
        }
        return texts;
    }

    private static void member(DataInputStream in, DataOutputStream out, String[] texts, Set<String> methods)
            throws IOException {
        half(in, out);
        boolean hollow = methods.contains(texts[half(in, out)] + texts[half(in, out)]);
        for (int attributes = half(in, out); attributes > 0; attributes--) {
            String name = texts[half(in, out)];
            byte[] content = in.readNBytes(in.readInt());
            if (hollow && name.equals("Code")) {
                out.writeInt(14);
                out.writeShort(1);
                out.write(content, 2, 2);
                out.writeInt(2);
                // aconst_null, athrow; no handlers, no attributes
                out.writeShort(0x01bf);
                out.writeInt(0);
            } else {
                out.writeInt(content.length);
                out.write(content);
            }
        }
    }
}
