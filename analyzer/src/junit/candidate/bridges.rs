//! Bridges: methods that compilers make, with the descriptor of an overridden method or in a class
//! that can be named, which call the real method.

use crate::java::descriptor;
use hindsight_classfile::access;
use hindsight_tracelog::crash::Frame;

/// Refuses bridges whose real method has a test, because theirs would make the same call.
pub(super) fn leave_out_bridges(frames: &[Frame], refusals: &mut [Option<String>]) {
    for outer in 1..frames.len() {
        let inner = outer - 1;
        if refusals[outer].is_none()
            && refusals[inner].is_none()
            && is_bridge_to(&frames[outer], &frames[inner])
        {
            refusals[outer] = Some(format!(
                "a bridge that the compiler has made: the test of #{inner} calls the same"
            ));
        }
    }
}

fn is_bridge_to(outer: &Frame, inner: &Frame) -> bool {
    let arity = |frame: &Frame| descriptor::split(&frame.descriptor).map(|(list, _)| list.len());
    let given = |frame: &Frame| {
        let arguments = frame.arguments.iter();
        let mut given: Vec<_> = arguments.map(|a| (a.index, a.value)).collect();
        given.sort_by_key(|(index, _)| *index);
        given
    };
    outer.access & access::BRIDGE != 0
        && outer.method == inner.method
        && outer.exception == inner.exception
        && arity(outer) == arity(inner)
        && given(outer) == given(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{Argument, Value};

    fn frame(descriptor: &str, access: u16, receiver: u32) -> Frame {
        let argument = |index, value| Argument {
            index,
            name: None,
            descriptor: "Ljava/lang/Object;".to_owned(),
            value: Value::Ref(value),
        };
        Frame {
            method: "apply".to_owned(),
            descriptor: descriptor.to_owned(),
            access,
            arguments: vec![argument(0, receiver), argument(1, 9)],
            ..Frame::default()
        }
    }

    #[test]
    fn a_bridge_has_no_test_where_the_real_method_has_one() {
        const REAL: &str = "(Ljava/lang/String;)V";
        const ERASED: &str = "(Ljava/lang/Object;)V";
        let made = access::BRIDGE | access::SYNTHETIC;
        let refused = |outer: Frame, refusal: Option<&str>| {
            let mut refusals = [refusal.map(str::to_owned), None];
            leave_out_bridges(&[frame(REAL, 0, 1), outer], &mut refusals);
            refusals[1].clone()
        };
        let reason = "a bridge that the compiler has made: the test of #0 calls the same";
        assert_eq!(
            refused(frame(ERASED, made, 1), None).as_deref(),
            Some(reason)
        );
        // Not for another object, for one of the program's own methods, or if the real method
        // cannot be called.
        assert_eq!(refused(frame(ERASED, made, 2), None), None);
        assert_eq!(refused(frame(ERASED, 0, 1), None), None);
        assert_eq!(refused(frame(ERASED, made, 1), Some("no")), None);
    }
}
