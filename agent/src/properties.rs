//! The system properties that the command line or the program has set.
//!
//! They are read from the fields of `System.props`, because no code of the program may run: it can
//! have put a class of its own there. JVMTI knows only the properties with which the JVM started.

use crate::jni::{Jni, Obj};
use crate::masks;

/// The most properties that are kept of one run.
const MAX_COUNT: usize = 200;
/// The most UTF-16 code units of a name or value; anything longer is a document and is left out.
const MAX_UNITS: usize = 2000;
/// The most code units of a value that is searched for secrets: a private key may be longer than
/// what is kept.
const MAX_READ: usize = 1 << 16;
/// The most entries that are read, whatever another thread makes of the table meanwhile.
const MAX_ENTRIES: usize = 10_000;

/// Names that the JDK sets by itself, or whose values differ between machines.
const STANDARD: &[&str] = &[
    "java.class.*",
    "java.home",
    "java.io.tmpdir",
    "java.library.path",
    "java.runtime.*",
    "java.specification.*",
    "java.vendor*",
    "java.version*",
    "java.vm.*",
    "jdk.debug",
    "jdk.module.*",
    "sun.arch.data.model",
    "sun.boot.library.path",
    "sun.cpu.*",
    "sun.io.unicode.encoding",
    "sun.java.command",
    "sun.java.launcher*",
    "sun.jnu.encoding",
    "sun.management.compiler",
    "sun.nio.*",
    "sun.os.patch.level",
    "sun.stdin.encoding",
    "sun.stdout.encoding",
    "sun.stderr.encoding",
    "os.name",
    "os.arch",
    "os.version",
    "user.name",
    "user.home",
    "user.dir",
    // The default time zone and locale are recorded separately.
    "user.timezone",
    "user.language*",
    "user.country*",
    "user.script*",
    "user.variant*",
    "user.extensions*",
    "file.encoding*",
    "file.separator",
    "path.separator",
    "line.separator",
    "native.encoding",
    "stdin.encoding",
    "stdout.encoding",
    "stderr.encoding",
    "awt.toolkit",
    "gopherProxySet",
];

/// The properties as they are stored.
pub(crate) struct Properties {
    /// The names and values, in the order of names.
    pub(crate) kept: Vec<(String, String)>,
    /// The number of others, left out for their number or length.
    pub(crate) more: usize,
}

/// Reads the properties. The values of secrets are masked, and passed to `secret`.
pub(crate) fn read(
    jni: Jni,
    is_secret: &dyn Fn(&str) -> bool,
    secret: &mut dyn FnMut(&str),
) -> Properties {
    let found = jni.with_frame(entries).flatten().unwrap_or_default();
    masked(found, is_secret, secret)
}

fn masked(
    mut found: Vec<(String, String)>,
    is_secret: &dyn Fn(&str) -> bool,
    secret: &mut dyn FnMut(&str),
) -> Properties {
    found.retain(|(name, _)| !is_standard(name));
    found.sort();
    let all = found.len();
    // What is not kept is no less secret wherever else the program has it.
    let mut kept: Vec<(String, String)> = found
        .into_iter()
        .filter_map(|(name, value)| {
            let masked = masks::property(&name, &value, is_secret, secret);
            (value.encode_utf16().count() <= MAX_UNITS).then_some((name, masked))
        })
        .collect();
    kept.truncate(MAX_COUNT);
    let more = all - kept.len();
    Properties { kept, more }
}

fn is_standard(name: &str) -> bool {
    STANDARD
        .iter()
        .any(|standard| match standard.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *standard,
        })
}

/// All entries of the table behind `System.props`.
fn entries(jni: Jni) -> Option<Vec<(String, String)>> {
    let string = jni.find_class(c"java/lang/String")?;
    let system = jni.find_class(c"java/lang/System")?;
    let properties = jni.find_class(c"java/util/Properties")?;
    let table_class = jni.find_class(c"java/util/concurrent/ConcurrentHashMap")?;
    let node = jni.find_class(c"java/util/concurrent/ConcurrentHashMap$Node")?;
    let tree = jni.find_class(c"java/util/concurrent/ConcurrentHashMap$TreeBin")?;

    let map = jni.field(
        properties,
        c"map",
        c"Ljava/util/concurrent/ConcurrentHashMap;",
    )?;
    let table = jni.field(
        table_class,
        c"table",
        c"[Ljava/util/concurrent/ConcurrentHashMap$Node;",
    )?;
    let next = jni.field(
        node,
        c"next",
        c"Ljava/util/concurrent/ConcurrentHashMap$Node;",
    )?;
    let first = jni.field(
        tree,
        c"first",
        c"Ljava/util/concurrent/ConcurrentHashMap$TreeNode;",
    )?;
    let key = jni.field(node, c"key", c"Ljava/lang/Object;")?;
    let value = jni.field(node, c"val", c"Ljava/lang/Object;")?;

    let props = jni.static_object(system, c"props", c"Ljava/util/Properties;")?;
    let table = jni.get_object(jni.get_object(props, map)?, table)?;
    let text = |object: Option<Obj>, max: usize| {
        let object = object.filter(|object| jni.same(jni.class_of(*object), string))?;
        let len = jni.string_len(object);
        (len <= max).then(|| jni.string(object))
    };
    let mut found = Vec::new();
    let mut looked_at = 0;
    for index in 0..jni.array_len(table) {
        let mut entry = jni.array_get(table, index);
        while let Some(at) = entry {
            looked_at += 1;
            if looked_at > MAX_ENTRIES {
                return Some(found);
            }
            entry = if jni.same(jni.class_of(at), tree) {
                jni.get_object(at, first)
            } else {
                if let Some(name) = text(jni.get_object(at, key), MAX_UNITS)
                    && let Some(value) = text(jni.get_object(at, value), MAX_READ)
                {
                    found.push((name, value));
                }
                jni.get_object(at, next)
            };
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{MAX_COUNT, MAX_UNITS, is_standard, masked};

    /// Secrets of properties that are not kept are passed on all the same.
    #[test]
    fn secrets_are_told_of_all() {
        let property = |name: String, value: &str| (name, value.to_owned());
        let mut found: Vec<_> = (0..MAX_COUNT + 3)
            .map(|n| property(format!("a{n:04}"), "plain"))
            .collect();
        let long = "k".repeat(MAX_UNITS + 1);
        found.push(property("a.password".to_owned(), &long));
        found.push(property("z.password".to_owned(), "hidden7"));
        found.push(property("java.home".to_owned(), "/"));
        let mut told = Vec::new();
        let is_secret = |name: &str| name == "password";
        let properties = masked(found, &is_secret, &mut |secret| {
            told.push(secret.to_owned());
        });
        assert_eq!(told, [long, "hidden7".to_owned()]);
        assert_eq!((properties.kept.len(), properties.more), (MAX_COUNT, 5));
    }

    #[test]
    fn what_the_jdk_sets_is_left_out() {
        for name in [
            "java.vm.info",
            "java.vendor.url",
            "user.dir",
            "user.language.format",
            "os.arch",
            "sun.cpu.endian",
            "jdk.debug",
        ] {
            assert!(is_standard(name), "{name}");
        }
        for name in [
            "app.mode",
            "java.util.x",
            "jdk.xml.limit",
            "user.role",
            "os.flavour",
            "sun.net.inetaddr.ttl",
        ] {
            assert!(!is_standard(name), "{name}");
        }
    }
}
