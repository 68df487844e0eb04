use crate::kinds::{CountKind, CountOrAutoKind, MillisecondsKind};
use crate::section::section;

section! {
    /// Runs: replies to messages, and work in the background. What finds no place waits; nothing is dropped.
    RunsSection in "runs" {
        /// Replies in progress at a time on this node.
        chat_places: CountKind<1, 100_000> = 256,
        /// Background runs in progress at a time on this node. 0 means 8 on SQLite and 16 on Postgres.
        background_places: CountOrAutoKind<1024> = 0,
        /// How long after a person's last message a reply may still wait for the next. Messages that come within it, or
        /// before the first tool call, get one reply together. 0 answers each message by itself.
        join_window ("join_window_milliseconds"): MillisecondsKind<0, 10_000> = 1000,
    }
}
