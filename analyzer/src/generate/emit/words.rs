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

/// A line within 100 columns, broken behind commas that stand in no text.
pub(super) fn wrap(line: &str) -> String {
    const WIDTH: usize = 100;
    let mut out = String::new();
    for line in line.split("\n        ") {
        let mut rest = line;
        let mut indent = "        ";
        while indent.len() + rest.chars().count() > WIDTH {
            let room = WIDTH - indent.len();
            let Some(at) = comma(rest, room) else { break };
            let (head, tail) = rest.split_at(at);
            out.push_str(&format!("{indent}{}\n", head.trim_end()));
            rest = tail.trim_start();
            indent = "                ";
        }
        out.push_str(&format!("{indent}{rest}\n"));
    }
    out
}

/// The place behind the last comma within `room`, or else behind the first.
fn comma(line: &str, room: usize) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut last = None;
    for (count, (at, c)) in line.char_indices().enumerate() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if let Some(open) = quote {
            if c == open {
                quote = None;
            }
        } else if c == '"' || c == '\'' {
            quote = Some(c);
        } else if c == ',' {
            if count >= room && last.is_some() {
                break;
            }
            last = Some(at + 1);
        }
    }
    last.filter(|at| *at < line.len())
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
    fn lines_are_broken_behind_commas_outside_of_texts() {
        assert_eq!(wrap("f(a, b);"), "        f(a, b);\n");
        let text = format!("f(\"{}\", 'c', \"a, \\\" b\");", "x, ".repeat(30));
        let expected = format!(
            "        f(\"{}\",\n                'c', \"a, \\\" b\");\n",
            "x, ".repeat(30)
        );
        assert_eq!(wrap(&text), expected);
        // Where there is no comma, a line stays as long as it is.
        let long = format!("f(\"{}\");", "x".repeat(120));
        assert_eq!(wrap(&long), format!("        {long}\n"));
    }
}
