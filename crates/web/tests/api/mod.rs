//! API v1 through the router, with a scripted model and a few tools, on both databases.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test says so by failing")]

/// Each test twice, on a database with everything the API needs.
macro_rules! on_both {
    ($($body:tt)+) => {
        munshi_test_support::on_both_engines! {
            with all crate::api::support::migrations();

            $($body)+
        }
    };
}

mod access;
mod account {
    mod attacks;
    mod brute;
    mod links;
    mod oidc;
    mod pages;
    mod proofs;
    mod rights;
}
mod approvals;
mod browsers;
mod channel_webhooks;
mod channels;
mod chat;
mod conform;
mod connector_links;
mod connector_logins;
mod connector_pages;
mod connector_proofs;
mod connectors;
mod desk_browsers;
mod door;
#[allow(dead_code, reason = "shared with the tests of the program")]
#[path = "../../../munshi/tests/browser/driver.rs"]
mod driver;
mod files;
mod folders;
mod hostile;
mod keys;
mod limits;
mod lists;
mod live;
mod live_rights;
mod mcp;
mod nodes;
mod offline;
mod openai;
mod openai_tools;
mod operation_samples;
mod operations;
mod operators;
mod pack_forms;
mod pack_operations;
mod pack_pages;
mod pack_webhooks;
mod persons;
mod programs;
mod reads;
mod searches;
mod secrets;
mod stored_prompts;
mod streams;
pub(crate) mod support;
mod unsubscribe;
mod visits;
mod widgets;
