import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.Adler32;
import java.util.zip.CRC32;

// What everybody knows of the JDK's methods.
class Plain {
    int value;

    static String join(List<String> texts) { return String.join(",", texts); } // expect texts: immutable
    static String joinArray(String[] texts) { return String.join(",", texts); } // expect texts: immutable
    static String joinParts(StringBuilder one, StringBuilder other) { return String.join("", one, other); } // expect one: immutable, other: immutable
    static long countOf(String[] texts) { return Arrays.stream(texts).count(); } // expect texts: immutable
    static int sum(int[] numbers) { return IntStream.of(numbers).sum(); } // expect numbers: immutable
    static long sumOfLongs(long[] numbers) { return LongStream.of(numbers).sum(); } // expect numbers: immutable
    static int sumOfArray(int[] numbers) { return Arrays.stream(numbers).sum(); } // expect numbers: immutable
    static void pokeStreamed(Plain[] all) { Arrays.stream(all).forEach(p -> p.value = 1); } // expect all: mutable
    static void pokeStreamedOf(Plain one) { Stream.of(one).forEach(p -> p.value = 1); } // expect one: mutable
    static Plain cast(Object o) { return Plain.class.cast(o); } // expect o: immutable
    static void castAndPoke(Object o) { Plain.class.cast(o).value = 1; } // expect o: mutable
    static boolean isOne(Object o) { return Plain.class.isInstance(o); } // expect o: immutable
    static boolean find(Matcher m) { return m.find(); } // expect m: mutable
    static boolean matches(Matcher m) { return m.matches(); } // expect m: mutable
    static String group(Matcher m) { return m.group(1); } // expect m: immutable
    static void checksum(CRC32 sum, byte[] bytes) { sum.update(bytes); } // expect sum: mutable, bytes: immutable
    static void adler(Adler32 sum, byte[] bytes) { sum.update(bytes, 0, 1); } // expect sum: mutable, bytes: immutable
    static void checksumOfOne(CRC32 sum, int one) { sum.update(one); } // expect sum: mutable
    static String valueOf(char[] chars) { return String.valueOf(chars); } // expect chars: immutable
    static String made(char[] chars) { return new String(chars); } // expect chars: immutable
    static int read(ByteArrayInputStream in) { return in.read(); } // expect in: mutable
    static int readInto(ByteArrayInputStream in, byte[] into) { return in.read(into, 0, 3); } // expect in: mutable, into: mutable
}
