//! The bounds of memory: a program that ran out of it does so again only in a JVM with the same
//! bounds.

use hindsight_tracelog::reader::Crash;
use std::collections::BTreeSet;

/// The options that bound the heap, and the stacks of threads.
const BOUNDS: [(&str, [&str; 2]); 2] = [
    ("java.lang.OutOfMemoryError", ["-Xmx", "-XX:MaxHeapSize="]),
    (
        "java.lang.StackOverflowError",
        ["-Xss", "-XX:ThreadStackSize="],
    ),
];

/// The options of java whose value is the next word.
const WITH_VALUE: [&str; 16] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--enable-native-access",
    "--illegal-native-access",
    "--sun-misc-unsafe-memory-access",
    "--source",
];

/// The options of java that name what it runs, which are followed by the program's arguments.
const MAIN: [&str; 3] = ["-jar", "-m", "--module"];

/// The options on a recorded command line that bound what a crash ran out of.
pub fn bounds(crash: &Crash) -> Vec<&str> {
    let mut found = Vec::new();
    for (class, names) in BOUNDS {
        let mut exceptions = crash.failure.exceptions.iter();
        if exceptions.any(|exception| exception.class == class) {
            // The last one counts.
            let bounds = jvm_options(&crash.meta.command);
            found.extend(bounds.filter(|word| is_one_of(word, names)).last());
        }
    }
    found
}

/// The bounds of a crash that are not among options of JVMs.
pub fn unsaid(options: &[String], crash: &Crash) -> Vec<String> {
    let is_unsaid = |bound: &&str| {
        let names = BOUNDS.into_iter().map(|(_, names)| names);
        let mut of_same = names.filter(|names| is_one_of(bound, *names));
        !of_same.any(|names| options.iter().any(|option| is_one_of(option, names)))
    };
    let unsaid = bounds(crash).into_iter().filter(is_unsaid);
    unsaid.map(str::to_owned).collect()
}

/// Of the bounds that are not among options of JVMs, those that do not differ between any two
/// crashes: one setting can give them for the tests of all.
pub fn common<'a>(options: &[String], crashes: impl Iterator<Item = &'a Crash>) -> Vec<String> {
    let all: BTreeSet<String> = crashes.flat_map(|crash| unsaid(options, crash)).collect();
    let is_alone = |bound: &&String| {
        let names = BOUNDS.into_iter().map(|(_, names)| names);
        let mut of_same = names.filter(|names| is_one_of(bound, *names));
        of_same.all(|names| all.iter().filter(|one| is_one_of(one, names)).count() == 1)
    };
    all.iter().filter(is_alone).cloned().collect()
}

/// The words of a command line that are for the JVM: those after the main class or the jar are the
/// program's.
fn jvm_options(command: &str) -> impl Iterator<Item = &str> {
    let mut words = words(command).peekable();
    // A trimmed file has only the options.
    words.next_if(|java| !java.trim_start_matches('"').starts_with('-'));
    let mut is_value = false;
    words.take_while(move |word| {
        let is_main = || MAIN.contains(&word.split('=').next().unwrap_or(word));
        let is_option = word.trim_start_matches('"').starts_with(['-', '@']);
        let is_ours = is_value || is_option && !is_main();
        is_value = !is_value && WITH_VALUE.contains(word);
        is_ours
    })
}

/// The words of a command line; those with blanks are in quotes, and keep these.
pub(super) fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = command;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let (mut quoted, mut escaped) = (false, false);
        let end = rest.find(|c: char| {
            quoted ^= c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            c.is_whitespace() && !quoted
        });
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        (!word.is_empty()).then_some(word)
    })
}

fn is_one_of(option: &str, names: [&str; 2]) -> bool {
    names.iter().any(|name| option.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::ExceptionInfo;

    #[test]
    fn only_what_a_crash_ran_out_of_is_bounded() {
        let crash = |class: &str, command: &str| {
            let mut crash = Crash::default();
            crash.meta.command = command.to_owned();
            crash.failure.exceptions.push(ExceptionInfo {
                class: class.to_owned(),
                ..ExceptionInfo::default()
            });
            crash
        };
        let command = "java -Xmx1g -Xss300k -Xmx64m -cp a Main";
        let heap = crash("java.lang.OutOfMemoryError", command);
        let stack = crash("java.lang.StackOverflowError", command);
        let other = crash("java.lang.Error", command);
        let unsaid = |given: &[&str], crash: &Crash| {
            let options: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            unsaid(&options, crash)
        };
        assert_eq!(unsaid(&[], &heap), ["-Xmx64m"]);
        assert_eq!(unsaid(&["-Xmx9m"], &stack), ["-Xss300k"]);
        assert!(unsaid(&["-Xmx9m"], &heap).is_empty());
        assert!(unsaid(&[], &other).is_empty());
        let common = |crashes: &[&Crash]| common(&[], crashes.iter().copied());
        assert_eq!(
            common(&[&heap, &stack, &other, &heap]),
            ["-Xmx64m", "-Xss300k"]
        );
        let larger = crash("java.lang.OutOfMemoryError", "java -Xmx1g Main");
        assert_eq!(common(&[&heap, &stack, &larger]), ["-Xss300k"]);
        let launcher =
            "/jdk/bin/java -Xmx64m --add-opens a/b=c @more -jar launch.jar --child -Xmx4g";
        let launcher = crash("java.lang.OutOfMemoryError", launcher);
        assert_eq!(unsaid(&[], &launcher), ["-Xmx64m"]);
    }

    #[test]
    fn words_of_the_program_are_no_options() {
        let options = |command| jvm_options(command).collect::<Vec<_>>();
        assert_eq!(
            options("java -Xss1m -cp a:b -ea Main -Xss2m"),
            ["-Xss1m", "-cp", "a:b", "-ea"]
        );
        assert_eq!(
            options(
                r#""/my jdk/java" "-Dname=John \"J\" Smith" -cp "/my jars/a.jar" -Xss1m Main -Xss2m"#
            ),
            [
                r#""-Dname=John \"J\" Smith""#,
                "-cp",
                r#""/my jars/a.jar""#,
                "-Xss1m"
            ]
        );
        assert_eq!(options("java -p mods -m app/Main -Xss2m"), ["-p", "mods"]);
        assert_eq!(options("java --module=app/Main -Xss2m").len(), 0);
        assert_eq!(options("-Xss1m"), ["-Xss1m"]);
        assert!(options("java Main -Xss1m").is_empty());
        assert!(options("").is_empty());
    }
}
