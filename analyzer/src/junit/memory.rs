//! Where memory ends: a program that ran out of it does so again only in a JVM of the same bounds.

use hindsight_tracelog::reader::Crash;

/// Options that bound the heap, and the stacks of threads.
const BOUNDS: [(&str, [&str; 2]); 2] = [
    ("java.lang.OutOfMemoryError", ["-Xmx", "-XX:MaxHeapSize="]),
    (
        "java.lang.StackOverflowError",
        ["-Xss", "-XX:ThreadStackSize="],
    ),
];

/// The options on a recorded command line that say where what a crash ran out of ends.
pub fn bounds(crash: &Crash) -> Vec<&str> {
    let mut found = Vec::new();
    for (class, names) in BOUNDS {
        let mut exceptions = crash.failure.exceptions.iter();
        if exceptions.any(|exception| exception.class == class) {
            // The last one counts.
            let words = crash.meta.command.split_whitespace().rev();
            let mut bounds = words.filter(|word| is_one_of(word, names));
            found.extend(bounds.next());
        }
    }
    found
}

/// Adds to options of JVMs what bounds the memory of recorded crashes, where they say nothing of it.
pub fn add_bounds<'a>(options: &mut Vec<String>, crashes: impl Iterator<Item = &'a Crash>) {
    for bound in crashes.flat_map(bounds) {
        let of_same = BOUNDS
            .into_iter()
            .find(|(_, names)| is_one_of(bound, *names));
        let is_said =
            of_same.is_some_and(|(_, names)| options.iter().any(|option| is_one_of(option, names)));
        if !is_said {
            options.push(bound.to_owned());
        }
    }
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
        let added = |given: &[&str], crashes: &[&Crash]| {
            let mut options: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            add_bounds(&mut options, crashes.iter().copied());
            options
        };
        assert_eq!(added(&[], &[&heap]), ["-Xmx64m"]);
        assert_eq!(
            added(&[], &[&heap, &stack, &other, &heap]),
            ["-Xmx64m", "-Xss300k"]
        );
        assert_eq!(added(&["-Xmx9m"], &[&heap]), ["-Xmx9m"]);
        assert!(added(&[], &[&other]).is_empty());
    }
}
