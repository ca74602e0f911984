import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.*;

/**
 * The formal semantics of mutability, for programs of one thread: an interpreter of bytecode in
 * which each value carries the parameters by which it was obtained. It knows nothing of Hindsight.
 *
 * <p>Of the JDK it knows a model of what the annotated programs use ({@link Jdk}), so collections
 * do what their contracts say; anything else is an error.
 *
 * <p>Arguments: directory of classes, class with {@code main}. Prints each parameter that some call
 * has used to change something: class, method, descriptor, place ({@code this} is 0).
 */
public final class Oracle {
    /** A call. Once it is done, its parameters are on no value any more. */
    static final class Call {
        final String method;
        boolean done;

        Call(String method) {
            this.method = method;
        }
    }

    /** A parameter of a call. */
    record Tag(Call call, int param) {}

    /** A value and the parameters by which it was obtained. */
    record Val(Object value, Set<Tag> tags) {
        Val(Object value) {
            this(value, Set.of());
        }

        /** What is read from a place, by this reference. */
        Val read(Val held) {
            Set<Tag> tags = new LinkedHashSet<>();
            for (Set<Tag> some : List.of(this.tags, held.tags)) {
                for (Tag tag : some) {
                    if (!tag.call.done) {
                        tags.add(tag);
                    }
                }
            }
            return new Val(held.value, tags);
        }

        int integer() {
            return (Integer) value;
        }
    }

    /** An object of the program, or of the JDK's model. */
    static class Obj {
        final String type;
        final Map<String, Val> fields = new HashMap<>();
        /** What stands for the state of the JDK's own. */
        Object model;

        Obj(String type) {
            this.type = type;
        }
    }

    /** An array. */
    static final class Arr extends Obj {
        final Val[] elements;

        Arr(String type, int length, Object initial) {
            super(type);
            elements = new Val[length];
            Arrays.fill(elements, new Val(initial));
        }
    }

    /** What LambdaMetafactory makes. */
    static final class Lambda extends Obj {
        final Handle handle;
        final List<Val> captured;

        Lambda(Handle handle, List<Val> captured) {
            super("lambda");
            this.handle = handle;
            this.captured = captured;
        }
    }

    /** An exception on its way. */
    static final class Thrown extends RuntimeException {
        final transient Val exception;

        Thrown(Val exception) {
            super(null, null, false, false);
            this.exception = exception;
        }
    }

    final Map<String, ClassNode> classes = new HashMap<>();
    final Map<String, Val> statics = new HashMap<>();
    final Set<String> initialized = new HashSet<>();
    final Set<String> mutable = new TreeSet<>();
    final Jdk jdk = new Jdk(this);

    public static void main(String[] args) throws Exception {
        Oracle oracle = new Oracle();
        try (Stream<Path> files = Files.walk(Path.of(args[0]))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
                ClassNode node = new ClassNode();
                new ClassReader(Files.readAllBytes(file)).accept(node, ClassReader.SKIP_FRAMES);
                oracle.classes.put(node.name, node);
            }
        }
        oracle.initialize(args[1]);
        oracle.call(args[1], "main", "([Ljava/lang/String;)V", List.of(new Val(new Arr("[Ljava/lang/String;", 0, null))));
        oracle.mutable.forEach(System.out::println);
    }

    /** All parameters by which a reference was obtained are used to change something. */
    void write(Val reference) {
        for (Tag tag : reference.tags) {
            if (!tag.call.done) {
                mutable.add(tag.call.method + "\t" + tag.param);
            }
        }
    }

    MethodNode find(String type, String name, String descriptor, String[] owner) {
        for (String at = type; classes.containsKey(at); at = classes.get(at).superName) {
            for (MethodNode method : classes.get(at).methods) {
                if (method.name.equals(name) && method.desc.equals(descriptor)) {
                    owner[0] = at;
                    return method;
                }
            }
        }
        for (String at = type; classes.containsKey(at); at = classes.get(at).superName) {
            for (String above : classes.get(at).interfaces) {
                MethodNode method = find(above, name, descriptor, owner);
                if (method != null && (method.access & Opcodes.ACC_ABSTRACT) == 0) {
                    return method;
                }
            }
        }
        return null;
    }

    boolean isA(String type, String above) {
        if (type.equals(above) || above.equals("java/lang/Object")) {
            return true;
        }
        ClassNode node = classes.get(type);
        if (node != null) {
            return isA(node.superName, above) || node.interfaces.stream().anyMatch(i -> isA(i, above));
        }
        try {
            return !classes.containsKey(above)
                    && Class.forName(above.replace('/', '.')).isAssignableFrom(Class.forName(type.replace('/', '.')));
        } catch (ClassNotFoundException missing) {
            return false;
        }
    }

    void initialize(String type) {
        if (classes.containsKey(type) && initialized.add(type)) {
            initialize(classes.get(type).superName);
            if (classes.get(type).methods.stream().anyMatch(method -> method.name.equals("<clinit>"))) {
                call(type, "<clinit>", "()V", List.of());
            }
        }
    }

    /** Runs a method of exactly this class, or of one above. */
    Val call(String type, String name, String descriptor, List<Val> args) {
        String[] owner = new String[1];
        MethodNode method = find(type, name, descriptor, owner);
        if (method == null) {
            String above = type;
            while (classes.containsKey(above)) {
                above = classes.get(above).superName;
            }
            return jdk.call(above, name, descriptor, args);
        }
        Call call = new Call(owner[0].replace('/', '.') + "\t" + name + "\t" + descriptor);
        List<Val> given = new ArrayList<>();
        for (int param = 0; param < args.size(); param++) {
            Set<Tag> tags = new LinkedHashSet<>(args.get(param).tags);
            tags.add(new Tag(call, param));
            given.add(new Val(args.get(param).value, tags));
        }
        try {
            Val result = new Frame(this, method, given).run();
            call.done = true;
            return result == null ? null : new Val(null).read(result);
        } finally {
            call.done = true;
        }
    }

    /** Runs what the receiver's class has. */
    Val dispatch(String type, String name, String descriptor, List<Val> args) {
        Val receiver = args.get(0);
        if (receiver.value == null) {
            throw new Thrown(new Val(new Obj("java/lang/NullPointerException")));
        }
        if (receiver.value instanceof Lambda lambda) {
            List<Val> all = new ArrayList<>();
            lambda.captured.forEach(held -> all.add(receiver.read(held)));
            all.addAll(args.subList(1, args.size()));
            return run(lambda.handle, all);
        }
        if (receiver.value instanceof Obj object && !(receiver.value instanceof Arr) && classes.containsKey(object.type)) {
            return call(object.type, name, descriptor, args);
        }
        return jdk.call(type, name, descriptor, args);
    }

    Val run(Handle handle, List<Val> args) {
        switch (handle.getTag()) {
            case Opcodes.H_INVOKESTATIC:
            case Opcodes.H_INVOKESPECIAL:
                initialize(handle.getOwner());
                return call(handle.getOwner(), handle.getName(), handle.getDesc(), args);
            case Opcodes.H_NEWINVOKESPECIAL:
                initialize(handle.getOwner());
                Val made = new Val(new Obj(handle.getOwner()));
                List<Val> all = new ArrayList<>(args);
                all.add(0, made);
                call(handle.getOwner(), "<init>", handle.getDesc(), all);
                return made;
            default:
                return dispatch(handle.getOwner(), handle.getName(), handle.getDesc(), args);
        }
    }

    /** Runs a function that the JDK was given. */
    Val apply(Val function, Val... args) {
        List<Val> all = new ArrayList<>(List.of(function));
        Collections.addAll(all, args);
        return dispatch("function", "apply", "()V", all);
    }

    static Object zero(String descriptor) {
        return switch (descriptor.charAt(0)) {
            case 'J' -> 0L;
            case 'F' -> 0f;
            case 'D' -> 0d;
            case 'L', '[' -> null;
            default -> 0;
        };
    }
}
