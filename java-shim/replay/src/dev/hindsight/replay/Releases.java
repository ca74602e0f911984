package dev.hindsight.replay;

import dev.hindsight.replay.Layout.Slot;
import dev.hindsight.replay.Recorded.Stored;
import java.io.BufferedInputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.text.DecimalFormatSymbols;
import java.time.temporal.TemporalField;
import java.time.temporal.ValueRange;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Exchanger;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;

/**
 * Rules for classes whose layout differs between releases of the JDK.
 *
 * <p>Recorded fields are written as always. Further fields of the running release are computed from
 * the others, as its constructors would.
 */
final class Releases {
    private static final String PARSERS = "java.time.format.DateTimeFormatterBuilder$";
    private static final int BUFFER_SIZE = 8192;

    private Releases() {}

    static void register() {
        // Since 25 it has another reader from which it reads.
        Wholes.whole("java.io.StringReader", Releases::stringReader);
        // Since 21 it has a flag in place of the digits.
        Wholes.whole("java.util.HexFormat", Releases::hexFormat);
        Rules.register(new Partial("java.text.DecimalFormatSymbols") {
            @Override
            void fill(Instance instance, Object object) {
                // JDK 13 added the texts of these characters.
                if (!instance.has("percentText")
                        && object.getClass() == DecimalFormatSymbols.class) {
                    DecimalFormatSymbols symbols = (DecimalFormatSymbols) object;
                    symbols.setPercent(symbols.getPercent());
                    symbols.setPerMill(symbols.getPerMill());
                    symbols.setMinusSign(symbols.getMinusSign());
                }
            }
        });
        Rules.register(new Partial("java.util.Formatter", "zero") {
            @Override
            void fill(Instance instance, Object object) {
                Object locale = instance.restorer.get(instance.reference("l"));
                long zero = locale instanceof Locale
                        ? DecimalFormatSymbols.getInstance((Locale) locale).getZeroDigit() : '0';
                put(object, Formatter.class, "zero", instance.number("zero", zero));
            }
        });
        Rules.register(new Partial("java.io.BufferedInputStream", "initialSize") {
            @Override
            void fill(Instance instance, Object object) throws Hole {
                fillBuffer(instance, object);
            }
        });
        Rules.register(new Partial(
                "java.util.regex.Matcher$ImmutableMatchResult", "text", "minStart", "namedGroups") {
            @Override
            void children(Instance instance, Numbers out) {
                out.add(instance.reference("text"));
                out.add(instance.reference("namedGroups"));
            }

            @Override
            void fill(Instance instance, Object object) {
                fillMatch(instance, object);
            }
        });
        registerDateTimes();
        registerQueues();
    }

    private static void registerDateTimes() {
        Rules.register(new Partial(PARSERS + "CharLiteralPrinterParser", "isSpaceSeparator") {
            @Override
            void fill(Instance instance, Object object) {
                boolean space = Character.getType((int) instance.number("literal", 0))
                        == Character.SPACE_SEPARATOR;
                put(object, object.getClass(), "isSpaceSeparator", space);
            }
        });
        for (String name : List.of("FractionPrinterParser", "NanosPrinterParser")) {
            Rules.register(new Partial(PARSERS + name, "decimalPoint", "minBD", "rangeBD") {
                @Override
                void fill(Instance instance, Object object) {
                    put(object, object.getClass(), "decimalPoint", instance.flag("decimalPoint"));
                    Object field = instance.restorer.get(instance.reference("field"));
                    if (field instanceof TemporalField) {
                        ValueRange range = ((TemporalField) field).range();
                        BigDecimal least = BigDecimal.valueOf(range.getMinimum());
                        put(object, object.getClass(), "minBD", least);
                        put(object, object.getClass(), "rangeBD",
                                BigDecimal.valueOf(range.getMaximum()).subtract(least)
                                        .add(BigDecimal.ONE));
                    }
                }
            });
        }
    }

    /**
     * Registers queues. The threads that waited in them do not exist here, so only the elements are
     * left.
     */
    private static void registerQueues() {
        Rules.register(new Partial("java.util.concurrent.LinkedTransferQueue",
                "head", "tail", "needSweep", "sweepVotes") {
            @Override
            void children(Instance instance, Numbers out) {
                elements(instance, out);
            }

            @Override
            void fill(Instance instance, Object object) {
                Numbers elements = new Numbers();
                elements(instance, elements);
                LinkedTransferQueue<Object> filled = new LinkedTransferQueue<>();
                for (int i = 0; i < elements.size(); i++) {
                    Object element = instance.restorer.get(elements.get(i));
                    if (element != null) {
                        filled.add(element);
                    } else {
                        instance.restorer.note(instance.type.info.name,
                                "without an element that could not be restored");
                    }
                }
                Layout.copy(filled, object, LinkedTransferQueue.class);
            }

            private void elements(Instance queue, Numbers out) {
                Instance node = queue.object("head");
                // Removed nodes lead to themselves, or have themselves as the element.
                for (Instance last = null; node != null && (last == null
                        || node.number != last.number); node = node.object("next")) {
                    int item = node.reference("item");
                    if (node.flag("isData") && item >= 0 && item != node.number) {
                        out.add(item);
                    }
                    last = node;
                }
            }
        });
        Rules.register(new Partial("java.util.concurrent.SynchronousQueue", "fair", "transferer",
                "qlock", "waitingProducers", "waitingConsumers") {
            @Override
            Object template(Instance instance) {
                Instance transferer = instance.object("transferer");
                boolean queue = transferer != null
                        && transferer.type.info.name.endsWith("$TransferQueue");
                return new SynchronousQueue<>(queue || instance.flag("fair"));
            }
        });
        Rules.register(new Partial("java.util.concurrent.Exchanger",
                "arena", "slot", "bound", "participant", "ncpu") {
            @Override
            Object template(Instance instance) {
                return new Exchanger<>();
            }
        });
    }

    /**
     * The running class that stands for a recorded JDK class that this release does not have, or
     * null.
     */
    static String substitute(String name) {
        return name.equals(PARSERS + "NanosPrinterParser") ? PARSERS + "FractionPrinterParser" : null;
    }

    /** Writes a field if this release has it. */
    private static void put(Object object, Class<?> owner, String field, Object value) {
        for (Slot slot : Layout.declared(owner)) {
            if (slot.name.equals(field)) {
                slot.put(object, slot.type.isPrimitive()
                        ? Primitives.convert(value, slot.type) : value);
            }
        }
    }

    private static Object hexFormat(Instance instance) throws Exception {
        Stored digits = instance.stored("digits");
        boolean upper = instance.flag("ucase") || digits != null
                && digits.kind == Stored.PRIMITIVES && ((byte[]) digits.body)[10] == 'A';
        // JDK 17 is the first that has it, and this is compiled for 11.
        Class<?> type = instance.type.running;
        Object format = type.getMethod("of").invoke(null);
        if (upper) {
            format = type.getMethod("withUpperCase").invoke(format);
        }
        for (String part : List.of("Delimiter", "Prefix", "Suffix")) {
            format = type.getMethod("with" + part, String.class)
                    .invoke(format, instance.needText(part.toLowerCase(Locale.ROOT)));
        }
        return format;
    }

    /**
     * Fills a buffer that is absent before the first read since 21; an empty one is compared by
     * identity.
     */
    private static void fillBuffer(Instance instance, Object object) throws Hole {
        Object buffer = instance.restorer.get(instance.reference("buf"));
        if (!(buffer instanceof byte[])) {
            return;
        }
        int length = ((byte[]) buffer).length;
        long size = instance.number("initialSize", length == 0 ? BUFFER_SIZE : length);
        put(object, BufferedInputStream.class, "initialSize", size);
        if (length == 0) {
            Object empty = Constants.ofJdk("java.io.BufferedInputStream", "EMPTY", byte[].class);
            Layout.need(BufferedInputStream.class, "buf")
                    .put(object, empty != null ? empty : new byte[(int) size]);
        }
    }

    /**
     * Fills the part of the text to which the groups belong, and their names, which it keeps since
     * 20.
     */
    private static void fillMatch(Instance instance, Object object) {
        Class<?> owner = object.getClass();
        Object text = instance.restorer.get(instance.reference("text"));
        int skipped = (int) instance.number("minStart", 0);
        boolean whole = Layout.find(owner, "minStart", "I") == null;
        if (whole && skipped > 0 && text instanceof String) {
            text = " ".repeat(skipped) + text;
        }
        put(object, owner, "text", text);
        put(object, owner, "minStart", (long) skipped);
        Object names = instance.restorer.get(instance.reference("namedGroups"));
        put(object, owner, "namedGroups", names != null ? names : Map.of());
    }

    private static StringReader stringReader(Instance instance) throws Exception {
        Instance place = instance.has("r") ? instance.object("r") : instance;
        if (place == null) {
            throw new Hole("its text was not stored");
        }
        String field = instance.has("r") ? "val$cs" : "str";
        String text = place.text(field);
        boolean closed = place.flag("isClosed") || place.has("str") && place.reference("str") < 0;
        if (text == null && !closed) {
            throw new Hole("its text was not stored");
        }
        StringReader reader = new StringReader(text == null ? "" : text);
        if (closed) {
            reader.close();
            return reader;
        }
        long mark = place.number("mark", 0);
        reader.skip(mark);
        reader.mark(0);
        reader.skip(place.number("next", 0) - mark);
        return reader;
    }
}
