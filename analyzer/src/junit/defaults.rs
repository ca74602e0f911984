//! The default locale and time zone of the recorded JVM, if those of the JVMs that run tests
//! differ.
//!
//! They determine what a program formats, parses or turns to lower case without naming a locale,
//! and how it handles local times. A test that does not reproduce otherwise sets those that differ
//! here, and restores the previous ones.

use super::Options;
use super::Result;
use super::candidate::{Plan, State};
use super::compile::Workplace;
use super::report::Verdict;
use crate::files::failed;
use crate::java::lines::INDENT;
use crate::java::literal;
use crate::java::names::Names;
use crate::jdk::class_path;
use hindsight_tracelog::crash::Defaults;

/// The names of the variables for the previous values.
pub const VARIABLES: [&str; 4] = ["locale", "format", "display", "zone"];

/// Asks a JVM like those that run tests for its own, once, if one of `tried` has not reproduced.
///
/// # Errors
///
/// Fails if the JVM cannot be started.
pub fn find(
    plan: &mut Plan<'_>,
    tried: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<()> {
    let is_wanted = tried.iter().any(|&index| {
        let candidate = &plan.candidates[index];
        let recorded = &plan.inputs[candidate.crash].crash.meta.defaults;
        let failed = matches!(
            candidate.state,
            State::Done(Verdict::Differs | Verdict::Passes, _)
        );
        failed && *recorded != Defaults::default()
    });
    if plan.defaults.is_some() || !is_wanted {
        return Ok(());
    }
    let output = place
        .jdk
        .command("java")
        .args(&options.java_options)
        .args(class_path(
            &place.runtime_path()?,
            &place.run_dir_named("path"),
        )?)
        .arg("dev.hindsight.replay.Defaults")
        .output()
        .map_err(failed("run java of", &place.jdk.home))?;
    let told = String::from_utf8_lossy(&output.stdout);
    // Options of the JVM may print more before it.
    let mut lines = told.lines().rev().map(str::to_owned);
    let mut next = || lines.next().unwrap_or_default();
    let (zone, format, locale) = (next(), next(), next());
    plan.defaults = Some(Defaults {
        locale,
        format,
        zone,
    });
    Ok(())
}

/// The defaults of a crash that differ in the JVMs that run tests.
pub fn others(plan: &Plan<'_>, crash: usize) -> Defaults {
    let recorded = &plan.inputs[crash].crash.meta.defaults;
    match &plan.defaults {
        Some(here) if !here.locale.is_empty() => different(recorded, here),
        _ => Defaults::default(),
    }
}

fn different(recorded: &Defaults, here: &Defaults) -> Defaults {
    let other = |recorded: &str, here: &str| match recorded == here {
        true => String::new(),
        // It is empty if it is not known.
        false => recorded.to_owned(),
    };
    let locale = other(&recorded.locale, &here.locale);
    let format = match recorded.format.is_empty() {
        // Setting the default locale sets this one as well.
        true if !locale.is_empty() => String::new(),
        true => other(&recorded.locale, &here.format),
        false if !locale.is_empty() => recorded.format.clone(),
        false => other(&recorded.format, &here.format),
    };
    Defaults {
        locale,
        format,
        zone: other(&recorded.zone, &here.zone),
    }
}

/// The defaults in words.
pub fn told(set: &Defaults) -> String {
    let all = [
        ("locale", &set.locale),
        ("locale for numbers and dates", &set.format),
        ("time zone", &set.zone),
    ];
    let all = all.into_iter().filter(|(_, value)| !value.is_empty());
    let all: Vec<String> = all.map(|(what, value)| format!("{what} {value}")).collect();
    all.join(", ")
}

/// The call of a test, between lines that set defaults and restore the previous ones.
pub fn around(code: &str, set: &Defaults, names: &mut Names) -> Option<String> {
    let text = |text: &str| literal::string(&text.encode_utf16().collect::<Vec<_>>());
    let [old_locale, old_format, old_display, old_zone] = VARIABLES;
    let (mut keep, mut enter, mut leave) = (String::new(), String::new(), String::new());
    let mut add = |kept: String, set: Option<String>, put_back: String| {
        keep += &format!("{INDENT}{kept};\n");
        if let Some(set) = set {
            enter += &format!("{INDENT}    {set};\n");
        }
        leave += &format!("{INDENT}    {put_back};\n");
    };
    if !set.locale.is_empty() {
        let locale = names.write("java.util", "Locale");
        let tag = text(&set.locale)?;
        add(
            format!("{locale} {old_locale} = {locale}.getDefault()"),
            Some(format!(
                "{locale}.setDefault({locale}.forLanguageTag({tag}))"
            )),
            format!("{locale}.setDefault({old_locale})"),
        );
    }
    // Setting the default locale sets those for each use as well.
    for (use_of, old, tag) in [
        ("FORMAT", old_format, &set.format[..]),
        ("DISPLAY", old_display, ""),
    ] {
        if set.locale.is_empty() && tag.is_empty() {
            continue;
        }
        let locale = names.write("java.util", "Locale");
        let category = format!("{locale}.Category.{use_of}");
        let tag = match tag.is_empty() {
            true => None,
            false => Some(text(tag)?),
        };
        add(
            format!("{locale} {old} = {locale}.getDefault({category})"),
            tag.map(|tag| {
                format!("{locale}.setDefault({category}, {locale}.forLanguageTag({tag}))")
            }),
            format!("{locale}.setDefault({category}, {old})"),
        );
    }
    if !set.zone.is_empty() {
        let zone = names.write("java.util", "TimeZone");
        let id = text(&set.zone)?;
        add(
            format!("{zone} {old_zone} = {zone}.getDefault()"),
            Some(format!("{zone}.setDefault({zone}.getTimeZone({id}))")),
            format!("{zone}.setDefault({old_zone})"),
        );
    }
    let code: String = code.lines().map(|line| format!("    {line}\n")).collect();
    Some(format!(
        "{keep}{INDENT}try {{\n{enter}{code}{INDENT}}} finally {{\n{leave}{INDENT}}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{Defaults, different};

    fn defaults([locale, format, zone]: [&str; 3]) -> Defaults {
        Defaults {
            locale: locale.to_owned(),
            format: format.to_owned(),
            zone: zone.to_owned(),
        }
    }

    #[test]
    fn what_is_the_same_here_is_not_set() {
        let here = defaults(["en", "de-DE", "UTC"]);
        for (recorded, expected) in [
            (["en", "de-DE", "UTC"], ["", "", ""]),
            (["en", "", "UTC"], ["", "en", ""]),
            (["en", "tr-TR", "UTC"], ["", "tr-TR", ""]),
            (["tr-TR", "", "Asia/Tokyo"], ["tr-TR", "", "Asia/Tokyo"]),
            (["fr", "de-DE", "UTC"], ["fr", "de-DE", ""]),
            // From a recording without them.
            (["", "", ""], ["", "", ""]),
        ] {
            let set = different(&defaults(recorded), &here);
            assert_eq!(set, defaults(expected), "{recorded:?}");
        }
    }
}
