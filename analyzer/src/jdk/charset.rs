//! The charset in which JVMs name files.
//!
//! It is ASCII where the locale is `C`, where none is set, as in containers and for `cron`, and where the one that is
//! set is not installed. A JVM then finds no file whose name has any other letter: nothing of such a class path, no
//! source and no class of such a package, and nothing in such a temporary directory.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Which charset the C library takes: the first that is set.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
/// A locale that is the same but for its charset.
const WIDE: &str = "C.UTF-8";
/// What the C library calls ASCII.
const ASCII: &str = "ANSI_X3.4-1968";
/// From here on texts are in UTF-8, whatever the locale.
const UTF8_BY_DEFAULT: u32 = 18;

static IS_ASCII: LazyLock<bool> = LazyLock::new(|| {
    let variable = |name| std::env::var(name).ok();
    is_ascii(variable, || {
        let mut command = Command::new("locale");
        command.arg("charmap").stdin(Stdio::null());
        let told = command.output().ok()?;
        String::from_utf8(told.stdout).ok()
    })
});

/// Whether it is, by the variables; `told` is the name of the charset as the system says it, if it does.
fn is_ascii(
    variable: impl Fn(&'static str) -> Option<String>,
    told: impl FnOnce() -> Option<String>,
) -> bool {
    let set = VARIABLES.into_iter().filter_map(variable);
    let locale = set.into_iter().find(|locale| !locale.is_empty());
    match locale.as_deref() {
        None | Some("C" | "POSIX") => true,
        Some(_) => told().is_some_and(|charset| charset.trim() == ASCII),
    }
}

/// The variable, with its value, by which a JVM names files in UTF-8 where it would in ASCII.
pub fn wide_locale() -> Option<(&'static str, &'static str)> {
    IS_ASCII.then_some((VARIABLES[0], WIDE))
}

/// Has a JVM name files in UTF-8 where it would in ASCII.
pub(super) fn widen(command: &mut Command) {
    command.envs(wide_locale());
}

/// The option of a JVM by which its texts are then in the charset that they are in without.
pub(super) fn of_texts(version: u32) -> Option<String> {
    (*IS_ASCII && version < UTF8_BY_DEFAULT).then(|| format!("-Dfile.encoding={ASCII}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdk::Jdk;

    #[test]
    fn a_locale_that_is_not_there_is_ascii() {
        let is = |set: [&str; 3], told: Option<&str>| {
            let variable = |name: &str| {
                let at = VARIABLES.iter().position(|known| *known == name);
                at.map(|at| set[at].to_owned())
            };
            is_ascii(variable, || told.map(str::to_owned))
        };
        assert!(is(["", "", ""], Some("UTF-8\n")));
        assert!(is(["C", "", "en_US.UTF-8"], Some("UTF-8\n")));
        assert!(is(["", "", "xx_XX.UTF-8"], Some("ANSI_X3.4-1968\n")));
        assert!(!is(["", "C.UTF-8", "C"], Some("UTF-8\n")));
        assert!(!is(["", "", "de_DE"], Some("ISO-8859-1\n")));
        assert!(!is(["", "", "de_DE"], None));
    }

    #[test]
    fn a_wide_locale_is_there_and_leaves_texts_as_they_are() {
        let jdk = Jdk::find(None).unwrap();
        let properties = |locale: &str, option: Option<String>| {
            let mut java = Command::new(jdk.home.join("bin/java"));
            java.env("LC_ALL", locale).args(option);
            let told = java
                .args(["-XshowSettings:properties", "-version"])
                .output();
            let told = String::from_utf8_lossy(&told.unwrap().stderr).into_owned();
            ["sun.jnu.encoding", "file.encoding", "user.language"].map(|name| {
                let property = format!("{name} = ");
                let mut lines = told.lines();
                let value = lines.find_map(|line| line.trim().strip_prefix(&property));
                value.unwrap_or_default().to_owned()
            })
        };
        let of_texts = (jdk.version < UTF8_BY_DEFAULT).then(|| format!("-Dfile.encoding={ASCII}"));
        let [files, texts, language] = properties("C", None);
        assert_eq!(files, ASCII);
        let wide = ["UTF-8".to_owned(), texts, language];
        assert_eq!(properties(WIDE, of_texts), wide);
    }
}
