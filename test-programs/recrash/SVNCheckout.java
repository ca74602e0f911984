package recrash;

/** The command that uses {@link SVNCommandLine}. */
public class SVNCheckout {
    private final SVNCommandLine commandLine = new SVNCommandLine();

    public String run(String[] arguments) { // expect: reproduces, goes green after the fix
        commandLine.init(arguments);
        return checkout(commandLine.getURL(0));
    }

    private String checkout(String url) {
        return "checked out " + url;
    }

    public static void main(String[] args) { // expect: reproduces, goes green after the fix
        System.out.println(new SVNCheckout().run(new String[] {"checkout", "--quiet"}));
    }
}
