//! The plans: all ways of rewriting that have to survive.

use std::fmt::Display;

use hindsight_instrument::{Copy, CrashPlan, Error, Rewritten, Rules, SkipReason, catches, crash};

/// Ids beyond 32,767 need a constant; the first methods of a class are below
/// it, the others beyond.
pub const FIRST_ID: u32 = 32_760;

/// A way of rewriting classes.
pub struct Plan {
    /// Its name in tables.
    pub name: &'static str,
    /// Rewrites a class whose first method gets this id.
    pub rewrite: fn(&[u8], u32) -> Result<Outcome, Error>,
}

/// What became of a class.
pub struct Outcome {
    /// The new class; nothing if the old one stays.
    pub class: Option<Vec<u8>>,
    /// How many methods were changed.
    pub methods: usize,
    /// Methods with a body that stay, and why.
    pub skipped: Vec<(String, SkipReason)>,
}

/// Whether a method stays because there is nothing to do in it.
pub fn nothing_to_do(reason: SkipReason) -> bool {
    matches!(
        reason,
        SkipReason::CannotThrow | SkipReason::OnlyConstructorCall | SkipReason::CatchesNothing
    )
}

/// Whether a method stays because it is too large or too old.
pub fn size_or_age(reason: SkipReason) -> bool {
    matches!(
        reason,
        SkipReason::OldCode
            | SkipReason::Subroutines
            | SkipReason::TooLarge
            | SkipReason::TooManyLocals
            | SkipReason::ConstantPoolFull
    )
}

/// All plans.
pub static PLANS: &[Plan] = &[
    Plan {
        name: "reference",
        rewrite: |class, id| crash_plan(class, id, Copy::Reference, Rules::default()),
    },
    Plan {
        name: "fields",
        rewrite: |class, id| crash_plan(class, id, Copy::Fields, Rules::default()),
    },
    Plan {
        name: "fields, rules on all",
        rewrite: |class, id| {
            let all = Rules {
                escape: true,
                caught: true,
            };
            crash_plan(class, id, Copy::Fields, all)
        },
    },
    Plan {
        name: "catches",
        rewrite: |class, id| Ok(outcome(catches(class, id)?)),
    },
];

fn crash_plan(class: &[u8], first_id: u32, copy: Copy, rules: Rules) -> Result<Outcome, Error> {
    let plan = CrashPlan {
        copy,
        max_fields: 16,
        first_id,
        rules: &|_, _| rules,
    };
    Ok(outcome(crash(class, &plan)?))
}

fn outcome(done: Rewritten) -> Outcome {
    let text = |name: &str, descriptor: &dyn Display| format!("{name}{descriptor}");
    Outcome {
        class: done.class,
        methods: done.methods.len(),
        skipped: done
            .skipped
            .iter()
            .map(|skipped| (text(skipped.name, &skipped.descriptor), skipped.reason))
            .collect(),
    }
}
