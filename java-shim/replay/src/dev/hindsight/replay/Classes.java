package dev.hindsight.replay;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodType;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** Finds the running classes that recorded names stand for. */
final class Classes {
    private Classes() {}

    /** The JVM's message about a class whose initializer has failed, when it is used again. */
    private static final String NOT_INITIALIZED = "Could not initialize class ";

    /** The advice about a class that is missing or has changed. */
    static final String DIFFERS = "the class path differs from the one that was recorded";

    /**
     * The class of this name, not initialised.
     *
     * @param name as {@link Class#getName} returns it; never a primitive type, since a class may be
     *     called {@code int}
     * @param loaders asked in turn; null stands for an unknown one
     */
    static Class<?> find(String name, ClassLoader... loaders) throws ClassNotFoundException {
        for (ClassLoader loader : loaders) {
            if (loader != null) {
                try {
                    return Class.forName(name, false, loader);
                } catch (ClassNotFoundException e) {
                    // The next one may know it.
                }
            }
        }
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (context != null) {
            try {
                return Class.forName(name, false, context);
            } catch (ClassNotFoundException e) {
                // The system class loader may know it.
            }
        }
        return Class.forName(name, false, ClassLoader.getSystemClassLoader());
    }

    /**
     * Initialises a class after its superclasses, the topmost first.
     *
     * <p>Most programs meet a superclass first. If a superclass has constants of its subclasses and
     * a subclass is initialised before it, they stay null for ever.
     */
    static void initialize(Class<?> type) {
        List<Class<?>> all = new ArrayList<>();
        for (Class<?> at = type; at != null && !ofJdk(at); at = at.getSuperclass()) {
            all.add(at);
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            Trusted.initialize(all.get(i));
        }
    }

    /** The class whose method is to be called, preferably the receiver's own idea of it. */
    static Class<?> ofCall(String text, Object receiver, ClassLoader caller) {
        String name = Numbered.plain(text);
        if (receiver != null) {
            Class<?> alike = null;
            Deque<Class<?>> todo = new ArrayDeque<>();
            todo.add(receiver.getClass());
            while (!todo.isEmpty()) {
                Class<?> type = todo.remove();
                if (type.getName().equals(name)) {
                    return type;
                } else if (alike == null && Numbered.isClass(name)
                        && Numbered.strip(type.getName()).equals(Numbered.strip(name))) {
                    alike = type;
                }
                if (type.getSuperclass() != null) {
                    todo.add(type.getSuperclass());
                }
                for (Class<?> superInterface : type.getInterfaces()) {
                    todo.add(superInterface);
                }
            }
            // It was found again before, or is a constant of this class whatever its number.
            if (alike != null) {
                return alike;
            }
        }
        try {
            ClassLoader own = receiver == null ? null : receiver.getClass().getClassLoader();
            return new Numbered(Map.of(), own, caller).type(text);
        } catch (Hole hole) {
            throw new ReplayException(hole.getMessage(), hole);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new ReplayException("class " + name + " cannot be loaded (" + reason(e) + "); "
                    + DIFFERS, e);
        }
    }

    /** The types of a descriptor as {@code owner} sees them. */
    static MethodType methodType(String descriptor, Class<?> owner, String what) {
        ClassLoader loader = owner.getClassLoader();
        try {
            return MethodType.fromMethodDescriptorString(
                    descriptor, loader != null ? loader : ClassLoader.getSystemClassLoader());
        } catch (TypeNotPresentException e) {
            throw new ReplayException("cannot call " + what + ": class " + e.typeName()
                    + " is missing; " + DIFFERS, e);
        } catch (IllegalArgumentException | LinkageError e) {
            throw new ReplayException("cannot call " + what + ": " + reason(e), e);
        }
    }

    /** An exception in words, without its package if that says nothing. */
    static String reason(Throwable e) {
        String message = Runner.message(e);
        if (e instanceof ClassNotFoundException) {
            return "class " + message + " is missing";
        } else if (e instanceof NoClassDefFoundError && message != null) {
            if (message.startsWith(NOT_INITIALIZED)) {
                String name = message.substring(NOT_INITIALIZED.length()).trim();
                return "the static initializer of " + name + " has failed";
            }
            return "class " + message.replace('/', '.') + " is missing";
        } else if (e instanceof NoSuchMethodException) {
            return "no such method";
        }
        return e.getClass().getName() + (message == null ? "" : ": " + message);
    }

    /** Whether a class comes with the JDK, so that its version is the JDK's. */
    static boolean ofJdk(Class<?> type) {
        Class<?> base = type;
        while (base.isArray()) {
            base = base.getComponentType();
        }
        ClassLoader loader = base.getClassLoader();
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    /** The SHA-256 of a class's file in hexadecimal, or null if there is none to be found. */
    static String sha256(Class<?> type) {
        try (InputStream in = file(type)) {
            if (in == null) {
                return null;
            }
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
            StringBuilder hex = new StringBuilder();
            for (byte one : digest) {
                hex.append(Character.forDigit(one >> 4 & 15, 16));
                hex.append(Character.forDigit(one & 15, 16));
            }
            return hex.toString();
        } catch (IOException | NoSuchAlgorithmException e) {
            return null;
        }
    }

    /** The class file of a class, or null if there is none to be found. */
    static InputStream file(Class<?> type) {
        String name = type.getName();
        return type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class");
    }

    /** What the class file of this name has, or null if none of the loaders, asked in turn, has one. */
    static byte[] bytes(String name, ClassLoader... loaders) {
        List<ClassLoader> all = new ArrayList<>(Arrays.asList(loaders));
        all.add(Thread.currentThread().getContextClassLoader());
        all.add(ClassLoader.getSystemClassLoader());
        for (ClassLoader loader : all) {
            if (loader != null) {
                try (InputStream in =
                        loader.getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (in != null) {
                        return in.readAllBytes();
                    }
                } catch (IOException e) {
                    // The next one may know it.
                }
            }
        }
        return null;
    }
}
