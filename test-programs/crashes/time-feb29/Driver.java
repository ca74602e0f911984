package crashes.timefeb29;

import org.joda.time.MonthDay;

/**
 * Joda-Time 3528941: a month before 29 February.
 *
 * <p>Adding to the fields of a day without year checks every intermediate result against a year
 * that is no leap year.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(reminder(new MonthDay(2, 29), 1));
    }

    /** When to send a card for a yearly feast. */
    static String reminder(MonthDay feast, int monthsAhead) { // expect: reproduces, green when fixed
        return feast.minusMonths(monthsAhead).toString();
    }
}
