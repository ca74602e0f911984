package press;

/** Who pays. */
public class Customer {
    private final String name;
    private long credit;

    public Customer(String mail) {
        if (!mail.matches("[a-z]+@[a-z]+\\.org")) {
            throw new IllegalArgumentException("no address: " + mail);
        }
        name = mail.substring(0, mail.indexOf('@'));
    }

    public void pay(String amount) {
        if (!amount.matches("EUR \\d+\\.\\d\\d")) {
            throw new IllegalArgumentException("no amount: " + amount);
        }
        credit += Long.parseLong(amount.substring(4).replace(".", ""));
    }

    public long credit() {
        return credit;
    }

    public String name() {
        return name;
    }
}
