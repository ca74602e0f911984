//! What the JDK must not be asked for by a test itself.
//!
//! The program's classes are rewritten before they run, so that what they ask the
//! JDK for can be refused ([`super::guard`]). A statement of a sequence that calls
//! the JDK has nobody in between: if the JDK was recorded, too, a run's own
//! `file.delete()` would be one.

use super::sequence::Method;

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
const CLASSES: [&str; 19] = [
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
        "java.net.URL" => name.starts_with("open") || name.starts_with("getContent"),
        "java.nio.file.Files" => !READS.contains(&name),
        _ => CLASSES.contains(&class),
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
            harms(&Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: false,
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
            "java.util.ArrayList.add(Ljava/lang/Object;)Z",
            "org.acme.File.delete()Z",
        ] {
            assert!(!call(harmless), "{harmless}");
        }
    }
}
