package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.Lambda;
import java.io.Serializable;
import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaConversionException;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Restores lambdas and method references from the method behind them.
 *
 * <p>The JDK's own factory makes them, so that stack traces look as they did. It needs the captured
 * values at once, but these may lead back to the lambda. So it gets zeros, and {@link #fill} writes
 * the fields of its class, {@code arg$1} and so on. If the factory refuses, a proxy takes its
 * place.
 */
final class Lambdas {
    private Lambdas() {}

    /** A lambda without its captured values. */
    static Object create(
            Lambda lambda, String[] interfaces, ClassLoader loader, Numbered numbered) throws Hole {
        if (lambda.owner.isEmpty()) {
            throw new Hole("a lambda whose method could not be named");
        }
        Class<?>[] types = Proxies.interfaces(interfaces, loader);
        Class<?> owner;
        MethodHandle method;
        MethodType captured;
        try {
            owner = numbered.type(lambda.owner);
            String known = numbered.known(lambda.owner, lambda.method, lambda.descriptor);
            method = find(owner, known, lambda.descriptor, lambda.isStatic, numbered);
            captured = captured(lambda, owner, numbered);
        } catch (ReflectiveOperationException | LinkageError | TypeNotPresentException e) {
            throw new Hole("the lambda's method " + lambda.owner + "." + lambda.method
                    + lambda.descriptor + " cannot be found (" + Classes.reason(e) + "); "
                    + Classes.DIFFERS, true);
        }
        int count = captured.parameterCount();
        if (count > method.type().parameterCount()) {
            throw new Hole("a lambda that captures more than its method takes");
        }
        for (Class<?> host : hosts(owner, types)) {
            try {
                Object[] zeros = new Object[count];
                for (int i = 0; i < count; i++) {
                    Class<?> type = captured.parameterType(i);
                    zeros[i] = type.isPrimitive() ? Primitives.zero(type) : null;
                }
                return maker(host, types, method, captured).invokeWithArguments(zeros);
            } catch (Throwable e) {
                // The factory is strict about access and loaders; the proxy is not.
            }
        }
        return Proxies.proxy(types, loader, new Handler(method, count));
    }

    /** A lambda of one interface, whose captured values are the first arguments of its method. */
    static Object make(
            Class<?> type, Class<?> owner, String method, String descriptor, Object[] captured)
            throws Throwable {
        Numbered numbered = new Numbered(Map.of(), owner.getClassLoader());
        MethodHandle behind = find(owner, method, descriptor, false, numbered);
        if (captured.length > behind.type().parameterCount()) {
            throw new ReplayException(owner.getName() + "." + Numbered.plain(method) + descriptor
                    + " takes less than " + captured.length + " values");
        }
        MethodType types = MethodType.methodType(
                void.class, behind.type().parameterList().subList(0, captured.length));
        return maker(owner, new Class<?>[] {type}, behind, types).invokeWithArguments(captured);
    }

    /** The types of the captured values, with numbered classes as they are called now. */
    private static MethodType captured(Lambda lambda, Class<?> owner, Numbered numbered)
            throws ClassNotFoundException, Hole {
        MethodType all = MethodType.methodType(void.class);
        for (String type : lambda.types) {
            boolean isNumbered = Numbered.isClass(type);
            Class<?> found = isNumbered && type.startsWith("L")
                    ? numbered.type(type.substring(1, type.length() - 1).replace('/', '.'))
                    : isNumbered ? numbered.type(type.replace('/', '.'))
                    : MethodType.fromMethodDescriptorString("()" + type, owner.getClassLoader())
                            .returnType();
            all = all.appendParameterTypes(found);
        }
        return all;
    }

    /** Sets the captured values. */
    static void fill(Restorer restorer, Lambda lambda, Object object) throws Hole {
        boolean proxy = Proxy.isProxyClass(object.getClass());
        for (int i = 0; i < lambda.captured.length; i++) {
            String descriptor = lambda.types[i];
            Class<?> primitive = Primitives.type(descriptor);
            Object value = primitive == null
                    ? restorer.get(Restorer.reference(lambda.captured[i]))
                    : Primitives.convert(lambda.captured[i], primitive);
            if (primitive != null && value == null) {
                restorer.note("lambda " + lambda.method, "a captured value was not stored");
                value = Primitives.zero(primitive);
            }
            if (proxy) {
                ((Handler) Proxy.getInvocationHandler(object)).captured[i] = value;
            } else {
                Slot slot = Layout.need(object.getClass(), "arg$" + (i + 1));
                slot.put(object, value);
            }
        }
    }

    private static Iterable<Class<?>> hosts(Class<?> owner, Class<?>[] interfaces) {
        Set<Class<?>> hosts = new LinkedHashSet<>();
        hosts.add(owner);
        hosts.addAll(List.of(interfaces));
        return hosts;
    }

    /** The method behind a lambda, by its name, which may have its origin. */
    private static MethodHandle find(
            Class<?> owner, String text, String descriptor, boolean isStatic, Numbered numbered)
            throws ReflectiveOperationException, Hole {
        Lookup lookup = Trusted.LOOKUP.in(owner);
        ClassLoader loader = owner.getClassLoader();
        Numbered.Member member = numbered.method(
                owner, text, descriptor, isStatic ? "static" : null);
        String name = member == null ? Numbered.plain(text) : member.name;
        MethodType type = MethodType.fromMethodDescriptorString(
                member == null ? descriptor : member.descriptor, loader);
        if (name.equals("<init>")) {
            return lookup.findConstructor(owner, type);
        }
        // The agent often cannot know: the constant pool of a lambda's class does not say how it
        // calls. Listing the owner's methods would need all their types, some of which may be
        // missing.
        try {
            return lookup.findStatic(owner, name, type);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            if (isStatic) {
                throw e;
            }
        }
        MethodHandle virtual = Trusted.LOOKUP.findVirtual(owner, name, type);
        boolean isPrivate = Modifier.isPrivate(
                Trusted.LOOKUP.revealDirect(virtual).getModifiers());
        // Before JDK 15 the factory expects private methods in this form.
        return isPrivate ? lookup.findSpecial(owner, name, type, owner) : virtual;
    }

    /** Makes the factory that turns captured values into lambdas. */
    private static MethodHandle maker(
            Class<?> host, Class<?>[] interfaces, MethodHandle method, MethodType captured)
            throws Throwable {
        int main = functional(interfaces);
        List<Method> abstracts = abstractMethods(interfaces[main]);
        MethodType wanted = type(abstracts.get(0));
        MethodType actual = method.type().dropParameterTypes(0, captured.parameterCount());
        MethodType instantiated = wanted.changeReturnType(
                narrowed(wanted.returnType(), actual.returnType()));
        for (int i = 0; i < wanted.parameterCount(); i++) {
            instantiated = instantiated.changeParameterType(
                    i, narrowed(wanted.parameterType(i), actual.parameterType(i)));
        }
        List<Object> extra = new ArrayList<>(List.of(wanted, method, instantiated));
        boolean isSerializable = Arrays.stream(interfaces).anyMatch(Serializable.class::isAssignableFrom);
        extra.add(LambdaMetafactory.FLAG_MARKERS | LambdaMetafactory.FLAG_BRIDGES
                | (isSerializable ? LambdaMetafactory.FLAG_SERIALIZABLE : 0));
        extra.add(interfaces.length - 1);
        for (int i = 0; i < interfaces.length; i++) {
            if (i != main) {
                if (!abstractMethods(interfaces[i]).isEmpty()
                        && !interfaces[i].isAssignableFrom(interfaces[main])) {
                    throw new LambdaConversionException("two functional interfaces");
                }
                extra.add(interfaces[i]);
            }
        }
        extra.add(abstracts.size() - 1);
        for (Method bridge : abstracts.subList(1, abstracts.size())) {
            extra.add(type(bridge));
        }
        CallSite site = LambdaMetafactory.altMetafactory(Trusted.LOOKUP.in(host),
                abstracts.get(0).getName(), captured.changeReturnType(interfaces[main]),
                extra.toArray());
        return site.getTarget();
    }

    /**
     * The index of the interface whose method the lambda implements. Interfaces that it extends,
     * and mere markers, may be named before it.
     */
    private static int functional(Class<?>[] interfaces) throws LambdaConversionException {
        int main = -1;
        for (int i = 0; i < interfaces.length; i++) {
            if (!abstractMethods(interfaces[i]).isEmpty()
                    && (main < 0 || interfaces[main].isAssignableFrom(interfaces[i]))) {
                main = i;
            }
        }
        if (main < 0) {
            throw new LambdaConversionException("no functional interface");
        }
        return main;
    }

    /** The method of a functional interface, with the methods that it overrides by generics. */
    private static List<Method> abstractMethods(Class<?> type) {
        List<Method> found = new ArrayList<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers()) && !isObjects(method)
                    && (found.isEmpty() || found.get(0).getName().equals(method.getName()))) {
                found.add(method);
            }
        }
        return found;
    }

    private static boolean isObjects(Method method) {
        try {
            Object.class.getMethod(method.getName(), method.getParameterTypes());
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static MethodType type(Method method) {
        return MethodType.methodType(method.getReturnType(), method.getParameterTypes());
    }

    /** The type of an interface's parameter in this lambda, to which the factory casts. */
    private static Class<?> narrowed(Class<?> wanted, Class<?> actual) {
        if (wanted.isPrimitive()) {
            return wanted;
        }
        Class<?> boxed = MethodType.methodType(actual).wrap().returnType();
        return wanted.isAssignableFrom(boxed) ? boxed : wanted;
    }

    /** Does what the lambda's class would do. */
    private static final class Handler implements InvocationHandler {
        private final MethodHandle method;
        final Object[] captured;

        Handler(MethodHandle method, int count) {
            this.method = method;
            captured = new Object[count];
        }

        @Override
        public Object invoke(Object proxy, Method called, Object[] arguments) throws Throwable {
            if (called.getDeclaringClass() == Object.class) {
                switch (called.getName()) {
                    case "equals": return proxy == arguments[0];
                    case "hashCode": return System.identityHashCode(proxy);
                    default: return "lambda@" + Integer.toHexString(System.identityHashCode(proxy));
                }
            }
            List<Object> all = new ArrayList<>();
            if (called.isDefault()) {
                all.add(proxy);
            } else {
                all.addAll(Arrays.asList(captured));
            }
            if (arguments != null) {
                all.addAll(Arrays.asList(arguments));
            }
            MethodHandle target = called.isDefault()
                    ? Trusted.LOOKUP.unreflectSpecial(called, called.getDeclaringClass())
                    : method.asFixedArity();
            return target.invokeWithArguments(all);
        }
    }
}
