//! Text that a key of a map, or a property's name, calls secret is in no crash file.

use hindsight_test_programs::{Workplace, both, jdks};
use hindsight_tracelog::crash::Body;
use std::collections::HashSet;

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
    }
}
