package shop;

/** Sells tickets, by way of a builder that wants all that a ticket has. */
public class Office {
    private final String city;
    private int sold;

    private Office(String city) {
        this.city = city;
    }

    public static Office in(String code) {
        if (!code.matches("[A-Z]{3}-[0-9]{4}")) {
            throw new IllegalArgumentException("no office " + code);
        }
        return new Office(code.substring(0, 3));
    }

    public Order order() {
        return new Order(this);
    }

    public int sold() {
        return sold;
    }

    public String city() {
        return city;
    }

    /** A ticket to be. */
    public static final class Order {
        private final Office office;
        private Ticket.Kind kind;
        private String owner;
        private int visits;

        Order(Office office) {
            this.office = office;
        }

        public Order kind(Ticket.Kind kind) {
            this.kind = kind;
            return this;
        }

        public Order owner(String owner) {
            this.owner = owner;
            return this;
        }

        public Order visits(int... days) {
            for (int day : days) {
                visits += day;
            }
            return this;
        }

        public Ticket sell() {
            if (kind == null || owner == null || !owner.contains(" ") || visits <= 0) {
                throw new IllegalStateException("incomplete");
            }
            office.sold++;
            return new Ticket(kind, owner, visits);
        }
    }
}
