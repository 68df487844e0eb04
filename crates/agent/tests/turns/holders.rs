//! Whose runs a process takes up when it starts: those of its own node's earlier processes, and nobody else's.

use std::time::Duration;

use munshi_agent::{MessageReceipt, TurnSettings};
use munshi_conversations::holders::ProcessIdentity;
use munshi_store::Tx;
use munshi_test_support::DatabaseEngine;
use munshi_test_support::models::ScriptedTurn;
use tokio_util::sync::CancellationToken;

use crate::turns::crashes::stranger;
use crate::turns::support::{Plan, Shop};

/// A process on a machine of its own: nobody else can look whether it lives.
fn on(node: &str, machine: &str) -> Plan {
    let process =
        ProcessIdentity { node: Some(node.to_owned()), machine: machine.to_owned(), pid: 1, started: 1 };
    let settings = TurnSettings { process: Some(process), ..TurnSettings::default() };
    Plan { settings, ..Plan::default() }
}

/// It has said that it is there, and stops: what it takes from now on it holds and does not work on.
async fn stopped(shop: Shop) -> Shop {
    let stop = CancellationToken::new();
    stop.cancel();
    shop.engine.serve(stop).await;
    shop
}

async fn epoch(shop: &Shop, received: &MessageReceipt) -> i64 {
    let run = received.run;
    let find = move |tx: &mut Tx<'_>| munshi_conversations::runs::find(tx, run);
    shop.db.read(shop.tenant, find).await.unwrap().unwrap().epoch
}

on_both! {
    async fn a_node_that_starts_again_takes_up_what_it_held_before_and_nothing_else(test: TestDb) {
        // SQLite has one process: whatever was held, nobody holds any more.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let before = stopped(Shop::open_with(&test, [], on("node", "one boot")).await).await;
        let other = stopped(before.beside(&test, [], on("other node", "another machine")).await).await;
        let left = before.say("1", "hello there").await;
        let others = other.engine.receive(other.message(other.owner, "o1", "hello there")).await.unwrap();
        test.clock.advance(Duration::from_secs(1));
        let now = before.beside(&test, [ScriptedTurn::text("Hello.")], on("node", "the next boot")).await;
        // Whoever of that name takes a run after this process has started is a copy of the node, and lives.
        test.clock.advance(Duration::from_millis(1));
        let third = stranger(&test, &before).await;
        let living = before.engine.receive(before.message(third, "s1", "hello there")).await.unwrap();
        let stop = CancellationToken::new();
        let answered = async {
            let outcome = now.outcome(&left).await;
            stop.cancel();
            outcome
        };
        // It ends between two looks, so that one look over all of them is over by then.
        let (outcome, ()) = tokio::join!(answered, now.engine.serve(stop.clone()));
        assert_eq!(outcome.text, "Hello.", "long before its lease passes");
        assert_eq!((epoch(&now, &left).await, epoch(&now, &others).await, epoch(&now, &living).await), (2, 1, 1));
    }

    /// A node says every hour that it is there: one that has run for months is not forgotten while others come and go.
    async fn a_process_that_says_it_is_there_is_not_forgotten(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let (days, hour) = (Duration::from_secs(8 * 24 * 3600), Duration::from_secs(3600));
        let old = stopped(Shop::open_with(&test, [], on("node", "one boot")).await).await;
        let gone = stopped(old.beside(&test, [], on("gone", "another machine")).await).await;
        test.clock.advance(days);
        let old = stopped(old).await;
        test.clock.advance(hour);
        let _new = stopped(gone.beside(&test, [], on("new", "a third machine")).await).await;
        let count = |node: &'static str| {
            let read = move |tx: &mut munshi_store::PlatformTx<'_>| {
                let known = "SELECT COUNT(*) FROM run_holders WHERE node = $1";
                tx.one(munshi_store::across_tenants(known), munshi_store::params![node], |row| row.get::<i64>(0))
            };
            let db = old.db.clone();
            async move { db.platform(munshi_conversations::RUNS).read(read).await.unwrap() }
        };
        assert_eq!((count("node").await, count("gone").await, count("new").await), (1, 0, 1));
    }
}
