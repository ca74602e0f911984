package crashes.lang857;

import org.apache.commons.lang3.StringEscapeUtils;

/**
 * LANG-857: escaping a cell with an emoji for CSV.
 *
 * <p>The translator counts code points where it should count chars, and looks for a code point
 * behind the end of the text.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(row("mood", "\uD83D\uDE30").length() + " chars");
    }

    static String row(String name, String value) { // expect: reproduces, green when fixed
        return cell(name) + "," + cell(value);
    }

    static String cell(String text) { // expect: reproduces, green when fixed
        return StringEscapeUtils.escapeCsv(text);
    }
}
