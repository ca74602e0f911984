import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Properties;

/** A shop's database in memory, by its driver: what an application does in a day, each thing once or twice. */
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

    private static final String[] TYPES = {
        "drop table if exists thing",
        "create table thing(i int, l bigint, s smallint, t tinyint, b boolean, d double precision, r real, n numeric(20, 4),"
                + " c char(3), v varchar(20), vi varchar_ignorecase(20), dt date, tm time, ts timestamp,"
                + " tz timestamp with time zone, bin varbinary(20), u uuid, a int array, e enum('low', 'high'), j json,"
                + " iv interval day to second, g geometry)",
        "insert into thing values(1, 2, 3, 4, true, 5.5, 6.5, 7.25, 'abc', 'text', 'Text', date '2024-02-29', time '12:34:56',"
                + " timestamp '2024-02-29 12:34:56.789', timestamp with time zone '2024-02-29 12:34:56+02', x'0102ff',"
                + " '00000000-0000-0001-0000-000000000002', array[1, 2, 3], 'low', json '{\"a\": [1, null, true]}',"
                + " interval '1 02:03:04' day to second, 'POINT(1 2)')",
        "insert into thing(i, v) values(2, null), (3, 'it''s'), (4, '')",
    };

    private static final String[] EXPRESSIONS = {
        "select i + l * s - t / 2, mod(i, 2), -d, r * n, i || v, b and i > 0 or not b from thing",
        "select cast(v as int) from thing where v = '7'",
        "select cast(i as varchar), cast(d as int), cast('2024-01-31' as date), cast(ts as date), cast('1.5' as decimal(4, 2)) from thing",
        "select abs(-i), ceil(d), floor(d), sqrt(l), power(i, 2), sign(i), pi(), exp(1), ln(l), log10(100), sin(0), atan2(1, 2) from thing",
        "select bitand(i, 3), bitor(i, 4), bitxor(i, 7), lshift(i, 2), greatest(i, l, s), least(i, l) from thing",
        "select concat(v, c), lower(v), ucase(v), trim(both ' ' from ' x '), ltrim(' x'), rtrim('x '), replace(v, 'e', 'a'),"
                + " left(v, 2), right(v, 2), instr(v, 'x'), locate('t', v), repeat('ab', 2), lpad(v, 6, '*'), rpad(v, 6),"
                + " soundex(v), char(65), ascii(v), insert(v, 1, 1, 'X'), translate(v, 'te', 'TE'), regexp_replace(v, 't', 'T'),"
                + " xmltext(v), rawtohex(v), hextoraw('0041'), string_agg(v, ', ') over () from thing",
        "select year(dt), month(dt), day_of_week(dt), quarter(dt), week(dt), extract(hour from ts), datediff(day, dt, date '2024-12-31'),"
                + " dateadd(month, 1, dt), dayname(dt), monthname(dt), formatdatetime(ts, 'yyyy-MM-dd'),"
                + " parsedatetime('2024-01-02', 'yyyy-MM-dd'), date_trunc(hour, ts) from thing",
        "select ts + interval '1' day, dt - date '2024-01-01', tz at time zone 'UTC', iv * 2, iv + interval '1' hour from thing",
        "select a[1], cardinality(a), array_contains(a, 2), array_slice(a, 1, 2), a || array[4], trim_array(a, 1) from thing",
        "select j is json, json_object('k': i), json_array(i, v), json_object('a': j) from thing",
        "select json_objectagg(v: i), json_arrayagg(i order by i) from thing where v is not null",
        "select coalesce(v, 'none'), nullif(i, 1), ifnull(v, c), nvl2(v, 1, 2), decode(i, 1, 'one', 'other'), casewhen(i > 1, 'a', 'b') from thing",
        "select hash('SHA-256', v), compress(bin), expand(compress(bin)), ora_hash(i), octet_length(v), bit_length(v), char_length(v) from thing",
        "select * from thing where v like 't%t' escape '!' or v regexp '^t' or v ilike 'T%' or v in ('a', 'b') or i in (select l from thing)",
        "select * from thing where (i, l) = (1, 2) or i between symmetric 3 and 1 or v is distinct from c or b is true or e = 'low'",
        "select * from thing where i = any(select t from thing) or i >= all(select s from thing) or not exists(select 1 from thing where i > 9)",
    };

    private static final String[] REPORTS = {
        "select count(*), count(distinct v), sum(i), avg(d), min(dt), max(ts), stddev_pop(i), var_samp(d), median(i), mode() within group (order by i),"
                + " bool_and(b), any(b), listagg(v, ';') within group (order by i), array_agg(i order by i desc), percentile_cont(0.5)"
                + " within group (order by i), corr(i, d), bit_and_agg(i), histogram(i) from thing",
        "select i, sum(l) filter (where l > 1) from thing group by i having count(*) > 0",
        "select rank() over (order by i), dense_rank() over (order by i), ntile(2) over (order by i), lag(i) over (order by i),"
                + " lead(i, 2, 0) over (order by i), first_value(v) over (order by i), last_value(v) over (order by i rows between 1 preceding"
                + " and 1 following), nth_value(i, 2) over (order by i), cume_dist() over (order by i), percent_rank() over (order by i),"
                + " ratio_to_report(i) over () from thing",
        "select t.i, x.n from thing t cross join (values (1), (2)) x(n) where t.i = x.n",
        "select t.i, u.i from thing t right outer join thing u on t.i = u.i + 1 order by u.i nulls last",
        "select * from thing t natural join (select i from thing where i > 1)",
        "select i from thing intersect select 1 union select 2 except select 3 order by 1 fetch first 2 rows with ties",
        "select x from system_range(1, 10) where x > 5 limit 2",
        "select * from unnest(array[1, 2], array['a', 'b']) with ordinality",
        "select * from table(a int = (1, 2), b varchar = ('x', 'y'))",
        "with a as (select i from thing), b(k) as (select i + 1 from a) select * from a join b on a.i = b.k",
        "table thing",
        "values (1, 'a'), (2, 'b')",
        "show tables",
        "show columns from thing",
        "explain analyze select * from thing t join thing u on t.i = u.i where t.v = 'text'",
        "select * from information_schema.columns where table_name = 'THING'",
        "select * from information_schema.indexes",
        "select * from information_schema.settings limit 3",
        "script table thing",
    };

    private static final String[] DEFINITIONS = {
        "create index if not exists thing_v on thing(v desc, i)",
        "create unique hash index thing_i on thing(i)",
        "alter table thing add constraint positive check (i > 0)",
        "alter table thing add column extra varchar(10) default 'x' not null after i",
        "alter table thing alter column extra set data type varchar(30)",
        "alter table thing alter column extra rename to more",
        "alter table thing drop column more",
        "create table parent(id int primary key, name varchar(20))",
        "create table child(id int primary key, parent int, foreign key(parent) references parent(id) on delete cascade on update set null)",
        "insert into parent values(1, 'one'), (2, 'two')",
        "insert into child select id * 10, id from parent",
        "update parent set (id, name) = (select 3, 'three') where id = 2",
        "delete from parent where id = 1",
        "merge into parent p using (select 3 id, 'drei' name) s on p.id = s.id when matched then update set p.name = s.name"
                + " when not matched then insert values(s.id, s.name)",
        "truncate table child",
        "create schema archive",
        "create table archive.parent as select * from parent",
        "create domain percent as int check (value between 0 and 100)",
        "create table rate(p percent, q int generated always as (p * 2), k int auto_increment(5, 2))",
        "insert into rate(p) values(50)",
        "create alias twice as 'int twice(int x) { return 2 * x; }'",
        "create alias if not exists root for \"java.lang.Math.sqrt\"",
        "create constant answer value 42",
        "create synonym others for parent",
        "create local temporary table scratch(i int) on commit drop",
        "create role clerk",
        "create user ann password 'secret'",
        "grant select, insert on parent to clerk",
        "grant clerk to ann",
        "revoke insert on parent from clerk",
        "comment on table parent is 'of children'",
        "create or replace view names as select name from parent",
        "alter view names recompile",
        "alter sequence receipt restart with 7",
        "alter table parent rename to elder",
        "alter index thing_v rename to thing_w",
        "analyze table thing sample_size 100",
        "set lock_timeout 500",
        "set @total = 5",
        "call @total + answer",
        "drop view names",
        "drop synonym others",
        "drop table rate cascade",
        "drop schema archive cascade",
        "drop user ann",
        "checkpoint",
    };

    private static void day(Connection connection) throws SQLException {
        for (String[] all : new String[][] {DEFINITIONS, EXPRESSIONS, REPORTS}) {
            try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
                for (String sql : TYPES) {
                    statement.execute(sql);
                }
                for (String sql : all) {
                    try {
                        if (statement.execute(sql)) {
                            print(statement.getResultSet());
                        }
                    } catch (SQLException e) {
                        System.out.println(e.getErrorCode() + " " + sql);
                    }
                }
            }
        }
    }

    private static void values(Connection connection) throws SQLException {
        PreparedStatement insert = connection.prepareStatement(
                "insert into thing(i, l, s, t, b, d, r, n, v, dt, tm, ts, bin, a) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        insert.setInt(1, 9);
        insert.setLong(2, 10L);
        insert.setShort(3, (short) 11);
        insert.setByte(4, (byte) 12);
        insert.setBoolean(5, true);
        insert.setDouble(6, 1.5);
        insert.setFloat(7, 2.5f);
        insert.setBigDecimal(8, new java.math.BigDecimal("3.25"));
        insert.setString(9, "nine");
        insert.setDate(10, java.sql.Date.valueOf("2024-03-01"));
        insert.setTime(11, java.sql.Time.valueOf("01:02:03"));
        insert.setTimestamp(12, java.sql.Timestamp.valueOf("2024-03-01 01:02:03"));
        insert.setBytes(13, new byte[] {1, 2});
        insert.setNull(14, java.sql.Types.ARRAY);
        System.out.println(insert.executeUpdate() + " " + insert.getParameterMetaData().getParameterCount());
        insert.close();
        Statement update = connection.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE);
        ResultSet rows = update.executeQuery("select id, name, price from item order by id");
        rows.absolute(2);
        rows.updateString("name", "changed");
        rows.updateRow();
        rows.moveToInsertRow();
        rows.updateInt(1, 90);
        rows.updateString(2, "ninety");
        rows.insertRow();
        rows.last();
        System.out.println(rows.getRow() + " " + rows.isLast() + " " + rows.previous() + rows.first() + rows.isBeforeFirst());
        rows.close();
        rows = update.executeQuery("select i, l, b, d, r, n, v, dt, tm, ts, bin, u, a, j from thing order by i");
        while (rows.next()) {
            System.out.println(rows.getInt(1) + rows.getLong(2) + " " + rows.getBoolean(3) + rows.getDouble(4) + rows.getFloat(5)
                    + rows.getBigDecimal(6) + rows.getString(7) + rows.getDate(8) + rows.getTime(9) + rows.getTimestamp(10)
                    + (rows.getBytes(11) == null) + rows.getObject(12) + rows.getArray(13) + rows.wasNull() + rows.findColumn("J"));
        }
        rows.close();
        update.close();
        DatabaseMetaData metadata = connection.getMetaData();
        print(metadata.getTables(null, "PUBLIC", "%", new String[] {"BASE TABLE"}));
        print(metadata.getPrimaryKeys(null, "PUBLIC", "ITEM"));
        print(metadata.getIndexInfo(null, "PUBLIC", "THING", false, true));
        print(metadata.getImportedKeys(null, "PUBLIC", "SALE"));
        print(metadata.getTypeInfo());
        print(metadata.getSchemas());
        System.out.println(metadata.getURL() + metadata.getSQLKeywords().length() + metadata.supportsBatchUpdates());
    }

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
            day(connection);
            values(connection);
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
