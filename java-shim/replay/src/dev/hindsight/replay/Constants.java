package dev.hindsight.replay;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * Objects that a program compares by identity: {@code static final X NONE = new X() {...}}.
 *
 * <p>A recording does not say which objects static fields held. Of an anonymous class it can be told: if
 * a constant of the class around it has that class, and one object of it was recorded, they are the
 * same. A copy would be something else to the program.
 */
final class Constants {
    private Constants() {}

    /** The running program's constant of this anonymous class, or null. */
    static Object of(Class<?> type) {
        if (!type.isAnonymousClass() || Classes.ofJdk(type)) {
            return null;
        }
        Object found = null;
        try {
            Classes.initialize(type.getEnclosingClass());
            for (Field field : type.getEnclosingClass().getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())
                        && Modifier.isFinal(field.getModifiers())
                        && field.getType().isAssignableFrom(type)) {
                    Object value = Trusted.LOOKUP.unreflectGetter(field).invoke();
                    if (value != null && value.getClass() == type && value != found) {
                        if (found != null) {
                            return null;
                        }
                        found = value;
                    }
                }
            }
        } catch (VirtualMachineError e) {
            throw e;
        } catch (Throwable e) {
            // The class around it cannot be initialised or read here; its object can be made.
            return null;
        }
        return found;
    }
}
