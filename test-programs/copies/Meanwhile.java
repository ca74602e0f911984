/** Another thread writes while the failure is being recorded, to what is read late: at the entry nothing was written. */
public class Meanwhile {
    static class Box {
        int number;
        Box next;
    }

    static class Holder {
        Box box = new Box();
    }

    static volatile boolean begun;

    static void fail(Object[] many, Holder holder) {
        begun = true;
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Object[] many = new Object[90_000];
        for (int i = 0; i < many.length; i++) {
            many[i] = new int[] {i};
        }
        Holder holder = new Holder();
        Thread other = new Thread(() -> {
            while (!begun) {
                Thread.onSpinWait();
            }
            for (int i = 1; i < 1000; i++) {
                holder.box.number = i;
                holder.box.next = new Box();
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        other.setDaemon(true);
        other.start();
        fail(many, holder);
    }
}
