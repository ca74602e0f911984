/** The parser. */
public class Ts {
    private Ts() {}

    public static void parse(Stmt stmt, String sql) {
        if (stmt.isClosed()) {
            throw new IllegalStateException("closed");
        }
        stmt.getText();
        stmt.setText(sql.trim());
    }
}
