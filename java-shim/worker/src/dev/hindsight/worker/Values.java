package dev.hindsight.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Pattern;

/** What of a value can be told. */
final class Values {
    /** Of a text that is told as it is. */
    static final int MAX_TEXT = 2000;

    private static final int MAX_ARRAY = 16;

    /** Of a text that an object says of itself. */
    private static final int MAX_SAID = 200;

    /** What {@code Object.toString} gives, or the name of a class that was made at run time. */
    private static final Pattern IDENTITY =
            Pattern.compile("@[0-9a-f]{4,8}|\\$\\$Lambda|\\$Proxy\\d|0x[0-9a-f]{8}");

    /** Of a time as the JDK writes it where hours go to twelve: from release 20 on, with another space. */
    private static final Pattern OF_RELEASE =
            Pattern.compile("\\d[ \\u202f][AP]M\\b|h:mm(:ss)?[ \\u202f]a\\b");

    private Values() {}

    /** What an object says of itself, if that is more than its class and a number. */
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
            // The test does without.
            return null;
        }
    }

    /** Whether a text is one to be told, and not another one in another release. */
    private static boolean isTold(String text) {
        return text.length() <= MAX_TEXT && !OF_RELEASE.matcher(text).find();
    }

    /** What the elements of an array, or of a collection of arrays, say of themselves. */
    static String elements(Object value) {
        try {
            Object array = value instanceof Collection ? ((Collection<?>) value).toArray() : value;
            if (array == null || !array.getClass().isArray()) {
                return null;
            }
            // With brackets of its own around it.
            String text = Arrays.deepToString(new Object[] {array});
            text = text.substring(1, text.length() - 1);
            return text.length() <= MAX_SAID && !IDENTITY.matcher(text).find() ? text : null;
        } catch (Throwable e) {
            // The test does without.
            return null;
        }
    }

    /** How many elements an array, collection or map has. */
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
            // The test does without.
            return null;
        }
    }

    /** Whether only what it says matters, and not which object it is: empty collections are shared by all. */
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

    /** Whether it is one of the JDK's collections or maps, which tell what is in them and change nothing then. */
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

    /** Whether a source can name a class: of the program, one in its package. */
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
            // A class around it is not there, or does not know of it.
            return false;
        }
    }

    /** Whether a source anywhere can name a class. */
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
