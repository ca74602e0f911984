package java.lang;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Reads the current thread's frames, for failures after which the program goes on.
 *
 * <p>The frames that an exception has passed through have handed over their arguments by then. The
 * frames further out have not, but keep them in local variables that their handlers need, so the
 * JVM knows where they are. The JDK's internal {@link LiveStackFrame} reads them, of compiled code
 * as well.
 */
final class HindsightLive
        implements Function<Stream<StackWalker.StackFrame>, Object[]>, Consumer<StackWalker.StackFrame> {
    /** The most frames that are read, counted from the innermost. */
    private static final int MAX_FRAMES = 2_048;

    static {
        // Otherwise the JDK, when it first comes here, asks a security manager for one of its own
        // properties, and the manager may be the program's by then.
        frames();
    }

    private final ArrayList<Object[]> frames = new ArrayList<>();

    /** Whether there are more frames. */
    private boolean isCut;

    /**
     * The frames, innermost first.
     *
     * <p>Each is an array of: the class, the method's name, its descriptor, its line as an {@code
     * int[]}, an {@code Object[]} with the references in its local variables, a {@code long[]} with
     * the other values. A null at the end stands for the frames that were not read. The result is
     * empty if memory is short, and from JDK 22 on if there is a security manager.
     */
    static Object[] frames() {
        try {
            return walker().walk(new HindsightLive());
        } catch (Throwable e) {
            return new Object[0];
        }
    }

    @SuppressWarnings("removal")
    private static StackWalker walker() {
        // As in stack traces, with which these frames are compared.
        EnumSet<StackWalker.Option> options = EnumSet.of(StackWalker.Option.SHOW_REFLECT_FRAMES);
        if (System.getSecurityManager() != null) {
            // It may be the program's, and would be asked; only this method does not ask it.
            return StackWalker.newInstance(options, StackWalker.ExtendedOption.LOCALS_AND_OPERANDS);
        }
        options.add(StackWalker.Option.RETAIN_CLASS_REFERENCE);
        return LiveStackFrame.getStackWalker(options);
    }

    @Override
    public Object[] apply(Stream<StackWalker.StackFrame> all) {
        all.limit(MAX_FRAMES + 1).forEach(this);
        if (isCut) {
            frames.add(null);
        }
        return frames.toArray();
    }

    @Override
    public void accept(StackWalker.StackFrame frame) {
        if (frames.size() >= MAX_FRAMES) {
            isCut = true;
            return;
        }
        Object[] locals =
                frame instanceof LiveStackFrame ? ((LiveStackFrame) frame).getLocals() : new Object[0];
        Object[] references = new Object[locals.length];
        long[] words = new long[locals.length];
        for (int i = 0; i < locals.length; i++) {
            if (locals[i] instanceof LiveStackFrame.PrimitiveSlot) {
                LiveStackFrame.PrimitiveSlot slot = (LiveStackFrame.PrimitiveSlot) locals[i];
                words[i] = slot.size() == 8 ? slot.longValue() : slot.intValue();
            } else {
                references[i] = locals[i];
            }
        }
        frames.add(
                new Object[] {
                    frame.getClassName(),
                    frame.getMethodName(),
                    frame.getDescriptor(),
                    new int[] {frame.toStackTraceElement().getLineNumber()},
                    references,
                    words
                });
    }
}
