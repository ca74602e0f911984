//! Text that a key of a map, or a property's name, calls secret is in no crash
//! file, and in nothing that is made of one.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks};
use hindsight_tracelog::crash::Body;
use hindsight_tracelog::record;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "\
import java.util.*;
import java.util.concurrent.*;

class Maps {
    static int number;

    /** A map's entry for a secret, and one that may be shown. */
    static <M extends Map<String, Object>> M fill(M map) {
        number++;
        map.put(new String(\"db.password\"), new String(\"hunter\") + number);
        map.put(\"db.host\", \"plain\" + number);
        return map;
    }

    static void look(Object... maps) {
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        System.setProperty(\"api-key\", \"hunter in a property\");
        System.setProperty(\"app.mode\", \"fast\");
        Properties properties = new Properties();
        properties.setProperty(\"db.password\", \"hunter in properties\");
        Map<String, Object> lists = new HashMap<>();
        lists.put(\"Authorization\", List.of(\"hunter in a list\", new StringBuilder(\"hunter built\")));
        look(fill(new HashMap<>()), fill(new LinkedHashMap<>()), fill(new TreeMap<>()),
                fill(new Hashtable<>()), fill(new IdentityHashMap<>()), fill(new WeakHashMap<>()),
                fill(new ConcurrentHashMap<>()), fill(new ConcurrentSkipListMap<>()),
                Map.of(\"password\", \"hunter alone\"),
                Map.of(\"password\", \"hunter\", \"user\", \"plain of two\"),
                Collections.singletonMap(\"password\", \"hunter single\"),
                new AbstractMap.SimpleEntry<>(\"password\", \"hunter entry\"),
                Map.entry(\"password\", \"hunter pair\"), properties, lists);
    }
}
";

#[test]
fn values_of_secret_keys_are_not_stored() {
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("secrets-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Maps", PROGRAM);
        let run = workplace
            .java_with_agent(jdk, "")
            .arg("-cp")
            .arg(&classes)
            .arg("Maps")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let texts: Vec<String> = crash
            .objects
            .iter()
            .flatten()
            .filter_map(|object| match &object.body {
                Body::String(text) => Some(text.to_lossy()),
                Body::Primitives(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect();
        let leaked: Vec<&String> = texts
            .iter()
            .filter(|text| text.contains("hunter"))
            .collect();
        assert!(leaked.is_empty(), "JDK {}: {leaked:?}", jdk.version);
        let plain: HashSet<&String> = texts.iter().filter(|text| text.contains("plain")).collect();
        assert_eq!(plain.len(), 9, "JDK {}: {plain:?}", jdk.version);
        assert_eq!(
            crash.meta.properties,
            [("api-key", "***"), ("app.mode", "fast")].map(|(k, v)| (k.to_owned(), v.to_owned())),
            "JDK {}",
            jdk.version
        );
        let file = workplace.crash_files().remove(0);
        check_outputs(&workplace, jdk, &file, &classes);
    }
}

/// Searches emitted tests, with values built and loaded, and a trimmed file.
fn check_outputs(workplace: &Workplace, jdk: &Jdk, file: &Path, classes: &Path) {
    let run = |arguments: &[&str], out: &str| {
        let output = Command::new(hindsight())
            .args(arguments)
            .arg(file)
            .arg("--classpath")
            .arg(classes)
            .arg("--jdk")
            .arg(&jdk.home)
            .arg("--out")
            .arg(workplace.join(out))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
    };
    run(&["junit", "--project", "--keep-all"], "built");
    run(&["junit", "--project", "--values", "loaded"], "loaded");
    run(&["trim"], "trimmed.hsc");
    let mut files = vec![workplace.join("trimmed.hsc")];
    for out in ["built", "loaded"] {
        files_below(&workplace.join(out), &mut files);
    }
    let mut plain = 0;
    for path in &files {
        // The program itself may well hold it.
        if path.extension().is_some_and(|extension| extension == "jar") {
            continue;
        }
        let text = readable(&fs::read(path).unwrap());
        assert!(
            !text.contains("hunter"),
            "JDK {}: {}",
            jdk.version,
            path.display()
        );
        plain += usize::from(text.contains("plain"));
    }
    // The search does find what is there: in sources and in crash files.
    assert!(plain >= 4, "JDK {}: {plain} of {files:?}", jdk.version);
}

/// The bytes of a file as text, one byte a character; of a crash file, of what
/// is packed in it.
fn readable(bytes: &[u8]) -> String {
    let mut content = bytes.to_vec();
    if bytes.starts_with(record::MAGIC) {
        let mut offset = record::FILE_HEADER;
        while offset < bytes.len() {
            let found = record::find(bytes, offset).unwrap();
            content.extend(found.unpack().unwrap());
            offset = found.next;
        }
    }
    // Two-byte characters read as text too without their zeros.
    content.retain(|&byte| byte != 0);
    content.into_iter().map(char::from).collect()
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}
