package shelf;

import java.io.IOException;
import java.io.Reader;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Text with holes. */
public class Template {
    private final String text;
    private int uses;

    public Template(Reader reader) throws IOException {
        StringBuilder all = new StringBuilder();
        int c;
        while ((c = reader.read()) >= 0) {
            all.append((char) c);
        }
        text = all.toString();
    }

    public Template(String text) {
        this.text = text;
    }

    public String fill(Map<String, String> values) {
        uses++;
        String out = text;
        for (Map.Entry<String, String> e : values.entrySet()) {
            out = out.replace("{" + e.getKey() + "}", e.getValue());
        }
        return out;
    }

    public String join(List<String> words, char separator) {
        uses++;
        StringBuilder out = new StringBuilder(text);
        for (String word : words) {
            out.append(separator).append(word);
        }
        return out.toString();
    }

    public Optional<String> hole() {
        int open = text.indexOf('{');
        int close = text.indexOf('}', open + 1);
        return open < 0 || close < 0 ? Optional.empty() : Optional.of(text.substring(open + 1, close));
    }

    public Integer uses() { return uses; }
    public Object stamp() { return System.nanoTime(); }
    public boolean isEmpty() { return text.isEmpty(); }
}
