//! Turns through the engine, with a scripted model and tools of every effect, on both databases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

/// Each test twice, on a database with everything a turn needs.
macro_rules! on_both {
    ($($body:tt)+) => {
        munshi_test_support::on_both_engines! {
            with all crate::turns::support::migrations();

            $($body)+
        }
    };
}

mod alone;
mod approvals;
mod aside;
mod background;
mod brought;
mod connectors;
mod connectors_away;
mod consent;
mod context_sources;
mod crashes;
mod delayed;
mod delegated;
mod ends;
mod followed_work;
mod following;
mod guided;
mod handoffs;
mod heard;
mod held_by_colleague;
mod hidden;
mod holders;
mod hooks;
mod joins;
mod joins_apart;
mod keyed;
mod late;
mod left_waiting;
mod limits;
mod logins;
mod meter;
mod offline;
mod order;
mod packs;
mod parted;
mod pictures;
mod plain;
mod purposes;
mod residency;
mod sealed;
mod shares;
mod spent;
mod stored_prompts;
mod support;
mod tainted;
mod transient;
mod unanswered;
mod undo;
mod waiting;
mod whispered;
/// A shop's tools with the words people use for them.
#[path = "../../../offline/shop/mod.rs"]
mod words;
mod work;
mod worn;
