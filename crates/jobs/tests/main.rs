//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod crashes;
mod fairness;
mod queue;
mod schedules;
mod support;
mod turns_and_clocks;
