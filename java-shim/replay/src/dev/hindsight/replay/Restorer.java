package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.Argument;
import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.FieldInfo;
import dev.hindsight.replay.Recorded.FrameInfo;
import dev.hindsight.replay.Recorded.Lambda;
import dev.hindsight.replay.Recorded.Patch;
import dev.hindsight.replay.Recorded.StaticField;
import dev.hindsight.replay.Recorded.Stored;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds the objects that the arguments of one frame lead to.
 *
 * <p>A walk makes each object once, so shared objects and cycles come out as they were; then {@link
 * Filler} fills all. No step recurses, because a list of a hundred thousand links is as deep as it
 * is long.
 */
final class Restorer {
    /** Stands for a value that a field cannot hold. */
    static final Object UNHELD = new Object();

    private static final int[] NONE = {};
    /** The most objects that are made once more; each costs a walk through the whole file. */
    private static final int MAX_COPIES = 200;
    /**
     * The most constants of the program whose state is compared with the recorded one, for the same
     * reason.
     */
    private static final int MAX_COMPARED = 50;

    final CrashFile file;
    final ClassLoader loader;
    final StaleKeys staleKeys = new StaleKeys(this);
    /** Finds what is named by a number; copies share it. */
    final Numbered numbered;
    private final Notes notes = new Notes();
    /** The object whose parts are being visited. */
    private int parent = -1;
    private final Map<Integer, Type> types = new HashMap<>();
    /** The number of the first class of each name. */
    private final Map<String, Integer> byName = new HashMap<>();
    private final AtEntry atEntry;
    private final RedactedKeys redactedKeys = new RedactedKeys(this);
    /** The number of recorded objects by class; null until it is needed. */
    private Map<Integer, Integer> counts;
    private final Object[] built;
    private final boolean[] entered;
    /** Objects for which the running JDK's own object stands. */
    private final boolean[] preset;
    /** Objects that cannot be restored because the class path differs, and why. */
    private final Map<Integer, String> differing = new HashMap<>();
    /** Whether static fields and those of enum constants are needed. */
    private final boolean statics;
    /** Whether this restorer only makes an object for a comparison. */
    private boolean isCopy;
    /** The number of copies that were made. */
    private int copies;
    /** The number of constants that were compared. */
    private int compared;
    /** Objects of classes that a framework made, each with the object that replaces it. */
    private final Map<Integer, Integer> stoodFor = new HashMap<>();
    /** Objects for which a constant of the running program stands. */
    private final BitSet constants = new BitSet();
    /** All objects, each after those that it leads to (except in cycles). */
    final Numbers order = new Numbers();

    /**
     * The objects that the object just entered leads to. There is one list for all, because fresh
     * ones are merged from several places by inlining, on which the C2 of JDK 25.0.3 has crashed
     * (reduction of allocation merges).
     */
    private final Numbers found = new Numbers();

    private Restorer(
            CrashFile file, ClassLoader loader, boolean statics, Numbered numbered, AtEntry atEntry) {
        this.file = file;
        this.atEntry = atEntry;
        this.numbered = numbered;
        this.statics = statics;
        this.loader = loader;
        built = new Object[file.objectCount()];
        entered = new boolean[built.length];
        preset = new boolean[built.length];
    }

    static Frame frame(CrashFile file, int index, ClassLoader loader, boolean statics) {
        if (index < 0 || index >= file.frames.length) {
            throw new ReplayException(file.name + " has no frame " + index + ", only "
                    + file.frames.length);
        }
        FrameInfo frame = file.frames[index];
        String what = frame.owner + "." + frame.method + " (frame " + index + " of " + file.name
                + ")";
        if (frame.descriptor.isEmpty()) {
            throw new ReplayException(what + " was not captured"
                    + (frame.reason.isEmpty() ? "" : ": " + frame.reason));
        }
        Restorer restorer = new Restorer(
                file, loader, statics, new Numbered(file.origins, loader), new AtEntry(file));
        restorer.apply(frame.patch);
        for (Argument argument : frame.arguments) {
            if (Recorded.isReference(argument.descriptor)) {
                restorer.walk(reference(argument.value));
            }
        }
        int ofArguments = restorer.order.size();
        if (statics) {
            for (StaticField field : file.statics) {
                if (Recorded.isReference(field.descriptor)) {
                    restorer.walk(reference(field.value));
                }
            }
        }
        restorer.fill();

        Map<Integer, Object> values = new HashMap<>();
        Map<Integer, String> failed = new HashMap<>();
        for (Argument argument : frame.arguments) {
            restorer.take(argument, values, failed);
        }
        List<Statics.Setting> settings = statics ? new Settings(restorer).all() : null;
        restorer.notes.tell(what, file);
        for (int i = 0; i < ofArguments; i++) {
            int number = restorer.order.get(i);
            Object value = restorer.built[number];
            // An exception that the running program already has is not the recorded one.
            if (value instanceof Throwable && !restorer.isShared(number)) {
                Runner.passed((Throwable) value);
            }
        }
        return new Frame(what, values, failed, restorer.notes.holes(), restorer.built, settings);
    }

    /** A recorded value, converted for a field of {@code type}, or {@link #UNHELD}. */
    Object converted(Object stored, String descriptor, Class<?> type) {
        boolean reference = Recorded.isReference(descriptor);
        Object value = reference ? get(reference(stored))
                : Primitives.convert(stored, Primitives.type(descriptor));
        if (value == null) {
            return reference && !type.isPrimitive() ? null : UNHELD;
        } else if (type.isInstance(value)) {
            return value;
        }
        Class<?> primitive = Primitives.unboxed(type);
        Object fitting = primitive == null || Primitives.unboxed(value.getClass()) == null
                ? null : Primitives.fitting(value, primitive);
        return fitting != null ? fitting : UNHELD;
    }

    /**
     * The object of this number made once more, with all that it leads to; null if that is not
     * possible, has been done too often, or this is a copy itself.
     */
    Object copy(int number) {
        if (isCopy || ++copies > MAX_COPIES) {
            return null;
        }
        Restorer other = new Restorer(file, loader, false, numbered, atEntry);
        other.isCopy = true;
        other.counts = counts;
        other.walk(number);
        other.fill();
        return other.built[number];
    }

    /** Whether the running JDK's own object stands for this one. */
    boolean isPreset(int number) {
        return preset[number];
    }

    /** Whether this JVM has an object of its own in place of this one. */
    boolean isShared(int number) {
        return constants.get(number) || number < preset.length && preset[number];
    }

    private void apply(Patch[] patches) {
        for (Patch patch : patches) {
            if (!atEntry.apply(patch)) {
                boolean isStored = file.object(patch.object) != null;
                note(isStored ? className(patch.object) : patch.owner,
                        "the value of " + (patch.index < 0 ? patch.field : "element " + patch.index)
                                + " at entry is known, but not its object");
            }
        }
    }

    /**
     * The object of this number as it was at the frame's entry, or null if it is not in the file.
     */
    Stored stored(int number) {
        return atEntry.stored(number);
    }

    private void take(
            Argument argument, Map<Integer, Object> values, Map<Integer, String> failed) {
        Class<?> primitive = Primitives.type(argument.descriptor);
        if (primitive != null) {
            Object value = Primitives.convert(argument.value, primitive);
            if (value == null) {
                note(primitive.getName(), "argument " + argument.index + " was not stored");
                value = Primitives.zero(primitive);
            }
            values.put(argument.index, value);
            return;
        }
        int number = reference(argument.value);
        String reason = differing.get(number);
        if (reason != null) {
            failed.put(argument.index, className(number) + ": " + reason);
        }
        values.put(argument.index, get(number));
    }

    // The walk.

    private void walk(int root) {
        Numbers stack = new Numbers();
        Numbers positions = new Numbers();
        List<int[]> children = new ArrayList<>();
        parent = -1;
        push(root, stack, positions, children);
        while (stack.size() > 0) {
            int top = stack.size() - 1;
            int position = positions.get(top);
            int[] next = children.get(top);
            if (position == next.length) {
                order.add(stack.pop());
                positions.pop();
                children.remove(top);
            } else {
                positions.set(top, position + 1);
                parent = stack.get(top);
                push(next[position], stack, positions, children);
            }
        }
    }

    private void push(int number, Numbers stack, Numbers positions, List<int[]> children) {
        if (number < 0 || number < entered.length && entered[number]) {
            return;
        }
        if (number >= entered.length) {
            note("object " + number, "not in the crash file");
            return;
        }
        entered[number] = true;
        stack.add(number);
        positions.add(0);
        children.add(enter(number));
    }

    /** Makes an object and returns the numbers of those that it leads to. */
    private int[] enter(int number) {
        try {
            Stored stored = stored(number);
            if (stored == null) {
                throw new Hole("not in the crash file");
            }
            Type type = type(stored.classId);
            if (type.problem != null && stored.kind != Stored.HOLE) {
                throw new Hole(type.problem, true);
            } else if (type.isEnhanced && stored.kind == Stored.INSTANCE) {
                return enhanced(number, stored, type);
            }
            return create(number, stored, type);
        } catch (Hole hole) {
            note(className(number) + place(number), hole.getMessage());
            if (hole.differs) {
                differing.put(number, hole.getMessage());
                ClassInfo info = classOf(number);
                if (parent >= 0 && info != null && !info.isOfJdk()) {
                    notes.unrestored(info.name, place(number) + ": " + hole.getMessage());
                }
            }
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable e) {
            // Static initializers of the program run here.
            String reason = "cannot be made here: " + Classes.reason(e)
                    + (e.getCause() == null ? "" : " (" + Classes.reason(e.getCause()) + ")");
            note(className(number), reason);
            differing.put(number, reason);
        }
        return NONE;
    }

    /** The field that has led to an object, as far as one has. */
    private String place(int number) {
        Stored holder = parent < 0 ? null : stored(parent);
        ClassInfo info = holder == null ? null : file.type(holder.classId);
        if (info == null || holder.kind != Stored.INSTANCE && holder.kind != Stored.ENUM) {
            return "";
        }
        Object[] values = holder.values();
        for (int i = 0; i < values.length && i < info.fields.length; i++) {
            FieldInfo field = info.fields[i];
            if (Recorded.isReference(field.descriptor) && reference(values[i]) == number) {
                return " (" + field.owner + "." + field.name + ")";
            }
        }
        return "";
    }

    /**
     * The running program's own object that stands for a recorded one, because each JVM has one, or
     * because a constant held it and programs compare it by identity; null if there is none. Its
     * state is that of the running program, so it must agree with the recorded one or be set
     * together with static fields.
     */
    private Object shared(int number, Stored stored, Type type) {
        Recorded.Constant recorded = file.constants.get(number);
        if (recorded != null && stored.kind == Stored.HOLE) {
            Object standing = Standing.of(recorded);
            if (standing != null) {
                return standing;
            }
        }
        if (recorded == null || isCopy || type.running == null) {
            return null;
        }
        Object constant = Constants.of(recorded, type.running, loader);
        boolean known = stored.kind != Stored.INSTANCE || type.slots.length == 0
                || Rules.isResource(type.rule) || statics && type.rule == null;
        if (constant == null || known) {
            return constant;
        }
        Object copy = ++compared > MAX_COMPARED ? null : copy(number);
        return copy != null && new Same().compare(copy, constant) ? constant : null;
    }

    private int[] create(int number, Stored stored, Type type) throws Hole {
        Object shared = shared(number, stored, type);
        if (shared != null) {
            preset(number, shared);
            return statics && stored.kind == Stored.INSTANCE
                    ? fields(type, stored.values(), found.clear()) : NONE;
        }
        switch (stored.kind) {
            case Stored.STRING:
                set(number, stored.text());
                return NONE;
            case Stored.CLASS:
                set(number, classNamed(stored.text()));
                return NONE;
            case Stored.ENUM:
                set(number, Constants.ofEnum(type.running, stored.text()));
                if (!statics) {
                    return NONE;
                }
                differences(type);
                return fields(type, stored.values(), found.clear());
            case Stored.PRIMITIVES:
                set(number, RecordedArrays.primitives(type, (byte[]) stored.body));
                return NONE;
            case Stored.REFERENCES:
                return references(number, stored, type);
            case Stored.LAMBDA:
                return lambda(number, (Lambda) stored.body, type);
            case Stored.INSTANCE:
                return instance(number, stored, type);
            default:
                Object placeholder = Redacted.placeholder(stored.text(), type.running);
                if (placeholder == null) {
                    throw new Hole(stored.text());
                }
                note(className(number) + place(number), stored.text() + "; " + Redacted.STANDS_IN);
                set(number, placeholder);
                redactedKeys.add(number, stored.text());
                return NONE;
        }
    }

    /**
     * Enters an object with which a framework wraps another one, or which is of an enhanced class
     * itself.
     */
    private int[] enhanced(int number, Stored stored, Type type) throws Hole {
        int target = Enhanced.target(this, number, type.info);
        if (target < 0 && !Enhanced.hasState(stored, type.info)) {
            throw new Hole(Enhanced.LOST, true);
        }
        note(type.info.name + place(number), Enhanced.STOOD_FOR);
        if (target < 0) {
            return create(number, stored, type);
        }
        stoodFor.put(number, target);
        return new int[] {target};
    }

    private int[] references(int number, Stored stored, Type type) throws Hole {
        Class<?> component = type.running == null ? null : type.running.getComponentType();
        if (component == null || component.isPrimitive()) {
            throw new Hole("stored as an array of references");
        }
        Object[] values = stored.values();
        set(number, Array.newInstance(component, values.length));
        Numbers out = found.clear();
        for (Object value : values) {
            out.add(reference(value));
        }
        return out.toArray();
    }

    private int[] lambda(int number, Lambda lambda, Type type) throws Hole {
        set(number, Lambdas.create(lambda, type.info.interfaces, loader, numbered));
        Numbers out = found.clear();
        for (int i = 0; i < lambda.captured.length; i++) {
            if (Recorded.isReference(lambda.types[i])) {
                out.add(reference(lambda.captured[i]));
            }
        }
        return out.toArray();
    }

    private int[] instance(int number, Stored stored, Type type) throws Hole {
        Instance instance = instance(number);
        Numbers out = found.clear();
        if (type.info.kind == ClassInfo.PROXY) {
            set(number, Proxies.create(type.info.interfaces, loader));
            out.add(instance.reference("h"));
            return out.toArray();
        } else if (type.running == null) {
            throw new Hole("a hidden class, which only the recorded run had");
        } else if (stored.values().length != type.slots.length) {
            throw new Hole("stored with " + stored.values().length + " of its "
                    + type.slots.length + " fields");
        }
        type.initialize();
        Object object;
        if (type.rule != null) {
            object = type.rule.create(instance);
        } else {
            Object constant = isOnly(stored.classId) ? Constants.of(type.running) : null;
            object = constant != null ? constant : allocate(type.running);
            if (constant != null) {
                constants.set(number);
            }
        }
        if (!preset[number]) {
            set(number, object);
        }
        if (type.rule != null) {
            type.rule.children(instance, out);
        }
        differences(type);
        return fields(type, instance.values, out);
    }

    /** Adds the objects that an object's fields lead to, after those that were found before. */
    private static int[] fields(Type type, Object[] values, Numbers out) {
        for (int i = 0; i < values.length && i < type.slots.length; i++) {
            if (type.slots[i] != null && Recorded.isReference(type.info.fields[i].descriptor)) {
                out.add(reference(values[i]));
            }
        }
        return out.toArray();
    }

    /** Whether only one object of a class was recorded. */
    private boolean isOnly(int classId) {
        if (counts == null) {
            counts = new HashMap<>();
            for (int i = 0; i < file.objectCount(); i++) {
                Stored stored = stored(i);
                if (stored != null) {
                    counts.merge(stored.classId, 1, Integer::sum);
                }
            }
        }
        return counts.getOrDefault(classId, 0) == 1;
    }

    static Object allocate(Class<?> type) throws Hole {
        try {
            return Trusted.allocate(type);
        } catch (InstantiationException e) {
            throw new Hole("the class has become abstract; " + Classes.DIFFERS, true);
        }
    }

    private void differences(Type type) throws Hole {
        for (String field : type.missing) {
            if (field.contains(".val$") && Numbered.isClass(type.info.name)) {
                throw new Hole("it captures no " + field.substring(field.indexOf(".val$") + 5)
                        + " here, so it is another one, or has changed; " + Classes.DIFFERS, true);
            }
            // Not a reason to give up, since a fix may have removed the field.
            note(type.info.name, "field " + field + " is not in the running class; "
                    + type.blame(field));
        }
    }

    private void fill() {
        redactedKeys.tellApart();
        stoodFor.forEach((number, target) -> preset(number, built[target]));
        new Filler(this, redactedKeys).fill();
    }

    // What rules ask for.

    /** The object of this number; null for a hole or -1. */
    Object get(int number) {
        return number >= 0 && number < built.length ? built[number] : null;
    }

    /**
     * Lets the running JDK's own object stand for a recorded one, with which the JDK compares it.
     */
    void preset(int number, Object object) {
        if (number >= 0 && number < built.length) {
            built[number] = object;
            preset[number] = true;
        }
    }

    void note(String className, String reason) {
        notes.hole(className, reason);
    }

    /** Notes a difference from another version of the program, of which a test may fail. */
    void noteChanged(String className, String reason) {
        notes.changed(className, reason);
    }

    /** The instance of this number, or null if it is something else. */
    Instance instance(int number) {
        Stored stored = stored(number);
        if (stored == null || stored.kind != Stored.INSTANCE) {
            return null;
        }
        return new Instance(this, number, stored, type(stored.classId), stored.values());
    }

    String text(int number) {
        Stored stored = stored(number);
        return stored != null && stored.kind == Stored.STRING ? stored.text() : null;
    }

    /**
     * The class that a stored object of {@link Class} stands for, which may be a primitive type.
     */
    Class<?> classNamed(String name) throws Hole {
        Class<?> primitive = Primitives.named(name);
        if (primitive != null) {
            return primitive;
        }
        try {
            return numbered.type(name);
        } catch (ClassNotFoundException | LinkageError e) {
            ClassInfo info = file.type(name);
            throw new Hole("class " + name + " cannot be loaded (" + Classes.reason(e) + "); "
                    + (info == null ? Classes.DIFFERS : info.missing()), true);
        }
    }

    /** The object number in a value of a reference type, -1 for null. */
    static int reference(Object value) {
        if (!(value instanceof Long)) {
            return -1;
        }
        long number = (Long) value;
        return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : -1;
    }

    /** Makes this the object of a number to which no other object refers yet. */
    void set(int number, Object object) {
        if (!preset[number]) {
            built[number] = object;
        }
    }

    String className(int number) {
        ClassInfo info = classOf(number);
        return info == null ? "object " + number : info.name;
    }

    /** The recorded class of an object; null if either is not in the file. */
    private ClassInfo classOf(int number) {
        Stored stored = stored(number);
        return stored == null ? null : file.type(stored.classId);
    }

    Type type(int id) {
        Type type = types.get(id);
        if (type == null) {
            ClassInfo info = file.type(id);
            if (info == null) {
                throw new ReplayException("class " + id + " is not in the crash file " + file.name);
            }
            type = new Type(info, numbered);
            types.put(id, type);
            if (type.running != null && byName.putIfAbsent(info.name, id) != null) {
                note(info.name, "recorded of several class loaders, is one class here");
            }
        }
        return type;
    }
}
