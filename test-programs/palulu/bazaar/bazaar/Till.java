package bazaar;

public interface Till {
    int ring(String what, Object... parts);
}
