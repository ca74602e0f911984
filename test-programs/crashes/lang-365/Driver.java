package crashes.lang365;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang.BooleanUtils;

/**
 * LANG-365: a setting whose text is cut off.
 *
 * <p>Any text that means nothing is documented to be false. The one of three letters that starts like
 * the one of four is looked at as if it had four.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(enabled(new String[] {"cache=on", "trace=no", "audit=tru"}));
    }

    static List<String> enabled(String[] settings) { // expect: reproduces, green when fixed
        List<String> names = new ArrayList<>();
        for (String setting : settings) {
            int at = setting.indexOf('=');
            if (flag(setting.substring(at + 1))) {
                names.add(setting.substring(0, at));
            }
        }
        return names;
    }

    static boolean flag(String text) { // expect: reproduces, green when fixed
        return BooleanUtils.toBoolean(text);
    }
}
