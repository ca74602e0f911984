//! Decides which classes are instrumented, and instruments them at load time.
//!
//! Other agents rewrite the same classes. The JVM asks agents in this order:
//!
//! ```text
//! first       ours: what the class was, for its hash
//! others      Java agents whose changes are for good (JaCoCo)
//! last        ours: the probes
//! others      agents that may retransform (OpenTelemetry), and among them, in
//!             the order in which they came, `again`: probes for classes that
//!             have none
//! ```
//!
//! Hence tools that know classes by a hash of their bytes see them without probes, whatever the
//! order on the command line; an agent that is named before ours there comes before [`first`] as
//! well. A retransformation starts from what [`last`] has made, so probes stay, and are inserted
//! once; [`again`] inserts them if a class was loaded before the agent. A redefinition brings new
//! bytes and passes through all of them.
//!
//! When the recording is over, classes get no probes any more. Those that other runs have given
//! them are silenced still, because they would write where nothing is.
//!
//! **Invariant:** whatever goes wrong, the class is left as it was and the reason is counted.

use crate::agent::Base;
use crate::agents;
use crate::chances::Chances;
use crate::changing::is_changing;
use crate::counters::INSTRUMENTED;
use crate::foreign;
use crate::jdk;
use crate::loaders::{Loader, find_probes};
use crate::methods::{Class, Reserved, made};
use crate::options::Options;
use crate::originals::{self, Original};
use crate::run;
use crate::snapshot::classes::binary_name;
use crate::sys;
use crate::trace;
use hindsight_classfile::{ClassFile, MemberRef};
use hindsight_instrument::select::{self, MAX_FIELDS};
use hindsight_instrument::{
    self as instrument, CrashPlan, MemberNames, Rewritten, Rules, SkipReason, UndoPlan, Workspace,
    contract, entry_hook,
};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

/// The most methods of a class (JVMS 4.11).
const MAX_METHODS: usize = 65_535;
/// The fewest bytes that each method takes in a class file (JVMS 4.6).
const MIN_METHOD_BYTES: usize = 8;

/// Packages of the JDK whose code runs the program's and catches all its exceptions. One exception
/// object may be thrown many times (a constant, or one that HotSpot allocates in advance): if no
/// probe reported that it was caught here, the frames of all its ways up would be taken for those
/// of one.
const CATCHERS: &[&str] = &["java.util.concurrent.", "java.awt.", "sun.net.httpserver."];

/// The probes that a class gets.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) enum Wanted {
    /// Probes that hand over frames, and those of its handlers; also those of its writes if they
    /// are logged.
    Frames,
    /// No frames of its own.
    Aside(Aside),
    Nothing,
}

/// The probes of a class whose frames are not recorded; at least one of them.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) struct Aside {
    /// Its handlers report what they catch.
    catches: bool,
    /// Its writes are logged.
    pub(crate) writes: bool,
}

/// The probes that the user's options ask for in this class by now: with `mode=second-chance` that
/// changes.
pub(crate) fn wanted(base: &Base, name: &str, loader: sys::Ref) -> Wanted {
    let could = could_have(base, name, loader);
    match &base.chances {
        Some(chances) => chances.wanted(base, name, could),
        None => could,
    }
}

/// The probes that the user's options ask for in this class.
///
/// Code of the program that `include` leaves out still reports what it catches, for the same reason
/// as [`CATCHERS`] do; what `exclude` names is left as it is.
pub(crate) fn could_have(base: &Base, name: &str, loader: sys::Ref) -> Wanted {
    let options = &base.options;
    if select::names(&options.exclude, name) {
        return Wanted::Nothing;
    }
    if !select::is_below_probes(name) && select::names(&options.include, name) {
        return Wanted::Frames;
    }
    let program = !loader.is_null()
        && !select::is_below_probes(name)
        && agents::is_program(base, name, loader);
    if program && options.include.is_empty() {
        return Wanted::Frames;
    }
    if options.tracing {
        return Wanted::Nothing;
    }
    let package = name.rfind('.').map_or("", |end| &name[..=end]);
    // Only the JDK's loaders may define classes whose names begin with `java.`.
    let is_of_jdk = loader.is_null() || name.starts_with("java.");
    let aside = Aside {
        catches: program || loader.is_null() && CATCHERS.contains(&package),
        writes: options.copy.need_log() && (program || is_of_jdk && is_changing(name)),
    };
    if aside.catches || aside.writes {
        Wanted::Aside(aside)
    } else {
        Wanted::Nothing
    }
}

/// Whether frames of a class of this name, whatever its loader, may be asked for.
pub(crate) fn may_be_wanted(options: &Options, name: &str) -> bool {
    if select::is_below_probes(name) || select::names(&options.exclude, name) {
        return false;
    }
    if !options.include.is_empty() {
        return select::names(&options.include, name);
    }
    !jdk::is_for_sure(name) && !agents::are_of(name)
}

/// Whether a class, by its name with dots, is searched for annotations of secrets, whatever probes
/// it gets.
pub(crate) fn is_marked(base: &Base, name: &str, loader: sys::Ref) -> bool {
    !base.options.redact.annotations().is_empty()
        && !loader.is_null()
        && agents::is_program(base, name, loader)
}

/// Notes for the rules of `report` that a class is loaded and hands over no frames.
pub(crate) fn left_out(base: &Base, name: &str) {
    let Options {
        include, exclude, ..
    } = &base.options;
    if !base.named.is_empty() {
        let is_asked = select::names(include, name) && !select::names(exclude, name);
        base.named.left_out(name, is_asked);
    }
}

/// Whether frames of this class are to be handed over.
pub(crate) fn wants_frames(base: &Base, class: &str, loader: sys::Ref) -> bool {
    wanted(base, class, loader) == Wanted::Frames
}

/// Memory for instrumenting: as much as there have been threads at it at the same time.
pub(crate) struct Workspaces {
    spare: Mutex<Vec<Workspace>>,
    /// The number that distinguishes our probes from those of other runs.
    run: u64,
}

impl Workspaces {
    pub(crate) fn new() -> Workspaces {
        Workspaces {
            spare: Mutex::default(),
            // It is unique to this process, and never 0. The hash is keyed at random.
            run: RandomState::new().hash_one(std::process::id()) | 1,
        }
    }

    pub(crate) fn run(&self) -> u64 {
        self.run
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut workspace = spare.unwrap_or_else(|| Workspace::of_run(self.run));
        let done = work(&mut workspace);
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(workspace);
        }
        done
    }
}

/// The hook before other agents have seen the class.
pub(crate) fn first(base: &Base, name: Option<&str>, loader: sys::Ref, bytes: &[u8]) {
    if run::is_over() {
        return;
    }
    mark(base, name, loader, bytes);
    base.known.came(name, bytes, &base.counters);
    if let Some(name) = name
        && wants_frames(base, &name.replace('/', "."), loader)
    {
        originals::keep(Original::new(name, bytes));
    }
}

/// Reads the annotations and the names of captured values that make something secret.
fn mark(base: &Base, name: Option<&str>, loader: sys::Ref, bytes: &[u8]) {
    let options = &base.options;
    if loader.is_null() {
        return;
    }
    // The definer of a class need not give its name.
    let own = name.map(Cow::Borrowed).or_else(|| this_class(bytes));
    let Some(name) = own.as_deref() else { return };
    let annotations = options.redact.annotations();
    if !annotations.is_empty() {
        let found = (base.methods.marks).look(&name.replace('/', "."), bytes, annotations);
        (found.into_iter()).for_each(|annotation| options.redact.annotated(annotation));
    }
    if !options.tracing {
        let is_secret = |name: &str, descriptor: &str| options.is_secret_of_type(name, descriptor);
        base.methods.captured.look(name, bytes, &is_secret);
    }
}

/// The name with slashes in a class file's `this_class`.
fn this_class(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let class = ClassFile::parse(bytes).ok()?;
    Some(class.name().ok()?.to_string_lossy())
}

/// The hook for a class that is loaded or redefined. Returns the instrumented class, or `None` to
/// leave it as it is.
pub(crate) fn last(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    if let Some(silent) = foreign::silenced(base, name, bytes) {
        name.and_then(originals::take);
        return Some(silent);
    }
    if run::is_over() {
        name.and_then(originals::take);
        return None;
    }
    let original = match name {
        Some(API) => return fill(base, bytes),
        Some(name) => {
            let original = originals::take(name);
            // A class whose bytes were kept is wanted.
            if original.is_none() {
                let dotted = name.replace('/', ".");
                let wanted = wanted(base, &dotted, loader);
                if wanted != Wanted::Frames && !redefined {
                    left_out(base, &dotted);
                }
                match wanted {
                    Wanted::Frames => {}
                    Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
                    Wanted::Nothing => return None,
                }
            }
            original
        }
        // Some loaders do not give the name; then only the class file has it.
        None => None,
    };
    let original = original.unwrap_or_else(|| Original::new(name.unwrap_or(""), bytes));
    let version = if original.is(bytes) {
        original.sha256
    } else {
        base.counters.add("classes_changed_by_other_agents", 1);
        originals::sha256(bytes)
    };
    if redefined {
        base.counters.add("classes_redefined", 1);
    }
    let original = Some(&original);
    instrument(base, name, loader, redefined, bytes, original, version)
}

/// The hook for a class that is retransformed, by us or by another agent, as the other agents have
/// left it. It still has its probes if it was loaded through [`last`]. With `mode=second-chance` it
/// is also the hook for a class that is loaded.
pub(crate) fn again(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    if let Some(silent) = foreign::silenced(base, name, bytes) {
        name.and_then(originals::take);
        return Some(silent);
    }
    if run::is_over() {
        return None;
    }
    // If it was loaded before the agent, its bytes are only seen here.
    mark(base, name, loader, bytes);
    let name = name?;
    if name == API {
        return fill(base, bytes);
    }
    let dotted = name.replace('/', ".");
    if base.chances.is_some() {
        return second_chance(base, name, &dotted, loader, redefined, bytes);
    }
    match wanted(base, &dotted, loader) {
        Wanted::Nothing => return None,
        _ if foreign::has_probes(bytes) => return None,
        Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
        Wanted::Frames if loader.is_null() && !base.options.tracing => return None,
        Wanted::Frames => {}
    }
    let counter = if base.methods.is_known(&dotted) {
        "classes_given_their_probes_again"
    } else {
        "classes_loaded_before_the_agent"
    };
    // These bytes are not those of the class file: the JVM has made them from its own structures.
    let version = originals::sha256(bytes);
    let rewritten = instrument(base, Some(name), loader, redefined, bytes, None, version);
    if rewritten.is_some() {
        base.counters.add(counter, 1);
    }
    rewritten
}

/// The hook for a class that is loaded, or retransformed for the probes that it is to have now. The
/// bytes are always without ours.
fn second_chance(
    base: &Base,
    name: &str,
    dotted: &str,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let original = originals::take(name);
    let wanted = wanted(base, dotted, loader);
    if (wanted != Wanted::Frames || loader.is_null()) && !redefined {
        left_out(base, dotted);
    }
    match wanted {
        Wanted::Nothing => return None,
        _ if foreign::has_probes(bytes) => return None,
        Wanted::Aside(aside) => return instrument_aside(base, aside, loader, bytes),
        Wanted::Frames if loader.is_null() => return None,
        Wanted::Frames => {}
    }
    let version = originals::sha256(bytes);
    let is_original = || base.methods.is_original(dotted, &version);
    let original = original.or_else(|| is_original().then(|| Original::new(name, bytes)));
    instrument(
        base,
        Some(name),
        loader,
        redefined,
        bytes,
        original.as_ref(),
        version,
    )
}

/// The class that the program calls to ask for a recording.
pub(crate) const API: &str = "dev/hindsight/Hindsight";

/// Gives its methods, which do nothing, a call of the probes.
fn fill(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    if foreign::has_probes(bytes) {
        return None;
    }
    let filled = contract::RECORDS
        .iter()
        .try_fold(bytes.to_vec(), |class, record| {
            let target = (contract::PROBE, record.name, record.descriptor);
            entry_hook(&class, record.name, record.descriptor, target)
        });
    match filled {
        Ok(class) => Some(class),
        Err(error) => {
            base.complain(
                "api_not_filled",
                &format!("Hindsight.record will do nothing, its class is not as expected: {error}"),
            );
            None
        }
    }
}

/// The instrumented class, or `None` to leave it as it is. A class with a name is a wanted one.
fn instrument(
    base: &Base,
    name: Option<&str>,
    loader: sys::Ref,
    redefined: bool,
    bytes: &[u8],
    original: Option<&Original>,
    version: [u8; 32],
) -> Option<Vec<u8>> {
    let defines = base.loaders.of(base, loader);
    if !find_probes(base, defines.as_deref(), loader) {
        return None;
    }
    let sha256 = original.map(|original| original.sha256);
    if let Some(tracing) = trace::tracing() {
        return tracing.instrument(name, loader, redefined, bytes, sha256, version);
    }
    let counters = &base.counters;
    let class_name = name.map(|name| name.replace('/', "."));
    // What methods hand over depends on whether the plan is trusted, which may end while classes
    // are loaded; which methods have probes, and their numbers, depends on which are chosen.
    let effects = base.known.class(name, original, counters);
    let origin = match effects {
        [] => version,
        _ => originals::sha256(&[&version[..], b"by the plan"].concat()),
    };
    let chosen = (base.chances.as_ref())
        .and_then(|chances| chances.methods(class_name.as_deref().unwrap_or("")));
    let version = match &chosen {
        Some(names) => originals::sha256(&[&origin[..], names.join("\n").as_bytes()].concat()),
        None => origin,
    };
    let known = class_name
        .as_deref()
        .and_then(|name| base.methods.known(name, &version, defines.as_ref()));
    let (mut ids, first_id) = match known {
        Some(first_id) => (None, first_id),
        None => {
            let ids = reserve(base, bytes)?;
            let first_id = ids.first();
            (Some(ids), first_id)
        }
    };
    let class_in_file = OnceCell::new();
    let report = &base.options.report;
    let is_named = Cell::new(false);
    let rules = |method: &str, _descriptor: &str| {
        // A class without a name comes from an unusual loader, for which there are no rules.
        let Some(class) = class_name
            .as_deref()
            .or(class_in_file.get().map(String::as_str))
        else {
            return Rules::default();
        };
        if !report.names_methods() {
            return Rules::default();
        }
        let full = format!("{class}.{method}");
        let rules = Rules {
            escape: report.escape.matches(&full),
            caught: report.caught.matches(&full),
        };
        is_named.set(is_named.get() || rules != Rules::default());
        rules
    };
    let meant = |method: &str, descriptor: &str| match &chosen {
        Some(names) => {
            names.iter().any(|name| name == method) || rules(method, descriptor) != Rules::default()
        }
        None => true,
    };
    let rewrite = |first_id| {
        let plan = CrashPlan {
            copy: base.options.copy.at_entry(),
            max_fields: MAX_FIELDS,
            first_id,
            rules: &rules,
            known: effects,
        };
        let undo = UndoPlan {
            crash: Some(&plan),
            catches: true,
            first_id,
            first_field: 0,
            quiet: &|_| None,
        };
        if base.options.copy.need_log() {
            undoable(base, defines.as_deref(), bytes, &undo)
        } else if chosen.is_some() {
            let catches = base.chances.as_deref().is_some_and(Chances::shared);
            let space = |space: &mut Workspace| space.crash_in_some(bytes, &plan, &meant, catches);
            Some(base.workspaces.with(space))
        } else {
            Some(base.workspaces.with(|space| space.crash(bytes, &plan)))
        }
    };
    let mut rewritten = rewrite(first_id)?;
    let mut is_once_more = false;
    // With logs of writes, which methods have probes depends on what is known of other classes by
    // now.
    if let Ok(made) = &rewritten
        && ids.is_none()
        && !base.methods.has(first_id, &made.methods)
    {
        let others = reserve(base, bytes)?;
        rewritten = rewrite(others.first())?;
        ids = Some(others);
        is_once_more = true;
    }
    let rewritten = match rewritten {
        Ok(rewritten) => rewritten,
        Err(error) => {
            counters.add("classes_left_alone:malformed", 1);
            counters.add_named("class_error", &format!("{}: {error}", name.unwrap_or("?")));
            return None;
        }
    };
    let dotted = binary_name(&format!("L{};", rewritten.class_name));
    let _ = class_in_file.set(dotted.clone());
    if name.is_none() && !wants_frames(base, &dotted, loader) {
        return None;
    }
    if rewritten.had_probes {
        foreign::came_with_probes(base, &dotted);
        return None;
    }
    let Some(ids) = ids else {
        counters.add("classes_instrumented_once_more", 1);
        return rewritten.class;
    };
    if chosen.is_some() && rewritten.class.is_none() && rewritten.skipped.is_empty() {
        // Some methods may have been asked for in a class that was not meant.
        return None;
    }
    if is_once_more {
        counters.add("classes_instrumented_once_more", 1);
    } else {
        let earlier = base.methods.earlier(&dotted, &origin);
        count(base, &rewritten, &earlier);
        if is_named.get() {
            let mut made = made(&rewritten, &earlier);
            (base.named).methods(counters, &dotted, &mut made);
        }
    }
    let methods = rewritten.methods.iter().enumerate();
    let aside = methods.filter(|(_, method)| !meant(method.name, method.descriptor));
    let aside = aside.map(|(at, _)| at).collect();
    let many = base.methods.add(
        (dotted, defines),
        sha256,
        [origin, version],
        ids,
        (rewritten.methods, aside),
        rewritten.skipped,
    );
    if many {
        base.loaders.sweep(base);
        counters.add("classes_unloaded", base.methods.sweep() as u64);
    }
    rewritten.class
}

/// The class with its writes logged and its fields numbered; `None` if there are no more numbers.
fn undoable(
    base: &Base,
    loader: Option<&Loader>,
    bytes: &[u8],
    plan: &UndoPlan<'_>,
) -> Option<Result<Rewritten, instrument::Error>> {
    let quiet = |callee: &MemberRef<'_>| {
        let [owner, name, descriptor] =
            [callee.owner, callee.name, callee.descriptor].map(|text| text.to_string_lossy());
        loader?.accessors.get([&owner, &name, &descriptor])
    };
    let mut accessors = Vec::new();
    let rewritten = base.workspaces.with(|space| {
        base.fields.number(|first_field| {
            let plan = UndoPlan {
                first_field,
                quiet: &quiet,
                ..*plan
            };
            let mut rewritten = space.undoable(bytes, &plan);
            let fields = match &mut rewritten {
                Ok(rewritten) => {
                    accessors = std::mem::take(&mut rewritten.quiet);
                    std::mem::take(&mut rewritten.fields)
                }
                Err(_) => MemberNames::default(),
            };
            (rewritten, fields)
        })
    });
    if let Some(loader) = loader {
        loader.accessors.add(accessors);
    }
    if rewritten.is_none() {
        base.counters
            .add("classes_left_alone:out of field numbers", 1);
    }
    rewritten
}

fn count(base: &Base, rewritten: &Rewritten, earlier: &[Arc<Class>]) {
    let counters = &base.counters;
    let skipped = made(rewritten, earlier).filter_map(|(_, reason)| reason);
    counters.skipped("methods_left_alone", skipped);
    let reduced = rewritten.reduced.iter().map(|reduced| reduced.reason);
    counters.skipped("methods_without_log_of_writes", reduced);
    let methods = made(rewritten, earlier).filter(|(_, reason)| reason.is_none());
    counters.add("methods_instrumented", methods.count() as u64);
    if rewritten.class.is_none() {
        counters.add("classes_without_probes", u64::from(earlier.is_empty()));
    } else if !earlier.iter().any(|class| class.has_probes()) {
        counters.add(INSTRUMENTED, 1);
    }
}

/// Reserves numbers for as many methods as this class file can have.
fn reserve<'b>(base: &'b Base, bytes: &[u8]) -> Option<Reserved<'b>> {
    let most = (bytes.len() / MIN_METHOD_BYTES).min(MAX_METHODS);
    let ids = base.methods.reserve(most as u32);
    if ids.is_none() {
        base.counters
            .add("classes_left_alone:out of method numbers", 1);
    }
    ids
}

/// The class with handlers that report what they catch, or with its writes logged; `None` to leave
/// it.
fn instrument_aside(base: &Base, aside: Aside, loader: sys::Ref, bytes: &[u8]) -> Option<Vec<u8>> {
    let known = base.loaders.of(base, loader);
    if !find_probes(base, known.as_deref(), loader) {
        return None;
    }
    // No frame ever belongs to one of these methods, so their names are not kept.
    let ids = reserve(base, bytes)?;
    let first_id = ids.first();
    let rewritten = if aside.writes {
        let plan = UndoPlan {
            crash: None,
            catches: aside.catches,
            first_id,
            first_field: 0,
            quiet: &|_| None,
        };
        undoable(base, known.as_deref(), bytes, &plan)?
    } else {
        base.workspaces
            .with(|workspace| workspace.catches(bytes, first_id))
    };
    match rewritten {
        Ok(rewritten) => {
            let unseen = rewritten.skipped.iter().filter(|skipped| {
                !matches!(
                    skipped.reason,
                    SkipReason::CatchesNothing | SkipReason::CannotThrow
                )
            });
            let unseen = unseen.count() + rewritten.reduced.len();
            if aside.writes && unseen > 0 {
                base.counters
                    .add("methods_without_log_of_writes", unseen as u64);
            }
            // Returning its own bytes makes the JVM parse a class that is in its archive: there
            // (JDK 24 and up), calls of a superclass's methods are bound already, to their versions
            // without probes.
            let Some(class) = rewritten.class else {
                return Some(bytes.to_vec());
            };
            ids.keep(rewritten.methods.len());
            let counter = if aside.writes {
                "classes_with_writes_logged"
            } else {
                "classes_catching"
            };
            base.counters.add(counter, 1);
            Some(class)
        }
        Err(_) => {
            base.counters.add("classes_left_alone:malformed", 1);
            None
        }
    }
}
