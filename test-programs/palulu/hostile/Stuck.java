/** Keeps whoever listens or watches from going on. Only {@link #harmless} does not. */
public class Stuck {
    /** Says nothing of itself, and takes for ever to do so. */
    static class Silent extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            while (true) {
                Thread.onSpinWait();
            }
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            while (true) {
                Thread.onSpinWait();
            }
        }
    }

    public int harmless(int a) {
        return a + 1;
    }

    public void fall() {
        throw new Silent();
    }

    @SuppressWarnings({"deprecation", "removal"})
    public void stopOthers() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread != Thread.currentThread()) {
                thread.stop();
            }
        }
    }

    public synchronized void await() throws InterruptedException {
        while (true) {
            wait();
        }
    }
}
