//! Which probes the user's options ask for in a class.

use crate::agent::Base;
use crate::agents;
use crate::changing::is_changing;
use crate::jdk;
use crate::options::Options;
use crate::sys;
use hindsight_instrument::select;

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
    pub(super) catches: bool,
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
