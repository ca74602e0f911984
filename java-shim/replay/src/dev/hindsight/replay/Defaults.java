package dev.hindsight.replay;

import java.util.Locale;
import java.util.TimeZone;

/**
 * Prints what this JVM has for its default locale, for the one for numbers and dates, and for its time
 * zone, a line each: {@code hindsight junit} asks for it where a test does not reproduce.
 *
 * <p>Not told by {@link Runner}, for whoever asks for the time zone first sets it, which a test may want
 * to do by itself.
 */
final class Defaults {
    private Defaults() {}

    /**
     * Prints them.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        System.out.println(Locale.getDefault().toLanguageTag());
        System.out.println(Locale.getDefault(Locale.Category.FORMAT).toLanguageTag());
        System.out.println(TimeZone.getDefault().getID());
    }
}
