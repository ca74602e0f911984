//! Recognises collections, and other classes that hold text, by the names of classes and fields,
//! including those of libraries.

use hindsight_tracelog::crash::FieldInfo;
use std::collections::HashSet;

/// The names of the fields for key and value in entries of maps: the JDK's, and those that others
/// use.
const ENTRIES: &[(&str, &str)] = &[
    ("key", "value"),
    ("key", "val"),
    ("k", "v"),
    ("k0", "v0"),
    ("referent", "value"),
    ("name", "value"),
    ("_key", "_value"),
    ("_name", "_value"),
    ("nameB", "valueB"),
    ("singleKey", "singleValue"),
    (KEY_SET, "valueList"),
];

/// Further names of parameters for a key and its value: those that set a header, or a property of a
/// system.
const PARAMETERS: &[(&str, &str)] = &[
    ("header", "value"),
    ("headerName", "headerValue"),
    ("property", "value"),
    ("propertyName", "propertyValue"),
    ("param", "value"),
    ("paramName", "paramValue"),
    ("attribute", "value"),
    ("option", "value"),
    ("setting", "value"),
    ("variable", "value"),
];

/// The index of the key beside a value among parameters, by their names.
pub(crate) fn key_of_parameter(names: &[Option<&str>], value: usize) -> Option<usize> {
    let value = (*names.get(value)?)?;
    let pairs = ENTRIES.iter().chain(PARAMETERS);
    let mut keys = pairs.filter(|(_, of)| *of == value);
    keys.find_map(|(key, _)| names.iter().position(|name| *name == Some(key)))
}

/// The field of a sorted map that has all its keys.
pub(crate) const KEY_SET: &str = "keySet";

/// The names of key and value fields in small maps that have several.
const NUMBERED: &[(&str, &str)] = &[
    ("key1", "value1"),
    ("key2", "value2"),
    ("key3", "value3"),
    ("key4", "value4"),
];

/// The names of the fields in maps with one array of keys and one of values.
const PARALLEL: &[(&str, &str)] = &[
    ("key", "value"),
    ("keys", "values"),
    ("names", "values"),
    ("keyUniverse", "vals"),
    ("_set", "_values"),
];

/// Classes with an array in which keys and values alternate, and the field of that array.
const PAIRS: &[(&str, &str)] = &[
    ("java.util.ImmutableCollections$MapN", "table"),
    ("java.util.IdentityHashMap", "table"),
    (
        "com.google.common.collect.RegularImmutableMap",
        "alternatingKeysAndValues",
    ),
    ("okhttp3.Headers", "namesAndValues"),
    (
        "org.eclipse.collections.impl.map.mutable.UnifiedMap",
        "table",
    ),
    ("scala.collection.immutable.BitmapIndexedMapNode", "content"),
];

/// The fields of keys, and those of the values to which they belong.
pub(crate) fn entries(fields: &[FieldInfo]) -> Vec<(usize, usize)> {
    let one = find_pairs(fields, ENTRIES, &['L', '[']).next();
    let numbered = find_pairs(fields, NUMBERED, &['L', '[']);
    one.into_iter().chain(numbered).collect()
}

/// The fields with an array of keys and one of values.
pub(crate) fn parallel(fields: &[FieldInfo]) -> Option<(usize, usize)> {
    find_pairs(fields, PARALLEL, &['[']).next()
}

/// The field of a class with an array in which keys and values alternate.
pub(crate) fn pairs(class: &str, fields: &[FieldInfo]) -> Option<usize> {
    let (_, name) = PAIRS.iter().find(|(of, _)| *of == class)?;
    fields.iter().position(|field| field.name == *name)
}

/// The fields of keys and values of a class, if it has such whose types begin with one of these
/// letters.
fn find_pairs<'p>(
    fields: &'p [FieldInfo],
    names: &'p [(&str, &str)],
    letters: &'p [char],
) -> impl Iterator<Item = (usize, usize)> + 'p {
    let find = move |name: &str| {
        // Guava's maps have a set of keys in the class above the one whose entries count.
        fields.iter().rposition(|field| {
            // If an inner class uses it, scalac puts the class's name in front.
            let simple = field.name.rsplit("$$").next();
            simple == Some(name) && field.descriptor.starts_with(letters)
        })
    };
    (names.iter()).filter_map(move |(key, value)| Some((find(key)?, find(value)?)))
}

/// Whether a class belongs to a library's collections, so that it is one of these or a part of one.
pub(crate) fn is_of_collections(name: &str) -> bool {
    const PACKAGES: [&str; 10] = [
        "com.carrotsearch.hppc.",
        "com.google.common.collect.",
        "gnu.trove.",
        "io.vavr.",
        "it.unimi.dsi.fastutil.",
        "java.util.",
        "kotlin.collections.",
        "org.apache.commons.collections",
        "org.eclipse.collections.",
        "scala.collection.",
    ];
    // A library may contain others, in packages of its own.
    let is_in = |package: &&str| {
        let at = name.find(*package);
        at.is_some_and(|at| at == 0 || name.as_bytes()[at - 1] == b'.')
    };
    PACKAGES.iter().any(is_in)
}

/// Whether objects hold others, or nothing but a text: collections, optionals, text builders, and
/// what its interfaces make a map.
pub(crate) fn contains(name: &str, interfaces: &HashSet<String>) -> bool {
    const INTERFACES: [&str; 3] = [
        "java.util.Collection",
        "java.util.Map",
        "java.util.Map$Entry",
    ];
    is_of_collections(name) || is_text(name) || INTERFACES.iter().any(|of| interfaces.contains(*of))
}

/// Whether a class is one of the JDK's whose objects are a text, even if the text is an object of
/// its own.
fn is_text(name: &str) -> bool {
    const TEXTS: [&str; 3] = [
        "java.io.StringReader",
        "java.lang.StringBuffer",
        "java.lang.StringBuilder",
    ];
    // From JDK 24 on, this is the result of `Reader.of`, also inside a `StringReader`.
    TEXTS.contains(&name) || name.starts_with("java.io.Reader$")
}

/// Whether the type of a field is that of a text, or may be one.
pub(crate) fn is_of_text(field: &FieldInfo) -> bool {
    const TEXTS: [&str; 4] = ["Ljava/lang/String;", "Ljava/lang/CharSequence;", "[C", "[B"];
    TEXTS.contains(&field.descriptor.as_str())
}

/// Whether one of the fields is a text, and no other one a reference. Builders have a copy of their
/// text.
pub(crate) fn wraps_text(name: &str, fields: &[FieldInfo]) -> bool {
    is_text(name) || has_only_texts(name, fields) && references(fields).count() == 1
}

/// Whether some fields are texts, and no others references: an environment's variable has its name
/// as text and as bytes.
pub(crate) fn has_only_texts(name: &str, fields: &[FieldInfo]) -> bool {
    is_text(name) || references(fields).count() > 0 && references(fields).all(is_of_text)
}

fn references(fields: &[FieldInfo]) -> impl Iterator<Item = &FieldInfo> {
    let fields = fields.iter();
    fields.filter(|field| field.descriptor.starts_with(['L', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_known_by_package_or_interface() {
        let none = HashSet::new();
        for name in [
            "java.util.HashMap$Node",
            "com.google.common.collect.SingletonImmutableBiMap",
            "it.unimi.dsi.fastutil.objects.ObjectArrayList",
            "a.shaded.com.google.common.collect.ImmutableList",
            "scala.collection.immutable.$colon$colon",
            "java.lang.StringBuilder",
            "java.io.Reader$1",
        ] {
            assert!(contains(name, &none), "{name}");
        }
        assert!(!contains("a.Headers", &none) && !contains("myjava.util.Pair", &none));
        let map = HashSet::from(["a.Headed".to_owned(), "java.util.Map".to_owned()]);
        assert!(contains("a.Headers", &map));
    }

    #[test]
    fn keys_and_values_are_found_by_their_names() {
        let field = |name: &str, descriptor: &str| FieldInfo {
            owner: "a.Map2".to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            access: 0,
        };
        const OBJECT: &str = "Ljava/lang/Object;";
        let two = [
            field("a$Map2$$key1", OBJECT),
            field("value1", OBJECT),
            field("key2", OBJECT),
            field("value2", OBJECT),
        ];
        assert_eq!(entries(&two), [(0, 1), (2, 3)]);
        let sorted = ["keySet", "keySet", "valueList"].map(|name| field(name, OBJECT));
        assert_eq!(entries(&sorted), [(1, 2)]);
        let arrays = [
            field("value", "[Ljava/lang/Object;"),
            field("key", "[Ljava/lang/Object;"),
        ];
        assert_eq!(parallel(&arrays), Some((1, 0)));
        assert_eq!(parallel(&two), None);
    }

    #[test]
    fn parameters_are_entries_too() {
        let names = [Some("at"), Some("name"), Some("value"), None, Some("v")];
        let keys = (0..6).map(|at| key_of_parameter(&names, at));
        assert_eq!(
            keys.collect::<Vec<_>>(),
            [None, None, Some(1), None, None, None]
        );
        assert_eq!(key_of_parameter(&[Some("v"), Some("k")], 0), Some(1));
        assert_eq!(
            key_of_parameter(&[Some("header"), Some("value")], 1),
            Some(0)
        );
    }
}
