//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod api;
mod process;
mod web;
