/**
 * The client of Palulu's Fig. 2-1 (Artzi, 2009): a driver, a connection that wants a certain URL,
 * and statements of which each is used once.
 */
public class TinySql {
    public static void main(String[] args) {
        TextFileDriver d = new TextFileDriver();
        Conn con = d.connect("jdbc:tinySQL", null);
        Stmt s2 = con.createStmt();
        s2.execute("CREATE TABLE test (name char(25), id int)");
        s2.executeUpdate("INSERT INTO test(name, id) VALUES('Bob', 1)");
        s2.close();
        Stmt s1 = con.createStmt();
        s1.execute("DROP TABLE test");
        s1.close();
        con.close();
    }
}
