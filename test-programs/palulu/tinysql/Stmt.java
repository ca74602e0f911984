/** A statement; it is executed, then closed. */
public class Stmt {
    final Conn con;
    private String text;
    private SqlStmt parsed;
    private boolean closed;

    public Stmt(Conn con) {
        this.con = con;
    }

    public boolean execute(String sql) {
        Ts.parse(this, sql);
        setStmt(new SqlStmt(text));
        return parsed.run(con) > 0;
    }

    public int executeUpdate(String sql) {
        Ts.parse(this, sql);
        setStmt(new SqlStmt(text));
        return parsed.run(con);
    }

    public String getText() {
        return text;
    }

    public boolean isClosed() {
        return closed;
    }

    public void close() {
        closed = true;
        parsed = null;
    }

    void setStmt(SqlStmt stmt) {
        parsed = stmt;
    }

    void setText(String sql) {
        text = sql;
    }
}
