//! Names of variables, and lines that are not too long.

/// A word that begins with a capital letter.
pub(super) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A class's name as that of a variable.
pub(super) fn lower(word: &str) -> String {
    // URLReader is urlReader.
    let upper = word.chars().take_while(|c| c.is_uppercase()).count();
    let end = match upper {
        0 | 1 => upper,
        all if all == word.chars().count() => all,
        many => many - 1,
    };
    let head = word.chars().take(end).flat_map(char::to_lowercase);
    head.chain(word.chars().skip(end)).collect()
}

/// The first words of a text as one that begins with a capital letter: `NewOld` for
/// `new & <old>`, `Day` for `DAY`.
pub(super) fn word(text: &str) -> Option<String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words = String::new();
    for part in parts.filter(|part| !part.is_empty()) {
        // It ends where the words would be too many.
        if !words.is_empty() && words.len() + part.len() > 20 {
            break;
        }
        let shouts = part.len() > 1 && part.chars().all(|c| !c.is_lowercase());
        words.push_str(&capital(&match shouts {
            true => part.to_lowercase(),
            false => part.to_owned(),
        }));
    }
    // Numbers are not read without their points.
    words.starts_with(char::is_alphabetic).then_some(words)
}

/// A line within 100 columns: calls that follow one another stand below each other, or
/// else it is broken behind commas that stand in no text.
pub(super) fn wrap(line: &str) -> String {
    const WIDTH: usize = 100;
    let mut out = String::new();
    for line in line.split("\n        ") {
        let mut indent = "        ";
        let parts = match indent.len() + line.chars().count() > WIDTH {
            true => links(line),
            false => vec![line],
        };
        for part in parts {
            let mut rest = part;
            while indent.len() + rest.chars().count() > WIDTH {
                let room = WIDTH - indent.len();
                let Some(at) = comma(rest, room) else { break };
                let (head, tail) = rest.split_at(at);
                out.push_str(&format!("{indent}{}\n", head.trim_end()));
                rest = tail.trim_start();
                indent = "                ";
            }
            out.push_str(&format!("{indent}{rest}\n"));
            indent = "                ";
        }
    }
    out
}

/// The characters of a line that are in no literal: how many are before each, where it
/// stands, and how many brackets are open behind it.
fn outside_literals(line: &str) -> impl Iterator<Item = (usize, usize, char, i32)> + '_ {
    let mut quote = None;
    let mut escaped = false;
    let mut open = 0;
    line.char_indices()
        .enumerate()
        .filter_map(move |(count, (at, c))| {
            if std::mem::take(&mut escaped) {
                return None;
            }
            if c == '\\' {
                escaped = true;
                return None;
            }
            if quote.is_some() {
                quote = quote.filter(|mark| *mark != c);
                return None;
            }
            match c {
                '"' | '\'' => quote = Some(c),
                '(' | '{' => open += 1,
                ')' | '}' => open -= 1,
                _ => {}
            }
            Some((count, at, c, open))
        })
}

/// The parts of a line whose calls follow one another, if at least three do: it is
/// divided before each dot behind a bracket, where the fewest brackets are open.
fn links(line: &str) -> Vec<&str> {
    let mut dots: Vec<(i32, usize)> = outside_literals(line)
        .filter(|(_, at, c, _)| *c == '.' && line[..*at].ends_with(')'))
        .map(|(_, at, _, open)| (open, at))
        .collect();
    let Some(least) = dots.iter().map(|(open, _)| *open).min() else {
        return vec![line];
    };
    dots.retain(|(open, _)| *open == least);
    if dots.len() < 2 {
        return vec![line];
    }
    let mut parts = Vec::new();
    let mut begin = 0;
    for (_, at) in dots {
        parts.push(&line[begin..at]);
        begin = at;
    }
    parts.push(&line[begin..]);
    parts
}

/// The place behind the last comma within `room` where the fewest brackets are open, or
/// else behind the first.
fn comma(line: &str, room: usize) -> Option<usize> {
    let mut last: Option<(i32, usize)> = None;
    for (count, at, c, open) in outside_literals(line) {
        match c {
            ',' if count >= room && last.is_some() => break,
            ',' if last.is_none_or(|(least, _)| open <= least) => last = Some((open, at + 1)),
            _ => {}
        }
    }
    last.map(|(_, at)| at).filter(|at| *at < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_types() {
        for (simple, expected) in [
            ("Stmt", "stmt"),
            ("URLReader", "urlReader"),
            ("URL", "url"),
            ("aB", "aB"),
        ] {
            assert_eq!(lower(simple), expected);
        }
    }

    #[test]
    fn texts_are_words() {
        for (text, expected) in [
            ("new & <old>", Some("NewOld")),
            ("DAY", Some("Day")),
            ("#n1", Some("N1")),
            ("<>", None),
            ("30.00", None),
            (
                "a sentence of many words indeed",
                Some("ASentenceOfManyWords"),
            ),
        ] {
            assert_eq!(word(text).as_deref(), expected);
        }
    }

    #[test]
    fn lines_are_broken_behind_commas_outside_of_texts() {
        assert_eq!(wrap("f(a, b);"), "        f(a, b);\n");
        let text = format!("f(\"{}\", 'c', \"a, \\\" b\");", "x, ".repeat(30));
        let expected = format!(
            "        f(\"{}\",\n                'c', \"a, \\\" b\");\n",
            "x, ".repeat(30)
        );
        assert_eq!(wrap(&text), expected);
        // Calls that follow one another go below each other.
        let name = "x".repeat(30);
        let chain = format!("assertSame(a, a.b(\"{name}\").c(\"{name}.\", 2).d(e(1).f()));");
        let expected = format!(
            "        assertSame(a, a.b(\"{name}\")\n                .c(\"{name}.\", 2)\n                .d(e(1).f()));\n"
        );
        assert_eq!(wrap(&chain), expected);
        // Where there is no comma, a line stays as long as it is.
        let long = format!("f(\"{}\");", "x".repeat(120));
        assert_eq!(wrap(&long), format!("        {long}\n"));
    }
}
