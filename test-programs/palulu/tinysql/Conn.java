import java.util.ArrayList;
import java.util.List;

/** An open database. */
public class Conn {
    private final String url;
    private final List<String> tables = new ArrayList<>();
    private boolean closed;

    Conn(String url) {
        this.url = url;
    }

    public Stmt createStmt() {
        check();
        return new Stmt(this);
    }

    public String getUrl() {
        return url;
    }

    public int tableCount() {
        return tables.size();
    }

    public void close() {
        check();
        closed = true;
    }

    private void check() {
        if (closed) {
            throw new IllegalStateException("closed");
        }
    }

    void create(String table) {
        if (tables.contains(table)) {
            throw new IllegalStateException("there is a table " + table);
        }
        tables.add(table);
    }

    void drop(String table) {
        need(table);
        tables.remove(table);
    }

    void need(String table) {
        if (!tables.contains(table)) {
            throw new IllegalStateException("no table " + table);
        }
    }
}
