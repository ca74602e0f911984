//! Words in the names of variables and tests.

/// The length in bytes at which a text ends that becomes a word.
const MAX_WORD: usize = 20;

/// A word with a capital first letter.
pub(super) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The name of a class as the name of a variable.
pub(super) fn lower(word: &str) -> String {
    // URLReader becomes urlReader.
    let upper = word.chars().take_while(|c| c.is_uppercase()).count();
    let end = match upper {
        0 | 1 => upper,
        all if all == word.chars().count() => all,
        many => many - 1,
    };
    let head = word.chars().take(end).flat_map(char::to_lowercase);
    head.chain(word.chars().skip(end)).collect()
}

/// The first words of a text as one with a capital first letter: `NewOld` for `new & <old>`, `Day`
/// for `DAY`.
pub(super) fn word(text: &str) -> Option<String> {
    joined(text, MAX_WORD)
}

/// All of a constant's name as a word: `AsciiDecimalPointGroup3Space`. The ends of such names are
/// what tells them apart.
pub(super) fn constant(name: &str) -> Option<String> {
    joined(name, usize::MAX)
}

/// The first words of a text as one, as long as that is no longer than `most` bytes.
fn joined(text: &str, most: usize) -> Option<String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words = String::new();
    for part in parts.filter(|part| !part.is_empty()) {
        if !words.is_empty() && words.len() + part.len() > most {
            break;
        }
        let shouts = part.len() > 1 && part.chars().all(|c| !c.is_lowercase());
        words.push_str(&capital(&match shouts {
            true => part.to_lowercase(),
            false => part.to_owned(),
        }));
    }
    // Numbers are not readable without their points.
    words.starts_with(char::is_alphabetic).then_some(words)
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
    fn constants_keep_their_whole_names() {
        let name = "ASCII_DECIMAL_POINT_GROUP3_SPACE";
        assert_eq!(word(name).as_deref(), Some("AsciiDecimalPoint"));
        let whole = "AsciiDecimalPointGroup3Space";
        assert_eq!(constant(name).as_deref(), Some(whole));
    }
}
