package press;

/**
 * A printed thing. It takes six other objects, most of them in a state that they are not made in, and
 * texts of a form of their own.
 */
public class Job {
    private final Press press;
    private final Page page;
    private final Customer customer;

    public Job(Press press, Page page, Customer customer) {
        if (!press.isWarm() || page.lines() == 0 || customer.credit() <= 0) {
            throw new IllegalStateException("not ready");
        }
        this.press = press;
        this.page = page;
        this.customer = customer;
    }

    public String print() {
        return customer.name() + ": " + page.lines() + " lines on " + page.paper() + " in " + press.ink();
    }

    public static void main(String[] args) {
        Customer customer = new Customer("ann@example.org");
        customer.pay("EUR 12.50");
        Page page = new Page(new Paper("A4/80g"));
        page.write(new Font("Garamond:11"), "Once upon a time");
        Press press = new Press(new Ink("cmyk(0,10,0,90)"));
        press.warm("PIN-4711");
        System.out.println(new Job(press, page, customer).print());
        System.out.println(Ruler.METRIC.times(3).mark(2));
    }
}
