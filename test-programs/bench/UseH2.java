import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/** A database in memory, by its driver. */
public class UseH2 {
    public static void main(String[] args) throws Exception {
        org.h2.Driver driver = new org.h2.Driver();
        try (Connection connection = driver.connect("jdbc:h2:mem:", new Properties())) {
            Statement statement = connection.createStatement();
            statement.execute("create table item(id int primary key, name varchar(40), price decimal(8,2))");
            PreparedStatement insert = connection.prepareStatement("insert into item values(?, ?, ?)");
            for (int i = 0; i < 5; i++) {
                insert.setInt(1, i);
                insert.setString(2, "item " + i);
                insert.setDouble(3, i * 1.5);
                insert.execute();
            }
            ResultSet rows = statement.executeQuery("select name, price from item where id > 2 order by price desc");
            while (rows.next()) {
                System.out.println(rows.getString(1) + " " + rows.getDouble(2));
            }
            System.out.println(statement.executeUpdate("update item set name = 'x' where id = 1"));
            try {
                statement.execute("select nothing from nowhere");
            } catch (java.sql.SQLException e) {
                System.out.println(e.getErrorCode());
            }
            rows.close();
            statement.close();
        }
    }
}
