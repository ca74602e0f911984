package coins;

import java.net.URI;

/** Says less than what its factory makes. */
public interface Mint {
    static Mint of(String city) {
        return new Royal(city);
    }

    void strike(long value);

    Integer struck();

    long[] values();

    URI site();
}
