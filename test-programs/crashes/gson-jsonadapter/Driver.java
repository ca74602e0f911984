package crashes.gsonjsonadapter;

import com.google.gson.Gson;
import com.google.gson.TypeAdapter;
import com.google.gson.TypeAdapterFactory;
import com.google.gson.annotations.JsonAdapter;
import com.google.gson.reflect.TypeToken;

/**
 * Gson 2.6.2, "NPE bug with @JsonAdapter annotation": an adapter factory that declines.
 *
 * <p>A factory may answer null for a type it does not handle, and Gson then asks the next one. When
 * the factory was named by an annotation, the null is made null-safe first.
 */
public final class Driver {
    private Driver() {}

    /** Handles no type yet. */
    public static final class Units implements TypeAdapterFactory {
        @Override
        public <T> TypeAdapter<T> create(Gson gson, TypeToken<T> type) {
            return null;
        }
    }

    /** What a sensor has measured. */
    @JsonAdapter(Units.class)
    public static final class Reading {
        final String sensor;
        final int value;

        public Reading(String sensor, int value) {
            this.sensor = sensor;
            this.value = value;
        }
    }

    public static void main(String[] args) {
        System.out.println(json(new Gson(), new Reading("cellar", 7)));
    }

    static String json(Gson gson, Reading reading) { // expect: reproduces, green when fixed
        return gson.toJson(reading);
    }
}
