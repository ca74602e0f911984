package dev.hindsight.replay;

import static dev.hindsight.replay.Packer.row;

import dev.hindsight.replay.Layout.Slot;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Records live objects as the agent would, so that tests can restore any object of this JVM. */
final class Snapshot {
    /**
     * By object, the method behind a lambda, which Java code cannot find out: class, name,
     * descriptor.
     */
    final Map<Object, String[]> lambdas = new IdentityHashMap<>();
    /** Texts to be stored as redacted. */
    Predicate<String> secrets = text -> false;
    /** Objects to be stored as holes. */
    Predicate<Object> holes = object -> object instanceof Thread;
    /** Changes rows of classes before they are written. */
    java.util.function.UnaryOperator<Object[]> classes = row -> row;

    /** Changes names of fields before they are written. */
    java.util.function.UnaryOperator<String> fieldNames = name -> name;

    /** Names with their origins. */
    final List<Object[]> origins = new ArrayList<>();
    final Map<Object, Integer> numbers = new IdentityHashMap<>();
    private final List<Object> objects = new ArrayList<>();
    private final Map<String, Integer> classIds = new HashMap<>();
    private final List<Object[]> classRows = new ArrayList<>();
    private final List<Object[]> exceptions = new ArrayList<>();
    private final List<Object[]> frames = new ArrayList<>();
    private final Deque<Object> todo = new ArrayDeque<>();
    private final List<Object[]> rows = new ArrayList<>();

    /** The number of an object, which is recorded now if it was not before. */
    Long number(Object object) {
        if (object == null) {
            return null;
        }
        Integer number = numbers.get(object);
        if (number == null) {
            number = objects.size();
            numbers.put(object, number);
            objects.add(object);
            rows.add(null);
            todo.add(object);
        }
        return (long) number;
    }

    /** An argument of a reference type. */
    Object[] argument(int index, Object value) {
        return row(index, null, "Ljava/lang/Object;", number(value));
    }

    /** An earlier value of a field, at entry. */
    Object[] patch(Object object, Class<?> owner, String field, String descriptor, Object value) {
        return row(number(object), owner.getName(), field, descriptor, value);
    }

    /** An earlier value of an element, at entry. */
    Object[] patch(Object array, int index, String descriptor, Object value) {
        return row(number(array), "", "", descriptor, value, index);
    }

    Snapshot frame(Object[] arguments, Object... patches) {
        frames.add(row("Test", "method", "()V", 1, null, 0, 2, "", null, arguments, patches, 0));
        return this;
    }

    Snapshot exception(Object thrown, Object... stack) {
        exceptions.add(row("X", null, number(thrown), stack, null, row()));
        return this;
    }

    /** The crash file. */
    byte[] file() {
        while (!todo.isEmpty()) {
            Object object = todo.remove();
            rows.set(numbers.get(object), object(object));
        }
        Packer packer = new Packer()
                .record(1, row("test", "", "", "", "", "", 1, 0, 0, "main", false, "", "", "", row()))
                .record(2, row(exceptions, frames));
        List<Object[]> changed = new ArrayList<>();
        classRows.forEach(row -> changed.add(classes.apply(row)));
        packer.record(3, changed);
        for (int first = 0; first < rows.size(); first += 2048) {
            packer.record(4, row(first, rows.subList(first, Math.min(first + 2048, rows.size()))));
        }
        if (!origins.isEmpty()) {
            packer.record(6, origins);
        }
        return packer.end();
    }

    /** Records and restores one object. */
    static Object roundTrip(Object object) {
        return frameOf(object).argument(1);
    }

    static Frame frameOf(Object... arguments) {
        Snapshot snapshot = new Snapshot();
        Object[] rows = new Object[arguments.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = snapshot.argument(i + 1, arguments[i]);
        }
        return snapshot.frame(rows).restore(0);
    }

    Frame restore(int index) {
        return restore(index, false);
    }

    Frame restore(int index, boolean statics) {
        return Frame.restore(CrashFile.read(file(), "test.hsc"), index,
                Snapshot.class.getClassLoader(), statics);
    }

    private Object[] object(Object object) {
        Class<?> type = object.getClass();
        int id = classOf(object);
        if (holes.test(object)) {
            return row(6, id, object instanceof Thread ? "thread" : "a hole of the test");
        } else if (object instanceof String && secrets.test((String) object)) {
            return row(6, id, "redacted, length 9 to 16");
        } else if (lambdas.containsKey(object)) {
            return row(7, id, lambda(object, lambdas.get(object)));
        } else if (object instanceof String) {
            String text = (String) object;
            boolean whole = text.equals(new String(
                    text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
            return row(3, id, whole ? text : bytes(text.toCharArray()));
        } else if (object instanceof Class) {
            return row(4, id, ((Class<?>) object).getName());
        } else if (object instanceof Enum) {
            return row(5, id, ((Enum<?>) object).name(), fields(object));
        } else if (object instanceof Object[]) {
            List<Object> values = new ArrayList<>();
            for (Object element : (Object[]) object) {
                values.add(number(element));
            }
            return row(2, id, values);
        } else if (type.isArray()) {
            return row(1, id, bytes(object));
        }
        return row(0, id, fields(object));
    }

    private List<Object> fields(Object object) {
        List<Object> values = new ArrayList<>();
        for (Class<?> owner : chain(object.getClass())) {
            for (Slot slot : slots(owner)) {
                values.add(value(object, slot));
            }
        }
        return values;
    }

    private Object value(Object object, Slot slot) {
        Object value = slot.get(object);
        if (!slot.type.isPrimitive()) {
            // The JVM's own form of it is of no use.
            return slot.name.equals("backtrace") ? null : number(value);
        }
        return value instanceof Character ? (Object) (long) (Character) value : value;
    }

    private Object[] lambda(Object object, String[] method) {
        List<Object> captured = new ArrayList<>();
        for (Slot slot : Layout.declared(object.getClass())) {
            captured.add(row(Layout.descriptor(slot.type), value(object, slot)));
        }
        return row(method[0], method[1], method[2], method[3].equals("static"), captured);
    }

    private int classOf(Object object) {
        Class<?> type = object.getClass();
        Integer known = classIds.get(type.getName());
        if (known != null) {
            return known;
        }
        List<Object> fields = new ArrayList<>();
        List<Object> supers = new ArrayList<>();
        for (Class<?> owner : chain(type)) {
            if (owner != type) {
                supers.add(0, owner.getName());
            }
            for (Slot slot : slots(owner)) {
                fields.add(row(owner.getName(), fieldNames.apply(slot.name), Layout.descriptor(slot.type), 0));
            }
        }
        List<Object> interfaces = new ArrayList<>();
        for (Class<?> declared : type.getInterfaces()) {
            interfaces.add(declared.getName());
        }
        boolean hidden = type.getName().contains("/");
        int kind = type.isArray() ? 2 : object instanceof Enum ? 3
                : Proxy.isProxyClass(type) ? 5 : hidden ? 6 : 0;
        classIds.put(type.getName(), classRows.size());
        classRows.add(row(classRows.size(), type.getName(), kind, supers, interfaces,
                type.isArray() ? row() : fields, "", Classes.sha256(type)));
        return classRows.size() - 1;
    }

    /** The fields of a class that are recorded. */
    private static List<Slot> slots(Class<?> owner) {
        return owner == Enum.class ? List.of() : Layout.declared(owner);
    }

    /** Superclasses, topmost first, without Object. */
    private static List<Class<?>> chain(Class<?> type) {
        List<Class<?>> chain = new ArrayList<>();
        for (Class<?> t = type; t != null && t != Object.class; t = t.getSuperclass()) {
            chain.add(0, t);
        }
        return chain;
    }

    private static byte[] bytes(Object array) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteBuffer one = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < Array.getLength(array); i++) {
            Object element = Array.get(array, i);
            one.clear();
            if (element instanceof Boolean) {
                one.put((byte) ((Boolean) element ? 1 : 0));
            } else if (element instanceof Byte) {
                one.put((Byte) element);
            } else if (element instanceof Short) {
                one.putShort((Short) element);
            } else if (element instanceof Character) {
                one.putChar((Character) element);
            } else if (element instanceof Integer) {
                one.putInt((Integer) element);
            } else if (element instanceof Long) {
                one.putLong((Long) element);
            } else if (element instanceof Float) {
                one.putFloat((Float) element);
            } else {
                one.putDouble((Double) element);
            }
            out.write(one.array(), 0, one.position());
        }
        return out.toByteArray();
    }
}
