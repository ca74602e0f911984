//! What goes on in the same thread.

use super::{Frame, Object, Role};

/// What is around a call of an object: calls of it that go on in the same thread.
/// Those of other threads are beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Whether there are any.
    pub(super) any: bool,
    /// Whether some keep its state.
    pub(super) quiet: bool,
}

impl Around {
    /// What is around a call of an object with this number, in a thread with such frames.
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
