//! Literals that javac reads back as the same value.
//!
//! Unicode escapes are translated before anything else (JLS 3.3), so a line feed must not be
//! written as one, and text from a recording must not be able to produce one.

use super::names::Names;
use crate::graph::Typed;
use crate::text::is_plain;
use hindsight_tracelog::crash::Value;

/// The most code units of a string that is written into a test.
pub const MAX_STRING: usize = 2000;

/// A primitive value as a literal, whose type is exactly that of `typed`.
///
/// A value that was not stored (redacted) becomes zero. `None` for references.
pub fn primitive(typed: Typed, names: &mut Names) -> Option<String> {
    Some(match (typed.kind, typed.value) {
        (b'L' | b'[', _) | (_, Value::Ref(_)) => return None,
        (b'Z', Value::Bool(value)) => value.to_string(),
        (b'Z', Value::Int(value)) => (value != 0).to_string(),
        (b'Z', _) => "false".to_owned(),
        (b'C', Value::Int(value)) => character(value as u16),
        (b'C', _) => character(0),
        (b'B', value) => format!("(byte) {}", integer(value)),
        (b'S', value) => format!("(short) {}", integer(value)),
        (b'I', value) => match integer(value) as i32 {
            i32::MIN => format!("{}.MIN_VALUE", names.java_lang("Integer")),
            i32::MAX => format!("{}.MAX_VALUE", names.java_lang("Integer")),
            value => value.to_string(),
        },
        (b'J', value) => match integer(value) {
            i64::MIN => format!("{}.MIN_VALUE", names.java_lang("Long")),
            i64::MAX => format!("{}.MAX_VALUE", names.java_lang("Long")),
            value => format!("{value}L"),
        },
        (b'F', Value::Float(value)) => match special(f64::from(value)) {
            Some(NAN) if value.abs().to_bits() != f32::NAN.to_bits() => format!(
                "{}.intBitsToFloat(0x{:08x})",
                names.java_lang("Float"),
                value.to_bits()
            ),
            Some(constant) => format!("{}.{constant}", names.java_lang("Float")),
            None => format!("{value:?}f"),
        },
        (b'F', _) => "0.0f".to_owned(),
        (b'D', Value::Double(value)) => match special(value) {
            Some(NAN) if value.abs().to_bits() != f64::NAN.to_bits() => format!(
                "{}.longBitsToDouble(0x{:016x}L)",
                names.java_lang("Double"),
                value.to_bits()
            ),
            Some(constant) => format!("{}.{constant}", names.java_lang("Double")),
            None => format!("{value:?}"),
        },
        (b'D', _) => "0.0".to_owned(),
        _ => return None,
    })
}

fn integer(value: Value) -> i64 {
    match value {
        Value::Int(value) => value,
        Value::Bool(value) => i64::from(value),
        _ => 0,
    }
}

/// The constant that stands for all NaNs.
const NAN: &str = "NaN";

/// The constant of `Double` and `Float` for a value that no literal expresses.
pub fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some(NAN)
    } else if value == f64::INFINITY {
        Some("POSITIVE_INFINITY")
    } else if value == f64::NEG_INFINITY {
        Some("NEGATIVE_INFINITY")
    } else {
        None
    }
}

/// A character literal.
pub fn character(unit: u16) -> String {
    let mut out = String::from("'");
    match char::from_u32(u32::from(unit)) {
        Some('\'') => out.push_str("\\'"),
        Some('"') => out.push('"'),
        Some(c) => push_char(c, &mut out),
        None => out.push_str(&format!("\\u{unit:04x}")),
    }
    out.push('\'');
    out
}

/// A string literal; `None` if it is too long to be read, or for the class file.
pub fn string(units: &[u16]) -> Option<String> {
    if units.len() > MAX_STRING {
        return None;
    }
    let mut out = String::from("\"");
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(c) => push_char(c, &mut out),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
    Some(out)
}

fn push_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        // javac 16 and later take the second of two backslashes as the start of an escape if a
        // Unicode escape stands before them.
        '\\' if ends_with_escape(out) => out.push_str("\\134"),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if u32::from(c) < 0x80 && !is_plain(c) => {
            out.push_str(&format!("\\{:03o}", u32::from(c)));
        }
        c if c.is_ascii() => out.push(c),
        c => push_escape(c, out),
    }
}

fn push_escape(c: char, out: &mut String) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// A source file in which everything outside ASCII is escaped in names and comments (JLS 3.3), as
/// it is in literals. It is not known in which encoding a project reads its sources, and in another
/// one a test would mean something else.
pub fn ascii(source: String) -> String {
    if source.is_ascii() {
        return source;
    }
    let mut out = String::with_capacity(source.len());
    let mut before = ' ';
    for c in source.chars() {
        match c {
            // This is in a comment. What javac makes of a backslash after an escape depends on its
            // version.
            '\\' if !before.is_ascii() => out.push_str(" \\"),
            c if c.is_ascii() => out.push(c),
            c => push_escape(c, &mut out),
        }
        before = c;
    }
    out
}

/// Whether a text ends with a Unicode escape: its backslash is the last of an odd number of them
/// (JLS 3.3).
fn ends_with_escape(out: &str) -> bool {
    let split = out
        .len()
        .checked_sub(5)
        .and_then(|at| out.split_at_checked(at));
    split.is_some_and(|(before, tail)| {
        let slashes = before.bytes().rev().take_while(|b| *b == b'\\').count();
        slashes % 2 == 1
            && tail
                .strip_prefix('u')
                .is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, descriptor: &str, expected: &str) {
        let mut names = Names::new("", &Default::default());
        let typed = Typed::new(value, descriptor);
        assert_eq!(primitive(typed, &mut names).as_deref(), Some(expected));
    }

    #[test]
    fn primitives() {
        check(Value::Int(0), "I", "0");
        check(Value::Int(i64::from(i32::MIN)), "I", "Integer.MIN_VALUE");
        check(Value::Int(i64::MIN), "J", "Long.MIN_VALUE");
        check(Value::Int(-5), "J", "-5L");
        check(Value::Int(-128), "B", "(byte) -128");
        check(Value::Int(7), "S", "(short) 7");
        check(Value::Bool(true), "Z", "true");
        check(Value::Float(f32::NAN), "F", "Float.NaN");
        let told = f32::from_bits(0x7fc0_0001);
        check(Value::Float(told), "F", "Float.intBitsToFloat(0x7fc00001)");
        check(
            Value::Double(f64::from_bits(0xfff8_0000_0000_0123)),
            "D",
            "Double.longBitsToDouble(0xfff8000000000123L)",
        );
        // This is what a processor makes of 0.0 / 0.0; the sign has no meaning.
        check(Value::Double(f64::NAN.copysign(-1.0)), "D", "Double.NaN");
        check(Value::Float(1e-45), "F", "1e-45f");
        check(Value::Double(-0.0), "D", "-0.0");
        check(
            Value::Double(f64::NEG_INFINITY),
            "D",
            "Double.NEGATIVE_INFINITY",
        );
        check(Value::Double(1e300), "D", "1e300");
        check(Value::Null, "I", "0");
        check(Value::Null, "C", "'\\000'");
    }

    #[test]
    fn characters() {
        check(Value::Int(0x61), "C", "'a'");
        check(Value::Int(0x27), "C", "'\\''");
        check(Value::Int(0x5c), "C", "'\\\\'");
        check(Value::Int(0x0a), "C", "'\\n'");
        check(Value::Int(0x22), "C", "'\"'");
        check(Value::Int(0xd800), "C", "'\\ud800'");
        check(Value::Int(0x2028), "C", "'\\u2028'");
    }

    #[test]
    fn sources() {
        let source = "// ö\\x\nint größe = f(\"\\u202e\\134\");\n".to_owned();
        let expected = r#"// \u00f6 \x
int gr\u00f6\u00dfe = f("\u202e\134");
"#;
        assert_eq!(ascii(source), expected);
    }

    #[test]
    fn strings() {
        let check = |text: &str, expected: &str| {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(string(&units).as_deref(), Some(expected));
        };
        check("", r#""""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\\u000a", r#""\\u000a""#);
        // After two backslashes, what looks like an escape is none.
        check("\\u0041\\n", r#""\\u0041\\n""#);
        check("\\\\u0041\\", r#""\\\\u0041\\""#);
        check("\\\u{202e}\\", r#""\\\u202e\134""#);
        check("\u{0}1\n\u{7f}", r#""\0001\n\177""#);
        check("ä€😀\u{202e}", r#""\u00e4\u20ac\ud83d\ude00\u202e""#);
        assert_eq!(string(&[0xdc00, 0x61]).as_deref(), Some(r#""\udc00a""#));
        let units = [0xd800, 0x5c, 0x75, 0x5c];
        assert_eq!(string(&units).as_deref(), Some(r#""\ud800\134u\\""#));
        assert_eq!(string(&vec![0x61; MAX_STRING + 1]), None);
    }
}
