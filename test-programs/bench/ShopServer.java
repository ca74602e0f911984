import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * A shop on Tomcat: {@code /order?id=N} prices an order, and each thousandth one fails deep in the
 * shop; {@code /stats} tells CPU time, memory and requests so far.
 *
 * <p>Argument: a directory. Prints its port, and runs until its standard input ends.
 */
public class ShopServer {
    record Product(String name, int cents, String group) {}

    record Line(Product product, int count) {}

    static final class Order {
        final int id;
        final List<Line> lines = new ArrayList<>();
        final Map<String, Integer> totals = new HashMap<>();
        String customer;

        Order(int id) {
            this.id = id;
        }
    }

    static final class Shop {
        private final Map<Integer, Product> products = new HashMap<>();
        private final Map<Integer, String> customers = new HashMap<>();

        Shop() {
            for (int i = 0; i < 2_000; i++) {
                products.put(i, new Product("product " + i, 100 + i * 7 % 900, "group " + i % 13));
            }
            for (int i = 0; i < 1_000; i++) {
                // Nobody knows customer 999.
                if (i != 999) {
                    customers.put(i, "Customer " + i);
                }
            }
        }

        String price(int id) {
            Order order = collect(new Order(id), id);
            order.lines.sort(Comparator.comparing((Line line) -> line.product().group()).thenComparing(line -> line.product().name()));
            return bill(order, new StringBuilder());
        }

        private Order collect(Order order, int seed) {
            for (int i = 0; i < 40; i++) {
                seed = seed * 1_103_515_245 + 12_345;
                Line line = new Line(products.get((seed >>> 8) % 2_000), 1 + (seed >>> 4) % 3);
                order.lines.add(line);
                order.totals.merge(line.product().group(), line.product().cents() * line.count(), Integer::sum);
            }
            order.customer = customers.get(order.id % 1_000);
            return order;
        }

        private String bill(Order order, StringBuilder text) {
            address(order, text);
            for (Line line : order.lines) {
                text.append(line.count()).append(" x ").append(line.product().name()).append(": ").append(line.product().cents()).append('\n');
            }
            order.totals.forEach((group, cents) -> text.append(group).append(": ").append(cents).append('\n'));
            return text.toString();
        }

        private void address(Order order, StringBuilder text) {
            text.append("For ").append(order.customer.toUpperCase()).append(", order ").append(order.id).append('\n');
        }
    }

    static final class Orders extends HttpServlet {
        private static final long serialVersionUID = 1;
        private final transient Shop shop = new Shop();

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String bill = shop.price(Integer.parseInt(request.getParameter("id")));
            response.setContentType("text/plain");
            response.getWriter().print(bill);
        }
    }

    static final class Stats extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            long cpu = ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            long heap = (runtime.totalMemory() - runtime.freeMemory()) / 1024;
            String rss = "0";
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    rss = line.replaceAll("\\D", "");
                }
            }
            response.setContentType("text/plain");
            response.getWriter().print(cpu / 1_000_000 + " " + heap + " " + rss);
        }
    }

    // Held, for loggers are kept weakly.
    private static final Logger LOGGER = Logger.getLogger("org.apache");

    public static void main(String[] args) throws Exception {
        LOGGER.setLevel(Level.OFF);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setPort(0);
        Context context = tomcat.addContext("", new File(args[0]).getAbsolutePath());
        Tomcat.addServlet(context, "orders", new Orders());
        Tomcat.addServlet(context, "stats", new Stats());
        context.addServletMappingDecoded("/order", "orders");
        context.addServletMappingDecoded("/stats", "stats");
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        tomcat.start();
        System.out.println(tomcat.getConnector().getLocalPort());
        while (System.in.read() >= 0) {
            // Until the end.
        }
        tomcat.stop();
        tomcat.destroy();
    }
}
