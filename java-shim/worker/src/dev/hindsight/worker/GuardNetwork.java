package dev.hindsight.worker;

import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.net.UnknownHostException;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.Enumeration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;

/** The {@link Guard} of the network, of which there is none. */
public final class GuardNetwork {
    private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
    private static final Pattern FIGURES =
            Pattern.compile(BYTE + "(\\." + BYTE + "){0,3}|[\\[:0-9a-fA-F].*:.*", Pattern.DOTALL);

    private GuardNetwork() {}

    public static void connect(Socket socket, SocketAddress address) {
        throw Guard.blocked("connecting to " + address);
    }

    public static void connect(Socket socket, SocketAddress address, int timeout) {
        throw Guard.blocked("connecting to " + address);
    }

    public static void bind(ServerSocket socket, SocketAddress address) {
        throw Guard.blocked("listening on " + address);
    }

    public static void bind(ServerSocket socket, SocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static void send(DatagramSocket socket, java.net.DatagramPacket packet) {
        throw Guard.blocked("sending a packet");
    }

    /** The {@code send} of {@code MulticastSocket}. */
    public static void send(DatagramSocket socket, java.net.DatagramPacket packet, byte timeToLive) {
        throw Guard.blocked("sending a packet");
    }

    /** The {@code joinGroup} of {@code MulticastSocket}. */
    public static void joinGroup(DatagramSocket socket, InetAddress group) {
        throw Guard.blocked("joining " + group);
    }

    public static void joinGroup(DatagramSocket socket, SocketAddress group, NetworkInterface network) {
        throw Guard.blocked("joining " + group);
    }

    public static boolean connect(SocketChannel channel, SocketAddress address) {
        throw Guard.blocked("connecting to " + address);
    }

    public static SocketChannel open(SocketAddress address) {
        throw Guard.blocked("connecting to " + address);
    }

    public static java.nio.channels.ServerSocketChannel bind(
            java.nio.channels.ServerSocketChannel channel, SocketAddress address) {
        throw Guard.blocked("listening on " + address);
    }

    public static java.nio.channels.ServerSocketChannel bind(
            java.nio.channels.ServerSocketChannel channel, SocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    /**
     * Checks that an address is numeric in a form that the JDK itself reads, which needs no server.
     */
    static String address(String host) {
        boolean isKnown = host == null
                || host.isEmpty()
                || host.equals("localhost")
                || FIGURES.matcher(host).matches();
        if (!isKnown) {
            throw Guard.blocked("asking for the address of " + host);
        }
        return host;
    }

    public static InetAddress getByName(String host) throws UnknownHostException {
        return InetAddress.getByName(address(host));
    }

    public static InetAddress[] getAllByName(String host) throws UnknownHostException {
        return InetAddress.getAllByName(address(host));
    }

    public static InetAddress getLocalHost() {
        throw Guard.blocked("asking for this computer's address");
    }

    private static Blocked interfaces() {
        return Guard.blocked("asking for this computer's network interfaces");
    }

    public static Enumeration<NetworkInterface> getNetworkInterfaces() {
        throw interfaces();
    }

    public static Stream<NetworkInterface> networkInterfaces() {
        throw interfaces();
    }

    public static NetworkInterface getByNameNetworkInterface(String name) {
        throw interfaces();
    }

    public static NetworkInterface getByIndex(int index) {
        throw interfaces();
    }

    public static NetworkInterface getByInetAddress(InetAddress address) {
        throw interfaces();
    }

    public static String getHostName(InetAddress address) {
        if (address.isLoopbackAddress() || !address.toString().startsWith("/")) {
            return address.getHostName();
        }
        throw Guard.blocked("asking for the name of " + address);
    }

    public static String getCanonicalHostName(InetAddress address) {
        throw Guard.blocked("asking for the name of " + address);
    }

    public static boolean isReachable(InetAddress address, int timeout) {
        throw Guard.blocked("connecting to " + address);
    }

    /** Returns a URL if it is of this computer. */
    static URL local(URL url) {
        String protocol = url.getProtocol();
        boolean isLocal = protocol.equals("file") && !isHost(url.getHost())
                || protocol.equals("jar") && url.getFile().startsWith("file:")
                || protocol.equals("jrt");
        if (!isLocal) {
            throw Guard.blocked("connecting to " + url);
        }
        return url;
    }

    /** Whether it names another computer, which would be asked by FTP. */
    private static boolean isHost(String host) {
        return host != null && !host.isEmpty() && !host.equals("~") && !host.equals("localhost");
    }

    /** Blocks the URLs if any of them is not of this computer. */
    static void checkAll(URL[] urls) {
        for (URL url : urls) {
            local(url);
        }
    }

    /**
     * Returns the name of a document if it is not in the network: with another protocol, or none.
     */
    static String local(String uri) {
        if (uri != null && uri.matches("(?is)\\s*(jar:)?(https?|ftp|rmi|ldaps?|iiop|dns):.*")) {
            throw Guard.blocked("connecting to " + uri);
        }
        return uri;
    }

    // URLs are equal if their hosts have the same address.

    public static boolean equals(URL url, Object other) {
        address(url.getHost());
        if (other instanceof URL) {
            address(((URL) other).getHost());
        }
        return url.equals(other);
    }

    public static boolean sameFile(URL url, URL other) {
        return equals(url, other) || url.sameFile(other);
    }

    public static int hashCode(URL url) {
        address(url.getHost());
        return url.hashCode();
    }

    public static InputStream openStream(URL url) throws IOException {
        return local(url).openStream();
    }

    public static Object getContent(URL url, Class<?>[] types) throws IOException {
        return local(url).getContent(types);
    }

    public static Object getContent(URL url) throws IOException {
        return local(url).getContent();
    }

    public static URLConnection openConnection(URL url) throws IOException {
        return local(url).openConnection();
    }

    public static URLConnection openConnection(URL url, java.net.Proxy proxy) throws IOException {
        return local(url).openConnection(proxy);
    }

    public static java.net.http.HttpResponse<?> send(
            java.net.http.HttpClient client,
            java.net.http.HttpRequest request,
            java.net.http.HttpResponse.BodyHandler<?> handler) {
        throw Guard.blocked("connecting to " + request.uri());
    }

    public static java.util.concurrent.CompletableFuture<?> sendAsync(
            java.net.http.HttpClient client,
            java.net.http.HttpRequest request,
            java.net.http.HttpResponse.BodyHandler<?> handler) {
        throw Guard.blocked("connecting to " + request.uri());
    }

    public static CompletableFuture<WebSocket> buildAsync(
            WebSocket.Builder builder, URI uri, WebSocket.Listener listener) {
        throw Guard.blocked("connecting to " + uri);
    }

    public static Socket createSocket(SocketFactory factory, String host, int port) {
        throw Guard.blocked("connecting to " + host);
    }

    public static Socket createSocket(
            SocketFactory factory, String host, int port, InetAddress local, int from) {
        throw Guard.blocked("connecting to " + host);
    }

    public static Socket createSocket(SocketFactory factory, InetAddress host, int port) {
        throw Guard.blocked("connecting to " + host);
    }

    public static Socket createSocket(
            SocketFactory factory, InetAddress host, int port, InetAddress local, int from) {
        throw Guard.blocked("connecting to " + host);
    }

    public static ServerSocket createServerSocket(ServerSocketFactory factory, int port) {
        throw Guard.blocked("listening on " + port);
    }

    public static ServerSocket createServerSocket(
            ServerSocketFactory factory, int port, int backlog) {
        throw Guard.blocked("listening on " + port);
    }

    public static ServerSocket createServerSocket(
            ServerSocketFactory factory, int port, int backlog, InetAddress address) {
        throw Guard.blocked("listening on " + port);
    }

    public static DatagramChannel bind(DatagramChannel channel, SocketAddress address) {
        throw Guard.blocked("listening on " + address);
    }

    public static DatagramChannel connect(DatagramChannel channel, SocketAddress address) {
        throw Guard.blocked("connecting to " + address);
    }

    public static int send(DatagramChannel channel, ByteBuffer packet, SocketAddress address) {
        throw Guard.blocked("sending a packet");
    }

    public static Future<Void> connect(AsynchronousSocketChannel channel, SocketAddress address) {
        throw Guard.blocked("connecting to " + address);
    }

    public static void connect(
            AsynchronousSocketChannel channel,
            SocketAddress address,
            Object attachment,
            CompletionHandler<Void, Object> handler) {
        throw Guard.blocked("connecting to " + address);
    }

    public static AsynchronousServerSocketChannel bind(
            AsynchronousServerSocketChannel channel, SocketAddress address) {
        throw Guard.blocked("listening on " + address);
    }

    public static AsynchronousServerSocketChannel bind(
            AsynchronousServerSocketChannel channel, SocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }
}
