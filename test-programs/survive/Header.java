import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;

/** What a class file says about its place among the classes. */
final class Header {
    int major;
    boolean isInterface;
    String superName;
    String[] interfaces;

    /** Reads the head of a class file. */
    static Header read(byte[] bytes) {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            return read(in);
        } catch (IOException e) {
            throw new IllegalArgumentException("not a class file", e);
        }
    }

    private static Header read(DataInputStream in) throws IOException {
        Header header = new Header();
        in.readInt();
        in.readUnsignedShort();
        header.major = in.readUnsignedShort();
        int count = in.readUnsignedShort();
        String[] texts = new String[count];
        int[] classes = new int[count];
        for (int index = 1; index < count; index++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1 -> texts[index] = in.readUTF();
                case 7 -> classes[index] = in.readUnsignedShort();
                case 8, 16, 19, 20 -> in.skipBytes(2);
                case 15 -> in.skipBytes(3);
                case 5, 6 -> {
                    in.skipBytes(8);
                    index++;
                }
                default -> in.skipBytes(4);
            }
        }
        header.isInterface = (in.readUnsignedShort() & 0x200) != 0;
        in.readUnsignedShort();
        int superclass = in.readUnsignedShort();
        header.superName = superclass == 0 ? null : texts[classes[superclass]];
        header.interfaces = new String[in.readUnsignedShort()];
        for (int at = 0; at < header.interfaces.length; at++) {
            header.interfaces[at] = texts[classes[in.readUnsignedShort()]];
        }
        return header;
    }
}
