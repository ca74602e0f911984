package dev.hindsight.worker;

import java.io.Closeable;
import java.io.File;
import java.io.Flushable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Formatter;
import java.util.Locale;
import java.util.Objects;

/**
 * The {@link GuardFiles} of formatters. A formatter opens its file itself, and the class has no
 * subclasses: so it is made first and then given its destination.
 */
public final class GuardFormatters {
    private GuardFormatters() {}

    /** A formatter's destination, which is set later. */
    private static final class Late implements Appendable, Closeable, Flushable {
        Appendable to = new StringBuilder();

        @Override
        public Appendable append(CharSequence text) throws IOException {
            to.append(text);
            return this;
        }

        @Override
        public Appendable append(CharSequence text, int start, int end) throws IOException {
            to.append(text, start, end);
            return this;
        }

        @Override
        public Appendable append(char c) throws IOException {
            to.append(c);
            return this;
        }

        @Override
        public void close() throws IOException {
            if (to instanceof Closeable) {
                ((Closeable) to).close();
            }
        }

        @Override
        public void flush() throws IOException {
            if (to instanceof Flushable) {
                ((Flushable) to).flush();
            }
        }

        @Override
        public String toString() {
            return to.toString();
        }
    }

    public static Formatter newFormatter() {
        return new Formatter(new Late());
    }

    private static void init(Formatter made, Formatter as) {
        if (!Objects.equals(made.locale(), as.locale())) {
            throw Guard.blocked("formatting for " + as.locale());
        }
        ((Late) made.out()).to = as.out();
    }

    public static void initFormatter(Formatter made) {
        init(made, new Formatter());
    }

    public static void initFormatter(Formatter made, Appendable out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, Locale locale) {
        init(made, new Formatter(locale));
    }

    public static void initFormatter(Formatter made, Appendable out, Locale locale) {
        init(made, new Formatter(out, locale));
    }

    public static void initFormatter(Formatter made, String name) throws IOException {
        init(made, new Formatter(GuardFiles.check(name)));
    }

    public static void initFormatter(Formatter made, String name, String charset)
            throws IOException {
        init(made, new Formatter(GuardFiles.check(name), charset));
    }

    public static void initFormatter(Formatter made, String name, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(GuardFiles.check(name), charset, locale));
    }

    public static void initFormatter(Formatter made, String name, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(GuardFiles.check(name), charset, locale));
    }

    public static void initFormatter(Formatter made, File file) throws IOException {
        init(made, new Formatter(GuardFiles.check(file)));
    }

    public static void initFormatter(Formatter made, File file, String charset) throws IOException {
        init(made, new Formatter(GuardFiles.check(file), charset));
    }

    public static void initFormatter(Formatter made, File file, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(GuardFiles.check(file), charset, locale));
    }

    public static void initFormatter(Formatter made, File file, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(GuardFiles.check(file), charset, locale));
    }

    public static void initFormatter(Formatter made, PrintStream out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, OutputStream out) {
        init(made, new Formatter(out));
    }

    public static void initFormatter(Formatter made, OutputStream out, String charset)
            throws IOException {
        init(made, new Formatter(out, charset));
    }

    public static void initFormatter(Formatter made, OutputStream out, String charset, Locale locale)
            throws IOException {
        init(made, new Formatter(out, charset, locale));
    }

    public static void initFormatter(Formatter made, OutputStream out, Charset charset, Locale locale)
            throws IOException {
        init(made, new Formatter(out, charset, locale));
    }
}
