//! Comments that contain their text and nothing else.
//!
//! Recorded text may contain anything. Only line comments are written: they end only at a line
//! terminator, and a line terminator can get into a line only as itself or as a Unicode escape.

use crate::text::is_plain;

/// The most columns of a comment line.
const WIDTH: usize = 96;

/// Makes `text` harmless within a line comment.
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        // javac takes `\u` as an escape only after an even number of further backslashes.
        if c == 'u' && backslashes % 2 == 1 {
            out.push('\\');
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        if is_plain(c) {
            out.push(c);
        } else {
            out.push_str(&format!("<{:x}>", u32::from(c)));
        }
    }
    out
}

/// `text` as line comments, each after `indent`. Long text is broken at blanks, and cut off after
/// `max_lines` lines.
pub fn lines(text: &str, indent: &str, max_lines: usize) -> String {
    let text = safe(text);
    let mut out = String::new();
    let mut rest = text.as_str();
    let mut lead = "";
    for number in 1..=max_lines {
        let room = WIDTH.saturating_sub(indent.len() + 3 + lead.len()).max(20);
        let (mut line, mut tail) = break_at(rest, room);
        let cut = number == max_lines && !tail.is_empty();
        if cut {
            line = line.trim_end();
            tail = "";
        }
        let ellipsis = if cut { " ..." } else { "" };
        let whole = format!("{indent}// {lead}{}{ellipsis}", line.trim_end());
        out.push_str(whole.trim_end());
        out.push('\n');
        rest = tail.trim_start();
        lead = "    ";
        if rest.is_empty() {
            break;
        }
    }
    out
}

/// Splits a text at the last blank within `room` characters; within a word that is too long, before
/// a parenthesis or a dot; otherwise after `room` characters.
fn break_at(text: &str, room: usize) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(room) else {
        return (text, "");
    };
    let blank = text[..end].rfind(' ').filter(|&blank| {
        // The word that starts an element of a stack trace means nothing alone.
        let is_alone = matches!(text[..blank].trim(), "" | "at");
        !is_alone && (blank > end / 2 || word_at(text, blank + 1) <= room)
    });
    let within = ['(', '.'].into_iter().find_map(|c| text[..end].rfind(c));
    match blank.or(within.filter(|&at| at > end / 2)) {
        Some(at) => text.split_at(at),
        None => {
            // The split is not between two backslashes, nor between a backslash and its `u`. A line
            // that consists of backslashes is split after an even number, so that the number of the
            // remaining ones before a `u` stays even.
            let back = text[..end].len() - text[..end].trim_end_matches('\\').len();
            let at = if back < end {
                end - back
            } else {
                end - end % 2
            };
            text.split_at(at)
        }
    }
}

/// The number of characters of the word that starts at `start`.
fn word_at(text: &str, start: usize) -> usize {
    text[start..]
        .split(' ')
        .next()
        .map_or(0, |word| word.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out() {
        assert_eq!(safe("*/ \\u000a x"), "*/ \\\\u000a x");
        assert_eq!(safe("\\\\u000a"), "\\\\u000a");
        assert_eq!(safe("\\\\\\u000a"), "\\\\\\\\u000a");
        assert_eq!(safe("a\nb\r\u{2028}"), "a<a>b<d><2028>");
    }

    #[test]
    fn long_text_is_broken_and_cut() {
        let text = "word ".repeat(100);
        let out = lines(&text, "    ", 3);
        assert_eq!(out.lines().count(), 3);
        assert!(
            out.lines()
                .all(|line| line.starts_with("    // ") && line.len() <= 104)
        );
        assert!(out.ends_with(" ...\n"));
        assert_eq!(lines("short", "", 3), "// short\n");
        assert_eq!(lines("", "", 3), "//\n");
    }

    #[test]
    fn elements_of_stack_traces_keep_their_words() {
        let class = format!("com.example.{}.Provider", "name".repeat(12));
        let at = format!("    at {class}.iterable(Provider.java:3)");
        let (before, place) = at.split_once('(').unwrap();
        assert_eq!(lines(&at, "", 2), format!("// {before}\n//     ({place}\n"));
        let title = format!("Frame 0 of the crash: {class}.iterable(Provider.java:3)");
        for line in lines(&title, "    ", 3).lines() {
            assert!(line.ends_with([':', 'e', ')']), "{line}");
        }
        let long = format!(
            "    at {}.Provider.iterable(Provider.java:3)",
            "x".repeat(72)
        );
        assert!(
            lines(&long, "", 2).contains("x.Provider\n//     .iterable(Pro"),
            "{}",
            lines(&long, "", 2)
        );
    }

    #[test]
    fn a_broken_line_starts_no_escape() {
        let text = format!("{}\\\\u000a", "x".repeat(WIDTH - 4));
        for line in lines(&text, "", 5).lines() {
            assert!(!line.contains("\\u") || line.contains("\\\\u"), "{line}");
        }
        // Text that is split within more backslashes than a line has room for does not get out
        // either.
        for (number, indent) in (0..300).flat_map(|n| [(n, ""), (n, " "), (n, "    ")]) {
            let text = format!("{}u000a code", "\\".repeat(number));
            for line in lines(&text, indent, 9).lines() {
                assert_eq!(safe(line), line, "{number} backslashes");
            }
        }
    }
}
