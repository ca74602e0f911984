//! Which methods of the JDK must not be called unless the user asked for it.
//!
//! While tests are searched for, the program's classes are rewritten before they run, so that what
//! they ask of the JDK can be refused ([`crate::generate::guard`]). But nothing can refuse a
//! statement of a test that calls the JDK: if the JDK was recorded, too, a run's own
//! `file.delete()` would be such a statement. And a crash file from an unknown source may name any
//! method of the JDK as that of a frame.

use super::names::package_of;

/// Packages all of whose classes may affect things outside of the JVM.
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

/// Classes that may affect things outside of the JVM by any of their methods.
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

/// The methods of `java.nio.file.Files` that change nothing.
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

/// Whether a call of a method of the JDK may write or delete files, start a process, end the JVM or
/// use the network.
pub fn harms(class: &str, name: &str, descriptor: &str) -> bool {
    told(class, name, descriptor).unwrap_or(false)
}

/// Like [`harms`]; `None` if no list here covers the class.
pub fn told(class: &str, name: &str, descriptor: &str) -> Option<bool> {
    if PACKAGES.iter().any(|package| class.starts_with(package)) {
        return Some(class != "java.nio.channels.Channels");
    }
    let is_constructor = name == "<init>";
    let harms = match class {
        "java.io.File" => {
            let begins = |with: &&str| name.starts_with(*with);
            ["create", "delete", "mkdir", "rename", "set"]
                .iter()
                .any(begins)
        }
        "java.io.PrintStream" | "java.io.PrintWriter" | "java.util.Formatter" => {
            // These classes have constructors that take the file before a charset or a locale.
            let opens = descriptor.starts_with("(Ljava/lang/String;")
                || descriptor.contains("Ljava/io/File;");
            is_constructor && opens
        }
        "java.lang.System" => name != "arraycopy" && name != "identityHashCode",
        // The constructor looks up the host's name.
        "java.net.InetSocketAddress" if is_constructor => descriptor == "(Ljava/lang/String;I)V",
        // Comparing hosts looks up their names.
        "java.net.URL" => {
            let begins = |with: &&str| name.starts_with(*with);
            ["open", "getContent", "equals", "hashCode"]
                .iter()
                .any(begins)
        }
        // In one mode, the file is deleted after it has been read.
        "java.util.zip.ZipFile" | "java.util.jar.JarFile" if is_constructor => {
            descriptor.starts_with("(Ljava/io/File;I")
                || descriptor.starts_with("(Ljava/io/File;ZI")
        }
        "java.nio.file.Files" => !READS.contains(&name),
        _ => return CLASSES.contains(&class).then_some(true),
    };
    Some(harms)
}

/// Packages of the JDK in which most classes only compute something.
const PLAIN_PACKAGES: [&str; 17] = [
    "java.io",
    "java.lang",
    "java.math",
    "java.nio.charset",
    "java.text",
    "java.time",
    "java.time.chrono",
    "java.time.format",
    "java.time.temporal",
    "java.time.zone",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
    "java.util.function",
    "java.util.regex",
    "java.util.stream",
];

/// Classes in other packages that only compute something.
const PLAIN_CLASSES: [&str; 9] = [
    "java.net.IDN",
    "java.net.URI",
    "java.net.URLDecoder",
    "java.net.URLEncoder",
    "java.nio.file.Path",
    "java.nio.file.Paths",
    "java.sql.Date",
    "java.sql.Time",
    "java.sql.Timestamp",
];

/// The beginnings of names of classes in these packages that do not count as such: they run code of
/// others' choice, or only the JDK itself may call them.
const OTHERS: [&str; 17] = [
    "java.io.Console",
    "java.io.DefaultFileSystem",
    "java.io.DeleteOnExitHook",
    "java.io.FileCleanable",
    "java.io.FileDescriptor",
    "java.io.FileSystem",
    "java.io.ObjectInputStream",
    "java.io.UnixFileSystem",
    "java.io.WinNTFileSystem",
    "java.lang.ApplicationShutdownHooks",
    "java.lang.ClassLoader",
    "java.lang.Module",
    "java.lang.Process",
    "java.lang.Shutdown",
    "java.lang.System$",
    "java.lang.Terminator",
    "java.util.ServiceLoader",
];

/// Whether a method of the JDK only computes something, judged by its name, so that a recording
/// with a frame of it is reason enough to call it again.
pub fn is_plain(class: &str, name: &str, descriptor: &str) -> bool {
    let is_plain = PLAIN_PACKAGES.contains(&package_of(class)) || PLAIN_CLASSES.contains(&class);
    is_plain
        && !OTHERS.iter().any(|other| class.starts_with(other))
        && !harms(class, name, descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_out_is_known() {
        let call = |text: &str| {
            let (name, descriptor) = text.split_at(text.find('(').unwrap());
            let (class, name) = name.rsplit_once('.').unwrap();
            (class.to_owned(), name.to_owned(), descriptor.to_owned())
        };
        let harms = |text: &str| {
            let (class, name, descriptor) = call(text);
            harms(&class, &name, &descriptor)
        };
        let is_plain = |text: &str| {
            let (class, name, descriptor) = call(text);
            is_plain(&class, &name, &descriptor)
        };
        for harmful in [
            "java.io.File.delete()Z",
            "java.io.File.setReadOnly()Z",
            "java.io.FileOutputStream.<init>(Ljava/io/File;)V",
            "java.io.PrintWriter.<init>(Ljava/lang/String;)V",
            "java.io.PrintWriter.<init>(Ljava/nio/charset/Charset;Ljava/io/File;)V",
            "java.lang.System.exit(I)V",
            "java.nio.file.Files.delete(Ljava/nio/file/Path;)V",
            "java.nio.channels.FileChannel.truncate(J)Ljava/nio/channels/FileChannel;",
            "java.net.URL.openStream()Ljava/io/InputStream;",
            "java.net.URL.hashCode()I",
            "java.net.InetSocketAddress.<init>(Ljava/lang/String;I)V",
            "java.util.zip.ZipFile.<init>(Ljava/io/File;I)V",
            "java.util.jar.JarFile.<init>(Ljava/io/File;ZILjava/lang/Runtime$Version;)V",
            "javax.imageio.stream.FileImageOutputStream.<init>(Ljava/io/File;)V",
        ] {
            assert!(harms(harmful) && !is_plain(harmful), "{harmful}");
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
            "java.util.jar.JarFile.<init>(Ljava/io/File;Z)V",
            "java.util.ArrayList.add(Ljava/lang/Object;)Z",
            "org.acme.File.delete()Z",
        ] {
            assert!(!harms(harmless), "{harmless}");
        }
        for plain in [
            "java.io.File.getName()Ljava/lang/String;",
            "java.io.FileInputStream.<init>(Ljava/lang/String;)V",
            "java.lang.RuntimeException.<init>()V",
            "java.time.format.DateTimeFormatter.parse(Ljava/lang/CharSequence;)Ljava/time/temporal/TemporalAccessor;",
            "java.util.ArrayList$Itr.next()Ljava/lang/Object;",
            "java.net.URI.create(Ljava/lang/String;)Ljava/net/URI;",
            "java.nio.file.Paths.get(Ljava/lang/String;[Ljava/lang/String;)Ljava/nio/file/Path;",
        ] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in [
            "java.beans.Statement.execute()V",
            "java.io.FileDescriptor.close()V",
            "java.io.ObjectInputStream.readObject()Ljava/lang/Object;",
            "java.lang.ProcessImpl.destroy()V",
            "java.lang.Runtime.halt(I)V",
            "java.lang.System$2.exit(I)V",
            "java.nio.DirectByteBuffer.put(B)Ljava/nio/ByteBuffer;",
            "java.lang.reflect.Method.invoke(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;",
            "sun.nio.fs.UnixFileSystemProvider.delete(Ljava/nio/file/Path;)V",
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
