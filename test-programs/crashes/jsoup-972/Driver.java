package crashes.jsoup972;

import org.jsoup.Jsoup;

/**
 * jsoup #972: a page that ends right behind {@code <!}.
 *
 * <p>The reader has consumed its whole buffer and looks at the next char all the same.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(nodes("<!") + " node(s)");
    }

    static int nodes(String html) { // expect: reproduces, green when fixed
        return Jsoup.parse(html).childNodeSize();
    }
}
