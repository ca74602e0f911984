//! Writes groups for people and machines.

use super::collect::{Entry, NotStored, SCHEMA};
use super::group::{Group, Groups, total};
use super::key::Key;
use crate::text::{count, one_line, utc};
use hindsight_tracelog::crash::THREAD_STATE;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The number of versions that are named; further ones are counted.
const VERSIONS: usize = 5;

/// Writes the first `limit` groups for people.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn text(
    groups: &Groups,
    not_stored: &NotStored,
    limit: usize,
    colour: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (bold, plain) = if colour {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    let all = groups.sorted();
    let crashes = total(all.iter().map(|(_, group)| group.count));
    let files = total(all.iter().map(|(_, group)| group.files));
    let [crashes, files] = [crashes, files].map(|sum| usize::try_from(sum).unwrap_or(usize::MAX));
    writeln!(
        out,
        "{} of {} ({})",
        count(all.len(), "group"),
        count(crashes, "crash"),
        count(files, "file")
    )?;
    let not_stored = total(not_stored.values().copied());
    if not_stored > 0 {
        writeln!(
            out,
            "and {not_stored} more that were not stored (per-minute, max-crashes, cpu, or not written), of these groups \
             or others"
        )?;
    }
    let width = all
        .first()
        .map_or(1, |(_, group)| group.count.to_string().len());
    for (key, group) in all.iter().take(limit) {
        writeln!(out)?;
        let least = if group.at_least { "at least " } else { "" };
        writeln!(
            out,
            "{least}{:>width$} x {bold}{}{plain}  [{}]",
            group.count,
            one_line(&exceptions(key), 300),
            key.id()
        )?;
        let indent = " ".repeat(width + 3);
        if let Some(message) = &group.message {
            writeln!(out, "{indent}{}", one_line(message, 150))?;
        }
        for frame in &key.frames {
            writeln!(out, "{indent}  at {}", one_line(frame, 200))?;
        }
        for cause in key.causes.iter().filter(|cause| !cause.frames.is_empty()) {
            let exception = one_line(&cause.exception, 200);
            writeln!(out, "{indent}caused by {exception}")?;
            for frame in &cause.frames {
                writeln!(out, "{indent}  at {}", one_line(frame, 200))?;
            }
        }
        let seen = if group.first_ms == group.last_ms {
            utc(group.first_ms)
        } else {
            format!("{} to {}", utc(group.first_ms), utc(group.last_ms))
        };
        writeln!(out, "{indent}seen      {seen}")?;
        if let Some(versions) = versions(&group.versions) {
            writeln!(out, "{indent}versions  {versions}")?;
        }
        writeln!(out, "{indent}best      {}", best(group))?;
    }
    if let Some(more) = all.len().checked_sub(limit).filter(|more| *more > 0) {
        writeln!(out, "\n{} not shown (--limit)", count(more, "more group"))?;
    }
    Ok(())
}

/// The classes of the exceptions: `a.Wrapper <- a.Cause`.
fn exceptions(key: &Key) -> String {
    if key.exception == THREAD_STATE {
        return "a dump of all threads (see hindsight inspect)".to_owned();
    }
    std::iter::once(key.exception.as_str())
        .chain(key.causes.iter().map(|cause| cause.exception.as_str()))
        .collect::<Vec<_>>()
        .join(" <- ")
}

/// The versions with their counts: `1.3 (11), 1.2 (3)`, the most frequent first.
fn versions(versions: &BTreeMap<String, u64>) -> Option<String> {
    let mut named: Vec<_> = versions
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .collect();
    if named.is_empty() {
        return None;
    }
    named.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut words: Vec<String> = named
        .iter()
        .take(VERSIONS)
        .map(|(name, count)| format!("{} ({count})", one_line(name, 60)))
        .collect();
    if let Some(more) = named.len().checked_sub(VERSIONS).filter(|more| *more > 0) {
        words.push(format!("{more} more"));
    }
    Some(words.join(", "))
}

fn best(group: &Group) -> String {
    let best = &group.best;
    let damaged = if best.whole { "" } else { ", damaged" };
    format!(
        "{} ({} of {} captured, {} kB{damaged})",
        one_line(&best.file, 400),
        best.captured,
        count(best.frames, "frame"),
        best.bytes.div_ceil(1024)
    )
}

/// Writes all groups as one document, which is an input again.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn json(
    groups: &Groups,
    not_stored: &NotStored,
    errors: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        groups: Vec<Entry>,
        not_stored: &'a NotStored,
        errors: &'a [String],
    }
    let entry = |(key, group): (&Key, &Group)| Entry {
        id: key.id(),
        exception: key.exception.clone(),
        frames: key.frames.clone(),
        causes: key.causes.clone(),
        group: group.clone(),
    };
    let document = Document {
        schema: SCHEMA,
        groups: groups.sorted().into_iter().map(entry).collect(),
        not_stored,
        errors,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_cannot_be_added_up_are_told() {
        let not_stored = NotStored::from([("1/0".to_owned(), u64::MAX), ("2/0".to_owned(), 1)]);
        let mut out = Vec::new();
        text(&Groups::default(), &not_stored, 1, false, &mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        let most = format!("and {} more that were not stored", u64::MAX);
        assert!(told.contains(&most), "{told}");
    }
}
