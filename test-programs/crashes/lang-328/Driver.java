package crashes.lang328;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.lang.LocaleUtils;

/**
 * LANG-328: a locale with a language and a variant, and no country.
 *
 * <p>{@code Locale.toString} writes two underscores there, which are refused when read back.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(locales("en_GB,fr__POSIX"));
    }

    static List<Locale> locales(String list) { // expect: reproduces, green when fixed
        List<Locale> locales = new ArrayList<>();
        for (String name : list.split(",")) {
            locales.add(LocaleUtils.toLocale(name));
        }
        return locales;
    }
}
