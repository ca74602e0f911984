package dev.hindsight.worker;

import java.lang.invoke.MethodType;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The program's classes, and what is known of them. */
final class Loaded {
    /** What the analyzer knows a method by that is there and takes or gives something else. */
    private static final String OTHERWISE = "it is ";

    final ClassLoader loader;

    /** Classes, names and descriptors of methods and constants, by the analyzer's numbers. */
    private final Map<Integer, String[]> declared;

    private final Map<Integer, Executable> resolved = new HashMap<>();
    private final Map<Integer, Field> constants = new HashMap<>();

    Loaded(ClassLoader loader, Map<Integer, String[]> declared) {
        this.loader = loader;
        this.declared = declared;
    }

    /** The class of what a method returns or a constructor makes, or of what a constant holds. */
    Class<?> type(int id) throws ReflectiveOperationException {
        if (isConstant(id)) {
            return constant(id).getType();
        }
        Executable method = method(id);
        return method instanceof Method ? ((Method) method).getReturnType() : method.getDeclaringClass();
    }

    /** Whether it is a field, whose descriptor has no parameters. */
    boolean isConstant(int id) {
        return !declared.get(id)[2].startsWith("(");
    }

    Field constant(int id) throws ReflectiveOperationException {
        Field known = constants.get(id);
        if (known == null) {
            String[] names = declared.get(id);
            known = Class.forName(names[0], false, loader).getDeclaredField(names[1]);
            try {
                known.setAccessible(true);
            } catch (RuntimeException e) {
                // Of the JDK: what is public may be read all the same.
            }
            constants.put(id, known);
        }
        return known;
    }

    Executable method(int id) throws ReflectiveOperationException {
        Executable known = resolved.get(id);
        if (known == null) {
            String[] names = declared.get(id);
            Class<?> owner = Class.forName(names[0], false, loader);
            MethodType type = MethodType.fromMethodDescriptorString(names[2], loader);
            Class<?>[] parameters = type.parameterArray();
            if (names[1].equals("<init>")) {
                known = owner.getDeclaredConstructor(parameters);
            } else {
                known = find(owner, names[1], parameters, type.returnType());
            }
            try {
                known.setAccessible(true);
            } catch (RuntimeException e) {
                // Of the JDK: what is public may be called all the same.
            }
            resolved.put(id, known);
        }
        return known;
    }

    private static Method find(Class<?> owner, String name, Class<?>[] parameters, Class<?> result)
            throws NoSuchMethodException {
        // There may be bridges beside it that differ in what they return.
        for (Method method : owner.getDeclaredMethods()) {
            if (method.getName().equals(name)
                    && method.getReturnType() == result
                    && Arrays.equals(method.getParameterTypes(), parameters)) {
                return method;
            }
        }
        String others = "";
        for (Method method : owner.getMethods()) {
            if (!method.getName().equals(name)) {
                continue;
            } else if (method.getReturnType() == result
                    && Arrays.equals(method.getParameterTypes(), parameters)) {
                return method;
            } else if (!method.isBridge()) {
                others = method.toString();
            }
        }
        // Compiled code that names a method by what it returned before does not find it either.
        throw new NoSuchMethodException(others.isEmpty() ? name : OTHERWISE + others);
    }

    Class<?> named(String name) throws ClassNotFoundException {
        switch (name) {
            case "boolean":
                return boolean.class;
            case "byte":
                return byte.class;
            case "char":
                return char.class;
            case "short":
                return short.class;
            case "int":
                return int.class;
            case "long":
                return long.class;
            case "float":
                return float.class;
            case "double":
                return double.class;
            case "void":
                return void.class;
            default:
                return Class.forName(name, false, loader);
        }
    }
}
