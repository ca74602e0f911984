// Fig. 5-6 of Artzi's dissertation: both parameters are the same object.
class Figure56 {
    Object f;

    Figure56() {
        this.f = new Object();
    }

    Object n() { // expect this: mutable
        return this.m(this, this);
    }

    Figure56 m(Figure56 p1, Figure56 p2) { // expect this: immutable, p1: mutable, p2: immutable
        p1.f = new Object();
        return this;
    }
}
