package crashes.jackson418;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.CharConversionException;
import java.io.IOException;

/**
 * jackson-core #418: a message of seven zero bytes.
 *
 * <p>The zeros look like UTF-32. The last code point is cut off, and the reader takes bytes from
 * behind the end of its buffer. The caller is ready for a parse error.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) throws IOException {
        System.out.println(isJson(new byte[7]) ? "json" : "no json");
    }

    static boolean isJson(byte[] message) throws IOException { // expect: reproduces, green when fixed
        try {
            return first(new JsonFactory().createParser(message)) != null;
        } catch (CharConversionException | JsonParseException e) {
            return false;
        }
    }

    static JsonToken first(JsonParser parser) throws IOException { // expect: reproduces if the parser is copied deeply
        return parser.nextToken();
    }
}
