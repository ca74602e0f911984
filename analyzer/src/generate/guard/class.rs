//! Finds the instructions and method handles of one class that name something the worker replaces.

use super::{Guards, text};
use crate::program::source;
use hindsight_classfile::{ClassFile, Code, PoolBuilder, Utf8, opcode, tag};
use std::collections::{HashMap, HashSet};

/// Classes whose static methods `Guard` replaces.
const STATIC_OWNERS: [&str; 49] = [
    "java/lang/System",
    "java/lang/Math",
    "java/lang/StrictMath",
    "java/lang/ProcessBuilder",
    "java/lang/Thread",
    "java/time/Clock",
    "java/time/Instant",
    "java/time/InstantSource",
    "java/time/LocalDate",
    "java/time/LocalDateTime",
    "java/time/LocalTime",
    "java/time/MonthDay",
    "java/time/OffsetDateTime",
    "java/time/OffsetTime",
    "java/time/Year",
    "java/time/YearMonth",
    "java/time/ZonedDateTime",
    "java/time/chrono/HijrahDate",
    "java/time/chrono/JapaneseDate",
    "java/time/chrono/MinguoDate",
    "java/time/chrono/ThaiBuddhistDate",
    "java/util/Calendar",
    "java/util/Collections",
    "java/util/GregorianCalendar",
    "java/util/UUID",
    "java/util/prefs/Preferences",
    "java/net/InetAddress",
    "java/net/NetworkInterface",
    "java/lang/ClassLoader",
    "java/nio/file/Files",
    "java/nio/file/FileSystems",
    "java/nio/channels/AsynchronousFileChannel",
    "java/nio/channels/FileChannel",
    "java/nio/channels/SocketChannel",
    "java/io/File",
    "java/rmi/Naming",
    "java/rmi/registry/LocateRegistry",
    "java/rmi/server/UnicastRemoteObject",
    "javax/imageio/ImageIO",
    "javax/management/remote/JMXConnectorFactory",
    "javax/sound/midi/MidiSystem",
    "javax/sound/sampled/AudioSystem",
    "javax/tools/ToolProvider",
    "com/sun/net/httpserver/HttpServer",
    "com/sun/net/httpserver/HttpsServer",
    "com/sun/net/httpserver/SimpleFileServer",
    "com/sun/tools/attach/VirtualMachine",
    "jdk/jshell/JShell",
    "sun/misc/Signal",
];

/// Classes whose instance methods `Guard` replaces.
const OWNERS: [&str; 57] = [
    "java/lang/ClassLoader",
    "java/lang/Runtime",
    "java/lang/ProcessBuilder",
    "java/lang/ProcessHandle",
    "java/lang/Thread",
    "java/lang/ThreadGroup",
    "java/lang/reflect/Method",
    "java/lang/reflect/Constructor",
    "java/lang/invoke/MethodHandles$Lookup",
    "java/beans/Expression",
    "java/beans/Statement",
    "java/io/File",
    "java/net/InetAddress",
    "java/net/Socket",
    "java/net/ServerSocket",
    "java/net/DatagramSocket",
    "java/net/URL",
    "java/net/http/HttpClient",
    "java/net/http/WebSocket$Builder",
    "java/nio/channels/AsynchronousServerSocketChannel",
    "java/nio/channels/AsynchronousSocketChannel",
    "java/nio/channels/DatagramChannel",
    "java/nio/channels/SocketChannel",
    "java/nio/channels/ServerSocketChannel",
    "java/nio/file/SecureDirectoryStream",
    "java/nio/file/attribute/AttributeView",
    "java/nio/file/spi/FileSystemProvider",
    "java/rmi/registry/Registry",
    "java/time/chrono/Chronology",
    "java/time/chrono/HijrahChronology",
    "java/time/chrono/IsoChronology",
    "java/time/chrono/JapaneseChronology",
    "java/time/chrono/MinguoChronology",
    "java/time/chrono/ThaiBuddhistChronology",
    "java/util/concurrent/ThreadLocalRandom",
    "java/util/concurrent/TimeUnit",
    "java/util/logging/LogManager",
    "java/util/spi/ToolProvider",
    "javax/management/MBeanServerConnection",
    "javax/management/remote/JMXConnectorServer",
    "javax/naming/Context",
    "javax/net/ServerSocketFactory",
    "javax/net/SocketFactory",
    "javax/tools/Tool",
    "javax/xml/parsers/DocumentBuilder",
    "javax/xml/parsers/SAXParser",
    "javax/xml/stream/XMLOutputFactory",
    "javax/xml/transform/Transformer",
    "javax/xml/transform/TransformerFactory",
    "javax/xml/transform/sax/TransformerHandler",
    "org/w3c/dom/ls/LSSerializer",
    "org/xml/sax/XMLReader",
    "com/sun/management/HotSpotDiagnosticMXBean",
    "com/sun/net/httpserver/HttpServer",
    "com/sun/net/httpserver/spi/HttpServerProvider",
    "jdk/jfr/Recording",
    "jdk/jshell/JShell$Builder",
];

/// Classes of the JDK that inherit methods from one of these.
const HEIRS: [(&str, &str); 22] = [
    ("java/net/MulticastSocket", "java/net/DatagramSocket"),
    ("java/net/URLClassLoader", "java/lang/ClassLoader"),
    (
        "java/nio/file/attribute/AclFileAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    (
        "java/nio/file/attribute/BasicFileAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    (
        "java/nio/file/attribute/DosFileAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    (
        "java/nio/file/attribute/FileOwnerAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    (
        "java/nio/file/attribute/PosixFileAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    (
        "java/nio/file/attribute/UserDefinedFileAttributeView",
        "java/nio/file/attribute/AttributeView",
    ),
    ("java/security/SecureClassLoader", "java/lang/ClassLoader"),
    (
        "java/util/concurrent/ForkJoinWorkerThread",
        "java/lang/Thread",
    ),
    (
        "javax/management/MBeanServer",
        "javax/management/MBeanServerConnection",
    ),
    (
        "javax/management/remote/rmi/RMIConnectorServer",
        "javax/management/remote/JMXConnectorServer",
    ),
    ("javax/naming/InitialContext", "javax/naming/Context"),
    ("javax/naming/directory/DirContext", "javax/naming/Context"),
    (
        "javax/naming/directory/InitialDirContext",
        "javax/naming/Context",
    ),
    ("javax/net/ssl/SSLServerSocket", "java/net/ServerSocket"),
    (
        "javax/net/ssl/SSLServerSocketFactory",
        "javax/net/ServerSocketFactory",
    ),
    ("javax/net/ssl/SSLSocket", "java/net/Socket"),
    ("javax/net/ssl/SSLSocketFactory", "javax/net/SocketFactory"),
    ("javax/tools/DocumentationTool", "javax/tools/Tool"),
    ("javax/tools/JavaCompiler", "javax/tools/Tool"),
    (
        "javax/xml/transform/sax/SAXTransformerFactory",
        "javax/xml/transform/TransformerFactory",
    ),
];

/// Owners of static methods that differ only in their result, such as `now`.
const ALIKE: [(&str, &str); 4] = [
    ("java/net/NetworkInterface", "getByName"),
    ("java/nio/channels/AsynchronousFileChannel", "open"),
    ("com/sun/net/httpserver/HttpServer", "create"),
    ("com/sun/net/httpserver/HttpsServer", "create"),
];

/// The types that the worker uses for parameters and results whose classes do not exist in the
/// release for which it is compiled.
const YOUNG: [(&str, &str); 3] = [
    (
        "[Ljava/lang/invoke/MethodHandles$Lookup$ClassOption;",
        "[Ljava/lang/Object;",
    ),
    (
        "Lcom/sun/net/httpserver/SimpleFileServer$OutputLevel;",
        "Ljava/lang/Object;",
    ),
    // This is an interface, for which the verifier accepts any object.
    ("Ljava/time/InstantSource;", "Ljava/lang/Object;"),
];

/// The prefix of the replacements for calls of superclass methods, which must not lead back to the
/// calling class.
const OF_SUPER: &str = "super_";

/// A class whose constructor itself opens files, and that has no subclasses. In a class that does
/// so, the worker makes a formatter in place of `new`, and a method replaces each constructor.
pub(super) const FORMATTER: &str = "java/util/Formatter";
/// The target of references to such constructors: it does not fit, so they fail.
const FORMATTER_TO: &str = "(Ljava/lang/Appendable;)V";

pub(super) fn is_file(descriptor: &str) -> bool {
    descriptor.starts_with("(Ljava/lang/String;") || descriptor.starts_with("(Ljava/io/File;")
}

/// A class has no room for further constants.
#[derive(Debug)]
pub(super) struct Full;

/// Bytes that replace others from an offset on.
pub(super) type Patch = (usize, Vec<u8>);

/// A class that is being rewritten.
pub(super) struct Class<'a, 'b> {
    pub(super) guards: &'a Guards,
    pub(super) file: &'a ClassFile<'b>,
    pub(super) heirs: &'a Heirs,
    /// The replaced classes, with their replacements.
    pub(super) guarded: HashMap<&'a str, &'a str>,
    /// Those that are replaced if an object is made without arguments, and not if it is made with
    /// some.
    pub(super) asking: HashMap<&'a str, &'a str>,
    pub(super) added: PoolBuilder,
}

impl Class<'_, '_> {
    /// The replacements of instructions.
    pub(super) fn calls(&mut self, formats: bool) -> Result<Vec<Patch>, Full> {
        let file = self.file;
        let mut patches: Vec<Patch> = Vec::new();
        for method in &file.methods {
            let Ok(Some(code)) = method.code(&file.pool) else {
                continue;
            };
            for insn in code.instructions() {
                let Ok(insn) = insn else { break };
                let at = code.bytecode_offset + insn.offset;
                let patch = match insn.opcode {
                    opcode::NEW => {
                        let Ok(class) = file.pool.class(insn.constant()) else {
                            break; // the JVM will refuse it too
                        };
                        let class = text(class);
                        if let Some(stand_in) = self.asking.get(class.as_str()).copied()
                            && let Some(call) = made_of_nothing(file, &code, insn.offset)
                        {
                            let made = with_index(opcode::NEW, self.class(stand_in)?);
                            let index = self.member(stand_in, "<init>", "()V")?;
                            let call = code.bytecode_offset + call;
                            patches.push((at, made));
                            patches.push((call, with_index(opcode::INVOKESPECIAL, index)));
                            continue;
                        }
                        if formats && class == FORMATTER {
                            (self.guard("newFormatter", format!("()L{FORMATTER};"))?)
                                .map(|index| with_index(opcode::INVOKESTATIC, index))
                        } else if let Some(stand_in) = self.guarded.get(class.as_str()).copied() {
                            Some(with_index(opcode::NEW, self.class(stand_in)?))
                        } else {
                            None
                        }
                    }
                    opcode::INVOKESPECIAL if formats && is_formatter(file, insn.constant()) => {
                        let Ok(member) = file.pool.method(insn.constant()) else {
                            break;
                        };
                        let descriptor = text(member.descriptor);
                        let rest = descriptor.strip_prefix('(').unwrap_or_default();
                        (self.guard("initFormatter", format!("(L{FORMATTER};{rest}"))?)
                            .map(|index| with_index(opcode::INVOKESTATIC, index))
                    }
                    opcode::INVOKESPECIAL => match self.constructor(insn.constant())? {
                        Some(index) => Some(with_index(opcode::INVOKESPECIAL, index)),
                        None => (self.method(insn.constant(), Kind::Super)?)
                            .map(|index| with_index(opcode::INVOKESTATIC, index)),
                    },
                    opcode::INVOKEVIRTUAL | opcode::INVOKESTATIC | opcode::INVOKEINTERFACE => {
                        let kind = match insn.opcode {
                            opcode::INVOKESTATIC => Kind::Static,
                            _ => Kind::Virtual,
                        };
                        self.method(insn.constant(), kind)?.map(|index| {
                            let mut patch = with_index(opcode::INVOKESTATIC, index);
                            // The call of an interface method is longer.
                            patch.resize(insn.bytes.len(), opcode::NOP);
                            patch
                        })
                    }
                    _ => None,
                };
                patches.extend(patch.map(|patch| (at, patch)));
            }
        }
        Ok(patches)
    }

    /// The replacement of a method.
    fn method(&mut self, index: u16, kind: Kind) -> Result<Option<u16>, Full> {
        let Ok(member) = self.file.pool.method(index) else {
            return Ok(None);
        };
        let (named, name, descriptor) = (
            text(member.owner),
            text(member.name),
            text(member.descriptor),
        );
        match self.heirs.stand_in(&named, &name, &descriptor, kind) {
            Some((name, descriptor)) => self.guard(name, descriptor),
            None => Ok(None),
        }
    }

    fn constructor(&mut self, index: u16) -> Result<Option<u16>, Full> {
        let Ok(member) = self.file.pool.method(index) else {
            return Ok(None);
        };
        if member.name.as_bytes() != b"<init>" {
            return Ok(None);
        }
        let owner = text(member.owner);
        let descriptor = text(member.descriptor);
        if owner == FORMATTER && is_file(&descriptor) {
            return self.member(FORMATTER, "<init>", FORMATTER_TO).map(Some);
        }
        match self.guarded.get(owner.as_str()).copied() {
            Some(stand_in) => self.member(stand_in, "<init>", &descriptor).map(Some),
            None => Ok(None),
        }
    }

    /// The replacements of method references: `System::exit`.
    pub(super) fn handles(&mut self, patches: &mut Vec<Patch>) -> Result<(), Full> {
        const VIRTUAL: u8 = 5;
        const STATIC: u8 = 6;
        const SPECIAL: u8 = 7;
        const NEW: u8 = 8;
        const INTERFACE: u8 = 9;
        for (at, constant) in self.file.pool.raw_constants() {
            let &[tag::METHOD_HANDLE, kind, high, low] = constant else {
                continue;
            };
            let index = u16::from_be_bytes([high, low]);
            let is = |index: Option<u16>, kind: u8| index.map(|index| (kind, index));
            let found = match kind {
                VIRTUAL | INTERFACE => is(self.method(index, Kind::Virtual)?, STATIC),
                STATIC => is(self.method(index, Kind::Static)?, STATIC),
                SPECIAL => is(self.method(index, Kind::Super)?, STATIC),
                NEW => is(self.constructor(index)?, NEW),
                _ => None,
            };
            if let Some((kind, index)) = found {
                patches.push((at + 1, with_index(kind, index)));
            }
        }
        Ok(())
    }

    pub(super) fn class(&mut self, name: &str) -> Result<u16, Full> {
        let class = self
            .added
            .class(&self.file.pool, Utf8::new(name.as_bytes()));
        class.map_err(|_| Full)
    }

    fn member(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16, Full> {
        let class = self.class(class)?;
        let member = (self.added).method(class, name.as_bytes(), descriptor.as_bytes());
        member.map_err(|_| Full)
    }

    /// A method of the worker that replaces another.
    fn guard(&mut self, name: impl Into<String>, descriptor: String) -> Result<Option<u16>, Full> {
        let method = (name.into(), descriptor);
        match self.guards.methods.get(&method) {
            Some(class) => self.member(class, &method.0, &method.1).map(Some),
            None => Ok(None),
        }
    }
}

/// The kind of a method call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Static,
    Virtual,
    /// A call of the superclass's method.
    Super,
}

/// The program's classes: their superclasses, and the methods that they declare.
pub(super) struct Heirs(HashMap<String, (String, HashSet<(String, String)>)>);

impl Heirs {
    pub(super) fn of(classes: &[source::Raw]) -> Heirs {
        let mut all = HashMap::new();
        for raw in classes {
            let Ok(file) = ClassFile::parse(&raw.bytes) else {
                continue;
            };
            if let (Ok(name), Ok(Some(parent))) = (file.name(), file.super_name())
                && parent.as_bytes() != b"java/lang/Object"
            {
                let methods = file.methods.iter();
                let methods = methods.map(|method| (text(method.name), text(method.descriptor)));
                all.entry(text(name))
                    .or_insert_with(|| (text(parent), methods.collect()));
            }
        }
        let known = HEIRS.map(|(heir, of)| (heir.to_owned(), (of.to_owned(), HashSet::new())));
        all.extend(known);
        Heirs(all)
    }

    /// The name and descriptor with which `Guard` replaces a method, if it does.
    pub(super) fn stand_in(
        &self,
        named: &str,
        name: &str,
        descriptor: &str,
        kind: Kind,
    ) -> Option<(String, String)> {
        let owner = self.owner(named, name, descriptor)?;
        let owners: &[&str] = match kind {
            Kind::Static => &STATIC_OWNERS,
            Kind::Virtual | Kind::Super => &OWNERS,
        };
        if !owners.contains(&owner) {
            return None;
        }
        let mut name = name.to_owned();
        if name == "now" || kind == Kind::Static && ALIKE.contains(&(owner, &name)) {
            name.push_str(owner.rsplit('/').next().unwrap_or_default());
        }
        if kind == Kind::Super {
            name.insert_str(0, OF_SUPER);
        }
        let mut descriptor = match kind {
            Kind::Static => descriptor.to_owned(),
            Kind::Virtual | Kind::Super => {
                let rest = descriptor.strip_prefix('(').unwrap_or_default();
                format!("(L{owner};{rest}")
            }
        };
        for (young, known) in YOUNG {
            if descriptor.contains(young) {
                descriptor = descriptor.replace(young, known);
            }
        }
        Some((name, descriptor))
    }

    /// The class whose method a call leads to, if only classes of the JDK are involved; `None` if
    /// it is the program's own.
    fn owner<'a>(&'a self, named: &'a str, name: &str, descriptor: &str) -> Option<&'a str> {
        let mut owner = named;
        let method = (name.to_owned(), descriptor.to_owned());
        // A class file may name itself as its superclass.
        for _ in 0..MAX_DEPTH {
            match self.0.get(owner) {
                Some((_, methods)) if methods.contains(&method) => return None,
                Some((parent, _)) => owner = parent,
                None => return Some(owner),
            }
        }
        None
    }
}

/// The most superclasses of a class.
const MAX_DEPTH: usize = 1000;

/// Whether a constructor is that of formatters.
fn is_formatter(file: &ClassFile<'_>, index: u16) -> bool {
    let member = file.pool.method(index);
    member.is_ok_and(|member| {
        member.owner.as_bytes() == FORMATTER.as_bytes() && member.name.as_bytes() == b"<init>"
    })
}

/// The offset of the constructor's call for an object that `new` makes without arguments: directly
/// behind it, with nothing evaluated in between.
fn made_of_nothing(file: &ClassFile<'_>, code: &Code<'_>, new: usize) -> Option<usize> {
    let mut next = code.instructions_from(new).skip(1).map_while(Result::ok);
    let (copied, call) = (next.next()?, next.next()?);
    let is_call = copied.opcode == opcode::DUP && call.opcode == opcode::INVOKESPECIAL;
    let called = file
        .pool
        .method(if is_call { call.constant() } else { 0 })
        .ok()?;
    (called.name.as_bytes() == b"<init>" && called.descriptor.as_bytes() == b"()V")
        .then_some(call.offset)
}

/// The offset of the constants.
pub(super) const POOL: usize = 10;

fn with_index(first: u8, index: u16) -> Vec<u8> {
    let [high, low] = index.to_be_bytes();
    vec![first, high, low]
}
