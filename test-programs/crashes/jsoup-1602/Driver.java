package crashes.jsoup1602;

import java.util.List;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.Node;

/**
 * jsoup #1602: parsing a paragraph and a link into a standalone paragraph.
 *
 * <p>The inner paragraph closes the outer one, the stack of open elements is empty, and looking at
 * its top fails.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(fragment("<p></p><a></a>", new Element("p")).size() + " node(s)");
    }

    /** The nodes of a piece of HTML as found inside such an element. */
    static List<Node> fragment(String html, Element context) { // expect: reproduces, green when fixed
        return new Document("").parser().parseFragmentInput(html, context, "");
    }
}
