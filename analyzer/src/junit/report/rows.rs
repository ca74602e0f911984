//! Decides which frames share a row in the report for people.

use super::{CrashReport, FrameReport, Verdict};
use crate::classpath::is_jdk;
use crate::java::names::package_of;
use crate::junit::candidate::{NOT_ASKED, OF_RECURSION, OF_RUNNER};
use crate::text::one_line;

/// A row of the report for people.
pub(super) struct Row<'a> {
    pub number: String,
    pub place: String,
    /// The frame, or the first of several.
    pub frame: &'a FrameReport,
    /// The last frame of a recursion that begins here.
    pub same: Option<usize>,
}

impl CrashReport {
    /// The rows, with frames folded whose text would be the same: neighbours that cannot be called
    /// for the same reason, and recursions.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut rest = self.frames.as_slice();
        while let Some(first) = rest.first() {
            let (folded, whose) = foldable(rest);
            let like = rest.iter().take_while(|frame| frame.is_like(first)).count();
            let last = |length: usize| rest[length - 1].index;
            let mut row = Row {
                number: format!("#{}", first.index),
                place: first.place(),
                frame: first,
                same: None,
            };
            let length = if folded > like {
                row.number = format!("#{}-#{}", first.index, last(folded));
                row.place = format!("{folded} frames of {whose}");
                folded
            } else {
                row.same = Some(last(like)).filter(|_| like > 1);
                like
            };
            rows.push(row);
            rest = &rest[length..];
        }
        rows
    }
}

/// The number of frames from the first on that share a row, and their package. The program's own
/// methods are named unless they are many.
fn foldable(frames: &[FrameReport]) -> (usize, &str) {
    /// The minimum number of frames of a package that are folded.
    const MANY: usize = 4;
    let Some(first) = frames.first().filter(|first| !first.gap) else {
        return (0, "");
    };
    if first.verdict != Verdict::Unsupported {
        return (0, "");
    }
    let same = |frame: &&FrameReport| {
        !frame.gap
            && frame.exception == first.exception
            && frame.verdict == first.verdict
            && frame.reason == first.reason
            && is_jdk(&frame.class) == is_jdk(&first.class)
    };
    // A recursion through other methods, up to the last frame in the middle of it.
    let is_round = |frame: &FrameReport| frame.reason.ends_with(OF_RECURSION);
    if is_round(first) {
        let round = frames.iter().take_while(|frame| {
            !frame.gap
                && frame.exception == first.exception
                && frame.verdict == first.verdict
                && (is_jdk(&frame.class) || is_round(frame))
        });
        let last = round
            .enumerate()
            .filter(|(_, frame)| is_round(frame))
            .last();
        return (last.map_or(0, |(at, _)| at + 1), "a recursion");
    }
    if first.reason == OF_RUNNER {
        let behind = frames
            .iter()
            .take_while(|frame| frame.exception == first.exception);
        return (behind.count(), "what ran the test");
    }
    if first.reason == NOT_ASKED {
        let others = (frames.iter())
            .take_while(|frame| frame.exception == first.exception && frame.reason == NOT_ASKED);
        return (others.count(), "the stack");
    }
    let alike = frames.iter().take_while(same);
    if is_jdk(&first.class) {
        return (alike.count(), "the JDK");
    }
    let (mut count, mut package) = (0, package_of(&first.class));
    for frame in alike {
        let common = common_package(package, &frame.class);
        if common.is_empty() {
            break;
        }
        (count, package) = (count + 1, common);
    }
    (if count < MANY { 0 } else { count }, package)
}

/// The package that contains a class, and another package or its enclosing ones, with at least two
/// names.
fn common_package<'a>(package: &'a str, class: &str) -> &'a str {
    let mut end = package.len();
    while !class.starts_with(&package[..end]) || class.as_bytes().get(end) != Some(&b'.') {
        match package[..end].rfind('.') {
            Some(dot) => end = dot,
            None => return "",
        }
    }
    match package[..end].contains('.') {
        true => &package[..end],
        false => "",
    }
}

impl FrameReport {
    /// Whether the row of another frame would have the same text.
    fn is_like(&self, other: &FrameReport) -> bool {
        self.place() == other.place()
            && self.descriptor == other.descriptor
            && self.exception == other.exception
            && self.verdict == other.verdict
            && self.reason == other.reason
    }

    fn place(&self) -> String {
        if self.gap {
            return "...".to_owned();
        }
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        one_line(&format!("{}.{}{line}", self.class, self.method), 200)
    }

    pub(super) fn tell(&self) -> String {
        let reason = one_line(self.reason.lines().next().unwrap_or_default(), 400);
        match &self.test {
            Some(test) => format!("{reason} -> {test}"),
            None => reason,
        }
    }
}
