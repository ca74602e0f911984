package java.lang;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.function.Consumer;

/**
 * The frames that the current thread is in: for failures that the program goes on after.
 *
 * <p>What an exception has passed through has told its arguments by then. The frames further out have
 * not, but they keep them in local variables that their handlers need, so the JVM knows where they
 * are. {@link LiveStackFrame} is the JDK's own and tells them, also of compiled code.
 */
final class HindsightLive implements Consumer<StackWalker.StackFrame> {
    /** More frames than this are not looked at, the innermost ones count. */
    private static final int MAX_FRAMES = 2_048;

    private final ArrayList<Object[]> frames = new ArrayList<>();

    /** Whether there are more. */
    private boolean isCut;

    /**
     * The frames, innermost first.
     *
     * <p>Each is an array of: the class, the method's name, its descriptor, its line as an {@code
     * int[]}, an {@code Object[]} with the references in its local variables, a {@code long[]} with
     * the other values. A null at the end stands for those that were not looked at. Nothing comes of
     * it if a security manager forbids it, or without memory.
     */
    static Object[] frames() {
        try {
            HindsightLive live = new HindsightLive();
            EnumSet<StackWalker.Option> options =
                    EnumSet.of(
                            StackWalker.Option.RETAIN_CLASS_REFERENCE,
                            // As in stack traces, which these frames are compared with.
                            StackWalker.Option.SHOW_REFLECT_FRAMES);
            LiveStackFrame.getStackWalker(options).forEach(live);
            if (live.isCut) {
                live.frames.add(null);
            }
            return live.frames.toArray();
        } catch (Throwable e) {
            return new Object[0];
        }
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
                    frame.getDeclaringClass().getName(),
                    frame.getMethodName(),
                    frame.getDescriptor(),
                    new int[] {frame.toStackTraceElement().getLineNumber()},
                    references,
                    words
                });
    }
}
