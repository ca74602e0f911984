import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Properties;

/** A shop's database in memory, by its driver: what an application does in its first minutes. */
public class UseH2 {
    private static final String[] SCHEMA = {
        "create table item(id int primary key, name varchar(40) not null, price decimal(8,2), added date default current_date)",
        "create table customer(id identity primary key, name varchar(60), mail varchar(80) unique)",
        "create table sale(id bigint auto_increment primary key, item int references item(id), customer bigint,"
                + " pieces int check (pieces > 0), at timestamp default current_timestamp)",
        "create index sale_by_item on sale(item)",
        "create view sold as select i.name, sum(s.pieces) pieces from item i join sale s on s.item = i.id group by i.name",
        "create sequence receipt start with 100 increment by 5",
        "alter table customer add column note clob",
    };

    private static final String[] CHANGES = {
        "insert into customer(name, mail) values('Ada', 'ada@example.org'), ('Ben', null)",
        "insert into sale(item, customer, pieces) values(1, 1, 2), (2, 1, 1), (4, 2, 7)",
        "merge into item(id, name, price) key(id) values(7, 'seven', 7.77)",
        "update item set price = price * 1.1 where name like 'item%' and id between 1 and 3",
        "update customer set note = 'good' where exists (select 1 from sale s where s.customer = customer.id)",
        "delete from item where id = 0",
    };

    private static final String[] QUESTIONS = {
        "select name, price from item where id > 2 order by price desc",
        "select * from sold",
        "select c.name, count(*), max(s.pieces) from customer c left join sale s on s.customer = c.id"
                + " group by c.name having count(*) > 0 order by 1",
        "select upper(name), length(name), substring(name, 1, 2), coalesce(price, 0), round(price, 1) from item",
        "select id, case when price > 3 then 'dear' else 'cheap' end from item where price is not null limit 3 offset 1",
        "select distinct pieces from sale union all select id from item order by 1",
        "select next value for receipt, current_date is not null, dateadd('DAY', 1, date '2024-02-28')",
        "with recursive n(x) as (select 1 union all select x + 1 from n where x < 5) select sum(x) from n",
        "select item, row_number() over (order by pieces desc), sum(pieces) over (partition by customer) from sale",
        "explain select * from sale where item = 2",
        "select table_name from information_schema.tables where table_schema = 'PUBLIC' order by table_name",
        "script nodata",
    };

    public static void main(String[] args) throws Exception {
        org.h2.Driver driver = new org.h2.Driver();
        try (Connection connection = driver.connect("jdbc:h2:mem:", new Properties())) {
            Statement statement = connection.createStatement();
            for (String sql : SCHEMA) {
                statement.execute(sql);
            }
            PreparedStatement insert = connection.prepareStatement("insert into item(id, name, price) values(?, ?, ?)");
            for (int i = 0; i < 5; i++) {
                insert.setInt(1, i);
                insert.setString(2, "item " + i);
                insert.setDouble(3, i * 1.5);
                insert.execute();
            }
            for (String sql : CHANGES) {
                System.out.println(statement.executeUpdate(sql));
            }
            for (String sql : QUESTIONS) {
                print(statement.executeQuery(sql));
            }
            PreparedStatement find = connection.prepareStatement("select name, price from item where id = ? or name = ?");
            find.setInt(1, 3);
            find.setString(2, "seven");
            print(find.executeQuery());
            find.close();
            connection.setAutoCommit(false);
            Savepoint before = connection.setSavepoint("before");
            statement.addBatch("insert into item(id, name) values(20, 'twenty')");
            statement.addBatch("insert into item(id, name) values(21, 'one more')");
            System.out.println(statement.executeBatch().length);
            connection.rollback(before);
            connection.commit();
            connection.setAutoCommit(true);
            DatabaseMetaData metadata = connection.getMetaData();
            System.out.println(metadata.getDatabaseProductName() + " " + metadata.getMaxConnections());
            print(metadata.getColumns(null, "PUBLIC", "ITEM", null));
            for (String wrong : new String[] {"select nothing from nowhere", "insert into item(id) values(1)", "selec"}) {
                try {
                    statement.execute(wrong);
                } catch (SQLException e) {
                    System.out.println(e.getErrorCode() + " " + e.getSQLState());
                }
            }
            statement.close();
        }
    }

    private static void print(ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        StringBuilder line = new StringBuilder();
        while (rows.next()) {
            for (int column = 1; column <= columns; column++) {
                line.append(rows.getMetaData().getColumnLabel(column)).append('=').append(rows.getString(column)).append(' ');
            }
        }
        rows.close();
        System.out.println(line.length() > 0);
    }
}
