package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.Stored;
import java.io.File;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.security.SecureRandom;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Currency;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.TimeZone;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;

/** Rules for values that a constructor or factory makes from what is stored of them. */
final class Wholes {
    private Wholes() {}

    /** Makes the value. */
    interface Maker {
        Object make(Instance instance) throws Exception;
    }

    /** The classes whose values {@link Listed} makes. */
    private static final String[] LISTED = {
        "java.io.File",
        "java.io.FileInputStream",
        "java.io.FileOutputStream",
        "java.lang.Boolean",
        "java.lang.Byte",
        "java.lang.Character",
        "java.lang.Double",
        "java.lang.Float",
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Module",
        "java.lang.Runtime",
        "java.lang.Short",
        "java.lang.StringBuffer",
        "java.lang.StringBuilder",
        "java.lang.reflect.Constructor",
        "java.lang.reflect.Field",
        "java.lang.reflect.Method",
        "java.net.URL",
        "java.nio.ByteOrder",
        "java.nio.charset.Charset",
        "java.nio.charset.CodingErrorAction",
        "java.security.SecureRandom",
        "java.time.ZoneOffset",
        "java.time.ZoneRegion",
        "java.util.Currency",
        "java.util.JumboEnumSet",
        "java.util.Locale",
        "java.util.RegularEnumSet",
        "java.util.concurrent.ThreadLocalRandom",
        "java.util.logging.Level",
        "java.util.logging.Logger",
        "java.util.regex.Pattern",
        "jdk.internal.loader.ClassLoaders$AppClassLoader",
        "jdk.internal.loader.ClassLoaders$PlatformClassLoader",
        "sun.nio.fs.UnixPath",
        "sun.nio.fs.WindowsPath",
        "sun.util.calendar.Gregorian",
        "sun.util.calendar.JulianCalendar",
        "sun.util.calendar.ZoneInfo",
    };

    static void register() {
        for (String owner : LISTED) {
            Rules.register(new Listed(owner));
        }
    }

    /**
     * A value that is made according to its class's name: a lambda for each would be a class for
     * each, at every start.
     */
    private static final class Listed extends Whole {
        private final String owner;

        Listed(String owner) {
            super(owner);
            this.owner = owner;
        }

        @Override
        Object make(Instance i) throws Exception {
            switch (owner) {
                case "java.lang.Boolean":
                    return boxed(i, boolean.class);
                case "java.lang.Byte":
                    return boxed(i, byte.class);
                case "java.lang.Short":
                    return boxed(i, short.class);
                case "java.lang.Character":
                    return boxed(i, char.class);
                case "java.lang.Integer":
                    return boxed(i, int.class);
                case "java.lang.Long":
                    return boxed(i, long.class);
                case "java.lang.Float":
                    return boxed(i, float.class);
                case "java.lang.Double":
                    return boxed(i, double.class);
                case "java.lang.StringBuilder":
                    return builder(i);
                case "java.lang.StringBuffer":
                    return new StringBuffer(builder(i));
                case "java.util.regex.Pattern":
                    // The other bits are notes of the pattern compiler.
                    return Pattern.compile(i.needText("pattern"), (int) i.number("flags", 0) & 0x1ff);
                case "java.util.Locale":
                    return locale(i);
                case "java.util.Currency":
                    return Currency.getInstance(i.needText("currencyCode"));
                case "java.nio.charset.Charset":
                    return Charset.forName(i.needText("name"));
                case "sun.util.calendar.ZoneInfo":
                    return TimeZone.getTimeZone(i.needText("ID"));
                case "java.time.ZoneRegion":
                    return ZoneId.of(i.needText("id"));
                case "java.time.ZoneOffset":
                    return ZoneOffset.ofTotalSeconds((int) i.number("totalSeconds", 0));
                case "sun.util.calendar.Gregorian":
                    return calendarSystem("gregorian");
                case "sun.util.calendar.JulianCalendar":
                    return calendarSystem("julian");
                case "java.util.logging.Level":
                    return Level.parse(i.needText("name"));
                case "java.util.logging.Logger":
                    String name = i.text("name");
                    return name == null ? Logger.getAnonymousLogger() : Logger.getLogger(name);
                case "java.nio.ByteOrder":
                    return i.needText("name").equals("BIG_ENDIAN") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
                case "java.nio.charset.CodingErrorAction":
                    return codingErrorAction(i.needText("name"));
                case "java.io.File":
                    return new File(i.needText("path"));
                case "sun.nio.fs.UnixPath":
                    return unixPath(i.stored("path"));
                case "sun.nio.fs.WindowsPath":
                    return Paths.get(i.needText("path"));
                case "java.net.URL":
                    return url(i);
                case "java.security.SecureRandom":
                    return new SecureRandom();
                case "java.util.concurrent.ThreadLocalRandom":
                    return ThreadLocalRandom.current();
                case "java.lang.Runtime":
                    return Runtime.getRuntime();
                case "java.util.RegularEnumSet":
                case "java.util.JumboEnumSet":
                    return enumSet(i);
                case "jdk.internal.loader.ClassLoaders$AppClassLoader":
                    return ClassLoader.getSystemClassLoader();
                case "jdk.internal.loader.ClassLoaders$PlatformClassLoader":
                    return ClassLoader.getPlatformClassLoader();
                case "java.lang.Module":
                    return module(i.needText("name"));
                case "java.lang.reflect.Field":
                    return accessible(i, i.needClass("clazz").getDeclaredField(i.needText("name")));
                case "java.lang.reflect.Method":
                    return accessible(i, i.needClass("clazz")
                            .getDeclaredMethod(i.needText("name"), parameterTypes(i)));
                case "java.lang.reflect.Constructor":
                    return accessible(i, i.needClass("clazz").getDeclaredConstructor(parameterTypes(i)));
                case "java.io.FileOutputStream":
                    return new java.io.FileOutputStream(standard(i.object("fd")));
                case "java.io.FileInputStream":
                    return new java.io.FileInputStream(standard(i.object("fd")));
                default:
                    throw new AssertionError(owner);
            }
        }

        @Override
        void children(Instance instance, Numbers out) {
            if (owner.endsWith("EnumSet")) {
                universe(instance, out);
            }
        }
    }

    /** A value that is made in one step. */
    private abstract static class Whole extends Rule {
        Whole(String owner) {
            super(owner);
        }

        abstract Object make(Instance instance) throws Exception;

        @Override
        final boolean isWhole() {
            return true;
        }

        @Override
        final Object create(Instance instance) throws Hole {
            try {
                return make(instance);
            } catch (Hole e) {
                throw e;
            } catch (Exception e) {
                throw new Hole("cannot be made anew: " + Classes.reason(e));
            }
        }
    }

    static void whole(String owner, Maker maker) {
        Rules.register(new Whole(owner) {
            @Override
            Object make(Instance instance) throws Exception {
                return maker.make(instance);
            }
        });
    }

    /** Boxes a value by {@code valueOf}, because programs compare small boxes with {@code ==}. */
    private static Object boxed(Instance instance, Class<?> type) throws Hole {
        Object value = Primitives.convert(instance.value("value"), type);
        if (value == null) {
            throw new Hole("its value was not stored");
        }
        return value;
    }

    private static CodingErrorAction codingErrorAction(String name) {
        return name.equals("IGNORE") ? CodingErrorAction.IGNORE
                : name.equals("REPLACE") ? CodingErrorAction.REPLACE
                : CodingErrorAction.REPORT;
    }

    private static Object unixPath(Stored path) throws Hole {
        if (path == null || path.kind != Stored.PRIMITIVES) {
            throw new Hole("its path was not stored");
        }
        return Paths.get(new String((byte[]) path.body, StandardCharsets.UTF_8));
    }

    private static URL url(Instance instance) throws Exception {
        String protocol = instance.needText("protocol");
        String file = instance.text("file");
        String ref = instance.text("ref");
        String rest = (file == null ? "" : file) + (ref == null ? "" : "#" + ref);
        String host = instance.text("host");
        String authority = instance.text("authority");
        URL plain = new URL(protocol, host, (int) instance.number("port", -1), rest);
        boolean isStored = authority != null || host == null || host.isEmpty();
        // A user, or its absence, is in the authority alone, and made from its text alone.
        return !isStored || Objects.equals(authority, plain.getAuthority()) ? plain
                : new URL(protocol + ":" + (authority == null ? "" : "//" + authority) + rest);
    }

    private static Module module(String name) throws Hole {
        return ModuleLayer.boot().findModule(name).orElseThrow(() -> new Hole("a module that is not there"));
    }

    /** Makes a builder, whose layout changed in 9 and in 21. */
    private static StringBuilder builder(Instance instance) throws Hole {
        Stored value = instance.stored("value");
        if (value == null || value.kind != Stored.PRIMITIVES) {
            throw new Hole("its characters were not stored");
        }
        byte[] bytes = (byte[]) value.body;
        boolean latin1 = instance.has("coder") && instance.number("coder", 0) == 0;
        int capacity = latin1 ? bytes.length : bytes.length / 2;
        int count = (int) Math.max(0, Math.min(capacity, instance.number("count", 0)));
        StringBuilder builder = new StringBuilder(capacity);
        // Files are little-endian, and so are all machines that record the bytes of two-byte
        // strings.
        for (int i = 0; i < count; i++) {
            builder.append(latin1 ? (char) (bytes[i] & 0xff)
                    : (char) (bytes[2 * i] & 0xff | bytes[2 * i + 1] << 8));
        }
        return builder;
    }

    private static Locale locale(Instance instance) throws Hole {
        Instance base = instance.object("baseLocale");
        if (base == null) {
            throw new Hole("its language was not stored");
        }
        String language = orEmpty(base.text("language"));
        String region = orEmpty(base.text("region"));
        String variant = orEmpty(base.text("variant"));
        Instance extensions = instance.object("localeExtensions");
        String id = extensions == null ? "" : orEmpty(extensions.text("id"));
        try {
            Locale.Builder builder = new Locale.Builder();
            if (!id.isEmpty()) {
                builder.setLanguageTag("und-" + id);
            }
            return builder.setLanguage(language).setScript(orEmpty(base.text("script")))
                    .setRegion(region).setVariant(variant.replace('_', '-')).build();
        } catch (java.util.IllformedLocaleException e) {
            return new Locale(language, region, variant);
        }
    }

    private static String orEmpty(String text) {
        return text == null ? "" : text;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object enumSet(Instance instance) throws Hole {
        Class<?> type = instance.needClass("elementType");
        if (!type.isEnum()) {
            throw new Hole(type.getName() + " is no longer an enum; " + Classes.DIFFERS, true);
        }
        EnumSet set = EnumSet.noneOf((Class<? extends Enum>) type);
        Object[] universe = instance.elements("universe");
        long[] bits = bits(instance);
        for (int i = 0; i < universe.length && i / 64 < bits.length; i++) {
            Stored constant = instance.restorer.stored(Restorer.reference(universe[i]));
            if ((bits[i / 64] >>> i & 1) == 0) {
                continue;
            } else if (constant == null || constant.kind != Stored.ENUM) {
                throw new Hole("its constants were not stored");
            }
            try {
                set.add(Enum.valueOf((Class<? extends Enum>) type, constant.text()));
            } catch (IllegalArgumentException e) {
                instance.restorer.note(type.getName(), "constant " + constant.text()
                        + " is missing; " + Classes.DIFFERS);
            }
        }
        return set;
    }

    /** Adds the constants of an enum set's universe, which may have state. */
    private static void universe(Instance set, Numbers out) {
        for (Object constant : set.elements("universe")) {
            out.add(Restorer.reference(constant));
        }
    }

    private static long[] bits(Instance instance) throws Hole {
        Object elements = instance.value("elements");
        if (instance.type.info.name.equals("java.util.RegularEnumSet")) {
            return new long[] {elements instanceof Long ? (Long) elements : 0};
        }
        Stored stored = instance.stored("elements");
        if (stored == null || stored.kind != Stored.PRIMITIVES) {
            throw new Hole("its elements were not stored");
        }
        java.nio.LongBuffer in = java.nio.ByteBuffer.wrap((byte[]) stored.body)
                .order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
        long[] bits = new long[in.remaining()];
        in.get(bits);
        return bits;
    }

    private static Class<?>[] parameterTypes(Instance instance) throws Hole {
        Object[] elements = instance.elements("parameterTypes");
        Class<?>[] types = new Class<?>[elements.length];
        for (int i = 0; i < types.length; i++) {
            Stored type = instance.restorer.stored(Restorer.reference(elements[i]));
            if (type == null || type.kind != Stored.CLASS) {
                throw new Hole("its parameter types were not stored");
            }
            types[i] = instance.restorer.classNamed(type.text());
        }
        return types;
    }

    private static Object accessible(Instance instance, AccessibleObject member) throws Hole {
        if (instance.flag("override")) {
            Layout.need(AccessibleObject.class, "override").put(member, true);
        }
        return member;
    }

    /** A calendar of the JDK, which is compared with {@code ==}. */
    private static Object calendarSystem(String name) throws Exception {
        Class<?> type = Class.forName("sun.util.calendar.CalendarSystem");
        try {
            return Trusted.LOOKUP.findStatic(type, "forName",
                    MethodType.methodType(type, String.class)).invoke(name);
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Standard input, output or error, which every process has, unlike other files. */
    private static java.io.FileDescriptor standard(Instance descriptor) throws Hole {
        long number = descriptor == null ? -1 : descriptor.number("fd", -1);
        if (number < 0 || number > 2) {
            throw new Hole("file");
        }
        return number == 0 ? java.io.FileDescriptor.in
                : number == 1 ? java.io.FileDescriptor.out : java.io.FileDescriptor.err;
    }
}
