package crashes.jsoup1139;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.parser.Parser;

/**
 * jsoup #1139: a script with PHP-like marks, read as XML.
 *
 * <p>The parser takes the text between {@code <?} and {@code ?>} for an XML declaration, parses it
 * once more and takes the first of no elements.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(count("<script> var a=\"<?\"; var b=\"?>\"; </script>") + " node(s)");
    }

    static int count(String xml) { // expect: reproduces, green when fixed
        return read(xml, "").childNodeSize();
    }

    static Document read(String xml, String baseUri) { // expect: reproduces, green when fixed
        return Jsoup.parse(xml, baseUri, Parser.xmlParser());
    }
}
