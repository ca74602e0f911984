package java.lang;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The frames that the current thread is in: for failures that the program goes on after.
 *
 * <p>What an exception has passed through has told its arguments by then. The frames further out have
 * not, but they keep them in local variables that their handlers need, so the JVM knows where they
 * are. {@link LiveStackFrame} is the JDK's own and tells them, also of compiled code.
 */
final class HindsightLive
        implements Function<Stream<StackWalker.StackFrame>, Object[]>, Consumer<StackWalker.StackFrame> {
    /** More frames than this are not looked at, the innermost ones count. */
    private static final int MAX_FRAMES = 2_048;

    static {
        // Else the JDK asks a security manager for a property of its own when it comes to this, and that may be the
        // program's by then.
        frames();
    }

    private final ArrayList<Object[]> frames = new ArrayList<>();

    /** Whether there are more. */
    private boolean isCut;

    /**
     * The frames, innermost first.
     *
     * <p>Each is an array of: the class, the method's name, its descriptor, its line as an {@code
     * int[]}, an {@code Object[]} with the references in its local variables, a {@code long[]} with
     * the other values. A null at the end stands for those that were not looked at. Nothing comes of
     * it without memory, nor from JDK 22 on where there is a security manager.
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
        // As in stack traces, which these frames are compared with.
        EnumSet<StackWalker.Option> options = EnumSet.of(StackWalker.Option.SHOW_REFLECT_FRAMES);
        if (System.getSecurityManager() != null) {
            // It may be the program's, and would be asked: by this method alone it is not.
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
