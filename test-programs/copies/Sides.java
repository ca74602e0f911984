/** Receiver and arguments may have strategies of their own. */
public class Sides {
    static class Box {
        int[] content = {1};
    }

    final Box box = new Box();

    /** What has changed is the receiver's. */
    void receiver(Box other) {
        if (box.content[0] == 1) {
            spend(box.content);
            argument(other);
        }
    }

    /** What has changed is the argument's. */
    void argument(Box other) {
        if (other.content[0] == 1) {
            spend(other.content);
            throw new IllegalStateException();
        }
    }

    static void spend(int[] content) {
        content[0]--;
    }

    public static void main(String[] args) {
        new Sides().receiver(new Box());
    }
}
