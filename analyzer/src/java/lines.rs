//! Statements of a test's body on lines that are not too long: they are never broken within literals.

/// Columns of a line of source.
pub const WIDTH: usize = 100;
/// What stands before a statement of a test,
pub const INDENT: &str = "        ";
/// and before what goes on with it.
const DEEPER: &str = "                ";

/// A statement on several lines if it is too long for one: broken after commas and before dots, where the fewest
/// brackets are open.
pub fn filled(statement: &str) -> String {
    let mut out = String::new();
    fill(&mut out, statement, INDENT, DEEPER);
    out
}

/// Code whose lines may have become too long since it was filled, for it went into a block: those are broken again.
pub fn within(code: &str) -> String {
    let mut out = String::new();
    // Whether a statement has begun that the next line goes on with.
    let mut begun = false;
    for line in code.lines() {
        let statement = line.trim_start();
        let indent = &line[..line.len() - statement.len()];
        if statement.starts_with("//") {
            out.push_str(&format!("{line}\n"));
            continue;
        }
        match begun {
            true => fill(&mut out, statement, indent, indent),
            false => fill(&mut out, statement, indent, &format!("{indent}{INDENT}")),
        }
        begun = !statement.is_empty() && !statement.ends_with([';', '{', '}']);
    }
    out
}

fn fill<'a>(out: &mut String, statement: &str, mut indent: &'a str, deeper: &'a str) {
    let mut rest = statement;
    loop {
        let room = WIDTH.saturating_sub(indent.len());
        let at = match rest.chars().count() <= room {
            true => None,
            false => place_to_break(rest, room),
        };
        let Some(at) = at else {
            out.push_str(&format!("{indent}{rest}\n"));
            return;
        };
        out.push_str(&format!("{indent}{}\n", rest[..at].trim_end()));
        rest = rest[at..].trim_start();
        indent = deeper;
    }
}

/// Where a statement is broken: after a comma, or before the dot of a call, within `room` where the fewest brackets
/// are open, the last of these; or else the first there is.
fn place_to_break(code: &str, room: usize) -> Option<usize> {
    let places = outside_literals(code).filter_map(|(count, at, c, open)| match c {
        ',' => Some((count + 1, at + 1, open)),
        '.' if code[..at].ends_with(')') => Some((count, at, open)),
        _ => None,
    });
    let mut best: Option<(i32, usize)> = None;
    for (count, at, open) in places {
        if best.is_some() && count > room {
            break;
        }
        if best.is_none_or(|(least, _)| open <= least) {
            best = Some((open, at));
        }
    }
    best.map(|(_, at)| at).filter(|at| *at < code.len())
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
    fn statements_are_broken_where_the_fewest_brackets_are_open() {
        let long = "x".repeat(30);
        let code = format!("shop.book(new Customer(\"{long}\", 1), new Item(\"{long}\", 2, 3));");
        let expected = format!(
            "        shop.book(new Customer(\"{long}\", 1),\n                new Item(\"{long}\", 2, 3));\n"
        );
        assert_eq!(filled(&code), expected);
    }

    #[test]
    fn what_goes_into_a_block_is_broken_again() {
        let name = "x".repeat(60);
        let call = format!("Statics.keep(\"{name}\", 7, 12345678);");
        let code = filled(&call);
        assert_eq!(code.lines().count(), 1);
        let deeper: String = code
            .lines()
            .map(|line| format!("        {line}\n"))
            .collect();
        let expected = format!(
            "                Statics.keep(\"{name}\", 7,\n                        12345678);\n"
        );
        assert_eq!(within(&deeper), expected);
        // What goes on with a statement is no deeper than it was; comments stay.
        let code = format!(
            "        f(a,\n{0}g(\"{name}\", 1, 22222222));\n        // {name}, {name}\n",
            " ".repeat(24)
        );
        let expected = format!(
            "        f(a,\n{0}g(\"{name}\", 1,\n{0}22222222));\n        // {name}, {name}\n",
            " ".repeat(24)
        );
        assert_eq!(within(&code), expected);
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
