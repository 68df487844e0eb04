//! What the shop and its customers get, said to the ready tenant's agent with the model of this machine alone, on both
//! databases: bills, payment links, reminders, the day book, days that have been, two names of one person.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod acts;
mod bills;
mod claims;
mod customers;
mod days;
mod goods;
mod pasted;
mod people;
mod phrases;
mod prompts;
mod sorted;
mod templates;
mod told;
mod waiting;
mod word;

use crate::day::support;
