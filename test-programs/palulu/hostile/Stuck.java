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

    /** Has whoever takes wait until something is there: with one call less, most of what ends does not. */
    public static class Queue {
        private final java.util.ArrayDeque<Integer> queue = new java.util.ArrayDeque<>();
        private boolean closed;

        public synchronized void put(int number) {
            queue.add(number);
            notifyAll();
        }

        public synchronized int take() throws InterruptedException {
            while (queue.isEmpty()) {
                wait();
            }
            return queue.remove();
        }

        public synchronized int size() {
            return queue.size();
        }

        public void close() {
            closed = true;
        }

        public void pass() {
            while (!closed) {
                try {
                    put(take());
                } catch (InterruptedException e) {
                    // It goes on, whatever happens.
                }
            }
        }
    }
}
