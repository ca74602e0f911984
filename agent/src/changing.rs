//! The classes of the JDK with mutable objects, whose writes are logged or, if they are not, must
//! be mentioned by frames.

/// Packages of the JDK with mutable objects that programs hold: collections, builders, buffers,
/// streams, formats, documents.
const PACKAGES: &[&str] = &[
    "java.util.",
    "java.io.",
    "java.nio.",
    "java.text.",
    "java.sql.",
    "jdk.internal.random.",
    "sun.util.calendar.",
    "sun.nio.cs.Stream",
    "sun.nio.cs.Surrogate",
    "com.sun.org.apache.xerces.internal.dom.",
];

/// Such classes in packages whose other classes are immutable, with their nested classes. Builders
/// among them keep a part of their state in collections: if only that were undone, a frame would
/// show a state that never existed.
const CLASSES: &[&str] = &[
    "java.lang.AbstractStringBuilder",
    "java.lang.CharSequence$1CharIterator",
    "java.lang.CharSequence$1CodePointIterator",
    "java.lang.CompoundEnumeration",
    "java.lang.ProcessBuilder",
    "java.lang.StringBuffer",
    "java.lang.StringLatin1$CharsSpliterator",
    "java.lang.StringLatin1$LinesSpliterator",
    "java.lang.StringUTF16$CharsSpliterator",
    "java.lang.StringUTF16$CodePointsSpliterator",
    "java.lang.StringUTF16$LinesSpliterator",
    "java.lang.ThreadBuilders",
    "java.lang.module.ModuleDescriptor$Builder",
    "java.time.format.DateTimeFormatterBuilder",
    "sun.util.locale.InternalLocaleBuilder",
    "sun.util.locale.provider.BreakIteratorProviderImpl",
];

/// Packages and classes of the JDK whose objects do not change in a way that matters: their caches,
/// and what an exception records on its way.
const LASTING: &[&str] = &[
    "java.lang.",
    "java.math.",
    "java.net.Inet",
    "java.time.",
    "javax.security.auth.x500.X500Principal",
    "sun.reflect.annotation.AnnotationInvocationHandler",
    "sun.util.locale.",
];

/// Such classes, with their nested classes, where other names have the same prefix.
const LASTING_CLASSES: &[&str] = &[
    "java.net.URI",
    "java.net.URL",
    "java.net.URLPermission",
    "javax.management.ObjectName",
];

/// The sorters of `java.util.Arrays`, which logs the whole array before.
const SORTERS: &[&str] = &[
    "java.util.DualPivotQuicksort",
    "java.util.TimSort",
    "java.util.ComparableTimSort",
    "java.util.ArraysParallelSortHelpers",
];

/// Whether this class of the JDK writes to fields of its own that are not logged.
pub(crate) fn changes_unseen(name: &str) -> bool {
    let lasting = LASTING.iter().any(|package| name.starts_with(package));
    !lasting && !is_one_of(LASTING_CLASSES, name) && !is_changing(name)
}

/// Whether writes of this class of the JDK must be logged if those of others are.
pub(crate) fn is_changing(name: &str) -> bool {
    let of_package = PACKAGES.iter().any(|package| name.starts_with(package));
    of_package && !is_one_of(SORTERS, name) || is_one_of(CLASSES, name)
}

/// Whether a class is one of these, or nested in one.
fn is_one_of(classes: &[&str], name: &str) -> bool {
    classes.iter().any(|class| {
        let rest = name.strip_prefix(class);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_logged_or_told() {
        for name in [
            "java.lang.CharSequence$1CharIterator",
            "java.lang.ProcessBuilder",
            "java.lang.StringBuffer",
            "java.lang.StringLatin1$CharsSpliterator",
            "java.time.format.DateTimeFormatterBuilder",
            "java.util.ArrayList$Itr",
        ] {
            assert!(is_changing(name), "{name}");
        }
        for name in ["java.awt.geom.Path2D", "java.net.URLConnection"] {
            assert!(changes_unseen(name) && !is_changing(name), "{name}");
        }
        for name in [
            "java.lang.Integer",
            "java.lang.StringLatin1",
            "java.lang.Throwable",
            "java.math.BigInteger",
            "java.net.Inet4Address",
            "java.net.URL",
            "java.time.ZoneOffset",
            "java.util.TimSort",
        ] {
            assert!(!is_changing(name), "{name}");
        }
        for name in [
            "java.lang.Throwable",
            "java.net.URI",
            "java.net.Inet6Address",
        ] {
            assert!(!changes_unseen(name), "{name}");
        }
    }
}
