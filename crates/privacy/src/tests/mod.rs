//! There and back, in every script.

mod in_time;
mod invented;
mod never_leaks;
mod there_and_back;
mod through_the_gateway;
mod veiled;
