package recrash;

/** {@code SVNCheckout}, unchanged; it runs with the fixed {@link SVNCommandLine}. */
public class SVNCheckout {
    private final SVNCommandLine commandLine = new SVNCommandLine();

    public String run(String[] arguments) { // expect: the recorded test passes
        commandLine.init(arguments);
        return checkout(commandLine.getURL(0));
    }

    private String checkout(String url) {
        return "checked out " + url;
    }

    public static void main(String[] args) { // expect: the recorded test passes
        System.out.println(new SVNCheckout().run(new String[] {"checkout", "--quiet"}));
    }
}
