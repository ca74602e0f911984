//! Names of classes that are made anew each time a text is evaluated.

use std::borrow::Cow;

/// The texts that stand before such a number, and whether each begins the name: Groovy's shells
/// call their classes `Script1`, Clojure's `eval` makes `user$eval12$fn__13`.
const MARKS: [(&str, bool); 3] = [("Script", true), ("$eval", false), ("__", false)];

/// The name of a class without the numbers that change with each evaluation of the same text. With
/// them, the same failure would look like another one each time.
///
/// The parts of the name that follow a number stay, so that the class is still distinguished from
/// others. `Script` must be the whole name before the number, except for the package: `JavaScript1`
/// and `ScriptEngine2` are classes of a program.
pub fn evaluated(class: &str) -> Cow<'_, str> {
    let mut name = Cow::Borrowed(class);
    for (mark, begins) in MARKS {
        let mut from = 0;
        while let Some(at) = name.get(from..).and_then(|rest| rest.find(mark)) {
            let start = from + at;
            let end = start + mark.len();
            from = end;
            let digits = name[end..].bytes().take_while(u8::is_ascii_digit).count();
            let follows = name.as_bytes().get(end + digits);
            let is_whole = start == 0 || name.as_bytes()[start - 1] == b'.';
            let is_number = digits > 0 && matches!(follows, None | Some(b'$' | b'_'));
            if is_number && (is_whole || !begins) {
                name.to_mut().replace_range(end..end + digits, "");
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_name_each_time() {
        for (class, name) in [
            ("Script12", "Script"),
            ("a.b.Script3$_run_closure1", "a.b.Script$_run_closure1"),
            ("user$eval1234$fn__1235", "user$eval$fn__"),
            ("user$eval7", "user$eval"),
            ("shop.core$total__12__auto__", "shop.core$total____auto__"),
            ("a.JavaScript1", "a.JavaScript1"),
            ("a.Script", "a.Script"),
            ("a.Script2Engine", "a.Script2Engine"),
            ("a.Dialect7", "a.Dialect7"),
        ] {
            assert_eq!(evaluated(class), name);
        }
    }
}
