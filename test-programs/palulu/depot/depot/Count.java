package depot;

/** How many there are of something. */
public interface Count {
    int number();
}
