package dev.hindsight.replay;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the method that a lambda or method reference calls, whatever has made it.
 *
 * <p>Each place in the code that makes one has a hidden class of its own. So two of them count as
 * the same by the method behind them, which is in that class's constant pool, and by the interfaces
 * that they implement.
 */
final class Behind {
    private Behind() {}

    private static final Set<String> BOXES = Set.of(
            "java/lang/Boolean", "java/lang/Byte", "java/lang/Character", "java/lang/Short",
            "java/lang/Integer", "java/lang/Long", "java/lang/Float", "java/lang/Double",
            "java/lang/Number");

    /** The JDK's view of a class's constant pool. */
    private static final class Pool {
        static final Class<?> TYPE = type();
        static final MethodHandle OF = handle(Class.class, "getConstantPool", TYPE);
        static final MethodHandle SIZE = handle(TYPE, "getSize", int.class);
        static final MethodHandle MEMBER =
                handle(TYPE, "getMemberRefInfoAt", String[].class, int.class);

        private static Class<?> type() {
            try {
                return Class.forName("jdk.internal.reflect.ConstantPool");
            } catch (ClassNotFoundException e) {
                throw new ReplayException("this JVM tells nothing of constant pools", e);
            }
        }

        private static MethodHandle handle(
                Class<?> owner, String name, Class<?> result, Class<?>... parameters) {
            try {
                MethodHandle handle = Trusted.LOOKUP.findVirtual(
                        owner, name, MethodType.methodType(result, parameters));
                return handle.asType(handle.type()
                        .changeParameterType(0, Object.class)
                        .changeReturnType(result == TYPE ? Object.class : result));
            } catch (ReflectiveOperationException e) {
                throw new ReplayException("this JVM tells nothing of constant pools", e);
            }
        }
    }

    /**
     * The method that objects of a class call and the interfaces that they implement, as one text;
     * null if it is not the class of a lambda, or the method is not in it.
     */
    static String of(Class<?> type) {
        if (!type.getName().contains("$$Lambda")) {
            return null;
        }
        List<String[]> members = members(type);
        String[] method = members == null ? null : target(members);
        if (method == null) {
            return null;
        }
        Set<String> interfaces = new TreeSet<>();
        for (Class<?> one : type.getInterfaces()) {
            interfaces.add(one.getName());
        }
        return String.join(" ", method) + " " + interfaces;
    }

    /**
     * The methods that the class of a lambda calls; null if one of them is in a handle, and so
     * unknown.
     */
    private static List<String[]> members(Class<?> type) {
        String own = type.getName().replaceFirst("/.*", "").replace('.', '/');
        List<String[]> members = new ArrayList<>();
        try {
            Object pool = (Object) Pool.OF.invokeExact((Object) type);
            int size = (int) Pool.SIZE.invokeExact(pool);
            for (int i = 1; i < size; i++) {
                String[] member = member(pool, i);
                if (member == null || member[2].charAt(0) != '(') {
                    continue;
                }
                if (member[0].equals("java/lang/invoke/MethodHandle")) {
                    return null;
                }
                boolean superConstructor = member[0].equals("java/lang/Object")
                        && member[1].equals("<init>");
                if (!superConstructor && !member[0].startsWith(own)
                        && !member[0].startsWith("java/lang/invoke/")) {
                    members.add(member);
                }
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return members;
    }

    /**
     * The class, name and descriptor of a field or method; null if the constant is something else.
     */
    private static String[] member(Object pool, int index) throws Throwable {
        try {
            return (String[]) Pool.MEMBER.invokeExact(pool, index);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * The method that does not convert arguments or results. Calls that unbox come before it, calls
     * that box come after it; if all of them are such, it is one of them itself.
     */
    private static String[] target(List<String[]> members) {
        for (String[] member : members) {
            if (!isConversion(member)) {
                return member;
            }
        }
        boolean oneOfTwo = members.size() == 2
                && members.get(0)[1].equals("valueOf") != members.get(1)[1].equals("valueOf");
        return members.isEmpty() ? null : members.get(oneOfTwo ? 1 : 0);
    }

    private static boolean isConversion(String[] member) {
        boolean out = member[1].endsWith("Value") && member[2].startsWith("()");
        boolean into = member[1].equals("valueOf") && member[2].indexOf(')') == 2;
        return BOXES.contains(member[0]) && (out || into);
    }
}
