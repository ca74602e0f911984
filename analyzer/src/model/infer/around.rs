//! The calls that enclose another call in the same thread.

use super::{Frame, Object, Role};

/// The calls of an object that enclose another call of it in the same thread. Those on other
/// threads run beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Whether there are any.
    pub(super) any: bool,
    /// Whether some of them do not change the object.
    pub(super) quiet: bool,
}

impl Around {
    /// The enclosing calls of the object with this number, on a thread with these frames.
    pub(super) fn of(object: &Object, serial: u64, frames: &[Frame]) -> Around {
        if !object.shared {
            return Around {
                any: object.open > 0,
                quiet: object.quiet > 0,
            };
        }
        let parts = frames.iter().flat_map(|frame| &frame.parts);
        let mut roles = parts
            .filter(|part| part.object == serial)
            .map(|part| part.role)
            .peekable();
        Around {
            any: roles.peek().is_some(),
            quiet: roles.any(|role| role == Role::Kept),
        }
    }
}
