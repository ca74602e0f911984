package crashes.lang294;

import org.apache.commons.lang.text.StrBuilder;

/**
 * LANG-294: deleting every occurrence of a mark from a text.
 *
 * <p>{@code indexOf} searches the whole buffer, not only the used part, and finds the mark again in
 * what the last deletion left behind the end.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        StrBuilder text = new StrBuilder("\n%MARK%\nDo more\neven more\n%MARK%\n");
        System.out.println(strip(text, "\n%MARK%").length() + " chars");
    }

    static StrBuilder strip(StrBuilder text, String mark) { // expect: reproduces, green when fixed if the buffer is copied
        return text.deleteAll(mark);
    }
}
