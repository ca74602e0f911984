//! Memory for instrumenting, which classes use one after the other.

use hindsight_instrument::Workspace;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

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
