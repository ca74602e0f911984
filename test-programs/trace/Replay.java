import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs generated programs and writes down what can be reached from an object that each has chosen:
 * this class is not recorded. An object a line, numbered as a breadth-first search finds them: its class,
 * then each field or element.
 */
public class Replay {
    public static void main(String[] args) throws Exception {
        for (String name : args) {
            System.out.println("= " + name);
            Object chosen = Class.forName(name).getMethod("run").invoke(null);
            show(chosen);
        }
    }

    private static void show(Object chosen) throws Exception {
        Map<Object, Integer> numbers = new IdentityHashMap<>();
        ArrayDeque<Object> left = new ArrayDeque<>();
        value(chosen, Object.class, numbers, left);
        while (!left.isEmpty()) {
            Object object = left.poll();
            Class<?> type = object.getClass();
            StringBuilder line = new StringBuilder().append(numbers.get(object)).append(' ').append(type.getName());
            if (type.isArray()) {
                for (int i = 0; i < Array.getLength(object); i++) {
                    Object element = Array.get(object, i);
                    line.append(' ').append(i).append('=').append(value(element, type.getComponentType(), numbers, left));
                }
            } else {
                for (Field field : fields(type)) {
                    field.setAccessible(true);
                    line.append(' ').append(field.getDeclaringClass().getName()).append('.').append(field.getName());
                    line.append('=').append(value(field.get(object), field.getType(), numbers, left));
                }
            }
            System.out.println(line);
        }
    }

    /** In an order that the test has too. */
    private static List<Field> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        for (Class<?> of = type; of != Object.class; of = of.getSuperclass()) {
            for (Field field : of.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    fields.add(field);
                }
            }
        }
        Collections.sort(fields, (a, b) -> (a.getDeclaringClass().getName() + "." + a.getName())
                .compareTo(b.getDeclaringClass().getName() + "." + b.getName()));
        return fields;
    }

    private static String value(Object value, Class<?> type, Map<Object, Integer> numbers, ArrayDeque<Object> left) {
        if (value == null) {
            return "null";
        }
        if (type == boolean.class) {
            return (Boolean) value ? "1" : "0";
        }
        if (type == char.class) {
            return Integer.toString((Character) value);
        }
        if (type == float.class) {
            return Integer.toString(Float.floatToRawIntBits((Float) value));
        }
        if (type == double.class) {
            return Long.toString(Double.doubleToRawLongBits((Double) value));
        }
        if (type.isPrimitive()) {
            return value.toString();
        }
        if (value instanceof String) {
            return "\"" + value + "\"";
        }
        Integer known = numbers.get(value);
        if (known == null) {
            known = numbers.size();
            numbers.put(value, known);
            left.add(value);
        }
        return "#" + known;
    }
}
