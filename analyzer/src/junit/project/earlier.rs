//! Reads the project of an earlier run, whose tests may still be there.

use super::{Library, POM};
use crate::junit::Framework;
use std::fs;
use std::path::{Path, PathBuf};

/// The state of an earlier run, from its `pom.xml`.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The program from which it was made.
    pub libraries: Vec<Library>,
    /// The class path of its tests.
    pub classpath: Vec<PathBuf>,
    /// Whether nested jars have to be unpacked for that.
    pub nested: bool,
}

impl Earlier {
    /// Reads it, if it exists.
    pub fn read(out: &Path) -> Earlier {
        pom(out).map_or_else(Earlier::default, |pom| Earlier::of(&pom))
    }

    fn of(pom: &str) -> Earlier {
        let library = |number: usize| {
            let path = element(pom, &format!("program.{number}"))?;
            // This is its form in the comment above the project.
            let origin = format!("      {number}: ");
            let origin = pom.lines().find_map(|line| line.strip_prefix(&origin));
            Some(Library {
                number,
                origin: origin.unwrap_or(&path).to_owned(),
                path,
            })
        };
        let numbers = pom.lines().filter_map(|line| {
            let (number, _) = line
                .trim_start()
                .strip_prefix("<program.")?
                .split_once('>')?;
            number.parse().ok()
        });
        let classpath = element(pom, "program.classpath").unwrap_or_default();
        Earlier {
            libraries: numbers.filter_map(library).collect(),
            classpath: std::env::split_paths(&classpath)
                .filter(|path| !path.as_os_str().is_empty())
                .collect(),
            nested: pom.contains("maven-antrun-plugin"),
        }
    }
}

/// The release of Java for which an earlier project there is compiled.
pub(super) fn release(out: &Path) -> Option<u32> {
    element(&pom(out)?, "maven.compiler.release")?
        .trim()
        .parse()
        .ok()
}

/// The version of JUnit for which the tests of an earlier project there are written.
pub fn framework(out: &Path) -> Option<Framework> {
    let pom = pom(out)?;
    let has = |artifact: &str| pom.contains(&format!("<artifactId>{artifact}</artifactId>"));
    match (has("junit-jupiter"), has("junit")) {
        (true, _) => Some(Framework::Junit5),
        (false, true) => Some(Framework::Junit4),
        (false, false) => None,
    }
}

/// The project's file, if it is ours: tests may also go into a project of the program's own.
fn pom(out: &Path) -> Option<String> {
    let pom = fs::read_to_string(out.join("pom.xml")).ok()?;
    pom.starts_with(POM).then_some(pom)
}

/// The text of the first element of this name that has no attributes.
fn element(pom: &str, name: &str) -> Option<String> {
    let (_, behind) = pom.split_once(&format!("<{name}>"))?;
    let (text, _) = behind.split_once(&format!("</{name}>"))?;
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    Some(text.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_an_earlier_run_is_read() {
        let pom = "<!-- The recorded program:
      1: /a/classes
      2: /b - -/x&y.jar
-->
    <program.classpath>/a/classes:/b--/x&amp;y.jar</program.classpath>
    <program.1>${hindsight.lib}/program-1.jar</program.1>
    <program.2>/b--/x&amp;y.jar</program.2>
";
        let earlier = Earlier::of(pom);
        let told: Vec<(usize, &str, &str)> = (earlier.libraries.iter())
            .map(|library| (library.number, &*library.path, &*library.origin))
            .collect();
        let expected = [
            (1, "${hindsight.lib}/program-1.jar", "/a/classes"),
            (2, "/b--/x&y.jar", "/b - -/x&y.jar"),
        ];
        assert_eq!(told, expected);
        assert_eq!(
            earlier.classpath,
            [PathBuf::from("/a/classes"), PathBuf::from("/b--/x&y.jar")]
        );
        assert!(!earlier.nested);
        assert!(Earlier::of("").libraries.is_empty());
    }
}
