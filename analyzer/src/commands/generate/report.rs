//! The report of `hindsight generate`.

use crate::commands::Format;
use crate::generate::changes::Difference;
use crate::generate::narrowed;
use crate::generate::observed::{Counts, Lost};
use crate::generate::search::Tally;
use crate::generate::suite::Dropped;
use crate::java::names::package_of;
use crate::text::{count, one_line, simple_name};
use anyhow::Result;
use serde_json::{Value as Json, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

/// A test that another version does not pass.
pub struct Change {
    /// Its class.
    pub class: String,
    /// Its name.
    pub test: String,
    /// How it fails.
    pub how: String,
    /// Whether it compiles there.
    pub compiles: bool,
    /// Whether all that it shows is reported elsewhere: with an earlier test, or as a class that
    /// cannot be loaded.
    pub is_told: bool,
    /// Its calls that end differently.
    pub differences: Vec<Difference>,
}

/// What another version does differently.
pub struct Changes {
    /// The tests that it does not pass.
    pub tests: Vec<Change>,
    /// What it makes less visible, which tests need not notice.
    pub narrowed: narrowed::All,
    /// Its classes that cannot be loaded, each with the reason.
    pub unloadable: Vec<String>,
}

/// The most classes or calls that are named in one line.
const MAX_NAMED: usize = 3;

/// The type name of arguments that were hidden because of a secret's name.
const REDACTED: &str = "redacted";

/// Paths as texts, which is what JSON has.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect()
}

/// The first few names, and the number of others.
fn first_of(names: &[&str]) -> String {
    let (first, more) = names.split_at(names.len().min(MAX_NAMED));
    let first = one_line(&first.join(", "), 300);
    match more.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Prints the results for the sequences of a run.
fn observed(counts: &Counts, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "{} of {} carved sequences did the same again",
        counts.same, counts.carved
    )?;
    let mut lost: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (call, why) in &counts.lost {
        let (number, first) = lost.entry(why.reason()).or_default();
        *number += 1;
        if first.is_empty() {
            *first = match why {
                Lost::Otherwise(what) => format!(", such as {what}"),
                Lost::Blocked(Some(what)) => format!(", such as {what} by one with {call}"),
                Lost::Without(Some(left_out)) => {
                    format!(", such as {left_out} of one with {call}")
                }
                // Its last call need not be the one.
                Lost::Blocked(None) => String::new(),
                _ => format!(", such as one with {call}"),
            };
        }
    }
    for (reason, (number, first)) in lost {
        writeln!(out, "  {number} {reason}{}", one_line(&first, 200))?;
    }
    if !counts.omitted.is_empty() {
        let mut calls: Vec<(&String, &usize)> = counts.omitted.iter().collect();
        calls.sort_by_key(|(call, count)| (Reverse(**count), *call));
        let calls: Vec<&str> = calls.iter().map(|(call, _)| call.as_str()).collect();
        writeln!(
            out,
            "  without calls whose objects or arguments no test can make: {}",
            first_of(&calls)
        )?;
        if calls.iter().any(|call| call.contains(REDACTED)) {
            writeln!(
                out,
                "    redacted: what has such a name is a secret, by a built-in list or redact=..., and no value of it \
                 is in a run (docs/recordings.md, What is redacted)"
            )?;
        }
    }
    if counts.cut > 0 {
        writeln!(
            out,
            "  {} with more calls than a test can have, or only more of the same: the first of them are there",
            count(counts.cut, "object")
        )?;
    }
    if let Some(call) = counts.ended.keys().next() {
        let number = counts.ended.values().sum();
        writeln!(
            out,
            "  {} whose tests end before they do, such as where {}",
            count(number, "object"),
            one_line(call, 200)
        )?;
    }
    if !counts.unmade.is_empty() {
        let names: Vec<&str> = counts.unmade.keys().map(String::as_str).collect();
        writeln!(
            out,
            "  not tried: objects that nothing makes which a test can call: {}",
            first_of(&names)
        )?;
    }
    if !counts.passed_over.is_empty() {
        let names: Vec<&str> = counts.passed_over.keys().map(String::as_str).collect();
        writeln!(
            out,
            "  not tried: {}, where others make the same calls to the same ends or there are too many: {}",
            count(counts.passed_over.values().sum(), "object"),
            first_of(&names)
        )?;
    }
    if !counts.untried.is_empty() {
        let names: Vec<&str> = counts.untried.keys().map(String::as_str).collect();
        writeln!(
            out,
            "  not tried: {} of static methods, where others end the same or there are too many: {}",
            count(counts.untried.values().sum(), "call"),
            first_of(&names)
        )?;
    }
    Ok(())
}

/// A remark that objects of these classes are new ones, and what to record to have those of the
/// run.
fn stand_ins(classes: &[String]) -> String {
    let names: BTreeSet<&str> = classes.iter().map(String::as_str).collect();
    let packages: BTreeSet<&str> = names.iter().map(|name| package_of(name)).collect();
    // The probes run on classes in there.
    let recorded = packages.iter().filter(|package| **package != "java.lang");
    let recorded: Vec<String> = recorded.map(|package| format!("{package}.*")).collect();
    let all = match classes.len() {
        1 => "1 argument is".to_owned(),
        count => format!("{count} arguments are"),
    };
    let names = names.into_iter().map(simple_name).collect::<Vec<_>>();
    let said = format!(
        "{all} new and empty in place of what was passed ({})",
        names.join(", ")
    );
    match recorded.is_empty() {
        true => said,
        false => format!(
            "{said}: record with include=...;{} to have what was in it",
            recorded.join(";")
        ),
    }
}

/// The whole report.
pub struct Report {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The files of an earlier run that were removed.
    pub removed: Vec<PathBuf>,
    /// The number of tests.
    pub total: usize,
    /// The reason why there is none.
    pub reason: Option<String>,
    /// The number of others that differ from these only in constants, begin as they do, or have the
    /// same text.
    pub alike: usize,
    /// The tests that were dropped.
    pub dropped: Dropped,
    /// The counts of observed tests.
    pub counts: Option<Counts>,
    /// The class of each JDK object that such tests make anew, because the content of the run's is
    /// not known.
    pub new: Vec<String>,
    /// The counts of a search.
    pub searched: Option<Tally>,
    /// The number of sequences that a search has found and that were tried.
    pub found: usize,
    /// The number of those that have not become tests, by reason, with the same reason in words.
    pub lost: BTreeMap<&'static str, (usize, &'static str)>,
    /// Whether the same seed gives the same tests again, if it should: not if something has taken
    /// too long, or differed between executions.
    pub is_repeated: Option<bool>,
    /// The number of sequences that a search has found and for which there was no time.
    pub left_out: usize,
    /// What another version does differently, if there is one.
    pub changes: Option<Changes>,
    /// What the kernel has guarded while tests were tried.
    pub confined: Vec<&'static str>,
}

impl Report {
    /// Prints it.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written.
    pub fn print(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Text => self.text(out),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, &self.json())?;
                writeln!(out)?;
                Ok(())
            }
        }
    }

    fn text(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(counts) = &self.counts {
            observed(counts, out)?;
        }
        if !self.new.is_empty() {
            writeln!(out, "  {}", stand_ins(&self.new))?;
        }
        if let Some(tally) = self.searched {
            for (phase, how) in ["at random", "along models"].into_iter().enumerate() {
                if tally.executed[phase] > 0 {
                    writeln!(
                        out,
                        "{} sequences {how}, {} built upon",
                        tally.executed[phase], tally.components[phase]
                    )?;
                }
            }
            if tally.blocked + tally.lost > 0 {
                writeln!(
                    out,
                    "{} wanted what they must not, {} took too long or ended the JVM",
                    tally.blocked, tally.lost
                )?;
            }
            if !self.lost.is_empty() {
                writeln!(out, "of {} found and tried out,", self.found)?;
            }
            for (number, reason) in self.lost.values() {
                writeln!(out, "  {number} {reason}")?;
            }
            if self.is_repeated == Some(false) {
                writeln!(
                    out,
                    "  what takes too long or goes another way once may not the next time: the same seed need not \
                     give the same tests"
                )?;
            }
        }
        writeln!(
            out,
            "{} in {}",
            count(self.total, "test"),
            count(self.files.len(), "file")
        )?;
        if self.alike > 0 {
            writeln!(
                out,
                "  without {} more that differ in constants alone, end earlier, or ask the same objects",
                self.alike
            )?;
        }
        if self.left_out > 0 {
            writeln!(
                out,
                "{} more were found that there was no time to try out (--time)",
                self.left_out
            )?;
        }
        for (number, why) in [
            (self.dropped.not_compiled, "do not compile"),
            (
                self.dropped.untyped,
                "pass what no caller with type arguments can pass",
            ),
            (self.dropped.failed, "failed in a JVM of their own"),
            (self.dropped.flaky, "passed in some orders or places only"),
            (
                self.dropped.spoiling,
                "made others fail that came behind them",
            ),
            (
                self.dropped.harmful,
                "left something to be done later that a test must not do",
            ),
            (self.dropped.timed_out, "took too long"),
        ] {
            if number > 0 {
                writeln!(out, "dropped {number}: {why}")?;
            }
        }
        if let Some(error) = &self.dropped.error {
            writeln!(out, "  javac: {}", one_line(error, 200))?;
        }
        if let Some(why) = &self.dropped.unwritten {
            writeln!(out, "  not written: {}", one_line(why, 200))?;
        }
        for file in &self.files {
            writeln!(out, "  {}", file.display())?;
        }
        if !self.removed.is_empty() {
            writeln!(
                out,
                "removed {} of an earlier run",
                count(self.removed.len(), "file")
            )?;
            for file in &self.removed {
                writeln!(out, "  {}", file.display())?;
            }
        }
        if let Some(changes) = &self.changes {
            writeln!(
                out,
                "the other version passes {} of {}",
                self.total - changes.tests.len(),
                self.total
            )?;
            for class in &changes.unloadable {
                writeln!(out, "  the other class path cannot be loaded: {class}")?;
            }
            for (what, narrowed) in changes.narrowed.iter() {
                let (old, new) = (narrowed.old.word(), narrowed.new.word());
                writeln!(out, "  {what} was {old} and is {new}")?;
            }
            for change in changes.tests.iter().filter(|change| !change.is_told) {
                let how = one_line(&change.how, 400);
                if change.differences.is_empty() {
                    writeln!(out, "  {}.{}: {how}", change.class, change.test)?;
                    continue;
                }
                match change.compiles {
                    true => writeln!(out, "  {}.{}", change.class, change.test)?,
                    false => writeln!(out, "  {}.{}: {how}", change.class, change.test)?,
                }
                for Difference { call, old, new, .. } in &change.differences {
                    writeln!(out, "    {}", one_line(call, 200))?;
                    writeln!(out, "      old: {old}")?;
                    writeln!(out, "      new: {new}")?;
                }
            }
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let changes = self.changes.as_ref().map(|changes| {
            let rows = changes.tests.iter().map(|change| {
                let calls = change
                    .differences
                    .iter()
                    .map(|one| json!({"call": one.call, "old": one.old, "new": one.new}));
                json!({
                    "class": change.class,
                    "test": change.test,
                    "how": change.how,
                    "compiles": change.compiles,
                    "differences": calls.collect::<Vec<_>>(),
                })
            });
            rows.collect::<Vec<_>>()
        });
        let narrowed = self
            .changes
            .iter()
            .flat_map(|changes| changes.narrowed.iter());
        let narrowed = narrowed.map(|(what, narrowed)| {
            json!({"what": what, "old": narrowed.old.word(), "new": narrowed.new.word()})
        });
        json!({
            "schema": "hindsight.generate/1",
            "tests": self.total,
            "reason": self.reason,
            "alike": self.alike,
            "files": names(&self.files),
            "removed": names(&self.removed),
            "observed": self.counts.as_ref().map(|counts| json!({
                "carved": counts.carved,
                "same": counts.same,
                "lost": counts.lost.iter().map(|(call, lost)| json!({
                    "call": call,
                    "why": lost.word(),
                    "what": match lost {
                        Lost::Otherwise(what) => Some(what),
                        Lost::Blocked(what) | Lost::Without(what) => what.as_ref(),
                        _ => None,
                    },
                })).collect::<Vec<_>>(),
                "omitted": counts.omitted,
                "unmade": counts.unmade,
                "cut": counts.cut,
                "untried": counts.untried,
                "passed_over": counts.passed_over,
                "ended": counts.ended,
                "new": self.new.len(),
            })),
            "searched": self.searched.map(|tally| json!({
                "at_random": {"executed": tally.executed[0], "components": tally.components[0]},
                "along_models": {"executed": tally.executed[1], "components": tally.components[1]},
                "blocked": tally.blocked,
                "lost": tally.lost,
                "found": self.found,
                "no_tests": self.lost.iter().map(|(word, (number, _))| (*word, *number)).collect::<BTreeMap<_, _>>(),
                "repeated": self.is_repeated,
            })),
            "dropped": {
                "not_compiled": self.dropped.not_compiled,
                "untyped": self.dropped.untyped,
                "failed": self.dropped.failed,
                "flaky": self.dropped.flaky,
                "spoiling": self.dropped.spoiling,
                "harmful": self.dropped.harmful,
                "timed_out": self.dropped.timed_out,
            },
            "javac": self.dropped.error,
            "unwritten": self.dropped.unwritten,
            "left_out": self.left_out,
            "confined": self.confined,
            "changes": changes,
            "narrowed": narrowed.collect::<Vec<_>>(),
            "unloadable": self.changes.as_ref().map_or(&[][..], |changes| &changes.unloadable),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_recorded_is_what_one_is_told_to_record() {
        let classes = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            stand_ins(&classes(&["java.lang.StringBuilder"])),
            "1 argument is new and empty in place of what was passed (StringBuilder)"
        );
        assert_eq!(
            stand_ins(&classes(&[
                "java.util.ArrayList",
                "java.lang.StringBuilder",
                "java.util.ArrayList"
            ])),
            "3 arguments are new and empty in place of what was passed (StringBuilder, ArrayList): record with \
             include=...;java.util.* to have what was in it"
        );
    }

    /// The forbidden action is named if that is known; if the exception was caught, it is not.
    #[test]
    fn what_was_wanted_is_told_if_it_is_known() {
        let told = |lost: &[Option<&str>]| {
            let lost = lost.iter().enumerate().map(|(at, what)| {
                let what = what.map(str::to_owned);
                (format!("Safe.call{at}"), Lost::Blocked(what))
            });
            let counts = Counts {
                lost: lost.collect(),
                ..Counts::default()
            };
            let mut out = Vec::new();
            observed(&counts, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            out.lines().nth(1).unwrap_or_default().trim().to_owned()
        };
        assert_eq!(told(&[None]), "1 wanted what a test must not do");
        assert_eq!(
            told(&[None, Some("writing /etc/x")]),
            "2 wanted what a test must not do, such as writing /etc/x by one with Safe.call1"
        );
    }

    /// A call that was left out because of a secret's name is explained.
    #[test]
    fn secrets_are_explained() {
        let told = |call: &str| {
            let counts = Counts {
                omitted: BTreeMap::from([(call.to_owned(), 1)]),
                ..Counts::default()
            };
            let mut out = Vec::new();
            observed(&counts, &mut out).unwrap();
            String::from_utf8(out).unwrap().contains("What is redacted")
        };
        assert!(told("Card.activate(int) (int, redacted)"));
        assert!(!told("Card.each(Consumer) (Consumer)"));
    }
}
