package dev.hindsight.replay;

import dev.hindsight.replay.MessagePack.Malformed;
import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.Constant;
import dev.hindsight.replay.Recorded.FrameInfo;
import dev.hindsight.replay.Recorded.Row;
import dev.hindsight.replay.Recorded.StaticField;
import dev.hindsight.replay.Recorded.Stored;
import dev.hindsight.replay.Recorded.Trace;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * A crash file, decoded. The layout is specified in {@code crates/tracelog/src/lib.rs}.
 *
 * <p>It never changes once read, so all frames and all threads share it.
 */
final class CrashFile {
    private static final byte[] MAGIC = "HSCRASH\n".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 1;
    private static final int FILE_HEADER = 16;
    private static final int RECORD_HEADER = 20;
    private static final int MAX_RAW = 256 << 20;
    /**
     * The most numbers that may be missing between two present ones, so that a false number cannot
     * cost gigabytes.
     */
    private static final int MAX_GAP = 1 << 20;

    private static final int META = 1;
    /** The place of the iteration order among the circumstances. */
    private static final int ORDER = 16;
    private static final int FAILURE = 2;
    private static final int CLASSES = 3;
    private static final int OBJECTS = 4;
    private static final int END = 5;
    private static final int ORIGINS = 6;
    private static final int UNRESTORED = 7;

    /** The resource or file name, for messages. */
    final String name;
    FrameInfo[] frames;
    Trace[] exceptions = {};
    StaticField[] statics = {};
    /**
     * The order in which immutable sets and maps of the recorded JVM iterate; null if it is not
     * known.
     */
    Order order;
    /** The constants, by the numbers of the objects. */
    final Map<Integer, Constant> constants = new HashMap<>();
    /** The names with their origins, as {@link Numbered} reads them. */
    final Map<String, String> origins = new HashMap<>();
    /**
     * The classes of which objects could not be restored when the tests were made; null if that is
     * not known.
     */
    Set<String> unrestored;
    private ClassInfo[] classes = {};
    private int classCount;
    private Stored[] objects = {};
    private int objectCount;

    private CrashFile(String name) {
        this.name = name;
    }

    /**
     * Reads a whole file.
     *
     * @throws ReplayException if it is not a crash file, of a newer version, or damaged
     */
    static CrashFile read(byte[] bytes, String name) {
        CrashFile file = new CrashFile(name);
        int offset = header(bytes, name);
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int records = 0; ; records++) {
            if (offset == bytes.length) {
                throw damaged(name, offset, "the file ends without its end record");
            } else if (bytes.length - offset < RECORD_HEADER) {
                throw damaged(name, offset, "the file ends within a record header");
            } else if (crc(bytes, offset, 16) != in.getInt(offset + 16)) {
                throw damaged(name, offset, "a record header's checksum does not fit");
            }
            int kind = in.getInt(offset);
            int rawLength = in.getInt(offset + 4);
            int stored = in.getInt(offset + 8);
            int start = offset + RECORD_HEADER;
            if (rawLength < 0 || rawLength > MAX_RAW) {
                throw damaged(name, offset, "a record claims to be larger than any can be");
            } else if (stored < 0 || stored > bytes.length - start) {
                throw damaged(name, offset, "the file ends within a record");
            } else if (crc(bytes, start, stored) != in.getInt(offset + 12)) {
                throw damaged(name, offset, "a record's checksum does not fit");
            }
            try {
                // Kinds of records from later versions are skipped.
                if (kind >= META && kind <= UNRESTORED) {
                    Object value = MessagePack.decode(inflate(bytes, start, stored, rawLength));
                    if (kind == END) {
                        file.end(value, records);
                        return file;
                    }
                    file.take(kind, value);
                }
            } catch (Malformed e) {
                throw damaged(name, offset, "a record does not decode: " + e.getMessage());
            }
            offset = start + stored;
        }
    }

    /** The class of this number, or null if it is not in the file. */
    ClassInfo type(int id) {
        return id < classCount ? classes[id] : null;
    }

    /** The class of this name, or null if the file has no object of it. */
    ClassInfo type(String name) {
        for (int i = 0; i < classCount; i++) {
            if (classes[i] != null && classes[i].name.equals(name)) {
                return classes[i];
            }
        }
        return null;
    }

    /** The object of this number, or null if it is not in the file. */
    Stored object(int number) {
        return number >= 0 && number < objectCount ? objects[number] : null;
    }

    /** All object numbers are below this. */
    int objectCount() {
        return objectCount;
    }

    private static int header(byte[] bytes, String name) {
        int common = Math.min(bytes.length, MAGIC.length);
        if (bytes.length == 0 || !Arrays.equals(bytes, 0, common, MAGIC, 0, common)) {
            throw new ReplayException(name
                    + " is not a Hindsight crash file (it does not start with HSCRASH)");
        } else if (bytes.length < FILE_HEADER) {
            throw damaged(name, bytes.length, "the file ends within its header");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (crc(bytes, 0, 12) != in.getInt(12)) {
            throw damaged(name, 8, "the header's checksum does not fit");
        }
        int version = in.getInt(8);
        if (version < 0 || version > VERSION) {
            throw new ReplayException(name + " is a crash file of format version "
                    + Integer.toUnsignedString(version) + "; this replay library reads up to version "
                    + VERSION + ": use the one of the hindsight release that wrote the test");
        }
        return FILE_HEADER;
    }

    private void take(int kind, Object value) throws Malformed {
        switch (kind) {
            case META:
                // Files of earlier releases do not have it.
                Object drawn = new Row(value, "the circumstances").at(ORDER);
                order = drawn == null ? null : Order.of(new Row(drawn, "an order"));
                break;
            case FAILURE:
                Row failure = new Row(value, "the failure");
                Object[] list = failure.list(0);
                exceptions = new Trace[list.length];
                for (int i = 0; i < list.length; i++) {
                    exceptions[i] = new Trace(list[i]);
                }
                list = failure.list(1);
                frames = new FrameInfo[list.length];
                for (int i = 0; i < list.length; i++) {
                    frames[i] = new FrameInfo(list[i]);
                }
                // Files of earlier releases do not have it.
                list = failure.at(2) == null ? new Object[0] : failure.list(2);
                statics = new StaticField[list.length];
                for (int i = 0; i < list.length; i++) {
                    statics[i] = new StaticField(list[i]);
                }
                list = failure.at(4) == null ? new Object[0] : failure.list(4);
                for (Object raw : list) {
                    Constant constant = new Constant(raw);
                    constants.putIfAbsent(constant.object, constant);
                }
                break;
            case CLASSES:
                if (!(value instanceof Object[])) {
                    throw new Malformed("classes that are no list");
                }
                for (Object raw : (Object[]) value) {
                    addClass(new ClassInfo(raw));
                }
                break;
            case OBJECTS:
                Row block = new Row(value, "a block of objects");
                addObjects(block.number(0), block.list(1));
                break;
            case ORIGINS:
                for (Object raw : new Row(new Object[] {value}, "origins").list(0)) {
                    Row origin = new Row(raw, "an origin");
                    origins.put(origin.text(0), origin.text(1));
                }
                break;
            case UNRESTORED:
                unrestored = new HashSet<>(
                        Arrays.asList(new Row(new Object[] {value}, "classes").texts(0)));
                break;
            default:
                // The circumstances do not matter here.
                break;
        }
    }

    private void addClass(ClassInfo type) throws Malformed {
        if (type.id > classCount + MAX_GAP) {
            throw new Malformed("a class number is out of range");
        }
        if (type.id >= classes.length) {
            classes = Arrays.copyOf(classes, Math.max(type.id + 1, 2 * classes.length));
        }
        classes[type.id] = type;
        classCount = Math.max(classCount, type.id + 1);
    }

    private void addObjects(int first, Object[] block) throws Malformed {
        if (first > objectCount + MAX_GAP) {
            throw new Malformed("an object number is out of range");
        }
        int end = first + block.length;
        if (end > objects.length) {
            objects = Arrays.copyOf(objects, Math.max(end, 2 * objects.length));
        }
        for (int i = 0; i < block.length; i++) {
            objects[first + i] = new Stored(block[i]);
        }
        objectCount = Math.max(objectCount, end);
    }

    private void end(Object value, int records) throws Malformed {
        if (!(value instanceof Long) || (Long) value != records) {
            throw new Malformed(records + " records instead of " + value);
        } else if (frames == null) {
            throw new Malformed("the exception and its frames are missing");
        }
    }

    private static byte[] inflate(byte[] bytes, int start, int stored, int rawLength)
            throws Malformed {
        Inflater inflater = new Inflater(true);
        try {
            // A raw stream needs a byte after its end (zlib), which is never used.
            inflater.setInput(Arrays.copyOfRange(bytes, start, start + stored + 1));
            ByteArrayOutputStream raw = new ByteArrayOutputStream();
            byte[] chunk = new byte[1 << 16];
            while (!inflater.finished() && raw.size() <= rawLength) {
                int got = inflater.inflate(chunk);
                if (got == 0 && !inflater.finished()) {
                    throw new Malformed("the packed bytes end too early");
                }
                raw.write(chunk, 0, got);
            }
            if (raw.size() != rawLength) {
                throw new Malformed("it has not the length it claims");
            }
            return raw.toByteArray();
        } catch (DataFormatException e) {
            throw new Malformed("it cannot be unpacked");
        } finally {
            inflater.end();
        }
    }

    private static int crc(byte[] bytes, int start, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, start, length);
        return (int) crc.getValue();
    }

    private static ReplayException damaged(String name, int offset, String what) {
        return new ReplayException(String.format(
                "%s is damaged at offset 0x%x: %s; take the crash file anew from where it was"
                        + " recorded", name, offset, what));
    }
}
