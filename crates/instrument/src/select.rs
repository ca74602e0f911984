//! Which classes are instrumented: the rules that apply with and without a JVM.

use hindsight_classfile::access;

use crate::glob::Globs;

/// The most used fields that one method keeps.
pub const MAX_FIELDS: usize = 24;

/// Packages whose classes are never instrumented, whatever the user asks for: the probes themselves
/// run on them.
const NEVER: &[&str] = &["java.lang.", "jdk.internal.", "sun.misc.", "sun.invoke."];

/// Whether a class, given by its name with dots, is one that the probes run on.
pub fn is_below_probes(class: &str) -> bool {
    NEVER.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether globs name a class. A glob that names a class also means the classes nested in it.
pub fn names(globs: &Globs, class: &str) -> bool {
    let outer = class.split('$').next().unwrap_or(class);
    globs.matches(class) || globs.matches(outer)
}

/// Whether a static field may have another value than the one that its class's initializer would
/// assign again, or may refer to changed state. Synthetic fields, which belong to tools, are left
/// out. `is_no_programs` says of a type's name, given with slashes and possibly with a suffix,
/// whether it is a class of the JDK that holds none of the program's state.
pub fn may_change(
    descriptor: &str,
    access: u16,
    is_no_programs: impl FnOnce(&str) -> bool,
) -> bool {
    if access & access::SYNTHETIC != 0 {
        return false;
    }
    if access & access::FINAL == 0 || descriptor.starts_with('[') {
        return true;
    }
    let Some(class) = descriptor.strip_prefix('L') else {
        return false;
    };
    let holds_others = ["java/util/", "java/lang/StringBu", "java/lang/ThreadLocal"];
    let logs = class.ends_with("Logger;") || class.ends_with("/Log;");
    !logs && (holds_others.iter().any(|prefix| class.starts_with(prefix)) || !is_no_programs(class))
}
