//! Statements of a test's body on lines that are not too long: they are never broken within literals.

/// Columns of a line of source.
pub const WIDTH: usize = 100;
/// What stands before a statement of a test,
pub const INDENT: &str = "        ";
/// and before what goes on with it.
const DEEPER: &str = "                ";

/// A statement on as few lines as it takes, broken after commas and before dots.
pub fn filled(statement: &str) -> String {
    let mut out = String::new();
    let mut indent = INDENT;
    let mut rest = statement;
    loop {
        let room = WIDTH - indent.len();
        if rest.chars().count() <= room {
            return out + indent + rest + "\n";
        }
        let breaks = places_to_break(rest);
        let fits = |at: &&usize| rest[..**at].chars().count() <= room;
        let Some(&at) = breaks.iter().rev().find(fits).or(breaks.first()) else {
            return out + indent + rest + "\n";
        };
        out.push_str(&format!("{indent}{}\n", rest[..at].trim_end()));
        rest = rest[at..].trim_start();
        indent = DEEPER;
    }
}

/// Where a statement may be broken: after commas, and before the dots of calls.
fn places_to_break(code: &str) -> Vec<usize> {
    let places = outside_literals(code).filter_map(|(_, at, c, _)| match c {
        ',' => Some(at + 1),
        '.' if code[..at].ends_with(')') => Some(at),
        _ => None,
    });
    places.collect()
}

/// A statement within [`WIDTH`]: calls that follow one another stand below each other, or
/// else it is broken behind commas that stand in no text.
pub fn by_links(line: &str) -> String {
    let mut out = String::new();
    for line in line.split("\n        ") {
        let mut indent = INDENT;
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
                indent = DEEPER;
            }
            out.push_str(&format!("{indent}{rest}\n"));
            indent = DEEPER;
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
    fn lines_are_broken_behind_commas_outside_of_texts() {
        assert_eq!(by_links("f(a, b);"), "        f(a, b);\n");
        let text = format!("f(\"{}\", 'c', \"a, \\\" b\");", "x, ".repeat(30));
        let expected = format!(
            "        f(\"{}\",\n                'c', \"a, \\\" b\");\n",
            "x, ".repeat(30)
        );
        assert_eq!(by_links(&text), expected);
        // Calls that follow one another go below each other.
        let name = "x".repeat(30);
        let chain = format!("assertSame(a, a.b(\"{name}\").c(\"{name}.\", 2).d(e(1).f()));");
        let expected = format!(
            "        assertSame(a, a.b(\"{name}\")\n                .c(\"{name}.\", 2)\n                .d(e(1).f()));\n"
        );
        assert_eq!(by_links(&chain), expected);
        // Where there is no comma, a line stays as long as it is.
        let long = format!("f(\"{}\");", "x".repeat(120));
        assert_eq!(by_links(&long), format!("        {long}\n"));
    }

    #[test]
    fn lines_are_filled_up_to_commas_and_dots_outside_of_texts() {
        assert_eq!(filled("f(a, b);"), "        f(a, b);\n");
        let text = "x, ".repeat(30);
        let long = format!("f(\"{text}\", a.b().c(1, 2));");
        let expected = format!("        f(\"{text}\",\n                a.b().c(1, 2));\n");
        assert_eq!(filled(&long), expected);
        let name = "x".repeat(84);
        let chain = format!("a.b({name}).c('.').d();");
        let expected = format!("        a.b({name})\n                .c('.').d();\n");
        assert_eq!(filled(&chain), expected);
    }
}
