//! Runs that nobody typed: a pack's kind of work, walked step by step.
//!
//! What begins one stores it with a job that works on it ([`begin`]); there is no other queue. Whoever claims the job takes the run up
//! under a lease like a turn's ([`job`]), asks its kind what comes next and does that ([`walk`]), until it ends or waits. Waiting
//! for a time, for other runs or for a person frees its place: the job is done with that, and what is waited for brings another
//! ([`store`]). What it does is written into its record ([`record`]), which those who follow it read ([`follow`]).
//!
//! [`store`]: munshi_conversations::background::store
//! [`record`]: munshi_conversations::background::record

mod begin;
mod billing;
mod ending;
mod follow;
mod job;
mod walk;

pub use begin::{BackgroundRunBegun, NewBackgroundRun, RunQueue};
pub(crate) use follow::RecordFollower;
