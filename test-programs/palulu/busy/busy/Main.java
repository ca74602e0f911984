package busy;

/** Does a lot with few objects. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Counter some = new Counter();
        for (int i = 0; i < 120; i++) {
            some.add("text " + i);
        }
        System.out.println(some.count());

        Counter many = new Counter();
        for (int i = 0; i < 500; i++) {
            many.add("text " + i);
            if (i == 2) {
                System.out.println(many.count());
            }
        }
        System.out.println(many.count());

        Counter.Source source = new Counter.Source(() -> { });
        Counter.Watcher watcher = new Counter.Watcher();
        source.find("one", watcher);
        source.find("two", watcher);
        System.out.println(watcher.heard().size());

        System.out.println(new Line().add("a", 1).add("b", 2).end());
        Sum sum = new Sum();
        sum.add(1);
        sum.add(2);
        System.out.println(sum.total());

        Reader reader = new Reader("a text that is long enough to be read");
        int letters = 0;
        for (int i = 0; i < 30; i++) {
            letters += reader.peek() == reader.peek() ? 1 : 0;
            letters += reader.index() == i && reader.peek() > 0 ? 1 : 0;
            reader.forward();
        }
        System.out.println(letters);
    }
}
