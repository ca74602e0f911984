package bazaar;

/** Looks on the stack for who calls: behind its own package, that is reflection while tests are found. */
public class Log {
    private int entries;

    public String caller() {
        entries++;
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            if (!frame.getClassName().startsWith("bazaar.")) {
                return frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber();
            }
        }
        return "nobody";
    }

    /** The same as an object that says it. */
    public Entry entry() {
        return new Entry(caller());
    }

    public int entries() {
        return entries;
    }

    public void refuse() {
        throw new IllegalStateException("not for " + caller());
    }

    public static class Entry {
        private final String text;

        Entry(String text) {
            this.text = text;
        }

        public boolean isEmpty() {
            return text.isEmpty();
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
