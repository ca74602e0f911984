//! Breaks the statements of a test's body into lines that are not too long.
//!
//! - `layout` does so by their structure, for tests that people read.

mod layout;

pub use layout::laid_out;

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
        let at = match fits_at(indent.len(), rest) {
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

/// Whether a statement fits on one line.
pub fn fits(statement: &str) -> bool {
    fits_at(INDENT.len(), statement)
}

/// Whether code that is indented by so many columns fits on one line.
fn fits_at(indent: usize, code: &str) -> bool {
    indent + code.chars().count() <= WIDTH
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

#[cfg(test)]
mod tests {
    use super::*;

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
