//! The environment of the JVMs that run the program.
//!
//! Users of the tests have other environments, and the contents of ours may be secret: a JVM gets
//! no more of it than it needs to start. In one of the places every variable that exists here, and
//! some that exist elsewhere, has another value.
//!
//! **Invariant:** a JVM never gets the value of a variable that is not named here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The kind of environment of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// Only what a JVM needs.
    Bare,
    /// The same, with the locale of this machine.
    Here,
    /// That of another user.
    Another,
}

/// Variables by which the C library finds its files, which are the same everywhere.
const OF_LIBRARY: [&str; 4] = ["LD_LIBRARY_PATH", "LOCALE_ARCHIVE", "LOCPATH", "TZDIR"];
/// Variables that programs expect.
const EXPECTED: [&str; 4] = ["HOME", "LOGNAME", "PATH", "USER"];
/// Variables that determine the charset of file names: the first that is set.
const CHARSET: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Variables that others have, whether or not they exist here.
const OF_OTHERS: [(&str, &str); 9] = [
    ("CI", "true"),
    ("COLORTERM", "truecolor"),
    ("COLUMNS", "132"),
    ("HOSTNAME", "elsewhere"),
    ("JAVA_HOME", "/nowhere/java"),
    ("LINES", "47"),
    ("NO_COLOR", "1"),
    ("SHELL", "/bin/another"),
    ("TERM", "xterm-another"),
];
/// The prefixes of variables that the JVM, its launcher or the C library may read.
const OF_JVM: [&str; 12] = [
    "CLASSPATH",
    "GCONV_",
    "GLIBC_",
    "JAVA_TOOL_",
    "JDK_JAVA",
    "LC_",
    "LD_",
    "LOC",
    "MALLOC_",
    "NLSPATH",
    "RES_OPTIONS",
    "_JAVA",
];

impl Environment {
    /// All variables of a JVM, made from ours. Those of another user are below `home`, and the time
    /// zone is that of the place.
    pub(super) fn variables(
        self,
        ours: &[(OsString, OsString)],
        home: &Path,
        zone: Option<&str>,
    ) -> Vec<(OsString, OsString)> {
        let ours_of = |name: &str| ours.iter().find(|(known, _)| known == name);
        let charset = CHARSET.iter().find_map(|name| {
            let (_, value) = ours_of(name)?;
            (!value.is_empty()).then(|| value.clone())
        });
        let mut all: Vec<(OsString, OsString)> = OF_LIBRARY
            .iter()
            .filter_map(|name| ours_of(name))
            .cloned()
            .collect();
        let mut set = |name: &str, value: OsString| {
            all.retain(|(known, _)| known != name);
            all.push((name.into(), value));
        };
        // The kernel's refusals are not translated, and the charset stays as it is.
        set("LANGUAGE", "C".into());
        match self {
            Environment::Bare | Environment::Here => {
                for (name, value) in EXPECTED.iter().filter_map(|name| ours_of(name)) {
                    set(&name.to_string_lossy(), value.clone());
                }
                if let (Environment::Bare, Some(charset)) = (self, &charset) {
                    set("LC_CTYPE", charset.clone());
                }
                if self == Environment::Here {
                    let of_locale =
                        |name: &str| name.starts_with("LC_") || name == "LANG" || name == "TZ";
                    for (name, value) in ours {
                        if let Some(name) = name.to_str().filter(|name| of_locale(name)) {
                            set(name, value.clone());
                        }
                    }
                }
            }
            Environment::Another => {
                let may_vary = |name: &str| !OF_JVM.iter().any(|begins| name.starts_with(begins));
                for (name, value) in ours {
                    if let Some(name) = name.to_str().filter(|name| may_vary(name)) {
                        set(name, another(value));
                    }
                }
                for (name, value) in OF_OTHERS {
                    // This holds even if it is ours.
                    let is_ours = ours_of(name).is_some_and(|(_, ours)| ours == value);
                    set(
                        name,
                        if is_ours {
                            another(OsStr::new(value))
                        } else {
                            value.into()
                        },
                    );
                }
                set("LANGUAGE", "C:C".into());
                let is_ours = ours_of("LANG").is_some_and(|(_, ours)| ours == "C");
                set("LANG", if is_ours { "POSIX" } else { "C" }.into());
                if let Some(charset) = charset {
                    set("LC_ALL", charset);
                }
                if let Some((_, paths)) = ours_of("LD_LIBRARY_PATH") {
                    let mut paths = paths.clone();
                    paths.push(":");
                    paths.push(home);
                    set("LD_LIBRARY_PATH", paths);
                }
                if let Some(zone) = zone {
                    set("TZ", zone.into());
                }
                set("HOME", home.into());
            }
        }
        all
    }
}

/// Another value of the same kind, for programs that parse it.
fn another(value: &OsStr) -> OsString {
    let value = value.to_str().unwrap_or_default();
    let is_number = value.parse::<i64>().is_ok();
    match value {
        "true" => "false",
        "false" => "true",
        "132" => "133",
        _ if is_number => "132",
        "/nowhere/else" => "/nowhere",
        _ if value.starts_with('/') => "/nowhere/else",
        "another" => "others",
        _ => "another",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_the_same_everywhere_and_nothing_is_told() {
        let ours = [
            ("DB_PASS", "hunter2"),
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("USER", "me"),
            ("COLUMNS", "132"),
            ("DEBUG", "true"),
            ("LANG", "C"),
            ("LC_ALL", "en_US.UTF-8"),
            ("TZ", "Europe/Paris"),
            ("LD_LIBRARY_PATH", "/lib"),
            ("LD_PRELOAD", "x.so"),
            ("JAVA_TOOL_OPTIONS", "-ea"),
        ];
        let ours = ours.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let of = |whose: Environment, name: &str| {
            let all = whose.variables(&ours, Path::new("/tmp/home"), Some("Asia/Kolkata"));
            let mut found = all.iter().filter(|(known, _)| known == name);
            let value = found
                .next()
                .map(|(_, value)| value.to_string_lossy().into_owned());
            assert!(found.next().is_none(), "{name}");
            value
        };
        let places = [Environment::Bare, Environment::Another, Environment::Here];
        for (name, value) in &ours {
            let name = name.to_string_lossy();
            let values = places.map(|whose| of(whose, &name));
            let is_left_out = values.iter().all(Option::is_none);
            let of_jvm = ["LD_PRELOAD", "JAVA_TOOL_OPTIONS"].contains(&&*name);
            assert_eq!(is_left_out, of_jvm, "{name}: {values:?}");
            let differ = values.iter().any(|value| *value != values[0]);
            assert!(is_left_out || differ, "{name}: {values:?}");
            if ["DB_PASS", "COLUMNS", "DEBUG"].contains(&&*name) {
                let told = values
                    .iter()
                    .flatten()
                    .any(|told| **told == *value.to_string_lossy());
                assert!(!told, "{name}: {values:?}");
            }
        }
        // A variable that is not set here may be set elsewhere.
        assert_eq!(
            places.map(|whose| of(whose, "TERM").is_some()),
            [false, true, false]
        );
        // Names of files are read alike.
        assert_eq!(
            of(Environment::Bare, "LC_CTYPE").as_deref(),
            Some("en_US.UTF-8")
        );
        assert_eq!(
            of(Environment::Another, "LC_ALL").as_deref(),
            Some("en_US.UTF-8")
        );
        assert_eq!(
            of(Environment::Here, "LC_ALL").as_deref(),
            Some("en_US.UTF-8")
        );
    }
}
