package dev.hindsight.worker;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import com.sun.net.httpserver.spi.HttpServerProvider;
import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import jdk.jfr.Recording;
import jdk.jshell.JShell;

/** The {@link Guard} of what is not in every JDK: its tools and servers. */
public final class GuardTools {
    private GuardTools() {}

    public static HttpServer createHttpServer(InetSocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static HttpsServer createHttpsServer(InetSocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static HttpsServer createHttpsServer() {
        throw Guard.blocked("listening");
    }

    /** As of release 18. */
    public static HttpServer createHttpServer(
            InetSocketAddress address, int backlog, String root, HttpHandler handler, Filter[] filters) {
        throw Guard.blocked("listening on " + address);
    }

    public static HttpsServer createHttpsServer(
            InetSocketAddress address, int backlog, String root, HttpHandler handler, Filter[] filters) {
        throw Guard.blocked("listening on " + address);
    }

    /**
     * The level of output is an object here, because its class does not exist in the oldest
     * release.
     */
    public static HttpServer createFileServer(InetSocketAddress address, Path root, Object level) {
        throw Guard.blocked("listening on " + address);
    }

    public static HttpServer createHttpServer(
            HttpServerProvider provider, InetSocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static HttpsServer createHttpsServer(
            HttpServerProvider provider, InetSocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static void bind(HttpServer server, InetSocketAddress address, int backlog) {
        throw Guard.blocked("listening on " + address);
    }

    public static void dumpHeap(HotSpotDiagnosticMXBean bean, String name, boolean live) {
        throw Guard.blocked("writing " + name);
    }

    public static void setVMOption(HotSpotDiagnosticMXBean bean, String name, String value) {
        throw Guard.blocked("setting " + name);
    }

    public static void dump(Recording recording, Path path) throws IOException {
        recording.dump(GuardFiles.check(path));
    }

    public static void setDestination(Recording recording, Path path) throws IOException {
        recording.setDestination(GuardFiles.check(path));
    }

    public static VirtualMachine attach(String id) {
        throw Guard.blocked("attaching to " + id);
    }

    public static VirtualMachine attach(VirtualMachineDescriptor machine) {
        throw Guard.blocked("attaching to " + machine);
    }

    public static JShell create() {
        throw Guard.blocked("starting a process");
    }

    public static JShell build(JShell.Builder builder) {
        throw Guard.blocked("starting a process");
    }
}
