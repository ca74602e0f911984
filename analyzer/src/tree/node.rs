//! A value as a tree, and its text.

/// A value and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// `Point #4`, `"text"`, `12`.
    pub head: String,
    /// The kind of the parts.
    pub shape: Shape,
    /// The parts.
    pub parts: Vec<Part>,
    /// The number of parts that were left out.
    pub more: usize,
    /// The object that it is, if it is one.
    pub object: Option<u32>,
}

/// A part of a [`Node`].
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The field name, the key, or nothing.
    pub label: String,
    /// Its value.
    pub node: Node,
    /// Whether the value is the one at entry, and differs from that at the failure.
    pub patched: bool,
}

/// The kind of the parts of a [`Node`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// There are none.
    Leaf,
    /// Fields, by name.
    Object,
    /// Elements, in order.
    List,
    /// Keys and values.
    Map,
}

impl Node {
    /// A value without parts.
    pub fn leaf(head: String) -> Node {
        Node {
            head,
            shape: Shape::Leaf,
            parts: Vec::new(),
            more: 0,
            object: None,
        }
    }

    /// The node on one line.
    pub fn inline(&self) -> String {
        let mut out = String::new();
        self.write_inline(&mut out);
        out
    }

    fn write_inline(&self, out: &mut String) {
        out.push_str(&self.head);
        let (open, close) = match self.shape {
            Shape::Leaf => return,
            Shape::List => (" [", "]"),
            Shape::Object | Shape::Map => (" {", "}"),
        };
        out.push_str(open);
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            part.write_label(self.shape, out);
            part.node.write_inline(out);
        }
        if self.more > 0 {
            let comma = if self.parts.is_empty() { "" } else { ", " };
            out.push_str(&format!("{comma}... {} more", self.more));
        }
        out.push_str(close);
    }

    /// The node as lines: on one if it fits `width`, else one part per line, indented by two
    /// blanks.
    pub fn block(&self, width: usize) -> Vec<String> {
        let inline = self.inline();
        if self.shape == Shape::Leaf || inline.chars().count() <= width {
            return vec![inline];
        }
        let mut lines = vec![self.head.clone()];
        if self.shape == Shape::List && self.parts.iter().all(|part| part.node.is_short()) {
            lines.extend(self.filled(width));
            return lines;
        }
        for (index, part) in self.parts.iter().enumerate() {
            let mut label = String::new();
            match self.shape {
                Shape::List => label.push_str(&format!("[{index}] ")),
                shape => part.write_label(shape, &mut label),
            }
            let room = width.saturating_sub(2 + label.chars().count()).max(20);
            for (row, line) in part.node.block(room).into_iter().enumerate() {
                let lead = if row == 0 { label.as_str() } else { "" };
                lines.push(format!("  {lead}{line}"));
            }
        }
        if self.more > 0 {
            lines.push(format!("  ... {} more", self.more));
        }
        lines
    }

    fn is_short(&self) -> bool {
        self.shape == Shape::Leaf && self.head.chars().count() <= 30
    }

    /// Short elements, as many per line as fit.
    fn filled(&self, width: usize) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("... {} more", self.more));
        let parts = self.parts.iter().map(|part| part.node.head.clone());
        let mut lines: Vec<String> = Vec::new();
        for word in parts.chain(more) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + word.chars().count() + 2 <= width => {
                    line.push_str(", ");
                    line.push_str(&word);
                }
                _ => lines.push(format!("  {word}")),
            }
        }
        lines
    }
}

impl Part {
    fn write_label(&self, shape: Shape, out: &mut String) {
        match shape {
            Shape::Object => {
                let mark = if self.patched { " (at entry)" } else { "" };
                out.push_str(&format!("{}{mark} = ", self.label));
            }
            Shape::Map => out.push_str(&format!("{}: ", self.label)),
            Shape::List | Shape::Leaf => {}
        }
    }
}
