package dev.hindsight.worker;

import java.awt.image.RenderedImage;
import java.beans.Expression;
import java.beans.Statement;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputFilter;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.InvalidPathException;
import java.nio.file.Paths;
import java.rmi.Remote;
import java.rmi.registry.Registry;
import java.rmi.server.RMIClientSocketFactory;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.RemoteStub;
import java.util.Map;
import java.util.function.Function;
import java.util.logging.LogManager;
import java.util.prefs.Preferences;
import java.util.spi.ToolProvider;
import javax.imageio.ImageIO;
import javax.imageio.stream.ImageOutputStream;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXServiceURL;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.sound.midi.MidiSystem;
import javax.sound.midi.Sequence;
import javax.sound.sampled.AudioFileFormat;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;
import javax.tools.DiagnosticListener;
import javax.tools.DocumentationTool;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.SAXParser;
import javax.xml.stream.XMLEventWriter;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import javax.xml.transform.Result;
import javax.xml.transform.Source;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerConfigurationException;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.TransformerHandler;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.ls.LSSerializer;
import org.xml.sax.HandlerBase;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.XMLReader;
import org.xml.sax.helpers.DefaultHandler;

/**
 * The {@link Guard} of methods in the JDK's libraries that write files, use the network or call
 * methods.
 */
public final class GuardLibrary {
    private GuardLibrary() {}

    // Calls of methods that are only named.

    public static void execute(Statement statement) {
        throw Guard.blocked("calling " + statement.getMethodName());
    }

    public static Object getValue(Expression expression) {
        throw Guard.blocked("calling " + expression.getMethodName());
    }

    public static int run(ToolProvider tool, PrintWriter out, PrintWriter err, String[] arguments) {
        throw Guard.blocked("running " + tool.name());
    }

    public static int run(ToolProvider tool, PrintStream out, PrintStream err, String[] arguments) {
        throw Guard.blocked("running " + tool.name());
    }

    /**
     * Initializers ask for the compiler, and what they do without one they never do elsewhere; so
     * it may be asked for.
     */
    public static JavaCompiler.CompilationTask getTask(
            javax.tools.Tool compiler,
            Writer out,
            JavaFileManager files,
            DiagnosticListener<? super JavaFileObject> told,
            Iterable<String> options,
            Iterable<String> classes,
            Iterable<? extends JavaFileObject> units) {
        throw Guard.blocked("running a compiler");
    }

    public static DocumentationTool getSystemDocumentationTool() {
        throw Guard.blocked("running javadoc");
    }

    public static int run(
            javax.tools.Tool tool,
            InputStream in,
            OutputStream out,
            OutputStream err,
            String[] arguments) {
        throw Guard.blocked("running a tool");
    }

    // Images and sounds.

    public static boolean write(RenderedImage image, String format, File file) throws IOException {
        return ImageIO.write(image, format, GuardFiles.check(file));
    }

    public static ImageOutputStream createImageOutputStream(Object to) throws IOException {
        return ImageIO.createImageOutputStream(
                to instanceof File ? GuardFiles.check((File) to) : to);
    }

    public static java.awt.image.BufferedImage read(URL from) throws IOException {
        return ImageIO.read(from == null ? null : GuardNetwork.local(from));
    }

    public static int write(AudioInputStream sound, AudioFileFormat.Type type, File file)
            throws IOException {
        return AudioSystem.write(sound, type, GuardFiles.check(file));
    }

    public static int write(Sequence sequence, int type, File file) throws IOException {
        return MidiSystem.write(sequence, type, GuardFiles.check(file));
    }

    // What belongs to the user of the computer.

    public static Preferences userRoot() {
        throw Guard.blocked("preferences");
    }

    public static Preferences systemRoot() {
        throw Guard.blocked("preferences");
    }

    public static Preferences userNodeForPackage(Class<?> of) {
        throw Guard.blocked("preferences");
    }

    public static Preferences systemNodeForPackage(Class<?> of) {
        throw Guard.blocked("preferences");
    }

    public static void importPreferences(InputStream from) {
        throw Guard.blocked("preferences");
    }

    public static void readConfiguration(LogManager manager) {
        throw Guard.blocked("configuring logs");
    }

    public static void readConfiguration(LogManager manager, InputStream from) {
        throw Guard.blocked("configuring logs");
    }

    public static void updateConfiguration(LogManager manager, Function<?, ?> mapper) {
        throw Guard.blocked("configuring logs");
    }

    public static void updateConfiguration(
            LogManager manager, InputStream from, Function<?, ?> mapper) {
        throw Guard.blocked("configuring logs");
    }

    // The JVM's own beans, which write files and end processes.

    public static Object invoke(
            MBeanServerConnection server,
            ObjectName name,
            String operation,
            Object[] arguments,
            String[] types)
            throws IOException, javax.management.JMException {
        String domain = name == null ? "" : name.getDomain();
        if (domain.startsWith("com.sun.") || domain.startsWith("jdk.")) {
            throw Guard.blocked("calling " + operation);
        }
        return server.invoke(name, operation, arguments, types);
    }

    public static JMXConnector connect(JMXServiceURL url) {
        throw Guard.blocked("connecting to " + url);
    }

    public static JMXConnector connect(JMXServiceURL url, Map<String, ?> how) {
        throw Guard.blocked("connecting to " + url);
    }

    public static void start(JMXConnectorServer server) {
        throw Guard.blocked("listening");
    }

    // Remote calls, and names.

    public static Registry createRegistry(int port) {
        throw Guard.blocked("listening on " + port);
    }

    public static Registry createRegistry(
            int port, RMIClientSocketFactory client, RMIServerSocketFactory server) {
        throw Guard.blocked("listening on " + port);
    }

    @Deprecated
    public static RemoteStub exportObject(Remote object) {
        throw Guard.blocked("listening");
    }

    public static Remote exportObject(Remote object, int port) {
        throw Guard.blocked("listening on " + port);
    }

    public static Remote exportObject(
            Remote object, int port, RMIClientSocketFactory client, RMIServerSocketFactory server) {
        throw Guard.blocked("listening on " + port);
    }

    public static Remote exportObject(Remote object, int port, ObjectInputFilter filter) {
        throw Guard.blocked("listening on " + port);
    }

    public static Remote exportObject(
            Remote object,
            int port,
            RMIClientSocketFactory client,
            RMIServerSocketFactory server,
            ObjectInputFilter filter) {
        throw Guard.blocked("listening on " + port);
    }

    public static Remote lookup(String name) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void bind(String name, Remote object) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void rebind(String name, Remote object) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void unbind(String name) {
        throw Guard.blocked("connecting to " + name);
    }

    public static String[] list(String name) {
        throw Guard.blocked("connecting to " + name);
    }

    public static Remote lookup(Registry registry, String name) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void bind(Registry registry, String name, Remote object) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void rebind(Registry registry, String name, Remote object) {
        throw Guard.blocked("connecting to " + name);
    }

    public static void unbind(Registry registry, String name) {
        throw Guard.blocked("connecting to " + name);
    }

    public static String[] list(Registry registry) {
        throw Guard.blocked("connecting to a registry");
    }

    public static Object lookup(Context context, String name) throws NamingException {
        return context.lookup(GuardNetwork.local(name));
    }

    // Documents.

    private static Source checked(Source source) {
        if (source instanceof StreamSource) {
            StreamSource stream = (StreamSource) source;
            if (stream.getInputStream() == null && stream.getReader() == null) {
                GuardNetwork.local(stream.getSystemId());
            }
        }
        return source;
    }

    private static InputSource checked(InputSource source) {
        if (source != null && source.getByteStream() == null && source.getCharacterStream() == null) {
            GuardNetwork.local(source.getSystemId());
        }
        return source;
    }

    private static Result checked(Result result) {
        if (result instanceof StreamResult) {
            StreamResult stream = (StreamResult) result;
            String to = stream.getSystemId();
            if (stream.getOutputStream() == null && stream.getWriter() == null && to != null) {
                checkWritten(GuardNetwork.local(to));
            }
        }
        return result;
    }

    private static void checkWritten(String uri) {
        try {
            boolean isUri = uri.regionMatches(true, 0, "file:", 0, 5);
            GuardFiles.check(isUri ? Paths.get(new URI(uri).getPath()) : Paths.get(uri));
        } catch (URISyntaxException | InvalidPathException | NullPointerException e) {
            throw Guard.blocked("writing " + uri);
        }
    }

    public static void transform(Transformer transformer, Source source, Result result)
            throws TransformerException {
        transformer.transform(checked(source), checked(result));
    }

    public static Transformer newTransformer(TransformerFactory factory, Source source)
            throws TransformerConfigurationException {
        return factory.newTransformer(checked(source));
    }

    public static Templates newTemplates(TransformerFactory factory, Source source)
            throws TransformerConfigurationException {
        return factory.newTemplates(checked(source));
    }

    public static void setResult(TransformerHandler handler, Result result) {
        handler.setResult(checked(result));
    }

    public static boolean writeToURI(LSSerializer serializer, Node node, String uri) {
        throw Guard.blocked("writing " + uri);
    }

    public static XMLStreamWriter createXMLStreamWriter(XMLOutputFactory factory, Result result)
            throws XMLStreamException {
        return factory.createXMLStreamWriter(checked(result));
    }

    public static XMLEventWriter createXMLEventWriter(XMLOutputFactory factory, Result result)
            throws XMLStreamException {
        return factory.createXMLEventWriter(checked(result));
    }

    public static Document parse(DocumentBuilder builder, String uri)
            throws SAXException, IOException {
        return builder.parse(GuardNetwork.local(uri));
    }

    public static Document parse(DocumentBuilder builder, InputSource source)
            throws SAXException, IOException {
        return builder.parse(checked(source));
    }

    @Deprecated
    public static void parse(SAXParser parser, String uri, HandlerBase handler)
            throws SAXException, IOException {
        parser.parse(GuardNetwork.local(uri), handler);
    }

    public static void parse(SAXParser parser, String uri, DefaultHandler handler)
            throws SAXException, IOException {
        parser.parse(GuardNetwork.local(uri), handler);
    }

    @Deprecated
    public static void parse(SAXParser parser, InputSource source, HandlerBase handler)
            throws SAXException, IOException {
        parser.parse(checked(source), handler);
    }

    public static void parse(SAXParser parser, InputSource source, DefaultHandler handler)
            throws SAXException, IOException {
        parser.parse(checked(source), handler);
    }

    public static void parse(XMLReader reader, String uri) throws SAXException, IOException {
        reader.parse(GuardNetwork.local(uri));
    }

    public static void parse(XMLReader reader, InputSource source)
            throws SAXException, IOException {
        reader.parse(checked(source));
    }
}
