import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Asks the shop for orders over some connections that stay open, each request after the answer to
 * the one before, and prints: requests, failed ones, requests a second, and microseconds of the
 * median, the 99th percentile and the slowest answer.
 *
 * <p>Arguments: port, seconds, connections.
 */
public class ShopLoad {
    private static final int MAX = 4_000_000;

    private static final class Client extends Thread {
        final int port;
        final int number;
        final int clients;
        final long end;
        final int[] micros = new int[MAX];
        int requests;
        int failures;
        Throwable trouble;

        Client(int port, int number, int clients, long end) {
            this.port = port;
            this.number = number;
            this.clients = clients;
            this.end = end;
        }

        @Override
        public void run() {
            try {
                ask();
            } catch (Throwable e) {
                trouble = e;
            }
        }

        private void ask() throws IOException {
            Socket socket = null;
            for (int id = number; System.nanoTime() < end && requests < MAX; id += clients) {
                if (socket == null) {
                    socket = new Socket("localhost", port);
                    socket.setTcpNoDelay(true);
                }
                long start = System.nanoTime();
                OutputStream out = socket.getOutputStream();
                out.write(("GET /order?id=" + id + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                out.flush();
                boolean ok = answer(new BufferedInputStream(socket.getInputStream()));
                micros[requests++] = (int) ((System.nanoTime() - start) / 1_000);
                if (!ok) {
                    failures++;
                    // The server closes the connection after a failure.
                    socket.close();
                    socket = null;
                }
            }
            if (socket != null) {
                socket.close();
            }
        }

        private static boolean answer(InputStream in) throws IOException {
            boolean ok = line(in).contains(" 200 ");
            int length = -1;
            boolean chunked = false;
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                String lower = header.toLowerCase();
                if (lower.startsWith("content-length:")) {
                    length = Integer.parseInt(header.substring(15).trim());
                }
                chunked |= lower.startsWith("transfer-encoding:") && lower.contains("chunked");
            }
            if (chunked) {
                for (int size = Integer.parseInt(line(in), 16); size > 0; size = Integer.parseInt(line(in), 16)) {
                    in.readNBytes(size);
                    line(in);
                }
                line(in);
            } else {
                in.readNBytes(length);
            }
            return ok;
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the server has closed the connection");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }
    }

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[2]);
        long start = System.nanoTime();
        Client[] all = new Client[clients];
        for (int i = 0; i < clients; i++) {
            all[i] = new Client(Integer.parseInt(args[0]), i, clients, start + Integer.parseInt(args[1]) * 1_000_000_000L);
            all[i].start();
        }
        int requests = 0;
        int failures = 0;
        for (Client client : all) {
            client.join();
            if (client.trouble != null) {
                throw new IllegalStateException("a client broke off", client.trouble);
            }
            requests += client.requests;
            failures += client.failures;
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        int[] micros = new int[requests];
        int at = 0;
        for (Client client : all) {
            System.arraycopy(client.micros, 0, micros, at, client.requests);
            at += client.requests;
        }
        Arrays.sort(micros);
        System.out.println(requests + " " + failures + " " + Math.round(requests / seconds) + " " + micros[requests / 2]
                + " " + micros[(int) (requests * 0.99)] + " " + micros[requests - 1]);
    }
}
