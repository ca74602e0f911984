//! Line numbers, variable tables and type annotations follow the code that
//! they speak of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hindsight_classfile::ClassFile;
use hindsight_instrument::{Copy, CrashPlan, Workspace, crash, trace};

use crate::support::{self, Jdk};
use crate::workshop::{every_event, fresh_dir, instrument, javac, rules, run, undo};

/// The method's instructions by offset, and what `javap` says of the tables.
struct Listing {
    instructions: BTreeMap<usize, String>,
    text: String,
}

fn list(jdk: &Jdk, class: &Path) -> Listing {
    let text = run(jdk.tool("javap").args(["-v", "-p"]).arg(class));
    let start = text
        .find("moved(java.lang.String, int);")
        .expect("the method");
    let text = text[start..].to_owned();
    let code = text.split("Code:").nth(1).expect("code");
    let mut instructions = BTreeMap::new();
    for line in code.lines() {
        if line.contains("Exception table") {
            break;
        }
        if let Some((offset, instruction)) = line.trim().split_once(": ")
            && let Ok(offset) = offset.parse()
        {
            // Without constants' numbers, which instrumenting leaves, and jumps' targets.
            let name = instruction.split_whitespace().next().unwrap_or_default();
            instructions.insert(offset, name.to_owned());
        }
    }
    Listing { instructions, text }
}

impl Listing {
    /// The rows `start length slot name signature` of a table of variables.
    fn variable(&self, table: &str, name: &str) -> (usize, usize) {
        let section = self
            .text
            .split(&format!("{table}:"))
            .nth(1)
            .expect("the table");
        let row = section
            .lines()
            .skip(2)
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|row| row.get(3) == Some(&name))
            .expect("the variable");
        (
            row[0].parse().expect("start"),
            row[1].parse().expect("length"),
        )
    }

    /// A row `from to target type` of the exception table.
    fn handler(&self, index: usize) -> &str {
        let table = self.text.split("Exception table:").nth(1);
        let mut rows = table.expect("the table").lines().skip(2);
        rows.nth(index).expect("the row")
    }

    /// The number behind `key` in the first type annotation of this kind.
    fn annotation(&self, kind: &str, key: &str) -> usize {
        let line = self
            .text
            .lines()
            .find(|line| line.contains(kind))
            .expect("the annotation");
        let rest = line.split(&format!("{key}=")).nth(1).expect("the key");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    }
}

/// The plans that insert code.
fn plans(class: &[u8]) -> [Vec<u8>; 3] {
    let keep = CrashPlan {
        copy: Copy::Fields,
        max_fields: 8,
        first_id: 0,
        rules: &rules,
        known: &[],
    };
    [
        crash(class, &keep).map(|done| done.class),
        Workspace::default()
            .undoable(class, &undo(&keep, 0))
            .map(|done| done.class),
        trace(class, &every_event(0)).map(|done| done.class),
    ]
    .map(|class| class.expect("the class is sound").expect("a change"))
}

#[test]
fn tables_and_type_annotations_move_with_the_code() {
    let jdk = support::jdks().remove(0);
    let folder = fresh_dir("tables");
    javac(&jdk, &folder, &["--release", "17", "-g"], &["Tables.java"]);
    let path = folder.join("Tables.class");
    let before = list(&jdk, &path);
    for class in plans(&fs::read(&path).expect("the class")) {
        fs::write(&path, class).expect("the class is writable");
        check(&before, &list(&jdk, &path));
    }
}

fn check(before: &Listing, after: &Listing) {
    let (old_start, _) = before.variable("LocalVariableTable", "marked");
    let (start, length) = after.variable("LocalVariableTable", "marked");
    assert!(start > old_start, "entry code has been inserted before it");
    assert_eq!(
        after.variable("LocalVariableTypeTable", "marked"),
        (start, length)
    );
    assert_eq!(after.annotation("LOCAL_VARIABLE", "start_pc"), start);
    assert_eq!(after.annotation("LOCAL_VARIABLE", "length"), length);

    // Annotations of instructions stand at the same instruction as before.
    for kind in ["NEW", "CAST"] {
        let (old, new) = (
            before.annotation(&format!("{kind},"), "offset"),
            after.annotation(&format!("{kind},"), "offset"),
        );
        assert!(new > old, "{kind}");
        assert_eq!(
            before.instructions.get(&old),
            after.instructions.get(&new),
            "{kind}"
        );
    }
    // Guards of probes stand before it in the table.
    let handler = |listing: &Listing| {
        let index = listing.annotation("EXCEPTION_PARAMETER", "exception_index");
        assert!(listing.handler(index).contains("IllegalStateException"));
        index
    };
    assert_eq!(handler(before), 0);
    assert!(handler(after) > 0);

    // Lines: the same lines, in the same order, each at an instruction.
    let lines = |listing: &Listing| -> Vec<(String, usize)> {
        listing
            .text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("line "))
            .filter_map(|line| line.split_once(": "))
            .filter_map(|(line, at)| Some((line.to_owned(), at.parse().ok()?)))
            .collect()
    };
    let (old, new) = (lines(before), lines(after));
    assert_eq!(
        old.iter().map(|(line, _)| line).collect::<Vec<_>>(),
        new.iter().map(|(line, _)| line).collect::<Vec<_>>()
    );
    assert!(
        new.iter()
            .all(|(_, at)| after.instructions.contains_key(at))
    );
}

/// A JVM runs methods whose type annotations lead nowhere.
#[test]
fn type_annotations_that_make_no_sense_are_left_out() {
    let jdk = support::jdks().remove(0);
    let folder = fresh_dir("tables-broken");
    javac(&jdk, &folder, &["--release", "17", "-g"], &["Tables.java"]);
    let bytes = fs::read(folder.join("Tables.class")).expect("the class");
    let attribute = |bytes: &[u8]| {
        let class = ClassFile::parse(bytes).expect("it is sound");
        let mut methods = class.methods.iter();
        let moved = methods.find(|method| method.name == "moved");
        let code = moved.and_then(|moved| moved.code(&class.pool).expect("it is sound"));
        let attributes = code.expect("it has code").attributes;
        let found = attributes.find(&class.pool, "RuntimeVisibleTypeAnnotations");
        found.map(|found| (found.offset, found.info.to_vec()))
    };
    let (offset, info) = attribute(&bytes).expect("it has some");
    // Of a formal parameter, which is not found in code; an unknown kind; more than there are.
    for (at, byte) in [(2, 0x16), (2, 0xff), (1, 0xff)] {
        let mut broken = bytes.clone();
        assert_eq!(broken[offset + at], info[at]);
        broken[offset + at] = byte;
        let rewritten = instrument(&broken, Copy::Fields, 0);
        assert!(
            rewritten
                .methods
                .iter()
                .any(|method| method.name == "moved")
        );
        let class = rewritten.class.expect("it changes");
        assert_eq!(attribute(&class), None, "{at} {byte:#x}");
    }
}
