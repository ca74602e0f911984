//! Tests of programs that need a newer Java than tests do.

use hindsight_test_programs::{Workplace, both, hindsight, jdks, text};
use serde_json::Value;
use std::fs;
use std::process::Command;

const RECORDS: &str = "
public class Records {
    record Line(String name, int count) {
        int each(int parts) {
            return count / parts;
        }
    }

    static int share(Line line, int parts) {
        return line.each(parts);
    }

    public static void main(String[] args) {
        share(new Line(\"pen\", 3), 0);
    }
}
";

#[test]
fn records_are_made_and_called_directly() {
    for jdk in jdks() {
        let workplace = Workplace::new("records");
        let (classes, run) = workplace.run_text(jdk, "17", "", ("Records", RECORDS));
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let output = workplace
            .junit(jdk, &classes)
            .args(["--project", "--format", "json"])
            .output()
            .unwrap();
        let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap_or_default();
        let frames = report["crashes"][0]["frames"].as_array();
        let frames = frames.unwrap_or_else(|| panic!("{}", both(&output)));
        assert_eq!(frames.len(), 3);
        for frame in frames {
            assert_eq!(frame["verdict"], "reproduces", "{frame}");
        }

        let test = workplace.join("tests/src/test/java/RecordsCrash0001Test.java");
        let source = fs::read_to_string(test).unwrap();
        assert!(
            source.contains("Records.share(new Records.Line(\"pen\", 3), 0);"),
            "{source}"
        );
        let pom = fs::read_to_string(workplace.join("tests/pom.xml")).unwrap();
        assert!(
            pom.contains("<maven.compiler.release>17<"),
            "it does not compile with an older one:\n{pom}"
        );
    }
}

const LEDGER: &str = "
public class Ledger {
    public record Entry(String name, int amount) {
        public Entry twice() {
            return new Entry(name, 2 * amount);
        }
    }

    private int sum;

    public Ledger() {}

    public int add(Entry entry) {
        return sum += entry.amount();
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger();
        ledger.add(new Entry(\"pen\", 3).twice());
        ledger.add(new Entry(\"ink\", 4));
    }
}
";

#[test]
fn records_are_in_the_tests_of_a_run() {
    for jdk in jdks() {
        let workplace = Workplace::new("records-of-a-run");
        let (classes, run) = workplace.run_text(jdk, "17", "mode=trace", ("Ledger", LEDGER));
        assert!(run.status.success(), "{}", both(&run));
        let output = Command::new(hindsight())
            .args(["generate", "--observed", "--trace"])
            .arg(workplace.join("out"))
            .arg("--classpath")
            .arg(&classes)
            .arg("--out")
            .arg(workplace.join("tests"))
            .args(["--format", "json"])
            .env("JAVA_HOME", &jdk.home)
            .output()
            .unwrap();
        let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap_or_default();
        assert_eq!(report["dropped"]["not_compiled"], 0, "{}", both(&output));
        assert!(report["tests"].as_u64() >= Some(2), "{}", both(&output));
        let mut found = String::new();
        for entry in fs::read_dir(workplace.join("tests/src/test/java")).unwrap() {
            found += &fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        assert!(found.contains("new Ledger.Entry(\"pen\", 3)"), "{found}");
    }
}
