package recrash;

import java.util.ArrayList;
import java.util.List;

/**
 * {@code SVNCommandLine} as it should be.
 *
 * <p>A command line without URL gets the one of the current directory.
 */
public class SVNCommandLine {
    private List<String> urls;
    private List<String> paths;
    private boolean quiet;

    public String getURL(int index) { // expect: the recorded test fails
        return urls.get(index);
    }

    public String getPath(int index) {
        return paths.get(index);
    }

    public boolean isQuiet() {
        return quiet;
    }

    protected void init(String[] arguments) {
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
        if (urls.isEmpty()) {
            urls.add("file:///");
        }
    }
}
