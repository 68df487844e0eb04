//! Who holds a run, and who has lost it.

use std::time::Duration;

use munshi_conversations::runs::{self, CancelRequestOutcome, LEASE};
use munshi_conversations::{RUNS, RunRecoveryScope, RunSnapshot, RunState, cancel};
use munshi_store::PageRequest;
use munshi_types::RunId;

use crate::rows::support::{Shop, held, is_lost, tables};

tables! {
    async fn who_holds_an_older_epoch_writes_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let old = held(&shop.say("+919812345678", "w1", "hello").await);
        shop.test.clock.advance(LEASE + Duration::from_secs(1));
        let now = shop.now();
        let taken = shop.test.db.platform(RUNS).write(move |tx| runs::claim_due(tx, RunRecoveryScope::Lapsed, now, 10)).await.unwrap();
        assert_eq!(taken.len(), 1);
        let new = taken[0];
        assert_eq!((new.run, new.epoch, new.tenant), (old.run, 2, shop.tenant));
        let late = shop.response(old, "from the dead").await;
        assert!(is_lost(&shop.respond(late).await));
        let snapshot = RunSnapshot { calls: 3, ..RunSnapshot::default() };
        let progress = |held| {
            let (db, tenant, snapshot) = (shop.test.db.clone(), shop.tenant, snapshot.clone());
            async move {
                db.write(tenant, move |tx| munshi_conversations::commit::save_progress(tx, &munshi_conversations::commit::RunProgress {
                    lease: held, person: None, state: RunState::Acting, snapshot: &snapshot, steps: &[], calls: &[],
                })).await
            }
        };
        assert!(is_lost(&progress(old).await));
        assert!(progress(new).await.is_ok());
        let (db, tenant) = (shop.test.db.clone(), shop.tenant);
        let renewed = db.write(tenant, move |tx| runs::renew(tx, old, now)).await;
        assert!(is_lost(&renewed));
        assert!(!db.write(tenant, move |tx| runs::renew(tx, new, now)).await.unwrap().cancel_asked);
        let run = shop.run(old.run).await;
        assert_eq!((run.snapshot.calls, run.state), (3, RunState::Acting));
        assert_eq!((shop.count("messages").await, shop.count("reservations").await), (1, 1), "all of the late reply is undone");
        shop.answer(new, "from the living").await;
        let again = shop.response(new, "twice").await;
        assert!(is_lost(&shop.respond(again).await), "a run ends once");
        let after = db.write(tenant, move |tx| runs::renew(tx, new, now)).await;
        assert!(is_lost(&after));
    }

    async fn of_many_who_look_for_lapsed_runs_each_is_taken_by_one(test: TestDb) {
        let shop = Shop::open(test).await;
        for number in 0..20 {
            shop.say(&format!("+9198123456{number:02}"), &format!("w{number}"), "hello").await;
        }
        let now = shop.now();
        let none = shop.test.db.platform(RUNS).write(move |tx| runs::claim_due(tx, RunRecoveryScope::Lapsed, now, 50)).await.unwrap();
        assert!(none.is_empty(), "held by somebody alive");
        let late = now.plus(LEASE * 2);
        let other = shop.test.open_again().await;
        let claims = futures_util::future::join_all((0..8).map(|number| {
            let db = if number % 2 == 0 { shop.test.db.clone() } else { other.clone() };
            async move { db.platform(RUNS).write(move |tx| runs::claim_due(tx, RunRecoveryScope::Lapsed, late, 5)).await.unwrap() }
        })).await;
        let mut taken: Vec<RunId> = claims.into_iter().flatten().map(|held| held.run).collect();
        taken.sort();
        let count = taken.len();
        taken.dedup();
        assert_eq!(taken.len(), count, "none twice");
        // Another may have had them in hand at the time; they are there at the next look.
        let rest = shop.test.db.platform(RUNS).write(move |tx| runs::claim_due(tx, RunRecoveryScope::Lapsed, late, 50)).await.unwrap();
        assert_eq!(count + rest.len(), 20);
        // The one process there is takes all when it starts, part by part, and nothing that it holds itself.
        let born = late.plus(Duration::from_millis(1));
        let due = RunRecoveryScope::All { since: born };
        for count in [15, 5, 0] {
            let some = shop.test.db.platform(RUNS).write(move |tx| runs::claim_due(tx, due, born, 15)).await.unwrap();
            assert_eq!(some.len(), count);
        }
        // A clock that was set back meanwhile makes leases last that nobody holds.
        let earlier = now.minus(Duration::from_secs(3_600));
        let due = RunRecoveryScope::All { since: earlier };
        let all = shop.test.db.platform(RUNS).write(move |tx| runs::claim_due(tx, due, earlier, 50)).await.unwrap();
        assert_eq!(all.len(), 20);
    }

    async fn taking_up_raises_the_epoch_once(test: TestDb) {
        let shop = Shop::open(test).await;
        let run = held(&shop.say("+919812345678", "w1", "hello").await).run;
        let now = shop.now();
        assert!(shop.write(move |tx| runs::claim(tx, run, now)).await.is_none(), "somebody is at it");
        let late = now.plus(LEASE);
        let taken = shop.write(move |tx| runs::claim(tx, run, late)).await.unwrap();
        assert_eq!((taken.epoch, taken.lease_until), (2, Some(late.plus(LEASE))));
        assert!(shop.write(move |tx| runs::claim(tx, run, late)).await.is_none());
        shop.answer(taken.lease(shop.tenant), "done").await;
        let later = late.plus(LEASE * 3);
        assert!(shop.write(move |tx| runs::claim(tx, run, later)).await.is_none(), "it has ended");
    }

    async fn a_stop_without_an_engine_is_left_to_the_next_node(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.say("+919812345678", "w1", "one").await;
        let behind = shop.say("+919812345678", "w2", "two").await.run;
        let (ids, now) = (shop.test.ids.clone(), shop.now());
        let stop = move |tx: &mut munshi_store::Tx<'_>| cancel::request_unattended(tx, &ids, behind, now);
        let asked = shop.test.db.write(shop.tenant, stop).await.unwrap();
        assert_eq!(asked, CancelRequestOutcome::Unheld);
        let due = async |at| {
            let claim = move |tx: &mut munshi_store::PlatformTx<'_>| runs::claim_due(tx, RunRecoveryScope::Lapsed, at, 10);
            let taken = shop.test.db.platform(RUNS).write(claim).await.unwrap();
            taken.iter().any(|lease| lease.run == behind)
        };
        assert!(!due(now).await, "whoever asked might be an engine that begins");
        assert!(due(now.plus(LEASE + Duration::from_secs(1))).await);
        assert!(shop.run(behind).await.cancel_asked);
    }

    async fn a_run_is_asked_to_stop_by_whoever_may(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say("+919812345678", "w1", "one").await;
        let queued = shop.say("+919812345678", "w2", "two").await;
        let (run, behind, now, unknown) = (first.run, queued.run, shop.now(), shop.test.ids.next());
        assert_eq!(shop.write(move |tx| runs::request_cancel(tx, unknown, now)).await, CancelRequestOutcome::NoRun);
        assert_eq!(shop.write(move |tx| runs::request_cancel(tx, run, now)).await, CancelRequestOutcome::Noted);
        assert_eq!(shop.write(move |tx| runs::request_cancel(tx, behind, now)).await, CancelRequestOutcome::Unheld);
        let mine = held(&first);
        let renewed = shop.test.db.write(shop.tenant, move |tx| runs::renew(tx, mine, now)).await.unwrap();
        assert!(renewed.cancel_asked);
        shop.answer(mine, "stopped").await;
        assert_eq!(shop.write(move |tx| runs::request_cancel(tx, run, now)).await, CancelRequestOutcome::Ended);
        let wanted = runs::RunFilter::State(RunState::Done);
        let done = shop.read(move |tx| runs::list(tx, wanted, &PageRequest::new(None, 10))).await;
        assert_eq!(done.items.iter().map(|one| one.id).collect::<Vec<_>>(), [run]);
    }
}
