package shelf;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Uses types with arguments, and passes objects of the JDK. */
public final class Main {
    private Main() {}

    /** Runs. */
    public static void main(String[] arguments) throws Exception {
        Catalog<Integer, String> names = new Catalog<>();
        names.put(2, "two");
        names.put(1, "one");
        System.out.println(names.get(2) + names.first() + names.keys());
        System.out.println(names.filtered(key -> key > 1).size());
        names.put(3, "three");
        System.out.println(names.size());
        Catalog<Integer, String> more = new Catalog<>();
        more.put(7, "seven");
        more.put(8, "eight");
        Catalog<Integer, String>.Cursor cursor = more.cursor();
        System.out.println(cursor.value() + cursor.key() + cursor.skip(1).value());
        Catalog<Integer, String>.Cursor made = more.new Cursor();
        System.out.println(made.value());
        Map<String, Integer> start = new LinkedHashMap<>();
        start.put("a", 1);
        System.out.println(new Catalog<>(start).get("a"));
        Template letter = new Template(new StringReader("Dear {name}"));
        Map<String, String> values = new HashMap<>();
        values.put("name", "Ann");
        System.out.println(letter.fill(values) + letter.uses());
        List<String> words = new ArrayList<>(List.of("a", "b"));
        words.add("c");
        System.out.println(new Template("-").join(words, ';'));
        Label.size(2);
        Label.owner("Ann");
        System.out.println(Label.create("jam").text());
        System.out.println(Label.create("tea").text());
    }
}
