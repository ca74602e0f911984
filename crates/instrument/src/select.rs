//! Which classes are instrumented: what holds with and without a JVM.

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
