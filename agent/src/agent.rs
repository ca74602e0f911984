//! The agent's one global: the state that all callbacks share.

use crate::budget::Budget;
use crate::chances::Chances;
use crate::counters::{Counters, NAMED_BY_REPORT};
use crate::hook::{self, Workspaces};
use crate::jdk;
use crate::jni::Global;
use crate::jvmti::{Jvmti, Vm};
use crate::known::Reports;
use crate::loaders::Loaders;
use crate::methods::{Chance, Late, Methods};
use crate::named::Named;
use crate::options::Options;
use crate::plan::Known;
use crate::recording::Recording;
use crate::shim::Shim;
use crate::sys;
use crate::undo::fields::Fields;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The agent's state from `Agent_OnLoad` on.
pub(crate) struct Base {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    pub(crate) options: Options,
    pub(crate) known: Known,
    pub(crate) counters: Counters,
    pub(crate) budget: Budget,
    pub(crate) methods: Methods,
    /// The numbered fields that are written, if writes are logged.
    pub(crate) fields: Fields,
    pub(crate) loaders: Loaders,
    pub(crate) workspaces: Workspaces,
    /// An environment that can access the local variables and monitors of all threads; only with
    /// `dump-on`.
    pub(crate) locals: Option<Jvmti>,
    /// The second chance of methods, with `mode=second-chance`.
    pub(crate) chances: Option<Arc<Chances>>,
    /// The classes and methods that the rules of `report` have matched.
    pub(crate) named: Named,
    pub(crate) since: Since,
    /// Why nothing is recorded, if the agent could not start.
    pub(crate) failure: OnceLock<String>,
    complained: Mutex<BTreeSet<String>>,
}

/// The contents of the files that options name.
pub(crate) struct Files {
    known: Known,
    chances: Option<Chances>,
}

impl Files {
    /// Reads the files. `Err` is a line for stderr.
    pub(crate) fn of(options: &Options) -> Result<Files, String> {
        Ok(Files {
            known: Known::read(options.plan.as_deref())?,
            chances: Chances::wanted_by(options)?,
        })
    }
}

/// When the agent was loaded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// When the JVM started.
    Start,
    /// While the JVM ran. The command that attached it waits for an answer in this file.
    Attach(Option<PathBuf>),
}

/// The agent's state from `VMInit` on.
pub(crate) struct Agent {
    pub(crate) base: &'static Base,
    pub(crate) jvmti: Jvmti,
    pub(crate) shim: Shim,
    pub(crate) recording: Recording,
    pub(crate) reports: Reports,
    /// The system property `java.version`.
    pub(crate) java_version: String,
    /// The class `java.util.TimeZone`. It is looked up at the start, because a failure after a
    /// stack overflow must not be what initialises it.
    pub(crate) time_zone: Option<Global>,
}

static BASE: OnceLock<Base> = OnceLock::new();
static AGENT: OnceLock<Agent> = OnceLock::new();

/// The base, once the agent is loaded.
pub(crate) fn base() -> Option<&'static Base> {
    BASE.get()
}

/// Sets the base; `false` if it was set already by a second copy of the agent in the JVM.
pub(crate) fn set_base(vm: Vm, jvmti: Jvmti, options: Options, files: Files, since: Since) -> bool {
    let mut first = false;
    BASE.get_or_init(|| {
        first = true;
        let Files { known, chances } = files;
        // The JVM grants this only while it starts, and it has a cost.
        let locals = (!options.dump_on.is_empty())
            .then(|| {
                vm.jvmti(&[
                    sys::CAN_ACCESS_LOCAL_VARIABLES,
                    sys::CAN_SUSPEND,
                    sys::CAN_GET_OWNED_MONITOR_INFO,
                    sys::CAN_GET_CURRENT_CONTENDED_MONITOR,
                ])
            })
            .flatten();
        let counters = Counters::default();
        if options.report.names_methods() {
            counters.begin(NAMED_BY_REPORT);
        }
        let chances = chances.map(Arc::new);
        let late = chances.as_ref().map(|chances| late(chances, &options));
        Base {
            vm,
            jvmti,
            locals,
            budget: Budget::new(options.cpu),
            named: Named::of(&options.report),
            options,
            known,
            counters,
            methods: Methods::new(late),
            fields: Fields::default(),
            loaders: Loaders::default(),
            workspaces: Workspaces::new(),
            chances,
            since,
            failure: OnceLock::new(),
            complained: Mutex::default(),
        }
    });
    first
}

/// The state of the methods that may get a second chance.
fn late(chances: &Arc<Chances>, options: &Options) -> Late {
    let (chances, options) = (Arc::clone(chances), options.clone());
    Box::new(move |class, method| {
        // Those of the boot loader never get one, whatever `include` says.
        if jdk::is_for_sure(class) || !hook::may_be_wanted(&options, class) {
            Chance::None
        } else if chances.knows(class, method) {
            Chance::Known
        } else {
            Chance::Unseen
        }
    })
}

/// The agent, once the JVM is initialised.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Sets the agent; called once, after the base was set.
pub(crate) fn set_agent(agent: Agent) -> &'static Agent {
    AGENT.get_or_init(|| agent)
}

/// Prints a line on stderr. It ignores failures, on which `eprintln!` would panic.
pub(crate) fn say(what: impl Display) {
    let _ = writeln!(std::io::stderr(), "hindsight: {what}");
}

impl Base {
    /// Whether the JVM ran before the agent was loaded.
    pub(crate) fn is_attached(&self) -> bool {
        self.since != Since::Start
    }

    /// Counts that the agent has not started, and prints the reason on stderr.
    pub(crate) fn give_up(&self, why: &str) {
        self.counters.add("agent_not_started", 1);
        say(format_args!(
            "this agent records nothing: {why} (the program goes on)"
        ));
    }

    /// Counts a problem of the agent's own and prints it on stderr, only the first time of its
    /// kind: the output belongs to the program.
    pub(crate) fn complain(&self, counter: &str, what: &str) {
        self.counters.add(counter, 1);
        let mut complained = self
            .complained
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if complained.insert(counter.to_owned()) {
            say(format_args!(
                "{what} (the program goes on; the next ones are only counted)"
            ));
        }
    }
}
