package dev.hindsight.replay;

import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Finds methods whose signature differs from the recorded one: a fix may have widened it, as from
 * {@code List} to {@code Collection}.
 */
final class Signatures {
    /** The most methods of a name that a message lists. */
    private static final int MOST = 5;

    private Signatures() {}

    /**
     * The type of the only method of this name, kind and number of parameters that a class declares, if
     * these arguments fit; else null.
     *
     * @param name its name, {@code <init>} for a constructor
     * @param recorded the type that it was recorded with
     */
    static MethodType fitting(
            Class<?> owner, String name, boolean isStatic, MethodType recorded, Object[] arguments) {
        Executable only = null;
        for (Executable one : named(owner, name)) {
            if (Modifier.isStatic(one.getModifiers()) != isStatic
                    || one.getParameterCount() != recorded.parameterCount()) {
                continue;
            } else if (only != null) {
                return null;
            }
            only = one;
        }
        if (only == null || arguments.length != recorded.parameterCount()) {
            return null;
        }
        Class<?>[] types = only.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (!fits(arguments[i], recorded.parameterType(i), types[i])) {
                return null;
            }
        }
        Class<?> result = only instanceof Method ? ((Method) only).getReturnType() : void.class;
        return MethodType.methodType(result, types);
    }

    /**
     * The only method of this type whose name differs only in the prefixed name of the class; else
     * null.
     */
    static String renamed(Class<?> owner, String name, MethodType type) {
        String plain = Numbered.unexpanded(owner.getName(), name);
        String only = null;
        try {
            for (Method method : owner.getDeclaredMethods()) {
                if (Numbered.unexpanded(owner.getName(), method.getName()).equals(plain)
                        && method.getReturnType() == type.returnType()
                        && type.parameterList().equals(List.of(method.getParameterTypes()))) {
                    if (only != null) {
                        return null;
                    }
                    only = method.getName();
                }
            }
        } catch (LinkageError e) {
            return null;
        }
        return only;
    }

    /** Whether Java converts an argument for a parameter of one type to that of another. */
    private static boolean fits(Object value, Class<?> from, Class<?> to) {
        if (from.isPrimitive()) {
            return to.isPrimitive() ? Primitives.isWidened(from, to)
                    : to.isInstance(Primitives.zero(from));
        } else if (value == null || !to.isPrimitive()) {
            return value == null ? !to.isPrimitive() : to.isInstance(value);
        }
        Class<?> unboxed = Primitives.unboxed(value.getClass());
        return unboxed != null && Primitives.isWidened(unboxed, to);
    }

    /**
     * The methods of this name that a class declares, as in {@code price(Collection)}; empty if
     * there are none.
     */
    static String told(Class<?> owner, String name) {
        List<String> all = new ArrayList<>();
        for (Executable one : named(owner, name)) {
            List<String> types = new ArrayList<>();
            for (Class<?> type : one.getParameterTypes()) {
                types.add(type.getSimpleName());
            }
            String plain = one instanceof Constructor ? owner.getSimpleName() : name;
            all.add((Modifier.isStatic(one.getModifiers()) ? "static " : "")
                    + plain + "(" + String.join(", ", types) + ")");
        }
        // Reflection lists them in no particular order.
        Collections.sort(all);
        String more = all.size() > MOST ? " and " + (all.size() - MOST) + " more" : "";
        return String.join(", ", all.subList(0, Math.min(MOST, all.size()))) + more;
    }

    /** The methods that a class declares, or its constructors, except synthetic ones. */
    private static List<Executable> named(Class<?> owner, String name) {
        List<Executable> named = new ArrayList<>();
        try {
            Executable[] all = name.equals("<init>")
                    ? owner.getDeclaredConstructors() : owner.getDeclaredMethods();
            for (Executable one : all) {
                if (!one.isSynthetic() && (one instanceof Constructor || one.getName().equals(name))) {
                    named.add(one);
                }
            }
        } catch (LinkageError e) {
            // A class that one of them names is missing: then nothing is known of any.
            named.clear();
        }
        return named;
    }
}
