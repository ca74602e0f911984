package reports;

import java.io.IOException;

/** Writes lines to what it was given. */
public class Report {
    private final Appendable out;

    public Report(Appendable out) {
        this.out = out;
    }

    public void line(String name, int count) throws IOException {
        out.append(name).append(": ").append(String.valueOf(count)).append('\n');
    }
}
