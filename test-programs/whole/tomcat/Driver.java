import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A server and its client in one; prints what the client gets. */
public class Driver {
    static class Sums extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int sum = 0;
            for (String number : request.getParameter("of").split(",")) {
                sum += Integer.parseInt(number);
            }
            response.setContentType("text/plain");
            response.getWriter().println("sum " + sum);
        }
    }

    static class Sessions extends HttpServlet {
        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            String body = new String(request.getInputStream().readAllBytes());
            if (body.length() % 5 == 0) {
                throw new ServletException("no multiple of five: " + body);
            }
            response.setStatus(201);
            response.addHeader("X-Length", "" + body.length());
            response.getWriter().print(body.toUpperCase());
        }
    }

    private static final Logger LOGGER = Logger.getLogger("org.apache");

    public static void main(String[] args) throws Exception {
        LOGGER.setLevel(Level.OFF);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setPort(0);
        Context context = tomcat.addContext("", args[0]);
        Tomcat.addServlet(context, "sums", new Sums());
        Tomcat.addServlet(context, "sessions", new Sessions());
        context.addServletMappingDecoded("/sums", "sums");
        context.addServletMappingDecoded("/sessions/*", "sessions");
        tomcat.getConnector();
        tomcat.start();
        String base = "http://localhost:" + tomcat.getConnector().getLocalPort();
        HttpClient client = HttpClient.newHttpClient();
        for (String of : new String[] {"1,2,3", "4,x", "1000000,1", ""}) {
            print(client.send(HttpRequest.newBuilder(URI.create(base + "/sums?of=" + of)).build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        for (int i = 1; i <= 60; i++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/sessions/" + i))
                    .POST(HttpRequest.BodyPublishers.ofString("text ".repeat(i).substring(i / 2))).build();
            print(client.send(request, HttpResponse.BodyHandlers.ofString()));
        }
        print(client.send(HttpRequest.newBuilder(URI.create(base + "/nowhere")).build(),
                HttpResponse.BodyHandlers.ofString()));
        tomcat.stop();
        tomcat.destroy();
    }

    private static void print(HttpResponse<String> response) {
        // A failure's page shows a stack trace, as it should be seen by the program's users.
        System.out.println(response.statusCode() + " " + response.headers().firstValue("X-Length").orElse("-")
                + " " + response.body().replaceAll("<[^>]*>", " ").replaceAll("\\s+", " "));
    }
}
