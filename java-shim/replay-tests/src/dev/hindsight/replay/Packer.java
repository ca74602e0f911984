package dev.hindsight.replay;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Writes MessagePack and records, as the agent does. */
final class Packer {
    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private int records;

    Packer() {
        this(1);
    }

    Packer(int version) {
        byte[] header = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN)
                .put("HSCRASH\n".getBytes(StandardCharsets.US_ASCII)).putInt(version).array();
        header(header, 12);
        file.writeBytes(header);
    }

    /** Adds a record with the MessagePack of a value. */
    Packer record(int kind, Object value) {
        return raw(kind, pack(value));
    }

    Packer raw(int kind, byte[] raw) {
        Deflater deflater = new Deflater(1, true);
        deflater.setInput(raw);
        deflater.finish();
        byte[] buffer = new byte[raw.length + 100];
        int stored = deflater.deflate(buffer);
        deflater.end();
        CRC32 crc = new CRC32();
        crc.update(buffer, 0, stored);
        byte[] header = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(kind).putInt(raw.length).putInt(stored).putInt((int) crc.getValue()).array();
        header(header, 16);
        file.writeBytes(header);
        file.write(buffer, 0, stored);
        records++;
        return this;
    }

    /** The file with its end record. */
    byte[] end() {
        record(5, records);
        return file.toByteArray();
    }

    byte[] unfinished() {
        return file.toByteArray();
    }

    private static void header(byte[] header, int length) {
        CRC32 crc = new CRC32();
        crc.update(header, 0, length);
        ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(length, (int) crc.getValue());
    }

    /** A list of values, as structures are. */
    static Object[] row(Object... values) {
        return values;
    }

    /** A list of one value, which may be a list itself. */
    static Object[] one(Object value) {
        return new Object[] {value};
    }

    static byte[] pack(Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            pack(value, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void pack(Object value, DataOutputStream out) throws IOException {
        if (value == null) {
            out.write(0xc0);
        } else if (value instanceof Boolean) {
            out.write((Boolean) value ? 0xc3 : 0xc2);
        } else if (value instanceof Float) {
            out.write(0xca);
            out.writeFloat((Float) value);
        } else if (value instanceof Double) {
            out.write(0xcb);
            out.writeDouble((Double) value);
        } else if (value instanceof Number) {
            integer(((Number) value).longValue(), out);
        } else if (value instanceof String) {
            byte[] bytes = ((String) value).getBytes(StandardCharsets.UTF_8);
            if (bytes.length < 32) {
                out.write(0xa0 | bytes.length);
            } else {
                out.write(0xdb);
                out.writeInt(bytes.length);
            }
            out.write(bytes);
        } else if (value instanceof byte[]) {
            out.write(0xc6);
            out.writeInt(((byte[]) value).length);
            out.write((byte[]) value);
        } else {
            Object[] list = value instanceof List ? ((List<?>) value).toArray() : (Object[]) value;
            if (list.length < 16) {
                out.write(0x90 | list.length);
            } else {
                out.write(0xdd);
                out.writeInt(list.length);
            }
            for (Object element : list) {
                pack(element, out);
            }
        }
    }

    private static void integer(long value, DataOutputStream out) throws IOException {
        if (value >= -32 && value < 128) {
            out.write((int) value);
        } else if (value == (byte) value) {
            out.write(0xd0);
            out.writeByte((int) value);
        } else if (value == (int) value) {
            out.write(0xd2);
            out.writeInt((int) value);
        } else {
            out.write(0xd3);
            out.writeLong(value);
        }
    }

    /** A row of a class, by another name, with its fields. */
    static Object[] renamed(Object[] row, String from, String to) {
        if (!row[1].toString().endsWith(from)) {
            return row;
        }
        List<Object> fields = new ArrayList<>();
        for (Object field : (List<?>) row[5]) {
            Object[] copy = ((Object[]) field).clone();
            copy[0] = copy[0].toString().replace(from, to);
            fields.add(copy);
        }
        return replace(replace(row, 1, row[1].toString().replace(from, to)), 5, fields);
    }

    /** A row with another value at one place. */
    static Object[] replace(Object[] row, int index, Object value) {
        Object[] copy = row.clone();
        copy[index] = value;
        return copy;
    }
}
