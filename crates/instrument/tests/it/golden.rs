//! The inserted code as `javap` lists it, for people to read.

use std::fs;
use std::path::PathBuf;

use hindsight_instrument::{Copy, TracePlan, What, trace};

use crate::support::{self, Jdk};
use crate::workshop::{check_golden, fresh_dir, instrument, javac, run};

/// Removes what depends on the compiler, and the indices of constants, which change with the
/// compiler's release.
fn normalize(listing: &str) -> String {
    let mut out = String::new();
    let mut shown = false;
    for line in listing.lines().skip_while(|line| *line != "{") {
        let text = line.trim_end();
        if text.starts_with("  ") && !text.starts_with("   ") {
            out.push_str(&format!("\n{text}\n"));
            shown = false;
        } else if text.trim_start().starts_with("stack=") || text.trim() == "Code:" {
            shown = true;
            if text.trim() != "Code:" {
                out.push_str(&format!("{text}\n"));
            }
        } else if text.trim() == "LineNumberTable:" {
            shown = false;
        } else if text.trim() == "Exception table:" || text.trim().starts_with("StackMapTable:") {
            shown = true;
            out.push_str(&format!("{text}\n"));
        } else if shown && text.starts_with("    ") && !text.trim_start().starts_with("line ") {
            out.push_str(&format!("{}\n", without_indices(text)));
        }
    }
    out
}

/// Replaces `#12` by `#`.
fn without_indices(line: &str) -> String {
    let mut out = String::new();
    let mut index = false;
    for c in line.chars() {
        match c {
            '0'..='9' if index => continue,
            ' ' if index => {}
            _ => index = false,
        }
        if c == '#' {
            index = true;
        }
        if !(c == ' ' && out.ends_with(' ') && index) {
            out.push(c);
        }
    }
    out.trim_end().to_owned()
}

/// Compiles the class with the compiler of one release, because others make other code.
fn compile(jdk: &Jdk, class: &str) -> PathBuf {
    let dir = fresh_dir(&format!("golden-{class}"));
    let options = ["-Xlint:-options", "--release", "8"];
    javac(jdk, &dir, &options, &[&format!("{class}.java")]);
    dir.join(format!("{class}.class"))
}

#[test]
fn the_code_of_traces_is_as_reviewed() {
    let jdk = support::jdks().remove(0);
    let path = compile(&jdk, "TracedListing");
    let bytes = fs::read(&path).expect("a class can be read");
    let plan = TracePlan {
        what: &|_, _| What {
            reads: true,
            ..What::CALLS_AND_WRITES
        },
        first_method: 0,
        first_field: 0,
        first_callee: 0,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
    };
    let traced = trace(&bytes, &plan).expect("it is sound");
    fs::write(&path, traced.class.expect("it changes")).expect("a class can be written");
    let listing = run(jdk.tool("javap").args(["-v", "-p"]).arg(&path));
    check_golden("TracedListing.txt", &normalize(&listing));
}

#[test]
fn the_inserted_code_is_as_reviewed() {
    let jdk = support::jdks().remove(0);
    let path = compile(&jdk, "Listing");
    let bytes = fs::read(&path).expect("a class can be read");
    let rewritten = instrument(&bytes, Copy::Fields, 0);
    let mut captures = String::new();
    for method in rewritten.methods.iter() {
        captures.push_str(&format!(
            "{} {}{} {:?}\n",
            method.id, method.name, method.descriptor, method.lines
        ));
        for capture in method.captures {
            captures.push_str(&format!("  {capture:?}\n"));
        }
    }
    for skipped in rewritten.skipped.iter() {
        captures.push_str(&format!(
            "- {}{}: {}\n",
            skipped.name, skipped.descriptor, skipped.reason
        ));
    }
    fs::write(&path, rewritten.class.expect("it changes")).expect("a class can be written");
    let listing = run(jdk.tool("javap").args(["-v", "-p"]).arg(&path));
    check_golden("Listing.txt", &(captures + &normalize(&listing)));
}
