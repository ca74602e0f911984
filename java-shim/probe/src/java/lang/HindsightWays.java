package java.lang;

import java.lang.HindsightThread.Propagation;

/**
 * The kept ways of one thread's exceptions: a list, latest first, with nulls at its end.
 *
 * <p>The first four are those of causes, and of exceptions in a handler or a {@code finally} block.
 * What exceeds them is put aside behind them, because a handler may meet more exceptions than that
 * before it rethrows its own. It is not known which exceptions are over: one that the JDK catches
 * stays on its way for ever. But code that throws and catches one exception after the other is done
 * with all but the last. So of the ways that begin in one method and end in one, one is put aside,
 * and an exception that a loop throws and catches costs no more than with four ways. If a thread
 * has many such pairs, all are searched for each exception. What was put aside before the last
 * sweep but one is dropped.
 */
final class HindsightWays {
    /** The number of ways that take turns without being put aside. */
    private static final int LATEST = 4;

    private static final int ASIDE = 32;

    /** The length of the list. */
    static final int KEPT = LATEST + ASIDE;

    private HindsightWays() {}

    /** Does nothing; the call initialises the class. */
    static void initialize() {}

    /**
     * Joins an exception that leaves a method with the way of the one that the method caught, if a
     * helper of its handler has thrown the same exception on.
     */
    static void join(Propagation[] all, Propagation now, int method) {
        Propagation way = now;
        for (int i = 1; i < KEPT && all[i] != null; i++) {
            Propagation earlier = all[i];
            if (earlier.exception != now.exception || earlier.catcher != method) {
                continue;
            }
            // The latest belongs to the same call. An older one does so only if the later one began
            // and ended in it, between two handlers; else it has passed this method before, and was
            // joined then.
            if (now.comesFrom(earlier) || earlier.comesFrom(now)) {
                return;
            }
            way.before = earlier;
            earlier.leads = true;
            if (earlier.before != null || earlier.lost) {
                return;
            }
            way = earlier;
        }
    }

    /** Finds the way of an exception that is not the latest, or begins one. */
    static Propagation turnTo(Propagation[] all, Throwable exception, int method) {
        boolean again = false;
        int at = 0;
        while (at < KEPT && all[at] != null) {
            Propagation known = all[at];
            if (at >= LATEST && HindsightThread.sweeps - known.aside > 1) {
                letGo(all, at);
                break;
            }
            if (known.exception == exception) {
                // It is still on its way: others were thrown and caught in between, or this method
                // has caught it and rethrows it. If another method has caught it, it is thrown by a
                // helper of that handler or anew; which of them shows when (and if) the method of
                // the handler is left.
                if (known.catcher < 0 || known.catcher == method) {
                    known.catcher = -1;
                    known.catchers = catchers(all, known);
                    toFront(all, at, known);
                    return known;
                }
                again = true;
            }
            at++;
        }
        if (at >= LATEST) {
            at = least(all);
        }
        Propagation fresh = all[at];
        if (fresh == null) {
            fresh = new Propagation();
        } else if (fresh.leads) {
            forget(all, fresh);
        }
        fresh.restart(exception);
        fresh.catchers = again ? catchers(all, fresh) : 0;
        toFront(all, at, fresh);
        return fresh;
    }

    /** Drops the ways from here on, which were put aside too long ago. */
    private static void letGo(Propagation[] all, int from) {
        for (int i = from; i < KEPT && all[i] != null; i++) {
            // A listed way may continue it, and would then continue whatever those before it are
            // used for next.
            all[i].before = null;
            all[i].lost = true;
            all[i] = null;
        }
    }

    /** Unlinks a way that is given to another exception. */
    private static void forget(Propagation[] all, Propagation way) {
        for (int i = 0; i < KEPT && all[i] != null; i++) {
            Propagation other = all[i];
            if (other.before == way) {
                other.before = null;
                other.lost = true;
                other.reported |= way.reported;
            }
        }
    }

    /**
     * The place of the one of the first four that is to go, or a free one: an exception that was
     * caught before it left a method has no frames to lose. Else the oldest is put aside, unless a
     * later one has begun and ended where it has.
     */
    private static int least(Propagation[] all) {
        for (int i = LATEST - 1; i >= 0; i--) {
            if (all[i].frames == 0 && all[i].catcher >= 0) {
                return i;
            }
        }
        Propagation oldest = all[LATEST - 1];
        long ends = oldest.ends();
        for (int i = 0; i < LATEST - 1; i++) {
            if (all[i].ends() == ends && all[i].exception != oldest.exception) {
                return LATEST - 1;
            }
        }
        int same = -1;
        for (int i = LATEST; i < KEPT; i++) {
            Propagation aside = all[i];
            if (aside == null) {
                return i;
            }
            if (aside.ends() == ends) {
                if (aside.exception != oldest.exception) {
                    return i;
                }
                // Of an exception that is thrown again and again, the first way stays, and so do
                // those by which it was rethrown.
                if (same >= 0) {
                    return same;
                }
                same = aside.leads ? -1 : i;
            }
        }
        return oldest(all);
    }

    /**
     * The oldest way of a full list, unless the same exception was passed on since: its stack trace
     * is that of the first way.
     */
    private static int oldest(Propagation[] all) {
        Propagation oldest = all[KEPT - 1];
        int least = KEPT - 1;
        for (int i = KEPT - 2; i >= LATEST; i--) {
            if (all[i].before == oldest) {
                // They are reported in a row, of which this drops the last ones.
                return KEPT - 1;
            }
            if (least == KEPT - 1 && all[i].exception == oldest.exception) {
                least = i;
            }
        }
        return least;
    }

    /** The value of {@link Propagation#catchers}. */
    private static long catchers(Propagation[] all, Propagation of) {
        long set = 0;
        for (int i = 0; i < KEPT && all[i] != null; i++) {
            Propagation other = all[i];
            if (other != of && other.exception == of.exception && other.catcher >= 0) {
                set |= 1L << other.catcher;
            }
        }
        return set;
    }

    private static void toFront(Propagation[] all, int at, Propagation first) {
        for (int i = at; i > 0; i--) {
            all[i] = all[i - 1];
        }
        all[0] = first;
        if (at >= LATEST) {
            all[LATEST].aside = HindsightThread.sweeps;
        }
    }
}
