package crashes.lang788;

import java.io.Serializable;
import org.apache.commons.lang3.SerializationUtils;

/**
 * LANG-788: cloning an object that refers to a primitive class.
 *
 * <p>The library's object stream looks {@code int} up as if it were the name of a class file.
 */
public final class Driver {
    private Driver() {}

    /** A column of a table. */
    public static final class Column implements Serializable {
        private static final long serialVersionUID = 1;
        final String name;
        final Class<?> type;

        public Column(String name, Class<?> type) {
            this.name = name;
            this.type = type;
        }
    }

    public static void main(String[] args) {
        System.out.println(copy(new Column("count", int.class)).name);
    }

    static Column copy(Column column) { // expect: reproduces, green when fixed
        return SerializationUtils.clone(column);
    }
}
