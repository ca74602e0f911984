//! Reading throwables: class, message, stack trace, causes.

use crate::agent::Agent;
use crate::jni::{Jni, Obj};
use crate::shim::is_probe;
use crate::snapshot::classes::binary_name;
use hindsight_classfile::access;
use hindsight_instrument::glob::Globs;
use hindsight_tracelog::crash::{ExceptionInfo, MAX_EXCEPTIONS, StackElement};
use std::iter;

/// The UTF-16 code units of a message that are stored; programs put whole documents there.
pub(crate) const MAX_MESSAGE: usize = 16 << 10;

/// The UTF-16 code units that are read, so that a secret is recognised that begins in the stored
/// part.
pub(crate) const MAX_READ: usize = MAX_MESSAGE + (4 << 10);

/// An exception with its causes and suppressed exceptions; the objects are in the same order.
pub(crate) struct Exceptions {
    pub(crate) infos: Vec<ExceptionInfo>,
    pub(crate) objects: Vec<Obj>,
    /// The indices of those whose stack traces could not be read, for lack of memory or of stack.
    pub(crate) unread: Vec<usize>,
}

/// The name of an object's class, with dots.
pub(crate) fn class_name(agent: &Agent, jni: Jni, object: Obj) -> String {
    let class = jni.class_of(object);
    let name = agent.jvmti.class_signature(class).map(|s| binary_name(&s));
    jni.delete_local(class);
    name.unwrap_or_else(|| "?".to_owned())
}

/// Whether the class of an object, or a superclass of it, has a name that these match.
pub(crate) fn is_of(agent: &Agent, jni: Jni, object: Obj, names: &Globs) -> bool {
    let mut class = Some(jni.class_of(object));
    while let Some(of) = class {
        let name = agent.jvmti.class_signature(of).map(|s| binary_name(&s));
        class = jni.superclass(of);
        jni.delete_local(of);
        if name.is_some_and(|name| names.matches(&name)) {
            if let Some(above) = class {
                jni.delete_local(above);
            }
            return true;
        }
    }
    false
}

/// Reads `exception`, its causes and suppressed exceptions, breadth first.
pub(crate) fn read(agent: &Agent, jni: Jni, exception: Obj) -> Exceptions {
    let ids = &agent.shim.throwable;
    let mut all = Exceptions {
        infos: Vec::new(),
        objects: vec![exception],
        unread: Vec::new(),
    };
    let mut at = 0;
    while at < all.objects.len() {
        let object = all.objects[at];
        let class = class_name(agent, jni, object);
        let message = jni
            .get_object(object, ids.message)
            .or_else(|| helpful_message(agent, jni, object, &class));
        let stack = stack_trace(agent, jni, object);
        if stack.is_none() {
            all.unread.push(at);
        }
        let mut info = ExceptionInfo {
            class,
            message: message.map(|message| {
                let len = jni.string_len(message).min(MAX_READ);
                text(&jni.string_units(message, len))
            }),
            stack: stack.unwrap_or_default(),
            ..ExceptionInfo::default()
        };
        if let Some(cause) = cause(agent, jni, object) {
            info.cause = all.number(jni, cause);
        }
        for suppressed in suppressed(agent, jni, object) {
            info.suppressed.extend(all.number(jni, suppressed));
        }
        all.infos.push(info);
        at += 1;
    }
    all
}

/// The cause of an exception; none for a throwable that is its own cause.
pub(crate) fn cause(agent: &Agent, jni: Jni, exception: Obj) -> Option<Obj> {
    jni.get_object(exception, agent.shim.throwable.cause)
        .filter(|cause| !jni.same(*cause, exception))
        .or_else(|| told_cause(agent, jni, exception))
}

/// What `getCause` would return if a class overrides it, as `InvocationTargetException`,
/// `RemoteException` and others from before Java 1.4 do: the first throwable among the fields of
/// the class that has the method. The method is not called, because it may be the program's.
fn told_cause(agent: &Agent, jni: Jni, exception: Obj) -> Option<Obj> {
    let ids = &agent.shim.throwable;
    // JNI would find the method by its name, but initialise the class first, and the thread that is
    // already doing so may be waiting for this one.
    let mut class = jni.class_of(exception);
    while !jni.same(class, *ids.class)
        && !agent
            .jvmti
            .declares(class, c"getCause", c"()Ljava/lang/Throwable;")
    {
        class = jni.superclass(class)?;
    }
    if jni.same(class, *ids.class) {
        return None;
    }
    held(agent, jni, exception, class)
        .find(|value| jni.is_instance(*value, *ids.class) && !jni.same(*value, exception))
}

/// Whether an object, such as a failed result, has an exception in a field of its class or a
/// superclass.
pub(crate) fn holds(agent: &Agent, jni: Jni, object: Obj, exception: Obj) -> bool {
    let classes = iter::successors(Some(jni.class_of(object)), |class| jni.superclass(*class));
    classes
        .flat_map(|class| held(agent, jni, object, class))
        .any(|value| jni.same(value, exception))
}

/// The objects in those fields of an object that one of its classes declares.
fn held(agent: &Agent, jni: Jni, object: Obj, class: Obj) -> impl Iterator<Item = Obj> {
    let fields = agent.jvmti.class_fields(class).into_iter();
    let instances = fields.filter(move |field| {
        let field = agent.jvmti.field(class, *field);
        field.is_some_and(|(_, descriptor, flags)| {
            flags & access::STATIC == 0 && descriptor.starts_with('L')
        })
    });
    instances.filter_map(move |field| jni.get_object(object, field))
}

/// A message as text. An unpaired surrogate is written as in Java source, `\ud800`, for people who
/// look for what is wrong with it.
fn text(units: &[u16]) -> String {
    let mut out = String::with_capacity(units.len());
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(c) => out.push(c),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out
}

/// The JVM's message about a null that it has met itself: `Cannot invoke "X.m()" because "x" is
/// null`.
///
/// The JVM computes it on request, from the code at the top of the stack trace, and keeps it in the
/// exception. It is asked only for exactly that class, whose `getMessage` is the JDK's; a subclass
/// may have another one.
fn helpful_message(agent: &Agent, jni: Jni, exception: Obj, class: &str) -> Option<Obj> {
    if class != "java.lang.NullPointerException" {
        return None;
    }
    let (class, get_message) = agent.shim.throwable.null_pointer?;
    jni.call_exact(exception, *class, get_message)
}

impl Exceptions {
    fn number(&mut self, jni: Jni, object: Obj) -> Option<u32> {
        let known = self
            .objects
            .iter()
            .position(|known| jni.same(*known, object));
        let at = match known {
            Some(at) => at,
            None if self.objects.len() < MAX_EXCEPTIONS => {
                self.objects.push(object);
                self.objects.len() - 1
            }
            None => return None,
        };
        Some(at as u32)
    }
}

fn suppressed(agent: &Agent, jni: Jni, object: Obj) -> Vec<Obj> {
    let ids = &agent.shim.throwable;
    let Some(list) = jni.get_object(object, ids.suppressed) else {
        return Vec::new();
    };
    // Only the list that `addSuppressed` makes is read; any other would need its own code to run.
    if !jni.same(jni.class_of(list), *ids.list_class) {
        return Vec::new();
    }
    let size = usize::try_from(jni.get_int(list, ids.list_size))
        .unwrap_or(0)
        .min(MAX_EXCEPTIONS);
    let Some(elements) = jni.get_object(list, ids.list_elements) else {
        return Vec::new();
    };
    (0..size.min(jni.array_len(elements)))
        .filter_map(|index| jni.array_get(elements, index))
        .collect()
}

/// The stack trace as `Throwable` itself returns it, whatever a subclass overrides; `None` if it
/// cannot be asked for lack of memory or of stack.
fn stack_trace(agent: &Agent, jni: Jni, exception: Obj) -> Option<Vec<StackElement>> {
    let ids = &agent.shim.throwable;
    let array = jni.call_exact(exception, *ids.class, ids.get_stack_trace)?;
    let text = |object: Obj, field| {
        jni.get_object(object, field).map(|string| {
            let text = jni.string(string);
            jni.delete_local(string);
            text
        })
    };
    let mut stack = Vec::new();
    for index in 0..jni.array_len(array) {
        let Some(element) = jni.array_get(array, index) else {
            continue;
        };
        let class = text(element, ids.element_class).unwrap_or_default();
        if is_probe(&class) {
            // The stack overflowed in a method that a probe has called.
            jni.delete_local(element);
            continue;
        }
        stack.push(StackElement {
            class,
            method: text(element, ids.element_method).unwrap_or_default(),
            file: text(element, ids.element_file),
            line: jni.get_int(element, ids.element_line),
        });
        jni.delete_local(element);
    }
    jni.delete_local(array);
    Some(stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_told_as_in_source() {
        assert_eq!(text(&[0x61, 0xd83d, 0xde00, 0xd800, 0x62]), "a😀\\ud800b");
    }
}
