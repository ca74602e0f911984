package bazaar;

public interface Ware {
    String name();
}
