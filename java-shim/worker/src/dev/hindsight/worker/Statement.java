package dev.hindsight.worker;

import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;

/** A call in a sequence, or the reading of a constant. */
final class Statement {
    final int method;
    final boolean mayThrow;
    final boolean isShown;
    /** Whether what ran counts for nothing if it throws. */
    final boolean isUnwanted;
    final int on;
    final Argument[] arguments;

    /** An argument, computed from the values that came before and the program's classes. */
    interface Argument {
        Object value(Object[] values, Loaded loaded) throws ReflectiveOperationException;
    }

    /** Reads a statement. */
    Statement(Pipe pipe) throws IOException {
        method = pipe.in.readInt();
        int flags = pipe.in.readByte();
        mayThrow = (flags & 1) != 0;
        isShown = (flags & 2) != 0;
        isUnwanted = (flags & 4) != 0;
        on = pipe.in.readInt();
        arguments = new Argument[pipe.in.readUnsignedByte()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(pipe);
        }
    }

    private static Argument argument(Pipe pipe) throws IOException {
        return argument(pipe, pipe.in.readByte());
    }

    private static Argument argument(Pipe pipe, int kind) throws IOException {
        switch (kind) {
            case 'v':
                int index = pipe.in.readInt();
                return (values, loaded) -> values[index];
            case 'n':
                return (values, loaded) -> null;
            case 's':
                String string = pipe.text();
                return (values, loaded) -> string;
            case 'e':
                String type = pipe.text();
                String constant = pipe.text();
                return (values, loaded) -> {
                    Field field = Class.forName(type, true, loaded.loader).getField(constant);
                    // A constant of an enum that is not public is nevertheless visible to tests.
                    return Callee.of(field).call(null, new Object[0]);
                };
            case 'c':
                String name = pipe.text();
                return (values, loaded) -> loaded.named(name);
            case 'k':
                String maker = pipe.text();
                String method = pipe.text();
                String said = pipe.text();
                return (values, loaded) -> made(loaded.named(maker), method, said);
            case 'a':
                String component = pipe.text();
                Argument[] elements = new Argument[pipe.in.readInt()];
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = argument(pipe);
                }
                return (values, loaded) -> {
                    Object array = Array.newInstance(loaded.named(component), elements.length);
                    for (int i = 0; i < elements.length; i++) {
                        Array.set(array, i, elements[i].value(values, loaded));
                    }
                    return array;
                };
            case 'l':
                String[] names = {pipe.text(), pipe.text(), pipe.text()};
                Argument given = null;
                int parameter = -1;
                int gives = pipe.in.readByte();
                if (gives == 'r') {
                    String[] referred = {pipe.text(), pipe.text(), pipe.text()};
                    int place = pipe.references++;
                    return (values, loaded) -> loaded.reference(place, names, referred);
                }
                if (gives == 't') {
                    String thrown = pipe.text();
                    Argument message = argument(pipe);
                    return (values, loaded) -> loaded.lambda(
                            names,
                            Lambda.throwing(loaded.named(thrown), (String) message.value(values, loaded)));
                }
                if (gives == 'p') {
                    parameter = pipe.in.readInt();
                } else {
                    given = argument(pipe, gives);
                }
                return lambda(names, parameter, given);
            default:
                Object primitive = pipe.primitive(kind);
                return (values, loaded) -> primitive;
        }
    }

    /**
     * A lambda of an interface, given its name and those of its method; it returns a parameter or
     * the given value.
     */
    private static Argument lambda(String[] names, int parameter, Argument given) {
        return (values, loaded) -> {
            Object value = given == null ? null : given.value(values, loaded);
            return loaded.lambda(names, new Lambda(parameter, value));
        };
    }

    /** A clock from a text: its instant and zone if it is fixed, else its zone. */
    private static Clock clock(String text) {
        int between = text.indexOf(' ');
        ZoneId zone = ZoneId.of(text.substring(between + 1));
        return between < 0
                ? GuardClocks.system(zone)
                : Clock.fixed(Instant.parse(text.substring(0, between)), zone);
    }

    /**
     * The object that a class of the JDK makes from a text. A failure is not an exception of the
     * program.
     */
    private static Object made(Class<?> maker, String method, String text)
            throws ReflectiveOperationException {
        try {
            if (maker == Clock.class) {
                return clock(text);
            }
            if (method.isEmpty()) {
                return maker.getConstructor(String.class).newInstance(text);
            }
            for (Class<?> type : new Class<?>[] {String.class, CharSequence.class}) {
                try {
                    return maker.getMethod(method, type).invoke(null, text);
                } catch (NoSuchMethodException e) {
                    // It takes the other type.
                }
            }
            return maker.getMethod(method, String.class, String[].class)
                    .invoke(null, text, new String[0]);
        } catch (InvocationTargetException | DateTimeException e) {
            throw new ReflectiveOperationException("no " + maker.getName() + " of " + text, e);
        }
    }
}
