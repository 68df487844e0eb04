//! What is stored of runs that nobody typed.
//!
//! # Layout
//! - [`store`]: that somebody should go on with one, that it waits, how it ended
//! - [`record`]: what it has done, line by line, and the record as events

pub mod record;
pub mod store;
