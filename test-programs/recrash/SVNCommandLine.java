package recrash;

import java.util.ArrayList;
import java.util.List;

/**
 * A crash whose cause has left the stack: ReCrash's example from SVNKit, bug 87, written afresh.
 *
 * <p>{@code init} accepts a command line without URL, and returns. Only the next method, asked for
 * the first URL, fails. The test of {@link SVNCheckout#run} runs {@code init} again and shows the
 * fault.
 */
public class SVNCommandLine {
    private List<String> urls;
    private List<String> paths;
    private boolean quiet;

    public String getURL(int index) { // expect: reproduces, stays red after the fix
        return urls.get(index);
    }

    public String getPath(int index) {
        return paths.get(index);
    }

    public boolean isQuiet() {
        return quiet;
    }

    // Not on the stack when the crash happens.
    protected void init(String[] arguments) { // expect: no test
        urls = new ArrayList<>();
        paths = new ArrayList<>();
        for (int i = 1; i < arguments.length; i++) {
            String argument = arguments[i];
            if (argument.equals("--quiet")) {
                quiet = true;
            } else if (argument.contains("://")) {
                urls.add(argument);
            } else {
                paths.add(argument);
            }
        }
    }
}
