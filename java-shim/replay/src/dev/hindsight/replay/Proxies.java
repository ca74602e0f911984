package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Restores instances of {@link Proxy} classes, which consist of interfaces and a handler. */
final class Proxies {
    private Proxies() {}

    /** A proxy without its handler. */
    static Object create(String[] interfaces, ClassLoader loader) throws Hole {
        Class<?>[] types = interfaces(interfaces, loader);
        InvocationHandler none = (proxy, method, arguments) -> {
            throw new ReplayException("the handler of a proxy could not be restored");
        };
        return proxy(types, loader, none);
    }

    /** Sets the handler. */
    static void fill(Object proxy, Object handler) throws Hole {
        if (!(handler instanceof InvocationHandler)) {
            throw new Hole("the handler of a proxy could not be restored");
        }
        Slot slot = Layout.need(Proxy.class, "h");
        slot.put(proxy, handler);
    }

    static Class<?>[] interfaces(String[] names, ClassLoader loader) throws Hole {
        Class<?>[] types = new Class<?>[names.length];
        for (int i = 0; i < names.length; i++) {
            try {
                types[i] = Classes.find(names[i], loader);
            } catch (ClassNotFoundException | LinkageError e) {
                throw new Hole("interface " + names[i] + " cannot be loaded; " + Classes.DIFFERS,
                        true);
            }
        }
        return types;
    }

    static Object proxy(Class<?>[] types, ClassLoader loader, InvocationHandler handler)
            throws Hole {
        ClassLoader defining = loader != null ? loader : ClassLoader.getSystemClassLoader();
        for (Class<?> type : types) {
            // An interface that is not public determines package and loader.
            if (type.getClassLoader() != null) {
                defining = type.getClassLoader();
            }
        }
        try {
            return Proxy.newProxyInstance(defining, types, handler);
        } catch (IllegalArgumentException e) {
            throw new Hole("no proxy can be made: " + e.getMessage());
        }
    }
}
