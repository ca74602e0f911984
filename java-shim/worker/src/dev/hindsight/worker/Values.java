package dev.hindsight.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Pattern;

/** What can be reported of a value. */
final class Values {
    /** The longest text that is reported. */
    static final int MAX_TEXT = 2000;

    private static final int MAX_ARRAY = 16;

    /** The longest text of an object's {@code toString} that is reported. */
    private static final int MAX_SAID = 200;

    /** The result of {@code Object.toString}, or the name of a class that was made at run time. */
    private static final Pattern IDENTITY =
            Pattern.compile("@[0-9a-f]{4,8}|\\$\\$Lambda|\\$Proxy\\d|0x[0-9a-f]{8}");

    /**
     * A time as the JDK writes it with twelve-hour clocks, which has another space from release 20
     * on.
     */
    private static final Pattern OF_RELEASE =
            Pattern.compile("\\d[ \\u202f][AP]M\\b|h:mm(:ss)?[ \\u202f]a\\b");

    private Values() {}

    /** The text of an object, if that is more than its class and a number. */
    static String said(Object value) {
        try {
            if (value == null
                    || value.getClass().getMethod("toString").getDeclaringClass() == Object.class) {
                return null;
            }
            String text = value.toString();
            boolean isShort = text != null && text.length() <= MAX_SAID;
            return isShort && !IDENTITY.matcher(text).find() && !OF_RELEASE.matcher(text).find()
                    ? text : null;
        } catch (Throwable e) {
            // The test does without it.
            return null;
        }
    }

    /** Whether a text may be reported, because it is the same in other releases. */
    private static boolean isTold(String text) {
        return text.length() <= MAX_TEXT && !OF_RELEASE.matcher(text).find();
    }

    /** The texts of the elements of an array, or of a collection of arrays. */
    static String elements(Object value) {
        try {
            Object array = value instanceof Collection ? ((Collection<?>) value).toArray() : value;
            if (array == null || !array.getClass().isArray()) {
                return null;
            }
            // This adds brackets of its own around it.
            String text = Arrays.deepToString(new Object[] {array});
            text = text.substring(1, text.length() - 1);
            return text.length() <= MAX_SAID && !IDENTITY.matcher(text).find() ? text : null;
        } catch (Throwable e) {
            // The test does without it.
            return null;
        }
    }

    /** The number of elements of an array, a collection or a map. */
    static String size(Object value) {
        try {
            if (value instanceof Collection) {
                return String.valueOf(((Collection<?>) value).size());
            }
            if (value instanceof Map) {
                return String.valueOf(((Map<?, ?>) value).size());
            }
            boolean isArray = value != null && value.getClass().isArray();
            return isArray ? String.valueOf(Array.getLength(value)) : null;
        } catch (Throwable e) {
            // The test does without it.
            return null;
        }
    }

    /** Whether only its value matters and not its identity: empty collections are shared by all. */
    static boolean isValueBased(Object value) {
        String name = value.getClass().getName();
        return value.getClass().getClassLoader() == null
                && (name.startsWith("java.time.")
                        || name.startsWith("java.math.Big")
                        || name.startsWith("java.util.Optional")
                        || name.startsWith("java.util.ImmutableCollections$")
                        || name.startsWith("java.util.Collections$Empty")
                        || name.equals("java.util.UUID"));
    }

    /** Whether it is a collection or map of the JDK, which can be read without changing it. */
    static boolean isCollectionOfJdk(Object value) {
        return (value instanceof Collection || value instanceof Map)
                && value.getClass().getClassLoader() == null;
    }

    static boolean isLiteral(Object value) {
        return value instanceof String && isTold((String) value)
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof Enum && isNamed(((Enum<?>) value).getDeclaringClass())
                || value instanceof Class
                || value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte
                || value instanceof Float
                || value instanceof Double;
    }

    /** Whether a source can name a class; for one of the program, a source in its package. */
    private static boolean isNamed(Class<?> type) {
        try {
            if (type.getModule().getName() != null || type.getCanonicalName() == null) {
                return isAccessible(type);
            }
            boolean named = true;
            for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
                named &= !Modifier.isPrivate(at.getModifiers());
            }
            return named;
        } catch (LinkageError e) {
            // An enclosing class is missing, or does not list it.
            return false;
        }
    }

    /** Whether a source in any package can name a class. */
    static boolean isAccessible(Class<?> type) {
        try {
            boolean accessible = !type.isSynthetic() && type.getCanonicalName() != null
                    && (type.getModule().getName() == null
                            || type.getModule().isExported(type.getPackageName()));
            for (Class<?> at = type; at != null && accessible; at = at.getEnclosingClass()) {
                accessible = Modifier.isPublic(at.getModifiers());
            }
            return accessible;
        } catch (LinkageError e) {
            // As above.
            return false;
        }
    }

    static boolean isFlat(Object array) {
        Class<?> type = array.getClass().getComponentType();
        if (!type.isPrimitive() && type != String.class || Array.getLength(array) > MAX_ARRAY) {
            return false;
        }
        for (int i = 0; type == String.class && i < Array.getLength(array); i++) {
            Object element = Array.get(array, i);
            if (element != null && !isLiteral(element)) {
                return false;
            }
        }
        return true;
    }
}
