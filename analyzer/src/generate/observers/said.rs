//! Finds answers that others give as well.

use crate::generate::asserted::Assertion;
use crate::model::values::Literal;
use std::collections::HashSet;

/// The length from which on a text is not the same as another by chance.
const MIN_TEXT: usize = 10;
/// The number of digits from which on a number is one that a text has without its point: 20.50 is
/// 2050 cents.
const MIN_DIGITS: usize = 3;

/// The words by which names of methods differ that give one number in several types.
const OF_TYPES: [&str; 9] = [
    "BigDecimal",
    "BigInteger",
    "Byte",
    "Double",
    "Exact",
    "Float",
    "Int",
    "Long",
    "Short",
];

/// The answers so far.
#[derive(Default)]
pub(super) struct Answers {
    texts: HashSet<String>,
    /// Numbers, each with the object and the name of the method, without the type.
    numbers: HashSet<(Option<usize>, String, String)>,
}

impl Answers {
    /// Whether an answer is not one of these: a long text, or a number that a method with this name
    /// gives in another type (`amount`, `amountInt`, `amountLong`).
    pub(super) fn are_new(&mut self, on: Option<usize>, name: &str, told: &Assertion) -> bool {
        if let Some(text) = told.text().filter(|text| text.len() >= MIN_TEXT) {
            return self.texts.insert(text.to_owned());
        }
        let Some(number) = number(told) else {
            return true;
        };
        let stem = OF_TYPES.iter().find_map(|ty| name.strip_suffix(ty));
        let stem = stem.unwrap_or(name).to_owned();
        self.numbers.insert((on, stem, number))
    }
}

/// The number that is asserted, of whatever type.
fn number(told: &Assertion) -> Option<String> {
    let text = match told {
        Assertion::Equals(Literal::Int(number)) => number.to_string(),
        Assertion::Equals(Literal::Box(_, text)) | Assertion::Text(text) => text.clone(),
        Assertion::Equals(Literal::Double(bits)) => f64::from_bits(*bits).to_string(),
        Assertion::Equals(Literal::Float(bits)) => f32::from_bits(*bits).to_string(),
        _ => return None,
    };
    let is_number = text.ends_with(|last: char| last.is_ascii_digit())
        && text
            .bytes()
            .all(|one| matches!(one, b'0'..=b'9' | b'-' | b'.'));
    let whole = text.strip_suffix(".0").unwrap_or(&text);
    is_number.then(|| whole.to_owned())
}

/// Whether a text contains what is asserted, as a word or number of its own and not as a part of a
/// longer one; or a number, in another unit.
pub(super) fn mentions(text: &str, told: &Assertion) -> bool {
    let number = number(told);
    if let Some(number) = &number {
        let digits = digits(number);
        let numbers = text.split(|one: char| !one.is_ascii_digit() && one != '.');
        if digits.len() >= MIN_DIGITS && numbers.map(self::digits).any(|one| one == digits) {
            return true;
        }
    }
    let told = match told {
        Assertion::Equals(Literal::Enum(_, name)) => name.clone(),
        told => match number.as_deref().or_else(|| told.text()) {
            Some(told) => told.to_owned(),
            None => return false,
        },
    };
    let in_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(&told).any(|(at, told)| {
        let before = text[..at].chars().next_back();
        let after = text[at + told.len()..].chars().next();
        !told.is_empty() && !in_word(before) && !in_word(after)
    })
}

/// The digits of a number, without zeros in front.
fn digits(number: &str) -> String {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(number: i64) -> Assertion {
        Assertion::Equals(Literal::Int(number))
    }

    fn of_object(text: &str) -> Assertion {
        Assertion::Text(text.to_owned())
    }

    #[test]
    fn one_number_in_several_types_is_one_answer() {
        let mut answers = Answers::default();
        let mut new = |name: &str, told: Assertion| answers.are_new(Some(0), name, &told);
        assert!(new("getAmountMinor", of_object("2050")));
        assert!(!new("getAmountMinorInt", int(2050)));
        assert!(!new("getAmountMinorLong", int(2050)));
        // It may be another number by chance, or another one.
        assert!(new("size", int(2050)));
        assert!(new("getAmountMinorInt", int(20)));
        assert!(!answers.are_new(Some(0), "size", &int(2050)));
        assert!(answers.are_new(Some(1), "size", &int(2050)));
    }

    #[test]
    fn a_text_says_its_numbers_in_other_units() {
        let money = "EUR 20.50";
        for told in [of_object("20.50"), int(20), int(2050), of_object("2050")] {
            assert!(mentions(money, &told), "{told:?}");
        }
        // These are parts of it, or too short for that.
        for told in [int(2), int(5), int(205), of_object("0")] {
            assert!(!mentions(money, &told), "{told:?}");
        }
        assert!(!mentions("EUR 1.2", &int(12)));
    }
}
