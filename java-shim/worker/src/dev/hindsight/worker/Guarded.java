package dev.hindsight.worker;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UnsupportedEncodingException;
import java.net.InetAddress;
import java.net.URL;
import java.net.URLStreamHandlerFactory;
import java.nio.charset.Charset;
import java.rmi.RemoteException;
import java.rmi.server.RMIClientSocketFactory;
import java.rmi.server.RMIServerSocketFactory;
import java.util.Arrays;
import java.util.Enumeration;

/**
 * Classes that take the place of those whose constructors the program must not call freely. Each
 * has the simple name of the class that it extends, and all its constructors, because at a {@code
 * new} it is not known yet which of them follows.
 */
public final class Guarded {
    private Guarded() {}

    /** Whether an object of this class must not be made from such arguments. */
    static boolean isGuarded(String name, Class<?>[] parameters) {
        switch (name) {
            case "java.io.FileOutputStream":
            case "java.io.FileWriter":
            case "java.io.RandomAccessFile":
            case "java.util.logging.FileHandler":
            case "java.util.logging.SocketHandler":
            case "java.net.URLClassLoader":
            case "javax.imageio.stream.FileImageOutputStream":
                return true;
            case "java.io.PrintStream":
            case "java.io.PrintWriter":
            case "java.util.Formatter":
                return parameters.length > 0
                        && (parameters[0] == String.class || parameters[0] == File.class);
            case "java.util.zip.ZipFile":
            case "java.util.jar.JarFile":
                return Arrays.asList(parameters).contains(int.class);
            default:
                return name.startsWith("java.net.") && name.endsWith("Socket");
        }
    }

    private static Blocked network() {
        return Guard.blocked("using the network");
    }

    private static <T> T no(T value) {
        throw network();
    }

    public static class FileOutputStream extends java.io.FileOutputStream {
        public FileOutputStream(FileDescriptor descriptor) {
            super(GuardFiles.check(descriptor));
        }

        public FileOutputStream(File file) throws FileNotFoundException {
            super(GuardFiles.check(file));
        }

        public FileOutputStream(File file, boolean append) throws FileNotFoundException {
            super(GuardFiles.check(file), append);
        }

        public FileOutputStream(String name) throws FileNotFoundException {
            super(GuardFiles.check(name));
        }

        public FileOutputStream(String name, boolean append) throws FileNotFoundException {
            super(GuardFiles.check(name), append);
        }
    }

    public static class FileWriter extends java.io.FileWriter {
        public FileWriter(FileDescriptor descriptor) {
            super(GuardFiles.check(descriptor));
        }

        public FileWriter(File file) throws IOException {
            super(GuardFiles.check(file));
        }

        public FileWriter(File file, boolean append) throws IOException {
            super(GuardFiles.check(file), append);
        }

        public FileWriter(String name) throws IOException {
            super(GuardFiles.check(name));
        }

        public FileWriter(String name, boolean append) throws IOException {
            super(GuardFiles.check(name), append);
        }

        public FileWriter(File file, Charset charset) throws IOException {
            super(GuardFiles.check(file), charset);
        }

        public FileWriter(File file, Charset charset, boolean append) throws IOException {
            super(GuardFiles.check(file), charset, append);
        }

        public FileWriter(String name, Charset charset) throws IOException {
            super(GuardFiles.check(name), charset);
        }

        public FileWriter(String name, Charset charset, boolean append) throws IOException {
            super(GuardFiles.check(name), charset, append);
        }
    }

    /** Files may be read, except the commands that the analyzer sends. */
    public static class FileInputStream extends java.io.FileInputStream {
        public FileInputStream(File file) throws FileNotFoundException {
            super(file);
        }

        public FileInputStream(String name) throws FileNotFoundException {
            super(name);
        }

        public FileInputStream(FileDescriptor descriptor) {
            super(GuardFiles.check(descriptor));
        }
    }

    public static class RandomAccessFile extends java.io.RandomAccessFile {
        public RandomAccessFile(File file, String mode) throws FileNotFoundException {
            super("r".equals(mode) ? file : GuardFiles.check(file), mode);
        }

        public RandomAccessFile(String name, String mode) throws FileNotFoundException {
            super("r".equals(mode) ? name : GuardFiles.check(name), mode);
        }
    }

    public static class PrintWriter extends java.io.PrintWriter {
        public PrintWriter(java.io.Writer out) {
            super(out);
        }

        public PrintWriter(java.io.Writer out, boolean flush) {
            super(out, flush);
        }

        public PrintWriter(java.io.OutputStream out) {
            super(out);
        }

        public PrintWriter(java.io.OutputStream out, boolean flush) {
            super(out, flush);
        }

        public PrintWriter(java.io.OutputStream out, boolean flush, Charset charset) {
            super(out, flush, charset);
        }

        public PrintWriter(File file) throws FileNotFoundException {
            super(GuardFiles.check(file));
        }

        public PrintWriter(File file, String charset)
                throws FileNotFoundException, UnsupportedEncodingException {
            super(GuardFiles.check(file), charset);
        }

        public PrintWriter(File file, Charset charset) throws IOException {
            super(GuardFiles.check(file), charset);
        }

        public PrintWriter(String name) throws FileNotFoundException {
            super(GuardFiles.check(name));
        }

        public PrintWriter(String name, String charset)
                throws FileNotFoundException, UnsupportedEncodingException {
            super(GuardFiles.check(name), charset);
        }

        public PrintWriter(String name, Charset charset) throws IOException {
            super(GuardFiles.check(name), charset);
        }
    }

    public static class PrintStream extends java.io.PrintStream {
        public PrintStream(java.io.OutputStream out) {
            super(out);
        }

        public PrintStream(java.io.OutputStream out, boolean flush) {
            super(out, flush);
        }

        public PrintStream(java.io.OutputStream out, boolean flush, String charset)
                throws UnsupportedEncodingException {
            super(out, flush, charset);
        }

        public PrintStream(java.io.OutputStream out, boolean flush, Charset charset) {
            super(out, flush, charset);
        }

        public PrintStream(File file) throws FileNotFoundException {
            super(GuardFiles.check(file));
        }

        public PrintStream(File file, String charset)
                throws FileNotFoundException, UnsupportedEncodingException {
            super(GuardFiles.check(file), charset);
        }

        public PrintStream(File file, Charset charset) throws IOException {
            super(GuardFiles.check(file), charset);
        }

        public PrintStream(String name) throws FileNotFoundException {
            super(GuardFiles.check(name));
        }

        public PrintStream(String name, String charset)
                throws FileNotFoundException, UnsupportedEncodingException {
            super(GuardFiles.check(name), charset);
        }

        public PrintStream(String name, Charset charset) throws IOException {
            super(GuardFiles.check(name), charset);
        }
    }

    public static class Socket extends java.net.Socket {
        public Socket() {}

        public Socket(java.net.Proxy proxy) {
            super(proxy);
        }

        public Socket(String host, int port) throws IOException {
            super(no(host), port);
        }

        public Socket(InetAddress address, int port) throws IOException {
            super(no(address), port);
        }

        @SuppressWarnings("deprecation")
        public Socket(String host, int port, boolean stream) throws IOException {
            super(no(host), port, stream);
        }

        @SuppressWarnings("deprecation")
        public Socket(InetAddress address, int port, boolean stream) throws IOException {
            super(no(address), port, stream);
        }

        public Socket(String host, int port, InetAddress local, int localPort)
                throws IOException {
            super(no(host), port, local, localPort);
        }

        public Socket(InetAddress address, int port, InetAddress local, int localPort)
                throws IOException {
            super(no(address), port, local, localPort);
        }
    }

    public static class ServerSocket extends java.net.ServerSocket {
        public ServerSocket() throws IOException {}

        public ServerSocket(int port) throws IOException {
            super(no(port));
        }

        public ServerSocket(int port, int backlog) throws IOException {
            super(no(port), backlog);
        }

        public ServerSocket(int port, int backlog, InetAddress address) throws IOException {
            super(no(port), backlog, address);
        }
    }

    /** The constructor itself asks for the address of a host. */
    public static class InetSocketAddress extends java.net.InetSocketAddress {
        private static final long serialVersionUID = 1;

        public InetSocketAddress(int port) {
            super(port);
        }

        public InetSocketAddress(InetAddress address, int port) {
            super(address, port);
        }

        public InetSocketAddress(String host, int port) {
            super(GuardNetwork.address(host), port);
        }
    }

    /** The constructor itself opens files; a pattern may name the home directory. */
    public static class FileHandler extends java.util.logging.FileHandler {
        public FileHandler() throws IOException {
            super(no());
        }

        public FileHandler(String pattern) throws IOException {
            super(check(pattern));
        }

        public FileHandler(String pattern, boolean append) throws IOException {
            super(check(pattern), append);
        }

        public FileHandler(String pattern, int limit, int count) throws IOException {
            super(check(pattern), limit, count);
        }

        public FileHandler(String pattern, int limit, int count, boolean append) throws IOException {
            super(check(pattern), limit, count, append);
        }

        public FileHandler(String pattern, long limit, int count, boolean append) throws IOException {
            super(check(pattern), limit, count, append);
        }

        private static String no() {
            return GuardFiles.check("/");
        }

        private static String check(String pattern) {
            return pattern != null && pattern.contains("%h") ? no() : GuardFiles.check(pattern);
        }
    }

    /** The constructor itself connects. */
    public static class SocketHandler extends java.util.logging.SocketHandler {
        public SocketHandler() throws IOException {
            super(no(""), 0);
        }

        public SocketHandler(String host, int port) throws IOException {
            super(no(host), port);
        }
    }

    /** The constructor of its subclasses' objects itself listens. */
    public static class UnicastRemoteObject extends java.rmi.server.UnicastRemoteObject {
        private static final long serialVersionUID = 1;

        public UnicastRemoteObject() throws RemoteException {
            super(no(0));
        }

        public UnicastRemoteObject(int port) throws RemoteException {
            super(no(port));
        }

        public UnicastRemoteObject(
                int port, RMIClientSocketFactory client, RMIServerSocketFactory server)
                throws RemoteException {
            super(no(port), client, server);
        }
    }

    /** The constructor can delete its file. */
    public static class ZipFile extends java.util.zip.ZipFile {
        public ZipFile(String name) throws IOException {
            super(name);
        }

        public ZipFile(String name, Charset charset) throws IOException {
            super(name, charset);
        }

        public ZipFile(File file) throws IOException {
            super(file);
        }

        public ZipFile(File file, Charset charset) throws IOException {
            super(file, charset);
        }

        public ZipFile(File file, int mode) throws IOException {
            super(GuardFiles.checkOpen(file, mode), mode);
        }

        public ZipFile(File file, int mode, Charset charset) throws IOException {
            super(GuardFiles.checkOpen(file, mode), mode, charset);
        }
    }

    /** The constructor can delete its file. */
    public static class JarFile extends java.util.jar.JarFile {
        public JarFile(String name) throws IOException {
            super(name);
        }

        public JarFile(String name, boolean verify) throws IOException {
            super(name, verify);
        }

        public JarFile(File file) throws IOException {
            super(file);
        }

        public JarFile(File file, boolean verify) throws IOException {
            super(file, verify);
        }

        public JarFile(File file, boolean verify, int mode) throws IOException {
            super(GuardFiles.checkOpen(file, mode), verify, mode);
        }

        public JarFile(File file, boolean verify, int mode, Runtime.Version version)
                throws IOException {
            super(GuardFiles.checkOpen(file, mode), verify, mode, version);
        }
    }

    /** The constructor itself opens a file. */
    public static class FileImageOutputStream extends javax.imageio.stream.FileImageOutputStream {
        public FileImageOutputStream(File file) throws IOException {
            super(GuardFiles.check(file));
        }

        public FileImageOutputStream(java.io.RandomAccessFile file) throws IOException {
            super(file);
        }
    }

    /** It loads resources, and its parent's classes: its own were not rewritten. */
    public static class URLClassLoader extends java.net.URLClassLoader {
        public URLClassLoader(URL[] urls) {
            super(urls);
        }

        public URLClassLoader(URL[] urls, ClassLoader parent) {
            super(urls, parent);
        }

        public URLClassLoader(URL[] urls, ClassLoader parent, URLStreamHandlerFactory factory) {
            super(urls, parent, factory);
        }

        public URLClassLoader(String name, URL[] urls, ClassLoader parent) {
            super(name, urls, parent);
        }

        public URLClassLoader(
                String name, URL[] urls, ClassLoader parent, URLStreamHandlerFactory factory) {
            super(name, urls, parent, factory);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (findResource(name.replace('.', '/') + ".class") != null) {
                throw Guard.blocked("loading " + name);
            }
            throw new ClassNotFoundException(name);
        }

        @Override
        public URL findResource(String name) {
            GuardNetwork.checkAll(getURLs());
            return super.findResource(name);
        }

        @Override
        public Enumeration<URL> findResources(String name) throws IOException {
            GuardNetwork.checkAll(getURLs());
            return super.findResources(name);
        }
    }

    /** The constructor itself asks the clock. */
    public static class Date extends java.util.Date {
        private static final long serialVersionUID = 1;

        public Date() {
            super(GuardClocks.currentTimeMillis());
        }

        public Date(long time) {
            super(time);
        }

        @Deprecated
        public Date(String text) {
            super(text);
        }

        @Deprecated
        public Date(int year, int month, int day) {
            super(year, month, day);
        }

        @Deprecated
        public Date(int year, int month, int day, int hour, int minute) {
            super(year, month, day, hour, minute);
        }

        @Deprecated
        public Date(int year, int month, int day, int hour, int minute, int second) {
            super(year, month, day, hour, minute, second);
        }
    }

    /** The constructor itself asks the clock. */
    public static class GregorianCalendar extends java.util.GregorianCalendar {
        private static final long serialVersionUID = 1;

        public GregorianCalendar() {
            setTimeInMillis(GuardClocks.currentTimeMillis());
        }

        public GregorianCalendar(java.util.TimeZone zone) {
            super(zone);
            setTimeInMillis(GuardClocks.currentTimeMillis());
        }

        public GregorianCalendar(java.util.Locale locale) {
            super(locale);
            setTimeInMillis(GuardClocks.currentTimeMillis());
        }

        public GregorianCalendar(java.util.TimeZone zone, java.util.Locale locale) {
            super(zone, locale);
            setTimeInMillis(GuardClocks.currentTimeMillis());
        }

        public GregorianCalendar(int year, int month, int day) {
            super(year, month, day);
        }

        public GregorianCalendar(int year, int month, int day, int hour, int minute) {
            super(year, month, day, hour, minute);
        }

        public GregorianCalendar(int year, int month, int day, int hour, int minute, int second) {
            super(year, month, day, hour, minute, second);
        }
    }

    /** Without a seed, its numbers are not reliable. */
    public static class Random extends java.util.Random {
        private static final long serialVersionUID = 1;

        private boolean isSeeded;

        public Random() {
            super(GuardClocks.seed());
            isSeeded = false;
        }

        public Random(long seed) {
            super(seed);
            isSeeded = true;
        }

        @Override
        public synchronized void setSeed(long seed) {
            super.setSeed(seed);
            isSeeded = true;
        }

        @Override
        protected int next(int bits) {
            int next = super.next(bits);
            if (isSeeded || GuardClocks.isLeft() || bits < 20) {
                return next;
            }
            // The upper bits decide in `nextInt` and the like. The lower ones stay random, so that
            // a loop that waits for a number ends, unless it accepts only a few.
            int upper = bits == 32 ? 0xfff00000 : (1 << bits) - (1 << bits - 12);
            return GuardClocks.isSmall() ? next & ~upper : next | upper & ~(1 << bits - 12);
        }
    }

    /** Its numbers are not reliable either, whatever it is made from. */
    public static class SecureRandom extends java.security.SecureRandom {
        private static final long serialVersionUID = 1;

        public SecureRandom() {}

        public SecureRandom(byte[] seed) {
            super(seed);
        }

        @Override
        public void nextBytes(byte[] bytes) {
            if (!GuardClocks.fill(bytes)) {
                super.nextBytes(bytes);
            }
        }

        @Override
        public byte[] generateSeed(int count) {
            byte[] seed = new byte[Math.max(count, 0)];
            return count >= 0 && GuardClocks.fill(seed) ? seed : super.generateSeed(count);
        }
    }
}
