import java.util.ArrayList;
import java.util.List;

/**
 * What the annotated programs use of the JDK, as its contracts say.
 *
 * <p>Lists, sets and maps are objects that hold values; views and iterators hold a reference to
 * what they are made of. A list of values is the {@code model} of such an object.
 */
final class Jdk {
    private final Oracle oracle;

    Jdk(Oracle oracle) {
        this.oracle = oracle;
    }

    /** A new object of the JDK with its state. */
    private static Oracle.Val make(String type, Object model) {
        Oracle.Obj object = new Oracle.Obj(type);
        object.model = model;
        return new Oracle.Val(object);
    }

    /** A view of what a reference leads to. */
    private static Oracle.Val view(String type, Oracle.Val of) {
        Oracle.Val made = make(type, null);
        ((Oracle.Obj) made.value()).fields.put("of", of);
        return made;
    }

    /** The reference to what holds the values, as it is obtained by a reference to a view of it. */
    private static Oracle.Val base(Oracle.Val reference) {
        Oracle.Val of = ((Oracle.Obj) reference.value()).fields.get("of");
        return of == null ? reference : base(reference.read(of));
    }

    @SuppressWarnings("unchecked")
    private static List<Oracle.Val> values(Oracle.Val base) {
        Oracle.Obj object = (Oracle.Obj) base.value();
        if (object.model == null) {
            object.model = new ArrayList<Oracle.Val>();
        }
        return (List<Oracle.Val>) object.model;
    }

    /** All values, as they are obtained by a reference. */
    private static List<Oracle.Val> all(Oracle.Val reference) {
        Oracle.Val base = base(reference);
        if (base.value() instanceof Oracle.Arr array) {
            List<Oracle.Val> all = new ArrayList<>();
            for (Oracle.Val element : array.elements) {
                all.add(base.read(element));
            }
            return all;
        }
        return new ArrayList<>(values(base).stream().map(base::read).toList());
    }

    private static Oracle.Val integer(int value) {
        return new Oracle.Val(value);
    }

    Oracle.Val call(String type, String name, String descriptor, List<Oracle.Val> args) {
        Oracle.Val first = args.isEmpty() ? null : args.get(0);
        Oracle.Val second = args.size() < 2 ? null : args.get(1);
        switch (type + "." + name) {
            case "java/lang/Object.<init>", "java/lang/Record.<init>", "java/io/PrintStream.println" -> {
                return null;
            }
            case "java/lang/Object.getClass" -> {
                return make("java/lang/Class", null);
            }
            case "java/lang/Object.equals" -> {
                return integer(first.value() == second.value() ? 1 : 0);
            }
            case "java/lang/Object.clone" -> {
                return copy(first);
            }
            case "java/util/Objects.requireNonNull", "java/lang/Integer.valueOf", "java/lang/Integer.intValue" -> {
                return first;
            }
            case "java/lang/RuntimeException.<init>", "java/lang/AssertionError.<init>", "java/lang/StringBuilder.append",
                    "java/lang/StringBuilder.<init>", "java/util/Date.<init>", "java/util/Date.setTime" -> {
                oracle.write(first);
                return first;
            }
            case "java/lang/StringBuilder.length", "java/lang/String.length", "java/util/Arrays.hashCode" -> {
                return integer(0);
            }
            case "java/lang/StringBuilder.toString", "java/lang/String.valueOf" -> {
                return new Oracle.Val("text");
            }
            case "java/lang/Class.getDeclaredField" -> {
                return make("java/lang/reflect/Field", second.value());
            }
            case "java/lang/reflect/Field.set" -> {
                ((Oracle.Obj) second.value()).fields.put(field(first), args.get(2));
                oracle.write(second);
                return null;
            }
            case "java/lang/reflect/Field.get" -> {
                return second.read(((Oracle.Obj) second.value()).fields.get(field(first)));
            }
            case "java/lang/System.arraycopy" -> {
                Oracle.Val[] from = ((Oracle.Arr) first.value()).elements;
                Oracle.Val target = args.get(2);
                for (int i = 0; i < args.get(4).integer(); i++) {
                    Oracle.Val element = first.read(from[second.integer() + i]);
                    ((Oracle.Arr) target.value()).elements[args.get(3).integer() + i] = element;
                }
                oracle.write(target);
                return null;
            }
            case "java/util/Arrays.fill", "java/util/Arrays.sort" -> {
                oracle.write(first);
                return null;
            }
            case "java/util/Arrays.asList", "java/util/Collections.unmodifiableList" -> {
                return view("java/util/List", first);
            }
            case "java/util/Collections.shuffle" -> {
                oracle.write(base(first));
                return null;
            }
            case "java/util/stream/Collectors.toList" -> {
                return make(type, null);
            }
            default -> {
                if (type.startsWith("[") && name.equals("clone")) {
                    return copy(first);
                }
                return type.startsWith("java/util/") ? collection(type, name, descriptor, args) : unknown(type, name, descriptor);
            }
        }
    }

    private static Oracle.Val unknown(String type, String name, String descriptor) {
        throw new IllegalStateException("the model of the JDK lacks " + type + "." + name + descriptor);
    }

    private static String field(Oracle.Val field) {
        return (String) ((Oracle.Obj) field.value()).model;
    }

    /** A copy of an object, with what its fields hold as it is read. */
    private static Oracle.Val copy(Oracle.Val of) {
        if (of.value() instanceof Oracle.Arr array) {
            Oracle.Arr copy = new Oracle.Arr(array.type, array.elements.length, null);
            for (int i = 0; i < copy.elements.length; i++) {
                copy.elements[i] = of.read(array.elements[i]);
            }
            return new Oracle.Val(copy);
        }
        Oracle.Obj copy = new Oracle.Obj(((Oracle.Obj) of.value()).type);
        ((Oracle.Obj) of.value()).fields.forEach((name, held) -> copy.fields.put(name, of.read(held)));
        return new Oracle.Val(copy);
    }

    private Oracle.Val collection(String type, String name, String descriptor, List<Oracle.Val> args) {
        Oracle.Val self = args.get(0);
        Oracle.Val second = args.size() < 2 ? null : args.get(1);
        switch (name) {
            case "<init>" -> {
                oracle.write(self);
                if (second != null) {
                    values(self).addAll(all(second));
                }
                return null;
            }
            case "size" -> {
                return integer(all(self).size());
            }
            case "add" -> {
                oracle.write(base(self));
                values(base(self)).add(second);
                return integer(1);
            }
            case "clear" -> {
                oracle.write(base(self));
                values(base(self)).clear();
                return null;
            }
            case "sort" -> {
                oracle.write(base(self));
                List<Oracle.Val> all = all(self);
                oracle.apply(second, all.get(0), all.get(1));
                return null;
            }
            case "contains" -> {
                return integer(0);
            }
            case "put" -> {
                // Keys are strings, which nobody can change: a map is a list of entries.
                Oracle.Val entry = make("java/util/Map$Entry", null);
                ((Oracle.Obj) entry.value()).fields.put("key", second);
                ((Oracle.Obj) entry.value()).fields.put("value", args.get(2));
                oracle.write(self);
                values(self).add(entry);
                return new Oracle.Val(null);
            }
            case "get" -> {
                if (second.value() instanceof Integer index) {
                    return all(self).get(index);
                }
                for (Oracle.Val entry : all(self)) {
                    Oracle.Obj object = (Oracle.Obj) entry.value();
                    if (second.value().equals(object.fields.get("key").value())) {
                        return entry.read(object.fields.get("value"));
                    }
                }
                return new Oracle.Val(null);
            }
            case "getKey" -> {
                return self.read(((Oracle.Obj) self.value()).fields.get("key"));
            }
            case "getValue" -> {
                return self.read(((Oracle.Obj) self.value()).fields.get("value"));
            }
            case "keySet", "values", "entrySet" -> {
                return view(name, self);
            }
            case "iterator" -> {
                Oracle.Val iterator = view("iterator of " + ((Oracle.Obj) self.value()).type, self);
                ((Oracle.Obj) iterator.value()).fields.put("at", integer(0));
                return iterator;
            }
            case "hasNext" -> {
                int at = ((Oracle.Obj) self.value()).fields.get("at").integer();
                return integer(at < all(self).size() ? 1 : 0);
            }
            case "next" -> {
                Oracle.Obj iterator = (Oracle.Obj) self.value();
                int at = iterator.fields.get("at").integer();
                iterator.fields.put("at", integer(at + 1));
                oracle.write(self);
                Oracle.Val found = all(self).get(at);
                return switch (iterator.type) {
                    case "iterator of keySet" -> found.read(((Oracle.Obj) found.value()).fields.get("key"));
                    case "iterator of values" -> found.read(((Oracle.Obj) found.value()).fields.get("value"));
                    default -> found;
                };
            }
            case "remove" -> {
                Oracle.Obj iterator = (Oracle.Obj) self.value();
                int at = iterator.fields.get("at").integer() - 1;
                iterator.fields.put("at", integer(at));
                oracle.write(self);
                oracle.write(base(self));
                values(base(self)).remove(at);
                return null;
            }
            case "forEach" -> {
                all(self).forEach(value -> oracle.apply(second, value));
                return null;
            }
            case "stream" -> {
                return view("java/util/stream/Stream", self);
            }
            case "filter", "map", "mapToInt" -> {
                List<Oracle.Val> kept = new ArrayList<>();
                for (Oracle.Val value : all(self)) {
                    Oracle.Val result = oracle.apply(second, value);
                    if (!name.equals("filter")) {
                        kept.add(result);
                    } else if (result.integer() != 0) {
                        kept.add(value);
                    }
                }
                return make("java/util/stream/Stream", kept);
            }
            case "sum" -> {
                return integer(all(self).size());
            }
            case "collect" -> {
                return make("java/util/ArrayList", all(self));
            }
            default -> {
                return unknown(type, name, descriptor);
            }
        }
    }
}
