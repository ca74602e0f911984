package dev.hindsight.worker;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The program's classes and their members. */
final class Loaded {
    /**
     * The prefix by which the analyzer recognises a method that exists with other parameters or
     * another result.
     */
    private static final String OTHERWISE = "it is ";

    final ClassLoader loader;

    /** The classes, names and descriptors of methods and constants, by the analyzer's numbers. */
    private final Map<Integer, String[]> declared;

    private final Map<Integer, Callee> resolved = new HashMap<>();
    private final Map<String, MethodHandle> factories = new HashMap<>();

    Loaded(ClassLoader loader, Map<Integer, String[]> declared) {
        this.loader = loader;
        this.declared = declared;
    }

    /** A method, constructor or constant, which is found when it is first needed. */
    Callee callee(int id) throws ReflectiveOperationException {
        Callee known = resolved.get(id);
        if (known == null) {
            String[] names = declared.get(id);
            known = find(Class.forName(names[0], false, loader), names[1], names[2]);
            resolved.put(id, known);
        }
        return known;
    }

    private Callee find(Class<?> owner, String name, String descriptor) throws ReflectiveOperationException {
        // A field's descriptor has no parameters.
        boolean isConstant = !descriptor.startsWith("(");
        MethodType type = MethodType.fromMethodDescriptorString(isConstant ? "()" + descriptor : descriptor, loader);
        try {
            if (isConstant) {
                return Callee.of(owner.getDeclaredField(name));
            } else if (name.equals("<init>")) {
                return Callee.of(owner.getDeclaredConstructor(type.parameterArray()));
            }
            return Callee.of(find(owner, name, type.parameterArray(), type.returnType()));
        } catch (NoClassDefFoundError e) {
            // This concerns a neighbouring member that needs a library that is missing.
            return Callee.alone(owner, name, type, isConstant);
        }
    }

    private static Method find(Class<?> owner, String name, Class<?>[] parameters, Class<?> result)
            throws NoSuchMethodException {
        // There may be bridges beside it that differ in their result.
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
        // Compiled code that names a method with its former result does not find it either.
        throw new NoSuchMethodException(others.isEmpty() ? name : OTHERWISE + others);
    }

    /** A lambda of an interface, given its name and those of its method. */
    Object lambda(String[] names, Lambda lambda) throws ReflectiveOperationException {
        MethodHandle factory = factories.get(names[0]);
        if (factory == null) {
            Class<?> type = named(names[0]);
            MethodType descriptor = MethodType.fromMethodDescriptorString(names[2], loader);
            factory = Lambda.factory(caller(type), type, names[1], descriptor);
            factories.put(names[0], factory);
        }
        try {
            return factory.invoke(lambda);
        } catch (Throwable e) {
            throw new ReflectiveOperationException(e);
        }
    }

    /**
     * A reference to a method, given its class, name and descriptor, as an object of an interface.
     * Each place of a sequence has a factory of its own, which returns the same object each time,
     * as javac's code does in each place of a test. The same place of another sequence has the same
     * factory, because what a factory makes lives as long as the loader.
     */
    Object reference(int place, String[] names, String[] referred) throws ReflectiveOperationException {
        String key = place + " " + names[0] + " " + String.join(" ", referred);
        MethodHandle factory = factories.get(key);
        if (factory == null) {
            Class<?> type = named(names[0]);
            MethodType descriptor = MethodType.fromMethodDescriptorString(names[2], loader);
            Class<?> owner = named(referred[0]);
            MethodType taken = MethodType.fromMethodDescriptorString(referred[2], loader);
            factory = Lambda.reference(caller(type), type, names[1], descriptor, owner, referred[1], taken);
            factories.put(key, factory);
        }
        try {
            return factory.invoke();
        } catch (Throwable e) {
            throw new ReflectiveOperationException(e);
        }
    }

    /** The lookup that may look up an interface, and the results of its lambdas. */
    private MethodHandles.Lookup caller(Class<?> type) throws ReflectiveOperationException {
        MethodHandles.Lookup caller = Program.lookup(loader);
        // Tests are in its package, which may be the only one that sees it, or its results.
        return type.getClassLoader() == loader ? MethodHandles.privateLookupIn(type, caller) : caller;
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
