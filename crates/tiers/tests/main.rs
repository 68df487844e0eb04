//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod cases;
mod import;
mod prompt;
mod properties;
mod tiers;
