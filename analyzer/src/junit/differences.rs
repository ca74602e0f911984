//! Finds classes on the class path that are not the recorded ones.

use super::memory::words;
use crate::classpath::{ClassPath, is_jdk};
use crate::text::one_line;
use hindsight_tracelog::crash::{ClassKind, Frame};
use hindsight_tracelog::reader::Crash;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A class that differs from the recorded one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Its name.
    pub class: String,
    /// Whether it differs or is missing.
    pub kind: Kind,
    /// The entry of the class path that has it.
    pub path: Option<String>,
    /// The entry further down that has the recorded class file, which the first one hides.
    pub hidden: Option<String>,
    /// The class of its loader, unless that is one of the JDK's own.
    pub loader: Option<String>,
    /// The SHA-256 of the class file that was recorded.
    pub recorded_sha256: String,
    /// The SHA-256 of the class file that was found.
    pub found_sha256: Option<String>,
}

/// How a class differs from the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Its class file is another one.
    Differs,
    /// It is not on the class path.
    Missing,
}

impl Difference {
    /// The difference as a sentence.
    pub fn tell(&self) -> String {
        self.tell_of(&format!("class {}", one_line(&self.class, 300)), false)
    }

    /// The sentence about a class, or about several that differ in nothing but the name.
    fn tell_of(&self, who: &str, several: bool) -> String {
        let or = |one: &'static str, more: &'static str| if several { more } else { one };
        match (&self.path, &self.loader) {
            (Some(path), _) => {
                let hidden = self.hidden.as_ref().map_or(String::new(), |hidden| {
                    format!(", which {} in {hidden}, further down", or("is", "are"))
                });
                format!(
                    "{who} on the class path ({path}) {}{hidden}",
                    or(
                        "differs from the one recorded",
                        "differ from those recorded"
                    )
                )
            }
            (None, None) => format!(
                "{who} {} not on the class path",
                or("was recorded but is", "were recorded but are")
            ),
            (None, Some(loader)) => format!(
                "{who} {} not on the class path: {} loader, {}, has made {} at run time or found {} \
                 elsewhere",
                or("is", "are"),
                or("its", "their"),
                one_line(loader, 300),
                or("it", "them"),
                or("it", "them")
            ),
        }
    }
}

/// Whether a loader of this class looks for class files along a path of its own, or makes classes
/// at run time, as Groovy's does.
fn is_special(loader: &str) -> bool {
    !loader.is_empty()
        && loader != "java.net.URLClassLoader"
        && !loader.starts_with("jdk.internal.loader.")
        && !loader.starts_with("sun.misc.Launcher$")
}

/// Whether a loader is that of the JDK's own classes: the boot loader, whose class is empty, or the
/// platform's.
pub fn is_of_jdk(loader: &str) -> bool {
    loader.is_empty() || loader == "jdk.internal.loader.ClassLoaders$PlatformClassLoader"
}

/// Whether the JDK has made a class at run time, a proxy's or a hidden one: another JVM has no
/// class of that name, or another one.
pub fn is_made_at_run_time(crash: &Crash, class: &str) -> bool {
    let made = |kind| matches!(kind, ClassKind::Proxy | ClassKind::Hidden);
    // In the name of a hidden class, the name in its class file precedes the slash, and a number
    // follows it.
    let number = class.rsplit_once('/').map_or("", |(_, behind)| behind);
    number.starts_with(|c: char| c.is_ascii_digit())
        || (crash.classes.iter()).any(|info| info.name == class && made(info.kind))
}

/// Parts of the names of classes that frameworks make at run time (Spring, CGLIB, Byte Buddy,
/// Hibernate, Weld, Javassist), or when a program is built.
const OF_PROXIES: [&str; 8] = [
    "$$SpringCGLIB$$",
    "$$EnhancerBy",
    "$$FastClassBy",
    "$ByteBuddy$",
    "$MockitoMock$",
    "$HibernateProxy$",
    "_$$_Weld",
    "_$$_jvst",
];

/// Whether a class is named like those with which frameworks wrap objects. One that is on the class
/// path is like any other.
pub fn is_named_as_proxy(class: &str) -> bool {
    OF_PROXIES.iter().any(|mark| class.contains(mark))
}

/// Compares the classes of a crash with those of the class path, as far as their hashes were
/// recorded.
pub fn differences(crash: &Crash, classpath: &ClassPath) -> Vec<Difference> {
    let mut recorded: BTreeMap<&str, &str> = BTreeMap::new();
    for class in &crash.classes {
        let named = !matches!(
            class.kind,
            ClassKind::Array | ClassKind::Proxy | ClassKind::Hidden
        );
        if let Some(sha256) = class.sha256.as_deref().filter(|_| named) {
            recorded.insert(&class.name, sha256);
        }
    }
    for frame in &crash.failure.frames {
        if let Some(sha256) = &frame.class_sha256
            && !is_made_at_run_time(crash, &frame.class)
        {
            recorded.insert(&frame.class, sha256);
        }
    }
    let mut differences = Vec::new();
    for (class, sha256) in recorded {
        let found = classpath.find(class);
        let kind = match &found {
            Some(found) if found.sha256 == sha256 => continue,
            Some(found) if found.other_sha256.iter().any(|other| other == sha256) => continue,
            Some(_) => Kind::Differs,
            // It was generated at run time, or is the JDK's.
            None if is_jdk(class) || class.contains("$$") || class.contains('/') => continue,
            None => Kind::Missing,
        };
        differences.push(Difference {
            class: class.to_owned(),
            kind,
            loader: crash
                .classes
                .iter()
                .find(|info| info.name == class && is_special(&info.loader))
                .map(|info| info.loader.clone()),
            hidden: classpath
                .entry_with(class, sha256)
                .map(|entry| entry.display().to_string()),
            path: found
                .as_ref()
                .map(|found| found.entry.display().to_string()),
            recorded_sha256: sha256.to_owned(),
            found_sha256: found.map(|found| found.sha256.clone()),
        });
    }
    differences
}

/// The differences of a crash as sentences. Many of one kind in one place are in one sentence,
/// which names some of them. `frames` are the classes of its frames, which come first.
pub fn told(differences: &[Difference], frames: &BTreeSet<&str>) -> Vec<String> {
    /// The most classes of one kind that have a sentence each.
    const FEW: usize = 4;
    /// The number of classes that a sentence about more names.
    const NAMED: usize = 3;
    let place = |difference: &Difference| {
        let Difference {
            kind,
            path,
            hidden,
            loader,
            ..
        } = difference;
        (*kind, path.clone(), hidden.clone(), loader.clone())
    };
    let mut places: BTreeMap<_, Vec<&Difference>> = BTreeMap::new();
    for difference in differences {
        places
            .entry(place(difference))
            .or_default()
            .push(difference);
    }
    let mut sentences = Vec::new();
    for mut alike in places.into_values() {
        if alike.len() <= FEW {
            sentences.extend(alike.into_iter().map(Difference::tell));
            continue;
        }
        alike.sort_by_key(|difference| !frames.contains(difference.class.as_str()));
        let names = alike.iter().take(NAMED);
        let names: Vec<String> = names.map(|one| one_line(&one.class, 300)).collect();
        let who = format!("{} and {} more", names.join(", "), alike.len() - NAMED);
        sentences.push(alike[0].tell_of(&format!("classes {who}"), true));
    }
    if sentences.len() < differences.len() {
        sentences.push("--format json names all of these classes".to_owned());
    }
    sentences
}

/// Names the directories of the class path that contain jars or modules which are not on it, if
/// classes are missing.
pub fn within_dirs(differences: &[Difference], classpath: &ClassPath) -> Vec<String> {
    if !differences.iter().any(|one| one.kind == Kind::Missing) {
        return Vec::new();
    }
    let name = |path: &Path| one_line(&path.display().to_string(), 300);
    let jars = classpath.dirs_of_jars().map(|dir| {
        let dir = name(dir);
        format!("the jars in {dir} are on the class path only by '{dir}/*', as for java")
    });
    let modules = classpath.dirs_of_modules().map(|(dir, modules)| {
        const NAMED: usize = 8;
        let mut entries: Vec<String> = modules.iter().take(NAMED).map(|it| name(it)).collect();
        if modules.len() > NAMED {
            entries.push("...".to_owned());
        }
        format!(
            "the modules in {} are on the class path only by their directories: {}",
            name(dir),
            entries.join(":")
        )
    });
    jars.chain(modules).collect()
}

/// Notes that another agent may be the reason of differences, if one came before ours on the
/// recorded command line: it has then rewritten the classes before their hashes were computed.
pub fn rewritten_before(command: &str) -> Option<String> {
    let mut before = words(command)
        .map(|word| word.trim_start_matches('"'))
        .take_while(|word| !(word.starts_with("-agentpath:") && word.contains("hindsight")));
    let other = before.find(|word| word.starts_with("-javaagent:"))?;
    let other = one_line(other.split('=').next().unwrap_or(other), 200);
    Some(format!(
        "{other} came before Hindsight on the recorded command line: it may have rewritten the \
         classes that differ; with -agentpath first, class files are compared as they are on disk"
    ))
}

/// Notes that another agent, as weavers do, may have added methods that are on the stack and in no
/// class file, and how tests can have them.
pub fn woven(crash: &Crash, classpath: &ClassPath) -> Option<String> {
    let mut words = words(&crash.meta.command).map(|word| word.trim_matches('"'));
    let agent = words.find_map(|word| word.strip_prefix("-javaagent:"))?;
    let agent = one_line(agent.split('=').next().unwrap_or(agent), 200);
    let is_added = |frame: &&Frame| {
        let found = classpath.info(&frame.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        // Numbered members are found by other means.
        let has_name = !frame.descriptor.is_empty() && !frame.method.contains("lambda$");
        has_name && info.is_some_and(|info| info.method(&frame.method, &frame.descriptor).is_none())
    };
    let frame = crash.failure.frames.iter().find(is_added)?;
    Some(format!(
        "{}.{} is in no class file; {agent} may have added it: tests that run with that agent have it \
         (--java-option=-javaagent: and its whole path)",
        one_line(&frame.class, 200),
        one_line(&frame.method, 100)
    ))
}

#[cfg(test)]
mod tests {
    use super::{
        ClassPath, Difference, Kind, is_named_as_proxy, is_special, rewritten_before, told,
        within_dirs,
    };
    use std::collections::BTreeSet;

    #[test]
    fn proxies_are_known_by_their_names() {
        for proxy in [
            "shop.PriceServiceImpl$$SpringCGLIB$$0",
            "shop.Order$HibernateProxy$4Kx",
        ] {
            assert!(is_named_as_proxy(proxy), "{proxy}");
        }
        for other in ["shop.Cart$$anon$1", "shop.package$$Cart", "shop.Cart"] {
            assert!(!is_named_as_proxy(other), "{other}");
        }
    }

    #[test]
    fn the_loader_of_a_class_that_is_missing_is_named() {
        let loader = "groovy.lang.GroovyClassLoader$InnerLoader";
        assert!(is_special(loader));
        for plain in [
            "",
            "jdk.internal.loader.ClassLoaders$AppClassLoader",
            "java.net.URLClassLoader",
        ] {
            assert!(!is_special(plain), "{plain}");
        }
        let difference = Difference {
            class: "Script1".to_owned(),
            kind: Kind::Missing,
            loader: Some(loader.to_owned()),
            path: None,
            hidden: None,
            recorded_sha256: String::new(),
            found_sha256: None,
        };
        assert_eq!(
            difference.tell(),
            "class Script1 is not on the class path: its loader, \
             groovy.lang.GroovyClassLoader$InnerLoader, has made it at run time or found it \
             elsewhere"
        );
        let twice = Difference {
            kind: Kind::Differs,
            loader: None,
            path: Some("new.jar".to_owned()),
            hidden: Some("old.jar".to_owned()),
            ..difference
        };
        assert_eq!(
            twice.tell(),
            "class Script1 on the class path (new.jar) differs from the one recorded, which is in \
             old.jar, further down"
        );
    }

    fn missing(class: &str) -> Difference {
        Difference {
            class: class.to_owned(),
            kind: Kind::Missing,
            loader: None,
            path: None,
            hidden: None,
            recorded_sha256: String::new(),
            found_sha256: None,
        }
    }

    #[test]
    fn a_directory_of_jars_is_named_where_classes_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.jar"), "").unwrap();
        let classpath = ClassPath::open(dir.path().to_str().unwrap()).unwrap();
        let [note] = &within_dirs(&[missing("lib.A")], &classpath)[..] else {
            panic!("not one note");
        };
        assert!(note.contains("are on the class path only by '/"), "{note}");
        assert!(within_dirs(&[], &classpath).is_empty());
    }

    #[test]
    fn modules_are_named_where_classes_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        for module in ["acme.core", "acme.app"] {
            let module = dir.path().join(module);
            std::fs::create_dir(&module).unwrap();
            std::fs::write(module.join("module-info.class"), "").unwrap();
        }
        let note = |classpath: &str| {
            let classpath = ClassPath::open(classpath).unwrap();
            within_dirs(&[missing("acme.app.A")], &classpath)
        };
        let dir = dir.path().display().to_string();
        let [told] = &note(&dir)[..] else {
            panic!("not one note");
        };
        let needed = format!("{dir}/acme.app:{dir}/acme.core");
        assert!(told.ends_with(&needed), "{told}");
        assert!(note(&needed).is_empty());
    }

    #[test]
    fn only_an_agent_in_front_is_named() {
        let note = rewritten_before(
            "java -javaagent:/a/jacoco.jar=x=y -agentpath:/b/libhindsight.so=out=o M",
        );
        assert!(
            note.unwrap()
                .starts_with("-javaagent:/a/jacoco.jar came before")
        );
        for command in [
            "java -agentpath:/b/libhindsight.so=out=o -javaagent:/a/jacoco.jar Main",
            "java -agentpath:/b/libhindsight.so Main -javaagent:x",
            "java -cp x Main",
        ] {
            assert_eq!(rewritten_before(command), None, "{command}");
        }
    }

    #[test]
    fn many_classes_of_one_place_are_told_in_one_sentence() {
        let mut all: Vec<Difference> = "abcdef"
            .chars()
            .map(|c| missing(&format!("lib.{c}")))
            .collect();
        all.push(Difference {
            kind: Kind::Differs,
            path: Some("new.jar".to_owned()),
            ..missing("app.Main")
        });
        assert_eq!(
            told(&all, &BTreeSet::from(["lib.e"])),
            [
                "class app.Main on the class path (new.jar) differs from the one recorded",
                "classes lib.e, lib.a, lib.b and 3 more were recorded but are not on the class path",
                "--format json names all of these classes",
            ]
        );
        assert_eq!(
            told(&all[3..], &BTreeSet::new()).len(),
            4,
            "few have a sentence each"
        );
    }
}
