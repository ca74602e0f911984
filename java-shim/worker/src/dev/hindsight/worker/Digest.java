package dev.hindsight.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Numbers for the states of the objects that a sequence leaves: for each object, of all that its
 * fields lead to, up to a bound. Many lead to the same objects, so each of these is read once.
 */
final class Digest {
    private static final int MAX_OBJECTS = 400;
    private static final int MAX_ELEMENTS = 64;
    private static final String LAMBDA = "$$Lambda";
    private static final long FIRST = 1125899906842597L;
    private static final Node[] NONE = {};
    private static final Map<Class<?>, Shape> SHAPES = new HashMap<>();

    private final IdentityHashMap<Object, Node> nodes = new IdentityHashMap<>(MAX_OBJECTS);
    private final ArrayDeque<Node> pending = new ArrayDeque<>();
    /** The node that is being read: its own values so far, and the nodes to which it leads. */
    private final List<Node> found = new ArrayList<>();
    private long own;
    /** The object that is asked about, and the number of objects that it has led to. */
    private int walk;
    private int count;
    private long hash;

    /** An object: its own values, and the objects that its fields refer to, in order. */
    private static final class Node {
        final Object value;
        long own;
        /** Null until the object is read. */
        Node[] leads;
        /** The last walk that has reached it, and the number that it has there. */
        int walk;
        int number;

        Node(Object value) {
            this.value = value;
        }
    }

    /** The properties that all objects of a class share. */
    private static final class Shape {
        final int name;
        final boolean isArray;
        /** Whether its content does not count. */
        final boolean isOpaque;
        final boolean isOfJdk;
        final Field[] fields;

        Shape(Class<?> type) {
            name = name(type).hashCode();
            isArray = type.isArray();
            isOpaque = Thread.class.isAssignableFrom(type)
                    || ClassLoader.class.isAssignableFrom(type)
                    || java.lang.ref.Reference.class.isAssignableFrom(type);
            isOfJdk = type.getClassLoader() == null;
            fields = isArray || isOpaque ? new Field[0] : Digest.fields(type);
        }
    }

    /** The digest of one object in its present state. */
    long of(Object value) {
        own = FIRST;
        found.clear();
        reference(value);
        hash = own;
        walk++;
        count = 0;
        pending.clear();
        for (Node node : found.toArray(NONE)) {
            visit(node);
        }
        while (!pending.isEmpty()) {
            Node node = pending.remove();
            if (node.leads == null) {
                read(node);
            }
            hash = mix(hash, node.own);
            for (Node lead : node.leads) {
                visit(lead);
            }
        }
        return hash;
    }

    private void visit(Node node) {
        if (node.walk == walk) {
            hash = mix(hash, node.number);
        } else if (count < MAX_OBJECTS) {
            node.walk = walk;
            node.number = count++;
            pending.add(node);
            hash = mix(hash, count);
        }
    }

    private void read(Node node) {
        own = FIRST;
        found.clear();
        object(node.value);
        node.own = own;
        node.leads = found.toArray(NONE);
    }

    /** Forgets what is known of classes. */
    static void forget() {
        SHAPES.clear();
    }

    private static long mix(long hash, long value) {
        long mixed = (hash ^ value) * 0x9e3779b97f4a7c15L;
        return mixed ^ mixed >>> 29;
    }

    private void add(long value) {
        own = mix(own, value);
    }

    private void reference(Object value) {
        if (value == null) {
            add(7);
        } else if (value instanceof String) {
            add(value.hashCode());
        } else if (value instanceof Enum) {
            add(((Enum<?>) value).name().hashCode());
        } else if (value instanceof Class) {
            add(((Class<?>) value).getName().hashCode());
        } else {
            add(9);
            found.add(nodes.computeIfAbsent(value, Node::new));
        }
    }

    /** The name of a class, without the numbers that differ in each JVM. */
    private static String name(Class<?> type) {
        String name = type.getName();
        int lambda = name.indexOf(LAMBDA);
        Class<?>[] interfaces = type.getInterfaces();
        if (lambda >= 0 && interfaces.length > 0) {
            return name.substring(0, lambda + LAMBDA.length()) + interfaces[0].getName();
        }
        int slash = name.indexOf('/');
        return slash < 0 ? name : name.substring(0, slash);
    }

    private void object(Object value) {
        Class<?> type = value.getClass();
        Shape shape = SHAPES.get(type);
        if (shape == null) {
            shape = new Shape(type);
            SHAPES.put(type, shape);
        }
        add(shape.name);
        if (shape.isArray) {
            array(value);
            return;
        } else if (shape.isOpaque || shape.isOfJdk && content(value)) {
            return;
        }
        for (Field field : shape.fields) {
            try {
                field(field, value);
            } catch (IllegalAccessException | RuntimeException e) {
                add(3);
            }
        }
    }

    private void field(Field field, Object of) throws IllegalAccessException {
        Class<?> type = field.getType();
        if (!type.isPrimitive()) {
            reference(field.get(of));
        } else if (type == int.class) {
            add(field.getInt(of));
        } else if (type == boolean.class) {
            add(field.getBoolean(of) ? 1 : 0);
        } else if (type == long.class) {
            add(field.getLong(of));
        } else {
            add(field.get(of).hashCode());
        }
    }

    private void array(Object array) {
        int length = Array.getLength(array);
        add(length);
        length = Math.min(length, MAX_ELEMENTS);
        if (array instanceof Object[]) {
            for (int i = 0; i < length; i++) {
                reference(((Object[]) array)[i]);
            }
        } else if (array instanceof int[]) {
            for (int i = 0; i < length; i++) {
                add(((int[]) array)[i]);
            }
        } else if (array instanceof byte[]) {
            for (int i = 0; i < length; i++) {
                add(((byte[]) array)[i]);
            }
        } else {
            for (int i = 0; i < length; i++) {
                add(Array.get(array, i).hashCode());
            }
        }
    }

    /**
     * Adds the content or text of a JDK object, whose fields are not open. Returns whether that is
     * all of it.
     */
    private boolean content(Object value) {
        try {
            if (value instanceof Map) {
                add(((Map<?, ?>) value).size());
                int count = 0;
                for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                    if (++count > MAX_ELEMENTS) {
                        break;
                    }
                    reference(entry.getKey());
                    reference(entry.getValue());
                }
                return true;
            } else if (value instanceof Collection) {
                add(((Collection<?>) value).size());
                int count = 0;
                for (Object element : (Collection<?>) value) {
                    if (++count > MAX_ELEMENTS) {
                        break;
                    }
                    reference(element);
                }
                return true;
            } else if (value instanceof Number
                    || value instanceof CharSequence
                    || value instanceof AtomicBoolean
                    || value instanceof BitSet
                    || value instanceof TemporalAccessor
                    || value instanceof TemporalAmount) {
                add(value.toString().hashCode());
                return true;
            } else if (value instanceof AtomicReference) {
                reference(((AtomicReference<?>) value).get());
                return true;
            } else if (value instanceof Optional) {
                reference(((Optional<?>) value).orElse(null));
                return true;
            }
        } catch (RuntimeException e) {
            // It changes meanwhile, or is a view of something that fails.
            add(5);
            return true;
        }
        return false;
    }

    private static Field[] fields(Class<?> type) {
        List<Field> found = new ArrayList<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            Field[] declared;
            try {
                declared = at.getDeclaredFields();
            } catch (Throwable e) {
                continue; // a type of a field is missing
            }
            for (Field field : declared) {
                try {
                    if (!Modifier.isStatic(field.getModifiers())) {
                        field.setAccessible(true);
                        found.add(field);
                    }
                } catch (RuntimeException e) {
                    // It is not open, so its content does not count.
                }
            }
        }
        // The JVM guarantees no order.
        found.sort((a, b) -> {
            int order = a.getDeclaringClass().getName().compareTo(b.getDeclaringClass().getName());
            return order != 0 ? order : a.getName().compareTo(b.getName());
        });
        return found.toArray(new Field[0]);
    }
}
