//! Programs on real JVMs, from what the agent records to what is made of it.
//!
//! One binary, so that its runner always has a test for each core.

mod attach;
mod beside;
mod bounds;
mod copies;
mod documents;
mod elsewhere;
mod failures;
mod foreign;
mod generate;
mod hazards;
mod lambdas;
mod model;
mod mutability;
mod native;
mod numbered;
mod planted;
mod probes;
mod programs;
mod purity;
mod readable;
mod record;
mod recrash;
mod releases;
mod replays;
mod rethrown;
mod running;
mod second_chance;
mod secrets;
mod secrets_before;
mod stale_plans;
mod storms;
mod survive;
mod threads;
mod trace;
mod trace_bounds;
mod trace_commands;
mod trace_objects;
mod trace_parts;
mod trace_readers;
mod trace_reference;
mod trace_replay;
mod trace_unseen;
mod unstored;
mod whole;
