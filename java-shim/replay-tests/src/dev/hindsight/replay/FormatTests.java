package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.one;
import static dev.hindsight.replay.Packer.row;
import static dev.hindsight.replay.Tests.check;
import static dev.hindsight.replay.Tests.equal;
import static dev.hindsight.replay.Tests.fails;

import dev.hindsight.replay.MessagePack.Malformed;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/** Tests of crash files and MessagePack, complete and damaged. */
final class FormatTests {
    private FormatTests() {}

    static void valuesComeBack() throws Exception {
        for (Object value : new Object[] {
            null, true, false, 0L, 127L, 128L, -1L, -32L, -33L, 255L, 256L, 65536L, -70000L,
            Long.MAX_VALUE, Long.MIN_VALUE, 1.5f, -0.0, Double.NaN, "", "äöü€😀",
            "x".repeat(100_000), new byte[0], new byte[70_000], row(), row(1L, row("a", null)),
        }) {
            equal(MessagePack.decode(Packer.pack(value)), value);
        }
    }

    static void unsignedAndShortForms() throws Exception {
        equal(MessagePack.decode(bytes(0xcc, 200)), 200L);
        equal(MessagePack.decode(bytes(0xcd, 1, 0)), 256L);
        equal(MessagePack.decode(bytes(0xce, 0xff, 0xff, 0xff, 0xff)), 0xffff_ffffL);
        equal(MessagePack.decode(bytes(0xcf, 0, 0, 0, 0, 0, 0, 0, 5)), 5L);
        equal(MessagePack.decode(bytes(0xd1, 0xff, 0xfe)), -2L);
        equal(MessagePack.decode(bytes(0xd9, 1, 'a')), "a");
        equal(MessagePack.decode(bytes(0xda, 0, 1, 'a')), "a");
        equal(MessagePack.decode(bytes(0xc4, 1, 7)), new byte[] {7});
        equal(MessagePack.decode(bytes(0xdc, 0, 1, 7)), row(7L));
    }

    static void hostileValues() {
        byte[] deep = new byte[100_000];
        Arrays.fill(deep, (byte) 0x91);
        for (byte[] hostile : new byte[][] {
            {}, deep, bytes(0xdd, 0x7f, 0xff, 0xff, 0xff), bytes(0xdd, 0xff, 0xff, 0xff, 0xff),
            bytes(0xc6, 0xff, 0xff, 0xff, 0xff, 1), bytes(0xdb, 0x7f, 0xff, 0xff, 0xff),
            bytes(0xcf, 0xff, 0, 0, 0, 0, 0, 0, 0), bytes(0xc1), bytes(0x80), bytes(0xd4, 1, 1),
            bytes(0xa2, 0xc3, 0x28), bytes(0xa1), bytes(1, 2), bytes(0xcb, 1, 2),
        }) {
            fails(Malformed.class, () -> MessagePack.decode(hostile), "(at byte ");
        }
    }

    static void randomBytesEnd() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            try {
                MessagePack.decode(bytes);
            } catch (Malformed e) {
                // This is the expected exception.
            }
        }
    }

    static void everyTruncationIsToldWithItsOffset() {
        byte[] file = sample();
        CrashFile.read(file, "whole.hsc");
        for (int length = 0; length < file.length; length++) {
            byte[] cut = Arrays.copyOf(file, length);
            String[] texts = length == 0
                    ? new String[] {"cut.hsc", "not a Hindsight crash file"}
                    : new String[] {"cut.hsc", "offset 0x", "ends "};
            fails(ReplayException.class, () -> CrashFile.read(cut, "cut.hsc"), texts);
        }
    }

    static void everyChangedByteIsNoticed() {
        byte[] file = sample();
        for (int i = 0; i < file.length; i++) {
            byte[] changed = file.clone();
            changed[i] ^= 0x40;
            fails(ReplayException.class, () -> CrashFile.read(changed, "bad.hsc"), "bad.hsc");
        }
    }

    static void newerVersion() {
        fails(ReplayException.class, () -> CrashFile.read(new Packer(2).end(), "new.hsc"),
                "new.hsc", "version 2", "up to version 1", "use the one");
    }

    static void otherFile() {
        fails(ReplayException.class,
                () -> CrashFile.read("PK\3\4".getBytes(StandardCharsets.UTF_8), "a.jar"),
                "a.jar is not a Hindsight crash file");
    }

    static void soundRecordsThatSayNonsense() {
        for (Object value : new Object[] {
            null, 1L, "x", row(), one(row()), row(row(1L), row()), row(row(), one(row("x"))),
        }) {
            fails(ReplayException.class,
                    () -> CrashFile.read(new Packer().record(2, value).end(), "odd.hsc"),
                    "odd.hsc is damaged at offset 0x10", "does not decode");
        }
        fails(ReplayException.class, () -> CrashFile.read(new Packer()
                .record(4, row(Integer.MAX_VALUE, row())).end(), "odd.hsc"), "out of range");
        fails(ReplayException.class, () -> CrashFile.read(new Packer()
                .record(4, row(0, one(row(99, 0, null)))).end(), "odd.hsc"), "kind 99");
        fails(ReplayException.class, () -> CrashFile.read(new Packer().end(), "odd.hsc"),
                "the exception and its frames are missing");
    }

    static void laterRecordsAndFieldsArePassedOver() {
        byte[] file = new Packer()
                .record(2, row(row(), one(row("C", "m", "()V", 1, null, 0, 2, "", null,
                        one(row(1, null, "I", 5L, "later")), row(), 0, "later")),
                        one(row("C", "count", "I", 8, 1L, "later")), row(),
                        one(row(7, "C", "NONE", "later")), "later"))
                .raw(77, new byte[] {(byte) 0xc1})
                .end();
        equal(Frame.restore(CrashFile.read(file, "f"), 0, null).argument(1), 5);
    }

    static void readsFilesAndResources() throws Exception {
        Path folder = Files.createTempDirectory("hindsight");
        Path file = Files.write(folder.resolve("a.hsc"), sample());
        equal(Crash.of(file).frame(0).argument(1), "text");
        fails(ReplayException.class, () -> Crash.of(folder.resolve("none.hsc")), "none.hsc");
        fails(ReplayException.class, () -> Crash.of(FormatTests.class, "none.hsc"),
                "no resource none.hsc", "FormatTests", "class path");
        fails(ReplayException.class, () -> Crash.of(file).frame(7), "no frame 7");
        Files.delete(file);
        Files.delete(folder);
    }

    static void damagedGraphsDoNoHarm() {
        // Numbers that lead nowhere, values of other kinds, and missing classes.
        Object type = row(0, "java.util.ArrayList", 0, row(), row(),
                row(row("java.util.ArrayList", "elementData", "[Ljava/lang/Object;", 0),
                        row("java.util.ArrayList", "size", "I", 0)), "", null);
        for (Object object : new Object[] {
            row(0, 0, row(99L, 1L)), row(0, 0, row("x", "y")), row(0, 0, row()), row(0, 5, row()),
            row(0, 0, row(0L, 1L)), row(1, 0, new byte[3]), row(2, 0, row(1L)), row(5, 0, "A"),
            row(4, 0, "no.such.Type"), row(7, 0, row("a", "b", "()V", true, row())),
        }) {
            byte[] file = new Packer()
                    .record(2, row(row(), one(row("C", "m", "()V", 1, null, 0, 2, "", null,
                            one(row(1, null, "Ljava/util/List;", 0L)), row(), 0))))
                    .record(3, one(type)).record(4, row(0, one(object))).end();
            Frame frame = Frame.restore(CrashFile.read(file, "f"), 0, null);
            check(!frame.holes().isEmpty(), "no hole");
        }
    }

    private static byte[] sample() {
        Snapshot snapshot = new Snapshot();
        return snapshot.frame(one(snapshot.argument(1, "text"))).file();
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }
}
