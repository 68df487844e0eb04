//! Every test of this crate from outside, in one binary: each further one is linked by itself.

mod books;
mod counter;
mod day;
mod said;
mod sms_fixtures;
mod sms_properties;
