package crashes.jsoup1601;

import java.util.List;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.Node;

/**
 * jsoup #1601: parsing a heading into a paragraph that belongs to no document.
 *
 * <p>The tree builder closes the paragraph that contains the fragment, and is left without a
 * current element.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(fragment("<h2>text</h2>", "p").size() + " node(s)");
    }

    /** The nodes of a piece of HTML as found inside such a tag. */
    static List<Node> fragment(String html, String tag) { // expect: reproduces, green when fixed
        return new Document("").parser().parseFragmentInput(html, new Element(tag), "");
    }
}
