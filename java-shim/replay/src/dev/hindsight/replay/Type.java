package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.ClassInfo;
import dev.hindsight.replay.Recorded.FieldInfo;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A recorded class and the running one that stands for it. */
final class Type {
    final ClassInfo info;
    /** The running class; null if there is none. */
    final Class<?> running;
    /** The reason why there is no running class. */
    final String problem;
    /** The rule for the part that the JDK declares; null if it is restored field by field. */
    final Rule rule;
    /** The slots of the recorded fields, in their order; null for those that are not written. */
    final Slot[] slots;
    /**
     * The slots whose type is not the recorded one; null if there are none, as in all unchanged
     * classes.
     */
    private BitSet retyped;
    /** The slots of fields that another class of the chain declared when it was recorded. */
    private final List<Slot> moved = new ArrayList<>();
    /** Whether the running class is the superclass of one that a framework made at run time. */
    final boolean isEnhanced;
    /** Recorded fields that the running class does not have. */
    final List<String> missing = new ArrayList<>();
    /** Fields of the running class that were not recorded. */
    final List<String> added = new ArrayList<>();
    /** Whether the running class is known to be initialised. */
    private boolean initialized;
    /** Whether the running class is the recorded one; null until it is needed. */
    private Boolean unchanged;
    /** The added fields that classes of the program declare. */
    private final List<Slot> addedSlots = new ArrayList<>();
    /** Fills these, and fields that cannot hold the recorded value; null until it is needed. */
    private AddedFields addedFields;
    /**
     * The recorded names of the running class and its superclasses, if compilers have numbered
     * them.
     */
    private final Map<Class<?>, String> recordedNames = new HashMap<>();

    Type(ClassInfo info, Numbered numbered) {
        this.info = info;
        Class<?> found = null;
        String reason = null;
        // Names of proxies and hidden classes mean nothing in another run.
        if (info.kind != ClassInfo.PROXY && info.kind != ClassInfo.HIDDEN) {
            try {
                found = find(info, numbered);
            } catch (ClassNotFoundException e) {
                reason = "the class is missing; " + info.missing();
            } catch (Hole hole) {
                reason = hole.getMessage();
            } catch (LinkageError e) {
                reason = "the class cannot be loaded: " + Classes.reason(e);
            }
        }
        Class<?> above = found == null ? aboveEnhanced(info, numbered) : null;
        isEnhanced = above != null;
        running = isEnhanced ? above : found;
        problem = isEnhanced ? null : reason;
        if (running != null) {
            if (Numbered.strip(running.getName()).equals(Numbered.strip(info.name))) {
                recordedNames.put(running, info.name);
            }
            note(info.supers, numbered);
        }
        rule = running == null || running.isArray() ? null : Rules.of(info, running);
        slots = new Slot[info.fields.length];
        if (running != null) {
            place();
        }
    }

    private static Class<?> find(ClassInfo info, Numbered numbered)
            throws ClassNotFoundException, Hole {
        try {
            return numbered.type(info.name);
        } catch (ClassNotFoundException | Hole e) {
            // A constant is found by its name, and only its enum is needed.
            Class<?> constants = info.kind == ClassInfo.ENUM ? ofConstants(info, numbered) : null;
            if (constants != null) {
                return constants;
            }
            String substitute = e instanceof Hole ? null : Releases.substitute(info.name);
            if (substitute == null) {
                throw e;
            }
            return numbered.type(substitute);
        }
    }

    /** The superclass of a class that a framework has made; null for other classes. */
    private static Class<?> aboveEnhanced(ClassInfo info, Numbered numbered) {
        try {
            return info.kind == ClassInfo.CLASS && info.supers.length > 0 && Enhanced.isNamed(info.name)
                    ? numbered.type(info.supers[0]) : null;
        } catch (ClassNotFoundException | Hole | LinkageError e) {
            return null;
        }
    }

    /** The enum that the body of a constant extends, or null. */
    private static Class<?> ofConstants(ClassInfo info, Numbered numbered) {
        try {
            Class<?> above = info.supers.length == 0 ? null : numbered.type(info.supers[0]);
            return above != null && above.isEnum() ? above : null;
        } catch (ClassNotFoundException | Hole | LinkageError e) {
            return null;
        }
    }

    private void note(String[] supers, Numbered numbered) {
        for (String name : supers) {
            if (Numbered.isClass(name)) {
                try {
                    recordedNames.putIfAbsent(numbered.type(name), name);
                } catch (ClassNotFoundException | Hole | LinkageError e) {
                    // Its fields will be missing.
                }
            }
        }
    }

    /** The name that a class had when it was recorded. */
    private String recordedName(Class<?> type) {
        return recordedNames.getOrDefault(type, type.getName());
    }

    private void place() {
        if (rule != null && rule.isWhole()) {
            return;
        }
        int covered = rule == null ? Integer.MAX_VALUE : depth(rule.owner);
        BitSet unplaced = new BitSet();
        for (int i = 0; i < slots.length; i++) {
            FieldInfo field = info.fields[i];
            if (depth(field.owner) >= covered && !rule.isRaw(field)
                    || isEnhanced && field.owner.equals(info.name)) {
                continue;
            }
            Class<?> owner = superclass(field.owner);
            slots[i] = owner == null
                    ? null : Layout.find(owner, field.name, field.descriptor);
            if (slots[i] == null) {
                unplaced.set(i);
            }
        }
        // There are seldom any.
        for (int i = unplaced.nextSetBit(0); i >= 0; i = unplaced.nextSetBit(i + 1)) {
            place(i, unplaced);
        }
        for (Class<?> type = running; type != null; type = type.getSuperclass()) {
            // If a rule covers fields of the JDK, it handles the versions as well.
            if (rule == null || !Classes.ofJdk(type)) {
                for (Slot slot : Layout.declared(type)) {
                    if (info.index(recordedName(type), slot.name) < 0 && !moved.contains(slot)) {
                        added.add(recordedName(type) + "." + slot.name);
                        if (!Classes.ofJdk(type)) {
                            addedSlots.add(slot);
                        }
                    }
                }
            }
        }
    }

    /**
     * Finds a field that its class no longer declares as it did: with another type, or in another
     * class of the chain. Differences of the JDK are left to rules.
     */
    private void place(int index, BitSet unplaced) {
        FieldInfo field = info.fields[index];
        Class<?> owner = superclass(field.owner);
        boolean ofProgram = owner != null
                ? !Classes.ofJdk(owner) : !field.owner.matches("(java|jdk|sun|com\\.sun)\\..*");
        // Anonymous and local classes are distinguished by what they capture.
        if (ofProgram && !field.name.startsWith("val$") && !field.name.startsWith("this$")) {
            Slot slot = owner == null ? null : Layout.named(owner, field.name);
            if (slot == null && owner != null) {
                slot = renamed(field, owner);
                if (slot != null) {
                    moved.add(slot);
                }
            }
            if (slot == null) {
                slot = elsewhere(field, unplaced);
                if (slot != null) {
                    moved.add(slot);
                }
            }
            slots[index] = slot;
            if (slot != null && !Layout.descriptor(slot.type).equals(field.descriptor)) {
                retyped = retyped == null ? new BitSet() : retyped;
                retyped.set(index);
            }
        }
        if (slots[index] == null) {
            missing.add(field.owner + "." + field.name);
        }
    }

    /**
     * The only field of this type whose name differs from the recorded one only in the class's name
     * before it, or null.
     */
    private static Slot renamed(FieldInfo field, Class<?> owner) {
        String name = Numbered.unexpanded(field.owner, field.name);
        Slot found = null;
        for (Slot slot : Layout.declared(owner)) {
            if (Numbered.unexpanded(owner.getName(), slot.name).equals(name)
                    && Layout.descriptor(slot.type).equals(field.descriptor)) {
                if (found != null) {
                    return null;
                }
                found = slot;
            }
        }
        return found;
    }

    /** The only field of this name that a class of the program in the chain now has, or null. */
    private Slot elsewhere(FieldInfo field, BitSet unplaced) {
        for (int i = unplaced.nextSetBit(0); i >= 0; i = unplaced.nextSetBit(i + 1)) {
            if (info.fields[i] != field && info.fields[i].name.equals(field.name)) {
                // It could be that of either.
                return null;
            }
        }
        Slot found = null;
        for (Class<?> type = running; type != null && !Classes.ofJdk(type); type = type.getSuperclass()) {
            Slot slot = Layout.named(type, field.name);
            if (slot != null && info.index(recordedName(type), field.name) < 0) {
                if (found != null) {
                    return null;
                }
                found = slot;
            }
        }
        return found != null && isAssignable(field.descriptor, found.type) ? found : null;
    }

    /** Whether a field of {@code type} can hold all values of a recorded one. */
    private boolean isAssignable(String descriptor, Class<?> type) {
        if (Layout.descriptor(type).equals(descriptor)) {
            return true;
        }
        try {
            MethodType recorded = MethodType.fromMethodDescriptorString(
                    "()" + descriptor, running.getClassLoader());
            Class<?> from = recorded.unwrap().returnType();
            Class<?> to = Primitives.unboxed(type);
            return type.isAssignableFrom(recorded.wrap().returnType())
                    || to != null && from.isPrimitive() && Primitives.isWidened(from, to);
        } catch (TypeNotPresentException | LinkageError e) {
            return false;
        }
    }

    /** Whether the field at this place has another type than the recorded one. */
    boolean isRetyped(int index) {
        return retyped != null && retyped.get(index);
    }

    /**
     * Whether the class is as it was recorded: if it has been fixed, its hash codes may differ.
     * Those of the JDK's collections and values are specified.
     */
    boolean isUnchanged() {
        if (unchanged == null) {
            // This reads its class file.
            unchanged = running != null && missing.isEmpty() && added.isEmpty()
                    && retyped == null && moved.isEmpty()
                    && (Classes.ofJdk(running)
                            || info.sha256 != null && info.sha256.equals(Classes.sha256(running)));
        }
        return unchanged;
    }

    /** Initialises the running class, superclasses first. */
    void initialize() {
        if (!initialized) {
            Classes.initialize(running);
            initialized = true;
        }
    }

    /**
     * Gives values to the added fields of a restored object, as far as they can be determined, and
     * to those that cannot hold the recorded value.
     *
     * @param unheld their places among the recorded ones
     */
    void fillAdded(Instance instance, Object object, BitSet unheld) {
        boolean wanted = !addedSlots.isEmpty() || !unheld.isEmpty();
        if (wanted && addedFields == null) {
            addedFields = new AddedFields(running, addedSlots);
        }
        boolean made = wanted && addedFields.fill(instance, object, unheld);
        for (int i = unheld.nextSetBit(0); i >= 0; i = unheld.nextSetBit(i + 1)) {
            boolean filled = made && addedFields.takeElements(instance, object, i);
            FieldInfo field = info.fields[i];
            instance.restorer.noteChanged(info.name, "field " + field.owner + "." + field.name
                    + " cannot hold what was recorded and "
                    + (filled ? "has only the recorded elements; "
                            : made ? "has what a constructor gives it; " : "keeps its default; ")
                    + Classes.DIFFERS);
        }
        for (String field : added) {
            boolean known = made && !Classes.ofJdk(superclass(ownerOf(field)));
            String what = "field " + field + " was not recorded and "
                    + (known ? "has what a constructor gives it; " : "keeps its default; ");
            String blamed = blame(field);
            if (blamed.equals(Classes.DIFFERS)) {
                instance.restorer.noteChanged(info.name, what + blamed);
            } else {
                instance.restorer.note(info.name, what + blamed);
            }
        }
    }

    private static String ownerOf(String field) {
        return field.substring(0, field.lastIndexOf('.'));
    }

    /**
     * The running class, or the superclass of it, that had this name when it was recorded, or null.
     */
    Class<?> superclass(String name) {
        for (Class<?> type = running; type != null; type = type.getSuperclass()) {
            if (recordedName(type).equals(name)) {
                return type;
            }
        }
        return null;
    }

    /** Whether the JDK or the program differs in a field, {@code owner.name}. */
    String blame(String field) {
        Class<?> owner = superclass(ownerOf(field));
        return Classes.ofJdk(owner != null ? owner : running)
                ? "degraded, for the JDK differs from the recorded one" : Classes.DIFFERS;
    }

    /** The distance of a name among the recorded superclasses; that of the class itself is 0. */
    private int depth(String name) {
        if (name.equals(info.name)) {
            return 0;
        }
        for (int i = 0; i < info.supers.length; i++) {
            if (info.supers[i].equals(name)) {
                return i + 1;
            }
        }
        return Integer.MAX_VALUE - 1;
    }
}
