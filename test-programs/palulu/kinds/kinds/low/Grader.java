package kinds.low;

import kinds.Holder;

/** Gives away a constant of an enum that no other package can name. */
public class Grader {
    public Holder<Hidden.Grade> grade() {
        return new Holder<>(Hidden.Grade.GOOD);
    }
}

class Hidden {
    public enum Grade {
        GOOD,
        BAD
    }
}
