//! Runs candidates: each by itself, and those that reproduce with the others.

use super::candidate::{Plan, State};
use super::compile::Workplace;
use super::launch::{Job, Ran, Setting, idle, launch, launch_each};
use super::report::Verdict;
use super::unreported::Unreported;
use super::verdict::{Expected, NOT_INITIALIZED, judge};
use super::{Options, Result, memory, missing};
use crate::classpath::ClassPath;
use crate::progress::Extent;
use hindsight_tracelog::crash::{ExceptionInfo, Failure, Frame, MAX_EXCEPTIONS};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

/// How often a candidate is run again to see whether it reproduces each time.
const AGAIN: usize = 5;

/// Runs candidates and settles them.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn run(
    plan: &mut Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<()> {
    let path = place.runtime_path()?;
    // For those that restore no static state, the fields that their call reads.
    let plain = (candidates.iter()).filter(|&&index| !plan.candidates[index].statics);
    let reads: BTreeMap<usize, BTreeSet<String>> = plain
        .map(|&index| (index, missing::reads(plan, index)))
        .filter(|(_, reads)| !reads.is_empty())
        .collect();
    let compared = |plan: &Plan<'_>, index: usize, option| {
        let candidate = &plan.candidates[index];
        let resource = &plan.classes[candidate.class].resource;
        Job {
            compared: (reads.contains_key(&index))
                .then(|| (option, resource.clone(), candidate.frame)),
            ..job(plan, index, options)
        }
    };
    let jobs = candidates.iter();
    let jobs: Vec<Job> = jobs
        .map(|&index| compared(plan, index, "--statics"))
        .collect();
    for (index, result) in run_each(plan, &jobs, place, &path, options) {
        for ran in result? {
            let (verdict, reason) = judged(plan, index, &ran);
            let candidate = &mut plan.candidates[index];
            if let Ran::Told(outcome) = ran {
                candidate.unreported = Unreported::of(&outcome);
                candidate.unrestored.clone_from(&outcome.unrestored);
                if let Some(reads) = reads.get(&index)
                    && verdict == Verdict::Reproduces
                {
                    let lacking = outcome.lacking.into_iter();
                    candidate.missing = lacking.filter(|field| reads.contains(field)).collect();
                }
            }
            candidate.state = State::Done(verdict, reason);
        }
    }
    // What the call fills by itself shows by comparison with the state before it; reading that may
    // initialise classes, so it is not part of the first run.
    let lacking = candidates.iter().filter(|&&index| {
        let candidate = &plan.candidates[index];
        matches!(candidate.state, State::Done(Verdict::Reproduces, _))
            && !candidate.statics
            && !candidate.missing.is_empty()
    });
    let jobs: Vec<Job> = lacking
        .map(|&index| compared(plan, index, "--unfilled"))
        .collect();
    for (index, result) in run_each(plan, &jobs, place, &path, options) {
        for ran in result? {
            let reproduces = judged(plan, index, &ran).0 == Verdict::Reproduces;
            if let Ran::Told(outcome) = ran
                && reproduces
            {
                let missing = &mut plan.candidates[index].missing;
                missing.retain(|field| outcome.lacking.contains(field));
            }
        }
    }
    // In larger tables, the same element may come first by chance.
    for nth in 1..OTHER_ORDERS.len() {
        let unsure = candidates.iter().filter(|&&index| {
            let candidate = &plan.candidates[index];
            let crash = &plan.inputs[candidate.crash].crash;
            candidate.built
                && matches!(candidate.state, State::Done(Verdict::Reproduces, _))
                && (crash.classes.iter()).any(|class| DRAWN_TABLES.contains(&class.name.as_str()))
        });
        let again: Vec<Job> = unsure
            .map(|&index| job_in_order(plan, index, nth, options))
            .filter(|job| job.order.is_some())
            .collect();
        for (index, result) in run_each(plan, &again, place, &path, options) {
            for ran in result? {
                let (verdict, reason) = judged(plan, index, &ran);
                if verdict != Verdict::Reproduces {
                    plan.candidates[index].state = State::Done(verdict, reason);
                }
            }
        }
    }
    Ok(())
}

/// Runs candidates that reproduce in one JVM, as far as one suffices for all of them, in their
/// order and in the reverse order. Returns those that end differently then, and how.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn together(
    plan: &Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<BTreeMap<usize, Influenced>> {
    let path = place.runtime_path()?;
    let mut influenced = BTreeMap::new();
    for group in groups(plan, candidates, options) {
        if group.len() < 2 {
            continue;
        }
        let jobs: Vec<Job> = (group.iter().map(|&index| job(plan, index, options))).collect();
        let forwards: Vec<&Job> = jobs.iter().collect();
        let backwards: Vec<&Job> = jobs.iter().rev().collect();
        for jobs in [forwards, backwards] {
            let results = launch(place, &path, &jobs, options, idle(options, false))?;
            for (at, (job, ran)) in jobs.iter().zip(results).enumerate() {
                if ends_otherwise(plan, job.index, &ran) {
                    let before = jobs[..at].iter().map(|job| job.index).collect();
                    influenced.insert(job.index, Influenced { ran, before });
                }
            }
        }
    }
    Ok(influenced)
}

/// A test that ends differently after others.
#[derive(Debug)]
pub struct Influenced {
    /// How it ends then.
    pub ran: Ran,
    /// The other tests, in the order in which they ran.
    pub before: Vec<usize>,
}

/// Whether a candidate that reproduces by itself does not now. Without a result nothing is known: a
/// test before it may have ended the JVM.
fn ends_otherwise(plan: &Plan<'_>, index: usize, ran: &Ran) -> bool {
    matches!(ran, Ran::Told(_)) && judged(plan, index, ran).0 != Verdict::Reproduces
}

/// The last of the tests before an influenced one without which it would reproduce.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn culprit(
    plan: &Plan<'_>,
    victim: usize,
    before: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<Option<usize>> {
    let path = place.runtime_path()?;
    let fails_after = |others: &[usize]| -> Result<bool> {
        let all = others.iter().chain([&victim]);
        let jobs: Vec<Job> = all.map(|&index| job(plan, index, options)).collect();
        let jobs: Vec<&Job> = jobs.iter().collect();
        let results = launch(place, &path, &jobs, options, idle(options, false))?;
        Ok((results.last()).is_some_and(|ran| ends_otherwise(plan, victim, ran)))
    };
    // It reproduces after the first `good`, and not after the first `bad`.
    let (mut good, mut bad) = (0, before.len());
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        match fails_after(&before[..middle])? {
            true => bad = middle,
            false => good = middle,
        }
    }
    Ok(before.get(good).copied())
}

/// Whether a test has met a class whose static initializer had failed before, in another test.
pub fn is_failed_class(ran: &Ran) -> bool {
    let Ran::Told(outcome) = ran else {
        return false;
    };
    let message = outcome.message.as_deref().unwrap_or_default();
    outcome.exception.as_deref() == Some("java.lang.NoClassDefFoundError")
        && message.starts_with(NOT_INITIALIZED)
}

/// Runs candidates by themselves again, and returns those that do not reproduce each time.
///
/// # Errors
///
/// Fails if JVMs cannot be started.
pub fn unsteady(
    plan: &Plan<'_>,
    candidates: &BTreeSet<usize>,
    place: &Workplace<'_>,
    options: &Options,
) -> Result<BTreeSet<usize>> {
    let path = place.runtime_path()?;
    let mut unsteady = BTreeSet::new();
    for _ in 0..AGAIN {
        let left = candidates.difference(&unsteady);
        let jobs: Vec<Job> = left.map(|&index| job(plan, index, options)).collect();
        (options.told).begin("running tests again, one by one", Extent::Unknown);
        // One at a time: an interaction of two would not be chance.
        for job in &jobs {
            let results = launch(place, &path, &[job], options, idle(options, false))?;
            let fails = |ran| judged(plan, job.index, ran).0 != Verdict::Reproduces;
            if results.iter().any(fails) {
                unsteady.insert(job.index);
            }
        }
    }
    Ok(unsteady)
}

/// Those of `candidates` that [`together`] runs with no others.
pub fn solitary(plan: &Plan<'_>, candidates: &[usize], options: &Options) -> BTreeSet<usize> {
    let groups = groups(plan, candidates, options);
    let groups = groups.into_iter().filter(|group| group.len() == 1);
    groups.flatten().collect()
}

/// The candidates whose tests can run in the same JVM, group by group.
fn groups(plan: &Plan<'_>, candidates: &[usize], options: &Options) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Setting, Vec<usize>> = BTreeMap::new();
    for &index in candidates {
        let setting = setting(plan, plan.candidates[index].crash, options);
        groups.entry(setting).or_default().push(index);
    }
    groups.into_values().collect()
}

/// Runs candidates, and those with another exception or an unexpected end once more alone.
fn run_each(
    plan: &Plan<'_>,
    jobs: &[Job],
    place: &Workplace<'_>,
    path: &OsStr,
    options: &Options,
) -> Vec<(usize, Result<Vec<Ran>>)> {
    // A candidate that took too long would take as long again.
    let is_disturbed = |index, ran: &Ran| {
        !matches!(ran, Ran::TimedOut(_) | Ran::Waited(_))
            && judged(plan, index, ran).0 == Verdict::Differs
    };
    launch_each(place, path, jobs, options, is_disturbed)
}

fn job(plan: &Plan<'_>, index: usize, options: &Options) -> Job {
    job_in_order(plan, index, 0, options)
}

/// The job of a candidate in the `nth` of the [`OTHER_ORDERS`].
fn job_in_order(plan: &Plan<'_>, index: usize, nth: usize, options: &Options) -> Job {
    let (mask, turned) = OTHER_ORDERS[nth];
    let candidate = &plan.candidates[index];
    let frame = plan.frame(candidate);
    Job {
        index,
        frame: (candidate.crash, candidate.frame),
        called: format!("{}.{}{}", frame.class, frame.method, frame.descriptor),
        class: plan.classes[candidate.class].full_name(),
        method: candidate.name.clone(),
        setting: setting(plan, candidate.crash, options),
        order: plan.inputs[candidate.crash]
            .crash
            .meta
            .order
            .map(|(salt, reverse)| (salt ^ mask, reverse ^ turned)),
        compared: None,
    }
}

/// The collections that iterate from a random place, in a random direction.
const DRAWN_TABLES: [&str; 2] = [
    "java.util.ImmutableCollections$MapN",
    "java.util.ImmutableCollections$SetN",
];

/// Orders besides the recorded one: the bits of the salt that are inverted, so that they begin in
/// another quarter of the table, and whether the direction is reversed. The first one is for all
/// candidates.
const OTHER_ORDERS: [(i64, bool); 3] = [(1 << 31, true), (1 << 30, false), (3 << 30, true)];

fn judged(plan: &Plan<'_>, index: usize, ran: &Ran) -> (Verdict, String) {
    match expected(plan, index) {
        Some(expected) => judge(&expected, plan.frame(&plan.candidates[index]), ran),
        None => (
            Verdict::Unsupported,
            "no exception was recorded for it".to_owned(),
        ),
    }
}

/// The settings of the JVMs of a crash's tests.
pub fn setting(plan: &Plan<'_>, crash: usize, options: &Options) -> Setting {
    let mut bounds = bounds_of_all(plan, options);
    let own = memory::unsaid(&options.java_options, &plan.inputs[crash].crash);
    bounds.extend(own);
    bounds.sort();
    bounds.dedup();
    Setting {
        asserts: has_asserted(plan, crash),
        bounds,
    }
}

/// The memory bounds of all tests, including those of other crashes: in a project, one file gives
/// them.
pub fn bounds_of_all(plan: &Plan<'_>, options: &Options) -> Vec<String> {
    let crashes = plan.inputs.iter().map(|input| &input.crash);
    match options.project {
        true => memory::common(&options.java_options, crashes),
        false => Vec::new(),
    }
}

/// Whether the recorded program ran with assertions, because one of them failed.
pub fn has_asserted(plan: &Plan<'_>, crash: usize) -> bool {
    let mut exceptions = plan.inputs[crash].crash.failure.exceptions.iter();
    exceptions.any(|info| info.class == "java.lang.AssertionError")
}

/// Whether some of the recorded programs ran with assertions and others without, so that one
/// setting for all tests would make some end differently than they did when they were tried.
pub fn is_mixed(plan: &Plan<'_>) -> bool {
    let with = (0..plan.inputs.len()).filter(|&crash| has_asserted(plan, crash));
    (1..plan.inputs.len()).contains(&with.count())
}

/// The effect of running a test with assertions enabled or disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assertions {
    /// Without them nothing fails: it was an `assert` of the program, as far as is known.
    Needed,
    /// With them the test may end differently: it was tried without, and the program has some.
    Unwanted,
    /// The effect is not known.
    Unknown,
}

/// The effect of assertions on the tests of a crash.
pub fn assertions(plan: &Plan<'_>, crash: usize) -> Assertions {
    let has_asserts = |class: &str| {
        let found = plan.classpath.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        // The name that javac and ecj give to it.
        info.is_some_and(|info| info.constant("$assertionsDisabled", "Z").is_some())
    };
    let mut frames = plan.inputs[crash].crash.failure.frames.iter();
    match (
        frames.any(|frame| has_asserts(&frame.class)),
        has_asserted(plan, crash),
    ) {
        (true, true) => Assertions::Needed,
        (true, false) => Assertions::Unwanted,
        (false, _) => Assertions::Unknown,
    }
}

fn expected<'a>(plan: &Plan<'a>, candidate: usize) -> Option<Expected<'a>> {
    let candidate = &plan.candidates[candidate];
    let failure = &plan.inputs[candidate.crash].crash.failure;
    let exception = plan.frame(candidate).exception;
    let frames = failure
        .frames
        .iter()
        .filter(|frame| frame.exception == exception);
    let info = failure.exceptions.get(exception as usize)?;
    let (causes, cut) = causes(failure, exception);
    Some(Expected {
        exception: info,
        causes,
        cut,
        frames: frames.collect(),
        unchanged: unchanged(&failure.frames, plan.classpath),
        test: plan.classes[candidate.class].full_name(),
    })
}

/// The causes of a recorded exception, the direct one first; and whether it may have had others.
fn causes(failure: &Failure, of: u32) -> (Vec<&ExceptionInfo>, bool) {
    let cause = |of: u32| failure.exceptions.get(of as usize)?.cause;
    let mut path = vec![of];
    while let Some(next) = path.last().and_then(|last| cause(*last)) {
        // It is a cycle.
        if path.contains(&next) {
            break;
        }
        path.push(next);
    }
    let round = path.last().is_some_and(|last| cause(*last).is_some());
    let infos = path[1..].iter();
    let infos = infos.filter_map(|&index| failure.exceptions.get(index as usize));
    let cut = round || failure.exceptions.len() >= MAX_EXCEPTIONS;
    (infos.collect(), cut)
}

/// The classes of the stack whose class files are the recorded ones, so that lines can be compared.
fn unchanged<'a>(frames: &'a [Frame], classpath: &ClassPath) -> Vec<&'a str> {
    let same = |frame: &&Frame| {
        let recorded = frame.class_sha256.as_deref();
        recorded.is_some_and(|recorded| {
            let found = classpath.find(&frame.class);
            found.is_some_and(|found| found.sha256 == recorded)
        })
    };
    frames
        .iter()
        .filter(same)
        .map(|frame| frame.class.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_followed_to_the_innermost() {
        let info = |class: &str, cause| ExceptionInfo {
            class: class.to_owned(),
            cause,
            ..ExceptionInfo::default()
        };
        let mut failure = Failure {
            exceptions: vec![
                info("A", Some(2)),
                info("S", None),
                info("B", Some(3)),
                info("C", None),
            ],
            ..Failure::default()
        };
        let told = |failure: &Failure, of| {
            let (causes, cut) = causes(failure, of);
            let classes: String = causes.iter().map(|info| info.class.as_str()).collect();
            (classes, cut)
        };
        assert_eq!(told(&failure, 0), ("BC".to_owned(), false));
        assert_eq!(told(&failure, 1), (String::new(), false));
        failure.exceptions[3].cause = Some(2);
        assert_eq!(told(&failure, 0), ("BC".to_owned(), true));
        failure.exceptions[3].cause = None;
        failure.exceptions.resize(MAX_EXCEPTIONS, info("S", None));
        assert_eq!(told(&failure, 0), ("BC".to_owned(), true));
    }
}
