//! The method behind a lambda expression or method reference.
//!
//! HotSpot implements a lambda by a hidden class whose only method of its own calls the
//! implementing method. Agents never see the class file, but they can ask for its constant pool,
//! which has that method's name.

use crate::jni::Obj;
use crate::jvmti::Jvmti;
use hindsight_classfile::{Constant, ConstantPool, MemberRef};
use hindsight_tracelog::crash::Lambda;

/// The implementing method, if `class` is a lambda's and the method can be found.
pub(crate) fn implementation(jvmti: Jvmti, class: Obj, name: &str) -> Option<Lambda> {
    if !name.contains("$$Lambda") {
        return None;
    }
    let bytes = jvmti.constant_pool(class)?;
    let pool = ConstantPool::read(&bytes).ok()?;
    target(&pool, name.split('/').next()?)
}

/// The class of a method, its name and its descriptor.
type Named = (String, String, String);

/// The member reference that is neither the superclass's constructor, nor a member of the hidden
/// class itself, nor a conversion of what is passed and returned.
///
/// Conversions that unbox arguments come before it, those that box results behind it. A target that
/// is such a conversion itself is distinguished from its neighbours by what these do.
fn target(pool: &ConstantPool<'_>, own: &str) -> Option<Lambda> {
    let mut all = Vec::new();
    for index in 1..pool.count() {
        let Ok(method) = pool.method(index) else {
            continue;
        };
        let named = named(&method);
        let (class, name) = (named.0.as_str(), named.1.as_str());
        if class == "java.lang.invoke.MethodHandle" && name == "invokeExact" {
            // The target of the handle is not in the pool.
            return None;
        }
        let super_constructor = class == "java.lang.Object" && name == "<init>";
        if !super_constructor && class != own && !class.starts_with("java.lang.invoke.") {
            all.push((named, method));
        }
    }
    let plain = all
        .iter()
        .position(|(named, _)| conversion(named).is_none());
    let place = plain.unwrap_or_else(|| match all.as_slice() {
        [(out, _), (into, _)] if conversion(out) != conversion(into) => 1,
        _ => 0,
    });
    if place >= all.len() {
        return None;
    }
    let ((class, method, descriptor), target) = all.swap_remove(place);
    // The kind is rarely known here, because the pool does not say how it is called; the replay
    // library asks the class that declares it.
    const INVOKE_STATIC: u8 = 6;
    let is_static = (1..pool.count()).any(|index| {
        let Ok(Constant::MethodHandle { kind, reference }) = pool.get(index) else {
            return false;
        };
        let same = |other: MemberRef<'_>| {
            (other.name, other.descriptor) == (target.name, target.descriptor)
        };
        kind == INVOKE_STATIC && pool.method(reference).is_ok_and(same)
    });
    Some(Lambda {
        class,
        method,
        descriptor,
        is_static,
        captured: Vec::new(),
    })
}

fn named(method: &MemberRef<'_>) -> Named {
    (
        method.owner.to_string_lossy().replace('/', "."),
        method.name.to_string_lossy().into_owned(),
        method.descriptor.to_string_lossy().into_owned(),
    )
}

/// The primitive type of a method that boxes or unboxes; `None` for other methods.
fn conversion((class, method, descriptor): &Named) -> Option<char> {
    let of_box = |primitive: char| {
        Some(match primitive {
            'Z' => "Boolean",
            'B' => "Byte",
            'C' => "Character",
            'S' => "Short",
            'I' => "Integer",
            'J' => "Long",
            'F' => "Float",
            'D' => "Double",
            _ => return None,
        })
    };
    let class = class.strip_prefix("java.lang.")?;
    let mut chars = descriptor.chars();
    match (chars.next(), chars.next(), chars.next(), chars.next()) {
        // Numbers are also unboxed from the boxes of other types.
        (Some('('), Some(')'), Some(primitive), None) if method.ends_with("Value") => {
            of_box(primitive)?;
            let boxes = "ZBCSIJFD".chars().filter_map(of_box);
            boxes
                .chain(["Number"])
                .any(|of| of == class)
                .then_some(primitive)
        }
        (Some('('), Some(primitive), Some(')'), Some('L')) if method == "valueOf" => {
            (of_box(primitive) == Some(class)).then_some(primitive)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_classfile::{PoolBuilder, Utf8};

    /// The target among methods of a pool, in its order.
    fn target(methods: &[(&str, &str, &str)]) -> Option<String> {
        let empty = ConstantPool::read(&[0, 1]).unwrap();
        let mut made = PoolBuilder::new(&empty);
        for (class, name, descriptor) in methods {
            let class = made.class(&empty, Utf8::new(class.as_bytes())).unwrap();
            made.method(class, name.as_bytes(), descriptor.as_bytes())
                .unwrap();
        }
        let bytes = [&made.count().to_be_bytes()[..], made.raw()].concat();
        let pool = ConstantPool::read(&bytes).unwrap();
        let found = super::target(&pool, "a.B$$Lambda")?;
        Some(format!("{}.{}", found.class, found.method))
    }

    const OBJECT: (&str, &str, &str) = ("java/lang/Object", "<init>", "()V");
    const OUT: (&str, &str, &str) = ("java/lang/Integer", "intValue", "()I");
    const INTO: (&str, &str, &str) = ("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;");

    #[test]
    fn conversions_are_no_targets() {
        let clamp = ("a/B", "clamp", "(I)I");
        assert_eq!(
            target(&[OBJECT, OUT, clamp, INTO]).as_deref(),
            Some("a.B.clamp")
        );
        let out = ("java/lang/Number", "doubleValue", "()D");
        let wide = ("a/B", "wide", "(D)V");
        assert_eq!(target(&[OBJECT, out, wide]).as_deref(), Some("a.B.wide"));
    }

    #[test]
    fn a_conversion_may_be_the_target() {
        assert_eq!(
            target(&[OBJECT, OUT]).as_deref(),
            Some("java.lang.Integer.intValue")
        );
        assert_eq!(
            target(&[OBJECT, INTO]).as_deref(),
            Some("java.lang.Integer.valueOf")
        );
        let parse = (
            "java/lang/Integer",
            "valueOf",
            "(Ljava/lang/String;)Ljava/lang/Integer;",
        );
        assert_eq!(
            target(&[OBJECT, parse]).as_deref(),
            Some("java.lang.Integer.valueOf")
        );
        // In a Function<Integer, Long>, the int is widened in between.
        let long = ("java/lang/Long", "valueOf", "(J)Ljava/lang/Long;");
        assert_eq!(
            target(&[OBJECT, OUT, long]).as_deref(),
            Some("java.lang.Long.valueOf")
        );
        let widens = ("java/lang/Integer", "longValue", "()J");
        assert_eq!(
            target(&[OBJECT, widens, long]).as_deref(),
            Some("java.lang.Integer.longValue")
        );
    }

    #[test]
    fn what_a_handle_leads_to_is_not_known() {
        let handle = ("java/lang/invoke/MethodHandle", "invokeExact", "(La/B;I)I");
        assert_eq!(target(&[OBJECT, OUT, handle, INTO]), None);
        assert_eq!(target(&[OBJECT]), None);
    }
}
