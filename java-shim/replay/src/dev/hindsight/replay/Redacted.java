package dev.hindsight.replay;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The placeholder of a text that was not stored because it is secret. The recording has its type
 * and its approximate length, so code that measures or wipes it still works.
 */
final class Redacted {
    static final String STANDS_IN = "a text of that length stands for it";

    private static final String REDACTED = "redacted, ";
    private static final String LENGTH = "length ";
    /**
     * The class of the shortest texts, which are given its greatest length, so that code that cuts
     * some characters off finds them.
     */
    private static final String SHORT = "1 to 8";
    private static final int OF_SHORT = 8;
    private static final int LONGEST = 1 << 16;

    private Redacted() {}

    /** A text of this type for a hole with this reason, or null if the reason is another one. */
    static Object placeholder(String reason, Class<?> type) {
        return placeholder(reason, type, 0);
    }

    /**
     * As above, for texts that must differ: each ordinal has its own text, as far as the length
     * allows, which sorts behind those of lower ordinals.
     */
    static Object placeholder(String reason, Class<?> type, int ordinal) {
        if (type == null || !reason.startsWith(REDACTED)) {
            return null;
        }
        int length = length(reason.substring(REDACTED.length()));
        if (length < 0) {
            return null;
        }
        char[] units = new char[length];
        Arrays.fill(units, 'x');
        // Ternary digits: x is zero, y and z are one and two.
        for (int rest = ordinal, at = length - 1; rest > 0 && at >= 0; rest /= 3, at--) {
            units[at] += (char) (rest % 3);
        }
        if (type == String.class) {
            return new String(units);
        } else if (type == char[].class) {
            return units;
        }
        return type == byte[].class
                ? new String(units).getBytes(StandardCharsets.ISO_8859_1) : null;
    }

    /**
     * The shortest length of a class of lengths, but the longest of the class of shortest texts; -1
     * if it is not such a class.
     */
    private static int length(String told) {
        if (told.equals("empty")) {
            return 0;
        } else if (!told.startsWith(LENGTH)) {
            return -1;
        }
        String range = told.substring(LENGTH.length());
        if (range.equals(SHORT)) {
            return OF_SHORT;
        }
        boolean isAbove = range.startsWith("above ");
        String number = isAbove ? range.substring("above ".length()) : range.split(" ")[0];
        try {
            int length = Integer.parseInt(number) + (isAbove ? 1 : 0);
            return length < 0 || length > LONGEST ? -1 : length;
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
