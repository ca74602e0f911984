//! Names that compilers and the JVM make with numbers.

use hindsight_tracelog::crash::evaluated;

/// A name without the generated numbers in it: those after the marks of lambdas, proxies and
/// generated subclasses, and addresses.
pub fn generated(name: &str) -> String {
    // The methods of lambdas and synthetic methods end in counters: lambda$main$3, access$100.
    for prefix in ["lambda$", "access$", "$anonfun$"] {
        if name.starts_with(prefix) {
            let kept = name.trim_end_matches(|c: char| c.is_ascii_digit());
            return kept.trim_end_matches('$').to_owned();
        }
    }
    // Kotlin puts the name of the method before.
    if name.contains("$lambda$") {
        return without(name, "");
    }
    let name = &*evaluated(name);
    // The names of hidden classes have an address after a slash; those of generated classes have a
    // hash after a double dollar, or a number after a well-known word.
    let name = name.split_once('/').map_or(name, |(before, _)| before);
    if let Some((before, after)) = name.split_once("$$") {
        let word: String = after
            .chars()
            .take_while(|c| c.is_ascii_alphabetic())
            .collect();
        return format!("{before}$${word}");
    }
    for word in [
        "$Proxy",
        "GeneratedMethodAccessor",
        "GeneratedConstructorAccessor",
    ] {
        if let Some(at) = name.rfind(word) {
            let (kept, number) = name.split_at(at + word.len());
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                return kept.to_owned();
            }
        }
    }
    name.to_owned()
}

/// Where the number of one of Groovy's closures or lambdas begins in the part of a name between two
/// `$`: `_run_closure1`.
fn of_groovy(part: &str) -> Option<usize> {
    let kept = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_one = kept.starts_with('_') && (kept.ends_with("_closure") || kept.ends_with("_lambda"));
    (is_one && kept.len() < part.len()).then_some(kept.len())
}

/// A name with `instead` in place of each `$` and number; what follows the number stays.
fn without(name: &str, instead: &str) -> String {
    let mut parts = name.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(number) = of_groovy(part) {
            out.push('$');
            out.push_str(&part[..number]);
            continue;
        }
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(if rest.len() < part.len() {
            instead
        } else {
            "$"
        });
        out.push_str(rest);
    }
    out
}

/// Whether a compiler has numbered a class, or one that encloses it, because it is anonymous or
/// local.
pub fn is_class(name: &str) -> bool {
    let is_number =
        |part: &str| part.starts_with(|c: char| c.is_ascii_digit()) || of_groovy(part).is_some();
    !name.contains('/') && !name.contains("$$Lambda") && name.split('$').skip(1).any(is_number)
}

/// Whether a compiler has numbered a method, because it is that of a lambda, or an accessor.
pub fn is_method(name: &str) -> bool {
    let marks = ["$anonfun$", "access$"];
    (name.contains("lambda$") || marks.iter().any(|mark| name.starts_with(mark))) && is_class(name)
}

/// Whether two names of classes or methods differ only in numbers.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || without(&generated(one), "$#") == without(&generated(other), "$#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names() {
        assert!(is_class("a.Main$1") && is_class("a.Main$In$2Local") && is_class("M$$anon$1"));
        assert!(!is_class("a.Main$In") && !is_class("a.M1") && !is_class("a.M$$Lambda/0x1"));
        assert!(is_class("a.Main$_run_closure1") && is_class("a.Main$_closure2$_lambda3"));
        assert!(!is_class("a.Main$run_closure1") && !is_class("a.Main$_closure"));
        assert!(is_method("lambda$m$0") && is_method("m$lambda$0") && is_method("access$100"));
        assert!(is_method("$anonfun$m$1$adapted") && !is_method("m$1") && !is_method("lambda"));
    }

    #[test]
    fn names_that_differ_in_numbers() {
        assert!(is_same("lambda$m$0", "lambda$m$12") && is_same("a.M$1L", "a.M$2L"));
        assert!(is_same("m$lambda$0$lambda$1", "m$lambda$2$lambda$0"));
        assert!(is_same("$anonfun$m$1$adapted", "$anonfun$m$2$adapted"));
        assert!(is_same("M$_run_closure1", "M$_run_closure12"));
        assert!(
            !is_same("M$_run_closure1", "M$_run_lambda1")
                && !is_same("M$_a_closure1", "M$_b_closure1")
        );
        assert!(!is_same("lambda$m$0", "lambda$n$0") && !is_same("a.M$1L", "a.M$1K"));
        assert!(!is_same("a.M$1", "a.M$In") && !is_same("a.M$1", "a.M"));
    }
}
