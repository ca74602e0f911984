package dev.hindsight.replay;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Decodes MessagePack into {@code null}, {@link Boolean}, {@link Long}, {@link Float}, {@link
 * Double}, {@link String}, {@code byte[]} and {@code Object[]}.
 *
 * <p>Whatever the bytes, it ends with a value or with {@link Malformed}, and uses memory in
 * proportion to their number: no count is trusted beyond the bytes that are left.
 */
final class MessagePack {
    /** The deepest nesting that is read; crash files nest six deep. */
    private static final int MAX_DEPTH = 32;

    /** Thrown for bytes that are not valid. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }

    private final ByteBuffer in;

    private MessagePack(byte[] bytes) {
        in = ByteBuffer.wrap(bytes);
    }

    /** Decodes the one value that {@code bytes} hold. */
    static Object decode(byte[] bytes) throws Malformed {
        MessagePack decoder = new MessagePack(bytes);
        Object value = decoder.value(0);
        if (decoder.in.hasRemaining()) {
            throw decoder.malformed("bytes are left over");
        }
        return value;
    }

    private Object value(int depth) throws Malformed {
        int tag = u8();
        if (tag < 0x80) {
            return (long) tag;
        } else if (tag < 0x90) {
            throw malformed("a map where none can be");
        } else if (tag < 0xa0) {
            return array(tag & 0x0f, depth);
        } else if (tag < 0xc0) {
            return text(tag & 0x1f);
        } else if (tag >= 0xe0) {
            return (long) (byte) tag;
        }
        switch (tag) {
            case 0xc0: return null;
            case 0xc2: return Boolean.FALSE;
            case 0xc3: return Boolean.TRUE;
            case 0xc4: return bytes(u8());
            case 0xc5: return bytes(u16());
            case 0xc6: return bytes(u32());
            case 0xca: return need(4).getFloat();
            case 0xcb: return need(8).getDouble();
            case 0xcc: return (long) u8();
            case 0xcd: return (long) u16();
            case 0xce: return u32();
            case 0xcf: return u64();
            case 0xd0: return (long) need(1).get();
            case 0xd1: return (long) need(2).getShort();
            case 0xd2: return (long) need(4).getInt();
            case 0xd3: return need(8).getLong();
            case 0xd9: return text(u8());
            case 0xda: return text(u16());
            case 0xdb: return text(u32());
            case 0xdc: return array(u16(), depth);
            case 0xdd: return array(u32(), depth);
            default: throw malformed(String.format("unexpected tag 0x%02x", tag));
        }
    }

    private Object[] array(long length, int depth) throws Malformed {
        if (depth >= MAX_DEPTH) {
            throw malformed("nested too deep");
        }
        // Every element takes at least one byte.
        if (length > in.remaining()) {
            throw malformed("an array of " + length + " elements in " + in.remaining() + " bytes");
        }
        Object[] values = new Object[(int) length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(depth + 1);
        }
        return values;
    }

    private String text(long length) throws Malformed {
        ByteBuffer slice = ByteBuffer.wrap(bytes(length));
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(slice).toString();
        } catch (CharacterCodingException e) {
            throw malformed("a string that is not UTF-8");
        }
    }

    private byte[] bytes(long length) throws Malformed {
        if (length > in.remaining()) {
            throw malformed(length + " bytes where " + in.remaining() + " are left");
        }
        byte[] bytes = new byte[(int) length];
        in.get(bytes);
        return bytes;
    }

    private int u8() throws Malformed {
        return need(1).get() & 0xff;
    }

    private int u16() throws Malformed {
        return need(2).getShort() & 0xffff;
    }

    private long u32() throws Malformed {
        return need(4).getInt() & 0xffff_ffffL;
    }

    private long u64() throws Malformed {
        long value = need(8).getLong();
        if (value < 0) {
            throw malformed("an integer beyond 63 bits");
        }
        return value;
    }

    private ByteBuffer need(int bytes) throws Malformed {
        if (in.remaining() < bytes) {
            throw malformed("the bytes end within a value");
        }
        return in;
    }

    private Malformed malformed(String what) {
        return new Malformed(what + " (at byte " + in.position() + ")");
    }
}
