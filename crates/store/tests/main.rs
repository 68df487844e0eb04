//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod backups;
mod durability;
mod encryption;
mod hardships;
mod migrations;
mod outages;
mod support;
mod tenancy;
mod units;
