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
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
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

    static void register() {
        box("Boolean", boolean.class);
        box("Byte", byte.class);
        box("Short", short.class);
        box("Character", char.class);
        box("Integer", int.class);
        box("Long", long.class);
        box("Float", float.class);
        box("Double", double.class);

        whole("java.lang.StringBuilder", Wholes::builder);
        whole("java.lang.StringBuffer", instance -> new StringBuffer(builder(instance)));
        whole("java.util.regex.Pattern", instance -> {
            // Other bits are the compiler's own notes.
            int flags = (int) instance.number("flags", 0) & 0x1ff;
            return Pattern.compile(instance.needText("pattern"), flags);
        });
        whole("java.util.Locale", Wholes::locale);
        whole("java.util.Currency", i -> Currency.getInstance(i.needText("currencyCode")));
        whole("java.nio.charset.Charset", i -> Charset.forName(i.needText("name")));
        whole("sun.util.calendar.ZoneInfo", i -> TimeZone.getTimeZone(i.needText("ID")));
        whole("java.time.ZoneRegion", i -> ZoneId.of(i.needText("id")));
        whole("java.time.ZoneOffset",
                i -> ZoneOffset.ofTotalSeconds((int) i.number("totalSeconds", 0)));
        whole("sun.util.calendar.Gregorian", i -> calendarSystem("gregorian"));
        whole("sun.util.calendar.JulianCalendar", i -> calendarSystem("julian"));
        whole("java.util.logging.Level", i -> Level.parse(i.needText("name")));
        whole("java.util.logging.Logger", i -> {
            String name = i.text("name");
            return name == null ? Logger.getAnonymousLogger() : Logger.getLogger(name);
        });
        whole("java.nio.ByteOrder", i -> i.needText("name").equals("BIG_ENDIAN")
                ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        whole("java.nio.charset.CodingErrorAction", i -> {
            String name = i.needText("name");
            return name.equals("IGNORE") ? CodingErrorAction.IGNORE
                    : name.equals("REPLACE") ? CodingErrorAction.REPLACE
                    : CodingErrorAction.REPORT;
        });

        whole("java.io.File", i -> new File(i.needText("path")));
        whole("sun.nio.fs.UnixPath", i -> {
            Stored path = i.stored("path");
            if (path == null || path.kind != Stored.PRIMITIVES) {
                throw new Hole("its path was not stored");
            }
            return Paths.get(new String((byte[]) path.body, StandardCharsets.UTF_8));
        });
        whole("sun.nio.fs.WindowsPath", i -> Paths.get(i.needText("path")));
        whole("java.net.URL", i -> {
            String file = i.text("file");
            String ref = i.text("ref");
            return new URL(i.needText("protocol"), i.text("host"), (int) i.number("port", -1),
                    (file == null ? "" : file) + (ref == null ? "" : "#" + ref));
        });

        whole("java.security.SecureRandom", i -> new SecureRandom());
        whole("java.util.concurrent.ThreadLocalRandom", i -> ThreadLocalRandom.current());
        whole("java.lang.Runtime", i -> Runtime.getRuntime());
        whole("java.util.RegularEnumSet", Wholes::enumSet, Wholes::universe);
        whole("java.util.JumboEnumSet", Wholes::enumSet, Wholes::universe);
        whole("jdk.internal.loader.ClassLoaders$AppClassLoader",
                i -> ClassLoader.getSystemClassLoader());
        whole("jdk.internal.loader.ClassLoaders$PlatformClassLoader",
                i -> ClassLoader.getPlatformClassLoader());
        whole("java.lang.Module", i -> ModuleLayer.boot().findModule(i.needText("name"))
                .orElseThrow(() -> new Hole("a module that is not there")));

        whole("java.lang.reflect.Field", i -> accessible(i,
                i.needClass("clazz").getDeclaredField(i.needText("name"))));
        whole("java.lang.reflect.Method", i -> {
            Method method = i.needClass("clazz")
                    .getDeclaredMethod(i.needText("name"), parameterTypes(i));
            return accessible(i, method);
        });
        whole("java.lang.reflect.Constructor", i -> {
            Constructor<?> made = i.needClass("clazz").getDeclaredConstructor(parameterTypes(i));
            return accessible(i, made);
        });
        standardStream("java.io.FileOutputStream", java.io.FileOutputStream::new);
        standardStream("java.io.FileInputStream", java.io.FileInputStream::new);
    }

    static void whole(String owner, Maker maker) {
        whole(owner, maker, (instance, out) -> {});
    }

    /** The same with objects that it leads to. */
    private static void whole(
            String owner, Maker maker, BiConsumer<Instance, Numbers> children) {
        Rules.register(new Rule(owner) {
            @Override
            boolean isWhole() {
                return true;
            }

            @Override
            Object create(Instance instance) throws Hole {
                try {
                    return maker.make(instance);
                } catch (Hole e) {
                    throw e;
                } catch (Exception e) {
                    throw new Hole("cannot be made anew: " + Classes.reason(e));
                }
            }

            @Override
            void children(Instance instance, Numbers out) {
                children.accept(instance, out);
            }
        });
    }

    /** Boxes come from {@code valueOf}, since programs compare small ones with {@code ==}. */
    private static void box(String name, Class<?> type) {
        whole("java.lang." + name, instance -> {
            Object value = Primitives.convert(instance.value("value"), type);
            if (value == null) {
                throw new Hole("its value was not stored");
            }
            return value;
        });
    }

    /** Its layout changed in 9 and in 21. */
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
        // Files are little-endian, and so are all machines that record bytes of two-byte strings.
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

    /** The constants themselves may have state. */
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
            Trusted.put(member, Trusted.offset(AccessibleObject.class, "override"),
                    boolean.class, true);
        }
        return member;
    }

    /** The calendars of the JDK are compared with {@code ==}. */
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

    /** Makes a stream of a descriptor. */
    private interface Opener {
        Object open(java.io.FileDescriptor descriptor);
    }

    /** Standard input, output and error are there in every process, other files are not. */
    private static void standardStream(String owner, Opener opener) {
        List<java.io.FileDescriptor> standard = List.of(java.io.FileDescriptor.in,
                java.io.FileDescriptor.out, java.io.FileDescriptor.err);
        whole(owner, instance -> {
            Instance descriptor = instance.object("fd");
            long number = descriptor == null ? -1 : descriptor.number("fd", -1);
            if (number < 0 || number > 2) {
                throw new Hole("file");
            }
            return opener.open(standard.get((int) number));
        });
    }
}
