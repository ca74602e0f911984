// What was stored later, or has been stored over, is not read.
class Ordered {
    int value;
    Ordered part;
    int[] numbers = new int[2];

    static void before(Ordered o, Ordered p) { o.part.value = 1; o.part = p; } // expect o: mutable, p: immutable
    static void over(Ordered o, Ordered p) { o.part = p; o.part = new Ordered(); o.part.value = 1; } // expect o: mutable, p: immutable
    static void after(Ordered o, Ordered p) { o.part = p; o.part.value = 1; } // expect o: mutable, p: mutable
    static void made(Ordered p) { Ordered o = new Ordered(); o.part = new Ordered(); o.part.value = 1; o.part = p; } // expect p: immutable
    static void inArray(Ordered p) { Ordered[] all = { p, new Ordered() }; all[1].value = 1; } // expect p: immutable
    static void inArrayToo(Ordered p) { Ordered[] all = { p, new Ordered() }; all[0].value = 1; } // expect p: mutable
    static void somewhere(Ordered p, int i) { Ordered[] all = { p, new Ordered() }; all[i].value = 1; } // expect p: mutable
    // By another name it may have been stored over.
    static void named(Ordered o, Ordered q, Ordered p) { o.part = new Ordered(); q.part = p; o.part.value = 1; } // expect o: mutable, q: mutable, p: mutable
    static void chosen(Ordered o, Ordered p, boolean b) { o.part = new Ordered(); if (b) { o.part = p; } o.part.value = 1; } // expect o: mutable, p: mutable
    static void around(Ordered o, Ordered p) { for (int i = 0; i < 2; i++) { o.part.value = 1; o.part = p; } } // expect o: mutable, p: mutable
    static void beforeLoop(Ordered o, Ordered p) { o.part.value = 1; for (int i = 0; i < 2; i++) { o.part = p; } } // expect o: mutable, p: immutable
    Ordered twin() { Ordered twin = new Ordered(); twin.numbers = numbers.clone(); twin.numbers[0] = 1; return twin; } // expect this: immutable
    static void caught(Ordered o, Ordered p) { try { o.part = p; Integer.parseInt("q"); o.part = null; } catch (NumberFormatException e) { o.part.value = 1; } } // expect o: mutable, p: mutable
}
