package ring;

/** Chains of links. */
public class Main {
    public static void main(String[] args) {
        Link chain = new Link(1).lead(new Link(2).lead(new Link(3)));
        System.out.println(chain.length() + " " + chain.sum() + " " + chain.number());
    }
}
