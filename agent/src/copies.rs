//! What a frame restores of its arguments, as it was at entry.

use hindsight_instrument::Copy;
use hindsight_tracelog::crash::Fidelity;
use std::fmt;

/// How much of one argument is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strategy {
    /// The reference itself.
    Reference,
    /// Also the fields that the method uses.
    Fields,
    /// Also all places this many steps deep: 1 for the fields of the argument itself.
    Depth(u32),
    /// Also everything reachable.
    Deep,
}

impl Strategy {
    /// Parses the value of an option.
    pub(crate) fn parse(text: &str) -> Option<Strategy> {
        match text {
            "reference" => Some(Strategy::Reference),
            "fields" => Some(Strategy::Fields),
            "deep" => Some(Strategy::Deep),
            _ => {
                let depth = text.strip_prefix("depth:")?.parse().ok()?;
                (depth > 0).then_some(Strategy::Depth(depth))
            }
        }
    }

    /// Whether this needs a log of writes.
    pub(crate) fn needs_log(self) -> bool {
        self > Strategy::Fields
    }

    /// The number of steps from an argument within which objects are restored.
    pub(crate) fn depth(self) -> u32 {
        match self {
            Strategy::Reference | Strategy::Fields => 0,
            Strategy::Depth(depth) => depth,
            Strategy::Deep => u32::MAX,
        }
    }

    fn fidelity(self) -> Fidelity {
        match self {
            Strategy::Reference => Fidelity::Reference,
            Strategy::Fields => Fidelity::Fields,
            Strategy::Depth(_) => Fidelity::Depth,
            Strategy::Deep => Fidelity::Deep,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::Reference => f.write_str("reference"),
            Strategy::Fields => f.write_str("fields"),
            Strategy::Depth(depth) => write!(f, "depth:{depth}"),
            Strategy::Deep => f.write_str("deep"),
        }
    }
}

/// The strategies for the receiver, and for all other arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copies {
    pub(crate) receiver: Strategy,
    pub(crate) arguments: Strategy,
}

impl Copies {
    /// The same strategy for all arguments.
    pub(crate) fn all(strategy: Strategy) -> Copies {
        Copies {
            receiver: strategy,
            arguments: strategy,
        }
    }

    /// What methods copy at their entry. Even with a log they keep their fields: a frame that is
    /// older than the log still has these.
    pub(crate) fn at_entry(self) -> Copy {
        match (self.receiver, self.arguments) {
            (Strategy::Reference, Strategy::Reference) => Copy::Reference,
            (Strategy::Reference, _) => Copy::FieldsOfArguments,
            (_, Strategy::Reference) => Copy::FieldsOfReceiver,
            _ => Copy::Fields,
        }
    }

    /// Whether this needs a log of writes.
    pub(crate) fn need_log(self) -> bool {
        self.receiver.needs_log() || self.arguments.needs_log()
    }

    /// The strategy for an argument; 0 is the receiver.
    pub(crate) fn of(self, index: u16) -> Strategy {
        if index == 0 {
            self.receiver
        } else {
            self.arguments
        }
    }

    /// The fidelity of a frame with these arguments if all goes well, which is that of its least
    /// exact one. Without a log, the most is what methods have copied.
    pub(crate) fn fidelity(self, arguments: impl Iterator<Item = u16>, log: bool) -> Fidelity {
        let least = arguments.map(|index| self.of(index)).min();
        let least = least.unwrap_or(self.receiver.max(self.arguments));
        if log {
            least
        } else {
            least.min(Strategy::Fields)
        }
        .fidelity()
    }
}

impl fmt::Display for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.receiver == self.arguments {
            self.receiver.fmt(f)
        } else {
            write!(
                f,
                "receiver {}, arguments {}",
                self.receiver, self.arguments
            )
        }
    }
}
