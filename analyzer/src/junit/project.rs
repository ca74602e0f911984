//! A Maven project around the tests.
//!
//! - `earlier` reads what an earlier run has written.
//!
//! Tests are compiled against the recorded program (jars where they are, directories as jars in
//! `lib/`), and run against the property `program.classpath`, which initially is the recorded
//! program as well. So one property switches to the fixed program, whether it consists of class
//! directories or jars, without touching the local Maven repository.
//!
//! `system` scope makes that possible. Its paths go through properties, without which Maven warns
//! about them.
//!
//! A program that is one jar with nested jars ([`crate::nested`]) is unpacked anew for each run of
//! the tests, so that the property can name such a jar as well, or the jar can be rebuilt in place.

mod earlier;

pub use earlier::framework as earlier_framework;

use super::candidate::Plan;
use super::run::{bounds_of_all, has_asserted, is_mixed};
use super::write::others;
use super::{Error, Framework, Options, REPLAY_JAR_NAME, Result, preview, write_file};
use crate::files::failed;
use crate::jdk::{ENABLE_PREVIEW, Jdk};
use earlier::Earlier;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const JUNIT5: &str = "5.11.4";
const JUNIT4: &str = "4.13.2";
const RESOURCES_PLUGIN: &str = "3.3.1";
const COMPILER_PLUGIN: &str = "3.13.0";
const SUREFIRE_PLUGIN: &str = "3.2.5";
const ANTRUN_PLUGIN: &str = "3.1.0";
const BUILD_HELPER_PLUGIN: &str = "3.6.0";

/// Writes `pom.xml`, `README.md` and the program's directories as jars; `replay`
/// says whether a test needs the replay library.
///
/// # Errors
///
/// Fails if a file cannot be written, or a directory of the class path read.
pub fn write(plan: &Plan<'_>, replay: bool, jdk: Option<&Jdk>, options: &Options) -> Result<()> {
    // Tests of other crashes may be there from earlier runs, and need what they needed.
    let earlier = match others(plan, &options.out).is_empty() {
        true => Earlier::default(),
        false => Earlier::read(&options.out),
    };
    let mut libraries = Vec::new();
    let mut nested = earlier.nested;
    let numbers = earlier.libraries.iter().map(|library| library.number);
    let mut last = numbers.max().unwrap_or(0);
    for (path, held) in plan.classpath.paths_with_held() {
        let origin = in_comment(&path.display().to_string());
        let mut known = earlier.libraries.iter();
        let number = match known.find(|library| library.origin == origin) {
            Some(library) => library.number,
            None => {
                last += 1;
                last
            }
        };
        let name = format!("program-{number}.jar");
        let own = options.out.join("lib").join(&name);
        nested |= held;
        if path.is_dir() {
            pack(path, &own)?;
        } else if held {
            // It was unpacked to a cache, which others may clear.
            fs::create_dir_all(options.out.join("lib"))
                .and_then(|()| fs::copy(path, &own))
                .map_err(|source| Error::NotCopied {
                    from: path.to_owned(),
                    to: own.clone(),
                    source,
                })?;
        }
        libraries.push(Library {
            number,
            path: match path.is_dir() || held {
                true => format!("${{hindsight.lib}}/{name}"),
                false => path.display().to_string(),
            },
            origin,
        });
    }
    let is_new = |library: &Library| libraries.iter().all(|new| new.number != library.number);
    // Maven refuses a project with a missing one, for example a jar of an earlier version.
    let is_there = |library: &Library| match library.path.strip_prefix("${hindsight.lib}/") {
        Some(name) => options.out.join("lib").join(name).is_file(),
        None => Path::new(&library.path).exists(),
    };
    let kept = earlier.libraries.into_iter();
    let kept: Vec<Library> = kept.filter(is_new).filter(is_there).collect();
    libraries.extend(kept);
    let mut classpath: Vec<&Path> = plan.classpath.named().collect();
    for path in &earlier.classpath {
        if !classpath.contains(&path.as_path()) && path.exists() {
            classpath.push(path);
        }
    }
    let classpath = std::env::join_paths(classpath)?;
    // If both are needed, tests of programs that ran with assertions enable them for themselves:
    // Maven would not start a second run of tests once the first has failed, as tests of crashes
    // do.
    let assertions = !is_mixed(plan) && has_asserted(plan, 0);
    let release = match jdk {
        // Javac only has the preview features of its own version.
        Some(jdk) if preview::is_on(&options.java_options) => jdk.version,
        _ => plan.classpath.release(),
    };
    let release = release.max(earlier::release(&options.out).unwrap_or_default());
    let replay = replay || options.out.join("lib").join(REPLAY_JAR_NAME).is_file();
    let java_options = [&options.java_options[..], &bounds_of_all(plan, options)].concat();
    let pom = pom(
        &libraries,
        &classpath.to_string_lossy(),
        (assertions, replay, nested),
        release,
        &java_options,
        options,
    );
    write_file(&options.out.join("pom.xml"), pom)?;
    let takes = match nested {
        true => "class directories and jars, also those with jars in them",
        false => "class directories and jars",
    };
    let readme = README.replace("RELEASE", &release.to_string());
    let seconds = match options.framework {
        Framework::Junit5 => format!(
            "A test that takes longer than {} s",
            options.timeout.as_secs()
        ),
        Framework::Junit4 => format!(
            "What takes longer than {} s for a class",
            for_a_class(options.timeout)
        ),
    };
    let readme = readme.replace("TOO LONG", &seconds);
    let readme = readme.replace("ENTRIES", takes);
    Ok(write_file(&options.out.join("README.md"), readme)?)
}

/// The files beside the tests, each with the beginning of ours.
pub fn files(out: &Path) -> [(PathBuf, &'static [u8]); 2] {
    let readme = README.find("\n\n").and_then(|end| README.get(..end));
    [
        (out.join("pom.xml"), POM.as_bytes()),
        (out.join("README.md"), readme.unwrap_or(README).as_bytes()),
    ]
}

/// An entry of the program's class path.
#[derive(Debug)]
struct Library {
    number: usize,
    /// The path by which the project finds it.
    path: String,
    /// The path from which it came, for a comment.
    origin: String,
}

/// Packs the class files of a directory into a jar, for compilation.
fn pack(dir: &Path, jar: &Path) -> Result<()> {
    let unwritten = failed("write", jar);
    fs::create_dir_all(jar.parent().unwrap_or(Path::new("."))).map_err(unwritten)?;
    let mut zip = ZipWriter::new(BufWriter::new(File::create(jar).map_err(unwritten)?));
    let options = SimpleFileOptions::default();
    let mut dirs = vec![dir.to_owned()];
    // Links are followed, as javac and the JVM do, but not in cycles.
    let mut seen: HashSet<PathBuf> = fs::canonicalize(dir).into_iter().collect();
    while let Some(next) = dirs.pop() {
        let entries = fs::read_dir(&next).map_err(failed("read", &next))?;
        for entry in entries {
            let entry = entry.map_err(failed("read", &next))?;
            let path = entry.path();
            if path.is_dir() {
                if fs::canonicalize(&path).is_ok_and(|real| seen.insert(real)) {
                    dirs.push(path);
                }
            } else if path
                .extension()
                .is_some_and(|extension| extension == "class")
            {
                let bytes = match fs::read(&path) {
                    // A dangling link, which is not a class for javac either.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    read => read.map_err(failed("read", &path))?,
                };
                let name = path.strip_prefix(dir).unwrap_or(&path);
                let started = zip.start_file_from_path(name, options);
                started.map_err(|error| unwritten(error.into()))?;
                zip.write_all(&bytes).map_err(unwritten)?;
            }
        }
    }
    let mut packed = zip.finish().map_err(|error| unwritten(error.into()))?;
    Ok(packed.flush().map_err(unwritten)?)
}

fn pom(
    libraries: &[Library],
    classpath: &str,
    (assertions, replay, nested): (bool, bool, bool),
    release: u32,
    java_options: &[String],
    options: &Options,
) -> String {
    let mut properties = String::new();
    let mut dependencies = String::new();
    let mut origins = String::new();
    for library in libraries {
        let number = library.number;
        properties.push_str(&format!(
            "    <program.{number}>{}</program.{number}>\n",
            xml(&library.path)
        ));
        dependencies.push_str(&dependency(
            "recorded.program",
            &format!("entry-{number}"),
            "1",
            Some(&format!("${{program.{number}}}")),
        ));
        origins.push_str(&format!("      {number}: {}\n", library.origin));
    }
    let junit = match options.framework {
        Framework::Junit5 => dependency("org.junit.jupiter", "junit-jupiter", JUNIT5, None),
        Framework::Junit4 => dependency("junit", "junit", JUNIT4, None),
    };
    let arguments: Vec<String> = java_options.iter().map(|option| quoted(option)).collect();
    // This is a property, so that the command line can override it.
    let arguments = match arguments.is_empty() {
        true => String::new(),
        false => format!("    <argLine>{}</argLine>\n", xml(&arguments.join(" "))),
    };
    let compiler = match preview::is_on(&options.java_options) {
        true => format!(
            "        <configuration>\n          <compilerArgs>\n            <arg>{}</arg>\n          \
             </compilerArgs>\n        </configuration>\n",
            ENABLE_PREVIEW
        ),
        false => String::new(),
    };
    let entries = entries(nested);
    let (limit, limits) = limits(options.framework, options.timeout);
    let replay = match replay {
        true => dependency(
            "dev.hindsight",
            "hindsight-replay",
            crate::VERSION,
            Some(&format!("${{hindsight.lib}}/{REPLAY_JAR_NAME}")),
        ),
        false => String::new(),
    };
    format!(
        r#"{POM}{version}.

     mvn test                                     shows the failures
     mvn test -Dprogram.classpath=PATH[:PATH...]  runs the tests against another,
                                                  say the fixed, program

     The recorded program (the tests are compiled against it):
{origins}-->
<project xmlns="http://maven.apache.org/POM/4.0.0"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.hindsight</groupId>
  <artifactId>crash-tests</artifactId>
  <version>1</version>

  <properties>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <maven.compiler.release>{release}</maven.compiler.release>
    <hindsight.lib>${{project.basedir}}/lib</hindsight.lib>
    <!-- What the tests run against: class directories and jars. -->
    <program.classpath>{classpath}</program.classpath>
    <!-- What they are compiled against. -->
{properties}{limit}{arguments}  </properties>

  <dependencies>
{junit}{replay}{dependencies}  </dependencies>

  <build>
    <plugins>
{entries}      <plugin>
        <artifactId>maven-resources-plugin</artifactId>
        <version>{RESOURCES_PLUGIN}</version>
      </plugin>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>{COMPILER_PLUGIN}</version>
{compiler}      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>{SUREFIRE_PLUGIN}</version>
        <configuration>
          <!-- As the tests were tried; one that needs them on where this is off has it in itself. -->
          <enableAssertions>{assertions}</enableAssertions>
{limits}          <!-- Static state of one crash must not reach the tests of another. -->
          <reuseForks>false</reuseForks>
          <classpathDependencyExcludes>
            <classpathDependencyExclude>recorded.program:*</classpathDependencyExclude>
          </classpathDependencyExcludes>
          <additionalClasspathElements>${{program.entries}}</additionalClasspathElements>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
"#,
        version = crate::VERSION,
        classpath = xml(classpath),
    )
}

/// The seconds that the tests of a class may take together.
fn for_a_class(timeout: Duration) -> u64 {
    timeout.as_secs() * 10
}

/// The time that tests may take, as a property and as Surefire's configuration: where the recorded
/// program failed, the fixed one may go on for ever, like the loop of a server. JUnit 4 has limits
/// only for single tests, so Surefire has to end its JVM.
fn limits(framework: Framework, timeout: Duration) -> (String, String) {
    match framework {
        Framework::Junit5 => (
            String::new(),
            format!(
                "          <!-- The fixed program may go on for ever where this one failed. -->
          <properties>
            <configurationParameters>
              junit.jupiter.execution.timeout.testable.method.default = {} s
              junit.jupiter.execution.timeout.thread.mode.default = SEPARATE_THREAD
              junit.jupiter.execution.timeout.mode = disabled_on_debug
            </configurationParameters>
          </properties>
",
                timeout.as_secs()
            ),
        ),
        Framework::Junit4 => (
            format!(
                "    <!-- The fixed program may go on for ever where this one failed: seconds for a class, 0 for no end. -->
    <surefire.timeout>{}</surefire.timeout>
",
                for_a_class(timeout)
            ),
            String::new(),
        ),
    }
}

fn dependency(group: &str, artifact: &str, version: &str, path: Option<&str>) -> String {
    let scope = match path {
        Some(path) => {
            format!("      <scope>system</scope>\n      <systemPath>{path}</systemPath>\n")
        }
        None => "      <scope>test</scope>\n".to_owned(),
    };
    format!(
        "    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{artifact}</artifactId>\n      \
         <version>{version}</version>\n{scope}    </dependency>\n"
    )
}

/// An option in the form in which Surefire splits them: at blanks outside of quotes, of which there
/// are two kinds, which it removes. A quote after a backslash stays, and so does the backslash.
fn quoted(option: &str) -> String {
    let is_special = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    if !option.contains(is_special) {
        return option.to_owned();
    }
    let mut out = String::new();
    for (number, part) in option.split('"').enumerate() {
        if number > 0 {
            out += if out.ends_with('\\') { "\"" } else { "'\"'" };
        }
        let plain = part.trim_end_matches('\\');
        if !plain.is_empty() {
            out += &format!("\"{plain}\"");
        }
        out += &part[plain.len()..];
    }
    out
}

/// Text for a comment of XML, where two hyphens must not follow each other.
fn in_comment(text: &str) -> String {
    // This is done twice, because of three hyphens it finds only the first two.
    text.replace("--", "- -").replace("--", "- -")
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The beginning of our `pom.xml`.
const POM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- Tests of recorded crashes, written by hindsight "#;

/// The plugin that converts `program.classpath` to the entries that Surefire needs; if the program
/// is `nested`, it unpacks nested jars as well.
fn entries(nested: bool) -> String {
    let (plugin, version, goal, configuration) = match nested {
        true => (
            "<artifactId>maven-antrun-plugin</artifactId>",
            ANTRUN_PLUGIN,
            "run",
            UNPACKING,
        ),
        false => (
            "<groupId>org.codehaus.mojo</groupId>\n        <artifactId>build-helper-maven-plugin</artifactId>",
            BUILD_HELPER_PLUGIN,
            "regex-property",
            SPLITTING,
        ),
    };
    format!(
        r#"      <!-- Surefire wants entry by entry what program.classpath names in one. -->
      <plugin>
        {plugin}
        <version>{version}</version>
        <executions>
          <execution>
            <id>program-entries</id>
            <phase>initialize</phase>
            <goals>
              <goal>{goal}</goal>
            </goals>
            <configuration>
{configuration}            </configuration>
          </execution>
        </executions>
      </plugin>
"#
    )
}

const SPLITTING: &str = r#"              <name>program.entries</name>
              <value>${program.classpath}</value>
              <regex>${path.separator}</regex>
              <replacement>,</replacement>
              <failIfNoMatch>false</failIfNoMatch>
"#;
const UNPACKING: &str = r#"              <exportAntProperties>true</exportAntProperties>
              <target>
                <property name="unpacked" location="${project.build.directory}/program"/>
                <delete dir="${unpacked}" quiet="true"/>
                <mkdir dir="${unpacked}"/>
                <unzip dest="${unpacked}">
                  <patternset includes="BOOT-INF/classes/**,BOOT-INF/lib/*.jar,WEB-INF/classes/**,WEB-INF/lib/*.jar"/>
                  <restrict>
                    <path path="${program.classpath}"/>
                    <type type="file"/>
                  </restrict>
                </unzip>
                <pathconvert property="program.entries" pathsep=",">
                  <path path="${program.classpath}"/>
                  <path location="${unpacked}/BOOT-INF/classes"/>
                  <path location="${unpacked}/WEB-INF/classes"/>
                  <sort>
                    <fileset dir="${unpacked}" includes="*-INF/lib/*.jar"/>
                  </sort>
                </pathconvert>
              </target>
"#;

const README: &str = "\
# Tests of recorded crashes

Written by Hindsight. Each test calls the method of one stack frame as it was
called when the program crashed, and fails as the program did.

    mvn -q test

shows the failures; Maven must run on a JDK of version RELEASE or newer
(`JAVA_HOME`), as the program does. To try a fix, run the tests against the fixed program:

    mvn -q test -Dprogram.classpath=/path/to/classes:/path/to/a.jar

The property takes ENTRIES, joined as for `java -cp`; name
everything the program needs. Without it, the program is taken from where it was
when these tests were written, so rebuilding it there does as well. Tests that
only repeat the symptom (the frame that threw was given bad arguments) stay red.
TOO LONG fails: where the recorded program failed, the
fixed one may wait or go on for ever, as a server does. That is no failure of the fix.

- `src/test/java`: the tests; comments show what the loaded objects hold.
- `src/test/resources`: the crash files with the recorded state, where a test
  loads a part of it. They may hold data of the recorded run: look
  (`hindsight inspect --review`) before you pass them on.
- `lib`: the replay library, if a test loads state, and copies of class
  directories and of jars within jars of the recorded program, to compile against.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_what_they_were_once_quotes_are_taken_away() {
        assert_eq!(quoted("-Dx=1"), "-Dx=1");
        assert_eq!(quoted("-Dx=a b"), "\"-Dx=a b\"");
        assert_eq!(quoted("-Dx=it's"), "\"-Dx=it's\"");
        assert_eq!(quoted("-Dx=\"a b\""), "\"-Dx=\"'\"'\"a b\"'\"'");
        assert_eq!(quoted(r#"a\"b c\"#), r#""a"\""b c"\"#);
    }

    #[test]
    fn tests_that_do_not_end_are_ended() {
        let timeout = Duration::from_secs(60);
        let (property, configuration) = limits(Framework::Junit5, timeout);
        assert_eq!(property, "");
        assert!(configuration.contains("timeout.testable.method.default = 60 s\n"));
        assert!(configuration.contains("SEPARATE_THREAD"));
        let (property, configuration) = limits(Framework::Junit4, timeout);
        assert!(property.contains("<surefire.timeout>600</surefire.timeout>"));
        assert_eq!(configuration, "");
    }

    #[test]
    fn no_two_hyphens_are_in_a_comment() {
        for hyphens in 0..9 {
            let text = format!("a{}b", "-".repeat(hyphens));
            let told = in_comment(&text);
            assert!(!told.contains("--"), "{told}");
            assert_eq!(told.replace(' ', ""), text);
        }
    }

    #[test]
    fn linked_directories_are_packed_and_circles_are_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (classes, other) = (dir.path().join("classes"), dir.path().join("other"));
        fs::create_dir_all(classes.join("a")).unwrap();
        fs::create_dir_all(other.join("b")).unwrap();
        write_file(&classes.join("a/A.class"), "A").unwrap();
        write_file(&other.join("b/B.class"), "B").unwrap();
        symlink(other.join("b"), classes.join("b")).unwrap();
        symlink(&classes, classes.join("a/round")).unwrap();
        let jar = dir.path().join("lib/program.jar");
        pack(&classes, &jar).unwrap();
        let zip = zip::ZipArchive::new(File::open(jar).unwrap()).unwrap();
        let mut names: Vec<&str> = zip.file_names().collect();
        names.sort_unstable();
        assert_eq!(names, ["a/A.class", "b/B.class"]);
    }
}
