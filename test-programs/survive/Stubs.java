import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Stand-ins for classes that nobody has, shaped by what they are used for. */
final class Stubs {
    static final int SUPERCLASS = 1;
    static final int INTERFACE = 2;
    static final int THROWN = 4;

    private Stubs() {}

    /**
     * What a missing class most likely is. Of an interface the verifier believes everything, so
     * that is what it is if nothing speaks against it.
     */
    static int kind(String name, Integer uses) {
        int known = uses == null ? 0 : uses;
        if ((known & INTERFACE) != 0) {
            return INTERFACE;
        }
        if ((known & THROWN) != 0 || name.matches(".*(Exception|Error|Throwable|Fault|Failure)")) {
            return THROWN;
        }
        return (known & SUPERCLASS) != 0 ? SUPERCLASS : INTERFACE;
    }

    /** The class file of a stand-in. */
    static byte[] make(String name, int kind) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeInt(0xcafebabe);
            out.writeInt(52);
            out.writeShort(5);
            for (String text : new String[] {name, kind == THROWN ? "java/lang/RuntimeException" : "java/lang/Object"}) {
                out.writeByte(1);
                out.writeUTF(text);
            }
            for (int index = 1; index <= 2; index++) {
                out.writeByte(7);
                out.writeShort(index);
            }
            // public, and interface abstract or super
            out.writeShort(kind == INTERFACE ? 0x601 : 0x21);
            out.writeShort(3);
            out.writeShort(4);
            // No interfaces, fields, methods, attributes.
            out.writeLong(0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
    }
}
