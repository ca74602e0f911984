package below;

import above.Above;

public class Farther extends Above.Middle {
    @Override public void seen(Box b) { } // expect this: immutable, b: immutable
}
