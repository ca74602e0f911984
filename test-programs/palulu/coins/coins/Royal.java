package coins;

import java.net.URI;
import java.util.Arrays;

/** What it gives are boxes, arrays and values of the JDK. */
public final class Royal implements Mint {
    private final String city;
    private long[] values = new long[0];

    Royal(String city) {
        this.city = city;
    }

    @Override
    public void strike(long value) {
        values = Arrays.copyOf(values, values.length + 1);
        values[values.length - 1] = value;
    }

    @Override
    public Integer struck() {
        return values.length;
    }

    @Override
    public long[] values() {
        return values;
    }

    @Override
    public URI site() {
        return URI.create("https://" + city + ".example");
    }
}
