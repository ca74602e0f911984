package crashes.lang412;

import org.apache.commons.lang.text.StrBuilder;

/**
 * LANG-412: a table cell that is null.
 *
 * <p>The padding methods accept null objects, but take the length of a null text when no
 * replacement for null has been set.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(line(new Object[] {"id", 17, null}, 8));
    }

    static String line(Object[] cells, int width) { // expect: reproduces, green when fixed
        StrBuilder out = new StrBuilder();
        for (Object cell : cells) {
            pad(out, cell, width);
        }
        return out.toString();
    }

    static void pad(StrBuilder out, Object cell, int width) { // expect: reproduces, green when fixed
        out.appendFixedWidthPadLeft(cell, width, '.');
    }
}
