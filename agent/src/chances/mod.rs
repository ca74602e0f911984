//! Second chance: methods get probes once a failure has passed through them.
//!
//! ```text
//! failure --> failed: which methods are new
//!                |
//!   own thread --+-> work --> chances file         at once
//!                      +----> round: probes by     at most once a minute, and
//!                             retransformation     slowly
//!
//! chances file, at the start --> Known --> hook: probes of classes as they are loaded
//! ```
//!
//! - [`file`] is the list that outlives the run.
//!
//! An exception without a stack trace does not name its methods. Until they are known, all methods
//! of the program have probes, as with `mode=crash`. These show the methods of the next such
//! exception, and the other methods lose their probes again. The search is repeated if the
//! innermost method known to be on its way is not one with which it was found before.
//!
//! **Invariant:** the failing thread only looks up its frames here.

pub(crate) mod file;

use crate::agent::{Agent, Base};
use crate::earlier::{self, Changed};
use crate::exceptions::Exceptions;
use crate::hook::{self, Wanted};
use crate::jni::Jni;
use crate::jvmti::Jvmti;
use crate::options::Options;
use file::{BadLine, Entry, Known};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The minimum interval between rounds of retransformations.
const ROUND: Duration = Duration::from_secs(60);
/// The number of classes retransformed at once, for which the JVM stands still.
const BATCH: usize = 20;
/// The time that the program runs between two batches, as a multiple of the time that one has
/// taken.
const PAUSE: u32 = 20;
/// How often to look whether there is CPU time again.
const PAUSED: Duration = Duration::from_secs(1);
/// The most methods that one run may add.
const MAX_NEW: usize = 20_000;
/// The most frames of one exception that are examined.
const MAX_FRAMES: usize = 2_048;
/// The number of failures without a stack trace that may pass all probes unseen before the search
/// is given up.
const MAX_UNSEEN: u32 = 3;
/// The number of failures that may come from where they were found before.
const MAX_SEEN_AGAIN: u32 = 100;
/// How often the methods of one exception without a stack trace are searched for, in all runs
/// together.
const MAX_ASKED: u32 = 16;

pub(crate) struct Chances {
    path: PathBuf,
    known: RwLock<Known>,
    /// The lines of the file that could not be parsed at the start.
    bad: Vec<BadLine>,
    state: Mutex<State>,
    /// Signalled at the end: a JVM that shuts down waits for threads that are in native code.
    ended: Condvar,
    /// The environment that may retransform.
    retransformer: OnceLock<Jvmti>,
}

#[derive(Default)]
struct State {
    /// The entries that are not in the file yet.
    unwritten: Vec<Entry>,
    /// The classes whose probes are not yet as they should be.
    classes: BTreeSet<String>,
    /// Whether all classes of the program are such.
    all_classes: bool,
    /// Whether all classes of the program have all probes.
    everywhere: bool,
    added: usize,
    unseen: u32,
    seen_again: u32,
    last_round: Option<Instant>,
    stopped: bool,
}

/// The next thing to do.
enum Next {
    Nothing,
    Wait(Duration),
    Round {
        classes: BTreeSet<String>,
        all: bool,
        everywhere: bool,
    },
}

/// The entries that a failure adds.
pub(crate) struct Lesson(Vec<Entry>);

impl Chances {
    /// The second chance that the options ask for. `Err` says why the file cannot be used.
    pub(crate) fn wanted_by(options: &Options) -> Result<Option<Chances>, String> {
        if !options.second_chance {
            return Ok(None);
        }
        let path = options.chances.clone();
        Chances::open(&path.unwrap_or_else(|| options.out.join("chances"))).map(Some)
    }

    fn open(path: &Path) -> Result<Chances, String> {
        let (known, bad) = Known::read(path)?;
        let state = State {
            everywhere: known.everything(),
            ..State::default()
        };
        Ok(Chances {
            path: path.to_owned(),
            known: RwLock::new(known),
            bad,
            state: Mutex::new(state),
            ended: Condvar::new(),
            retransformer: OnceLock::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints which lines of the file could not be parsed.
    pub(crate) fn complain(&self, base: &Base) {
        let Some(first) = self.bad.first() else {
            return;
        };
        base.counters
            .add("chances_lines_not_understood", self.bad.len() as u64 - 1);
        let more = match self.bad.len() {
            1 => String::new(),
            more => format!(", nor are {} more lines", more - 1),
        };
        base.complain(
            "chances_lines_not_understood",
            &format!(
                "line {} of the chances file {} is not understood{more}: \"{}\"; lines are \
                 CLASS.METHOD, \"stackless: EXCEPTION\" or \"found: EXCEPTION\"",
                first.number,
                self.path.display(),
                first.start
            ),
        );
    }

    /// Stores the environment that retransforms.
    pub(crate) fn started(&self, retransformer: Jvmti) {
        let _ = self.retransformer.set(retransformer);
    }

    /// Whether classes that are loaded at the start may need probes.
    pub(crate) fn asks_at_start(&self, base: &Base) -> bool {
        let rules = &base.options.report;
        let known = self.known.read();
        !rules.escape.is_empty()
            || !rules.caught.is_empty()
            || !base.options.redact.annotations().is_empty()
            || known.is_ok_and(|known| !known.is_empty())
    }

    /// The part of the probes that a class could have that it is to have.
    pub(crate) fn wanted(&self, base: &Base, class: &str, could: Wanted) -> Wanted {
        let Ok(known) = self.known.read() else {
            return Wanted::Nothing;
        };
        let rules = &base.options.report;
        match could {
            Wanted::Frames
                if known.everything()
                    || !rules.escape.is_empty()
                    || !rules.caught.is_empty()
                    || known.methods.contains_key(class) =>
            {
                Wanted::Frames
            }
            // See `shared`.
            Wanted::Aside(_) if !known.stackless.is_empty() => could,
            _ => Wanted::Nothing,
        }
    }

    /// Whether there are exceptions that may be shared, and hence caught many times: only these
    /// come without a stack trace.
    pub(crate) fn shared(&self) -> bool {
        let known = self.known.read();
        known.is_ok_and(|known| !known.stackless.is_empty())
    }

    /// The methods of a class whose frames are to be handed over; `None` for all of them.
    pub(crate) fn methods(&self, class: &str) -> Option<Vec<String>> {
        let known = self.known.read().ok()?;
        if known.everything() {
            return None;
        }
        let mut names: Vec<String> = (known.methods.get(class))
            .map(|names| names.iter().cloned().collect())
            .unwrap_or_default();
        names.sort();
        Some(names)
    }

    /// The entries of a failure, which [`Self::take`] adds once it is recorded: otherwise running
    /// methods that get their probes meanwhile would be taken for ones that have them. `ways`
    /// returns for each exception without a stack trace the methods known to be on its way.
    pub(crate) fn lesson(
        &self,
        agent: &Agent,
        exceptions: &Exceptions,
        way: &dyn Fn(usize) -> Vec<(String, String)>,
    ) -> Lesson {
        let mut entries = Vec::new();
        for (index, exception) in exceptions.infos.iter().enumerate() {
            if exceptions.unread.contains(&index) {
                continue;
            }
            if exception.stack.is_empty() {
                self.stackless(agent.base, &exception.class, way(index), &mut entries);
                continue;
            }
            for element in exception.stack.iter().take(MAX_FRAMES) {
                if hook::may_be_wanted(&agent.base.options, &element.class)
                    && !self.knows(&element.class, &element.method)
                {
                    entries.extend(Entry::method(&element.class, &element.method));
                }
            }
        }
        Lesson(entries)
    }

    /// Adds the entries of a failure, and wakes the thread that gives methods their probes.
    pub(crate) fn take(&self, agent: &Agent, jni: Jni, Lesson(entries): Lesson) {
        if self.learn(agent.base, entries) {
            agent.shim.wake(jni);
        }
    }

    /// Whether a method is to have probes, even if it does not have them yet.
    pub(crate) fn knows(&self, class: &str, method: &str) -> bool {
        let known = self.known.read();
        known.is_ok_and(|known| {
            (known.methods.get(class)).is_some_and(|names| names.contains(method))
        })
    }

    fn stackless(
        &self,
        base: &Base,
        exception: &str,
        way: Vec<(String, String)>,
        entries: &mut Vec<Entry>,
    ) {
        let Ok(known) = self.known.read() else {
            return;
        };
        let (asked, found) = known.times(exception);
        let first = way.first();
        let is_place = first.is_some_and(|first| known.is_place(exception, first));
        drop(known);
        let mut state = self.state();
        if !state.everywhere {
            // Further methods on its way may have probes for another reason; those that threw it
            // count.
            if asked == 0 || asked <= found && !is_place {
                if asked < MAX_ASKED {
                    entries.push(Entry::Stackless(exception.to_owned(), asked + 1));
                } else {
                    base.counters.add("stackless_exceptions_beyond_limit", 1);
                }
            }
            return;
        }
        match first {
            None => {
                state.unseen += 1;
                if state.unseen < MAX_UNSEEN {
                    return;
                }
                base.counters.add("stackless_exceptions_without_methods", 1);
            }
            // It is searched for elsewhere.
            Some(_) if is_place => {
                state.seen_again += 1;
                if state.seen_again < MAX_SEEN_AGAIN {
                    return;
                }
            }
            Some((class, name)) => {
                entries.push(Entry::Place(
                    exception.to_owned(),
                    format!("{class}.{name}"),
                ));
            }
        }
        drop(state);
        for (class, method) in way {
            if !self.knows(&class, &method) {
                entries.extend(Entry::method(&class, &method));
            }
        }
        // Another exception may be the reason why all methods have probes.
        entries.push(Entry::Stackless(exception.to_owned(), asked.max(1)));
        entries.push(Entry::Found(exception.to_owned(), asked.max(1)));
    }

    /// Adds new entries. Returns whether they cause work.
    fn learn(&self, base: &Base, entries: Vec<Entry>) -> bool {
        if entries.is_empty() {
            return false;
        }
        let (Ok(mut known), mut state) = (self.known.write(), self.state()) else {
            return false;
        };
        let before = known.everything();
        let mut news = false;
        for entry in entries {
            if state.added >= MAX_NEW {
                base.counters.add("chances_beyond_limit", 1);
                continue;
            }
            if known.add(&entry) {
                state.added += 1;
                news = true;
                if let Entry::Method { class, .. } = &entry {
                    state.classes.insert(class.clone());
                }
                state.unwritten.push(entry);
            }
        }
        if known.everything() != before {
            state.all_classes = true;
            state.unseen = 0;
            state.seen_again = 0;
        }
        news
    }

    /// Does the pending work, on the agent's thread. Returns how long to wait until there may be
    /// more.
    pub(crate) fn work(&self, agent: &Agent, jni: Jni) -> Option<Duration> {
        self.write(agent.base);
        if !agent.base.budget.admits() {
            return Some(PAUSED);
        }
        match self.next() {
            Next::Nothing => None,
            Next::Wait(rest) => Some(rest),
            Next::Round {
                classes,
                all,
                everywhere,
            } => {
                self.round(agent.base, jni, &classes, all);
                self.state().everywhere = everywhere;
                Some(Duration::ZERO)
            }
        }
    }

    fn next(&self) -> Next {
        let everywhere = self.known.read().is_ok_and(|known| known.everything());
        let mut state = self.state();
        if state.stopped || state.classes.is_empty() && !state.all_classes {
            return Next::Nothing;
        }
        let now = Instant::now();
        if let Some(last) = state.last_round
            && let rest = ROUND.saturating_sub(now.duration_since(last))
            && !rest.is_zero()
        {
            return Next::Wait(rest);
        }
        state.last_round = Some(now);
        if !everywhere {
            state.everywhere = false;
        }
        Next::Round {
            classes: std::mem::take(&mut state.classes),
            all: std::mem::take(&mut state.all_classes),
            everywhere,
        }
    }

    /// Gives classes the probes that they are to have now.
    fn round(&self, base: &Base, jni: Jni, classes: &BTreeSet<String>, all: bool) {
        let Some(&retransformer) = self.retransformer.get() else {
            return;
        };
        let mut changed = Changed::default();
        jni.with_frame(|jni| {
            changed = earlier::retransform(
                base,
                retransformer,
                jni,
                BATCH,
                &|name, loader| {
                    if all || classes.contains(name) {
                        hook::could_have(base, name, loader) != Wanted::Nothing
                    } else {
                        false
                    }
                },
                &|took| {
                    let mut goes_on = self.rest(took * PAUSE);
                    while goes_on && !base.budget.admits() {
                        goes_on = self.rest(PAUSED);
                    }
                    goes_on
                },
            );
        });
        base.counters.add("second_chance_rounds", 1);
        base.counters
            .add("classes_given_a_second_chance", changed.classes as u64);
    }

    /// Waits for this long, but not beyond the end. Returns whether the end has not come.
    fn rest(&self, at_most: Duration) -> bool {
        let goes_on = |state: &mut State| !state.stopped;
        let waited = (self.ended).wait_timeout_while(self.state(), at_most, goes_on);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }

    /// Appends the new entries to the file.
    fn write(&self, base: &Base) {
        let entries = std::mem::take(&mut self.state().unwritten);
        if entries.is_empty() {
            return;
        }
        if let Err(error) = file::append(&self.path, &entries) {
            // This repeats whenever new entries come.
            self.state().unwritten.extend(entries);
            base.complain(
                "chances_not_written",
                &format!(
                    "cannot append to the chances file {}: {error}; the next run will not know these methods",
                    self.path.display()
                ),
            );
        }
    }

    /// The end: writes the remaining entries, and starts nothing any more.
    pub(crate) fn stop(&self, base: &Base) {
        self.end();
        self.write(base);
    }

    fn end(&self) {
        self.state().stopped = true;
        self.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn nothing_rests_beyond_the_end() {
        let chances = Chances::open(Path::new("/no/such/file")).unwrap();
        assert!(chances.rest(Duration::from_millis(1)));
        let begun = Instant::now();
        let at_most = Duration::from_secs(600);
        thread::scope(|scope| {
            let resting = scope.spawn(|| chances.rest(at_most));
            chances.end();
            assert!(!resting.join().unwrap());
        });
        assert!(begun.elapsed() < at_most / 2);
    }
}
