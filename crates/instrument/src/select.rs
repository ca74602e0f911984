//! Which classes are instrumented: what holds with and without a JVM.

use hindsight_classfile::access;

use crate::glob::Globs;

/// Used fields that one method keeps at most.
pub const MAX_FIELDS: usize = 24;

/// Never, whatever the user asks for: the probes themselves run on these.
const NEVER: &[&str] = &["java.lang.", "jdk.internal.", "sun.misc.", "sun.invoke."];

/// Whether a class (by its name with dots) is one that the probes run on.
pub fn is_below_probes(class: &str) -> bool {
    NEVER.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether globs name a class. Who names a class means the classes within it as
/// well.
pub fn names(globs: &Globs, class: &str) -> bool {
    let outer = class.split('$').next().unwrap_or(class);
    globs.matches(class) || globs.matches(outer)
}

/// Whether a static field can have another value than its class's initialiser gives it anew, or another state
/// behind it. Tools' own fields are synthetic. `is_no_programs` tells by what begins with the name of its type, with
/// slashes, whether that is a class of the JDK that holds none of the program's state.
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
