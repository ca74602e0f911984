/** A handler that fails before it has asked an exception where that comes from. */
public class Handled {
    static int depth(int left) {
        if (left == 0) {
            throw new IllegalStateException("at the bottom");
        }
        return depth(left - 1) + 1;
    }

    static String told(RuntimeException failure) {
        String code = failure.getMessage().substring(20);
        return code + " in " + failure.getStackTrace()[0].getMethodName();
    }

    public static void main(String[] arguments) {
        try {
            depth(3);
        } catch (IllegalStateException e) {
            System.out.println(told(e));
        }
    }
}
