//! The plans: all ways of rewriting that have to survive.

use hindsight_instrument::select::MAX_FIELDS;
use hindsight_instrument::{
    Copy, CrashPlan, Error, Rewritten, Rules, SkipReason, Skipped, SkippedMethods, TracePlan,
    UndoPlan, What, Workspace, catches, crash, trace,
};

/// Ids beyond 32,767 need a constant; the first methods of a class are below
/// it, the others beyond.
pub const FIRST_ID: u32 = 32_760;

/// A way of rewriting classes.
pub struct Plan {
    /// Its name in tables.
    pub name: &'static str,
    /// Whether its probes call the JDK's own classes, which then cannot have such
    /// probes themselves in a JVM that starts.
    pub stands_on_jdk: bool,
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
            | SkipReason::NotCompiled
            | SkipReason::TooManyLocals
            | SkipReason::ConstantPoolFull
    )
}

/// All plans.
pub static PLANS: &[Plan] = &[
    Plan {
        name: "reference",
        stands_on_jdk: false,
        rewrite: |class, id| crash_plan(class, id, Copy::Reference, Rules::default()),
    },
    Plan {
        name: "fields",
        stands_on_jdk: false,
        rewrite: |class, id| crash_plan(class, id, Copy::Fields, Rules::default()),
    },
    Plan {
        name: "fields, rules on all",
        stands_on_jdk: false,
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
        stands_on_jdk: false,
        rewrite: |class, id| Ok(outcome(catches(class, id)?)),
    },
    Plan {
        name: "deep",
        stands_on_jdk: true,
        rewrite: |class, id| undo_plan(class, id, true),
    },
    Plan {
        name: "deep, aside",
        stands_on_jdk: true,
        rewrite: |class, id| undo_plan(class, id, false),
    },
    Plan {
        name: "trace",
        stands_on_jdk: true,
        rewrite: trace_plan,
    },
];

fn crash_plan(class: &[u8], first_id: u32, copy: Copy, rules: Rules) -> Result<Outcome, Error> {
    let plan = CrashPlan {
        copy,
        max_fields: MAX_FIELDS,
        first_id,
        rules: &|_, _| rules,
        known: &[],
    };
    Ok(outcome(crash(class, &plan)?))
}

fn undo_plan(class: &[u8], first_id: u32, frames: bool) -> Result<Outcome, Error> {
    let crash = CrashPlan {
        copy: Copy::Fields,
        max_fields: MAX_FIELDS,
        first_id,
        rules: &|_, _| Rules::default(),
        known: &[],
    };
    let plan = UndoPlan {
        crash: frames.then_some(&crash),
        catches: true,
        first_id,
        first_field: first_id,
        quiet: &|_| None,
    };
    Ok(outcome(Workspace::default().undoable(class, &plan)?))
}

fn trace_plan(class: &[u8], first_id: u32) -> Result<Outcome, Error> {
    let plan = TracePlan {
        what: &|_, _| What {
            calls: true,
            writes: true,
            reads: true,
            references: true,
            values: true,
            blocks: true,
        },
        first_method: first_id,
        first_field: first_id,
        first_callee: first_id,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|name| name.len().is_multiple_of(3),
    };
    let done = trace(class, &plan)?;
    Ok(Outcome {
        class: done.class,
        methods: done.methods.len(),
        skipped: named(&done.skipped),
    })
}

fn named(skipped: &SkippedMethods) -> Vec<(String, SkipReason)> {
    let text = |left: Skipped<'_>| (format!("{}{}", left.name, left.descriptor), left.reason);
    skipped.iter().map(text).collect()
}

fn outcome(done: Rewritten) -> Outcome {
    Outcome {
        class: done.class,
        methods: done.methods.len(),
        skipped: named(&done.skipped),
    }
}
