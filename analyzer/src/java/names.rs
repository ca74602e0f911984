//! Names in emitted sources: which names are legal, and which types are imported.

use crate::text::element_class;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use unicode_ident::{is_xid_continue, is_xid_start};

const KEYWORDS: &[&str] = &[
    "_",
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

/// Names that are not keywords but must not name a type.
const RESERVED_TYPES: &[&str] = &["var", "yield", "record", "sealed", "permits"];

/// Types of `java.lang` that sources may name by their simple names: those of Java 11, and
/// `Record`.
const JAVA_LANG: &[&str] = &[
    "AbstractMethodError",
    "Appendable",
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "ArrayStoreException",
    "AssertionError",
    "AutoCloseable",
    "Boolean",
    "BootstrapMethodError",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "ClassCastException",
    "ClassCircularityError",
    "ClassFormatError",
    "ClassLoader",
    "ClassNotFoundException",
    "ClassValue",
    "CloneNotSupportedException",
    "Cloneable",
    "Comparable",
    "Deprecated",
    "Double",
    "Enum",
    "EnumConstantNotPresentException",
    "Error",
    "Exception",
    "ExceptionInInitializerError",
    "Float",
    "FunctionalInterface",
    "IllegalAccessError",
    "IllegalAccessException",
    "IllegalArgumentException",
    "IllegalCallerException",
    "IllegalMonitorStateException",
    "IllegalStateException",
    "IllegalThreadStateException",
    "IncompatibleClassChangeError",
    "IndexOutOfBoundsException",
    "InheritableThreadLocal",
    "InstantiationError",
    "InstantiationException",
    "Integer",
    "InternalError",
    "InterruptedException",
    "Iterable",
    "LayerInstantiationException",
    "LinkageError",
    "Long",
    "Math",
    "Module",
    "ModuleLayer",
    "NegativeArraySizeException",
    "NoClassDefFoundError",
    "NoSuchFieldError",
    "NoSuchFieldException",
    "NoSuchMethodError",
    "NoSuchMethodException",
    "NullPointerException",
    "Number",
    "NumberFormatException",
    "Object",
    "OutOfMemoryError",
    "Override",
    "Package",
    "Process",
    "ProcessBuilder",
    "ProcessHandle",
    "Readable",
    "Record",
    "ReflectiveOperationException",
    "Runnable",
    "Runtime",
    "RuntimeException",
    "RuntimePermission",
    "SafeVarargs",
    "SecurityException",
    "SecurityManager",
    "Short",
    "StackOverflowError",
    "StackTraceElement",
    "StackWalker",
    "StrictMath",
    "String",
    "StringBuffer",
    "StringBuilder",
    "StringIndexOutOfBoundsException",
    "SuppressWarnings",
    "System",
    "Thread",
    "ThreadDeath",
    "ThreadGroup",
    "ThreadLocal",
    "Throwable",
    "TypeNotPresentException",
    "UnknownError",
    "UnsatisfiedLinkError",
    "UnsupportedClassVersionError",
    "UnsupportedOperationException",
    "VerifyError",
    "VirtualMachineError",
    "Void",
];

/// Whether `name` can be an identifier in a Java source (JLS 3.8).
pub fn is_identifier(name: &str) -> bool {
    is_word(name) && !KEYWORDS.contains(&name)
}

/// Whether a name consists of the characters of identifiers; it may be a keyword, since class files
/// have no keywords. The letters are those of Unicode's own identifiers (UAX 31); with a few
/// exceptions, they are Java's, too.
pub fn is_word(name: &str) -> bool {
    // Unicode allows these for compatibility with its older versions, Java does not.
    const NOT_OF_JAVA: [char; 4] = ['\u{b7}', '\u{387}', '\u{2118}', '\u{212e}'];
    let start = |c: char| is_xid_start(c) || c == '_' || c == '$';
    let part = |c: char| is_xid_continue(c) || c == '$';
    let mut chars = name.chars();
    chars.next().is_some_and(start) && chars.all(part) && !name.contains(NOT_OF_JAVA)
}

/// Whether a Java source can name a package.
pub fn is_package_name(package: &str) -> bool {
    package.is_empty() || package.split('.').all(is_identifier)
}

/// Whether `name` can name a type in a Java source.
pub fn is_type_name(name: &str) -> bool {
    is_identifier(name) && !RESERVED_TYPES.contains(&name)
}

/// The package of a class name; empty for the unnamed one.
pub fn package_of(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// Turns any text into a part of an identifier. Its letters are those that every locale has,
/// because files are named after it, and a JVM in the locale `C` finds no others.
pub fn sanitize(text: &str) -> String {
    let mut out = String::new();
    for c in deunicode::deunicode(text).chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && (out.is_empty() || out.ends_with('_'))) {
            out.push(c);
        }
    }
    let trimmed = out.trim_end_matches('_');
    if trimmed.is_empty() {
        "x".to_owned()
    } else {
        trimmed.chars().take(100).collect()
    }
}

/// The names that one source file may use, and the imports that they require.
#[derive(Debug, Clone)]
pub struct Names {
    package: String,
    /// The simple names of the package's own types, which hide those of `java.lang`.
    taken: HashSet<String>,
    imports: BTreeMap<String, String>,
    /// The first segments of all names that were returned.
    used: BTreeSet<String>,
}

impl Names {
    /// The names for a file of `package`, in which the types `taken` exist.
    pub fn new(package: &str, taken: &HashSet<String>) -> Names {
        Names {
            package: package.to_owned(),
            taken: taken.clone(),
            imports: BTreeMap::new(),
            used: BTreeSet::new(),
        }
    }

    /// The name by which the file can use a type, which is given by its package and its nested
    /// names, from the top-level class inwards, joined by dots.
    pub fn write(&mut self, package: &str, path: &str) -> String {
        let top = path.split('.').next().unwrap_or(path);
        let full = || format!("{package}.{path}");
        let hidden = self.taken.contains(top);
        let out = if package == self.package {
            match self.imports.get(top) {
                Some(import) if *import != format!("{package}.{top}") => full(),
                _ => path.to_owned(),
            }
        } else if package == "java.lang" {
            if hidden || !JAVA_LANG.contains(&top) {
                full()
            } else {
                path.to_owned()
            }
        } else {
            let import = format!("{package}.{top}");
            let clash = hidden
                || JAVA_LANG.contains(&top)
                || self.imports.get(top).is_some_and(|other| *other != import);
            if clash {
                full()
            } else {
                self.imports.insert(top.to_owned(), import);
                path.to_owned()
            }
        };
        self.used
            .insert(out.split('.').next().unwrap_or(&out).to_owned());
        out
    }

    /// The name by which the file can use a type of `java.lang`.
    pub fn java_lang(&mut self, simple: &str) -> String {
        self.write("java.lang", simple)
    }

    /// Whether a local variable of this name would hide a type or package.
    pub fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// The import declarations that `code` needs, in order.
    pub fn imports(&self, code: &str) -> String {
        let words: HashSet<&str> = code
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
            .collect();
        let needed = self.imports.iter();
        let mut lines: Vec<String> = needed
            .filter(|(name, _)| words.contains(name.as_str()))
            .map(|(_, import)| format!("import {import};\n"))
            .collect();
        lines.sort();
        lines.concat()
    }
}

/// The length from which on a class's name is too long for a variable.
const LONG_NAME: usize = 24;

/// A variable's name for a type: `order` for `shop.Order`.
pub fn of_type(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let array = element.len() < class.len();
    let element = if array && element.len() == 1 {
        "value"
    } else if array {
        element_class(element)
    } else {
        class
    };
    let simple = element.rsplit(['.', '$', '/']).next().unwrap_or(element);
    if !array && class.starts_with("java.util.") {
        // The interface that it implements says more than the implementation.
        let kinds = ["Map", "List", "Set", "Deque", "Queue"];
        if let Some(kind) = kinds.iter().find(|kind| simple.ends_with(**kind)) {
            return kind.to_ascii_lowercase();
        }
    }
    let mut chars = simple.chars().peekable();
    let mut name = String::new();
    // `URLParser` becomes `urlParser`.
    while let Some(c) = chars.next() {
        let next_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        if !name.is_empty() && next_lower || c.is_lowercase() {
            name.push(c);
            break;
        }
        name.extend(c.to_lowercase());
    }
    name.extend(chars);
    if array {
        name.push('s');
    }
    // The last word of a long name says what it is.
    if name.len() > LONG_NAME
        && let Some(at) = name.rfind(char::is_uppercase)
    {
        let word = name[at..].to_lowercase();
        if word.len() > 2 {
            name = word;
        }
    }
    if is_identifier(&name) {
        name
    } else {
        "value".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for good in ["a", "Ä1", "$x", "lambda$main$0", "record"] {
            assert!(is_identifier(good), "{good}");
        }
        // These are letters and digits to some, but not to Java.
        for bad in ["x²", "a·b", "Ⓐ", "℮"] {
            assert!(!is_identifier(bad), "{bad}");
        }
        for bad in ["", "1a", "a-b", "int", "_", "a b", "<init>", "a.b", "null"] {
            assert!(!is_identifier(bad), "{bad}");
        }
        assert!(!is_type_name("record"));
        assert!(is_word("native") && !is_word("a-b"));
        assert!(is_package_name("") && is_package_name("com.acme"));
        assert!(!is_package_name("com.acme.native"));
        assert_eq!(sanitize("lambda$main$0"), "lambda_main_0");
        assert_eq!(sanitize("*/ -"), "x");
        assert_eq!(sanitize("Größe²"), "Grosse2");
    }

    #[test]
    fn clashing_types_are_written_in_full() {
        let taken = ["Frame", "String"].map(str::to_owned).into_iter().collect();
        let mut names = Names::new("p", &taken);
        assert_eq!(names.write("p", "A.B"), "A.B");
        assert_eq!(names.write("java.lang", "String"), "java.lang.String");
        assert_eq!(names.write("java.lang", "Object"), "Object");
        assert_eq!(names.write("q", "Frame"), "q.Frame");
        assert_eq!(names.write("java.util", "Map.Entry"), "Map.Entry");
        assert_eq!(names.write("other", "Map"), "other.Map");
        assert_eq!(names.write("q", "Thread"), "q.Thread");
        assert_eq!(names.imports("Map.Entry e;"), "import java.util.Map;\n");
        assert_eq!(names.imports("other.HashMap m;"), "");
        assert!(names.is_used("Map") && names.is_used("q") && !names.is_used("z"));
    }

    #[test]
    fn names_of_types() {
        for (class, name) in [
            ("shop.Order", "order"),
            ("a.URLParser", "urlParser"),
            ("a.B$Inner", "inner"),
            ("[I", "values"),
            ("[Ljava.lang.String;", "strings"),
            ("[LLevel;", "levels"),
            ("java.util.LinkedHashMap", "map"),
            ("a.HashMap", "hashMap"),
            ("a.JsonAdapterAnnotationTypeAdapterFactory", "factory"),
            ("a.Case", "case"),
            ("a.B$1", "value"),
        ] {
            let expected = if name == "case" { "value" } else { name };
            assert_eq!(of_type(class), expected, "{class}");
        }
    }
}
