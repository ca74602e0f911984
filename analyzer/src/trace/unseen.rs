//! What calls write that tell of it themselves: see `hindsight_instrument`'s trace plan.

use hindsight_instrument::contract::stand_ins::UNSEEN;
use hindsight_tracelog::trace::dictionary::TracedClass;

/// Whether this is no class of the program, but the one that method references are turned to: it has names
/// of all that they may call.
pub fn stands_in(class: &TracedClass) -> bool {
    class.methods.is_empty() && class.name.split('.').eq(UNSEEN.split('/'))
}

/// Whether a method of the JDK gives a copy, which is what it has written.
pub fn copies(class: &str, name: &str) -> bool {
    name == "clone" || class == "java.util.Arrays" && name.starts_with("copyOf")
}

/// Which argument, the receiver first, a method writes that is known to write
/// unseen. Of a static field that a `VarHandle` writes it is the value.
pub fn written(class: &str, name: &str) -> Option<usize> {
    Some(match class {
        "java.lang.System" => 2,
        "sun.misc.Unsafe" | "jdk.internal.misc.Unsafe" if name.starts_with("copy") => 3,
        "java.lang.reflect.Field"
        | "java.lang.invoke.VarHandle"
        | "sun.misc.Unsafe"
        | "jdk.internal.misc.Unsafe" => 1,
        "java.util.Arrays" | "java.lang.reflect.Array" => 0,
        class if class.starts_with("java.util.concurrent.atomic.") => {
            usize::from(class.ends_with("FieldUpdater"))
        }
        _ => return None,
    })
}
