package crashes.jsoup1404;

import org.jsoup.Jsoup;

/**
 * jsoup #1404: a page of the nineties with a search field.
 *
 * <p>The tag {@code isindex} without attributes makes the tree builder ask a null list of
 * attributes for a prompt.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(text("<h1>Library</h1><isindex>"));
    }

    static String text(String html) { // expect: reproduces, green when fixed
        return Jsoup.parse(html).body().text();
    }
}
