package below;

import above.Above;

public class Below extends Above {
    void seen(Box b) { } // expect this: immutable, b: immutable
}
