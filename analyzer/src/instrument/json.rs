//! Listings and counts for machines: `hindsight.instrument/1`.

use super::listing::MethodListing;
use super::plan::{self, Mode, Plan, Probed};
use super::run::Outcome;
use hindsight_instrument::{MemberName, MemberNames, Skipped};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// A class with new code, or one that would need it.
#[derive(Serialize)]
struct Class<'a> {
    class: &'a str,
    path: &'a str,
    /// The reason why it stays as it is, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    methods: Vec<Method<'a>>,
    /// The methods that have less than was asked for.
    reduced: Vec<Left<'a>>,
    left: Vec<Left<'a>>,
    /// The members that the numbers of fields and callees mean.
    fields: Vec<Numbered>,
    callees: Vec<Numbered>,
}

/// A member that probes name by number.
#[derive(Serialize)]
struct Numbered {
    id: u32,
    class: String,
    name: String,
    descriptor: String,
}

impl Numbered {
    fn list(members: &MemberNames) -> Vec<Self> {
        let one = |member: MemberName| Numbered {
            id: member.id,
            class: member.owner.replace('/', "."),
            name: member.name,
            descriptor: member.descriptor,
        };
        members.iter().map(one).collect()
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Method<'a> {
    Listed(&'a MethodListing),
    Named {
        id: u32,
        method: &'a str,
        descriptor: &'a str,
    },
}

#[derive(Serialize)]
struct Left<'a> {
    method: &'a str,
    descriptor: &'a str,
    reason: String,
}

impl<'a> Left<'a> {
    fn of(skipped: Skipped<'a>) -> Self {
        Left {
            method: skipped.name,
            descriptor: skipped.descriptor,
            reason: skipped.reason.to_string(),
        }
    }
}

/// A class with new code: its methods by number, those of `listed` with code.
pub fn class(path: &str, rewritten: &Probed, listed: &[MethodListing]) -> Vec<u8> {
    let mut listed = listed.iter().peekable();
    let methods = rewritten.methods.iter().map(|method| {
        match listed.next_if(|listed| listed.id == method.id) {
            Some(listed) => Method::Listed(listed),
            None => Method::Named {
                id: method.id,
                method: method.name,
                descriptor: method.descriptor,
            },
        }
    });
    print(&Class {
        class: &rewritten.class_name.replace('/', "."),
        path,
        reason: None,
        methods: methods.collect(),
        reduced: rewritten.reduced.iter().map(Left::of).collect(),
        left: rewritten.skipped.iter().map(Left::of).collect(),
        fields: Numbered::list(&rewritten.fields),
        callees: Numbered::list(&rewritten.callees),
    })
}

/// A class without new code, with the reason; or with the methods that would need it.
pub fn left(
    path: &str,
    class: &str,
    reason: Option<plan::Left>,
    methods: Vec<Skipped<'_>>,
) -> Vec<u8> {
    if methods.is_empty() && reason.is_none() {
        return Vec::new();
    }
    print(&Class {
        class,
        path,
        reason: reason.map(|reason| reason.to_string()),
        methods: Vec::new(),
        reduced: Vec::new(),
        left: methods.into_iter().map(Left::of).collect(),
        fields: Vec::new(),
        callees: Vec::new(),
    })
}

fn print(class: &Class<'_>) -> Vec<u8> {
    // Strings and numbers can always be written as JSON.
    serde_json::to_vec(class).unwrap_or_default()
}

/// Writes the whole document.
///
/// # Errors
///
/// Fails if the listing cannot be read back, or `out` cannot be written.
pub fn write(
    input: &Path,
    plan: &Plan,
    outcome: &mut Outcome,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = |path: &Path| serde_json::Value::from(path.to_string_lossy());
    let output = outcome.out.as_deref().map_or(serde_json::Value::Null, path);
    let (copy, what) = match plan.mode {
        Mode::Crash => (Some(plan.copy.name()), None),
        Mode::Trace => (None, Some(plan.what.to_string())),
    };
    writeln!(
        out,
        "{{\"schema\":\"hindsight.instrument/1\",\"input\":{},\"output\":{output},\
         \"mode\":\"{}\",\"copy\":{},\"trace_what\":{},\"classes\":[",
        path(input),
        plan.mode.name(),
        serde_json::Value::from(copy),
        serde_json::Value::from(what),
    )?;
    io::Seek::rewind(&mut outcome.listed)?;
    io::copy(&mut outcome.listed, out)?;
    write!(out, "\n],\"counts\":")?;
    serde_json::to_writer(&mut *out, &outcome.tally)?;
    write!(out, ",\"unmatched\":")?;
    serde_json::to_writer(&mut *out, &outcome.unmatched)?;
    writeln!(out, "}}")
}
