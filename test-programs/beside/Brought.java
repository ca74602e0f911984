/** A library that an agent has brought with it, under a name that says nothing of the agent. */
public class Brought implements Runnable {
    @Override
    public void run() {
        for (int at = 0; at < 10; at++) {
            step(at);
        }
        throw new IllegalStateException("brought");
    }

    int step(int at) {
        return 10 / (at + 1);
    }
}
