//! Secrets in places that are recognised by their surroundings, planted all at once.

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

    enum Key { DB_PASS, PASS }
    Map<String, Object> settings = new HashMap<>(Map.of("db.pass", "hunter by a property", "DB_PASS", "hunter by a variable",
            "GITHUB_TOKEN", "hunter of a service", "X-Vault-Token", List.of("hunter of a header"),
            "nextToken", "plain token", "pass", List.of("plain that has passed")));
    Map<String, Object> few = Map.of("npm.token", "hunter of few", "user", "plain of few");
    Map<Key, String> byKey = new EnumMap<>(Map.of(Key.DB_PASS, "hunter by a key", Key.PASS, "plain result"));
    Map<Key, String> hashed = new HashMap<>(Map.of(Key.DB_PASS, "hunter by a hash", Key.PASS, "plain and hashed"));
    String botToken = "hunter of a bot";
    Object tokens = List.of(new java.net.HttpCookie("SESSION", "hunter-session"));
    static class Cookie {
        static class Immutable { String name = "SESSION", value = "hunter-cookie", path = "plain path"; }
    }
    Object received = new Cookie.Immutable();
    static class Header {
        final String _name, _value;
        Header(String name, String value) { _name = name; _value = value; }
    }
    Object[] headers = {new Header("X-Api-Key", "hunter of headers"), new Header("Accept", "plain of headers")};
    Map<String, String> environment = System.getenv();

    List<String> command = new ArrayList<>(List.of("plain command", "--password", "hunter of a list", "--token=hunter-1"));
    List<String> fixed = List.of("plain and fixed", "--db-password", "hunter of more", "plain behind it");
    List<String> two = List.of("--api-key", "hunter of two");
    List<String> only = Collections.singletonList("--token=hunter-2");
    Object[] pairs = {"user", "plain of a pair", "password", "hunter of a pair", "pass", 7};
    List<String> names = new ArrayList<>(List.of("password", "plain name"));
    Object[] message = {"password", "plain message", "must not be {}", "plain end"};

    static class Column {
        final String name, type;
        final Object note;
        Column(String name, String type, Object note) { this.name = name; this.type = type; this.note = note; }
    }
    Map<String, Column> columns = new TreeMap<>(Map.of("id", new Column("plain-1", "plain.Text", ""),
            "passwordHash", new Column("hunterHash", "plain.Text", "hunter: 1")));
    String of = "plain.Text";
    String[] alike = {"about hunter: 1", "", "plain end of them"};

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
            .env("DB_PASSWORD", "hunter of the environment")
            .env("GH_TOKEN", "hunter")
            .env("PLANTED_BY", "plain variable")
            .args([
                "-Dgithub.token=hunter of a property",
                "-Dsmtp.pass=hunter-pass",
            ])
            .arg("-cp")
            .arg(&classes)
            .args([
                "Planted",
                "--db-pass",
                "hunter-argument",
                "--npm-token=hunter-npm",
            ])
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
        assert!(
            !workplace.run_json().to_string().contains("hunter"),
            "{label}"
        );
        let plain = stored.iter().filter(|text| text.starts_with("plain"));
        assert_eq!(plain.count(), 21, "{label}: {stored:?}");
        // A word is hidden where it stands alone, and an empty text is not a secret.
        let told = |text: &str| stored.iter().any(|one| one == text);
        assert!(told("plain.Text") && told(""), "{label}: {stored:?}");
    }
}
