// Fig. 5-7 of Artzi's dissertation, the right-hand side, evaluated in Fig. 5-8: p1 is changed
// because p2 and p3 are the same object.
class Figure57 {
    static class B {
        Figure57 f;

        B(Figure57 f) {
            this.f = f;
        }
    }

    static class C {
        B f;

        C(B f) {
            this.f = f;
        }
    }

    Figure57 n(B p1, C p2) { // expect this: immutable, p1: mutable, p2: mutable
        return this.m(p1, p2, p2);
    }

    Figure57 m(B p1, C p2, C p3) { // expect this: immutable, p1: mutable, p2: mutable, p3: mutable
        p2.f = p1;
        return q(p3.f);
    }

    Figure57 q(B l) { // expect this: immutable, l: mutable
        l.f = this;
        return this;
    }
}
