// Fig. 5-5 of Artzi's dissertation.
class Figure55 {
    Object f;

    Figure55() {
        this.f = new Object();
    }

    Object m(Object p) { // expect this: mutable, p: immutable
        this.f = p;
        return p;
    }
}
