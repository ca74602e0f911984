//! Breaks the statements of a test's body into lines that are not too long.

use std::ops::Range;

/// The most columns of a source line.
pub const WIDTH: usize = 100;
/// The indentation of a statement in a test.
pub const INDENT: &str = "        ";
/// The indentation of a statement's further lines.
const DEEPER: &str = "                ";

/// A statement, on several lines if it is too long for one. It is broken after commas and before
/// dots, where the fewest brackets are open.
pub fn filled(statement: &str) -> String {
    let mut out = String::new();
    fill(&mut out, statement, INDENT, DEEPER);
    out
}

/// Breaks lines that have become too long since the code was filled, because it was put into a
/// block.
pub fn within(code: &str) -> String {
    let mut out = String::new();
    // Whether a statement continues on the next line.
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

/// Where to break a statement: after a comma, or before the dot of a call. Of the places within
/// `room` where the fewest brackets are open, it is the last; if there is none within `room`, the
/// first one behind.
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

/// A statement within [`WIDTH`]: chained calls are put below each other; other statements are
/// broken after commas outside of string literals, and then within string literals.
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
                let Some(at) = place_of_line(rest, room) else {
                    break;
                };
                let (head, tail) = rest.split_at(at);
                out.push_str(&with_texts_broken(indent, head.trim_end()));
                rest = tail.trim_start();
                indent = DEEPER;
            }
            out.push_str(&with_texts_broken(indent, rest));
            indent = DEEPER;
        }
    }
    out
}

/// Where to end a line that is too long: after a comma, or after the sign by which a variable is
/// assigned if the commas that fit belong to its type.
fn place_of_line(line: &str, room: usize) -> Option<usize> {
    let fits = |at: usize| line[..at].chars().count() <= room;
    match (comma(line, room), equals(line)) {
        (Some(comma), Some(equals)) if comma < equals && fits(equals) => Some(equals),
        (comma, equals) => comma.or(equals),
    }
}

/// Whether a statement fits on one line.
pub fn fits(statement: &str) -> bool {
    INDENT.len() + statement.chars().count() <= WIDTH
}

/// A line, with its line end. A string literal that is too long for any line, and is passed alone,
/// continues after a plus.
fn with_texts_broken(indent: &str, line: &str) -> String {
    let mut out = String::new();
    let mut indent = indent;
    let mut rest = line.to_owned();
    while indent.len() + rest.chars().count() > WIDTH {
        let Some(at) = place_in_text(&rest, WIDTH - indent.len()) else {
            break;
        };
        let (head, tail) = rest.split_at(at);
        out.push_str(&format!("{indent}{head}\"\n"));
        rest = format!("+ \"{tail}");
        indent = DEEPER;
    }
    out + indent + &rest + "\n"
}

/// Where to divide the first string literal that does not end within `room`, so that the part
/// before fits with a closing quote.
fn place_in_text(line: &str, room: usize) -> Option<usize> {
    /// The least number of characters of a literal that are worth a line.
    const LEAST: usize = 20;
    /// The most characters by which a line is shortened to end after a word.
    const WORD: usize = 20;
    let ends = |range: &Range<usize>| line[..range.end].chars().count();
    let text = texts(line).into_iter().find(|text| ends(text) > room)?;
    let (before, behind) = (line[..text.start].trim_end(), &line[text.end..]);
    let is_alone =
        before.ends_with(['(', ',', '{', '=', '+']) && behind.starts_with([')', ',', '}', ';']);
    if !is_alone {
        return None;
    }
    let begin = line[..text.start].chars().count() + 1;
    let units = units(&line[text.start + 1..text.end - 1]);
    let mut last = None;
    let mut last_word = None;
    let mut column = begin;
    for unit in units {
        column += line[text.start + 1..][unit.clone()].chars().count();
        if column + 1 > room {
            break;
        }
        let at = text.start + 1 + unit.end;
        last = Some((column, at));
        if line[..at].ends_with(|c: char| !c.is_alphanumeric()) {
            last_word = last;
        }
    }
    let (column, at) = last?;
    let word = last_word.filter(|(of_word, _)| column - of_word < WORD);
    let is_enough = column - begin >= LEAST && at < text.end - 1;
    is_enough.then_some(word.map_or(at, |(_, at)| at))
}

/// The ranges of the string literals of a line, with their quotes.
fn texts(line: &str) -> Vec<Range<usize>> {
    let mut texts = Vec::new();
    let mut begin: Option<(usize, char)> = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match begin {
            _ if std::mem::take(&mut escaped) => {}
            Some(_) if c == '\\' => escaped = true,
            Some((from, '"')) if c == '"' => {
                texts.push(from..at + 1);
                begin = None;
            }
            Some((_, quote)) if c == quote => begin = None,
            None if matches!(c, '"' | '\'') => begin = Some((at, c)),
            _ => {}
        }
    }
    texts
}

/// The ranges of the characters of a literal; each escape counts as one.
fn units(text: &str) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let mut next_if = |fits: fn(char) -> bool| {
            let next = chars.next_if(|(_, c)| fits(*c));
            if let Some((at, c)) = next {
                end = at + c.len_utf8();
            }
            next.map(|(_, c)| c)
        };
        if c == '\\' {
            let digits = match next_if(|_| true) {
                Some('u') => 4,
                Some('0'..='7') => 2,
                _ => 0,
            };
            for _ in 0..digits {
                next_if(|c| c.is_ascii_hexdigit());
            }
        }
        units.push(at..end);
    }
    units
}

/// The characters of a line that are outside of literals: the number of characters before each, its
/// offset, the character, and how many brackets are open behind it.
fn outside_literals(line: &str) -> impl Iterator<Item = (usize, usize, char, i32)> + '_ {
    let mut quote = None;
    let mut escaped = false;
    let mut open = 0;
    let mut before = ' ';
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
                // The bracket begins type arguments; it is not part of a comparison or a lambda.
                '<' if before != ' ' => open += 1,
                '>' if !matches!(before, ' ' | '-') => open -= 1,
                _ => {}
            }
            before = c;
            Some((count, at, c, open))
        })
}

/// The parts of a line with at least three chained calls: it is divided before each dot after a
/// bracket, where the fewest brackets are open.
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

/// The offset behind the last comma within `room` where the fewest brackets are open, or else
/// behind the first comma.
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

/// The offset behind the sign by which a variable is assigned.
fn equals(line: &str) -> Option<usize> {
    let mut signs = outside_literals(line);
    let sign = signs.find(|(_, at, c, open)| *c == '=' && *open == 0 && line[..*at].ends_with(' '));
    sign.map(|(_, at, ..)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_behind_commas_outside_of_texts() {
        assert_eq!(by_links("f(a, b);"), "        f(a, b);\n");
        let text = format!("f(\"{}\", 'c', \"a, \\\" b\");", "x, ".repeat(30));
        let expected = format!(
            "        f(\"{}\"\n                + \"x, \",\n                'c', \"a, \\\" b\");\n",
            "x, ".repeat(29)
        );
        assert_eq!(by_links(&text), expected);
        // Chained calls are put below each other.
        let name = "x".repeat(30);
        let chain = format!("assertSame(a, a.b(\"{name}\").c(\"{name}.\", 2).d(e(1).f()));");
        let expected = format!(
            "        assertSame(a, a.b(\"{name}\")\n                .c(\"{name}.\", 2)\n                .d(e(1).f()));\n"
        );
        assert_eq!(by_links(&chain), expected);
        // A variable may be alone on its line.
        let (name, made) = ("x".repeat(40), "X".repeat(45));
        assert_eq!(
            by_links(&format!("{made} {name} = {made}();")),
            format!("        {made} {name} =\n                {made}();\n")
        );
        // Its type is not divided for that.
        let (name, made) = ("x".repeat(30), "X".repeat(30));
        assert_eq!(
            by_links(&format!("{made}<A, B> {name} = new {made}<>(a);")),
            format!("        {made}<A, B> {name} =\n                new {made}<>(a);\n")
        );
        // Without commas and string literals, a line stays as long as it is.
        let long = format!("f({});", "x".repeat(120));
        assert_eq!(by_links(&long), format!("        {long}\n"));
    }

    #[test]
    fn texts_that_are_too_long_go_on_behind_a_plus() {
        let (some, more) = ("x".repeat(88), "x".repeat(32));
        let expected = format!("        f(\"{some}\"\n                + \"{more}\");\n");
        assert_eq!(by_links(&format!("f(\"{some}{more}\");")), expected);
        // A literal is divided between words, if there are any, and not within an escape.
        let words = format!("f(\"{} {}\");", "x".repeat(80), "y".repeat(20));
        assert!(by_links(&words).contains(" \"\n                + \"yyy"));
        for escape in ["\\n", "\\\"", "\\u2028", "\\012"] {
            let all = format!("f(\"{}{escape}{more}\");", "x".repeat(87));
            let broken = by_links(&all);
            let joined = broken.trim().replace("\"\n                + \"", "");
            assert_eq!(joined, all);
            assert!(broken.contains(&format!("+ \"{escape}")), "{broken}");
        }
        // After a cast, only the first part would be cast; and a call would be on the second part.
        for one in [
            format!("f((T) \"{some}{more}\");"),
            format!("f(\"{some}{more}\".g());"),
        ] {
            assert_eq!(by_links(&one), format!("        {one}\n"));
        }
    }

    #[test]
    fn statements_are_broken_where_the_fewest_brackets_are_open() {
        let long = "x".repeat(30);
        let code = format!("shop.book(new Customer(\"{long}\", 1), new Item(\"{long}\", 2, 3));");
        let expected = format!(
            "        shop.book(new Customer(\"{long}\", 1),\n                new Item(\"{long}\", 2, 3));\n"
        );
        assert_eq!(filled(&code), expected);
        let code = format!("Map<String, Integer> ages = f({long}, {long}, {long});");
        let expected = format!(
            "        Map<String, Integer> ages = f({long},\n                {long}, {long});\n"
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
        // The further lines of a statement keep their indentation; comments stay.
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
