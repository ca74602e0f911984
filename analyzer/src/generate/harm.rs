//! What the JDK must not be asked for by a test itself.
//!
//! The program's classes are rewritten before they run, so that what they ask the
//! JDK for can be refused ([`super::guard`]). A statement of a sequence that calls
//! the JDK has nobody in between: if the JDK was recorded, too, a run's own
//! `file.delete()` would be one.

use super::guard::Guards;
use super::sequence::Method;
use std::sync::LazyLock;

/// What the worker stands in for where the program calls it: a test must not call it either.
static GUARDS: LazyLock<Option<Guards>> = LazyLock::new(|| Guards::new().ok());

/// Packages of which everything may reach out of the JVM.
const PACKAGES: [&str; 9] = [
    "java.net.http.",
    "java.nio.channels.",
    "java.nio.file.spi.",
    "java.rmi.",
    "java.util.prefs.",
    "javax.management.",
    "javax.naming.",
    "javax.net.",
    "javax.sql.rowset.",
];

/// Classes of which everything may.
const CLASSES: [&str; 20] = [
    "java.io.FileOutputStream",
    "java.io.FileWriter",
    "java.io.RandomAccessFile",
    "java.lang.Process",
    "java.lang.ProcessBuilder",
    "java.lang.ProcessHandle",
    "java.lang.Runtime",
    "java.net.DatagramSocket",
    "java.net.HttpURLConnection",
    "java.net.InetAddress",
    "java.net.JarURLConnection",
    "java.net.MulticastSocket",
    "java.net.NetworkInterface",
    "java.net.ServerSocket",
    "java.net.Socket",
    "java.net.URLClassLoader",
    "java.net.URLConnection",
    "java.util.logging.FileHandler",
    "java.util.logging.SocketHandler",
    "javax.imageio.stream.FileImageOutputStream",
];

/// What can be asked of `java.nio.file.Files` without a change.
const READS: [&str; 12] = [
    "exists",
    "isDirectory",
    "isReadable",
    "isRegularFile",
    "lines",
    "list",
    "newBufferedReader",
    "newInputStream",
    "notExists",
    "readAllBytes",
    "readAllLines",
    "size",
];

/// Whether a call of a method of the JDK may write or delete files, start a process, end the JVM or use the
/// network.
pub fn harms(method: &Method) -> bool {
    let (class, name) = (method.class.as_str(), method.name.as_str());
    if PACKAGES.iter().any(|package| class.starts_with(package)) {
        return class != "java.nio.channels.Channels";
    }
    match class {
        "java.io.File" => {
            let begins = |with: &&str| name.starts_with(*with);
            ["create", "delete", "mkdir", "rename", "set"]
                .iter()
                .any(begins)
        }
        "java.io.PrintStream" | "java.io.PrintWriter" | "java.util.Formatter" => {
            let opens = |with: &&str| method.descriptor.starts_with(*with);
            method.is_constructor() && ["(Ljava/lang/String;", "(Ljava/io/File;"].iter().any(opens)
        }
        "java.lang.System" => name != "arraycopy" && name != "identityHashCode",
        // A name is looked up.
        "java.net.InetSocketAddress" if method.is_constructor() => {
            method.descriptor == "(Ljava/lang/String;I)V"
        }
        // It is deleted when it has been read.
        "java.util.zip.ZipFile" | "java.util.jar.JarFile" if method.is_constructor() => {
            method.types().0.iter().any(|ty| ty == "I")
        }
        "java.nio.file.Files" => !READS.contains(&name),
        _ => {
            let stands_in = |guards: &Guards| guards.stand_in_for(method);
            CLASSES.contains(&class) || GUARDS.as_ref().is_some_and(stands_in)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_out_is_known() {
        let call = |text: &str| {
            let (name, descriptor) = text.split_at(text.find('(').unwrap());
            let (class, name) = name.rsplit_once('.').unwrap();
            let of_class = class.strip_prefix("static ");
            harms(&Method {
                class: of_class.unwrap_or(class).to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: of_class.is_some(),
                runs: None,
            })
        };
        for harmful in [
            "java.io.File.delete()Z",
            "java.io.File.setReadOnly()Z",
            "java.io.FileOutputStream.<init>(Ljava/io/File;)V",
            "java.io.PrintWriter.<init>(Ljava/lang/String;)V",
            "java.lang.System.exit(I)V",
            "java.nio.file.Files.delete(Ljava/nio/file/Path;)V",
            "java.nio.channels.FileChannel.truncate(J)Ljava/nio/channels/FileChannel;",
            "java.net.URL.openStream()Ljava/io/InputStream;",
            "java.net.URL.hashCode()I",
            "java.net.InetSocketAddress.<init>(Ljava/lang/String;I)V",
            "java.util.zip.ZipFile.<init>(Ljava/io/File;I)V",
            "javax.imageio.stream.FileImageOutputStream.<init>(Ljava/io/File;)V",
            "static javax.imageio.ImageIO.write(Ljava/awt/image/RenderedImage;Ljava/lang/String;Ljava/io/File;)Z",
            "static com.sun.net.httpserver.HttpServer.create(Ljava/net/InetSocketAddress;I)Lcom/sun/net/httpserver/HttpServer;",
            "com.sun.net.httpserver.HttpServer.bind(Ljava/net/InetSocketAddress;I)V",
        ] {
            assert!(call(harmful), "{harmful}");
        }
        for harmless in [
            "java.io.File.getName()Ljava/lang/String;",
            "java.io.PrintWriter.<init>(Ljava/io/Writer;)V",
            "java.io.PrintWriter.println(Ljava/lang/String;)V",
            "java.nio.file.Files.exists(Ljava/nio/file/Path;[Ljava/nio/file/LinkOption;)Z",
            "java.nio.channels.Channels.newChannel(Ljava/io/InputStream;)V",
            "java.net.URI.create(Ljava/lang/String;)Ljava/net/URI;",
            "java.net.URL.getHost()Ljava/lang/String;",
            "java.util.zip.ZipFile.<init>(Ljava/io/File;)V",
            "static javax.imageio.ImageIO.write(Ljava/awt/image/RenderedImage;Ljava/lang/String;Ljava/io/OutputStream;)Z",
            "static java.time.LocalDate.now()Ljava/time/LocalDate;",
            "java.util.ArrayList.add(Ljava/lang/Object;)Z",
            "org.acme.File.delete()Z",
        ] {
            assert!(!call(harmless), "{harmless}");
        }
    }
}
