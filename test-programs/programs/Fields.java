// exit: 1

/** Fields that a method changes before it fails: with copy=fields their value at entry counts. */
public class Fields {
    int count = 1;
    String name = "before";
    final int fixed = 7;
    Fields next;

    void fail(Fields other) {
        count = 50;
        name = null;
        if (other != null) {
            other.count = 60;
            other.next = this;
        }
        name.length();
    }

    void outer() {
        count = 2;
        fail(new Fields());
    }

    public static void main(String[] args) {
        Fields f = new Fields();
        f.fail0();
    }

    void fail0() {
        try {
            fail(null);
        } catch (NullPointerException e) {
            count = 10;
        }
        outer();
    }
}
