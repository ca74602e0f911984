import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/** Orders and stock, as in TPC-C, from one seed; prints query results. */
public class Driver {
    public static void main(String[] args) throws Exception {
        String url = "jdbc:h2:file:" + args[0];
        Random random = new Random(7);
        int failed = 0;
        try (Connection connection = DriverManager.getConnection(url, "sa", "")) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("create table item(id int primary key, name varchar(40), price decimal(8,2), stock int check (stock >= 0))");
                statement.execute("create table orders(id identity primary key, customer int not null, total decimal(12,2))");
                statement.execute("create table line(order_id bigint references orders(id), item_id int references item(id), amount int, primary key(order_id, item_id))");
                statement.execute("create index by_customer on orders(customer, total desc)");
            }
            try (PreparedStatement insert = connection.prepareStatement("insert into item values(?, ?, ?, ?)")) {
                for (int i = 0; i < 500; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, "item " + Integer.toString(i * 7919, 36));
                    insert.setBigDecimal(3, java.math.BigDecimal.valueOf(random.nextInt(100000), 2));
                    insert.setInt(4, 20 + random.nextInt(80));
                    insert.addBatch();
                }
                insert.executeBatch();
            }
            connection.setAutoCommit(false);
            for (int order = 0; order < 3000; order++) {
                try {
                    order(connection, random);
                    connection.commit();
                } catch (SQLException e) {
                    failed++;
                    if (failed % 100 == 1) {
                        System.out.println(e.getErrorCode() + " " + e.getSQLState());
                    }
                    connection.rollback();
                }
            }
            connection.setAutoCommit(true);
            System.out.println("failed " + failed);
            print(connection, "select count(*), sum(total) from orders");
            print(connection, "select customer, count(*) c, max(total) from orders group by customer having count(*) > 20 order by c desc, customer limit 12");
            print(connection, "select i.name, sum(l.amount) a, rank() over (order by sum(l.amount) desc, i.id) r from item i join line l on l.item_id = i.id group by i.id, i.name order by r limit 10");
            print(connection, "with recursive n(x) as (select 1 union all select x * 3 from n where x < 1000) select group_concat(x order by x) from n");
            print(connection, "select nothing from nowhere");
        }
        try (Connection again = DriverManager.getConnection(url, "sa", "")) {
            print(again, "select sum(stock), count(*) from item where stock between 1 and 20");
        }
    }

    private static void order(Connection connection, Random random) throws SQLException {
        long id;
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into orders(customer, total) values(?, 0)", Statement.RETURN_GENERATED_KEYS)) {
            insert.setInt(1, random.nextInt(100));
            insert.executeUpdate();
            try (ResultSet keys = insert.getGeneratedKeys()) {
                keys.next();
                id = keys.getLong(1);
            }
        }
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            int item = (int) Math.abs(random.nextGaussian() * 120);
            int amount = 1 + random.nextInt(5);
            try (PreparedStatement update = connection.prepareStatement("update item set stock = stock - ? where id = ?");
                    PreparedStatement insert = connection.prepareStatement("insert into line values(?, ?, ?)")) {
                update.setInt(1, amount);
                update.setInt(2, item);
                update.executeUpdate();
                insert.setLong(1, id);
                insert.setInt(2, item);
                insert.setInt(3, amount);
                insert.executeUpdate();
            }
        }
        try (PreparedStatement update = connection.prepareStatement(
                "update orders set total = (select sum(price * amount) from line join item on item.id = item_id where order_id = ?) where id = ?")) {
            update.setLong(1, id);
            update.setLong(2, id);
            update.executeUpdate();
        }
    }

    private static void print(Connection connection, String query) {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                StringBuilder line = new StringBuilder();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    line.append(rows.getString(i)).append(' ');
                }
                System.out.println(line);
            }
        } catch (SQLException e) {
            System.out.println(e.getMessage());
        }
    }
}
