//! The whole program, run as its users run it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub(crate) mod support;

mod approvals;
mod ask;
mod attacks;
mod audit;
mod backup;
mod budget;
mod chat;
mod config;
mod confine;
mod confine_sockets;
mod connector;
mod demo;
mod doctor;
mod document;
mod folders;
mod forget;
mod import;
mod jobs;
mod key;
mod killed;
mod ledger;
mod login;
mod mcp;
mod migrate;
mod models;
mod openai;
mod operations;
mod operator;
mod outage;
mod person;
mod policy;
mod prompt;
mod restore;
mod sealing;
mod serve;
mod sms;
mod start;
mod tenant;
mod terminal;
mod tiers;
mod understand;
mod upgrade;
mod usage;
mod vault;
