package dev.hindsight.replay;

import java.util.Locale;
import java.util.TimeZone;

/**
 * Prints this JVM's default locale, the one for numbers and dates, and its time zone, a line each.
 * {@code hindsight junit} runs it for a test that does not reproduce.
 *
 * <p>This is not part of {@link Runner}, because the first request for the time zone sets it, and a
 * test may need to do that itself.
 */
final class Defaults {
    private Defaults() {}

    /**
     * Prints the defaults.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        System.out.println(Locale.getDefault().toLanguageTag());
        System.out.println(Locale.getDefault(Locale.Category.FORMAT).toLanguageTag());
        System.out.println(TimeZone.getDefault().getID());
    }
}
