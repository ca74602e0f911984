// Fig. 5-1 of Artzi's dissertation.
class C {
    public C next;
}

class Figure51 {
    void modifyParam1(C p1, boolean doIt) { // expect this: immutable, p1: mutable
        if (doIt) {
            p1.next = null;
        }
    }

    void modifyParam1Indirectly(C p2, boolean doIt) { // expect this: immutable, p2: mutable
        modifyParam1(p2, doIt);
    }

    void modifyAll(C p3, C p4, C p5, boolean doIt) { // expect this: immutable, p3: mutable, p4: mutable, p5: mutable
        // Printed the other way round. But then nothing is obtained from p5, which the caption
        // calls mutable; Fig. 5-7 stores first, too.
        p4.next = p5;
        C c = p3.next;
        c.next = null;
        modifyParam1Indirectly(p3, doIt);
    }

    void doNotModifyAnyParam(C p6) { // expect this: immutable, p6: immutable
        if (p6.next == null) {
            System.out.println("p6.next is null");
        }
    }

    void doNotModifyAnyParam2(C p7) { // expect this: immutable, p7: immutable
        doNotModifyAnyParam(p7);
    }
}
