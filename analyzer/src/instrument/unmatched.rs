//! Finds globs that match nothing, which nothing else would show after a typo.

use super::plan::{Plan, Verdict};
use hindsight_instrument::glob::Globs;
use hindsight_instrument::select;

/// The globs that have matched no class or method so far.
#[derive(Debug)]
pub struct Unmatched {
    include: Vec<Globs>,
    /// The rules, as they are written, with their globs of `class.method`.
    rules: Vec<(String, Globs)>,
}

impl Unmatched {
    /// All globs of a plan.
    pub fn new(plan: &Plan) -> Unmatched {
        let include = plan.include.patterns();
        Unmatched {
            include: include.map(|pattern| Globs::new([pattern])).collect(),
            rules: plan.report.rules().collect(),
        }
    }

    /// Removes the globs that match a class, or an examined method of it.
    pub fn see(&mut self, verdict: &Verdict) {
        if self.include.is_empty() && self.rules.is_empty() {
            return;
        }
        let (class, made, skipped) = match verdict {
            Verdict::Rewritten(class) => (
                class.class_name.replace('/', "."),
                Some(&class.methods),
                &class.skipped,
            ),
            Verdict::Left {
                class: Some(class),
                methods,
                ..
            } => (class.clone(), None, methods),
            Verdict::Left { class: None, .. } => return,
        };
        self.include.retain(|glob| !select::names(glob, &class));
        let made = made.into_iter().flat_map(|methods| methods.iter());
        let names = made.map(|method| method.name);
        for name in names.chain(skipped.iter().map(|method| method.name)) {
            if self.rules.is_empty() {
                return;
            }
            let full = format!("{class}.{name}");
            self.rules.retain(|(_, glob)| !glob.matches(&full));
        }
    }

    /// The remaining ones, a line each.
    pub fn told(self) -> Vec<String> {
        let include = self.include.iter().flat_map(Globs::patterns);
        let include =
            include.map(|glob| format!("--include {glob}: no class here has such a name"));
        let rules = self.rules.iter();
        let rules = rules.map(|(rule, _)| {
            format!("--report {rule}: no method here that has code and is selected has such a name")
        });
        include.chain(rules).collect()
    }
}
