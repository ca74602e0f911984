//! Objects that have been shown in an earlier frame, and need not be shown again.
//!
//! A request comes through dozens of filters and dispatchers, each of which has the same request,
//! response and chain: the frames of a web server would show all of these again and again.

use crate::tree::{Node, Shape};
use std::collections::HashMap;

/// The number of characters from which on an object is long.
const LONG: usize = 100;
/// The number of parts, including those of its parts, that a long object must have, too.
const MANY: usize = 3;
/// The depth in an argument down to which objects are recognised separately.
const MAX_DEPTH: usize = 4;

/// The objects that have been shown.
#[derive(Debug, Default)]
pub struct Seen {
    /// By object: the last frame that has shown it, and its tree.
    shown: HashMap<u32, (usize, Node)>,
}

impl Seen {
    /// A value as it is to be shown: each long object, all of which an earlier frame shows in the
    /// same way, is replaced by that frame.
    pub fn folded(&self, node: &Node) -> Node {
        let before = node.object.and_then(|object| self.shown.get(&object));
        if let Some((frame, shown)) = before
            && is_long(node)
            && covers(shown, node)
        {
            return Node {
                object: node.object,
                ..Node::leaf(format!("{} (as in #{frame})", node.head))
            };
        }
        let mut folded = node.clone();
        for part in &mut folded.parts {
            part.node = self.folded(&part.node);
        }
        folded
    }

    /// Notes that a frame has shown a value, except what earlier ones had.
    pub fn show(&mut self, frame: usize, node: Node) {
        self.show_part(frame, node, 0);
    }

    fn show_part(&mut self, frame: usize, node: Node, depth: usize) {
        if node.shape == Shape::Leaf || depth > MAX_DEPTH {
            return;
        }
        for part in &node.parts {
            self.show_part(frame, part.node.clone(), depth + 1);
        }
        let Some(object) = node.object else { return };
        match self.shown.get(&object) {
            Some((_, shown)) if covers(shown, &node) => {}
            _ => {
                self.shown.insert(object, (frame, node));
            }
        }
    }
}

/// Whether it takes more than a line.
fn is_long(node: &Node) -> bool {
    fn measure(node: &Node, parts: &mut usize, characters: &mut usize) {
        *characters += node.head.len();
        for part in &node.parts {
            if *parts >= MANY && *characters > LONG {
                return;
            }
            *parts += 1;
            *characters += part.label.len() + 3;
            measure(&part.node, parts, characters);
        }
    }
    let (mut parts, mut characters) = (0, 0);
    measure(node, &mut parts, &mut characters);
    parts >= MANY && characters > LONG
}

/// Whether one tree shows all that another does. What is left out, or appears only as a number,
/// shows nothing.
fn covers(shown: &Node, node: &Node) -> bool {
    if node.shape == Shape::Leaf {
        return shown.head == node.head || node.object.is_some() && shown.object == node.object;
    }
    (&shown.head, shown.shape) == (&node.head, node.shape)
        && shown.parts.len() >= node.parts.len()
        && shown.parts.len() + shown.more == node.parts.len() + node.more
        && (shown.parts.iter().zip(&node.parts)).all(|(shown, part)| {
            (&shown.label, shown.patched) == (&part.label, part.patched)
                && covers(&shown.node, &part.node)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Part;

    fn leaf(head: &str) -> Node {
        Node::leaf(head.to_owned())
    }

    fn object(number: u32, fields: Vec<(&str, Node)>) -> Node {
        Node {
            shape: Shape::Object,
            object: Some(number),
            parts: (fields.into_iter())
                .map(|(label, node)| Part {
                    label: label.to_owned(),
                    node,
                    patched: false,
                })
                .collect(),
            ..leaf(&format!("Request #{number}"))
        }
    }

    fn request(path: &str) -> Node {
        let path = format!("\"{path}\"");
        let fields = vec![("a", leaf("1")), ("b", leaf("2")), ("path", leaf(&path))];
        object(1, fields)
    }

    const PATH: &str = "/orders/2026/11/27/with-a-name-that-is-so-long-that-it-would-never-fit-a-line/of-a-hundred";

    #[test]
    fn what_an_earlier_frame_shows_is_not_shown_again() {
        let mut seen = Seen::default();
        let request = request(PATH);
        assert_eq!(seen.folded(&request), request);
        seen.show(0, request.clone());
        let chain = object(2, vec![("request", request), ("next", leaf("null"))]);
        assert_eq!(
            seen.folded(&chain).inline(),
            "Request #2 {request = Request #1 (as in #0), next = null}"
        );
        seen.show(3, chain.clone());
        // The chain by itself fits on a line only as it is shown now.
        assert_eq!(seen.folded(&chain).inline(), "Request #2 (as in #3)");
    }

    #[test]
    fn another_state_is_shown() {
        let mut seen = Seen::default();
        seen.show(0, request(PATH));
        let later = request(&PATH.replace("2026", "2027"));
        assert_eq!(seen.folded(&later), later);
        seen.show(1, later.clone());
        assert_eq!(seen.folded(&later).inline(), "Request #1 (as in #1)");
        assert_eq!(seen.folded(&request(PATH)), request(PATH));
    }

    #[test]
    fn what_fits_a_line_is_shown() {
        let mut seen = Seen::default();
        seen.show(0, request("/"));
        assert_eq!(seen.folded(&request("/")), request("/"));
    }

    #[test]
    fn what_is_shown_less_deep_is_covered_and_what_is_deeper_is_not() {
        let mut seen = Seen::default();
        let inner = object(2, vec![("x", leaf("1"))]);
        let cut = Node {
            object: Some(2),
            ..leaf("Request #2 ...")
        };
        let with = |inner: &Node| {
            let mut outer = request(PATH);
            outer.parts[0].node = inner.clone();
            outer
        };
        seen.show(0, with(&cut));
        assert_eq!(seen.folded(&with(&inner)), with(&inner));
        seen.show(1, with(&inner));
        assert_eq!(seen.folded(&with(&cut)).inline(), "Request #1 (as in #1)");
    }
}
