//! What is in an object that `redact` forbids to store is not stored elsewhere either, and an entry
//! that matches nothing is reported.

use crate::secrets::{readable, texts};
use hindsight_test_programs::{Workplace, both, hindsight, jdks, jdks_in_turn};
use std::collections::HashSet;
use std::fs;
use std::process::Command;

const UNSTORED: &str = "\
import java.util.*;
import java.util.function.Supplier;

class Unstored {
    @interface Pii {}

    static class Iban {
        final String text;
        Iban(String text) { this.text = text; }
    }

    @Pii static class Patient {
        String diagnosis;
        String kind = new String(\"plain\");
        List<Object> notes = new LinkedList<>();
        StringBuilder built;
        Ward ward = new Ward();
        Patient next = this;
    }

    static class Ward {
        String name = new String(\"plain ward 5\");
        String floor = new String(\"plain floor 6\");
    }

    static class Visit { String reason; }

    @Pii interface Secretive extends Supplier<String> {}

    static class Others {
        Map<String, Iban> byIban = new HashMap<>();
        List<Object> all = new ArrayList<>();
    }

    static String text(String text) { return new String(text.toCharArray()); }

    static void fill(Others others, Patient patient) {
        Iban iban = new Iban(text(\"hunter-1 DE89\"));
        others.byIban.put(iban.text, iban);
        patient.diagnosis = text(\"hunter-2 old\");
        patient.built = new StringBuilder(\"hunter-3 built\");
        Visit visit = new Visit();
        visit.reason = text(\"hunter-4 reason\");
        patient.notes.addAll(List.of(text(\"hunter-5 note\"), visit, List.of(\"hunter-6 deep\"), \"007\"));
        String captured = text(\"hunter-7 captured\");
        Secretive lambda = () -> captured;
        Integer number = 471147;
        patient.notes.add(number);
        others.all.add(number);
        others.all.addAll(List.of(visit, patient.notes.get(0), \"plain <hunter-6 deep>\", lambda, captured));
        others.all.addAll(List.of(\"hunter-3 built\".toCharArray(), \"hunter-2 old\".getBytes()));
        others.all.addAll(List.of(\"plain shown\", patient.ward.name, patient.kind, patient, patient.notes.get(3)));
        check(others, patient, iban);
    }

    static void check(Others others, Patient patient, Iban iban) {
        patient.diagnosis = text(\"hunter-8 new\");
        others.all.add(\"plain or hunter-8 new?\");
        throw new IllegalStateException(\"wrong: \" + iban.text + patient.diagnosis + patient.notes.get(0));
    }

    public static void main(String[] args) {
        fill(new Others(), new Patient());
    }
}
";

#[test]
fn what_is_in_an_object_that_is_not_stored_is_secret_elsewhere() {
    let sides =
        (jdks().iter()).flat_map(|jdk| ["copy=reference", "copy=deep"].map(|copy| (jdk, copy)));
    for (jdk, copy) in sides {
        let label = format!("JDK {} {copy}", jdk.version);
        let workplace = Workplace::new(&format!("unstored-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Unstored", UNSTORED);
        let run = workplace
            .java_with_agent(
                jdk,
                &format!("{copy},redact=type:**.Iban;type:Unstored.Iban;annotation:Pii"),
            )
            .arg("-cp")
            .arg(&classes)
            .arg("Unstored")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{label}: {}", both(&run));
        let crash = workplace.crashes().remove(0);
        let mut texts = texts(&crash);
        // Without its earlier value, it is not known to be one.
        if copy == "copy=reference" {
            texts.retain(|text| text != "hunter-2 old");
        } else {
            let bytes = fs::read(&workplace.crash_files()[0]).unwrap();
            assert!(!readable(&bytes).contains("hunter"), "{label}");
        }
        let leaked = texts.iter().filter(|text| text.contains("hunter"));
        let leaked: Vec<&String> = leaked.collect();
        assert!(leaked.is_empty(), "{label}: {leaked:?}");
        // A number is hidden there alone.
        let shown = Command::new(hindsight())
            .args(["inspect", "--full"])
            .arg(&workplace.crash_files()[0])
            .output()
            .unwrap();
        assert!(both(&shown).contains("471147"), "{label}: {}", both(&shown));
        // This is the object itself, however short.
        assert!(!texts.iter().any(|text| text == "007"), "{label}");
        let plain = texts.iter().filter(|text| text.starts_with("plain"));
        let plain: HashSet<&str> = plain.map(String::as_str).collect();
        let mut expected = HashSet::from(["plain shown"]);
        // A word, or a text in another object, is hidden there alone; but not what a frame has kept
        // of its parameter.
        if copy == "copy=reference" {
            expected.extend(["plain", "plain ward 5"]);
        }
        assert_eq!(plain, expected, "{label}");
        assert_eq!(
            crash.failure.exceptions[0].message.as_deref(),
            Some("wrong: *********"),
            "{label}"
        );
    }
}

#[test]
fn an_entry_that_names_nothing_is_told() {
    let jdk = &jdks_in_turn()[0];
    let workplace = Workplace::new("unnamed-redact");
    let classes = workplace.compile_text(jdk, &["--release", "11"], "Unstored", UNSTORED);
    let entries = "diag*;x y;type:Iban;type:**Iban;annotation:Pii;annotation:Nope";
    let run = workplace
        .java_with_agent(jdk, &format!("redact={entries}"))
        .arg("-cp")
        .arg(&classes)
        .arg("Unstored")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", both(&run));
    let told = workplace.run_json();
    let entries = told["redact"].as_array().unwrap().iter();
    let named = entries.filter(|entry| entry["has_named"] == true);
    let named: Vec<&str> = named.filter_map(|entry| entry["entry"].as_str()).collect();
    assert_eq!(named, ["diag*", "type:**Iban", "annotation:Pii"], "{told}");
    let grouped = Command::new(hindsight())
        .arg("crashes")
        .arg(workplace.join("out"))
        .output()
        .unwrap();
    let said = both(&grouped);
    for entry in ["x y", "type:Iban", "annotation:Nope"] {
        assert!(
            said.contains(&format!("matches redact={entry}\n")),
            "{said}"
        );
    }
    assert_eq!(said.matches("matches redact=").count(), 3, "{said}");
}
