package depot;

/** What can be done with a depot that is open. */
public interface Store {
    int add(String name, int count);

    Count count(String name);

    boolean close();
}
