//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod audit;
mod budget;
mod known_people;
mod nightly;
mod support;
mod tampering;
