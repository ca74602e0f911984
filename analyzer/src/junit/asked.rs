//! The frames for which tests are wanted.

use super::{Error, Result};
use hindsight_instrument::glob::Globs;
use hindsight_tracelog::crash::Frame;
use std::ops::RangeInclusive;

/// Frames by their numbers or their classes.
#[derive(Debug, Clone)]
pub enum Asked {
    /// From one number to another, inclusive; 0 is the frame that threw.
    Numbers(RangeInclusive<usize>),
    /// The frames of classes whose names match.
    Classes(Globs),
}

impl Asked {
    /// Parses `3`, `0-5` or `org.acme.**`, as a user writes it.
    ///
    /// # Errors
    ///
    /// Fails for any other text, with a message that says what is accepted.
    pub fn parse(text: &str) -> Result<Asked> {
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            // Otherwise it would be searched for and never found.
            if text.is_empty() || text.contains(|c: char| c.is_whitespace() || "/#(".contains(c)) {
                return Err(Error::Frames(
                    "a frame is a number (0 threw), like 2, some are a range, like 0-5, or a glob of classes, like org.acme.**",
                ));
            }
            return Ok(Asked::Classes(Globs::new([text])));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Asked::Numbers(first..=last)),
            _ => Err(Error::Frames(
                "frames are numbers, like 2, or ranges from the lower to the higher, like 0-5",
            )),
        }
    }

    /// Whether a frame with this number is among them.
    pub fn has(&self, index: usize, frame: &Frame) -> bool {
        match self {
            Asked::Numbers(numbers) => numbers.contains(&index),
            Asked::Classes(classes) => classes.matches(&frame.class),
        }
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Asked::Numbers(numbers) if numbers.start() == numbers.end() => {
                write!(f, "{}", numbers.start())
            }
            Asked::Numbers(numbers) => write!(f, "{}-{}", numbers.start(), numbers.end()),
            Asked::Classes(classes) => {
                let patterns: Vec<&str> = classes.patterns().collect();
                f.write_str(&patterns.join(";"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_asked_for_by_number_range_and_class() {
        let asked = |text: &str| {
            let frames = ["org.acme.A", "org.acme.b.C", "java.util.D"].map(|class| Frame {
                class: class.to_owned(),
                ..Frame::default()
            });
            let asked = Asked::parse(text).expect(text);
            assert_eq!(asked.to_string(), text);
            let frames = frames.iter().enumerate();
            let found = frames.filter(|(index, frame)| asked.has(*index, frame));
            found.map(|(index, _)| index).collect::<Vec<_>>()
        };
        assert_eq!(asked("1"), [1]);
        assert_eq!(asked("1-7"), [1, 2]);
        assert_eq!(asked("org.acme.**"), [0, 1]);
        assert_eq!(asked("org.acme.*"), [0]);
        assert_eq!(asked("9"), [] as [usize; 0]);
        for wrong in [
            "",
            "3-1",
            "1,2",
            "1-",
            "a b",
            "Parser#parse",
            "99999999999999999999999",
        ] {
            assert!(Asked::parse(wrong).is_err(), "{wrong}");
        }
    }
}
