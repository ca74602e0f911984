/** Opens connections. */
public class TextFileDriver {
    public Conn connect(String url, String properties) {
        if (!url.startsWith("jdbc:tinySQL")) {
            throw new IllegalArgumentException("no driver for " + url);
        }
        return new Conn(url);
    }
}
