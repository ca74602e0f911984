import java.util.Locale;

/** A parsed statement. */
class SqlStmt {
    private final String[] words;

    SqlStmt(String text) {
        words = text.split("[ (]+");
    }

    int run(Conn con) {
        switch (words[0].toUpperCase(Locale.ROOT)) {
            case "CREATE":
                con.create(words[2]);
                return 0;
            case "DROP":
                con.drop(words[2]);
                return 0;
            case "INSERT":
                con.need(words[2]);
                return 1;
            default:
                throw new IllegalArgumentException("no statement begins with " + words[0]);
        }
    }
}
