package crashes.lang419;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang.WordUtils;

/**
 * LANG-419: a title that is shorter than the least length to abbreviate to.
 *
 * <p>There is nothing to abbreviate, but the space to cut at is looked for behind the end.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(titles(List.of("A long title of many words", "Short"), 10, 20));
    }

    static List<String> titles(List<String> titles, int lower, int upper) { // expect: reproduces, green when fixed
        List<String> cut = new ArrayList<>();
        for (String title : titles) {
            cut.add(title(title, lower, upper));
        }
        return cut;
    }

    static String title(String title, int lower, int upper) { // expect: reproduces, green when fixed
        return WordUtils.abbreviate(title, lower, upper, "...");
    }
}
