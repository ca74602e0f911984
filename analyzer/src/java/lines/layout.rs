//! Lays out statements by their structure: what is within a call that does not fit on a line stands
//! deeper than the call, and a call is broken before what is passed to it.

use super::{INDENT, WIDTH, fits_at, outside_literals};
use std::ops::Range;

/// The columns by which further lines stand deeper than the first.
const STEP: usize = 8;
/// The number of arguments from which on each has a line of its own, if there are calls among them.
const MANY: usize = 3;

/// Statements of a test, within [`WIDTH`] if possible. A chain of three calls or more has each on a
/// line of its own if it does not fit on one.
pub fn laid_out(statements: &str) -> String {
    let mut out = String::new();
    for statement in statements.split(&format!("\n{INDENT}")) {
        lay(&mut out, statement, INDENT.len());
    }
    out
}

/// Writes code, which may end with brackets that were opened before it.
fn lay(out: &mut String, code: &str, indent: usize) {
    if fits_at(indent, code) {
        write(out, code, indent);
        return;
    }
    let (links, assigned) = (links(code), assigned(code));
    if let Some((first, rest)) = links.split_first().filter(|(_, rest)| rest.len() > 1) {
        lay(out, first, indent);
        rest.iter().for_each(|link| lay(out, link, indent + STEP));
        return;
    }
    if let Some((variable, value)) = assigned
        && (fits_at(indent + STEP, value) || !opens_within(code, indent))
    {
        write(out, variable, indent);
        lay(out, value, indent + STEP);
        return;
    }
    match call(code, indent) {
        Some(call) => lay_call(out, &call, indent),
        None => write_text(out, code, indent),
    }
}

/// A call or an array, whose elements are on lines of their own or fill lines.
struct Call<'c> {
    /// What is before the first of them, with the bracket.
    head: &'c str,
    /// Each with what is behind it: a comma, or all that follows the last.
    passed: Vec<&'c str>,
    /// Whether there is a call or an array among them.
    is_nested: bool,
}

fn lay_call(out: &mut String, call: &Call<'_>, indent: usize) {
    let deeper = indent + STEP;
    let (first, rest) = call.passed.split_first().unwrap_or((&"", &[]));
    let is_text = first.starts_with('"');
    let alone = rest.is_empty() && !is_text;
    let many = call.passed.len() >= MANY && call.is_nested;
    if alone || many {
        write(out, call.head, indent);
        let all = call.passed.join(" ");
        match fits_at(deeper, &all) {
            true => write(out, &all, deeper),
            false => call.passed.iter().for_each(|one| lay(out, one, deeper)),
        }
        return;
    }
    let begun = format!("{}{first}", call.head);
    let (mut line, mut column) = match fits_at(indent, &begun) {
        true => (begun, indent),
        // A long text goes on where it stands.
        false if is_text => {
            write_text(out, &begun, indent);
            (String::new(), deeper)
        }
        false => {
            write(out, call.head, indent);
            ((*first).to_owned(), deeper)
        }
    };
    for one in rest {
        let longer = format!("{line} {one}");
        if !line.is_empty() && fits_at(column, &longer) {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lay(out, &line, column);
        }
        (line, column) = ((*one).to_owned(), deeper);
    }
    if !line.is_empty() {
        lay(out, &line, column);
    }
}

fn write(out: &mut String, code: &str, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(code);
    out.push('\n');
}

/// The characters outside of literals up to the first bracket that closes what was opened before:
/// the offset of each, the character, and how many brackets are open behind it.
fn own(code: &str) -> impl Iterator<Item = (usize, char, i32)> + '_ {
    let all = outside_literals(code).map(|(_, at, c, open)| (at, c, open));
    all.take_while(|(_, _, open)| *open >= 0)
}

/// The parts of a chain of calls, divided before each dot after a bracket.
fn links(code: &str) -> Vec<&str> {
    let dots =
        own(code).filter(|(at, c, open)| *c == '.' && *open == 0 && code[..*at].ends_with(')'));
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, ..) in dots {
        parts.push(&code[begin..at]);
        begin = at;
    }
    parts.push(&code[begin..]);
    parts
}

/// A variable with the sign by which it is assigned, and its value.
fn assigned(code: &str) -> Option<(&str, &str)> {
    let mut signs = own(code);
    let is_sign = |at: usize| code[..at].ends_with(' ') && code[at + 1..].starts_with(' ');
    let (at, ..) = signs.find(|(at, c, open)| *c == '=' && *open == 0 && is_sign(*at))?;
    Some((&code[..=at], &code[at + 2..]))
}

/// The brackets of code that have something in them: the offset behind each that is opened, and
/// that of the one that closes it.
fn brackets(code: &str) -> Vec<Range<usize>> {
    let mut brackets = Vec::new();
    let mut begin = None;
    for (at, c, open) in own(code) {
        match c {
            '(' | '{' if open == 1 && is_list(&code[..at]) => begin = Some(at + 1),
            ')' | '}' if open == 0 => {
                brackets.extend(
                    begin
                        .take()
                        .map(|begin| begin..at)
                        .filter(|one| !one.is_empty()),
                );
            }
            _ => {}
        }
    }
    brackets
}

/// Whether a bracket behind this code begins a list: not a cast, the parameters of a lambda or its
/// block.
fn is_list(before: &str) -> bool {
    before.ends_with("[] ")
        || before.ends_with(|last: char| last.is_alphanumeric() || "_$>]".contains(last))
}

/// Whether the first bracket is opened on the first line.
fn opens_within(code: &str, indent: usize) -> bool {
    let first = brackets(code).into_iter().next();
    first.is_some_and(|first| fits_at(indent, &code[..first.start]))
}

/// The last call of code that begins on the first line, or else the first.
fn call(code: &str, indent: usize) -> Option<Call<'_>> {
    let all = brackets(code);
    let last = all.iter().rfind(|one| fits_at(indent, &code[..one.start]));
    let of = last.or(all.first())?.clone();
    let inside = &code[of.clone()];
    let commas = own(inside).filter(|(_, c, open)| *c == ',' && *open == 0);
    let mut passed = Vec::new();
    let mut begin = of.start;
    for (at, ..) in commas {
        let end = of.start + at + 1;
        passed.push(code[begin..end].trim_start());
        begin = end;
    }
    passed.push(code[begin..].trim_start());
    Some(Call {
        head: &code[..of.start],
        is_nested: own(inside).any(|(_, c, open)| matches!(c, '(' | '{') && open == 1),
        passed,
    })
}

/// Writes a line. A string literal that is too long for any line, and is passed alone, continues
/// after a plus.
fn write_text(out: &mut String, line: &str, indent: usize) {
    let mut column = indent;
    let mut rest = line.to_owned();
    while !fits_at(column, &rest)
        && let Some(at) = place_in_text(&rest, WIDTH.saturating_sub(column))
    {
        let (head, tail) = rest.split_at(at);
        write(out, &format!("{head}\""), column);
        rest = format!("+ \"{tail}");
        column = indent + STEP;
    }
    write(out, &rest, column);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, lines: &[&str]) {
        let laid = laid_out(code);
        let laid: Vec<&str> = laid.lines().map(|line| &line[INDENT.len()..]).collect();
        assert_eq!(laid, lines);
    }

    #[test]
    fn what_fits_is_one_line() {
        check("f(a, b);", &["f(a, b);"]);
        check(
            "Money money = f(a);\n        g(b);",
            &["Money money = f(a);", "g(b);"],
        );
    }

    #[test]
    fn what_is_within_a_call_stands_deeper() {
        let x = "x".repeat(28);
        check(
            &format!("assertEquals(\"12.50\", ledger.book({x}(1), {x}(2), {x}(3)).toString());"),
            &[
                "assertEquals(\"12.50\",",
                "        ledger.book(",
                &format!("                {x}(1),"),
                &format!("                {x}(2),"),
                &format!("                {x}(3)).toString());"),
            ],
        );
        check(
            &format!("assertFalse(ledger.isDue({x}(1), Clock.fixed({x}, {x})));"),
            &[
                "assertFalse(",
                &format!("        ledger.isDue({x}(1),"),
                &format!("                Clock.fixed({x}, {x})));"),
            ],
        );
        // Plain values fill lines.
        check(
            &format!("set(1, {x}, {x}, {x}, 2);"),
            &[&format!("set(1, {x}, {x},"), &format!("        {x}, 2);")],
        );
        check(
            &format!("set(new int[] {{1, {x}, {x}, {x}, 2}});"),
            &[
                "set(",
                &format!("        new int[] {{1, {x}, {x},"),
                &format!("                {x}, 2}});"),
            ],
        );
    }

    #[test]
    fn chains_are_broken_before_each_call_but_not_within_what_is_passed() {
        let x = "x".repeat(25);
        check(
            &format!(
                "assertEquals(\"EUR 10.43\", new Discount(new Plain({x}), 10).price(order).toString());"
            ),
            &[
                "assertEquals(\"EUR 10.43\",",
                &format!("        new Discount(new Plain({x}), 10).price(order).toString());"),
            ],
        );
        let x = "x".repeat(30);
        check(
            &format!("assertSame(a, a.b(\"{x}\").c(\"{x}\", 2).d(e(1).f()));"),
            &[
                "assertSame(a,",
                &format!("        a.b(\"{x}\")"),
                &format!("                .c(\"{x}\", 2)"),
                "                .d(e(1).f()));",
            ],
        );
        check(
            &format!("Ticket ticket = office.order().owner({x}).kind({x}).sell();"),
            &[
                "Ticket ticket = office.order()",
                &format!("        .owner({x})"),
                &format!("        .kind({x})"),
                "        .sell();",
            ],
        );
        check(
            &format!("assertNotNull(Office.in({x}).order().owner({x}).sell());"),
            &[
                "assertNotNull(",
                &format!("        Office.in({x})"),
                "                .order()",
                &format!("                .owner({x})"),
                "                .sell());",
            ],
        );
    }

    #[test]
    fn a_value_is_below_its_variable_if_it_fits_there() {
        check(
            "IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> door.enter(ticket));",
            &[
                "IllegalStateException thrown =",
                "        assertThrows(IllegalStateException.class, () -> door.enter(ticket));",
            ],
        );
        let (name, made) = ("x".repeat(40), "X".repeat(45));
        check(
            &format!("{made} {name} = {made}();"),
            &[&format!("{made} {name} ="), &format!("        {made}();")],
        );
        // Its type is not divided for that.
        let (name, made) = ("x".repeat(30), "X".repeat(30));
        check(
            &format!("{made}<A, B> {name} = new {made}<>(a);"),
            &[
                &format!("{made}<A, B> {name} ="),
                &format!("        new {made}<>(a);"),
            ],
        );
    }

    #[test]
    fn blocks_and_names_stay_as_long_as_they_are() {
        let long = "x".repeat(120);
        check(
            &format!("f({long});"),
            &["f(", &format!("        {long});")],
        );
        let block = format!("() -> {{ throw new Shortage(\"milk\", {long}); }}");
        check(&format!("{block};"), &[&format!("{block};")]);
        check(
            &format!("f('(', \"a, \\\" b\", \"{}\");", "x, ".repeat(25)),
            &[
                "f('(', \"a, \\\" b\",",
                &format!("        \"{}\");", "x, ".repeat(25)),
            ],
        );
    }

    #[test]
    fn texts_that_are_too_long_go_on_behind_a_plus() {
        let (some, more) = ("x".repeat(88), "x".repeat(32));
        check(
            &format!("f(\"{some}{more}\");"),
            &[&format!("f(\"{some}\""), &format!("        + \"{more}\");")],
        );
        // A literal is divided between words, if there are any, and not within an escape.
        let words = format!("f(\"{} {}\");", "x".repeat(80), "y".repeat(20));
        assert!(laid_out(&words).contains(" \"\n                + \"yyy"));
        for escape in ["\\n", "\\\"", "\\u2028", "\\012"] {
            let all = format!("f(\"{}{escape}{more}\");", "x".repeat(87));
            let broken = laid_out(&all);
            let joined = broken.trim().replace("\"\n                + \"", "");
            assert_eq!(joined, all);
            assert!(broken.contains(&format!("+ \"{escape}")), "{broken}");
        }
        let text = "x, ".repeat(30);
        check(
            &format!("f(\"{text}\", 'c', \"a, \\\" b\");"),
            &[
                &format!("f(\"{}\"", "x, ".repeat(29)),
                "        + \"x, \",",
                "        'c', \"a, \\\" b\");",
            ],
        );
        // After a cast, only the first part would be cast; and a call would be on the second part.
        let cast = format!("(T) \"{some}{more}\");");
        check(&format!("f({cast}"), &["f(", &format!("        {cast}")]);
        let called = format!("f(\"{some}{more}\".g());");
        check(&called, &[&called]);
    }
}
