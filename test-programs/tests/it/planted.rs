//! Secrets in places that say so by what is around them, planted all at once.

use crate::secrets::{readable, texts};
use hindsight_test_programs::{Workplace, both, jdks};
use std::fs;

/// Each of them begins with `hunter`; what stands beside them is plain.
const PROGRAM: &str = r#"
import java.util.*;
import java.util.function.*;

class Planted {
    Supplier<String> simple = simple("plain user", "hunter captured");
    Supplier<Object> own = own(1L, "hunter of an instance".toCharArray(), "plain captured");
    Supplier<Supplier<String>> nested = nested("hunter nested");

    String oracle = "jdbc:oracle:thin:scott/hunter-oracle@db:1521/x";
    byte[] oci = "url=jdbc:oracle:oci:scott/hunter-oci@(DESCRIPTION=(HOST=db))".getBytes();
    Object[] copies = {"hunter-oracle", "hunter-oci"};

    static Supplier<String> simple(String user, String password) { return () -> user + ":" + password; }
    Supplier<Object> own(long id, char[] apiKey, String text) { return () -> id + text + this.hashCode() + apiKey.length; }
    /** Its body has nothing that fails. */
    static Supplier<Supplier<String>> nested(String passphrase) { return () -> () -> passphrase; }

    void look() { throw new IllegalStateException(); }

    public static void main(String[] args) throws Exception { new Planted().look(); }
}
"#;

/// Hazard: secrets in memory.
#[test]
fn planted_secrets_are_not_stored() {
    for (jdk, debug) in jdks()
        .iter()
        .flat_map(|jdk| [(jdk, "-g"), (jdk, "-parameters")])
    {
        let label = format!("JDK {} {debug}", jdk.version);
        let workplace = Workplace::new(&format!("planted-{}", jdk.version));
        let release = [debug, "--release", "11"];
        let classes = workplace.compile_text(jdk, &release, "Planted", PROGRAM);
        let run = workplace
            .java_with_agent(jdk, "")
            .arg("-cp")
            .arg(&classes)
            .arg("Planted")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let stored = texts(&workplace.crashes().remove(0));
        let leaked: Vec<&String> = (stored.iter())
            .filter(|text| text.contains("hunter"))
            .collect();
        assert!(leaked.is_empty(), "{label}: {leaked:?}");
        let file = readable(&fs::read(&workplace.crash_files()[0]).unwrap());
        assert!(!file.contains("hunter"), "{label}");
        let plain = stored.iter().filter(|text| text.starts_with("plain"));
        assert_eq!(plain.count(), 2, "{label}: {stored:?}");
    }
}
