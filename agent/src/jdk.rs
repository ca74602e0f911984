//! Decides by its name whether a class is the JDK's.
//!
//! Old libraries use some of the JDK's packages as well. So there are several questions, according
//! to what a wrong answer costs.

/// Packages that only the JDK uses.
const ITS_OWN: &[&str] = &["java.", "jdk.", "sun."];

/// Packages that libraries share with the JDK.
const SHARED: &[&str] = &[
    "javax.",
    "com.sun.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "org.ietf.jgss.",
    "netscape.javascript.",
    "jrockit.",
    "org.jcp.xml.dsig.",
];

/// The packages of the JDK's own class loaders: of the class path, of modules, of accessors made
/// for reflection.
const LOADERS: &[&str] = &["jdk.internal.", "sun."];

/// Whether a class is certainly the JDK's.
pub(crate) fn is_for_sure(name: &str) -> bool {
    is_in(name, ITS_OWN)
}

/// Whether a class is the JDK's if it is in a named module or comes from the boot loader.
pub(crate) fn may_be(name: &str) -> bool {
    is_for_sure(name) || is_in(name, SHARED)
}

/// Whether no state of a program is searched for in a class, by its name: it is the JDK's and
/// outside the packages whose objects mostly belong to a program. An array has no state except its
/// own.
pub(crate) fn is_no_programs(name: &str) -> bool {
    name.starts_with('[') || is_for_sure(name) || is_in(name, &["javax."])
}

/// Whether a class loader is one of the JDK's own, by the signature of its class.
pub(crate) fn is_loader(signature: &str) -> bool {
    (signature.strip_prefix('L')).is_some_and(|name| is_in(name, LOADERS))
}

/// Whether a name, with dots or slashes, begins with one of these.
fn is_in(name: &str, packages: &[&str]) -> bool {
    packages.iter().any(|package| {
        let same = |(of, wanted): (u8, u8)| of == wanted || of == b'/' && wanted == b'.';
        name.len() >= package.len() && name.bytes().zip(package.bytes()).all(same)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_of_the_jdk() {
        for (name, for_sure, may, no_programs) in [
            ("java.util.List", true, true, true),
            ("java/util/List", true, true, true),
            ("sun.misc.Unsafe", true, true, true),
            ("javax.servlet.Filter", false, true, true),
            ("com.sun.proxy.$Proxy1", false, true, false),
            ("org.w3c.dom.Node", false, true, false),
            ("org.w3c.Other", false, false, false),
            ("javassist.CtClass", false, false, false),
            ("java", false, false, false),
            ("[La.B;", false, false, true),
        ] {
            let told = (is_for_sure(name), may_be(name), is_no_programs(name));
            assert_eq!(told, (for_sure, may, no_programs), "{name}");
        }
        for (signature, is) in [
            ("Ljdk/internal/loader/ClassLoaders$AppClassLoader;", true),
            ("Lsun/reflect/DelegatingClassLoader;", true),
            ("Ljdk/nashorn/Loader;", false),
            ("La/Loader;", false),
        ] {
            assert_eq!(is_loader(signature), is, "{signature}");
        }
    }
}
