//! The charset in which JVMs name files.
//!
//! It is ASCII if the locale is `C`, if none is set, as in containers and for `cron`, and if the
//! one that is set is not installed. A JVM then finds no file whose name has any other letter:
//! nothing of such a class path, no source and no class of such a package, and nothing in such a
//! temporary directory.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The variables that determine the C library's charset: the first that is set counts.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
/// A locale that differs only in its charset.
const WIDE: &str = "C.UTF-8";
/// The C library's name of ASCII.
const ASCII: &str = "ANSI_X3.4-1968";
/// The release from which on texts are in UTF-8, whatever the locale.
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

/// Whether it is ASCII, by the variables; `told` is the name of the charset according to the
/// system, if it is known.
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

/// The variable, with its value, by which a JVM names files in UTF-8 instead of ASCII.
pub fn wide_locale() -> Option<(&'static str, &'static str)> {
    IS_ASCII.then_some((VARIABLES[0], WIDE))
}

/// Makes a JVM name files in UTF-8 instead of ASCII.
pub(super) fn widen(command: &mut Command) {
    command.envs(wide_locale());
}

/// The option by which the JVM's texts then keep the charset that they would have without this.
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
