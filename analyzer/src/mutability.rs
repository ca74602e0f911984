//! Which parameters may a method change? (Pidasa: Artzi et al., ASE 2007.)
//!
//! A parameter is mutable if some run of its method changes, through the parameter, the state of
//! the object that it refers to. The state is everything reachable from the object; "through the
//! parameter" means by any chain of reads and copies, in the method or in what it calls. Otherwise
//! the parameter is immutable. A pipeline of stages decides; what one stage has decided the later
//! ones do not change, and what none decides is unknown.
//!
//! - [`facts`] is what a body does with references; [`values`] are the classes whose objects cannot
//!   be changed.
//! - [`points`] is stage S (and SH), [`propagate`] stage P, [`effects`] stage S'.
//! - [`recorded`] is what recorded runs show, stages D and X; [`random`] makes such runs, stage R.
//! - [`contracts`] is what is known of the JDK without analysing it, [`library`] what our own
//!   analysis of it found, [`signatures`] what it may call back.
//! - [`types`] finds out which objects cannot be the same, [`constructors`] which constructors keep
//!   nothing.
//! - [`analysis`] runs a pipeline; [`answers`] holds verdicts with reasons; [`purity`] derives from
//!   them which methods are pure; [`report`] prints them.
//!
//! ```text
//! Program -> Facts --S--> Local --P--+--> Answers -> report
//!               |                    |
//!               +------ S' ----------+
//! Trace ---> Evidence -- D, X, R ----+
//! ```

pub mod analysis;
pub mod answers;
pub mod constructors;
pub mod contracts;
pub mod effects;
pub mod facts;
pub mod library;
pub mod points;
pub mod propagate;
pub mod purity;
pub mod random;
pub mod recorded;
pub mod report;
pub mod signatures;
pub mod types;
pub mod values;
