//! What calls write that record their writes themselves: see `hindsight_instrument`'s trace plan.

use crate::java::descriptor::split;
use hindsight_instrument::contract::stand_ins::UNSEEN;
use hindsight_tracelog::trace::dictionary::TracedClass;

/// Whether this is not a class of the program, but the one to which method references are turned:
/// it has the names of all methods that they may call.
pub fn stands_in(class: &TracedClass) -> bool {
    class.methods.is_empty() && class.name.split('.').eq(UNSEEN.split('/'))
}

/// Whether a method of the JDK returns a copy, which is then what it has written.
pub fn copies(class: &str, name: &str) -> bool {
    name == "clone" || class == "java.util.Arrays" && name.starts_with("copyOf")
}

/// Whether a call of a `VarHandle` writes a static field. Nothing in its values shows to which
/// field the value belongs.
fn writes_static(name: &str, parameters: usize) -> bool {
    let values = match name {
        _ if name.starts_with("compareAnd") || name.starts_with("weakCompareAnd") => 2,
        _ if name.starts_with("set") || name.starts_with("getAnd") => 1,
        _ => return false,
    };
    parameters <= values
}

/// The index of the argument, counting the receiver first, to whose object a method writes that is
/// known to write unseen; `None` if it writes a static field.
pub fn written(class: &str, name: &str, descriptor: &str) -> Option<usize> {
    Some(match class {
        "java.lang.invoke.VarHandle"
            if split(descriptor).is_some_and(|(all, _)| writes_static(name, all.len())) =>
        {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_static_field_that_a_handle_writes_no_argument_is_written() {
        let written = |name, descriptor| written("java.lang.invoke.VarHandle", name, descriptor);
        for (name, of_static, of_object) in [
            ("setRelease", "(La/B;)V", "(La/C;La/B;)V"),
            ("getAndAdd", "(J)J", "(La/C;J)J"),
            ("compareAndSet", "(II)Z", "(La/C;II)Z"),
            ("weakCompareAndSetPlain", "(II)Z", "([IIII)Z"),
        ] {
            assert_eq!(written(name, of_static), None, "{name}");
            assert_eq!(written(name, of_object), Some(1), "{name}");
        }
    }
}
